"""How far a model's answers are from what people say, as shares, and with whom of them it sides."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple, TypeAlias

from sqlalchemy import Connection, Integer, case, func, select
from sqlalchemy import cast as sql_cast

from tracker.core.errors import InvalidOption
from tracker.core.results import Record
from tracker.core.tallies import Answer, Pattern, answers_in_pattern, pattern_without
from tracker.counts.beside_people import of_models
from tracker.counts.pattern_codes import make_pattern_code, widen_pattern_code
from tracker.counts.selection import (
    Selection,
    labels,
    read_selected_answer,
    select_answer_rows,
    stream_rows,
    where_counted,
    with_answers,
)
from tracker.measures.difference_tests import holm
from tracker.measures.intervals import TOO_FEW_ITEMS, confidence_interval
from tracker.measures.isolated_rater import Given
from tracker.storage.schema import AnswerDetail
from tracker.storage.schema.labels import detail_of

_details = AnswerDetail.__table__

HARD_ANSWER: Final = "hard_answer"  # no share of a hard answer is that of one that somebody gave
NO_ORDER: Final = "no_order"
MOST_GROUPS: Final = 50

Sure: TypeAlias = Mapping[tuple[Answer, Pattern, float], int]
"""How many items were given an answer, a pattern by others, and a confidence in the answer."""


@dataclass(frozen=True)
class Distance(Record):
    """A mean over items with Student's bounds; None if it is undefined, with the reason."""

    value: float | None
    ci_low: float | None
    ci_high: float | None
    items: int
    undefined: str | None = None


@dataclass(frozen=True)
class SoftLabelDistances(Record):
    """How far answers are from the shares of people who gave each category.

    Attributes:
        manhattan: the sum of the differences of shares, from 0 to 2 for one category an answer.
        wasserstein: by how many ranks, or how much, answers are off on average; of an order alone.
        cross_entropy: of the people's shares and the answer's, in bits.
        person_error: the share of people who said otherwise.
    """

    manhattan: Distance
    wasserstein: Distance
    cross_entropy: Distance
    person_error: Distance


def soft_label_distances(
    met: Given,
    *,
    places: Mapping[int, float] | None = None,
    sure: Sure | None = None,
    categories: int = 0,
    confidence: float = 0.95,
    among: bool = False,
) -> SoftLabelDistances:
    """Return how far answers are from the shares of the others who answered the same items.

    With p the shares of an item's people and a the answer: manhattan = sum over categories of
    |p - a|; wasserstein = sum of p |place - place of a|; cross-entropy = -sum of p log2 q, where q
    is the confidence for the answer and the rest of it in equal parts for the other categories;
    the error by person = 1 - p(a). Items that nobody else answered count in none.

    Args:
        met: answers and the patterns of the others.
        places: the rank or number of each category, if they have an order.
        sure: the answers with their confidences; None if they have none.
        categories: how many answers there could have been, for the cross-entropy.
        confidence: level of the intervals.
        among: whether the people's own answers are meant, each from the others'; of an item their
            mean. Nobody can be expected to be nearer to people than that.

    Source:
        Leonardelli et al. (2023), SemEval-2023 Task 11: Learning with disagreements; of shares on
        an order, Vallender (1974), Theory Probab. Appl. 18, 784.
    """
    entries = [(own, pattern, items) for (own, pattern), items in sorted(met.items()) if pattern]
    cases = [([(1, own, pattern)], 1, items) for own, pattern, items in entries]
    if among:
        of_people: Counter[Pattern] = Counter()
        for _, pattern, items in entries:
            of_people[pattern] += items
        cases = [
            ([(n, own, pattern_without(pattern, own)) for own, n in pattern], size, items)
            for pattern, items in of_people.items()
            if (size := answers_in_pattern(pattern)) > 1
        ]

    def over(distance: Callable[[Answer, Pattern], float]) -> Distance:
        values = [
            (math.fsum(n * distance(own, others) for n, own, others in members) / size, items)
            for members, size, items in cases
        ]
        return _mean(values, confidence)

    wasserstein = _undefined(NO_ORDER)
    if places is not None:
        wasserstein = over(lambda own, pattern: _shift(own, pattern, places))
    return SoftLabelDistances(
        over(_manhattan),
        wasserstein,
        _undefined(HARD_ANSWER) if among else _cross_entropy(entries, sure, categories, confidence),
        over(lambda own, pattern: 1 - _share(own, pattern)),
    )


