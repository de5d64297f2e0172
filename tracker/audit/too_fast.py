"""Answers come much faster than the others' to the same items.

Speed is a person's own, so one annotator's answers are one observation: the median over items of
the time divided by the others' mean time for the item. Its logarithm is compared with those of
the other annotators by their median and median absolute deviation, and the ratio has Student's t
distribution with 0.37 degrees of freedom for each annotator but one, which is what a deviation
estimated like that is worth (Rousseeuw and Croux 1993, table 1: an efficiency of 37 %).
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator

from tracker.audit.evidence import Evidence
from tracker.audit.finding import (
    MINIMUM_INFORMATIVE,
    Effect,
    Finding,
    Kind,
    severity_of_size,
)

__all__ = ["TOO_FAST"]

NAME = "too_fast"

MINIMUM_OTHERS = 3
"""Other annotators with known times below which there is no yardstick."""

LEAST_SPREAD = 0.2
"""Of the logarithm of speed among people; a smaller estimate is taken for chance."""

_EFFICIENCY = 0.37
_NORMAL = 1.4826  # a median absolute deviation of a standard normal is 1 / 1.4826


def find(evidence: Evidence) -> Iterator[Finding]:
    """One finding per annotator with times for items whose others' times are known."""
    times = {who: t for who, t in (evidence.times or {}).items() if t.ratio}
    logs = {who: math.log(t.ratio) for who, t in times.items() if t.ratio}
    enough = {who for who, t in times.items() if t.compared >= MINIMUM_INFORMATIVE}
    for annotator, mine in times.items():
        others = [logs[who] for who in enough if who != annotator]
        known = len(others) >= MINIMUM_OTHERS
        middle = statistics.median(others) if known else 0.0
        ratio = math.exp(logs[annotator] - middle)
        yield Finding(
            kind=NAME,
            annotator=annotator,
            category=None,
            observed=mine.ratio,
            expected=math.exp(middle),
            peers=math.exp(middle),
            n=mine.answers,
            informative=mine.compared,
            effect=Effect("ratio", ratio),
            p_value=_p_value(logs[annotator], others) if known and annotator in enough else None,
            notable=ratio <= evidence.floors.time_ratio,
            suspicious=False,
            strength=0.0,
            # Fast is not careless: never alone grounds for "high".
            severity=severity_of_size(1.0 / ratio, 4.0, math.inf),
            details={"median_seconds": mine.median},
        )


def _p_value(own: float, others: list[float]) -> float:
    from scipy.special import stdtr

    middle = statistics.median(others)
    deviation = _NORMAL * statistics.median(abs(value - middle) for value in others)
    number = len(others)
    # A new observation differs from the others' median by both their spreads; that of a median
    # of normal values is pi / 2 times that of a mean.
    spread = max(deviation, LEAST_SPREAD) * math.sqrt(1.0 + math.pi / (2.0 * number))
    return float(stdtr(max(_EFFICIENCY * (number - 1), 1.0), (own - middle) / spread))


def why(finding: Finding) -> str:
    """The median time, and how many times faster than the others."""
    faster = 1.0 / (finding.effect.value or 1.0)
    return (
        f"{{annotator}} took {finding.details['median_seconds']:.3g} seconds an answer (median of "
        f"{finding.n}), {faster:.1f} times faster than is usual for the same items"
    )


TOO_FAST = Kind(NAME, frozenset({"times"}), find, why)
