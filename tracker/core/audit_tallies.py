"""What audits examine besides the annotator tallies: exact counts, made by the database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tracker.core.beside_columns import BesideColumns
from tracker.core.tallies import (
    Answer,
    FloatArray,
    IntArray,
    Pattern,
    answers_in_pattern,
    is_minority,
)
from tracker.core.tally_columns import KeyedTallies, TallyColumns

GoldTallies: TypeAlias = Mapping[int, Mapping[tuple[Answer, Answer, Pattern], int]]
"""``{annotator: {(truth, own answer, pattern): items}}`` of the items that have a truth."""

RepeatTallies: TypeAlias = Mapping[int, Mapping[tuple[Answer, Answer, Pattern], int]]
"""``{annotator: {(earlier answer, later answer, pattern): times}}`` of items answered again."""

SkipTallies: TypeAlias = Mapping[int, Mapping[tuple[bool, int, int], int]]
"""``{annotator: {(skipped, annotators who skipped the item, annotators who saw it): items}}``."""


@dataclass(frozen=True)
class Blocks:
    """Each annotator's timed answers in order, cut into blocks of equal numbers.

    Attributes:
        tallies: the keys are ``(block, truth or None, own answer, pattern)``; blocks count from 0.
        began: when each block's first answer was given, in microseconds since 1970: of each
            annotator, by block.
    """

    tallies: KeyedTallies
    began: Mapping[int, Mapping[int, int]]

    @cached_property
    def _block(self) -> IntArray:
        """The block of each row."""
        of_key = np.array([block for block, *_ in self.tallies.every_key], dtype=np.int64)
        return of_key[self.tallies.key]

    @cached_property
    def numbers(self) -> IntArray:
        """How many blocks each annotator has, shape (annotators,)."""
        numbers = np.zeros(len(self.tallies), dtype=np.int64)
        np.maximum.at(numbers, self.tallies.owner, self._block + 1)
        return numbers

    def sums(self, values: NDArray[Any]) -> FloatArray:
        """Return the sum over items of a value of each key, shape (annotators, blocks)."""
        shape = len(self.tallies), int(self.numbers.max(initial=0))
        cell = self.tallies.owner * shape[1] + self._block
        weights = self.tallies.number * values[self.tallies.key]
        return np.bincount(cell, weights, shape[0] * shape[1]).reshape(shape).astype(np.float64)

    def powers(self, values: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the items with a value, their sum and that of squares; NaN is no value."""
        known = np.nan_to_num(values)
        return self.sums(~np.isnan(values)), self.sums(known), self.sums(known**2)


class ImportedFile(NamedTuple):
    """A file: its import's number and change, its number within the import, and its name."""

    import_id: int
    change: int
    number: int
    name: str


MOVED_ROWS = (*range(-3, 4), *range(-3, 4))
"""By how many rows answers of a file are moved: in the order of the items, and of their names."""


class FileTallies(NamedTuple):
    """The tallies of each annotator's answers of each file.

    Attributes:
        columns: the tallies; an owner is an annotator's answers of one file.
        annotators: of each owner the annotator's id, ascending.
        files: of each owner the file; None for answers of none, or of a very small one.
    """

    columns: TallyColumns
    annotators: tuple[int, ...]
    files: tuple[ImportedFile | None, ...]


@dataclass(frozen=True)
class AnswerTimes:
    """The times that one annotator's answers took.

    Attributes:
        answers: answers whose time is known.
        median: their median, in seconds.
        compared: those to items for which another's time is known as well.
        ratio: median over these of the time divided by the mean of the others' for the item;
            None if there is none.
    """

    answers: int
    median: float
    compared: int
    ratio: float | None


