"""Answers about agreement as the faces give them: as JSON, as rows, and for people.

One of several questions is asked at a time; each has a function here, and a line at the end.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from tracker.agreement.asking import BREAKDOWN_WORDS, OF_ANNOTATORS, OF_ITEMS, Asking
from tracker.core.errors import InvalidOption
from tracker.core.operations import part_of
from tracker.core.results import Answer
from tracker.counts.choosing import single_question
from tracker.ledger.audits import advice_as_json

if TYPE_CHECKING:
    from tracker.agreement.asking import AgreementAsked, Further
    from tracker.agreement.groups import GroupedAgreement
    from tracker.ledger import Ledger

MOST_ITEMS: Final = 100
"""The items that people see if they name no limit."""
_WAYS: Final = (
    "by", "explain", "influence", "merge", "best_merges", "against", "self_", "gold",
    "calibration", "strengths", "methods",
)  # fmt: skip


@dataclass(frozen=True)
class AgreementRequest:
    """What is asked about a project's agreement.

    Attributes:
        ledger: who is asked.
        project: the project's name.
        asking: of which answers, and how figures are computed.
        questions: the names of the questions; one if a page about it is the answer.
        further: the further question.
    """

    ledger: Ledger
    project: str
    asking: Asking
    questions: Sequence[str]
    further: Further

    @property
    def by_question(self) -> bool:
        """Whether a table of several questions is the answer."""
        return len(self.questions) > 1


def agreement_answer(ledger: Ledger, project: str, asked: AgreementAsked) -> Answer:
    """Return the answer to a question about agreement; raises InvalidOption for two at once."""
    way, names = _further_question(asked), asked["questions"]
    several = way in {None, "calibration"} and len(names) != 1
    question = None if several else single_question(names)
    if several:
        names = names or ledger.question_names(project)
    asking: Asking = part_of(Asking, {**asked, "question": question})
    request = AgreementRequest(ledger, project, asking, names, asked)
    return _breakdown(asked["by"] or "")(request) if way == "by" else _BY_WAY[way](request)


def _further_question(further: Further) -> str | None:
    """Return the name of the further question that is asked; raises InvalidOption for two."""
    # An empty text was given, too, and is answered like any other that means nothing.
    ways = [name for name in _WAYS if further.get(name) == "" or further.get(name)]
    if further.get("bibtex") and "methods" not in ways:
        ways.append("methods")
    if further.get("limit") is not None and further.get("by") != "item":
        raise InvalidOption("--limit applies to items", "add --by item, or leave it out")
    if further.get("test") is not None and further.get("against") is None:
        raise InvalidOption("--test is of a difference", "add --against OTHER, or leave it out")
    if len(ways) > 1:
        first, second = (f"--{name.rstrip('_').replace('_', '-')}" for name in ways[:2])
        raise InvalidOption(f"{first} and {second} answer different questions", "choose one")
    return ways[0] if ways else None


def _breakdown(by: str) -> Callable[[AgreementRequest], Answer]:
    """Return what answers with rows of a kind; raises InvalidOption."""
    if by in _BY:
        return _BY[by]
    for prefix, function in ((OF_ITEMS, _by_attribute), (OF_ANNOTATORS, _by_annotator_attribute)):
        if by.startswith(prefix) and by != prefix:
            return partial(function, attribute=by.removeprefix(prefix))
    raise InvalidOption(
        f"--by {by!r} is none of {BREAKDOWN_WORDS}", "such as: --by attribute:source"
    )


def _whole(request: AgreementRequest, part: str = "measures") -> Answer:
    from tracker.agreement.tables import agreement_view

    if request.by_question:
        return _each_question(request)
    result = request.ledger.agreement(request.project, **request.asking)
    named = bool(request.asking["measures"])

    def rows() -> list[dict[str, Any]]:
        nested = {"measures", "readings"}
        return [{name: row[name] for name in row if name not in nested}
                for row in result.to_dict()[part]]  # fmt: skip

    warnings, hints = [], []
    chosen = (result.selection or {}).get("annotators") or ()
    if len(chosen) == 1 and result.counts.annotators == 1:
        warnings.append("a single annotator cannot be compared; name others, too: --annotator NAME")
    if result.left_out and not named:
        words = " ".join(f"--measure {name}" for name in result.left_out)
        warnings.append(f"with so many answers, only on request: {words}")
    if result.counts.answers:
        question = request.asking["question"]
        words = shlex.join([result.project, *(["-q", question] if question else [])])
        hints.append(f"next: tracker audit {words}")
    return Answer(
        result.to_dict, rows, lambda: agreement_view(result, named=named), warnings, hints=hints
    )


def _each_question(request: AgreementRequest) -> Answer:
    from tracker.history.tables import agreement_by_question_view

    result = request.ledger.agreement_by_question(
        request.project, questions=request.questions, **request.asking
    )
    words = shlex.join([request.project, "--question", result.questions[0].question.name])
    hints = [f"next: tracker agreement {words}"]
    if any(row.findings for row in result.questions) and not request.asking["exclude_flagged"]:
        words = f"{shlex.quote(request.project)} --exclude-flagged"
        hints.append(f"findings are open; without those flagged: tracker agreement {words}")
    return Answer(
        result.to_dict, result.rows, lambda: agreement_by_question_view(result), hints=hints
    )


def _by_pair(request: AgreementRequest) -> Answer:
    from tracker.agreement.breakdown_tables import (
        pair_csv_rows,
        pairs_view,
        span_pair_csv_rows,
        span_pairs_view,
    )

    result = request.ledger.by_pair(request.project, **request.asking)
    pairs = result.pairs
    if result.spans:
        rows, view = partial(span_pair_csv_rows, pairs), partial(span_pairs_view, pairs)
    else:
        rows, view = partial(pair_csv_rows, pairs), partial(pairs_view, pairs)
    return Answer(result.to_dict, rows, view)


def _by_annotator(request: AgreementRequest) -> Answer:
    from tracker.audit.columns import people_columns
    from tracker.render.blocks import listing_table

    result = request.ledger.by_annotator(request.project, **request.asking)

    def rows() -> list[dict[str, Any]]:
        return [
            {key: value for key, value in row.items() if not isinstance(value, list | dict)}
            | {f"share of {name}": value for name, value in row["category_shares"].items()}
            for row in result
        ]

    payload = {"project": request.project, "annotators": result}
    return Answer(lambda: payload, rows, lambda: [listing_table(people_columns(result), result)])


def _by_model(request: AgreementRequest) -> Answer:
    from tracker.audit.annotator_tables import model_csv_rows, models_view

    models = request.ledger.models(request.project, **request.asking)
    rows = [model.to_dict() for model in models]
    payload = {"project": request.project, "models": rows}
    return Answer(
        lambda: payload,
        lambda: model_csv_rows(rows),
        lambda: models_view(rows, request.asking["confidence"]),
    )


def _by_item(request: AgreementRequest) -> Answer:
    from tracker.agreement.breakdown_tables import (
        item_csv_rows,
        items_view,
        most_disputed_items_first,
    )

    items = request.ledger.by_item(request.project, **request.asking)
    limit = request.further["limit"]
    most = MOST_ITEMS if limit is None else limit
    shown = most_disputed_items_first(items)[:most] if most else items
    rows = items if limit is None else shown
    cut = f"the {len(shown):,} most disputed of {len(items):,} items; for all: --limit 0"
    return Answer(
        lambda: {"project": request.project, "items": rows},
        lambda: item_csv_rows(rows),
        lambda: [items_view(shown)],
        warnings=[cut] if len(rows) < len(items) else [],
        view_warnings=[cut] if len(shown) < len(rows) else [],
    )


def _by_confusion(request: AgreementRequest) -> Answer:
    """Return a row for two categories that are confused, also without those flagged."""
    from tracker.agreement.breakdown_tables import confusion_csv_rows, confusions_view

    result = request.ledger.confusions(request.project, **request.asking)
    advice = request.ledger.advice(request.project, **request.asking)
    payload = result.to_dict() | advice_as_json(advice)
    return Answer(
        lambda: payload, lambda: confusion_csv_rows(payload), lambda: confusions_view(payload)
    )


def _by_import(request: AgreementRequest) -> Answer:
    return _groups(request.ledger.by_import(request.project, **request.asking))


def _by_attribute(request: AgreementRequest, attribute: str) -> Answer:
    return _groups(request.ledger.by_attribute(request.project, attribute, **request.asking))


def _groups(result: GroupedAgreement) -> Answer:
    from tracker.agreement.breakdown_tables import group_csv_rows, groups_view

    return Answer(result.to_dict, lambda: group_csv_rows(result), lambda: groups_view(result))


def _by_slice(request: AgreementRequest) -> Answer:
    from tracker.audit.tables import slices_view

    slices = request.ledger.by_slice(request.project, **request.asking)
    rows = [agreement.figures() for agreement in slices]
    payload = {"project": request.project, "slices": rows}
    return Answer(lambda: payload, lambda: rows, lambda: slices_view(request.project, rows))


def _by_annotator_attribute(request: AgreementRequest, attribute: str) -> Answer:
    """Return a row for each group of annotators, then one for each pair of groups."""
    from tracker.agreement.breakdown_tables import annotator_group_csv_rows, annotator_groups_view

    result = request.ledger.by_annotator_attribute(request.project, attribute, **request.asking)
    return Answer(
        result.to_dict,
        lambda: annotator_group_csv_rows(result),
        lambda: annotator_groups_view(result),
    )


def _explain(request: AgreementRequest) -> Answer:
    from tracker.agreement.tables import explanation_view

    measure = request.further["explain"] or ""
    result = request.ledger.explain(request.project, measure, **request.asking)

    def rows() -> list[dict[str, Any]]:
        parts = result.to_dict()["answers"]
        return [{"part": name, "answers": number} for name, number in parts.items()]

    return Answer(result.to_dict, rows, lambda: explanation_view(result))


def _influence(request: AgreementRequest) -> Answer:
    """Return how a coefficient moves without each annotator, item or category."""
    from tracker.agreement.tables import influence_view

    of = request.further["influence"] or ""
    measure, value, influences = request.ledger.influence(request.project, of, **request.asking)
    rows = [row.to_dict(of) for row in influences]
    several = "categories" if of == "category" else f"{of}s"
    payload = {"project": request.project, "measure": measure, "value": value, several: rows}
    return Answer(
        lambda: payload, lambda: rows, lambda: influence_view(of, measure, value, influences)
    )


def _merge(request: AgreementRequest) -> Answer:
    """Return the figures as if categories were one."""
    from tracker.agreement.tables import agreement_view

    merges = [*request.further["merge"]]
    result = request.ledger.merged(request.project, merges, **request.asking)
    payload = result.to_dict() | {"merged": merges}

    def rows() -> list[dict[str, Any]]:
        return [{name: row[name] for name in row if name != "readings"}
                for row in payload["measures"]]  # fmt: skip

    return Answer(lambda: payload, rows, lambda: agreement_view(result))


def _best_merges(request: AgreementRequest) -> Answer:
    """Return which two categories are hardest to tell apart, also without those flagged."""
    from tracker.agreement.tables import best_category_merges_view

    result = request.ledger.best_merges(request.project, **request.asking)
    advice = request.ledger.advice(request.project, merges=True, **request.asking)
    payload = {"project": request.project, **result.to_dict(), **advice_as_json(advice)}

    def rows() -> list[dict[str, Any]]:
        return [row | {"categories": "+".join(row["categories"])} for row in payload["merges"]]

    return Answer(lambda: payload, rows, lambda: best_category_merges_view(result, advice))


def _against(request: AgreementRequest) -> Answer:
    """Return whether a difference to other answers is more than chance."""
    from tracker.compare.tables import compare_against_view
    from tracker.ledger.parsing import against_in_words

    other, test = request.further["against"] or "", request.further["test"]
    result = against_in_words(request.ledger, request.project, other, test=test, **request.asking)
    payload = result.to_dict()
    return Answer(
        lambda: payload, lambda: payload["measures"], lambda: compare_against_view(result)
    )


def _self(request: AgreementRequest) -> Answer:
    from tracker.agreement.tables import self_agreement_csv_rows, self_agreement_view

    result = request.ledger.self_agreement(request.project, **request.asking)
    return Answer(
        result.to_dict,
        lambda: self_agreement_csv_rows(result),
        lambda: self_agreement_view(result),
    )


def _gold(request: AgreementRequest) -> Answer:
    from tracker.agreement.tables import against_gold_csv_rows, against_gold_view

    result = request.ledger.against_gold(request.project, **request.asking)
    return Answer(
        result.to_dict, lambda: against_gold_csv_rows(result), lambda: against_gold_view(result)
    )


def _calibration(request: AgreementRequest) -> Answer:
    from tracker.agreement.breakdown_tables import (
        calibration_by_question_csv_rows,
        calibration_by_question_view,
        calibration_csv_rows,
        calibration_view,
    )

    if request.by_question:
        each = request.ledger.calibration_by_question(
            request.project, questions=request.questions, **request.asking
        )
        name = next(iter(each.questions))
        words = shlex.join([request.project, "--calibration", "--question", name])
        return Answer(
            each.to_dict,
            lambda: calibration_by_question_csv_rows(each),
            lambda: calibration_by_question_view(each),
            hints=[f"next: tracker agreement {words}"],
        )
    result = request.ledger.calibration(request.project, **request.asking)
    return Answer(
        result.to_dict, lambda: calibration_csv_rows(result), lambda: calibration_view(result)
    )


def _strengths(request: AgreementRequest) -> Answer:
    """Return how strong each of those is that preferences compare."""
    from tracker.agreement.preference_tables import strengths_view

    result = request.ledger.strengths(request.project, **request.asking)
    return Answer(
        result.to_dict,
        lambda: [row.to_dict() for row in result.strengths],
        lambda: strengths_view(result),
    )


def _methods(request: AgreementRequest) -> Answer:
    result = request.ledger.methods(request.project, **request.asking)
    rows = [{"project": result.project, "text": result.text}]
    entries = ["\n" + result.bibtex.rstrip("\n")] if request.further.get("bibtex") else []
    return Answer(result.to_dict, lambda: rows, texts=[result.text, *entries])


_BY_WAY: Final[Mapping[str | None, Callable[[AgreementRequest], Answer]]] = {
    None: _whole, "explain": _explain, "influence": _influence, "merge": _merge,
    "best_merges": _best_merges, "against": _against, "self_": _self, "gold": _gold,
    "calibration": _calibration, "strengths": _strengths, "methods": _methods,
}  # fmt: skip
_BY: Final[Mapping[str, Callable[[AgreementRequest], Answer]]] = {
    "category": partial(_whole, part="categories"), "pair": _by_pair, "annotator": _by_annotator,
    "model": _by_model, "item": _by_item, "confusion": _by_confusion, "import": _by_import,
    "slice": _by_slice,
}  # fmt: skip
