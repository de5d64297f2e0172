"""Customary words for a coefficient. They are conventions, not findings: say whose they are.

Neither scale rests on evidence, and both ignore the categories, their number and the error.
"""

from __future__ import annotations

from typing import Final

__all__ = ["KRIPPENDORFF", "LANDIS_KOCH", "krippendorff_reading", "landis_koch"]

LANDIS_KOCH: Final = "Landis and Koch (1977), Biometrics 33, 159, p. 165: a convention"
KRIPPENDORFF: Final = "Krippendorff (2004), Content Analysis, 2nd ed., p. 241: a convention"

_KAPPA_STEPS: Final = ((0.2, "slight"), (0.4, "fair"), (0.6, "moderate"), (0.8, "substantial"))


def landis_koch(value: float) -> str:
    """The word for a kappa: poor below 0, then slight, fair, moderate, substantial at .2 steps.

    A boundary belongs to the higher word; .8 and above is "almost perfect". Exactly 0 is chance
    level and "slight": only less than chance is "poor".
    """
    if value < 0:
        return "poor"
    return next((word for limit, word in _KAPPA_STEPS if value < limit), "almost perfect")


def krippendorff_reading(value: float) -> str:
    """What alpha allows for: "discard" below .667, "tentative" below .8, else "definite"."""
    if value < 0.667:
        return "discard"
    return "tentative" if value < 0.8 else "definite"
