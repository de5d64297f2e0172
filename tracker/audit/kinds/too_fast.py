"""Answers come much faster than the others' to the same items.

Speed is a person's own, so one annotator's answers are one observation: the median over items of
the time divided by the others' mean time for the item. Its logarithm is compared with those of
the other annotators by their median and their spread Q, which half of them cannot upset (Rousseeuw
and Croux 1993). The ratio is taken to have Student's t distribution with 0.82 degrees of freedom
for each of them but one: the efficiency of Q at the normal distribution is 82%.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping

import numpy as np

from tracker.audit.evidence import Evidence, Threshold
from tracker.audit.kind import MINIMUM_INFORMATIVE, Effect, Kind, TestResult

NAME = "too_fast"

TIME_RATIO = Threshold("time_ratio", 0.5)
"""Time an answer against the others' for the same items, at most, for a flag."""

MINIMUM_OTHERS = 3
"""Other annotators with known times below which there is no yardstick."""

LEAST_SPREAD = 0.2
"""Of the logarithm of speed among people; a smaller estimate is taken for chance."""

LEAST_RATIO = 1e-3
"""A smaller one, of times that are rounded to 0, is taken for this."""

_EFFICIENCY = 0.82
_NORMAL = 2.2219  # makes Q the standard deviation of normal values
_OF_FEW = (0.399, 0.994, 0.512, 0.844, 0.611, 0.857, 0.669, 0.872)  # of 2 to 9 values


def run_test(evidence: Evidence) -> Iterator[TestResult]:
    """Yield a test result for each annotator with times for items whose others' times are known."""
    times = {who: t for who, t in (evidence.times or {}).items() if t.ratio is not None}
    logs = {who: math.log(max(t.ratio or 0.0, LEAST_RATIO)) for who, t in times.items()}
    enough = {who for who, t in times.items() if t.compared >= MINIMUM_INFORMATIVE}
    spreads = _spreads_without({who: log for who, log in logs.items() if who in enough})
    for annotator, mine in times.items():
        others = [logs[who] for who in enough if who != annotator]
        known = len(others) >= MINIMUM_OTHERS
        middle = statistics.median(others) if known else 0.0
        ratio = math.exp(logs[annotator] - middle)
        yield TestResult(
            kind=NAME,
            annotator=annotator,
            observed=mine.ratio,
            expected=math.exp(middle),
            peers=math.exp(middle),
            n=mine.answers,
            informative=mine.compared,
            effect=Effect("ratio", ratio),
            p_value=_p_value(logs[annotator], others, spreads[annotator])
            if known and annotator in enough
            else None,
            notable=ratio <= evidence.floor(TIME_RATIO),
            severity="remark",  # fast is not careless
            details={"median_seconds": mine.median},
        )


def _p_value(own: float, others: list[float], spread: float) -> float:
    from scipy.special import stdtr

    number = len(others)
    # A new observation differs from the others' median by both their spreads; that of a median
    # of normal values is pi / 2 times that of a mean.
    spread = max(spread, LEAST_SPREAD) * math.sqrt(1.0 + math.pi / (2.0 * number))
    freedom = max(_EFFICIENCY * (number - 1), 1.0)
    return float(stdtr(freedom, (own - statistics.median(others)) / spread))


def _spreads_without(values: Mapping[int, float]) -> dict[int, float]:
    """Return for each annotator the spread Q of the others; none of too few of them.

    Q of Rousseeuw and Croux (1993, equation 3.1), with Croux and Rousseeuw's (1992) factors, is a
    distance of two values of a certain rank. The distances of all are ranked once; without those
    of one annotator the rank sought is higher by as many of them as lie below it.
    """
    number = len(values) - 1
    if number < MINIMUM_OTHERS:
        return {}
    half = number // 2 + 1
    factor = number / (number + (1.4 if number % 2 else 3.8))
    if number <= len(_OF_FEW) + 1:
        factor = _OF_FEW[number - 2]
    known = np.array([*values.values()])
    first, second = np.triu_indices(len(known), 1)
    apart = np.abs(known[first] - known[second])
    order = np.argsort(apart)
    rank = np.zeros((len(known), len(known)), dtype=np.int64)
    rank[first[order], second[order]] = rank[second[order], first[order]] = np.arange(len(order))
    sought = half * (half - 1) // 2 - 1
    spreads = {}
    for place, annotator in enumerate(values):
        own = np.sort(np.delete(rank[place], place))
        below = np.searchsorted(own - np.arange(number), sought, side="right")
        spreads[annotator] = float(factor * _NORMAL * apart[order[sought + below]])
    return spreads


TOO_FAST = Kind(NAME, frozenset({"times"}), run_test, TIME_RATIO, rows="fastest")
