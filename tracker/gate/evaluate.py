"""Each check held against the project as it is now."""

from __future__ import annotations

from collections.abc import Iterator

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
from tracker.gate.figure_checks import (
    ROUNDING,
    figure_check_results,
    gate_check_name,
    gate_findings_now,
    gate_kinds_not_applicable,
)
from tracker.gate.result import CheckResult, GateResult
from tracker.projects.question import QuestionInfo
from tracker.queries import EVERYTHING, AnswerFilter


def judge_gate(
    connection: Connection,
    question: QuestionInfo,
    config: GateConfig,
    choice: AnswerFilter = EVERYTHING,
) -> GateResult:
    """What becomes of every check.

    Raises Refused where the file does not fit the project, NotFound for a snapshot or an
    annotator that is not there, InvalidOption for a choice of answers that does not fit.
    """
    return judge_gate_now(Present(connection, question, config, choice))


def judge_gate_now(now: Present) -> GateResult:
    """The same of a project as it is seen."""
    _ = now.snapshots  # one that is not there is told before anything is counted
    results = tuple(result for check in now.config.checks for result in _results(check, now))
    return GateResult(now.question.project.name, now.config.source, results, now.selection)


def _results(check: Check, now: Present) -> Iterator[CheckResult]:
    match check:
        case AtLeast() | MaxDrop():
            yield from figure_check_results(check, now)
        case NoFlags():
            yield _of_flags(check, now)
        case ItemsAtLeast():
            yield _of_items(check, now)
        case OverlapAtLeast():
            yield _of_overlap(check, now)


def _of_flags(check: NoFlags, now: Present) -> CheckResult:
    found = gate_findings_now(now, check.kinds)
    lacking = gate_kinds_not_applicable(now, check.kinds)
    who = sorted({name for names, *_ in found.findings for name in names})
    result = CheckResult(
        gate_check_name(check),
        "flags",
        not who,
        Message("gate.flags_sentence", findings=found.findings, settled=found.settled),
        check.place.line,
        threshold=0,
        value=len(who),
        details={"flags": list(check.kinds), "annotators": who, "settled": found.settled},
    )
    if not who and lacking:
        reason = Message("gate.not_looked_for_sentence", needs=lacking, any_kind=not check.kinds)
        return result.unknown(reason, "not_applicable")
    return result


def _of_items(check: ItemsAtLeast, now: Present) -> CheckResult:
    items = now.assessment.counts.items_compared
    return CheckResult(
        gate_check_name(check),
        "items_at_least",
        items >= check.items,
        Message("gate.items_sentence", number=items, threshold=check.items),
        check.place.line,
        threshold=check.items,
        value=items,
    )


def _of_overlap(check: OverlapAtLeast, now: Present) -> CheckResult:
    counts = now.assessment.counts
    share = counts.items_compared / counts.items if counts.items else 0.0
    result = CheckResult(
        gate_check_name(check),
        "overlap_at_least",
        share >= check.share - ROUNDING,
        Message("gate.overlap_sentence", share=share, threshold=check.share),
        check.place.line,
        threshold=check.share,
        value=share,
    )
    if not counts.items:
        return result.unknown(Message("gate.no_answer_sentence"), "too_few_items")
    return result