@dataclass(frozen=True)
class PairPatterns:
    """Every two annotators' shared items, by pattern and by whether they answered alike.

    One row is a pair, a pattern and an answer that both gave (or the fact that they differ).

    Attributes:
        pairs: ``(first id, second id)``, first < second; those with enough shared items.
        patterns: the patterns that occur.
        answers: the answers that occur.
        pair: place in ``pairs``, shape (rows,).
        pattern: place in ``patterns``, shape (rows,).
        same: place in ``answers`` of the answer that both gave, -1 where they differ.
        items: how many such items.
        linked: every two who share any item, (pairs, 2); None if not asked.
    """

    pairs: tuple[tuple[int, int], ...]
    patterns: tuple[Pattern, ...]
    answers: tuple[Answer, ...]
    pair: NDArray[np.int64]
    pattern: NDArray[np.int64]
    same: NDArray[np.int64]
    items: NDArray[np.int64]
    linked: IntArray | None = None

    def of(self, chosen: Collection[tuple[int, int]]) -> dict[tuple[int, int], Counter[Pattern]]:
        """Return on how many items each of some pairs met each pattern."""
        places = [place for place, pair in enumerate(self.pairs) if pair in chosen]
        items: dict[tuple[int, int], Counter[Pattern]] = {self.pairs[n]: Counter() for n in places}
        for row in np.flatnonzero(np.isin(self.pair, places)).tolist():
            pattern = self.patterns[self.pattern[row]]
            items[self.pairs[self.pair[row]]][pattern] += int(self.items[row])
        return items


class Given(NamedTuple):
    """One annotator's answer to an item.

    Attributes:
        annotator: the annotator's id; `TRUTH` for the known answer of the item.
        answer: what was given.
        late: 1 if it was given from the moment on that is asked about for the annotator, 0 if
            before, -1 if none is asked about or its time is not known.
    """

    annotator: int
    answer: Answer
    late: int = -1


TRUTH = -1
"""Whose answers known answers are; annotators are numbered from 0."""


@dataclass(frozen=True)
class JointAnswers:
    """The answers to some items, one row per answer; a place may stand for several items.

    Attributes:
        annotators: ids, ascending.
        answers: the distinct answers and truths, ascending.
        items: how many items each place stands for, all answered alike; shape (places,).
        truth: place in ``answers`` of the known answer to these, -1 if there is none;
            shape (places,).
        item: place of the row's item; shape (rows,), as are the next three.
        annotator: place in ``annotators``.
        answer: place in ``answers``.
        late: as in `Given`.
    """

    annotators: IntArray
    answers: tuple[Answer, ...]
    items: IntArray
    truth: IntArray
    item: IntArray
    annotator: IntArray
    answer: IntArray
    late: IntArray

    @property
    def weight(self) -> FloatArray:
        """How many items each row stands for; shape (rows,)."""
        return np.asarray(self.items[self.item], dtype=np.float64)

    def about(self, category: int) -> JointAnswers:
        """Return the same rows with every answer reduced to whether it holds the category."""
        holds = np.array([int(category in answer) for answer in self.answers], dtype=np.int64)
        truth = np.where(self.truth >= 0, holds[self.truth], -1)
        return replace(self, answers=((), (category,)), answer=holds[self.answer], truth=truth)

    def at_most(self, number: int) -> JointAnswers:
        """Return the rows with at most so many distinct answers: the rarest become the last one."""
        if len(self.answers) <= number:
            return self
        often = np.bincount(self.answer, self.weight, len(self.answers))
        kept = np.sort(np.argsort(-often, kind="stable")[: number - 1])
        place = np.full(len(self.answers), number - 1)
        place[kept] = np.arange(number - 1)
        return replace(
            self,
            answers=(*(self.answers[n] for n in kept.tolist()), ()),
            answer=place[self.answer],
            truth=np.where(self.truth >= 0, place[self.truth], -1),
        )


