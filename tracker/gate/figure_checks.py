"""Checks of figures: at least so much, and not fallen by more than so much."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from shlex import quote
from typing import Final

from tracker.gate.checks import AtLeast, MaxDrop
from tracker.gate.context import Present, Standing, standings
from tracker.gate.result import CheckResult
from tracker.gate.words import apart, called, name_of, sentence, snapshot_called, why_none

__all__ = ["ROUNDING", "figure_results"]

ROUNDING: Final = 1e-9
"""Figures that differ by less are the same but for rounding: 0.8 - 0.7 is not 0.1."""


def figure_results(check: AtLeast | MaxDrop, now: Present) -> Iterator[CheckResult]:
    """What becomes of a check of a figure, one result for each category where it is of each."""
    found = standings(now.assessment, check.figure)
    if not found:
        nothing = _plain(check, check.figure.measure, check.figure.category)
        yield nothing.unknown("The project has no category yet.", "no_category")
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
        "",
        check.place.line,
        measure=measure,
        category=category,
        threshold=check.at_least if isinstance(check, AtLeast) else check.max_drop,
        bound=check.on if isinstance(check, AtLeast) else "value",
    )


def _least(check: AtLeast, figure: Standing) -> CheckResult:
    what = called(figure)
    details = {
        "figure": figure.value,
        "ci_low": figure.low,
        "ci_high": figure.high,
        "confidence": figure.confidence,
    }
    plain = replace(_plain(check, figure.measure, figure.category), details=details)
    value = figure.low if check.on == "ci_low" else figure.value
    if figure.value is None:
        return plain.unknown(sentence(f"{what}: {why_none(figure)}"), figure.undefined)
    if value is None:
        why = f"{what} has no lower bound: too few items to tell how it varies"
        return plain.unknown(sentence(why), "no_interval")
    if check.on == "ci_low":
        what = f"the lower bound of {what} ({100 * figure.confidence:.12g}%)"
    passed = value >= check.at_least - ROUNDING
    shown, least = apart(value, check.at_least)
    asked = f"and {least} is asked for" if passed else f"below the {least} asked for"
    return replace(plain, passed=passed, value=value, why=sentence(f"{what} is {shown}, {asked}"))


def _drop(check: MaxDrop, figure: Standing, now: Present) -> CheckResult:
    then = now.snapshots[check.since]
    plain = _plain(check, figure.measure, figure.category)
    if then is None:
        return plain.unknown(_no_snapshot(now), "no_snapshot")
    what, when = called(figure), snapshot_called(then)
    same = replace(check.figure, category=figure.category)
    before = next(iter(standings(then.assessment, same)), None)
    if before is None:
        return plain.unknown(sentence(f"{when} has no {what}"), "not_in_snapshot")
    details = {"figure": figure.value, "then": before.value, "since": then.id}
    plain = replace(plain, details=details)
    if figure.value is None or before.value is None:
        lacking, where = (figure, "") if figure.value is None else (before, f" in {when}")
        why = f"{what}{where}: {why_none(lacking)}"
        return plain.unknown(sentence(why), lacking.undefined)
    if before.read != figure.read:
        why = f"{what} was read in another way in {when}"
        return plain.unknown(sentence(why), "read_otherwise")
    drop = before.value - figure.value
    shown, was = apart(figure.value, before.value)
    why = f"{what} is {shown}, and was {was} in {when}"
    if drop > ROUNDING:
        fell, most = apart(drop, check.max_drop)
        why += f": {fell} lower, and {most} is allowed"
    passed = drop <= check.max_drop + ROUNDING
    return replace(plain, passed=passed, value=drop, why=sentence(why))


def _no_snapshot(now: Present) -> str:
    if now.selection is None:
        return f"There is no snapshot of all answers: tracker snapshot {quote(now.project.name)}."
    return "There is no snapshot of the same answers; another can be named by since."
