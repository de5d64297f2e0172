"""The annotator tallies of the answers to each item."""

from __future__ import annotations

from collections.abc import Collection
from itertools import groupby
from operator import itemgetter

import numpy as np

from tracker.core.audit_tallies import JointAnswers
from tracker.core.tallies import AnnotatorTallies, IntArray, make_pattern
from tracker.core.tally_columns import TallyColumns


def annotator_tallies_without(joint: JointAnswers, excluded: Collection[int]) -> AnnotatorTallies:
    """Return the annotator tallies of these items, with some annotators in nobody's pattern.

    Only their own answer is in the pattern that such an annotator meets.
    """
    left_out = np.isin(joint.annotators[joint.annotator], [*excluded])
    numbers: dict[tuple[int, ...], int] = {}

    def number(given: list[int]) -> int:
        return numbers.setdefault(tuple(sorted(given)), len(numbers))

    met: list[int] = []
    rows = zip(joint.item.tolist(), joint.answer.tolist(), left_out.tolist(), strict=True)
    for _, of_item in groupby(rows, itemgetter(0)):
        given = [(own, out) for _, own, out in of_item]
        kept = [own for own, out in given if not out]
        shared = number(kept)
        met += [number([*kept, own]) if out else shared for own, out in given]
    annotators, owner = _as_met(joint.annotator)
    width, answers = len(numbers), len(joint.answers)
    cells = (owner * width + np.array(met, dtype=np.int64)) * answers + joint.answer
    cells, cell = _as_met(cells)
    items = np.bincount(cell, joint.weight, len(cells)).astype(np.int64)
    order = np.argsort(cells // (width * answers), kind="stable")
    owner, rest = np.divmod(cells[order], width * answers)
    patterns, pattern = _as_met(rest // answers)
    owns, own = _as_met(rest % answers)
    distinct = [make_pattern(joint.answers[n] for n in given) for given in numbers]
    ids, own_answers = joint.annotators[annotators], tuple(joint.answers[n] for n in owns.tolist())
    every = tuple(distinct[n] for n in patterns.tolist())
    columns = TallyColumns(ids, own_answers, every, owner, own, pattern, items[order])
    return AnnotatorTallies(columns)


def _as_met(values: IntArray) -> tuple[IntArray, IntArray]:
    """Return the distinct values in the order of their first rows, and each row's place in it."""
    distinct, first, place = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return distinct[order], np.argsort(order)[place]
