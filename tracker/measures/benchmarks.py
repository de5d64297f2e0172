"""Customary words for a coefficient. They are conventions, not findings: cite their source."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Annotated, Final

from tracker.core.errors import InvalidOption
from tracker.core.results import Json, Record
from tracker.measures.intervals import TOO_FEW_ITEMS, WITHOUT_SPREAD, Coefficient, check_confidence

LANDIS_KOCH: Final = "Landis and Koch (1977), Biometrics 33, 159, p. 165: a convention"
KRIPPENDORFF: Final = "Krippendorff (2004), Content Analysis, 2nd ed., p. 241: a convention"
ALTMAN: Final = "Altman (1991), Practical Statistics for Medical Research, p. 404: a convention"

_ROUNDING: Final = 1e-12


@dataclass(frozen=True)
class ReadingScale:
    """Words for a coefficient, by its size.

    Attributes:
        source: the publication, which says that it is a convention.
        steps: (lower limit, word) from the best word down; a limit belongs to its own word, and
            the last limit is minus infinity.
    """

    source: str
    steps: tuple[tuple[float, str], ...]

    def word(self, value: float) -> str:
        """Return the word for a coefficient taken as it is, without its error.

        One that misses a limit by the rounding of its last digits has reached it.
        """
        near = value + _ROUNDING
        return next((word for limit, word in self.steps if near >= limit), self.steps[-1][1])


TENTATIVE, DEFINITE = 0.667, 0.8
"""From which alpha Krippendorff draws tentative, and definite conclusions."""
SCALES: Final = {
    "landis_koch": ReadingScale(
        LANDIS_KOCH,
        (
            (0.8, "almost perfect"),
            (0.6, "substantial"),
            (0.4, "moderate"),
            (0.2, "fair"),
            (0.0, "slight"),
            (-math.inf, "poor"),
        ),
    ),
    "altman": ReadingScale(
        ALTMAN,
        ((0.8, "very good"), (0.6, "good"), (0.4, "moderate"), (0.2, "fair"), (-math.inf, "poor")),
    ),
    "krippendorff": ReadingScale(
        KRIPPENDORFF, ((DEFINITE, "definite"), (TENTATIVE, "tentative"), (-math.inf, "too low"))
    ),
}


def landis_koch(value: float) -> str:
    """Return the word for a kappa: poor below 0, then slight, fair, … in steps of .2.

    A boundary belongs to the higher word; .8 and above is "almost perfect". Exactly 0 is chance
    level and "slight": only less than chance is "poor".
    """
    return SCALES["landis_koch"].word(value)


def krippendorff_reading(value: float) -> str:
    """Return which conclusions alpha allows: definite, tentative, or "too low" for any."""
    return SCALES["krippendorff"].word(value)


@dataclass(frozen=True)
class Benchmark(Record):
    """The word that a coefficient reaches with a given probability, considering its error."""

    scale: str
    word: str | None
    probability: float | None
    level: float
    memberships: Annotated[tuple[tuple[str, float], ...], Json(write=dict)] = ()
    undefined: str | None = None


def benchmark(
    value: float, standard_error: float | None, scale: str = "landis_koch", level: float = 0.95
) -> Benchmark:
    """Return the best word of a scale that a coefficient reaches with probability ``level``.

    The true coefficient is taken for normal around ``value`` and truncated at 1, the greatest
    value that a coefficient has. Its lowest interval is open below.

    Args:
        value: the coefficient, at most 1.
        standard_error: its standard error; None if there is none. 0 puts all probability on
            the plain word of ``value``.
        scale: a key of `SCALES`.
        level: the cumulative probability to reach, from the best word down, in (0, 1).

    Undefined: too_few_items without a standard error.

    Raises:
        InvalidOption: there is no such scale, or the level is not in (0, 1).

    Source:
        Gwet (2014), Handbook of Inter-Rater Reliability, 4th ed., chapter 6: the interval
        membership probability and its cumulative sum.
    """
    check_confidence(level)
    if scale not in SCALES:
        raise InvalidOption(f"there is no scale {scale!r}", f"one of {', '.join(SCALES)}")
    if standard_error is None:
        return Benchmark(scale, None, None, level, undefined=TOO_FEW_ITEMS)
    steps = SCALES[scale].steps
    above = [_at_least(limit, value, standard_error) for limit, _ in steps]
    reached = next(place for place, share in enumerate(above) if share >= level)
    memberships = tuple(
        (word, share - better)
        for (_, word), share, better in zip(steps, above, [0.0, *above], strict=False)
    )
    return Benchmark(scale, steps[reached][1], above[reached], level, memberships)


def benchmark_readings(figure: Coefficient) -> dict[str, object] | None:
    """Return a coefficient in the words of every scale, as JSON; None if no scale applies.

    ``benchmark`` is the word of Landis and Koch that its error leaves it with.
    """
    if figure.value is None or (
        figure.expected is None and "expected_disagreement" not in figure.details
    ):
        return None
    words: dict[str, object] = {name: scale.word(figure.value) for name, scale in SCALES.items()}
    return words | {"benchmark": benchmark_of(figure).to_dict()}


def benchmark_of(figure: Coefficient) -> Benchmark:
    """Return the benchmark of a figure with a value; an error of 0 makes no word sure."""
    found = benchmark(figure.value or 0.0, figure.standard_error or None)
    return found if figure.standard_error != 0 else replace(found, undefined=WITHOUT_SPREAD)


def _at_least(limit: float, value: float, standard_error: float) -> float:
    """Return the probability of ``limit`` to 1 under the truncated normal; without width, a point.

    The lowest limit is minus infinity and gives exactly 1, so some word always reaches a level.
    """
    if limit == -math.inf:
        return 1.0
    if not standard_error:
        return float(value + _ROUNDING >= limit)
    below = NormalDist(value, standard_error).cdf
    return max(0.0, (below(1.0) - below(limit)) / below(1.0))
