"""``tracker plot``: charts as SVG or PNG files."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tracker.agreement.asking import Measured
from tracker.cli.context import (
    ProjectArgument,
    command_group,
    ledger_of_command,
    with_project_argument,
)
from tracker.cli.terminal import Force, check_output_file, hint, new_output_file, say, warn
from tracker.core.errors import InvalidOption, NotFound
from tracker.counts.choosing import Answers, answers_to_one
from tracker.history.asking import SHOWN, Curving
from tracker.judge.asking import JudgeAsked

if TYPE_CHECKING:
    from tracker.render.charts import Chart

_MEASURE = "Draw this measure (default: alpha; of spans the exact F1)."

plot, register = command_group("plot", "Draw figures: a chart as an SVG or PNG file.")

Output = Annotated[
    Path, typer.Option("--output", "-o", metavar="FILE", help="File to make: .svg or .png.")
]


@with_project_argument(plot)
def categories(
    context: typer.Context,
    project: ProjectArgument,
    output: Output,
    *,
    answers: Answers,
    force: Force = False,
) -> None:
    """Draw the agreement on each category with its interval, weakest first.

    Of a project that asks several questions, those of all, or of one with --question. Answers that
    are more than twelve numbers have no categories to draw.

    Examples:
    - `tracker plot categories reviews -o categories.svg`
    - `tracker plot categories rubric -q tone -o tone.png`

    Next: `tracker agreement reviews`
    """
    from tracker.report.charts import categories_chart, questions_of_numbers

    _check(output, force=force)
    ledger = ledger_of_command(context)
    figures = ledger.agreement_by_question(project, **answers)
    numbers = questions_of_numbers(figures)
    if numbers and len(numbers) == len(figures.questions):
        raise InvalidOption(
            f"the answers to {', '.join(numbers)} are numbers, too many for a dot each",
            f"draw who agrees with whom: tracker plot pairs {shlex.quote(project)} "
            f"-q {shlex.quote(numbers[0])} -o {shlex.quote(str(output))}",
        )
    _write(categories_chart(figures), output, force=force)
    for name in numbers:
        warn(f"{name} is not drawn: its answers are numbers, too many for a dot each")
    hint(f"next: tracker agreement {shlex.join([project, *_question_words(answers['questions'])])}")


@with_project_argument(plot)
def history(
    context: typer.Context,
    project: ProjectArgument,
    output: Output,
    *,
    measured: Annotated[Measured, {"measures": _MEASURE}],
    curve: Annotated[Curving, {"interval": None}],
    answers: Annotated[Answers, SHOWN],
    force: Force = False,
) -> None:
    """Draw a figure over time with its interval: the snapshots, or with --every the labels.

    Examples:
    - `tracker plot history reviews -o alpha.svg`
    - `tracker plot history reviews --every week -o weeks.png`

    Next: `tracker compare reviews last~1 last`
    """
    from tracker.report.curves import history_chart

    _check(output, force=force)
    measures, every = measured["measures"], curve["every"]
    if len(measures) > 1:
        raise InvalidOption("a chart shows one measure", "make one chart for each --measure")
    # A snapshot has all its measures; a curve, which spans do not have, counts what is asked for.
    wanted = measures if measures or every is None else ["krippendorff_alpha"]
    figures = ledger_of_command(context).history(
        project, measures=wanted, **curve, **answers_to_one(answers)
    )
    if every is None and not figures.to_dict()["snapshots"]:
        raise NotFound(
            f"project {project!r} has no snapshot to draw",
            f"take one: tracker snapshot {shlex.quote(project)}; or draw the labels with --every "
            "week (there is no such curve of spans)",
        )
    _write(history_chart(figures, *wanted), output, force=force)
    hint(f"next: tracker history {shlex.quote(project)}")


@with_project_argument(plot)
def pairs(
    context: typer.Context,
    project: ProjectArgument,
    output: Output,
    *,
    answers: Answers,
    force: Force = False,
) -> None:
    """Draw the agreement of each two annotators, those alike beside each other.

    Answers in order are compared with quadratic weights.

    Examples:
    - `tracker plot pairs reviews -o pairs.svg`
    - `tracker plot pairs reviews --since 30d -o pairs.png`

    Next: `tracker agreement reviews --by pair`
    """
    from tracker.report.charts import pairs_chart

    _check(output, force=force)
    ledger = ledger_of_command(context)
    chosen = answers_to_one(answers)
    weights = ledger.pair_weights(project, chosen["question"])
    agreements = ledger.by_pair(project, weights=weights, **chosen)
    _write(pairs_chart(project, agreements, weights), output, force=force)
    weighted = f" --weights {weights}" if weights else ""
    words = shlex.join([project, *_question_words(answers["questions"])])
    hint(f"next: tracker agreement {words} --by pair{weighted}")


@with_project_argument(plot)
def annotators(
    context: typer.Context,
    project: ProjectArgument,
    output: Output,
    *,
    answers: Answers,
    force: Force = False,
) -> None:
    """Draw how often each annotator gives each category, beside the others on the same items.

    Examples:
    - `tracker plot annotators reviews -o people.svg`
    - `tracker plot annotators reviews --annotator ada --annotator bo -o two.png`

    Next: `tracker audit reviews`
    """
    from tracker.report.charts import annotators_chart

    _check(output, force=force)
    audit = ledger_of_command(context).audit(project, **answers_to_one(answers))
    _write(annotators_chart(project, audit), output, force=force)
    hint(f"next: tracker audit {shlex.join([project, *_question_words(answers['questions'])])}")


@with_project_argument(plot)
def strengths(
    context: typer.Context,
    project: ProjectArgument,
    output: Output,
    *,
    answers: Answers,
    force: Force = False,
) -> None:
    """Draw how strong each of those is that preferences compare, with its interval.

    Examples:
    - `tracker plot strengths arena -o strengths.svg`
    - `tracker plot strengths arena --annotator gpt-4 -o judge.png`

    Next: `tracker agreement arena --strengths`
    """
    from tracker.report.charts import strengths_chart

    _check(output, force=force)
    found = ledger_of_command(context).strengths(project, **answers_to_one(answers))
    if found.why is not None:
        raise NotFound(
            f"there are no strengths to draw: {found.why}",
            f"all that is known: tracker agreement {shlex.quote(project)} --strengths",
        )
    _write(strengths_chart(project, found), output, force=force)
    words = shlex.join([project, *_question_words(answers["questions"])])
    hint(f"next: tracker agreement {words} --strengths")


@with_project_argument(plot)
def judge(
    context: typer.Context,
    project: ProjectArgument,
    output: Output,
    *,
    judged: Annotated[JudgeAsked, {"epsilon": None}],
    force: Force = False,
) -> None:
    """Draw models as judges beside people: figure, human ceiling, and what is allowed below it.

    Models are in the order of their attribute `version`, so that a line shows whether a judge
    becomes better; those without one are in the order of their names.

    Examples:
    - `tracker plot judge reviews -o judges.svg`
    - `tracker plot judge rubric -q tone --measure percent_agreement -o judges.png`

    Next: `tracker judge reviews`
    """
    from tracker.judge.plot import judge_rows
    from tracker.report.charts import draw_judges

    _check(output, force=force)
    judges = ledger_of_command(context).judges.judge(project, **judged).judges
    rows = judge_rows(judge.to_dict() for judge in judges)
    _write(draw_judges(f"{project}: models beside people", rows), output, force=force)
    hint(f"next: tracker judge {shlex.join([project, *_question_words(judged['questions'])])}")


def _question_words(names: Sequence[str]) -> list[str]:
    return [word for name in names for word in ("-q", name)]


def _check(output: Path, *, force: bool) -> None:
    """Raise InvalidOption, before anything is computed, for a file that cannot be made."""
    if output.suffix.lower() not in {".svg", ".png"}:
        raise InvalidOption(f"{str(output)!r} is no name of a chart", "end it in .svg or .png")
    check_output_file(output, force=force)


def _write(chart: Chart, output: Path, *, force: bool) -> None:
    drawn = chart.png() if output.suffix.lower() == ".png" else chart.svg().encode()
    with new_output_file(output, force=force) as file:
        file.write(drawn)
    say(f"{output}: {chart.title}. {chart.description}")
