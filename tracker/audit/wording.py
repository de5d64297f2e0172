"""The sentence that goes with a flag. It speaks of answers, with their numbers.

Sentences hold ``{annotator}`` and ``{category}`` in place of the names, which this room does not
know.
"""

from __future__ import annotations

import sys

from tracker.audit.finding import MINIMUM_INFORMATIVE, Finding

__all__ = ["gave", "short_of_items", "tested", "without_others"]


def gave(finding: Finding) -> str:
    """How often the annotator gave the category, and the co-annotators of the same items."""
    own = round(finding.observed * finding.n)
    return (
        f"{{annotator}} gave {{category}} in {own} of {finding.n} answers to items that others "
        f"answered too ({_percent(finding.observed)}); on the same items the others gave it "
        f"{_percent(finding.peers)} of the time"
    )


def tested(finding: Finding, q_value: float) -> str:
    """The effect and the test of a flagged finding."""
    return (
        f"{_odds(finding.odds_ratio)}{finding.informative} items could tell, "
        f"p {_small(finding.p_value or 0.0)}, q {_small(q_value)}"
    )


def short_of_items(informative: int, *, refitted: bool) -> str:
    """Why nothing is concluded, for one annotator."""
    others = "leaving out answers of other flagged annotators, " if refitted else ""
    number = "none" if informative == 0 else f"only {informative}"
    return f"{others}{number} of the items could tell; at least {MINIMUM_INFORMATIVE} are needed"


def without_others(finding: Finding, q_value: float) -> str:
    """The figures of a refit."""
    return (
        f"leaving out answers of other flagged annotators, {_percent(finding.observed)} against "
        f"{_percent(finding.peers)} (q {_small(q_value)})"
    )


def _percent(share: float) -> str:
    """A percentage that reads 0 or 100 only where it is that."""
    text = f"{100 * share:.0f}"
    if text in {"0", "100"} and share not in {0.0, 1.0}:
        text = f"{100 * share:.2g}" if share < 0.5 else f"{100 * share:.4g}"
    return f"{text} %"


def _odds(odds_ratio: float | None) -> str:
    if odds_ratio is None or odds_ratio in {0.0, float("inf")}:
        return ""
    more = odds_ratio >= 1
    return (
        f"odds {odds_ratio if more else 1 / odds_ratio:.1f} times {'higher' if more else 'lower'}, "
    )


def _small(probability: float) -> str:
    if probability <= sys.float_info.min:
        return "< 1e-300"
    return f"= {probability:.2g}"
