"""``tracker compare``: two states beside each other."""

from __future__ import annotations

import shlex
from itertools import chain
from typing import Annotated

import typer

from tracker.agreement.asking import Differing, Measuring
from tracker.cli.context import ProjectArgument, ledger_of_command, with_project_argument
from tracker.cli.options import QuestionName, question_heading
from tracker.cli.output import Output, print_result
from tracker.cli.terminal import hint

_WHICH = (
    "Snapshot (number, name, last, last~2), time or date, note, or FROM..TO for "
    "the answers given between two times or notes."
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    with_project_argument(app)(compare)


def compare(
    context: typer.Context,
    project: ProjectArgument,
    before: Annotated[str, typer.Argument(metavar="A", help=_WHICH)],
    after: Annotated[str, typer.Argument(metavar="B", help="The same; the change is from A to B.")],
    other: Annotated[
        str | None,
        typer.Option("--with", metavar="PROJECT", help="Take B from this project."),
    ] = None,
    anyway: Annotated[
        bool,
        typer.Option("--anyway", help="Compare even if settings or selections differ."),
    ] = False,
    question: QuestionName = None,
    *,
    test: Differing,
    metric: Measuring,
    output: Output = Output(),
) -> None:
    """Compare two states: what changed, whether by more than chance, and why.

    The difference is shared out among new items, further answers, revisions and answers taken
    away (of two periods that do not overlap: between other items and the same ones), and again
    among annotators and among categories; the shares add up to it. The last
    options are for states that are no snapshots: those were read as they were recorded.

    Examples:
    - `tracker compare reviews last~1 last`
    - `tracker compare reviews baseline 2026-05-31`
    - `tracker compare reviews "..guideline v2" "guideline v2.."`
    - `tracker compare pilot last last --with reviews`
    - `tracker compare rubric last~1 last --question tone`

    Next: `tracker annotator show ada -p reviews`
    """
    from tracker.compare.tables import compare_view

    ledger = ledger_of_command(context)
    found = ledger.compare(
        project,
        before,
        after,
        other=other,
        question=question,
        anyway=anyway,
        **test,
        **metric,
    )
    heading = question_heading(ledger, project, [question.strip()] if question else [])
    view = chain(heading, compare_view(found))
    print_result(found.to_dict(), output=output, rows=found.rows(), view=view)
    if found.is_unchanged:
        hint(f"next: tracker status {shlex.quote(project)}")
    elif found.because is not None and found.because.annotators:
        name = next(iter(found.because.annotators))
        words = shlex.join([name, "-p", other or project])
        hint(f"next: tracker annotator show {words}")
