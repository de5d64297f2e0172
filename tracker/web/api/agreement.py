"""Agreement: the figures, and further questions about them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

from fastapi import Depends, Query, Response

from tracker.core.errors import InvalidOption
from tracker.ledger import Ledger
from tracker.web.api.agreement_ways import BY, WAYS, AgreementAsked, Further, by_attribute, by_group
from tracker.web.api.answering import Answer, reads, resource
from tracker.web.api.bodies.figures import Agreement, AgreementByQuestion, AgreementRows
from tracker.web.api.parameters import Answers, Figures, Measures, Uncertainty
from tracker.web.place import LARGEST

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
    answers: Annotated[Answers, Depends()],
    figures: Annotated[Figures, Depends()],
    errors: Annotated[Uncertainty, Depends()],
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
    asking = {**figures.keywords, **errors.keywords, **answers.selecting, "measures": measure}
    names, questions = answers.questions, answers
    in_table = way in {None, "calibration"} or (by or "").startswith(_OF_ANNOTATORS)

    def compute(ledger: Ledger) -> Any:
        asked_of = names
        if in_table and len(names) != 1:
            asked_of = names or ledger.question_names(project)
        else:
            asking["question"] = questions.of_one["question"]
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
