"""Whether figures differ by more than their errors let one expect."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median


def are_within_noise(figures: Sequence[tuple[float, float | None]]) -> bool:
    """Return whether independent figures may all be one: p above .05 that they are.

    A chi square about their weighted mean, its tail by Wilson and Hilferty.

    Args:
        figures: values with their standard errors; one without an error, or with 0, has the median
            of the others'. If none has one, only equal values are one.

    Source:
        Cochran (1954), Biometrics 10, 101; Wilson and Hilferty (1931), PNAS 17, 684.
    """
    if len(figures) < 2:
        return True
    known = [error for _, error in figures if error]
    if not known:
        return len({value for value, _ in figures}) == 1
    typical = median(known)
    weights = [(error or typical) ** -2 for _, error in figures]
    values = [value for value, _ in figures]
    mean = sum(map(float.__mul__, weights, values)) / sum(weights)
    square = sum(w * (value - mean) ** 2 for w, value in zip(weights, values, strict=True))
    freedom = len(figures) - 1
    part = 2 / (9 * freedom)
    deviate = (math.pow(square / freedom, 1 / 3) - (1 - part)) / math.sqrt(part)
    return deviate <= 1.6449  # which 5 of 100 exceed
