"""``tracker agreement``."""

from __future__ import annotations

import typer

from tracker.agreement.asking import Computing, Further, Measured, Resampling
from tracker.cli.context import ProjectArgument, ledger_of_command, with_project_argument
from tracker.cli.options import question_heading
from tracker.cli.output import Output, print_answer
from tracker.counts.choosing import Answers


def register(app: typer.Typer) -> None:
    """Add the command."""
    with_project_argument(app)(agreement)


def agreement(
    context: typer.Context,
    project: ProjectArgument,
    measured: Measured,
    figures: Computing,
    answers: Answers,
    errors: Resampling,
    further: Further,
    output: Output = Output(),
) -> None:
    """Show how well annotators agree: the weakest category first, then every coefficient.

    Of a project that asks several questions, a row for each; --question shows all about one.

    Examples:
    - `tracker agreement reviews`
    - `tracker agreement reviews --by pair`
    - `tracker agreement reviews --by confusion`
    - `tracker agreement reviews --by model`
    - `tracker agreement rubric --question tone`
    - `tracker agreement reviews --measure krippendorff_alpha --json`
    - `tracker agreement essays --weights quadratic --bootstrap 1000`
    - `tracker agreement reviews --since 2026-03-01 --exclude-flagged`
    - `tracker agreement reviews --as-of 2026-03-31`
    - `tracker agreement reviews --where language=nl --by attribute:source`
    - `tracker agreement reviews --by annotator-attribute:team`
    - `tracker agreement reviews --by import`
    - `tracker agreement reviews --by slice`
    - `tracker agreement reviews --explain fleiss_kappa`
    - `tracker agreement reviews --influence annotator`
    - `tracker agreement reviews --best-merges`
    - `tracker agreement reviews --calibration --annotator gpt`
    - `tracker agreement reviews --against pilot`
    - `tracker agreement reviews --methods --bibtex`

    Next: `tracker audit reviews`
    """
    from tracker.ledger.about_agreement import agreement_answer

    ledger = ledger_of_command(context)
    answer = agreement_answer(
        ledger, project,
        answers=answers, figures=figures, errors=errors, measured=measured, further=further,
    )  # fmt: skip
    print_answer(answer, output, question_heading(ledger, project, answers["questions"]))
