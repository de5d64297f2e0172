"""How much two answers agree, or differ: weights for kappas, distances for alpha."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from tracker.core.errors import InvalidOption
from tracker.core.tallies import Answer, FloatArray, IntArray


@dataclass(frozen=True)
class Definition:
    """The definition of a weight or a distance.

    Attributes:
        formula: the definition in one line of plain text.
        source: the publication that defines it.
        needs: what categories must have, in words; empty if nothing.
    """

    formula: str
    source: str
    needs: str = ""


_COHEN: Final = "Cohen (1968), Psychological Bulletin 70, 213-220"
_NUMBERS: Final = "numbers; on an ordinal scale their ranks are taken"
_ALPHA: Final = "Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, section E"

WEIGHTS: Final = {
    "identity": Definition("1 for equal answers, 0 for others", _COHEN),
    "linear": Definition(
        "1 - |x - y| / (max - min)",
        "Cicchetti and Allison (1971), American Journal of EEG Technology 11, 101-110",
        _NUMBERS,
    ),
    "quadratic": Definition("1 - ((x - y) / (max - min))^2", _COHEN, _NUMBERS),
    "ordinal": Definition(
        "1 - m (m + 1) / (M (M + 1)), m and M how many ranks x and y, and the first and the last "
        "category, are apart",
        "Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., chapter 3",
        "an order",
    ),
}
"""The agreement of two answers x and y, from 0 to 1, as ``--weights`` names it."""

SCALES: Final = {
    "nominal": Definition("0 for equal answers, 1 for others", _ALPHA),
    "ordinal": Definition(
        "(how many answers lie from x to y, those equal to x or y by half)^2", _ALPHA, "an order"
    ),
    "interval": Definition("(x - y)^2", _ALPHA, "numbers"),
    "ratio": Definition("((x - y) / (x + y))^2", _ALPHA, "numbers, none below 0"),
}
"""The distance of two answers x and y in alpha, as ``--scale`` names it."""

DISTANCES: Final = {
    "exact": Definition("0 for equal sets, 1 for others", _ALPHA),
    "jaccard": Definition(
        "1 - |A and B| / |A or B|; two empty sets are equal",
        "Jaccard (1912), New Phytologist 11, 37-50",
    ),
    "masi": Definition(
        "1 - m |A and B| / |A or B|, m = 1 for equal sets, 2/3 where one holds the other, 1/3 "
        "where they share some",
        "Passonneau (2006), Measuring Agreement on Set-Valued Items, LREC 2006",
    ),
}
"""The distance of two sets of categories A and B in alpha, as ``--distance`` names it."""

_AT_A_TIME = 4_000_000  # pairs of answers looked at together: 32 MB


class Weighting(ABC):
    """A symmetric function of two answers: agreement from 0 to 1, or a distance from 0 up.

    Attributes:
        name: as in commands and JSON.
        itself: its value for two equal answers: 1 for weights, 0 for distances.
        nominal: any two different answers have the same value, and it is ``1 - itself``.
        size: how many answers it is defined for; their codes are 0 to ``size - 1``.
    """

    name: str
    itself: float = 1.0
    nominal: ClassVar[bool] = False
    size: int

    @abstractmethod
    def between(self, first: IntArray, second: IntArray) -> FloatArray:
        """Return the value for each two answers; the arrays broadcast against each other."""

    def against(self, totals: FloatArray) -> FloatArray:
        """Return for each answer the sum over all answers of value times total, both (..., A)."""
        codes = np.arange(self.size)
        sums = np.empty(totals.shape)
        step = max(1, _AT_A_TIME // max(self.size, 1))
        for start in range(0, self.size, step):
            rows = codes[start : start + step]
            values = self.between(rows[:, None], codes[None, :])
            values[np.arange(len(rows)), rows] = self.itself
            sums[..., rows] = totals @ values.T
        return sums

    def total(self) -> float:
        """Return the sum over all pairs of answers, T_w in Gwet's notation."""
        return float(self.against(np.ones(self.size)).sum())


