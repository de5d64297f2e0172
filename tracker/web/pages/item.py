"""One item as a desk: what it is, who said what of it, now or then, and the items beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from tracker.core.errors import TrackerError
from tracker.web import known
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
    annotators = _annotators(asked, place, record)
    people = {row["annotator"] for row in annotators if row["kind"] == "human"}
    measured = known.questions_with_scale(asked, place, "interval", "ratio")
    standing: dict[str, list[ItemLabel]] = {}
    for label in record.labels:
        standing.setdefault(label.question or "", [])
        if label.state == "stands":
            standing[label.question or ""].append(label)
    labels = [label.to_dict() for label in record.labels]
    only = asked.ledger.questions.list(place.project)[0].name
    response = page(
        request, "item.html", place=place, tab="items", item=record, choice=choice,
        beside=_beside(asked, place, choice, record.name),
        annotators=annotators, people=len(people), labels=labels,
        past=[row for row in labels if row["state"] != "stands"],
        commented=any(row.get("comment") for row in labels),
        questions={
            name: _said(given, people, measured=(name or only) in measured)
            for name, given in standing.items()
        },
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
    """What people said of an item in answer to a question.

    Attributes:
        by: the standing answers of each annotator, in words.
        votes: how many people gave each answer.
        majority: the answer that most people gave; None of spans and numbers, and if there is none.
        mean: of people's numbers, on a scale of them.
    """

    by: Mapping[str, str]
    votes: Mapping[str, int]
    majority: str | None
    mean: float | None


def _said(labels: Sequence[ItemLabel], people: Collection[str], *, measured: bool) -> _Said:
    given: dict[str, list[str]] = {}
    for label in labels:
        given.setdefault(label.annotator, []).append(_words(label))
    by = {name: "; ".join(sorted({*answers})) for name, answers in given.items()}
    if measured:
        own = [float(label.category) for label in labels if label.annotator in people
               and label.category is not None]  # fmt: skip
        return _Said(by, {}, None, fmean(own) if own else None)
    spans = any(label.start is not None for label in labels)
    votes = Counter(() if spans else (by[name] for name in by if name in people))
    most = [*votes.most_common(2), ("", 0), ("", 0)]
    clear = votes.total() > 1 and most[0][1] > most[1][1]
    return _Said(by, votes, most[0][0] if clear else None, None)


def _words(label: ItemLabel) -> str:
    answer = label.answer if label.category is None else label.category
    return answer if label.start is None else f"{answer} {label.start} to {label.end}"


def _annotators(asked: Asked, place: Place, record: ItemRecord) -> list[dict[str, Any]]:
    """Return who answered, people first, then models and references."""
    names = {label.annotator for label in record.labels if label.state == "stands"}
    rows = [annotator.to_dict() for annotator in asked.ledger.annotators.list(place.project)]
    kinds = ("human", "model", "reference")
    return sorted(
        (row for row in rows if row["annotator"] in names), key=lambda row: kinds.index(row["kind"])
    )
