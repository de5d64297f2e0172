"""One sentence about a finding of an audit, with the figures that decided.

It is made of the finding's JSON, and of names. A kind's own sentence is entered in `SENTENCES`;
a kind without one gets a plain one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

Finding: TypeAlias = Mapping[str, Any]

NEARLY_ALWAYS = 0.95
"""Share of the items answered alike on which the same one is later, to be called the later one."""

LACKING: Final[Mapping[str, str]] = {
    "shared": "items with two answers",
    "yardstick": "items with two answers, or with a known one",
    "points": "ordered categories",
    "gold": "reference answers",
    "repeats": "items answered again",
    "sequences": "times of answers",
    "blocks": "times of answers",
    "times": "durations of answers",
    "skips": "skipped or empty answers",
    "pairs": "two annotators with 20 items in common",
}
"""What is missing if a field of `tracker.audit.evidence.Evidence` is not given."""


class Names(NamedTuple):
    """Who and what a sentence is about; ``other`` is the second one of a pair."""

    annotator: str
    category: str
    other: str


def lacking_evidence_sentence(need: str) -> str:
    """Return why a kind of finding could not be looked for."""
    return f"there are no {LACKING.get(need, need)}"


def finding_sentence(finding: Finding, annotator: str, other: str | None = None) -> str | None:
    """Return the sentence; None if the finding is clear.

    Args:
        finding: as JSON.
        annotator: the annotator's name; for a pair, of the one with the lower id.
        other: the name of the other one of a pair.
    """
    if finding["state"] == "clear":
        return None
    names = Names(annotator, f'"{finding["category"]}"', other or "")
    sentence = SENTENCES.get(finding["kind"], _plain)(finding, names)
    if finding["q_value"] is None:
        return f"{sentence}, but {_short_of_items(finding['informative'])}."
    parts = [sentence, _tested(finding)]
    if finding["consensus"] is not None:
        parts.append(_confirmed(finding) if finding["state"] == "flagged" else _UNCONFIRMED)
    if "answered_alike" in finding["details"]:
        parts.append(_who_was_later(finding["details"], names))
    return "; ".join(parts) + "."


def percent_text(share: float | None) -> str:
    """Return a percentage that reads 0 or 100 only if it is that; a dash if there is none."""
    if share is None:
        return "-"
    text = f"{100 * share:.0f}"
    if text in {"0", "100"} and share not in {0.0, 1.0}:
        text = f"{100 * share:.2g}" if share < 0.5 else f"{100 * share:.4g}"
    return f"{text} %"


# -- each kind -----------------------------------------------------------------------------


def _plain(found: Finding, names: Names) -> str:
    about = "" if found["category"] is None else f" for {names.category}"
    return (
        f"{' and '.join(name for name in (names.annotator, names.other) if name)}: "
        f"{_number(found['observed'])}{about} over {found['n']} answers, and "
        f"{_number(found['expected'])} is expected"
    )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def _category(found: Finding, names: Names) -> str:
    if found["details"].get("against") == "gold":
        return (
            f"{names.annotator} gave {names.category} in {percent_text(found['observed'])} of "
            f"{found['n']} answers to items whose answer is known, and it is right for "
            f"{percent_text(found['expected'])} of them"
        )
    own = round((found["observed"] or 0.0) * found["n"])
    return (
        f"{names.annotator} gave {names.category} in {own} of {found['n']} answers to items that "
        f"others answered too ({percent_text(found['observed'])}); "
        f"on the same items the others gave it "
        f"{percent_text(found['peers'])} of the time"
    )


def _random_answers(found: Finding, names: Names) -> str:
    return (
        f"the answers of {names.annotator} to {found['n']} items hardly depend on what the others "
        f"answered to them (score {found['observed']:.2f}, at most "
        f"{(found['effect_high'] or 0.0) * (found['peers'] or 0.0):.2f}, where 0 is answering "
        f"blindly; the others reach {found['peers']:.2f})"
    )


def _severity_bias(found: Finding, names: Names) -> str:
    off = found["effect"] or 0.0
    return (
        f"{names.annotator} answered {abs(off):.2f} points {'above' if off >= 0 else 'below'} the "
        f"others of the same {found['n']} items on average ({found['observed']:.2f} against "
        f"{found['peers']:.2f})"
    )


def _low_agreement(found: Finding, names: Names) -> str:
    return (
        f"{names.annotator} gave the same answer as a co-annotator of the same item "
        f"{percent_text(found['observed'])} of the time over {found['n']} items; "
        f"two of the others did so {percent_text(found['peers'])} of the time"
    )


def _low_gold_accuracy(found: Finding, names: Names) -> str:
    details = found["details"]
    return (
        f"{names.annotator} was right on {details['right']} of {found['n']} items whose answer is "
        f"known ({percent_text(found['observed'])}, {percent_text(details['accuracy_low'])} to "
        f"{percent_text(details['accuracy_high'])}); the others are "
        f"right {percent_text(found['peers'])} of "
        "the time on such items"
    )


def _low_self_agreement(found: Finding, names: Names) -> str:
    return (
        f"{names.annotator} gave the same answer again in {found['details']['same']} of "
        f"{found['n']} repeated items ({percent_text(found['observed'])}); "
        f"on items as contested the "
        f"others did so {percent_text(found['peers'])} of the time"
    )


def _drift(found: Finding, names: Names) -> str:
    details = found["details"]
    return (
        f"{names.annotator}'s {details['of']} fell from {percent_text(found['expected'])} to "
        f"{percent_text(found['observed'])} since {details['since'][:16].replace('T', ' ')}"
    )


def _straight_lining(found: Finding, names: Names) -> str:
    return (
        f"in the order answered, {names.annotator} repeated the answer before on "
        f"{percent_text(found['observed'])} of {found['informative']} contested items; the items "
        f"explain {percent_text(found['expected'])}"
    )


def _too_fast(found: Finding, names: Names) -> str:
    return (
        f"{names.annotator} took {found['details']['median_seconds']:.3g} seconds an answer "
        f"(median of {found['n']}), {1.0 / (found['effect'] or 1.0):.1f} times faster than is "
        "usual for the same items"
    )


def _copying(found: Finding, names: Names) -> str:
    details = found["details"]
    return (
        f"of {found['n']} items that both answered, {names.annotator} and {names.other} gave the "
        f"same answer against most of the others on {details['shared_minority_answers']} "
        f"({percent_text(found['observed'])}); {details['expected_minority_answers']:.1f} would be "
        "expected by chance"
    )


def _empty_answers(found: Finding, names: Names) -> str:
    own = round((found["observed"] or 0.0) * found["n"])
    return (
        f"{names.annotator} left {own} of {found['n']} items that others saw too without a "
        f"category ({percent_text(found['observed'])}); the others "
        f"left {percent_text(found['peers'])} of "
        "them empty"
    )


SENTENCES: Final[dict[str, Callable[[Finding, Names], str]]] = {
    "constant_category": _category,
    "category_bias": _category,
    "random_answers": _random_answers,
    "severity_bias": _severity_bias,
    "low_agreement": _low_agreement,
    "low_gold_accuracy": _low_gold_accuracy,
    "low_self_agreement": _low_self_agreement,
    "drift": _drift,
    "straight_lining": _straight_lining,
    "too_fast": _too_fast,
    "copying": _copying,
    "empty_answers": _empty_answers,
}
"""By kind, a sentence without its full stop."""

# -- what goes with each -------------------------------------------------------------------

_UNCONFIRMED = "but the consensus of all answers rests on too few of them to confirm it"
_RIGHT = {"ratio": " right", "difference": " right"}  # of a share of right answers


def _short_of_items(informative: int) -> str:
    from tracker.audit.kind import MINIMUM_INFORMATIVE

    number = "none" if informative == 0 else f"only {informative}"
    return f"{number} of the items are informative; at least {MINIMUM_INFORMATIVE} are needed"


def _tested(found: Finding) -> str:
    return (
        f"{_odds(found)}{found['informative']} informative items, "
        f"p {_small(found['p_value'] or 0.0)}, q {_small(found['q_value'])}"
    )


def _odds(found: Finding) -> str:
    ratio = found["effect"]
    if found["effect_measure"] != "odds ratio" or not ratio:
        return ""
    more = ratio >= 1
    return f"odds {ratio if more else 1 / ratio:.1f} times {'higher' if more else 'lower'}, "


def _confirmed(found: Finding) -> str:
    observed, expected = found["consensus"]["observed"], found["consensus"]["expected"]
    if found["with"] is not None:
        return (
            f"they agree on {percent_text(observed)} of these items, and "
            f"{percent_text(expected)} would follow from what each gives independently"
        )
    if found["effect_measure"] == "points":
        shown = f"{observed:.2f} on average", f"{expected:.2f}"
    else:
        shown = (
            f"{percent_text(observed)}{_RIGHT.get(found['effect_measure'], '')}",
            percent_text(expected),
        )
    return (
        f"the consensus of all answers confirms it: {shown[0]}, and {shown[1]} from a typical "
        "annotator"
    )


def _who_was_later(details: Mapping[str, Any], names: Names) -> str:
    alike, first, second = (
        details[name] for name in ("answered_alike", "first_later", "second_later")
    )
    if first + second < alike:
        return "who answered first is not known"
    if max(first, second) < NEARLY_ALWAYS * alike:
        return "neither consistently answered first"
    later = names.other if second > first else names.annotator
    return f"{later} answered later on {max(first, second)} of {alike} answered alike"


def _small(probability: float) -> str:
    if probability <= sys.float_info.min:
        return "< 1e-300"
    return f"= {probability:.2g}"
