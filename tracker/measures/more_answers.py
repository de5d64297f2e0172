"""What each item brings to the variance of a figure, if it has fewer or more answers.

An item with m answers agrees or disagrees by the mean over its pairs of answers, a U statistic of
degree two. What it brings to the variance is (Hoeffding 1948, Annals of Mathematical Statistics 19,
293, equation 5.13)

    v(m) = d + 4 a / m + 2 c / (m (m - 1)),    d, a, c >= 0:

``d`` is how much the items differ in truth, which no number of answers takes away; the rest is
what answers to one item differ by chance. This holds for any scale and weights, and whatever the
annotators do, as long as any of them may get any item. v of as many answers as items have, and of
fewer, is what their answers say. Of more it lies between two bounds: the least and the greatest
v(m) of all d, a, c that go with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from tracker.core.tallies import Answer, FloatArray, IntArray, ItemPatterns

_ENOUGH, _MOST_CELLS = 20_000, 8_000_000  # items drawn; numbers held at once
_NEARLY: Final = 0.02  # by which a variance that was drawn may be off


class Between(NamedTuple):
    """A number that is known within bounds, and the middle of these."""

    expected: float
    low: float
    high: float

    @classmethod
    def exactly(cls, value: float) -> Between:
        """Return a number that is known as it is."""
        return cls(value, value, value)


def variance_with_answers(known: Mapping[int, float], answers: int) -> Between:
    """Return what an item with so many answers brings, by what it brings with those known of.

    Args:
        known: v(m) by m, of two at least.
        answers: m.
    """
    if answers in known:
        return Between.exactly(known[answers])
    from scipy.optimize import linprog

    numbers = np.array([*known])
    values = np.array([*known.values()])
    scale = float(values.max())
    terms, wanted = _terms(numbers), _terms(np.array([answers]))[0]
    above, below = values * (1 + _NEARLY) / scale, values * (1 - _NEARLY) / scale
    limits = np.concatenate([terms, -terms]), np.concatenate([above, -below])
    least = linprog(wanted, *limits)
    greatest = linprog(-wanted, *limits)
    if least.fun is None or greatest.fun is None:  # by chance no d, a, c go with all of them
        return variance_with_answers({max(known): known[max(known)]}, answers)
    low, high = float(least.fun) * scale, -float(greatest.fun) * scale
    return Between((low + high) / 2, low, high)


def _terms(answers: IntArray) -> FloatArray:
    """Return what d, a and c are multiplied by, (N, 3)."""
    numbers = answers.astype(np.float64)
    return np.stack([np.ones_like(numbers), 4 / numbers, 2 / (numbers * (numbers - 1))], axis=1)


def thinned(patterns: ItemPatterns, answers: int, generator: np.random.Generator) -> ItemPatterns:
    """Return the items that have so many answers, or more, with as many of these by chance.

    They are drawn several times each if they are few, and a part of them if they are very many.
    """
    kept = [(dict(pattern), items) for pattern, items in patterns
            if sum(count for _, count in pattern) >= answers and items > 0]  # fmt: skip
    names = tuple(sorted({answer for pattern, _ in kept for answer in pattern}))
    counts = np.array([[pattern.get(name, 0) for name in names] for pattern, _ in kept])
    items = np.array([items for _, items in kept])
    total, most = int(items.sum()), max(_MOST_CELLS // len(names), 1_000)
    if total > most:
        times = generator.multinomial(most, items / total)
    else:
        times = items * -(-min(_ENOUGH, most) // total)
    counts = np.repeat(counts, times, axis=0)
    for size in range(int(counts.sum(axis=1).max()), answers, -1):
        rows = np.flatnonzero(counts.sum(axis=1) >= size)
        sums = counts[rows].cumsum(axis=1)
        places = generator.random(len(rows))[:, None] * sums[:, -1:]
        counts[rows, (places >= sums).sum(axis=1)] -= 1
    return _tallied(names, counts)


def assumed_patterns(
    shares: Sequence[float], alpha: float, answers: int, generator: np.random.Generator
) -> ItemPatterns:
    """Return items of a nominal alpha that is expected: each has shares of its own.

    These are Dirichlet of concentration s, of which alpha is ``1 / (1 + s)`` (Mosimann 1962,
    Biometrika 49, 65).
    """
    names = tuple((number,) for number in range(1, len(shares) + 1))
    own = generator.dirichlet(np.array(shares) * (1 - alpha) / alpha + 1e-9, _ENOUGH)
    return _tallied(names, generator.multinomial(answers, own))


def _tallied(names: Sequence[Answer], counts: IntArray) -> ItemPatterns:
    rows, numbers = np.unique(counts, axis=0, return_counts=True)
    tally: Counter[tuple[tuple[Answer, int], ...]] = Counter()
    for row, number in zip(rows.tolist(), numbers.tolist(), strict=True):
        tally[tuple((name, n) for name, n in zip(names, row, strict=True) if n)] += number
    return ItemPatterns(tally)
