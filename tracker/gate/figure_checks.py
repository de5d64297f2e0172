"""Checks of figures: at least so much, and not fallen by more than so much."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from tracker.audit.kinds import KINDS
from tracker.core.shown import Message
from tracker.gate.checks import AtLeast, Check, MaxDrop
from tracker.gate.context import Present, Standing, gate_standings
from tracker.gate.result import CheckResult

ROUNDING: Final = 1e-9
"""Figures that differ by less are the same but for rounding: 0.8 - 0.7 is not 0.1."""


def gate_check_name(check: Check, category: str | None = None) -> Message | str:
    """Return a check's name, or what it asks for; ``category`` is the one of each."""
    if check.name is None:
        return Message("gate.asked_sentence", check=check, category=category)
    each = isinstance(check, AtLeast | MaxDrop) and category not in {None, check.figure.category}
    return f"{check.name}: {category}" if each else check.name


def figure_check_results(check: AtLeast | MaxDrop, now: Present) -> Iterator[CheckResult]:
    """What becomes of a check of a figure, one result for each category where it is of each."""
    found = now.standings(check.figure)
    if not found:
        nothing = _plain(check, check.figure.measure, check.figure.category)
        yield nothing.unknown(Message("gate.no_category_sentence"), "no_category")
    for figure in found:
        if isinstance(check, AtLeast):
            yield _least(check, figure)
        else:
            fall = _fall_of_level(check, figure, now)
            if check.figure.recent:
                yield _one_level(check, figure) if fall is None else fall
            else:
                yield _drop(check, figure, now) if fall is None or fall.passed else fall


def _plain(check: AtLeast | MaxDrop, measure: str | None, category: str | None) -> CheckResult:
    """A check of which nothing is known yet."""
    is_least = isinstance(check, AtLeast)
    return CheckResult(
        gate_check_name(check, category),
        "at_least" if is_least else "max_drop",
        None,
        Message("gate.no_category_sentence"),
        check.place.line,
        measure=measure,
        category=category,
        model=check.figure.model,
        threshold=check.at_least if isinstance(check, AtLeast) else check.max_drop,
        bound=check.on if isinstance(check, AtLeast) else "value",
    )