def joint_answers_tally(counted: Iterable[tuple[tuple[Given, ...], int]]) -> JointAnswers:
    """Return the columns of items answered alike, and their number; in any order."""
    counts = [*counted]
    every = sorted({given for joint, _ in counts for given in joint})
    rank = {given: n for n, given in enumerate(every)}  # compared and hashed in less time
    first_own = sum(given.annotator == TRUTH for given in every)
    patterns: Counter[tuple[int, ...]] = Counter()
    for joint, items in counts:
        patterns[tuple(sorted([rank[given] for given in joint]))] += items
    met = sorted(ranks for ranks in patterns if ranks[-1] >= first_own)
    of_item = np.repeat(np.arange(len(met)), [len(ranks) for ranks in met])
    ranks_of = np.fromiter(chain.from_iterable(met), dtype=np.int64, count=len(of_item))
    used, row = np.unique(ranks_of, return_inverse=True)
    rows = [every[n] for n in used.tolist()]
    answers = tuple(sorted({given.answer for given in rows}))
    place = {answer: n for n, answer in enumerate(answers)}
    table = np.array([(given.annotator, place[given.answer], given.late) for given in rows])
    who, answer, late = table.astype(np.int64).reshape(-1, 3)[row].T
    own, known = who != TRUTH, who == TRUTH
    truth = np.full(len(met), -1)
    truth[of_item[known]] = answer[known]
    annotators, annotator = np.unique(who[own], return_inverse=True)
    items_of = np.array([patterns[ranks] for ranks in met], dtype=np.int64)
    return JointAnswers(
        annotators, answers, items_of, truth, of_item[own], annotator, answer[own], late[own]
    )


def joint_answers_of(joint: JointAnswers, others: Collection[int], witness: int) -> JointAnswers:
    """Return the answers without those of some annotators but one, to items with any left.

    An item that only the ``witness`` answered is not among them.
    """
    out = np.isin(joint.annotators, [other for other in others if other != witness])
    kept = ~out[joint.annotator]
    alone = np.ones(len(joint.items), dtype=np.bool_)
    alone[joint.item[kept & (joint.annotators[joint.annotator] != witness)]] = False
    kept &= ~alone[joint.item]
    places = np.cumsum(~alone) - 1
    return replace(
        joint,
        annotators=joint.annotators[~out],
        items=joint.items[~alone],
        truth=joint.truth[~alone],
        item=places[joint.item[kept]],
        annotator=(np.cumsum(~out) - 1)[joint.annotator[kept]],
        answer=joint.answer[kept],
        late=joint.late[kept],
    )


DIFFERENT, SAME, MINORITY = 0, 1, 2
"""What two gave: not the same; the same; the same, as few of the others did."""


@dataclass(frozen=True)
class SharedItems:
    """Every two annotators' shared items, by all that determines the chance of a shared answer.

    Attributes:
        pairs: ``(first id, second id)``, first < second; those with enough shared items.
        answers: how many annotators answered such an item, shape (kinds,), as are the next three.
        alike: how many ordered pairs of them gave the same answer.
        minority: the same, of answers that are a minority's.
        given: what the two gave: `DIFFERENT`, `SAME` or `MINORITY`.
        pair: place in ``pairs``, shape (rows,), as are the next two.
        kind: which kind.
        items: how many such items.
        patterns: the patterns of the items that some of the pairs share.
        linked: every two who share any item, by id; shape (pairs, 2); None if it is not known.
    """

    pairs: tuple[tuple[int, int], ...]
    answers: IntArray
    alike: IntArray
    minority: IntArray
    given: IntArray
    pair: IntArray
    kind: IntArray
    items: IntArray
    patterns: Callable[[Collection[tuple[int, int]]], PairPatterns]
    linked: IntArray | None = None


BesidePatterns: TypeAlias = Mapping[tuple[int, int], Mapping[tuple[Pattern, Answer, bool], int]]
"""``{(person, model): {(people's answers, the model's, whether the person gave it): items}}``."""


