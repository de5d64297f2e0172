"""Each check held against the project as it is now."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from sqlalchemy import Connection

from tracker.audit.kinds import KINDS
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
from tracker.gate.context import AuditsNow, Present
from tracker.gate.figure_checks import (
    ROUNDING,
    figure_check_results,
    gate_check_name,
    gate_findings_now,
    gate_kinds_not_applicable,
)
from tracker.gate.result import CheckResult, GateResult
from tracker.gate.toml_table import refused_toml_table
from tracker.projects.categories import category_names
from tracker.projects.lookup import near_names
from tracker.projects.question import QuestionInfo, list_questions
from tracker.queries import EVERYTHING, AnswerFilter
from tracker.verdict import project_verdict


def judge_gate(
    connection: Connection,
    questions: Sequence[QuestionInfo],
    config: GateConfig,
    choice: AnswerFilter = EVERYTHING,
    *,
    with_verdict: bool = False,
) -> GateResult:
    """Return what becomes of every check, of the question that it names or of each of these.

    If asked for, the verdict on the project is there, too: it takes an audit.

    Raises Refused where the file does not fit the project, NotFound for a snapshot or an
    annotator that is not there, InvalidOption for a choice of answers that does not fit.
    """
    every = list_questions(connection, questions[0].project)
    names = {one.name: {*category_names(connection, one).values()} for one in every}
    for check in config.checks:
        if check.question is not None and check.question not in names:
            mend = near_names(check.question, names) or f"it has: {', '.join(names)}"
            message = f"{questions[0].project.name!r} has no question {check.question!r}"
            raise refused_toml_table(config.source, check.place, message, mend, key="question")
    audits = AuditsNow(connection, questions, choice)
    seen = []
    for question in questions:
        places = [n for n, check in enumerate(config.checks) if _is_of(check, question.name, names)]
        asked = replace(config, checks=tuple(config.checks[n] for n in places))
        now = Present(connection, question, asked, choice, audits)
        _ = now.snapshots  # one that is not there is told before anything is counted
        seen.append((places, now))
    found: dict[int, list[CheckResult]] = {n: [] for n in range(len(config.checks))}
    for places, now in seen:
        told = now.question.name if len(every) > 1 else None
        for place, check in zip(places, now.config.checks, strict=True):
            found[place] += (replace(one, question=told) for one in _results(check, now))
    results = tuple(result for of_check in found.values() for result in of_check)
    project = questions[0].project.name
    result = GateResult(project, config.source, results, seen[0][1].selection)
    if not with_verdict:
        return result
    verdict = project_verdict(connection, questions, choice, list(audits.by_question.values()))
    return replace(result, verdict=tuple(concern.to_dict(project) for concern in verdict.concerns))


def _is_of(check: Check, question: str, names: Mapping[str, Collection[str]]) -> bool:
    """Return whether a check is of a question, by the names of the categories of each.

    One that names no question but a category is of the questions that have it; if none does, it
    is of all, and refused.
    """
    if check.question is not None:
        return check.question == question
    category = check.figure.category if isinstance(check, AtLeast | MaxDrop) else None
    having = {name for name, known in names.items() if category in known}
    return not having or question in having


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
    who = sorted({name for names, kind, _ in found.findings if kind in KINDS for name in names})
    result = CheckResult(
        gate_check_name(check),
        "flags",
        not found.findings,
        Message("gate.flags_sentence", findings=found.findings, settled=found.settled),
        check.place.line,
        threshold=0,
        value=len(who) or len(found.findings),
        details={"flags": list(check.kinds), "annotators": who, "settled": found.settled},
    )
    if not found.findings and lacking:
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