def _least(check: AtLeast, figure: Standing) -> CheckResult:
    details = {
        "figure": figure.value,
        "ci_low": figure.low,
        "ci_high": figure.high,
        "confidence": figure.confidence,
        **({} if figure.model is None else {"people": figure.people}),
    }
    plain = replace(_plain(check, figure.measure, figure.category), details=details)
    value = figure.low if check.on == "ci_low" else figure.value
    if figure.value is None:
        return plain.unknown(Message("gate.no_figure_sentence", figure=figure), figure.undefined)
    if value is None:
        return plain.unknown(Message("gate.no_lower_bound_sentence", figure=figure), "no_interval")
    passed = value >= check.at_least - ROUNDING
    reason = Message(
        "gate.at_least_sentence",
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
        reason = Message(
            "gate.no_snapshot_sentence", project=now.question.project.name, chosen=chosen
        )
        return plain.unknown(reason, "no_snapshot")
    same = replace(check.figure, category=figure.category)
    before = next(iter(gate_standings(then.assessment, same)), None)
    if before is None:
        reason = Message("gate.not_in_snapshot_sentence", figure=figure, since=then)
        return plain.unknown(reason, "not_in_snapshot")
    details = {"figure": figure.value, "then": before.value, "since": then.id}
    plain = replace(plain, details=details)
    if figure.value is None or before.value is None:
        lacking, where = (figure, None) if figure.value is None else (before, then)
        reason = Message("gate.no_figure_sentence", figure=lacking, since=where)
        return plain.unknown(reason, lacking.undefined)
    if before.read != figure.read:
        reason = Message("gate.read_otherwise_sentence", figure=figure, since=then)
        return plain.unknown(reason, "read_otherwise")
    drop = before.value - figure.value
    reason = Message(
        "gate.drop_sentence",
        figure=figure,
        now=figure.value,
        before=before.value,
        since=then,
        fell=drop if drop > ROUNDING else None,
        most=check.max_drop,
    )
    passed = drop <= check.max_drop + ROUNDING
    return replace(plain, passed=passed, value=drop, reason=reason)


def _one_level(check: MaxDrop, figure: Standing) -> CheckResult:
    """What becomes of a check of the last change of level if there was none."""
    plain = _plain(check, figure.measure, figure.category)
    if figure.value is None:
        return plain.unknown(Message("gate.no_figure_sentence", figure=figure), figure.undefined)
    details = {"figure": figure.value, "then": None, "since": None}
    reason = Message("gate.one_level_sentence", figure=figure)
    return replace(plain, passed=True, value=0.0, reason=reason, details=details)


def _fall_of_level(check: MaxDrop, figure: Standing, now: Present) -> CheckResult | None:
    """By how much a figure fell when the level of agreement changed last; None if it cannot say."""
    levels = now.level_of(figure.category)
    if levels is None:
        return None
    same = replace(check.figure, category=figure.category)
    sides = (gate_standings(level, same) for level in (levels.before, levels.now))
    before, since = (next(iter(found), None) for found in sides)
    if before is None or since is None or before.value is None or since.value is None:
        return None
    drop = before.value - since.value
    reason = Message(
        "gate.level_drop_sentence",
        figure=replace(since, since=levels.day),
        before=before.value,
        fell=drop if drop > ROUNDING else None,
        most=check.max_drop,
    )
    return replace(
        _plain(check, figure.measure, figure.category),
        details={
            "figure": since.value,
            "then": before.value,
            "since": None,
            "level_since": levels.day,
        },
        passed=drop <= check.max_drop + ROUNDING,
        value=drop,
        reason=reason,
    )


@dataclass
class Found:
    """Findings of some kinds; the numbers of flags that settle others.

    A finding has annotators, a kind, and the kinds asked for if that is none of them but explains
    them.
    """

    findings: list[tuple[tuple[str, ...], str, tuple[str, ...]]] = field(default_factory=list)
    settled: list[int] = field(default_factory=list)


def gate_findings_now(now: Present, kinds: Sequence[str]) -> Found:
    """The findings of these kinds, or of any for none, each once.

    A finding is of its kind, and of those that it explains.
    """
    names = now.audit.names
    once = {flag.key: flag for _, flag in now.audit.flagged(kinds)}
    found = Found()
    for flag in once.values():
        if kinds and not {flag.kind, *flag.also} & {*kinds}:
            continue
        if flag.key in now.audit.settled:
            found.settled.append(now.audit.settled[flag.key])
            continue
        who = (flag.annotator,) if flag.other is None else (flag.annotator, flag.other)
        people = tuple(sorted(names[one] for one in who))
        explained = () if flag.kind in kinds else tuple(k for k in kinds if k in flag.also)
        found.findings.append((people, flag.kind, explained))
    for finding in now.audit.definitions:
        if not finding.certain or (kinds and finding.kind not in kinds):
            continue
        if finding.key in now.audit.settled:
            found.settled.append(now.audit.settled[finding.key])
            continue
        category = None if finding.category is None else now.audit.categories[finding.category]
        about = category or str(finding.subject).replace("=", " ", 1)
        found.findings.append(((about,), finding.kind, ()))
    return found


def gate_kinds_not_applicable(now: Present, kinds: Sequence[str]) -> dict[str, str]:
    """The kinds that could not be looked for, and what they lack.

    Of any kind it is enough that some could be looked for: no project has all that all need.
    """
    lacking = now.audit.not_applicable
    if kinds:
        return {kind: lacking[kind] for kind in kinds if kind in lacking}
    return dict(lacking) if len(lacking) == len(KINDS) else {}