@dataclass(frozen=True)
class BesideModels:
    """Every person's items that a model answered, too, by all that says how likely both agree.

    Attributes:
        pairs: ``(person's id, model's id)``; those with enough such items.
        answers: how many people answered such an item, two at least; shape (rows,), as all that
            follow.
        given: how many of them gave the model's answer.
        same: whether the person did: 0 or 1.
        pair: place in ``pairs``.
        items: how many such items.
        patterns: the items of some of the pairs by what the people and the model answered.
    """

    pairs: tuple[tuple[int, int], ...]
    answers: IntArray
    given: IntArray
    same: IntArray
    pair: IntArray
    items: IntArray
    patterns: Callable[[Collection[tuple[int, int]]], BesidePatterns]


def beside_models_tally(columns: BesideColumns, least: int) -> BesideModels:
    """Return the pairs of so many items, from rows in the order of models and persons."""
    given, same = len(columns.answers), columns.given == columns.own
    width = int(columns.person.max(initial=0)) + 1
    pairs, pair = np.unique(columns.model * width + columns.person, return_inverse=True)
    kept = (np.bincount(pair, columns.items, len(pairs)) >= least)[pair]
    pair = np.unique(pair[kept], return_inverse=True)[1]
    met = columns.where(kept)
    # Those who did not give the model's answer are one row, whatever they gave.
    key = (pair * len(columns.patterns) + met.pattern) * given + met.given
    _, first, row = np.unique(key * 2 + same[kept], return_index=True, return_inverse=True)
    order = np.argsort(first)
    first = first[order]
    cells = [*zip(met.pattern[first].tolist(), met.given[first].tolist(), strict=True)]
    number = [dict(columns.patterns[n]).get(columns.answers[answer], 0) for n, answer in cells]
    return BesideModels(
        tuple(dict.fromkeys(zip(met.person.tolist(), met.model.tolist(), strict=True))),
        columns.sizes[met.pattern[first]],
        np.array(number, dtype=np.int64),
        same[kept][first].astype(np.int64),
        pair[first],
        np.bincount(row, met.items).astype(np.int64)[order],
        lambda wanted: patterns_beside_models(columns, wanted),
    )


def patterns_beside_models(
    columns: BesideColumns, wanted: Collection[tuple[int, int]]
) -> BesidePatterns:
    """Return the items of each wanted pair of a person and a model by pattern."""
    tallies: dict[tuple[int, int], Counter[tuple[Pattern, Answer, bool]]] = {}
    asked = columns.where(np.isin(columns.person, [person for person, _ in wanted]))
    rows = zip(asked.person.tolist(), asked.model.tolist(), asked.given.tolist(),
               asked.own.tolist(), asked.pattern.tolist(), asked.items.tolist(),
               strict=True)  # fmt: skip
    for person, model, given, own, pattern, items in rows:
        if (person, model) in wanted:
            row = (columns.patterns[pattern], columns.answers[given], own == given)
            tallies.setdefault((person, model), Counter())[row] += items
    return tallies


def audit_tally_of_pairs(pairs: PairPatterns) -> SharedItems:
    """Return the kinds of items of known patterns; a kind may occur several times."""
    width = len(pairs.answers) + 1
    keys, kind = np.unique(pairs.pattern * width + pairs.same + 1, return_inverse=True)
    of_patterns = [_kind_of(pattern) for pattern in pairs.patterns]
    kinds = [
        (*of_patterns[key // width], _given(pairs, key // width, key % width - 1))
        for key in keys.tolist()
    ]
    answers, alike, minority, given = np.array(kinds, dtype=np.int64).reshape(-1, 4).T
    return SharedItems(
        pairs.pairs, answers, alike, minority, given, pairs.pair, kind, pairs.items,
        lambda _: pairs, pairs.linked,
    )  # fmt: skip


def _kind_of(pattern: Pattern) -> tuple[int, int, int]:
    ways = [(count * (count - 1), is_minority(answer, pattern)) for answer, count in pattern]
    return answers_in_pattern(pattern), sum(n for n, _ in ways), sum(n for n, few in ways if few)


def _given(pairs: PairPatterns, pattern: int, same: int) -> int:
    if same < 0:
        return DIFFERENT
    return MINORITY if is_minority(pairs.answers[same], pairs.patterns[pattern]) else SAME