def _share(own: Answer, pattern: Pattern) -> float:
    return dict(pattern).get(own, 0) / answers_in_pattern(pattern)


def _manhattan(own: Answer, pattern: Pattern) -> float:
    gave: defaultdict[int, int] = defaultdict(int)
    for answer, number in pattern:
        for category in answer:
            gave[category] += number
    people = answers_in_pattern(pattern)
    return math.fsum(
        abs(gave[category] / people - (category in own)) for category in sorted({*gave, *own})
    )


def _shift(own: Answer, pattern: Pattern, places: Mapping[int, float]) -> float:
    here = places[own[0]]
    off = (number * abs(places[answer[0]] - here) for answer, number in pattern)
    return math.fsum(off) / answers_in_pattern(pattern)


def _cross_entropy(
    entries: Sequence[tuple[Answer, Pattern, int]],
    sure: Sure | None,
    categories: int,
    confidence: float,
) -> Distance:
    if sure is None:
        if any(_share(own, pattern) < 1 for own, pattern, _ in entries):
            return _undefined(HARD_ANSWER, sum(items for *_, items in entries))
        return _mean([(0.0, items) for *_, items in entries], confidence)
    values = []
    for (own, pattern, certainty), items in sorted(sure.items()):
        share = _share(own, pattern) if pattern else 0.0
        rest = (1 - certainty) / max(categories - 1, 1)
        if (share > 0 and certainty <= 0) or (share < 1 and rest <= 0):
            return _undefined(HARD_ANSWER, sum(sure.values()))
        if pattern:
            own_part = share * math.log2(certainty) if share else 0.0
            other_part = (1 - share) * math.log2(rest) if share < 1 else 0.0
            values.append((-own_part - other_part, items))
    return _mean(values, confidence)


def _undefined(why: str, items: int = 0) -> Distance:
    return Distance(None, None, None, items, why)


def _mean(values: Sequence[tuple[float, int]], confidence: float) -> Distance:
    number = sum(items for _, items in values)
    if not number:
        return _undefined(TOO_FEW_ITEMS)
    mean = math.fsum(value * items for value, items in values) / number
    if number < 2:
        return Distance(mean, None, None, number)
    square = math.fsum(items * (value - mean) ** 2 for value, items in values) / (number - 1)
    low, high = confidence_interval(
        mean, math.sqrt(square / number), number, confidence, low=-math.inf, high=math.inf
    )
    return Distance(mean, low, high, number)


class Sides(NamedTuple):
    """On an item: how many of a group answered, and as the model did; likewise of all others."""

    group: int
    group_alike: int
    others: int
    others_alike: int


@dataclass(frozen=True)
class GroupSide(Record):
    """How often a model says what a group says.

    Attributes:
        group: the value of the attribute.
        items: those that the model and the group answered.
        agreement: the mean share of the group's answers that are the model's.
        ci_low, ci_high: Student's bounds over items.
        compared: those of the items that others answered, too.
        difference: by how much the group's share is larger than the others', on those.
        difference_low, difference_high: Student's bounds of that, over items.
        p: of no difference, paired over items, multiplied by the number of groups that are tested
            (Holm's way); None if it cannot be tested.
        sides: whether the model surely says what the group says more often than what others do.
    """

    group: str
    items: int
    agreement: float | None
    ci_low: float | None
    ci_high: float | None
    compared: int
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    p: float | None
    sides: bool


def sides_with(
    groups: Mapping[str, Mapping[Sides, int]], *, confidence: float = 0.95
) -> list[GroupSide]:
    """Return how often a model says what each group says, and whether more than what others do.

    The test is Student's of the mean difference over items, of which each has the share of the
    group's answers that are the model's, less that of the others'.

    Args:
        groups: how many items there are of each kind, by the group's name.
        confidence: level of the intervals; p values are held against the rest of it.

    Source:
        Holm (1979), Scand. J. Stat. 6, 65.
    """
    from scipy.special import stdtr

    rows = []
    for group, counts in groups.items():
        entries = [(of, items) for of, items in sorted(counts.items()) if of.group]
        own = _mean([(of.group_alike / of.group, items) for of, items in entries], confidence)
        apart = [
            (of.group_alike / of.group - of.others_alike / of.others, items)
            for of, items in entries
            if of.others
        ]
        difference = _mean(apart, confidence)
        p = None
        if difference.value is not None and difference.items > 1:
            mean, number = difference.value, difference.items
            square = math.fsum(n * (value - mean) ** 2 for value, n in apart) / (number - 1)
            if square > 0:
                p = float(2 * stdtr(number - 1, -abs(mean) / math.sqrt(square / number)))
        rows.append((group, own, difference, p))
    adjusted = holm([p for *_, p in rows])
    return [
        GroupSide(
            group, own.items, own.value, own.ci_low, own.ci_high, difference.items,
            difference.value, difference.ci_low, difference.ci_high, p,
            p is not None and p <= 1 - confidence and (difference.value or 0.0) > 0,
        )
        for (group, own, difference, _), p in zip(rows, adjusted, strict=True)
    ]  # fmt: skip


