"""Each check held against the project as it is now."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqlalchemy import Connection

from tracker.core.shown import Message
from tracker.gate.checks import (
    AtLeast,
    Check,
    GateConfig,
    ItemsAtLeast,
    MaxDrop,
    NoFlags,
    OverlapAtLeast,
)
from tracker.gate.context import Present
from tracker.gate.figure_checks import ROUNDING, figure_results
from tracker.gate.finding_checks import found_now, not_looked_for
from tracker.gate.result import CheckResult, GateResult
from tracker.gate.words import apart, name_of, sentence
from tracker.projects.project import ProjectInfo
from tracker.queries import EVERYTHING, AnswerFilter

__all__ = ["judge", "judged"]

_MOST_NAMES = 6


def judge(
    connection: Connection,
    project: ProjectInfo,
    config: GateConfig,
    choice: AnswerFilter = EVERYTHING,
) -> GateResult:
    """What becomes of every check.

    Raises Refused where the file does not fit the project, NotFound for a snapshot or an
    annotator that is not there, InvalidOption for a choice of answers that does not fit.
    """
    return judged(Present(connection, project, config, choice))


def judged(now: Present) -> GateResult:
    """The same of a project as it is seen."""
    _ = now.snapshots  # one that is not there is told before anything is counted
    results = tuple(result for check in now.config.checks for result in _results(check, now))
    return GateResult(now.project.name, now.config.source, results, now.selection)


def _results(check: Check, now: Present) -> Iterator[CheckResult]:
    match check:
        case AtLeast() | MaxDrop():
            yield from figure_results(check, now)
        case NoFlags():
            yield _of_flags(check, now)
        case ItemsAtLeast():
            yield _of_items(check, now)
        case OverlapAtLeast():
            yield _of_overlap(check, now)


def _of_flags(check: NoFlags, now: Present) -> CheckResult:
    found = found_now(now, check.kinds)
    lacking = not_looked_for(now, check.kinds)
    who = sorted({name for names, _ in found.findings for name in names})
    aside = f" (settled: flag {', '.join(map(str, found.settled))})" if found.settled else ""
    result = CheckResult(
        name_of(check),
        "flags",
        not who,
        sentence(f"the audit finds nobody{aside}"),
        check.place.line,
        threshold=0,
        value=len(who),
        details={"flags": list(check.kinds), "annotators": who, "settled": found.settled},
    )
    if who:
        told = [f"{kind} of {' and '.join(names)}" for names, kind in found.findings]
        more = f" and {len(told) - _MOST_NAMES:,} more" if len(told) > _MOST_NAMES else ""
        why = f"the audit finds {', '.join(told[:_MOST_NAMES])}{more}{aside}"
        return replace(result, why=sentence(why))
    if lacking:
        reasons = {kind: Message("findings.lacking", need=need) for kind, need in lacking.items()}
        kinds = ", ".join(f"{kind} ({reason})" for kind, reason in reasons.items())
        why = f"not looked for: {kinds}" if check.kinds else "no kind of finding can be looked for"
        return result.unknown(sentence(why), "not_applicable")
    return result


def _of_items(check: ItemsAtLeast, now: Present) -> CheckResult:
    items = now.assessment.counts.items_compared
    return CheckResult(
        name_of(check),
        "items_at_least",
        items >= check.items,
        f"Items with two answers or more: {items:,}, and {check.items:,} are asked for.",
        check.place.line,
        threshold=check.items,
        value=items,
    )


def _of_overlap(check: OverlapAtLeast, now: Present) -> CheckResult:
    counts = now.assessment.counts
    share = counts.items_compared / counts.items if counts.items else 0.0
    shown, least = apart(share, check.share)
    why = f"{shown} of the items have two answers or more, and {least} is asked for"
    result = CheckResult(
        name_of(check),
        "overlap_at_least",
        share >= check.share - ROUNDING,
        sentence(why),
        check.place.line,
        threshold=check.share,
        value=share,
    )
    return result if counts.items else result.unknown("No item has an answer.", "too_few_items")
