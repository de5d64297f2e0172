"""``tracker agreement``."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from tracker.agreement.asking import Computing, Resampling
from tracker.cli.context import Measures, ProjectArgument, ledger_of_command, with_project_argument
from tracker.cli.options import (
    Asked,
    Limit,
    QuestionOptions,
    question_words,
)
from tracker.cli.output import Output
from tracker.cli.terminal import hint, say, warn
from tracker.core.errors import InvalidOption
from tracker.counts.choosing import Answers, answers_to_one

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tracker.agreement.asking import Asking


# -- Further questions about agreement: why, what if, against what, and how to report it ----------


def print_explanation(asked: Asked, measure: str) -> None:
    """Print why a figure is what it is."""
    from tracker.agreement.tables import explanation_view

    found = asked.ledger.explain(asked.project, measure, **asked.asking)
    told = found.to_dict()
    rows = [{"part": name, "answers": number} for name, number in told["answers"].items()]
    asked.print(told, rows=rows, view=explanation_view(found))


def print_influence(asked: Asked, of: str) -> None:
    """Print how a coefficient moves without each annotator, item or category."""
    from tracker.agreement.tables import influence_view

    measure, value, found = asked.ledger.influence(asked.project, of, **asked.asking)
    rows = [row.to_dict(of) for row in found]
    several = "categories" if of == "category" else f"{of}s"
    told = {"project": asked.project, "measure": measure, "value": value, several: rows}
    asked.print(told, rows=rows, view=influence_view(of, measure, value, found))


def print_merged(asked: Asked, merges: list[str]) -> None:
    """Print the figures as if categories were one."""
    from tracker.agreement.tables import agreement_view

    found = asked.ledger.merged(asked.project, merges, **asked.asking)
    told = found.to_dict() | {"merged": merges}
    rows = [{k: v for k, v in row.items() if k != "readings"} for row in told["measures"]]
    asked.print(told, rows=rows, view=agreement_view(found))


def print_best_merges(asked: Asked) -> None:
    """Print which two categories are hardest to tell apart, also without those flagged."""
    from tracker.agreement.tables import best_category_merges_view
    from tracker.ledger.audits import advice_as_json

    found = asked.ledger.best_merges(asked.project, **asked.asking)
    others = asked.ledger.advice(asked.project, merges=True, **asked.asking)
    told = {"project": asked.project, **found.to_dict(), **advice_as_json(others)}
    asked.print(
        told,
        rows=[row | {"categories": "+".join(row["categories"])} for row in told["merges"]],
        view=best_category_merges_view(found, others),
    )


def print_against(asked: Asked, other: str, test: str | None) -> None:
    """Print whether a difference to other answers is more than chance."""
    from tracker.compare.tables import compare_against_view
    from tracker.ledger.parsing import against_in_words

    found = against_in_words(asked.ledger, asked.project, other, test=test, **asked.asking)
    told = found.to_dict()
    asked.print(told, rows=told["measures"], view=compare_against_view(found))


def print_self_agreement(asked: Asked) -> None:
    """Annotators against their own earlier pass."""
    from tracker.agreement.tables import self_agreement_csv_rows, self_agreement_view

    found = asked.ledger.self_agreement(asked.project, **asked.asking)
    asked.print(
        found.to_dict(),
        rows=self_agreement_csv_rows(found),
        view=self_agreement_view(found),
    )


def print_against_gold(asked: Asked) -> None:
    """Annotators against the reference."""
    from tracker.agreement.tables import against_gold_csv_rows, against_gold_view

    found = asked.ledger.against_gold(asked.project, **asked.asking)
    asked.print(
        found.to_dict(),
        rows=against_gold_csv_rows(found),
        view=against_gold_view(found),
    )


def print_calibration(asked: Asked) -> None:
    """Annotators' confidence against how often they are right."""
    from tracker.agreement.breakdown_tables import (
        calibration_by_question_csv_rows,
        calibration_by_question_view,
        calibration_csv_rows,
        calibration_view,
    )

    if asked.by_question:
        each = asked.ledger.calibration_by_question(
            asked.project, questions=asked.questions, **asked.asking
        )
        rows = calibration_by_question_csv_rows(each)
        asked.print(each.to_dict(), rows=rows, view=calibration_by_question_view(each))
        words = shlex.join(
            [asked.project, "--calibration", "--question", next(iter(each.questions))]
        )
        hint(f"next: tracker agreement {words}")
        return
    found = asked.ledger.calibration(asked.project, **asked.asking)
    asked.print(
        found.to_dict(),
        rows=calibration_csv_rows(found),
        view=calibration_view(found),
    )


