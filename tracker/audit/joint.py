"""Who gave what to some items: the answers that a second opinion rests on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from tracker.audit.entries import IntArray
from tracker.tally import Answer

__all__ = ["JointAnswers", "joint_answers"]


@dataclass(frozen=True)
class JointAnswers:
    """The answers to some items, one row per answer.

    Attributes:
        annotators: ids, ascending.
        answers: the distinct answers and truths, ascending.
        item: place of the item, from 0; shape (rows,), as are the next three.
        annotator: place in ``annotators``.
        answer: place in ``answers``.
        moment: when it was given, in microseconds since 1970; -1 if that is not known.
        truth: place in ``answers`` of each item's known answer, -1 if there is none;
            shape (items,).
    """

    annotators: IntArray
    answers: tuple[Answer, ...]
    item: IntArray
    annotator: IntArray
    answer: IntArray
    moment: IntArray
    truth: IntArray

    def about(self, category: int) -> JointAnswers:
        """Return the same rows with every answer reduced to whether it holds the category."""
        holds = np.array([int(category in answer) for answer in self.answers], dtype=np.int64)
        truth = np.where(self.truth >= 0, holds[self.truth], -1) if len(holds) else self.truth
        return replace(self, answers=((), (category,)), answer=holds[self.answer], truth=truth)

    def at_most(self, number: int) -> JointAnswers:
        """Return the same rows with at most so many answers: the rarest become one, the last."""
        if len(self.answers) <= number:
            return self
        often = np.bincount(self.answer, minlength=len(self.answers))
        kept = np.sort(np.argsort(-often, kind="stable")[: number - 1])
        place = np.full(len(self.answers), number - 1)
        place[kept] = np.arange(number - 1)
        return replace(
            self,
            answers=(*(self.answers[n] for n in kept.tolist()), ()),
            answer=place[self.answer],
            truth=np.where(self.truth >= 0, place[self.truth], -1),
        )


def joint_answers(
    rows: Iterable[tuple[int, int, Answer, int | None, Answer | None]],
) -> JointAnswers:
    """Return the columns of ``(item id, annotator id, answer, moment, truth)`` rows."""
    listed = list(rows)
    distinct = {row[2] for row in listed} | {row[4] for row in listed if row[4] is not None}
    answers = tuple(sorted(distinct))
    place = {answer: n for n, answer in enumerate(answers)}
    items, item = np.unique(np.array([row[0] for row in listed], np.int64), return_inverse=True)
    annotators, annotator = np.unique(
        np.array([row[1] for row in listed], np.int64), return_inverse=True
    )
    truth = np.full(len(items), -1, np.int64)
    known = [
        (n, place[row[4]])
        for n, row in zip(item.tolist(), listed, strict=True)
        if row[4] is not None
    ]
    if known:
        truth[[n for n, _ in known]] = [answer for _, answer in known]
    return JointAnswers(
        annotators,
        answers,
        item.astype(np.int64),
        annotator.astype(np.int64),
        np.array([place[row[2]] for row in listed], np.int64),
        np.array([-1 if row[3] is None else row[3] for row in listed], np.int64),
        truth,
    )
