"""The curve of each question, with what happened on it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from tracker.audit.sentences import is_accusation
from tracker.history.columns import POINTS
from tracker.measures.registry import MEASURES
from tracker.render.blocks import Column
from tracker.render.cells import count_cell
from tracker.render.nouns import of_question, percent
from tracker.report import people_words as people
from tracker.report import words
from tracker.report.agreement import each_question
from tracker.report.curves import (
    Course,
    Event,
    Rows,
    curve_charts,
    draw_histories,
    event_days,
    event_of_note,
    events_within,
    history_rows,
    joined_histories,
    known_points,
)
from tracker.report.document import (
    Block,
    Code,
    Fact,
    Facts,
    Figure,
    Group,
    Paragraph,
    Section,
    Why,
    line,
    listing,
)
from tracker.report.gather import command, python_call
from tracker.report.gathered import Gathered, OfQuestion

_MOST = 20  # days of a table
_ACROSS = 2  # curves beside each other in a picture
_POINTS: Final = (Column("question", rare=True), *POINTS)
_EVENTS: Final = (Column("day", "when", "day"), Column("text", "what"))
_SHORT_ITEMS: Final = (Column("item"), Column("answers", kind="count"))


def history_section(gathered: Gathered, *, broad: bool = False) -> Section:
    """Return the curves; ``broad`` if the page may be broader than a report's."""
    code = python_call(gathered, "history_by_question", every=gathered.questions[0].every)
    return Section("history", "Over time", [*_curves(gathered, broad=broad)], code)


class _Curve(NamedTuple):
    question: OfQuestion
    rows: list[dict[str, Any]]
    events: list[Event]

    @property
    def measure(self) -> str:
        measure: str = self.question.agreement["main"]
        return measure

    @property
    def course(self) -> Course:
        days = event_days(self.events)
        return Course(self.question.name, self.rows, days, self.question.thresholds)


def _curves(gathered: Gathered, *, broad: bool) -> Iterator[Block]:
    curves = []
    for question in gathered.questions:
        rows = history_rows(question.history, question.agreement["main"])
        known = known_points(rows)
        if len(rows) > 1 and known:
            curves.append(_Curve(question, rows, _events(gathered, question, rows)))
            continue
        of = of_question(question.name) if gathered.several else ""
        if not question.agreement["counts"]["items_compared"]:
            yield Paragraph(line(of, words.NO_CURVE_WITHOUT_OVERLAP))
            continue
        yield Paragraph(line(of, _no_curve(gathered, question)))
        yield Paragraph(line(Code(shlex.join(["tracker", "snapshot", gathered.asked.project]))))
    if curves:
        yield _figure(gathered, curves, broad=broad)
    days = event_days({event for curve in curves for event in curve.events})
    if days:
        rows = [{"day": day.at, "text": day.text} for day in reversed(days)]
        yield listing("What happened, the last first", _EVENTS, rows, _MOST)


def _figure(gathered: Gathered, curves: Sequence[_Curve], *, broad: bool) -> Figure:
    measures = list(dict.fromkeys(curve.measure for curve in curves))
    title = " and ".join(MEASURES[measure].title for measure in measures)
    points = {curve.question.every: len(curve.rows) for curve in curves}
    events = any(curve.events for curve in curves)
    rows = [
        {"question": curve.question.name if gathered.several else None, **row}
        for curve in curves
        for row in curve.rows
    ]
    why = [words.WHY_CURVE["rebuilt" if every else None] for every in points]
    why += [words.formula(measure) for measure in measures]
    first, *also = [_command(gathered, curve) for curve in curves]
    charts: dict[str, Any] = {"narrow": None}
    if len(curves) > 1:
        charts["panels"] = draw_histories([curve.course for curve in curves])
        charts["chart"] = joined_histories(title, charts["panels"], across=_ACROSS)
    else:
        charts |= curve_charts(curves[0].course._replace(name=title), broad=broad)
    return Figure(
        name="history",
        caption=words.points_shown(title, points, questions=len(curves), events=events),
        rows=listing(title, _POINTS, rows),
        why=Why([line(text) for text in dict.fromkeys(why)], first, also),
        **charts,
    )