def print_methods(asked: Asked, *, bibtex: bool) -> None:
    """Print the sentences that a paper needs."""
    told = asked.ledger.methods(asked.project, **asked.asking)
    if asked.output.name in {"json", "csv"}:
        rows = [{"project": told.project, "text": told.text}]
        asked.print(told.to_dict(), rows=rows)
        return
    say(told.text)
    if bibtex:
        say("\n" + told.bibtex, nl=False)


_MOST_ITEMS = 100


def print_whole_agreement(asked: Asked, *, by_category: bool = False) -> None:
    """Print all figures of the project."""
    from tracker.agreement.tables import agreement_view

    found = asked.ledger.agreement(asked.project, **asked.asking)
    named = bool(asked.asking.get("measures"))
    told = found.to_dict()
    asked.print(
        told,
        rows=[
            {name: value for name, value in row.items() if name not in {"measures", "readings"}}
            for row in told["categories" if by_category else "measures"]
        ],
        view=agreement_view(found, named=named),
    )
    chosen = (found.selection or {}).get("annotators") or ()
    if len(chosen) == 1 and found.counts.annotators == 1:
        warn("a single annotator cannot be compared; name others, too: --annotator NAME")
    left = [] if named else found.left_out
    if left:
        words = " ".join(f"--measure {name}" for name in left)
        warn(f"with so many answers, only on request: {words}")
    if found.counts.answers:
        asked_of = asked.asking.get("question")
        audit = [found.project, *question_words([asked_of] if asked_of else [])]
        hint(f"next: tracker audit {shlex.join(audit)}")


def print_agreement_by_question(asked: Asked) -> None:
    """Print a row per question, the weakest first."""
    from tracker.history.tables import agreement_by_question_view

    found = asked.ledger.agreement_by_question(
        asked.project, questions=asked.questions, **asked.asking
    )
    asked.print(
        found.to_dict(),
        rows=found.rows(),
        view=agreement_by_question_view(found),
    )
    words = shlex.join([asked.project, "--question", found.questions[0].question.name])
    hint(f"next: tracker agreement {words}")
    if any(one.findings for one in found.questions) and not asked.asking.get("exclude_flagged"):
        project = shlex.quote(asked.project)
        hint(f"findings are open; without those flagged: tracker agreement {project} "
             "--exclude-flagged")  # fmt: skip


def print_by_pair(asked: Asked) -> None:
    """Print a row per pair of annotators."""
    from tracker.agreement.breakdown_tables import (
        pair_csv_rows,
        pairs_view,
        span_pair_csv_rows,
        span_pairs_view,
    )

    found = asked.ledger.by_pair(asked.project, **asked.asking)
    # Of very many pairs only the one form that is printed is made.
    told, rows = None, []
    view: Iterable[RenderableType] = ()
    if asked.output.name == "json":
        told = found.to_dict()
    elif asked.output.name == "csv":
        rows = (
            pair_csv_rows(found.pairs) if found.spans is None else span_pair_csv_rows(found.spans)
        )
    else:
        view = pairs_view(found.pairs) if found.spans is None else span_pairs_view(found.spans)
    asked.print(told, rows=rows, view=view)


def print_by_annotator(asked: Asked) -> None:
    """Print a row per annotator."""
    from tracker.audit.tables import annotators_view

    rows = asked.ledger.by_annotator(asked.project, **asked.asking)
    asked.print(
        {"project": asked.project, "annotators": rows},
        rows=[
            {key: value for key, value in row.items() if key != "category_shares"}
            | {f"share of {name}": value for name, value in row["category_shares"].items()}
            for row in rows
        ],
        view=[annotators_view(rows)],
    )


def print_by_model(asked: Asked) -> None:
    """Print a row per model beside the people, then one per category of each."""
    from tracker.audit.annotator_tables import model_csv_rows, models_view

    rows = [one.to_dict() for one in asked.ledger.models(asked.project, **asked.asking)]
    asked.print(
        {"project": asked.project, "models": rows},
        rows=model_csv_rows(rows),
        view=models_view(rows),
    )


def print_by_item(asked: Asked) -> None:
    """Print a row per item."""
    from tracker.agreement.breakdown_tables import (
        item_csv_rows,
        items_view,
        most_disputed_items_first,
    )

    items = asked.ledger.by_item(asked.project, **asked.asking)
    whole = not asked.output.for_people
    most = (0 if whole else _MOST_ITEMS) if asked.limit is None else asked.limit
    shown = most_disputed_items_first(items)[:most] if most else items
    asked.print(
        {"project": asked.project, "items": shown},
        rows=item_csv_rows(shown),
        view=[items_view(shown)],
    )
    if len(shown) < len(items):
        warn(f"the {len(shown):,} most disputed of {len(items):,} items; for all: --limit 0")


