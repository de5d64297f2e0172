"""Each two annotators: how much they agree, and their answers to the same items side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from tracker.agreement.columns import PAIR_COLUMNS, SPAN_PAIR_COLUMNS
from tracker.web import known
from tracker.web.identity import Role, needs
from tracker.web.request import Asked, AskedLedger, At, Place
from tracker.web.templating import page, page_links

if TYPE_CHECKING:
    from tracker.agreement.pairs import PairsInShort
    from tracker.ledger import Ledger

router = APIRouter(include_in_schema=False)
_EXAMPLES = 20


def pairs_in_short(asked: Asked, place: Place, question: str) -> PairsInShort:
    """Return the pairs that agree least on a question."""

    def pairs(ledger: Ledger) -> PairsInShort:
        weights = ledger.pair_weights(place.project, question)
        return ledger.pairs_in_short(place.project, weights=weights, **place.of(question))

    return asked.figure(place.project, "pairs in short", place.key, question, compute=pairs)


def pairs_of(asked: Asked, place: Place, question: str, *names: str) -> list[dict[str, Any]]:
    """Return the pairs of an annotator, or of two, as JSON: those who agree least first."""

    def pairs(ledger: Ledger) -> list[dict[str, Any]]:
        weights = ledger.pair_weights(place.project, question)
        every = ledger.by_pair(place.project, weights=weights, **place.of(question))
        return [pair.to_dict() for pair in every.pairs.of(*names).lowest()]

    return asked.figure(place.project, "pairs", place.key, question, names, compute=pairs)


def pair_links(here: Callable[..., str], question: str) -> dict[str, Callable[..., str]]:
    """Return where a table of pairs leads: to their page, and to the items of both."""
    return {
        "pair": lambda row: here(
            "annotators", row["annotators"][0], "with", row["annotators"][1], question=question
        ),
        "items of both": lambda row: here("items", question=question, annotator=row["annotators"]),
    }


@router.get("/projects/{project:name}/pairs", dependencies=[needs(Role.VIEWER)])
def pairs_page(request: Request, place: At, asked: AskedLedger, question: str = "") -> HTMLResponse:
    questions = {one.name: one.answers for one in asked.ledger.questions.list(place.project)}
    about = question or next(iter(questions))
    pairs, spans = pairs_in_short(asked, place, about), questions.get(about) == "spans"
    values = {
        names: pair.value
        for pair in pairs.among
        for names in (pair.annotators, pair.annotators[::-1])
    }
    return page(
        request, "pairs.html", place=place, tab="annotators", question=about,
        questions=[*questions], pairs=pairs, values=values, spans=spans,
        rows=[pair.to_dict() for pair in pairs.lowest],
        columns=SPAN_PAIR_COLUMNS if spans else PAIR_COLUMNS,
        links=pair_links(page_links(request, place), about),
    )  # fmt: skip


@router.get("/projects/{project:name}/annotators/{annotator:name}/with/{other:name}",
            dependencies=[needs(Role.VIEWER)])  # fmt: skip
def pair_page(
    request: Request,
    place: At,
    annotator: str,
    other: str,
    asked: AskedLedger,
    question: Annotated[str, Query()] = "",
) -> HTMLResponse:
    names = [one.name for one in asked.ledger.questions.list(place.project)]
    about = question or names[0]
    numbers = about in known.questions_of_numbers(asked, place)
    spans = asked.ledger.questions.show(place.project, about).question.answers == "spans"
    differ = asked.ledger.items.page(
        place.project, answered_by=[annotator, other], differ=True, most=_EXAMPLES,
        **place.of(about),
    )  # fmt: skip
    return page(
        request, "pair.html", place=place, tab="annotators", two=(annotator, other),
        question=about, questions=names, differ=differ, numbers=numbers,
        table=None if spans or numbers else _table(asked, place, (annotator, other), about),
        figures=next(iter(pairs_of(asked, place, about, annotator, other)), None),
    )  # fmt: skip


def _table(asked: Asked, place: Place, two: tuple[str, str], question: str) -> dict[str, Any]:
    return asked.figure(
        place.project, "cross table", place.key, two, question,
        compute=lambda it: it.cross_table(place.project, *two, **place.of(question)).to_dict(),
    )  # fmt: skip
