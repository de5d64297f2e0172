"""What models and people answered to the same items, as columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tracker.core.tallies import Answer, IntArray, Pattern, answers_in_pattern


@dataclass(frozen=True, eq=False)
class BesideColumns:
    """Items by the model, its answer, a person, theirs, and the pattern of all people's.

    An item counts once for each model and person who answered it.

    Attributes:
        answers: the distinct answers; ``given`` and ``own`` are places in it.
        patterns: the distinct patterns of the people's answers, without the models'.
        model: the model's id, shape (rows,), as all that follow.
        person: the person's id.
        given: the model's answer.
        own: the person's.
        pattern: a place in ``patterns``.
        items: how many items the row stands for.
    """

    answers: tuple[Answer, ...]
    patterns: tuple[Pattern, ...]
    model: IntArray
    person: IntArray
    given: IntArray
    own: IntArray
    pattern: IntArray
    items: IntArray

    def where(self, kept: NDArray[Any]) -> BesideColumns:
        """Return some of the rows, by a condition or by their places."""
        names = ("model", "person", "given", "own", "pattern", "items")
        return replace(self, **{name: getattr(self, name)[kept] for name in names})

    def of_models(self) -> Iterator[tuple[int, BesideColumns]]:
        """Yield each model's id with its rows, ascending."""
        for model in np.unique(self.model).tolist():
            yield model, self.where(self.model == model)

    @cached_property
    def sizes(self) -> IntArray:
        """How many people answered an item of each pattern."""
        return np.array([answers_in_pattern(p) for p in self.patterns], dtype=np.int64)

    @cached_property
    def given_to_patterns(self) -> Mapping[tuple[Answer, Pattern], int]:
        """How many items of each pattern got which answer of the model, of which there is one."""
        keys, place = np.unique(self.pattern * len(self.answers) + self.given, return_inverse=True)
        people = np.bincount(place, self.items, len(keys)).astype(np.int64)
        pattern, given = np.divmod(keys, max(len(self.answers), 1))
        items = (people // self.sizes[pattern]).tolist()
        rows = zip(given.tolist(), pattern.tolist(), items, strict=True)
        return {(self.answers[a], self.patterns[p]): number for a, p, number in rows}


def beside_columns_of(
    counts: Mapping[tuple[int, int, Answer, Answer, Pattern], int],
) -> BesideColumns:
    """Return items by model, person, the model's answer, the person's, and the pattern."""
    answers = {a: n for n, a in enumerate(sorted({a for key in counts for a in key[2:4]}))}
    patterns = {pattern: n for n, pattern in enumerate(sorted({key[4] for key in counts}))}
    table = [
        (model, person, answers[given], answers[own], patterns[pattern], items)
        for (model, person, given, own, pattern), items in sorted(counts.items())
    ]
    columns = np.array(table, dtype=np.int64).reshape(-1, 6).T
    return BesideColumns(tuple(answers), tuple(patterns), *columns)
