"""An annotator gives a category more often, or less, than the co-annotators of the same items.

The test is two-sided, under the null hypothesis of ``tracker.audit.exact``. A flag also needs an
effect: a common odds ratio over the items of at least 2, or at most 1/2.
"""

from __future__ import annotations

from collections.abc import Iterator

from tracker.audit.finding import (
    MINIMUM_ANSWERS,
    MINIMUM_INFORMATIVE,
    Evidence,
    Finding,
    Kind,
    usage_finding,
)
from tracker.audit.strata import Usage
from tracker.audit.wording import gave

__all__ = ["CATEGORY_BIAS", "LOOK_INFORMATIVE", "MINIMUM_ODDS_RATIO", "bias_finding"]

NAME = "category_bias"

MINIMUM_ODDS_RATIO = 2.0
"""How many times the co-annotators' odds, or what part of them, a flag needs."""

LOOK_INFORMATIVE = 3
"""Informative items below which a bias is not even called insufficient."""


def find(evidence: Evidence) -> Iterator[Finding]:
    """One finding per annotator and category on their shared items."""
    for usage in evidence.usages:
        yield bias_finding(usage, evidence.alpha)


def bias_finding(usage: Usage, alpha: float) -> Finding:
    """The finding about one annotator and category.

    With fewer informative items than a test needs, a ratio beyond 2-fold is the rule rather than
    the exception. It is suspicious only where so lopsided a count had a probability of ``alpha``
    or less, taken alone: so at most that share of sound short records is mentioned.
    """
    tested = usage.informative >= MINIMUM_INFORMATIVE
    notable = _beyond(usage.odds_ratio)
    return usage_finding(
        usage,
        NAME,
        p_value=usage.tails.two_sided if tested else None,
        notable=notable,
        suspicious=not tested and notable and _worth_saying(usage, alpha),
    )


def _beyond(odds_ratio: float | None) -> bool:
    return odds_ratio is not None and (
        odds_ratio >= MINIMUM_ODDS_RATIO or odds_ratio <= 1.0 / MINIMUM_ODDS_RATIO
    )


def _worth_saying(usage: Usage, alpha: float) -> bool:
    return (
        usage.n >= MINIMUM_ANSWERS
        and usage.informative >= LOOK_INFORMATIVE
        and usage.tails.two_sided <= alpha
    )


CATEGORY_BIAS = Kind(NAME, frozenset({"tallies"}), find, gave)