def print_by_confusion(asked: Asked) -> None:
    """Print a row per two categories that are confused, also without those flagged."""
    from tracker.agreement.breakdown_tables import confusion_csv_rows, confusions_view
    from tracker.ledger.audits import advice_as_json

    found = asked.ledger.confusions(asked.project, **asked.asking)
    others = asked.ledger.advice(asked.project, **asked.asking)
    told = found.to_dict() | advice_as_json(others)
    asked.print(told, rows=confusion_csv_rows(told), view=confusions_view(told))


def print_by_attribute(asked: Asked, attribute: str) -> None:
    """Print a row per value of an attribute of the items."""
    from tracker.agreement.breakdown_tables import group_csv_rows, groups_view

    grouped = asked.ledger.by_attribute(asked.project, attribute, **asked.asking)
    asked.print(
        grouped.to_dict(),
        rows=group_csv_rows(grouped),
        view=groups_view(grouped),
    )


def print_by_import(asked: Asked) -> None:
    """Print a row per import."""
    from tracker.agreement.breakdown_tables import group_csv_rows, groups_view

    grouped = asked.ledger.by_import(asked.project, **asked.asking)
    asked.print(grouped.to_dict(), rows=group_csv_rows(grouped), view=groups_view(grouped))


def print_by_slice(asked: Asked) -> None:
    """Print a row per slice of the items, those that explain most disagreement first."""
    from tracker.audit.tables import slices_view

    rows = [one.figures() for one in asked.ledger.by_slice(asked.project, **asked.asking)]
    asked.print(
        {"project": asked.project, "slices": rows}, rows=rows, view=slices_view(asked.project, rows)
    )


def print_by_annotator_attribute(asked: Asked, attribute: str) -> None:
    """Print a row per group of annotators, then one per pair of groups."""
    from tracker.agreement.breakdown_tables import (
        annotator_group_by_question_csv_rows,
        annotator_group_by_question_view,
        annotator_group_csv_rows,
        annotator_groups_view,
    )

    if asked.by_question:
        each = asked.ledger.annotator_attribute_by_question(
            asked.project, attribute, questions=asked.questions, **asked.asking
        )
        rows = annotator_group_by_question_csv_rows(each)
        asked.print(each.to_dict(), rows=rows, view=annotator_group_by_question_view(each))
        return
    found = asked.ledger.by_annotator_attribute(asked.project, attribute, **asked.asking)
    asked.print(
        found.to_dict(),
        rows=annotator_group_csv_rows(found),
        view=annotator_groups_view(found),
    )


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
    *,
    figures: Computing,
    answers: Answers,
    errors: Resampling,
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
    names = answers["questions"]
    in_table = way in {None, "--calibration"} or (by or "").startswith(_OF_ANNOTATORS)
    if in_table and len(names) != 1:
        names, answers = names or ledger.question_names(project), answers | {"questions": ()}
    choice = answers_to_one(answers)
    asking: Asking = {
        **figures,
        **errors,
        **choice,
        "measures": measures or (),
    }
    asked = Asked(ledger, project, asking, output, limit, names)
    if way is None and asked.by_question:
        print_agreement_by_question(asked)
    elif way == "--by" and by is not None:
        _by(asked, by)
    elif way == "--explain" and further.explain is not None:
        print_explanation(asked, further.explain)
    elif way == "--influence" and further.influence is not None:
        print_influence(asked, further.influence)
    elif way == "--against" and further.against is not None:
        print_against(asked, further.against, further.test)
    elif way == "--methods":
        print_methods(asked, bibtex=further.bibtex)
    else:
        simple = {
            "--merge": lambda: print_merged(asked, further.merge or []),
            "--best-merges": lambda: print_best_merges(asked),
            "--self": lambda: print_self_agreement(asked),
            "--gold": lambda: print_against_gold(asked),
            "--calibration": lambda: print_calibration(asked),
        }
        simple.get(way or "", lambda: print_whole_agreement(asked))()


def _by(asked: Asked, by: str) -> None:
    rows = {
        "category": lambda: print_whole_agreement(asked, by_category=True),
        "pair": lambda: print_by_pair(asked),
        "annotator": lambda: print_by_annotator(asked),
        "model": lambda: print_by_model(asked),
        "item": lambda: print_by_item(asked),
        "confusion": lambda: print_by_confusion(asked),
        "import": lambda: print_by_import(asked),
        "slice": lambda: print_by_slice(asked),
    }
    if by in rows:
        rows[by]()
    elif by.startswith(_OF_ANNOTATORS) and by != _OF_ANNOTATORS:
        name = by.removeprefix(_OF_ANNOTATORS)
        print_by_annotator_attribute(asked, name)
    elif by.startswith(_ATTRIBUTE) and by != _ATTRIBUTE:
        print_by_attribute(asked, by.removeprefix(_ATTRIBUTE))
    else:
        raise InvalidOption(f"--by {by!r} is none of {_BY_WORDS}", "such as: --by attribute:source")
