"""The digest: what came in lately, what moved, whom to talk to, what to decide and to label."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tracker.core import clock
from tracker.core.errors import InvalidOption, TrackerError
from tracker.core.results import Record
from tracker.ledger.agreement import AgreementQuestions, Pages
from tracker.ledger.audits import Audits
from tracker.ledger.namespaces import Records
from tracker.ledger.reports import Reports

_SURE = 0.05
_MOST = 5  # names of a line


@dataclass(frozen=True)
class CategoryMoved(Record):
    """A category whose rate differs from that before by more than chance, among all of them."""

    category: str
    before: float
    after: float
    q_value: float


@dataclass(frozen=True)
class QuestionDigest(Record):
    """What became of a question.

    Attributes:
        question: its name.
        measure: its main figure.
        items: those answered since.
        answers: those given since.
        annotators: who gave them, their number.
        before: the figure of all answers before.
        after: that of the answers since.
        ci_low: of the difference.
        ci_high: likewise.
        p_value: that it is chance, on other items.
        p_value_annotators: likewise, on items answered by other people.
        moved: whether it is not; None if nothing says so.
        undefined: why nothing does.
        categories: whose rates moved.
        wanted: answers that each item should get.
        missing: answers still to come; None if no number is wanted.
        ready_on: the day on which they are there at the pace of now.
    """

    question: str
    measure: str
    items: int
    answers: int
    annotators: int
    before: float | None
    after: float | None
    ci_low: float | None
    ci_high: float | None
    p_value: float | None
    p_value_annotators: float | None
    moved: bool | None
    undefined: str | None
    categories: Sequence[CategoryMoved]
    wanted: int | None
    missing: int | None
    ready_on: str | None


@dataclass(frozen=True)
class Digest(Record):
    """What a manager should know of the time since a moment.

    Attributes:
        project: its name.
        since: the moment.
        until: now.
        questions: the weakest first.
        concerns: what is plainly wrong, as `Ledger.verdict` has it.
        new_findings: recorded since, as JSON.
        open_findings: how many wait for somebody.
        appeals: findings whose annotators wait for an answer, as JSON.
        goals: how far they are, as JSON.
    """

    project: str
    since: str
    until: str
    questions: Sequence[QuestionDigest]
    concerns: Sequence[Mapping[str, Any]]
    new_findings: Sequence[Mapping[str, Any]]
    open_findings: int
    appeals: Sequence[Mapping[str, Any]]
    goals: Sequence[Mapping[str, Any]]


class Digesting(AgreementQuestions, Audits, Reports, Pages, Records):
    """The method that puts together what a manager should know."""

    def digest(self, project: str, since: str = "7d", questions: Sequence[str] = ()) -> Digest:
        """Return the digest of a project, or of some of its questions, since a moment.

        Raises NotFound, and InvalidOption for a moment that is none or is to come.
        """
        return _digest(self, project, since, questions)


def _digest(ledger: Digesting, project: str, since: str, questions: Sequence[str]) -> Digest:
    from tracker.counts.filter import make_answer_filter

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
        )  # fmt: skip


def _of_question(
    ledger: Digesting, project: str, name: str, measure: str, since: str, status: Any
) -> QuestionDigest:
    from tracker.audit.statistics.exact_tests import benjamini_hochberg

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
    )


# -- In words -------------------------------------------------------------------------------------


class Part(NamedTuple):
    """A part of a digest: its heading and its sentences."""

    title: str
    lines: Sequence[str]


def digest_parts(digest: Digest) -> list[Part]:
    """Return a digest in words, in the order in which somebody acts on it."""
    several = len(digest.questions) > 1
    return [
        Part("What came in", [_came(one, several=several) for one in digest.questions]),
        Part("What moved", [*_moved(digest, several=several)] or ["No answer came in."]),
        Part("Whom to talk to, and what is wrong", [row["why"] for row in digest.concerns]
             or ["Nothing is plainly wrong."]),
        Part("What to decide", [*_to_decide(digest)]),
        Part("What to label", [*_to_label(digest, several=several)]),
    ]  # fmt: skip


def digest_view(digest: Digest) -> Iterator[Any]:
    """Yield a digest: a heading and its sentences, part by part."""
    from tracker.render.cells import Text, minute_cell
    from tracker.render.nouns import capitalized

    yield Text(f"{digest.project} since {minute_cell(digest.since)}", style="bold")
    for part in digest_parts(digest):
        yield Text(f"\n{part.title}", style="bold")
        yield from (Text(capitalized(line)) for line in part.lines)


def _about(question: QuestionDigest, *, several: bool) -> str:
    return f"{question.question}: " if several else ""


def _came(question: QuestionDigest, *, several: bool) -> str:
    from tracker.render.nouns import count_noun

    if not question.answers:
        return f"{_about(question, several=several)}no answer."
    return (
        f"{_about(question, several=several)}{count_noun(question.answers, 'answer')} to "
        f"{count_noun(question.items, 'item')} by {count_noun(question.annotators, 'annotator')}."
    )


def _moved(digest: Digest, *, several: bool) -> Iterator[str]:
    from tracker.measures.words import measure_title_words
    from tracker.render.cells import figure_cell

    for question in digest.questions:
        about, title = _about(question, several=several), measure_title_words(question.measure)
        if not question.answers:
            continue
        if question.moved is None:
            yield f"{about}nothing says whether {title} moved. {question.undefined}"
            continue
        figures = (
            f"{title} was {figure_cell(question.before)} before and is "
            f"{figure_cell(question.after)} since"
        )
        if question.moved:
            yield f"{about}{figures}, more than chance explains (p = {question.p_value:.2g})."
        else:
            yield f"{about}{figures}, within chance (p = {question.p_value:.2g})."
        for row in question.categories:
            yield (
                f"{about}the rate of “{row.category}” went from {figure_cell(row.before)} to "
                f"{figure_cell(row.after)} (q = {row.q_value:.2g})."
            )


def _to_decide(digest: Digest) -> Iterator[str]:
    from tracker.render.nouns import count_noun, listed

    new = [f"{flag['flag']} ({_subject(flag)})" for flag in digest.new_findings]
    if digest.open_findings:
        since = f", new since then: {listed(new, _MOST)}" if new else ", none of them new"
        yield f"{count_noun(digest.open_findings, 'finding')} to work on{since}."
    for flag in digest.appeals:
        yield f"{flag['annotator']} appealed against finding {flag['flag']}."
    if not digest.open_findings:
        yield "No finding waits for anybody."


def _subject(flag: Mapping[str, Any]) -> str:
    kind = flag["kind"].replace("_", " ")
    return f"{kind}, {flag['annotator']}" if flag["annotator"] else kind


def _to_label(digest: Digest, *, several: bool) -> Iterator[str]:
    from tracker.render.nouns import count_noun

    yield from (goal["why"] for goal in digest.goals)
    for question in digest.questions:
        about = _about(question, several=several)
        if question.missing:
            until = f", there on {question.ready_on}" if question.ready_on else ""
            missing = count_noun(question.missing, "answer")
            yield f"{about}{missing} of those wanted still to come{until}."
        elif question.wanted:
            yield f"{about}every item has the {question.wanted} answers wanted."
    if not digest.goals and not any(question.wanted for question in digest.questions):
        yield f"No goal is set: tracker project set {digest.project} --goal 'alpha +-0.05'"
