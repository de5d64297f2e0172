"""The sentence that goes with a flag. It speaks of answers, with their numbers.

Sentences hold ``{annotator}``, ``{category}`` and ``{other}`` in place of the names, which this
room does not know.
"""

from __future__ import annotations

import sys

from tracker.audit.kind import MINIMUM_INFORMATIVE, Effect, Finding
from tracker.audit.second_opinion import Opinion

__all__ = ["confirmed", "gave", "percent", "short_of_items", "tested", "unconfirmed"]


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
        f"{_odds(finding.effect)}{finding.informative} informative items, "
        f"p {_small(finding.p_value or 0.0)}, q {_small(q_value)}"
    )


def short_of_items(informative: int) -> str:
    """Return why nothing is concluded, for one annotator."""
    number = "none" if informative == 0 else f"only {informative}"
    return f"{number} of the items are informative; at least {MINIMUM_INFORMATIVE} are needed"


def confirmed(finding: Finding, opinion: Opinion) -> str:
    """Return the figures of the second opinion on a flagged finding."""
    if finding.other is not None:
        return (
            f"they agree on {percent(opinion.observed)} of these items, and "
            f"{percent(opinion.expected)} would follow from what each gives independently"
        )
    if finding.effect.measure == "points":
        return (
            f"the consensus of all answers confirms it: {opinion.observed:.2f} on average, and "
            f"{opinion.expected:.2f} from a typical annotator"
        )
    what = {"odds ratio": "", "ratio": " right", "difference": " right"}[finding.effect.measure]
    return (
        f"the consensus of all answers confirms it: {percent(opinion.observed)}{what}, and "
        f"{percent(opinion.expected)} from a typical annotator"
    )


def unconfirmed() -> str:
    """Return why a finding that stands out is not flagged."""
    return "but the consensus of all answers rests on too few of them to confirm it"


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
