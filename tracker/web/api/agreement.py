"""Agreement: the figures, and further questions about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from fastapi import Depends, Query, Response

from tracker.core.errors import InvalidOption, NotFound
from tracker.core.operations import LARGEST
from tracker.counts.choosing import answers_to_one
from tracker.ledger import Ledger
from tracker.ledger.parsing import against_in_words
from tracker.web.api.bodies.figures import Agreement, AgreementByQuestion, AgreementRows
from tracker.web.api.parameters import AskedAnswers, AskedErrors, AskedFigures, Measures
from tracker.web.api.routing import Answer, reads, resource

# -- The ways to ask about agreement; each calls one method of the ledger -------------------------


@dataclass(frozen=True)
class Further:
    """Questions behind a figure, of which one can be asked at a time."""

    explain: Annotated[
        str | None, Query(description="What a measure is computed from, and its formula.")
    ] = None
    influence: Annotated[
        str | None,
        Query(description="How the coefficient moves without each annotator, item or category."),
    ] = None
    merge: Annotated[
        tuple[str, ...], Query(description="Figures with these categories as one: A+B.")
    ] = ()
    best_merges: Annotated[
        bool, Query(description="The two categories that are hardest to tell apart.")
    ] = False
    against: Annotated[
        str | None,
        Query(
            description="The difference to another project, or to other answers of this one, such "
            "as until=2026-03-01."
        ),
    ] = None
    test: Annotated[str | None, Query(description="With against: the test of items.")] = None
    self_: Annotated[
        bool, Query(alias="self", description="Each annotator against their own earlier pass.")
    ] = False
    gold: Annotated[bool, Query(description="Each annotator against the reference.")] = False
    calibration: Annotated[
        bool, Query(description="Confidence against how often annotators are right.")
    ] = False
    methods: Annotated[bool, Query(description="The sentences that a paper needs.")] = False

    def way(self, by: str | None) -> str | None:
        """Return which one is asked; raises InvalidOption for two."""
        given = {
            "by": by, "explain": self.explain, "influence": self.influence,
            "merge": self.merge, "best_merges": self.best_merges, "against": self.against,
            "self": self.self_, "gold": self.gold, "calibration": self.calibration,
            "methods": self.methods,
        }  # fmt: skip
        # An empty text was given, too, and is answered like any other that means nothing.
        asked = [name for name, value in given.items() if value == "" or value]
        if self.test is not None and self.against is None:
            raise InvalidOption("test is of a difference", "add against=OTHER, or leave it out")
        if len(asked) > 1:
            raise InvalidOption(f"{asked[0]} and {asked[1]} answer different questions", "ask one")
        return asked[0] if asked else None

    def other_project(self, ledger: Ledger) -> list[str]:
        """Return the name of the other project that is asked about, if it is one."""
        if self.against is None:
            return []
        try:
            return [ledger.projects.find(self.against).name]
        except NotFound:
            return []


@dataclass(frozen=True)
class AgreementAsked:
    """What was asked about a project, of which questions."""

    project: str
    asking: dict[str, Any]
    questions: Sequence[str]
    further: Further
    limit: int

    @property
    def by_question(self) -> bool:
        """Whether a table of several questions answers it."""
        return len(self.questions) > 1


_Way = Callable[[Ledger, AgreementAsked], Any]


def _whole(ledger: Ledger, asked: AgreementAsked) -> Any:
    if asked.by_question:
        return ledger.agreement_by_question(
            asked.project, questions=asked.questions, **asked.asking
        ).to_dict()
    return ledger.agreement(asked.project, **asked.asking).to_dict()


def _category(ledger: Ledger, asked: AgreementAsked) -> Any:
    return ledger.agreement(asked.project, **asked.asking).to_dict()


def _pairs(ledger: Ledger, asked: AgreementAsked) -> Any:
    return ledger.by_pair(asked.project, **asked.asking).to_dict()


def _annotators(ledger: Ledger, asked: AgreementAsked) -> Any:
    rows = ledger.by_annotator(asked.project, **asked.asking)
    return {"project": asked.project, "annotators": rows}


def _items(ledger: Ledger, asked: AgreementAsked) -> Any:
    from tracker.agreement.breakdown_tables import most_disputed_items_first

    items = ledger.by_item(asked.project, **asked.asking)
    shown = most_disputed_items_first(items)[: asked.limit] if asked.limit else items
    return {"project": asked.project, "items": shown}


def _confusions(ledger: Ledger, asked: AgreementAsked) -> Any:
    from tracker.ledger.audits import advice_as_json

    found = ledger.confusions(asked.project, **asked.asking).to_dict()
    return found | advice_as_json(ledger.advice(asked.project, **asked.asking))


def _models(ledger: Ledger, asked: AgreementAsked) -> Any:
    rows = [one.to_dict() for one in ledger.models(asked.project, **asked.asking)]
    return {"project": asked.project, "models": rows}


def _imports(ledger: Ledger, asked: AgreementAsked) -> Any:
    return ledger.by_import(asked.project, **asked.asking).to_dict()


def _slices(ledger: Ledger, asked: AgreementAsked) -> Any:
    rows = [one.figures() for one in ledger.by_slice(asked.project, **asked.asking)]
    return {"project": asked.project, "slices": rows}


def by_attribute(ledger: Ledger, asked: AgreementAsked, name: str) -> Any:
    """Return the figures of the items with each value of an attribute."""
    return ledger.by_attribute(asked.project, name, **asked.asking).to_dict()


def by_group(ledger: Ledger, asked: AgreementAsked, name: str) -> Any:
    """Return the agreement within and between groups of annotators."""
    if asked.by_question:
        return ledger.annotator_attribute_by_question(
            asked.project, name, questions=asked.questions, **asked.asking
        ).to_dict()
    return ledger.by_annotator_attribute(asked.project, name, **asked.asking).to_dict()


def _explain(ledger: Ledger, asked: AgreementAsked) -> Any:
    from tracker.measures.citations import full_measure_name

    measure = full_measure_name(asked.further.explain or "")
    return ledger.explain(asked.project, measure, **asked.asking).to_dict()


def _influence(ledger: Ledger, asked: AgreementAsked) -> Any:
    of = asked.further.influence or ""
    measure, value, found = ledger.influence(asked.project, of, **asked.asking)
    several = "categories" if of == "category" else f"{of}s"
    rows = [row.to_dict(of) for row in found]
    return {"project": asked.project, "measure": measure, "value": value, several: rows}


def _merge(ledger: Ledger, asked: AgreementAsked) -> Any:
    merges = list(asked.further.merge)
    return ledger.merged(asked.project, merges, **asked.asking).to_dict() | {"merged": merges}


def _best_merges(ledger: Ledger, asked: AgreementAsked) -> Any:
    from tracker.ledger.audits import advice_as_json

    found = ledger.best_merges(asked.project, **asked.asking).to_dict()
    others = ledger.advice(asked.project, merges=True, **asked.asking)
    return {"project": asked.project, **found, **advice_as_json(others)}


def _against(ledger: Ledger, asked: AgreementAsked) -> Any:
    return against_in_words(
        ledger, asked.project, asked.further.against or "", test=asked.further.test, **asked.asking
    ).to_dict()  # fmt: skip


def _self(ledger: Ledger, asked: AgreementAsked) -> Any:
    return ledger.self_agreement(asked.project, **asked.asking).to_dict()


def _gold(ledger: Ledger, asked: AgreementAsked) -> Any:
    return ledger.against_gold(asked.project, **asked.asking).to_dict()


def _calibration(ledger: Ledger, asked: AgreementAsked) -> Any:
    if asked.by_question:
        return ledger.calibration_by_question(
            asked.project, questions=asked.questions, **asked.asking
        ).to_dict()
    return ledger.calibration(asked.project, **asked.asking).to_dict()


def _methods(ledger: Ledger, asked: AgreementAsked) -> Any:
    return ledger.methods(asked.project, **asked.asking).to_dict()


WAYS: Mapping[str | None, _Way] = {
    None: _whole, "explain": _explain, "influence": _influence, "merge": _merge,
    "best_merges": _best_merges, "against": _against, "self": _self, "gold": _gold,
    "calibration": _calibration, "methods": _methods,
}  # fmt: skip
BY: Mapping[str, _Way] = {
    "category": _category, "pair": _pairs, "annotator": _annotators, "item": _items,
    "model": _models, "confusion": _confusions, "import": _imports, "slice": _slices,
}  # fmt: skip


router = resource("figures")

_OF_ITEMS, _OF_ANNOTATORS = "attribute:", "annotator-attribute:"
_BY_WORDS = (
    "category, annotator, model, pair, item, confusion, import, slice, attribute:NAME or "
    "annotator-attribute:NAME"
)
_Compute = Callable[[Ledger, AgreementAsked], Any]


@router.get(
    "/projects/{project:segment}/agreement",
    **reads("getAgreement", Agreement | AgreementByQuestion | AgreementRows),
)
def project_agreement(
    answer: Answer,
    project: str,
    answers: AskedAnswers,
    figures: AskedFigures,
    errors: AskedErrors,
    further: Annotated[Further, Depends()],
    by: Annotated[str | None, Query(description=f"A row for each {_BY_WORDS}.")] = None,
    measure: Measures = (),
    limit: Annotated[
        int, Query(description="With by=item: how many items; 0 for all.", ge=0, le=LARGEST)
    ] = 0,
) -> Response:
    """Return how well annotators agree; `tracker agreement P`.

    Of a project that asks several questions, a row for each; `question` gives all about one.
    One further question can be asked at a time: `by`, `explain`, `influence`, `merge`,
    `best_merges`, `against`, `self`, `gold`, `calibration`, `methods`.
    """
    way = further.way(by)
    if limit and by != "item":
        raise InvalidOption("limit applies to items", "add by=item, or leave it out")
    names = answers["questions"]
    in_table = way in {None, "calibration"} or (by or "").startswith(_OF_ANNOTATORS)

    def compute(ledger: Ledger) -> Any:
        asked_of, choice = names, answers
        if in_table and len(names) != 1:
            asked_of, choice = names or ledger.question_names(project), answers | {"questions": ()}
        asking = {**figures, **errors, **answers_to_one(choice), "measures": measure}
        asked = AgreementAsked(project, asking, asked_of, further, limit)
        made: _Compute = _by(by) if way == "by" else WAYS[way]
        return made(ledger, asked)

    other = further.other_project(answer.ledger)
    if by in {"item", "pair"}:
        return answer.rows(project, compute)
    return answer.figure(project, compute, of=other)


def _by(by: str | None) -> _Compute:
    """Return what computes the rows that are asked for; raises InvalidOption."""
    by = by or ""
    if by in BY:
        return BY[by]
    for prefix, compute in ((_OF_ITEMS, by_attribute), (_OF_ANNOTATORS, by_group)):
        if by.startswith(prefix) and by != prefix:
            return partial(compute, name=by.removeprefix(prefix))
    raise InvalidOption(f"by={by!r} is none of {_BY_WORDS}", "such as: by=attribute:source")
