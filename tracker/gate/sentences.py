"""A gate's checks in words: what each asks for, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from shlex import quote
from typing import Final

from tracker.audit.sentences import lacking_evidence_sentence
from tracker.gate.config import (
    AtLeast,
    Bound,
    Check,
    Figure,
    ItemsAtLeast,
    JudgeTrusted,
    MaxDrop,
    NoFlags,
    OverlapAtLeast,
)
from tracker.gate.context import Standing
from tracker.history.snapshot import SnapshotRecord
from tracker.measures.registry import MEASURES

WHY_NOT = "Commented out because it would fail today: "
"""What begins the line of a file of checks that says why one is left out."""
NO_CATEGORY: Final = "The project has no category yet."
NO_JUDGE: Final = "No person answered an item that the model answered."
NO_ANSWER: Final = "No item has an answer."
_BOUNDS: Final = {"value": "", "ci_low": "lower bound of ", "ci_high": "upper bound of "}
_MOST_DIGITS = 9  # two numbers that agree so far differ by rounding
_MOST_FINDINGS = 6


def asked_sentence(check: Check, category: str | None = None, *, titled: bool = False) -> str:
    """Return what a check asks for, with the name of one of several categories.

    ``titled``: measures have the names that people know, not those of the file.
    """
    match check:
        case AtLeast(figure=figure, at_least=least, on=on):
            asked = _figure_asked(figure, category, titled)
            return f"{_BOUNDS[on]}{asked} at least {least:g}"
        case MaxDrop(figure=figure, max_drop=most, since=since):
            then = "the last snapshot" if since is None else f"snapshot {since}"
            then = "the level before" if figure.recent else then
            return f"{_figure_asked(figure, category, titled)} at most {most:g} below {then}"
        case NoFlags(kinds=kinds):
            return f"no finding of {', '.join(kinds) or 'any kind'}"
        case ItemsAtLeast(items=least_items):
            return (
                f"at least {least_items:,} item{'' if least_items == 1 else 's'} with two answers"
            )
        case OverlapAtLeast(share=share):
            return f"at least {share:g} of the items with two answers"
        case JudgeTrusted(model=model, margin=margin):
            return f"{model} trusted as a judge, at most {margin:g} below people"


def _figure_asked(figure: Figure, category: str | None, titled: bool) -> str:
    title = MEASURES[figure.measure].title if titled and figure.measure is not None else None
    words = title or figure.measure or f'agreement on "{category or figure.category}"'
    words += " of late" if figure.recent else ""
    return words if figure.model is None else f"{words} of {figure.model} with people"


# -- figures -------------------------------------------------------------------------------


def at_least_sentence(
    figure: Standing, value: float, threshold: float, *, bound: Bound, passed: bool
) -> str:
    """Return how a figure, or a ``bound`` of it, compares with the least that is asked for."""
    subject = figure_in_sentence(figure)
    if bound != "value":
        subject = f"the {_BOUNDS[bound]}{subject} ({100 * figure.confidence:.12g}%)"
    shown, least = distinct_numbers_in_sentence(value, threshold)
    compared = f"and at least {least} is required" if passed else f"below the required {least}"
    ceiling = f"; that of two people is {figure.people:.3f}" if figure.people is not None else ""
    return sentence(f"{subject} is {shown}, {compared}{ceiling}")


def drop_sentence(
    figure: Standing, before: float, fell: float | None, most: float,
    since: SnapshotRecord | None = None,
) -> str:  # fmt: skip
    """Return what a figure is and was, and how far it ``fell``; None if it did not.

    It was so in a snapshot, or on the level before.
    """
    assert figure.value is not None
    shown, was = distinct_numbers_in_sentence(figure.value, before)
    then = "before" if since is None else f"in {_snapshot(since)}"
    text = f"{figure_in_sentence(figure)} is {shown}, and was {was} {then}"
    if fell is not None:
        lower, allowed = distinct_numbers_in_sentence(fell, most)
        text += f": {lower} lower, and at most {allowed} is allowed"
    return sentence(text)


def one_level_sentence(figure: Standing) -> str:
    """Return that the level of agreement did not change."""
    assert figure.value is not None
    return sentence(f"{figure_in_sentence(figure)} is {figure.value:z.3f}; its level is steady")


def no_figure_sentence(figure: Standing, since: SnapshotRecord | None = None) -> str:
    """Return why a figure has no value now, or had none in a snapshot."""
    where = "" if since is None else f" in {_snapshot(since)}"
    return sentence(f"{figure_in_sentence(figure)}{where}: {_why_none(figure)}")


def no_bound_sentence(figure: Standing) -> str:
    """Return why a figure has no interval."""
    never = "" if figure.measure is None else MEASURES[figure.measure].no_interval
    why = never or "too few items to estimate its error"
    return sentence(f"{figure_in_sentence(figure)} has no interval: {why}")


def no_snapshot_sentence(project: str, *, chosen: bool) -> str:
    """Return what is missing if there is no snapshot of these answers, all or ``chosen``."""
    if not chosen:
        return f"There is no snapshot of all answers: tracker snapshot {quote(project)}."
    return "There is no snapshot of the same answers; another can be named by since."


def not_in_snapshot_sentence(figure: Standing, since: SnapshotRecord) -> str:
    """Return that a snapshot does not hold a figure."""
    return sentence(f"{_snapshot(since)} has no {figure_in_sentence(figure)}")


def read_otherwise_sentence(figure: Standing, since: SnapshotRecord) -> str:
    """Return that a figure had another weighting, scale or distance in a snapshot."""
    return sentence(
        f"{figure_in_sentence(figure)} was computed with other settings in {_snapshot(since)}"
    )


def figure_in_sentence(figure: Standing | Figure) -> str:
    """Return a figure as it stands in a sentence."""
    if figure.measure is not None:
        title = MEASURES[figure.measure].title
    else:
        title = f'agreement on "{figure.category}"'
    if isinstance(figure, Standing) and figure.since is not None:
        return f"{title} since {figure.since}"
    if figure.model is None:
        return title
    people = "what most people gave" if figure.measure == "cohen_kappa" else "people"
    return f"{title} of {figure.model} with {people}"


def _snapshot(snapshot: SnapshotRecord) -> str:
    return f"snapshot {snapshot.id}" + (f" ({snapshot.name})" if snapshot.name else "")


def _why_none(figure: Standing) -> str:
    reason = figure.undefined or ""
    if figure.measure is not None:
        return MEASURES[figure.measure].undefined.get(reason, reason.replace("_", " "))
    return "no item with two answers has it"


# -- findings, items -----------------------------------------------------------------------


def flags_sentence(
    findings: Sequence[tuple[Sequence[str], str, Sequence[str]]], settled: Sequence[int]
) -> str:
    """Return whom an audit finds.

    Args:
        findings: annotators, kind, and the kinds asked for if the finding has another that
            explains them.
        settled: flags by which people settled other findings.
    """
    aside = f" (settled: flag {', '.join(map(str, settled))})" if settled else ""
    if not findings:
        return sentence(f"the audit finds nobody{aside}")
    shown = [
        f"{_kind(kind, instead)} of {' and '.join(names)}" for names, kind, instead in findings
    ]
    left = len(shown) - _MOST_FINDINGS
    more = f" and {left:,} more" if left > 0 else ""
    return sentence(f"the audit finds {', '.join(shown[:_MOST_FINDINGS])}{more}{aside}")


def _kind(kind: str, instead: Sequence[str]) -> str:
    return f"{', '.join(instead)} (shown by the audit as {kind})" if instead else kind


def not_looked_for_sentence(needs: Mapping[str, str], *, any_kind: bool) -> str:
    """Return why kinds of findings were not looked for: what each is missing."""
    if any_kind:
        return "No kind of finding can be looked for."
    return sentence(
        "not looked for: "
        + ", ".join(f"{kind} ({lacking_evidence_sentence(need)})" for kind, need in needs.items())
    )


def items_sentence(number: int, threshold: int) -> str:
    """Return how many items can be compared."""
    return f"Items with two answers or more: {number:,}, and at least {threshold:,} are required."


def overlap_sentence(share: float, threshold: float) -> str:
    """Return which share of the items can be compared."""
    shown, least = distinct_numbers_in_sentence(share, threshold)
    return f"{shown} of the items have two answers or more, and at least {least} is required."


def judge_sentence(verdict: str, why: str) -> str:
    """Return whether a model is trusted as a judge, and why."""
    return f"{verdict.capitalize()}: {why}."


# -- numbers -------------------------------------------------------------------------------


def distinct_numbers_in_sentence(value: float, other: float) -> tuple[str, str]:
    """Return two numbers to three places, or to as many as it takes to tell them apart."""
    for digits in range(3, _MOST_DIGITS):
        shown = f"{value:.{digits}f}", f"{other:.{digits}f}"
        if shown[0] != shown[1]:
            return shown
    return f"{value:z.3f}", f"{other:z.3f}"


def sentence(text: str) -> str:
    """Return a text with a capital and a full stop."""
    return f"{text[:1].upper()}{text[1:]}."
