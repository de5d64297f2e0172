"""The sentence that goes with a flag. It speaks of answers, with their numbers.

Sentences hold ``{annotator}``, ``{category}`` and ``{other}`` in place of the names, which this
room does not know.
"""

from __future__ import annotations

import sys

from tracker.audit.finding import MINIMUM_INFORMATIVE, Effect, Finding

__all__ = ["gave", "percent", "short_of_items", "tested", "without_others"]


def gave(finding: Finding) -> str:
    """How often the annotator gave the category, and the co-annotators of the same items."""
    own = round((finding.observed or 0.0) * finding.n)
    return (
        f"{{annotator}} gave {{category}} in {own} of {finding.n} answers to items that others "
        f"answered too ({percent(finding.observed)}); on the same items the others gave it "
        f"{percent(finding.peers)} of the time"
    )


def tested(finding: Finding, q_value: float) -> str:
    """The effect and the test of a flagged finding."""
    return (
        f"{_odds(finding.effect)}{finding.informative} items could tell, "
        f"p {_small(finding.p_value or 0.0)}, q {_small(q_value)}"
    )


def short_of_items(informative: int, *, refitted: bool) -> str:
    """Why nothing is concluded, for one annotator."""
    others = "leaving out answers of other flagged annotators, " if refitted else ""
    number = "none" if informative == 0 else f"only {informative}"
    return f"{others}{number} of the items could tell; at least {MINIMUM_INFORMATIVE} are needed"


def without_others(finding: Finding, q_value: float) -> str:
    """The figures of a refit."""
    leaving = "leaving out answers of other flagged annotators, "
    if finding.effect.measure not in {"odds ratio", "difference"}:
        return f"{leaving}q {_small(q_value)}"
    figures = f"{percent(finding.observed)} against {percent(finding.peers)}"
    return f"{leaving}{figures} (q {_small(q_value)})"


def percent(share: float | None) -> str:
    """A percentage that reads 0 or 100 only where it is that; a dash where there is none."""
    if share is None:
        return "-"
    text = f"{100 * share:.0f}"
    if text in {"0", "100"} and share not in {0.0, 1.0}:
        text = f"{100 * share:.2g}" if share < 0.5 else f"{100 * share:.4g}"
    return f"{text} %"


def _odds(effect: Effect) -> str:
    ratio = effect.value
    if effect.measure != "odds ratio" or ratio is None or ratio in {0.0, float("inf")}:
        return ""
    more = ratio >= 1
    return f"odds {ratio if more else 1 / ratio:.1f} times {'higher' if more else 'lower'}, "


def _small(probability: float) -> str:
    if probability <= sys.float_info.min:
        return "< 1e-300"
    return f"= {probability:.2g}"