class _Identity(Weighting):
    """Equal or not; two different answers differ entirely."""

    nominal = True

    def __init__(self, name: str, size: int, itself: float) -> None:
        self.name, self.size, self.itself = name, size, itself

    def between(self, first: IntArray, second: IntArray) -> FloatArray:
        return np.where(first == second, self.itself, 1 - self.itself)

    def against(self, totals: FloatArray) -> FloatArray:
        if self.itself:
            return totals.copy()
        rest: FloatArray = totals.sum(axis=-1, keepdims=True) - totals
        return rest


class _Placed(Weighting):
    """Answers as points on a line."""

    def __init__(self, name: str, places: FloatArray, itself: float) -> None:
        self.name, self.itself = name, itself
        self.places, self.size = places, len(places)
        # A single place has no extent; whatever it is divided by, the weights are 1.
        self.extent = float(np.ptp(places)) if self.size and np.ptp(places) else 1.0

    def gap(self, first: IntArray, second: IntArray) -> FloatArray:
        return np.abs(self.places[first] - self.places[second])


class _Linear(_Placed):
    """``1 - |x - y| / extent`` (Cicchetti and Allison 1971)."""

    def between(self, first: IntArray, second: IntArray) -> FloatArray:
        return 1 - self.gap(first, second) / self.extent

    def against(self, totals: FloatArray) -> FloatArray:
        # Ordered by place, the answers below and above each one are two running sums.
        order = np.argsort(self.places, kind="stable")
        # From their mean, lest rounding tell two categories of one number apart.
        x, t = (self.places - self.places.mean())[order], totals[..., order]
        below, weighed = np.cumsum(t, axis=-1), np.cumsum(t * x, axis=-1)
        every, all_weighed = below[..., -1:], weighed[..., -1:]
        apart = x * (2 * below - every) - 2 * weighed + all_weighed
        sums = np.empty(totals.shape)
        sums[..., order] = every - apart / self.extent
        return sums


class _Squared(_Placed):
    """The squared gap as a distance or, divided by the extent's square, as a weight."""

    def between(self, first: IntArray, second: IntArray) -> FloatArray:
        apart = self.gap(first, second)
        return 1 - (apart / self.extent) ** 2 if self.itself else apart**2

    def against(self, totals: FloatArray) -> FloatArray:
        x = self.places - self.places.mean() if self.size else self.places
        x = x / self.extent if self.itself else x
        every = totals.sum(axis=-1, keepdims=True)
        first, second = (totals * x).sum(-1, keepdims=True), (totals * x * x).sum(-1, keepdims=True)
        apart: FloatArray = every * x * x - 2 * x * first + second
        return every - apart if self.itself else apart


class _OrdinalWeights(Weighting):
    """One less the share of all pairs of ranks that lie between two ranks, both included."""

    def __init__(self, ranks: FloatArray) -> None:
        self.name, self.size = "ordinal", len(ranks)
        self.ranks = ranks
        most = float(np.ptp(ranks)) if self.size else 0.0
        self.most = most * (most + 1) / 2 or 1.0

    def between(self, first: IntArray, second: IntArray) -> FloatArray:
        apart = np.abs(self.ranks[first] - self.ranks[second])
        values: FloatArray = 1 - apart * (apart + 1) / 2 / self.most
        return values


class _Ratio(_Placed):
    """``((x - y) / (x + y)) ** 2``, and 0 for two zeros."""

    def between(self, first: IntArray, second: IntArray) -> FloatArray:
        x, y = self.places[first], self.places[second]
        total = x + y
        apart: FloatArray = np.divide(x - y, total, out=np.zeros(total.shape), where=total != 0)
        return apart**2


