"""Each two annotators: how much they agree, and their answers to the same items side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from tracker.agreement.columns import PAIR_COLUMNS, SPAN_PAIR_COLUMNS
from tracker.web import known
from tracker.web.identity import Role, needs
from tracker.web.request import Asked, AskedLedger, At, Place
from tracker.web.templating import page, page_links

if TYPE_CHECKING:
    from tracker.agreement.pairs import PairAgreement
    from tracker.agreement.spans import SpanPair
    from tracker.ledger import Ledger
    from tracker.ledger.agreement import Pairs

router = APIRouter(include_in_schema=False)
_EXAMPLES = 20
_MOST_PAIRS = 200
"""Pairs of a table, at most."""
_MOST_DRAWN = 40
"""Annotators of a heat map, at most."""


class PairsInShort(NamedTuple):
    """How much each two annotators agree on a question.

    Attributes:
        people: those of a heat map, by name: who agree least with the others.
        values: the figure of each two of them, both ways round.
        rows: the pairs that agree least, as JSON, undefined figures last.
        number: the number of all pairs.
        annotators: the number of all annotators.
        spans: whether the figure is an F1.
    """

    people: Sequence[str]
    values: Mapping[tuple[str, str], float | None]
    rows: Sequence[Mapping[str, Any]]
    number: int
    annotators: int
    spans: bool


def pairs_in_short(asked: Asked, place: Place, question: str) -> PairsInShort:
    """Return how much each two annotators agree on a question."""
    return asked.figure(
        place.project, "pairs in short", place.key, question,
        compute=lambda ledger: _in_short(_every_pair(ledger, place, question)),
    )  # fmt: skip


def pairs_of(asked: Asked, place: Place, question: str, *names: str) -> list[dict[str, Any]]:
    """Return the pairs of an annotator, or of two, as JSON: those who agree least first."""

    def pairs(ledger: Ledger) -> list[dict[str, Any]]:
        every = _every_pair(ledger, place, question).rows
        chosen = sorted((pair for pair in every if {*names} <= {*pair.annotators}), key=_by_value)
        return [pair.to_dict() for pair in chosen[:_MOST_PAIRS]]

    return asked.figure(place.project, "pairs", place.key, question, names, compute=pairs)


def _every_pair(ledger: Ledger, place: Place, question: str) -> Pairs:
    weights = ledger.pair_weights(place.project, question)
    return ledger.by_pair(place.project, weights=weights, **place.of(question))


def _by_value(pair: PairAgreement | SpanPair) -> tuple[bool, float]:
    return pair.value is None, pair.value or 0.0


def _in_short(pairs: Pairs) -> PairsInShort:
    values: dict[tuple[str, str], float | None] = {}
    of_each: dict[str, list[float]] = {}
    for pair in pairs.rows:
        first, second = pair.annotators
        values[first, second] = values[second, first] = pair.value
        for name in pair.annotators:
            of_each.setdefault(name, []).extend(() if pair.value is None else (pair.value,))
    least = sorted(of_each, key=lambda name: (fmean(of_each[name] or [2.0]), name))[:_MOST_DRAWN]
    return PairsInShort(
        sorted(least),
        {pair: value for pair, value in values.items() if {*pair} <= {*least}},
        [pair.to_dict() for pair in sorted(pairs.rows, key=_by_value)[:_MOST_PAIRS]],
        len(pairs.rows),
        len(of_each),
        pairs.spans is not None,
    )


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
    """Show how much each two annotators agree on a question."""
    names = [setting.name for setting in asked.ledger.questions.list(place.project)]
    about = question or names[0]
    pairs = pairs_in_short(asked, place, about)
    return page(
        request, "pairs.html", place=place, tab="annotators", question=about, questions=names,
        pairs=pairs, columns=SPAN_PAIR_COLUMNS if pairs.spans else PAIR_COLUMNS,
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
    """Show two annotators."""
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