def count_sides(
    connection: Connection,
    people: Selection,
    models: frozenset[int],
    groups: Mapping[str, Iterable[int]],
) -> dict[int, dict[str, dict[Sides, int]]]:
    """Return for each model how many items there are of each kind, by the name of a group.

    Only items that the model answered count. Others are all people who are not in the group. One
    statement counts, whatever the number of models.

    Args:
        connection: to the database.
        people: whose answers count.
        models: by id.
        groups: the ids of those who are in each.

    Raises InvalidOption for answers of several categories or of spans.
    """
    if not people.single:
        raise InvalidOption(
            f"{people.question.description} of several labels, has no sides to take",
            "name a question of one category an answer",
        )
    answers = select_answer_rows(people, "answers")
    of_model = select_answer_rows(of_models(people, models), "of_model")
    names = [*groups]
    number = case(
        *((answers.c.annotator_id.in_(sorted(who)), n) for n, who in enumerate(groups.values())),
        else_=-1,
    )
    same = case((answers.c.answer == of_model.c.answer, 1), else_=0)
    each = (
        select(answers.c.item_id, of_model.c.annotator_id.label("model"), number.label("part"),
               func.count().label("people"), func.sum(same).label("alike"))
        .join(of_model, of_model.c.item_id == answers.c.item_id)
        .group_by(answers.c.item_id, of_model.c.annotator_id, number)
        .subquery("each")
    )  # fmt: skip
    of_item = [each.c.item_id, each.c.model]
    every, alike = (
        sql_cast(func.sum(column).over(partition_by=of_item), Integer)
        for column in (each.c.people, each.c.alike)
    )
    parts = select(
        each.c.model, each.c.part, each.c.people, sql_cast(each.c.alike, Integer).label("alike"),
        every.label("every"), alike.label("every_alike"),
    ).subquery("parts")  # fmt: skip
    key = [*parts.c]
    counts: dict[int, dict[str, dict[Sides, int]]] = {}
    statement = select(*key, func.count()).where(parts.c.part >= 0).group_by(*key)
    for model, part, group, group_alike, all_, all_alike, items in stream_rows(
        connection, statement
    ):
        sides = Sides(group, group_alike, all_ - group, all_alike - group_alike)
        counts.setdefault(model, {name: {} for name in names})[names[part]][sides] = items
    return counts


def count_sure_answers(
    connection: Connection, people: Selection, models: frozenset[int]
) -> dict[int, Counter[tuple[Answer, Pattern, float]]]:
    """Return each model's answers with a confidence, in thousandths, by people's pattern."""
    code = make_pattern_code(connection, people)
    chosen = of_models(people, models)
    columns = (labels.c.item_id, labels.c.annotator_id, _details.c.confidence)
    rows = with_answers(
        select(*columns)
        .join(_details, detail_of(_details, labels))
        .where(where_counted(chosen), _details.c.confidence.is_not(None)),
        chosen,
        columns,
    ).subquery("sure")
    thousandths = sql_cast(func.round(rows.c.confidence * 1000), Integer)
    key = (rows.c.annotator_id, rows.c.answer, thousandths.label("thousandths"), *code.key)
    statement = (
        select(*key, func.count(), func.max(code.items.c.answers))
        .select_from(rows.join(code.items, code.items.c.item_id == rows.c.item_id))
        .group_by(rows.c.annotator_id, rows.c.answer, thousandths, *code.key)
    )
    decode = cache(code.decode)
    counts: dict[int, Counter[tuple[Answer, Pattern, float]]] = {}
    most = 0
    for model, answer, number, *codes, items, answers in stream_rows(connection, statement):
        most = max(most, answers)
        if code.holds(answers):
            key_of = read_selected_answer(answer), decode(tuple(codes)), number / 1000
            counts.setdefault(model, Counter())[key_of] += items
    wider = widen_pattern_code(people, code, most)
    return counts if wider is None else count_sure_answers(connection, wider, models)