def _command(gathered: Gathered, curve: _Curve) -> str:
    every = ["--every", curve.question.every] if curve.question.every else []
    asked = [*every, "--measure", curve.measure, "--json"]
    return command(gathered, "history", *asked, question=curve.question.name)


def _no_curve(gathered: Gathered, question: OfQuestion) -> str:
    chosen = gathered.asked.chosen
    if question.settings["answers"] == "spans":
        return words.NO_CURVE_OF_SPANS_CHOSEN if chosen else words.NO_CURVE_OF_SPANS
    return words.NO_CURVE_CHOSEN if chosen else words.NO_CURVE


def _events(gathered: Gathered, question: OfQuestion, rows: Rows) -> list[Event]:
    """Return what happened while the curve was drawn."""
    events = [event_of_note(note) for note in gathered.notes]
    of = f"{question.name}: " if gathered.several else ""
    events += [
        Event(flag["found_at"], of + words.event_finding(flag), "finding")
        for flag in gathered.flags
        if flag.get("question", question.name) == question.name
    ]
    return events_within(events, rows)


# -- Coverage, pace, and who and what is next -----------------------------------------------------


def progress_section(gathered: Gathered) -> Section:
    code = python_call(gathered, "status_by_question", moment=True)
    return Section("progress", "Progress", each_question(gathered, _progress_of_question), code)


def _wanted(payload: Mapping[str, Any]) -> list[Fact]:
    """Return how far the wanted answers are there; nothing if no number of them is wanted."""
    if payload["coverage"] is None:
        return []
    return [
        Fact("Complete", percent(payload["coverage"]), f"{payload['items_complete']:,} items"),
        Fact("Missing", count_cell(payload["answers_missing"]), "answers"),
    ]


def _recorded(gathered: Gathered, question: OfQuestion) -> int:
    """Return how many findings about a question are recorded, whatever became of them."""
    return sum(flag.get("question", question.name) == question.name for flag in gathered.flags)


def _stands_out(question: OfQuestion) -> bool:
    rows = question.audit["annotators"]
    return any(is_accusation(flag) for row in rows for flag in row["flags"])


def _findings(gathered: Gathered, question: OfQuestion) -> Fact:
    """Return how many findings wait for somebody; unknown if none was ever recorded."""
    recorded = _recorded(gathered, question)
    if not recorded:
        return Fact("Open findings", "-", "none recorded")
    return Fact(
        "Open findings", count_cell(question.status["open_flags"]), f"of {recorded:,} recorded"
    )


def _progress_of_question(gathered: Gathered, question: OfQuestion) -> Iterator[Block]:
    status = question.status
    yield Facts(
        [
            *_wanted(status),
            Fact("Unanswered", count_cell(status["items_unanswered"]), "items"),
            _findings(gathered, question),
            Fact("Annotators", count_cell(status["annotators"])),
        ]
    )
    if not _recorded(gathered, question) and _stands_out(question):
        record = shlex.join(["tracker", "audit", gathered.asked.project, "--record"])
        yield Paragraph(line(people.NOT_RECORDED, Code(record)))
    if status["goal"] is not None:
        yield Paragraph(line(status["goal"]["why"]))
    yield Paragraph(line(people.coverage(status)))
    yield Paragraph(line(people.pace(status)))
    if status["last_import"] is not None:
        yield Paragraph(line(people.last_import(status["last_import"])))
    away = {*status["annotators_gone"], *status.get("annotators_paused", ())}
    least = [
        (row["annotator"], row["answers"])
        for row in sorted(question.audit["annotators"], key=lambda row: row["answers"])
        if row["annotator"] not in away
    ]
    short = question.short["items"]
    if short and least:
        yield Paragraph(line(people.who_is_next(least)))
    if short:
        title = people.short_items(short)
        rows = [{"item": name, "answers": answers} for name, answers in short]
        yield Group(title, [listing(title, _SHORT_ITEMS, rows)], True)
    yield Why(
        [line(people.WHY_PROGRESS)],
        command(gathered, "status", question=question.name, moment=True),
    )
