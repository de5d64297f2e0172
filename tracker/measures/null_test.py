"""Is a kappa more than chance? The error it would have if it were none, for that test alone.

Under the hypothesis that annotators answer at random a kappa has another error than it has
around its own value. It serves to reject that hypothesis, which nearly any annotation does; it
is never the error of an interval, where it can be far too small or too great.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

import numpy as np

from tracker.core.tallies import Answer
from tracker.measures.chance_corrected import fleiss_kappa
from tracker.measures.coefficient import NOT_APPLICABLE
from tracker.measures.cohen import cohen_kappa
from tracker.measures.numeric.two_annotators import WITHOUT_SPREAD
from tracker.measures.sample import Sample
from tracker.measures.weights import weights

__all__ = ["ZeroTest", "zero_test"]


@dataclass(frozen=True)
class ZeroTest:
    """A kappa against 0.

    Attributes:
        measure: fleiss_kappa or cohen_kappa.
        value: the kappa; None where it is undefined.
        error_if_zero: the standard error that it has if annotators answer at random; not that
            of ``value``, and none to make an interval of.
        z: ``value`` over that error.
        p_value: two-sided, of the normal distribution, in [0, 1].
        items: the items that were compared.
        undefined: why there is no ``z``: the reason for which the kappa is undefined;
            not_applicable, for Fleiss' kappa, where items differ in their number of answers;
            no_spread, where chance allows no other value, as with an annotator who always
            answers the same; else None.
    """

    measure: str
    value: float | None
    error_if_zero: float | None = None
    z: float | None = None
    p_value: float | None = None
    items: int = 0
    undefined: str | None = None

    def to_dict(self) -> dict[str, str | float | int | None]:
        """The test as JSON has it, key order included."""
        return asdict(self)


def zero_test(of: Sample | Mapping[tuple[Answer, Answer], int]) -> ZeroTest:
    """Whether a kappa differs from 0 by more than chance; a test of zero only.

    Args:
        of: the answers, whose weights and distances are passed over, for Fleiss' kappa (and
            Scott's pi, which is the same of two annotators); or the cross-table of two
            annotators, ``{(answer of the first, answer of the second): items}``, for Cohen's.

    Source:
        Fleiss, Nee and Landis (1979), Psychol. Bull. 86, 974, for the same number of answers to
        each item; Fleiss, Cohen and Everitt (1969), Psychol. Bull. 72, 323, equation 14.
    """
    return _fleiss(of) if isinstance(of, Sample) else _cohen(of)


def _fleiss(sample: Sample) -> ZeroTest:
    kappa = fleiss_kappa(replace(sample, weighting=weights("identity", sample.table.answers)))
    if kappa.value is None:
        return ZeroTest(kappa.measure, None, items=sample.compared, undefined=kappa.undefined)
    sizes = np.unique(sample.table.sizes)
    if len(sizes) > 1:
        return ZeroTest(kappa.measure, kappa.value, items=sample.compared, undefined=NOT_APPLICABLE)
    answers, shares = int(sizes[0]), sample.shares
    spread = shares * (1 - shares)
    total = float(spread.sum())
    variance = 2 * (total**2 - float(spread @ (1 - 2 * shares)))
    variance /= sample.items * answers * (answers - 1) * total**2
    return _tested(kappa.measure, kappa.value, variance, sample.items)


def _cohen(table: Mapping[tuple[Answer, Answer], int]) -> ZeroTest:
    kappa = cohen_kappa(table)
    if kappa.value is None:
        return ZeroTest(kappa.measure, None, items=kappa.items, undefined=kappa.undefined)
    first: Counter[Answer] = Counter()
    second: Counter[Answer] = Counter()
    for (one, other), items in table.items():
        first[one] += items
        second[other] += items
    # In whole items, so that a variance of 0 is one: n**4 times that of observed agreement.
    n = kappa.items
    chance = sum(first[answer] * second[answer] for answer in first)
    uneven = sum(first[a] * second[a] * (first[a] + second[a]) for a in first)
    variance = chance * n**2 + chance**2 - n * uneven
    return _tested(kappa.measure, kappa.value, variance / (n * (n**2 - chance) ** 2), n)


def _tested(measure: str, value: float, variance: float, items: int) -> ZeroTest:
    if not variance:
        return ZeroTest(measure, value, 0.0, items=items, undefined=WITHOUT_SPREAD)
    error = math.sqrt(variance)
    z = value / error
    return ZeroTest(measure, value, error, z, math.erfc(abs(z) / math.sqrt(2)), items)
