"""The digest: what came in lately, what moved, whom to talk to, what to decide and to label."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tracker.core.results import Record
from tracker.measures.words import measure_title_words
from tracker.render.cells import Text, figure_cell, minute_cell
from tracker.render.nouns import capitalized, count_noun, listed

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
        contested: items about which annotators differ, and that nobody decided.
        gaps: decisions that name a gap of the guideline, which no version of it closed.
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
    contested: int
    gaps: int


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
        paused: who was paused since, with the note, as JSON: the rule, if a rule did it.
        late: whose assignments are late, and how many, as JSON.
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
    paused: Sequence[Mapping[str, Any]]
    late: Sequence[Mapping[str, Any]]


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
        Part("Whom to talk to, and what is wrong", [*_wrong(digest)]),
        Part("What to decide", [*_to_decide(digest, several=several)]),
        Part("What to label", [*_to_label(digest, several=several)]),
    ]  # fmt: skip


def digest_headline(digest: Digest) -> str:
    """Return the one sentence that matters most: what is wrong, moved, waits, or came in."""
    several = len(digest.questions) > 1
    moved = any(question.moved for question in digest.questions)
    lines = [
        *(row["why"] for row in digest.concerns[:1]),
        *(line for line in _moved(digest, several=several) if moved and "more than" in line),
        *(_to_decide(digest, several=several) if digest.open_findings else ()),
        *(_came(question, several=several) for question in digest.questions),
    ]
    return capitalized(lines[0]).rstrip(".")


def digest_view(digest: Digest) -> Iterator[Any]:
    """Yield a digest: a heading and its sentences, part by part."""
    yield Text(f"{digest.project} since {minute_cell(digest.since)}", style="bold")
    for part in digest_parts(digest):
        yield Text(f"\n{part.title}", style="bold")
        yield from (Text(capitalized(line)) for line in part.lines)


def _about(question: QuestionDigest, *, several: bool) -> str:
    return f"{question.question}: " if several else ""


def _came(question: QuestionDigest, *, several: bool) -> str:
    if not question.answers:
        return f"{_about(question, several=several)}no answer."
    return (
        f"{_about(question, several=several)}{count_noun(question.answers, 'answer')} to "
        f"{count_noun(question.items, 'item')} by {count_noun(question.annotators, 'annotator')}."
    )


def _moved(digest: Digest, *, several: bool) -> Iterator[str]:
    for question in digest.questions:
        about, title = _about(question, several=several), measure_title_words(question.measure)
        if not question.answers:
            continue
        if question.moved is None:
            unknown = f"nothing says whether {title} moved. {question.undefined}"
            if question.before is None:
                unknown = "there are no earlier answers to compare with."
            yield f"{about}{unknown}"
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


def _wrong(digest: Digest) -> Iterator[str]:
    accused = {row["names"][0] for row in digest.concerns if row["subject"] == "annotator"}
    notes = {person["annotator"]: person["note"] or "" for person in digest.paused}
    by_rule = {name for name, note in notes.items() if note.startswith("rule ")} & accused
    for row in digest.concerns:
        yield f"{row['why']} Paused." if by_rule.intersection(row["names"]) else row["why"]
    if not digest.concerns:
        yield "Nothing is plainly wrong."
    for name in sorted(notes.keys() - by_rule):
        yield f"{name} was paused{': ' * bool(notes[name])}{notes[name]}."


def _to_decide(digest: Digest, *, several: bool) -> Iterator[str]:
    new = [f"{flag['flag']} ({_subject(flag)})" for flag in digest.new_findings]
    if digest.open_findings:
        since = f", new since then: {listed(new, _MOST)}" if new else ", none of them new"
        yield f"{count_noun(digest.open_findings, 'finding')} to work on{since}."
    for flag in digest.appeals:
        yield f"{flag['annotator']} appealed against finding {flag['flag']}."
    if not digest.open_findings:
        yield "No finding waits for anybody."
    for question in digest.questions:
        about = _about(question, several=several)
        words = f"{shlex.quote(digest.project)}{_option(question) if several else ''}"
        if question.contested:
            items = count_noun(question.contested, "item")
            yield f"{about}{items} with answers that differ: tracker adjudicate list {words}"
        if question.gaps:
            gaps = count_noun(question.gaps, "gap")
            yield f"{about}{gaps} of the guideline to close: tracker adjudicate gaps {words}"


def _option(question: QuestionDigest) -> str:
    return f" --question {shlex.quote(question.question)}"


def _subject(flag: Mapping[str, Any]) -> str:
    kind = flag["kind"].replace("_", " ")
    return f"{kind}, {flag['annotator']}" if flag["annotator"] else kind


def _to_label(digest: Digest, *, several: bool) -> Iterator[str]:
    yield from (goal["why"] for goal in digest.goals)
    for question in digest.questions:
        about = _about(question, several=several)
        if question.missing:
            until = f", there on {question.ready_on}" if question.ready_on else ""
            missing = count_noun(question.missing, "answer")
            yield f"{about}{missing} of those wanted still to come{until}."
        elif question.wanted:
            yield f"{about}every item has the {question.wanted} answers wanted."
    if digest.late:
        people = listed([f"{row['annotator']} {row['late']:,}" for row in digest.late], _MOST)
        words = f"tracker assignments list {shlex.quote(digest.project)} --state late"
        yield f"Assigned and late: {people}; see: {words}"
    if not digest.goals and not any(question.wanted for question in digest.questions):
        words = f"tracker project set {shlex.quote(digest.project)}"
        yield f"No goal is set: {words} --goal 'alpha +-0.05'"
