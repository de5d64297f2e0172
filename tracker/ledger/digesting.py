"""What a digest is put together from; its words are in `tracker.plan.digest`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tracker.core import clock
from tracker.core.errors import InvalidOption, TrackerError
from tracker.ledger.agreement import AgreementQuestions, Pages
from tracker.ledger.audits import Audits
from tracker.ledger.namespaces import Records
from tracker.ledger.reports import Reports

if TYPE_CHECKING:
    from tracker.plan.digest import CategoryMoved, Digest, QuestionDigest

_SURE = 0.05


class Digesting(AgreementQuestions, Audits, Reports, Pages, Records):
    """The method that puts together what a manager should know."""

    def digest(self, project: str, since: str = "7d", questions: Sequence[str] = ()) -> Digest:
        """Return the digest of a project, or of some of its questions, since a moment.

        Raises NotFound, and InvalidOption for a moment that is none or is to come.
        """
        return _digest(self, project, since, questions)


def _digest(ledger: Digesting, project: str, since: str, questions: Sequence[str]) -> Digest:
    from tracker.counts.filter import make_answer_filter
    from tracker.plan.digest import Digest
    from tracker.projects.annotators import list_annotators

    begin = make_answer_filter(since=since).since
    if begin is None or begin > clock.now():
        raise InvalidOption(
            f"--since {since!r} is no moment of the past", "such as: 7d, 2026-03-01"
        )
    with ledger.one_state():
        agreement = ledger.agreement_by_question(project, questions=questions)
        statuses = {
            status.question.name: status
            for status in ledger.status_by_question(project, questions=questions)
        }
        verdict = ledger.verdict(project, questions=questions)
        flags = [
            flag.to_dict()
            for flag in ledger.flags.list(project, states=["all"], questions=questions).flags
        ]
        with ledger.reading(project) as (connection, info):
            people = list_annotators(connection, info)
        waiting = [flag for flag in flags if flag["state"] in {"open", "acknowledged"}]
        return Digest(
            agreement.project,
            clock.iso(begin),
            clock.iso(clock.now()),
            [
                _of_question(ledger, project, question.question.name, question.main.measure,
                             clock.iso(begin), statuses[question.question.name])
                for question in agreement.questions
            ],
            verdict["verdict"],
            [flag for flag in waiting if flag["found_at"] >= clock.iso(begin)],
            len(waiting),
            [flag for flag in waiting if flag.get("appeal") and not flag["appeal"].get("outcome")],
            [goal.to_dict() for goal in ledger.goals(project, questions=questions)],
            [
                {"annotator": person.name, "since": clock.iso(person.paused_since),
                 "note": person.paused_note}
                for person in people
                if person.paused_since is not None and person.paused_since >= begin
            ],
            [
                {"annotator": person.annotator, "late": person.late}
                for person in ledger.assignments.progress(project) if person.late
            ],
        )  # fmt: skip


def _of_question(
    ledger: Digesting, project: str, name: str, measure: str, since: str, status: Any
) -> QuestionDigest:
    from tracker.agreement.contested import count_contested
    from tracker.audit.statistics.exact_tests import benjamini_hochberg
    from tracker.counts.filter import select_answers
    from tracker.plan.digest import CategoryMoved, QuestionDigest
    from tracker.projects.decisions import count_open_gaps

    recent = ledger.agreement(project, question=name, since=since, measures=[measure])
    row: Mapping[str, Any] = {}
    categories: list[CategoryMoved] = []
    undefined = None
    try:
        compared = ledger.compare(project, f"..{since}", f"{since}..", question=name).to_dict()
    except TrackerError as error:
        undefined = error.message
    else:
        row = next(one for one in compared["measures"] if one["measure"] == measure)
        if row["p_value"] is None:
            undefined = row["why"]
        tested = [one for one in compared["categories"] if one["p_value"] is not None]
        q_values = benjamini_hochberg([one["p_value"] for one in tested])
        categories = [
            CategoryMoved(one["category"], one["a"], one["b"], q_value)
            for one, q_value in zip(tested, q_values, strict=True)
            if q_value < _SURE
        ]
    with ledger.asking(project, question=name) as (connection, question):
        contested, gaps = 0, count_open_gaps(connection, question)
        if question.answers != "spans":  # which are not decided one by one
            contested = count_contested(connection, select_answers(connection, question))
    p_value = row.get("p_value")
    ready = None if not status.missing else status.when_there(status.missing)
    return QuestionDigest(
        question=name,
        measure=measure,
        items=recent.counts.items,
        answers=recent.counts.answers,
        annotators=recent.counts.annotators,
        before=row.get("a"),
        after=row.get("b"),
        ci_low=row.get("ci_low"),
        ci_high=row.get("ci_high"),
        p_value=p_value,
        p_value_annotators=row.get("p_value_annotators"),
        moved=None if p_value is None else p_value < _SURE,
        undefined=undefined,
        categories=categories,
        wanted=status.question.target_answers,
        missing=status.missing,
        ready_on=None if ready is None else clock.iso(ready)[:10],
        contested=contested,
        gaps=gaps,
    )
