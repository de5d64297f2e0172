"""Checks of figures: at least so much, and not fallen by more than so much."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from tracker.core.shown import Message
from tracker.gate.checks import AtLeast, Check, MaxDrop
from tracker.gate.context import Present, Standing, standings
from tracker.gate.result import CheckResult

ROUNDING: Final = 1e-9
"""Figures that differ by less are the same but for rounding: 0.8 - 0.7 is not 0.1."""


def name_of(check: Check, category: str | None = None) -> Message | str:
    """Return a check's name, or what it asks for; ``category`` is the one of each."""
    if check.name is None:
        return Message("gate.asked", check=check, category=category)
    each = isinstance(check, AtLeast | MaxDrop) and category not in {None, check.figure.category}
    return f"{check.name}: {category}" if each else check.name


def figure_results(check: AtLeast | MaxDrop, now: Present) -> Iterator[CheckResult]:
    """What becomes of a check of a figure, one result for each category where it is of each."""
    found = standings(now.assessment, check.figure)
    if not found:
        nothing = _plain(check, check.figure.measure, check.figure.category)
        yield nothing.unknown(Message("gate.no_category"), "no_category")
    for figure in found:
        if isinstance(check, AtLeast):
            yield _least(check, figure)
        else:
            yield _drop(check, figure, now)


def _plain(check: AtLeast | MaxDrop, measure: str | None, category: str | None) -> CheckResult:
    """A check of which nothing is known yet."""
    is_least = isinstance(check, AtLeast)
    return CheckResult(
        name_of(check, category),
        "at_least" if is_least else "max_drop",
        None,
        Message("gate.no_category"),
        check.place.line,
        measure=measure,
        category=category,
        threshold=check.at_least if isinstance(check, AtLeast) else check.max_drop,
        bound=check.on if isinstance(check, AtLeast) else "value",
    )


def _least(check: AtLeast, figure: Standing) -> CheckResult:
    details = {
        "figure": figure.value,
        "ci_low": figure.low,
        "ci_high": figure.high,
        "confidence": figure.confidence,
    }
    plain = replace(_plain(check, figure.measure, figure.category), details=details)
    value = figure.low if check.on == "ci_low" else figure.value
    if figure.value is None:
        return plain.unknown(Message("gate.no_figure", figure=figure), figure.undefined)
    if value is None:
        return plain.unknown(Message("gate.no_lower_bound", figure=figure), "no_interval")
    passed = value >= check.at_least - ROUNDING
    reason = Message(
        "gate.at_least",
        figure=figure,
        value=value,
        threshold=check.at_least,
        bound=check.on == "ci_low",
        passed=passed,
    )
    return replace(plain, passed=passed, value=value, reason=reason)


def _drop(check: MaxDrop, figure: Standing, now: Present) -> CheckResult:
    then = now.snapshots[check.since]
    plain = _plain(check, figure.measure, figure.category)
    if then is None:
        chosen = now.selection is not None
        reason = Message("gate.no_snapshot", project=now.project.name, chosen=chosen)
        return plain.unknown(reason, "no_snapshot")
    same = replace(check.figure, category=figure.category)
    before = next(iter(standings(then.assessment, same)), None)
    if before is None:
        reason = Message("gate.not_in_snapshot", figure=figure, since=then)
        return plain.unknown(reason, "not_in_snapshot")
    details = {"figure": figure.value, "then": before.value, "since": then.id}
    plain = replace(plain, details=details)
    if figure.value is None or before.value is None:
        lacking, where = (figure, None) if figure.value is None else (before, then)
        reason = Message("gate.no_figure", figure=lacking, since=where)
        return plain.unknown(reason, lacking.undefined)
    if before.read != figure.read:
        reason = Message("gate.read_otherwise", figure=figure, since=then)
        return plain.unknown(reason, "read_otherwise")
    drop = before.value - figure.value
    reason = Message(
        "gate.drop",
        figure=figure,
        now=figure.value,
        before=before.value,
        since=then,
        fell=drop if drop > ROUNDING else None,
        most=check.max_drop,
    )
    passed = drop <= check.max_drop + ROUNDING
    return replace(plain, passed=passed, value=drop, reason=reason)
