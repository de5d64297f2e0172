"""The answers of annotators to a sample of items, for a second opinion."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple, TypeAlias

import numpy as np

from tracker.core.tallies import AnnotatorTallies, Answer, Pattern, make_pattern
from tracker.core.tally_columns import FloatArray, IntArray


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


Joint: TypeAlias = tuple[Given, ...]

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


def joint_answers(counted: Iterable[tuple[Joint, int]]) -> JointAnswers:
    """Return the columns of items answered alike, and their number; in any order."""
    patterns: Counter[Joint] = Counter()
    for joint, items in counted:
        patterns[tuple(sorted(joint))] += items
    met = sorted(joint for joint in patterns if joint[-1].annotator != TRUTH)
    rows = [(n, *given) for n, joint in enumerate(met) for given in joint]
    answers = tuple(sorted({answer for _, _, answer, _ in rows}))
    place = {answer: n for n, answer in enumerate(answers)}
    truth = np.full(len(met), -1)
    table = []
    for n, annotator, answer, late in rows:
        if annotator == TRUTH:
            truth[n] = place[answer]
        else:
            table.append((n, annotator, place[answer], late))
    item, who, answer_of, late_of = np.array(table, dtype=np.int64).reshape(-1, 4).T
    annotators, annotator_of = np.unique(who, return_inverse=True)
    items_of = np.array([patterns[joint] for joint in met], dtype=np.int64)
    return JointAnswers(
        annotators, answers, items_of, truth, item, annotator_of, answer_of, late_of
    )


def tallies_without(joint: JointAnswers, excluded: Collection[int]) -> AnnotatorTallies:
    """Return the annotator tallies of these items, with some annotators in nobody's pattern.

    Only their own answer is in the pattern that such an annotator meets.
    """
    met = cache(make_pattern)
    counts: dict[int, Counter[tuple[Answer, Pattern]]] = {}
    whose = joint.annotators[joint.annotator].tolist()
    owns = [joint.answers[place] for place in joint.answer.tolist()]
    for place, rows in groupby(zip(joint.item.tolist(), whose, owns, strict=True), itemgetter(0)):
        given = [(who, own) for _, who, own in rows]
        kept = tuple(sorted(own for who, own in given if who not in excluded))
        for who, own in given:
            pattern = met((*kept, own) if who in excluded else kept)
            counts.setdefault(who, Counter())[own, pattern] += int(joint.items[place])
    return AnnotatorTallies(counts)
