"""One item as a desk: what it is, who said what of it, now or then, and the items beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from tracker.core.errors import TrackerError
from tracker.web.identity import Role, needs
from tracker.web.middleware import policy_with_media
from tracker.web.pages.items import Choice, chosen_items
from tracker.web.request import Asked, AskedLedger, At, Place
from tracker.web.templating import page

if TYPE_CHECKING:
    from tracker.projects.items import ItemLabel, ItemRecord

router = APIRouter(include_in_schema=False)


@router.get("/projects/{project:name}/items/{item:name}", dependencies=[needs(Role.VIEWER)])
def item_page(
    request: Request, place: At, item: str, asked: AskedLedger, choice: Annotated[Choice, Query()]
) -> HTMLResponse:
    """Show an item; ``choice`` is the list from which the reader came."""
    record = asked.ledger.items.show(place.project, item, **place.then)
    response = page(
        request, "item.html", place=place, tab="items", item=record, choice=choice,
        beside=_beside(asked, place, choice, record.name),
        questions=_by_question(record), people=_people(asked, place, record),
    )  # fmt: skip
    shown = {medium.origin for medium in record.media if medium.allowed}
    response.headers["content-security-policy"] = policy_with_media(shown)
    return response


class _Beside(NamedTuple):
    """The items before and after one in the list from which a reader came."""

    before: str | None
    after: str | None
    next_page: int | None


def _beside(asked: Asked, place: Place, choice: Choice, item: str) -> _Beside | None:
    """Return an item's neighbours; None if the list does not have it (any longer)."""
    try:
        listed = chosen_items(asked, place, choice)
    except TrackerError:  # an address that somebody wrote: the item is shown nevertheless
        return None
    names = [row.name for row in listed.items]
    if item not in names:
        return None
    at = names.index(item)
    before, after = names[at - 1 : at], names[at + 1 : at + 2]
    return _Beside(
        before[0] if before else None, after[0] if after else None,
        None if after else listed.next,
    )  # fmt: skip


class _Said(NamedTuple):
    """What was said of an item in answer to a question.

    Attributes:
        now: the answers that stand.
        before: those that do not any longer.
        by: the standing answers of each annotator, in words.
        votes: how many people gave each answer.
        majority: the answer that most gave; None of spans and if there is none.
    """

    now: list[dict[str, Any]]
    before: list[dict[str, Any]]
    by: Mapping[str, list[str]]
    votes: Mapping[str, int]
    majority: str | None


def _by_question(record: ItemRecord) -> dict[str, _Said]:
    questions = list(dict.fromkeys(label.question or "" for label in record.labels))
    return {
        name: _said([label for label in record.labels if (label.question or "") == name])
        for name in questions
    }


def _said(labels: Sequence[ItemLabel]) -> _Said:
    now = [label for label in labels if label.state == "stands"]
    by: dict[str, list[str]] = {}
    for label in now:
        by.setdefault(label.annotator, []).append(_words(label))
    spans = any(label.start is not None for label in now)
    votes = Counter() if spans else Counter("; ".join(sorted(set(said))) for said in by.values())
    most = votes.most_common(2)
    clear = len(most) == 1 or (len(most) > 1 and most[0][1] > most[1][1])
    return _Said(
        [label.to_dict() for label in now],
        [label.to_dict() for label in labels if label.state != "stands"],
        by, dict(most and votes.most_common()), most[0][0] if clear and len(by) > 1 else None,
    )  # fmt: skip


def _words(label: ItemLabel) -> str:
    answer = label.answer if label.category is None else label.category
    return answer if label.start is None else f"{answer} {label.start} to {label.end}"


def _people(asked: Asked, place: Place, record: ItemRecord) -> list[dict[str, Any]]:
    """Return who answered, people first, then models and references."""
    names = {label.annotator for label in record.labels if label.state == "stands"}
    rows = [annotator.to_dict() for annotator in asked.ledger.annotators.list(place.project)]
    kinds = ("human", "model", "reference")
    return sorted(
        (row for row in rows if row["annotator"] in names), key=lambda row: kinds.index(row["kind"])
    )
