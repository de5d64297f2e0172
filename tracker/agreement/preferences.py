"""How strong things are that were compared in pairs, who says so, and how people compare them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from math import exp, inf
from typing import Annotated, Any

from sqlalchemy import Connection

from tracker.agreement.query import Query
from tracker.core.errors import InvalidOption
from tracker.core.results import Json, Record
from tracker.counts.comparisons import (
    ComparedItems,
    SameItems,
    count_compared_items,
    count_same_items,
    count_shown,
    count_swapped,
)
from tracker.counts.filter import select_answers
from tracker.counts.selection import Selection
from tracker.measures.intervals import confidence_interval, wilson_interval
from tracker.measures.paired_comparisons import (
    Comparisons,
    Position,
    Strengths,
    Undefined,
    equal_numbers_p_value,
    fit_strengths,
    kendall_tau,
    positions,
)
from tracker.projects.annotators import AnnotatorInfo, list_annotators
from tracker.projects.kept import stored_with_answers
from tracker.projects.preferences import FIRST, SECOND, TIE
from tracker.projects.questions import QuestionInfo
from tracker.render.formats import Shown


@dataclass(frozen=True)
class Strength(Record):
    """What was compared: its log strength with its interval, and the ranks that it may have.

    The ranks of all hold at once with the confidence of the intervals; None if there are no
    strengths.
    """

    name: str
    strength: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    rank_low: int | None = None
    rank_high: int | None = None


@dataclass(frozen=True)
class Figure(Record):
    """A parameter of the model, on the log scale, with its interval."""

    value: float
    ci_low: float | None
    ci_high: float | None


@dataclass(frozen=True)
class Beats(Record):
    """How often one was better than another, and how likely it is, if both are not alike."""

    name: str
    other: str
    better: int
    ties: int
    worse: int
    probability: float | None


@dataclass(frozen=True)
class SwapConsistency(Record):
    """Whether somebody says the same of the same two in both orders.

    ``first`` and ``second`` count pairs of answers that prefer that place in both orders; the
    p-value is that of the exact binomial test that they are equally many.
    """

    annotator: str
    kind: str
    pairs: int
    same: int
    share: float
    ci_low: float | None
    ci_high: float | None
    first: int
    second: int
    p_value: float | None


@dataclass(frozen=True)
class PositionEffect(Record):
    """How often somebody prefers the first of two, and how often by the strengths they would."""

    annotator: str
    kind: str
    answers: int
    observed: float
    expected: float
    difference: float
    ci_low: float | None
    ci_high: float | None
    p_value: float | None


@dataclass(frozen=True)
class Leaderboard(Record):
    """A model's strengths beside the people's, of what both compared.

    Attributes:
        undefined: why there are none.
        kendall_tau: between its strengths and the people's; None without both.
        opposite: pairs that both rank with certainty, in opposite orders: the people's better one
            first.
        pairs: of its answer and a person's.
        agreement: the share of them that say the same; None if there are none.
    """

    annotator: str
    strengths: tuple[Strength, ...]
    undefined: str | None
    why: str | None
    kendall_tau: float | None
    opposite: tuple[tuple[str, str], ...]
    items: int
    pairs: int
    agreement: float | None


@dataclass(frozen=True)
class Preferences(Record, Shown):
    """The strengths of what the answers to a question compare, the strongest first.

    Attributes:
        selection: the answers chosen; None for those of all people.
        strengths: of each, on a log scale, with a mean of 0.
        undefined: why there are none, as a word; None if there are.
        tie: the log of the tie parameter; None without ties.
        order_effect: by how much the one shown first is stronger for it; None if unknown.
        without_names: answers to items whose two have no names, which are in no strength.
        without_side: answers of categories that say neither which is better nor a tie.
        swaps: who says the same in both orders.
        position: who prefers the first.
    """

    project: str
    question: str
    confidence: float
    selection: Annotated[Mapping[str, Any] | None, Json(rare=True)]
    strengths: tuple[Strength, ...]
    undefined: str | None
    why: str | None
    tie: Figure | None
    order_effect: Figure | None
    items: int
    answers: int
    without_names: int
    without_side: int
    beats: tuple[Beats, ...]
    swaps: tuple[SwapConsistency, ...]
    position: tuple[PositionEffect, ...]
    leaderboards: tuple[Leaderboard, ...]


@stored_with_answers
def preference_strengths(
    connection: Connection, question: QuestionInfo, query: Query | None = None
) -> Preferences:
    """Return the strengths by the people's answers, or by those chosen; models beside people.

    Raises InvalidOption for a question of another kind.
    """
    if not question.preference:
        raise InvalidOption(
            f"{question.description}, does not ask which of two is better",
            "make one that does: tracker project create NAME --answers preference",
        )
    asked = query or Query()
    level, choice = asked.confidence, asked.filter
    selection = select_answers(connection, question, choice)
    known = list_annotators(connection, question.project)
    who = {annotator.id: annotator for annotator in known}
    models = [annotator.id for annotator in known if annotator.kind == "model"
              and not choice.annotators and annotator.name not in choice.excluded]  # fmt: skip
    judges = selection.with_models(frozenset(models))
    counted = count_compared_items(connection, selection, models)
    own = Comparisons(counted[0].rows)
    items = int(own.items.sum())
    fitted = fit_strengths(own)
    effect = fit_strengths(own, order=True)
    same = count_same_items(connection, selection, models) if len(counted) > 1 else {}
    return Preferences(
        question.project.name,
        question.name,
        level,
        selection.told,
        _rows(own, fitted, level),
        *_why_not(fitted),
        _figure(None if isinstance(fitted, Undefined) else fitted.tie, items, level),
        _figure(None if isinstance(effect, Undefined) else effect.order, items, level),
        items,
        int((own.answers.sum(axis=1) * own.items).sum()),
        counted[0].without_names,
        counted[0].without_side,
        _beats(own, fitted),
        _swaps(connection, judges, who, level),
        _positions(positions(count_shown(connection, judges)), who, level),
        tuple(
            _leaderboard(who[model].name, of_model, (own, fitted), level, same.get(model))
            for model, of_model in sorted(counted.items())
            if model and (of_model.rows or of_model.without_names)
        ),
    )


def _why_not(fitted: Strengths | Undefined) -> tuple[str | None, str | None]:
    return (fitted.reason, fitted.sentence) if isinstance(fitted, Undefined) else (None, None)


def _rows(
    compared: Comparisons, fitted: Strengths | Undefined, level: float
) -> tuple[Strength, ...]:
    """Return a row for each that was compared, the strongest first; by name without strengths."""
    if isinstance(fitted, Undefined):
        return tuple(map(Strength, compared.names))
    of_all = zip(
        fitted.names, fitted.values.tolist(), fitted.errors.tolist(), fitted.ranks(level),
        strict=True,
    )  # fmt: skip
    items = int(compared.items.sum())
    rows = (Strength(name, value, *_interval(value, error, items, level), *ranks)
            for name, value, error, ranks in of_all)  # fmt: skip
    return tuple(sorted(rows, key=lambda row: (-(row.strength or 0.0), row.name)))


def _interval(
    value: float, error: float, items: int, level: float
) -> tuple[float | None, float | None]:
    """Return the interval of a figure without bounds; one item has no spread to learn from."""
    if items < 2:
        return None, None
    return confidence_interval(value, error, items, level, low=-inf, high=inf)


def _figure(found: tuple[float, float] | None, items: int, level: float) -> Figure | None:
    return None if found is None else Figure(found[0], *_interval(*found, items, level))


def _beats(compared: Comparisons, fitted: Strengths | Undefined) -> tuple[Beats, ...]:
    rows = []
    for one, other in combinations(range(len(compared.names)), 2):
        better, worse = int(compared.beats[one, other]), int(compared.beats[other, one])
        ties = int(compared.alike[one, other])
        if better or ties or worse:
            chance = None if isinstance(fitted, Undefined) else fitted.probability(one, other)
            rows.append(
                Beats(compared.names[one], compared.names[other], better, ties, worse, chance)
            )
    return tuple(rows)


def _swaps(
    connection: Connection, selection: Selection, who: Mapping[int, AnnotatorInfo], level: float
) -> tuple[SwapConsistency, ...]:
    said: defaultdict[int, defaultdict[tuple[str, str], int]] = defaultdict(
        lambda: defaultdict(int)
    )
    for annotator, one, other, pairs in count_swapped(connection, selection):
        said[annotator][one, other] += pairs
    rows = []
    for annotator, counts in said.items():
        pairs = sum(counts.values())
        same = sum(counts[one] for one in ((FIRST, SECOND), (SECOND, FIRST), (TIE, TIE)))
        first, second = counts[FIRST, FIRST], counts[SECOND, SECOND]
        p_value = equal_numbers_p_value(first, second)
        bounds = wilson_interval(same / pairs, pairs, level)
        name, kind, share = who[annotator].name, who[annotator].kind, same / pairs
        rows.append(
            SwapConsistency(name, kind, pairs, same, share, *bounds, first, second, p_value)
        )
    return tuple(sorted(rows, key=lambda row: (row.share, row.annotator)))


def _positions(
    found: Mapping[int, Position], who: Mapping[int, AnnotatorInfo], level: float
) -> tuple[PositionEffect, ...]:
    rows = [
        PositionEffect(
            who[annotator].name, who[annotator].kind, one.answers, one.observed, one.expected,
            one.difference, *_interval(one.difference, one.error, one.answers, level), one.p_value,
        )
        for annotator, one in found.items()
    ]  # fmt: skip
    return tuple(sorted(rows, key=lambda row: (-abs(row.difference), row.annotator)))


def _leaderboard(
    name: str,
    counted: ComparedItems,
    people: tuple[Comparisons, Strengths | Undefined],
    level: float,
    same: SameItems | None,
) -> Leaderboard:
    compared = Comparisons(counted.rows)
    fitted, (_, by_people) = fit_strengths(compared), people
    tau, opposite = None, []
    if isinstance(fitted, Strengths) and isinstance(by_people, Strengths):
        own = {one: place for place, one in enumerate(fitted.names)}
        theirs = {one: place for place, one in enumerate(by_people.names) if one in own}
        tau = kendall_tau(
            [float(fitted.values[own[one]]) for one in theirs],
            [float(by_people.values[place]) for place in theirs.values()],
        )
        certain, of_people = fitted.certain(level), by_people.certain(level)
        opposite = [
            (one, other)
            for one, place in theirs.items()
            for other, below in theirs.items()
            if of_people[place, below] and certain[own[other], own[one]]
        ]
    items, pairs, alike = same or SameItems(0, 0, 0)
    return Leaderboard(
        name, _rows(compared, fitted, level), *_why_not(fitted), tau, tuple(opposite), items,
        pairs, alike / pairs if pairs else None,
    )  # fmt: skip


def tie_probability(preferences: Preferences) -> float | None:
    """Return how likely a tie between two equally strong ones is; None without a tie parameter."""
    if preferences.tie is None:
        return None
    weight = exp(preferences.tie.value)
    return weight / (2 + weight)