class _Sets(Weighting):
    """Sets of categories, compared by what they share (Jaccard; MASI, Passonneau 2006)."""

    def __init__(self, name: str, answers: Sequence[Answer]) -> None:
        self.name, self.itself, self.size = name, 0.0, len(answers)
        categories = sorted({category for answer in answers for category in answer})
        place = {category: n for n, category in enumerate(categories)}
        members = np.zeros((len(answers), max(len(categories), 1)), dtype=bool)
        for row, answer in enumerate(answers):
            members[row, [place[category] for category in answer]] = True
        self._bits = np.packbits(members, axis=1)
        self._sizes = members.sum(axis=1)

    def between(self, first: IntArray, second: IntArray) -> FloatArray:
        both = np.bitwise_count(self._bits[first] & self._bits[second]).sum(-1, dtype=np.float64)
        a, b = self._sizes[first], self._sizes[second]
        either = a + b - both
        similar = np.divide(both, either, out=np.ones(both.shape), where=either > 0)
        if self.name == "masi":
            within = both == np.minimum(a, b)
            similar *= np.where(a == b, np.where(within, 1, 1 / 3), np.where(within, 2 / 3, 1 / 3))
            similar = np.where(both == 0, np.where(either > 0, 0.0, 1.0), similar)
        apart: FloatArray = 1 - similar
        return apart


def weights(
    name: str,
    answers: Sequence[Answer],
    values: Mapping[int, float] | None = None,
    *,
    ordered: bool = False,
) -> Weighting:
    """Return the agreement weights of that name over ``answers``, in their order.

    Args:
        name: identity, linear, quadratic (Cohen 1968) or ordinal (Gwet 2014, chapter 3).
        answers: what can be answered; for ranks, in ascending order.
        values: the number of each category, for linear and quadratic weights.
        ordered: linear and quadratic use the ranks, not the numbers.

    Raises:
        InvalidOption: an unknown name, or numbers are needed and there are none.
    """
    if name not in WEIGHTS:
        raise InvalidOption(f"there are no weights {name!r}", f"one of: {', '.join(WEIGHTS)}")
    if name == "identity":
        return _Identity(name, len(answers), 1.0)
    ranks = np.arange(len(answers), dtype=np.float64)
    if name == "ordinal":
        return _OrdinalWeights(ranks)
    places = ranks if ordered else numbers_for_weights(answers, values)
    return _Linear(name, places, 1.0) if name == "linear" else _Squared(name, places, 1.0)


def krippendorff_distances(
    name: str,
    answers: Sequence[Answer],
    values: Mapping[int, float] | None = None,
    totals: FloatArray | None = None,
) -> Weighting:
    """Return Krippendorff's distance of that name over ``answers``, in their order.

    Args:
        name: nominal (for sets: exact), ordinal, interval, ratio; jaccard or masi for sets.
        answers: what can be answered; for an ordinal scale, in ascending order.
        values: the number of each category, for interval and ratio scales.
        totals: how often each answer was given to items that can be compared; an ordinal
            distance is the squared number of them between two ranks, half of each end.

    Raises:
        InvalidOption: an unknown name, or numbers are needed that there are not.

    Source:
        Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, section E.
    """
    if name in {"nominal", "exact"}:
        return _Identity(name, len(answers), 0.0)
    if name in {"jaccard", "masi"}:
        return _Sets(name, answers)
    if name == "ordinal":
        given = np.zeros(len(answers)) if totals is None else totals
        return _Squared(name, np.cumsum(given) - given / 2, 0.0)
    if name == "interval":
        return _Squared(name, numbers_for_weights(answers, values), 0.0)
    if name == "ratio":
        places = numbers_for_weights(answers, values)
        if (places < 0).any():
            lowest = int(places.min()) if float(places.min()).is_integer() else places.min()
            raise InvalidOption(
                f"a ratio scale has no negative values, and {lowest} is one", "use --scale interval"
            )
        return _Ratio(name, places, 0.0)
    names = ", ".join([*SCALES, *DISTANCES])
    raise InvalidOption(f"there is no distance {name!r}", f"one of: {names}")


def numbers_for_weights(
    answers: Sequence[Answer], values: Mapping[int, float] | None
) -> FloatArray:
    """Return the number of each answer of one category; raises InvalidOption if one has none."""
    numbers = values or {}
    if any(len(answer) != 1 or answer[0] not in numbers for answer in answers):
        raise InvalidOption(
            "these figures need numeric categories, and not all are",
            "--scale nominal, or --weights ordinal for ranked categories",
        )
    return np.array([numbers[answer[0]] for answer in answers], dtype=np.float64)
