"""``tracker agreement``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from tracker.cli import agreement_questions
from tracker.cli.agreement_options import (
    Asked,
    FigureOptions,
    Limit,
    QuestionOptions,
    UncertaintyOptions,
)
from tracker.cli.context import Measures, ledger_of_command
from tracker.cli.filter_options import AnswerOptions
from tracker.cli.output import Output
from tracker.cli.project_argument import ProjectArgument, with_project_argument
from tracker.core.errors import InvalidOption

if TYPE_CHECKING:
    from tracker.ledger import Asking


_ATTRIBUTE = "attribute:"
_OF_ANNOTATORS = "annotator-attribute:"
_BY = (
    "category",
    "annotator",
    "model",
    "pair",
    "item",
    "confusion",
    "import",
    "slice",
    _ATTRIBUTE,
    _OF_ANNOTATORS,
)
_BY_WORDS = "|".join(_BY).replace(":", ":NAME")


def register(app: typer.Typer) -> None:
    """Add the command."""
    with_project_argument(app)(agreement)


def agreement(
    context: typer.Context,
    project: ProjectArgument,
    by: Annotated[
        str | None,
        typer.Option(
            metavar=_BY_WORDS,
            help="One row per category, annotator, model beside the people, pair, item, two "
            "categories that are confused, import, slice of the items beside the rest, value of an "
            "item attribute, or group of annotators by an attribute of theirs.",
            autocompletion=lambda incomplete: [word for word in _BY if word.startswith(incomplete)],
        ),
    ] = None,
    measures: Measures = None,
    figures: FigureOptions = FigureOptions(),
    answers: AnswerOptions = AnswerOptions(),
    errors: UncertaintyOptions = UncertaintyOptions(),
    further: QuestionOptions = QuestionOptions(),
    limit: Limit = None,
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
    way = further.asked(by)
    if limit is not None and by != "item":
        raise InvalidOption("--limit applies to items", "add --by item, or leave it out")
    ledger = ledger_of_command(context)
    names = answers.questions
    in_table = way in {None, "--calibration"} or (by or "").startswith(_OF_ANNOTATORS)
    if in_table and len(names) != 1:
        names = names or ledger.question_names(project)
        answers = replace(answers, question=None)
    asking: Asking = {
        **figures.keywords,
        **errors.keywords,
        **answers.selecting,
        "measures": measures or (),
    }
    asked = Asked(ledger, project, asking, output, limit, names)
    if way is None and asked.by_question:
        agreement_questions.print_agreement_by_question(asked)
    elif way == "--by" and by is not None:
        _by(asked, by)
    elif way == "--explain" and further.explain is not None:
        agreement_questions.print_explanation(asked, further.explain)
    elif way == "--influence" and further.influence is not None:
        agreement_questions.print_influence(asked, further.influence)
    elif way == "--against" and further.against is not None:
        agreement_questions.print_against(asked, further.against, further.test)
    elif way == "--methods":
        agreement_questions.print_methods(asked, bibtex=further.bibtex)
    else:
        simple = {
            "--merge": lambda: agreement_questions.print_merged(asked, further.merge or []),
            "--best-merges": lambda: agreement_questions.print_best_merges(asked),
            "--self": lambda: agreement_questions.print_self_agreement(asked),
            "--gold": lambda: agreement_questions.print_against_gold(asked),
            "--calibration": lambda: agreement_questions.print_calibration(asked),
        }
        simple.get(way or "", lambda: agreement_questions.print_whole_agreement(asked))()


def _by(asked: Asked, by: str) -> None:
    rows = {
        "category": lambda: agreement_questions.print_whole_agreement(asked, by_category=True),
        "pair": lambda: agreement_questions.print_by_pair(asked),
        "annotator": lambda: agreement_questions.print_by_annotator(asked),
        "model": lambda: agreement_questions.print_by_model(asked),
        "item": lambda: agreement_questions.print_by_item(asked),
        "confusion": lambda: agreement_questions.print_by_confusion(asked),
        "import": lambda: agreement_questions.print_by_import(asked),
        "slice": lambda: agreement_questions.print_by_slice(asked),
    }
    if by in rows:
        rows[by]()
    elif by.startswith(_OF_ANNOTATORS) and by != _OF_ANNOTATORS:
        name = by.removeprefix(_OF_ANNOTATORS)
        agreement_questions.print_by_annotator_attribute(asked, name)
    elif by.startswith(_ATTRIBUTE) and by != _ATTRIBUTE:
        agreement_questions.print_by_attribute(asked, by.removeprefix(_ATTRIBUTE))
    else:
        raise InvalidOption(f"--by {by!r} is none of {_BY_WORDS}", "such as: --by attribute:source")
