"""The curve of each question, with what happened on it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tracker.audit.sentences import is_accusation
from tracker.history.columns import POINTS
from tracker.measures.registry import MEASURES
from tracker.render.blocks import Column
from tracker.render.cells import count_cell
from tracker.render.nouns import percent
from tracker.report import people_words as people
from tracker.report import words
from tracker.report.agreement import each_question
from tracker.report.charts import draw_history, history_rows
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
from tracker.report.sizes import NARROW, WIDE

_MOST = 20  # events on a curve
_EVENTS: Final = (Column("number", ""), Column("at", "when", "minute"), Column("text", "what"))
_SHORT_ITEMS: Final = (Column("item"), Column("answers", kind="count"))


def history_section(gathered: Gathered) -> Section:
    code = python_call(gathered, "history_by_question", every=gathered.questions[0].every)
    return Section("history", "Over time", each_question(gathered, _history_of_question), code)


def _history_of_question(gathered: Gathered, question: OfQuestion) -> Iterator[Block]:
    measure = question.agreement["main"]
    rows = history_rows(question.history, measure)
    if len(rows) < 2:
        yield Paragraph(line(_no_curve(gathered, question)))
        yield Paragraph(line(Code(shlex.join(["tracker", "snapshot", gathered.asked.project]))))
        return
    title = MEASURES[measure].title
    events = _events(gathered, question, rows)
    numbers = [{"at": event["at"], "text": str(n)} for n, event in enumerate(events, 1)]
    every = ["--every", question.every] if question.every else []
    yield Figure(
        f"history-{gathered.questions.index(question)}",
        words.points_shown(len(rows), question.every, title, events=bool(events)),
        draw_history(title, rows, numbers, width=WIDE),
        draw_history(title, rows, numbers, width=NARROW),
        listing(title, POINTS, rows),
        Why(
            [
                line(words.WHY_CURVE["rebuilt" if question.every else None]),
                line(words.formula(measure)),
            ],
            command(
                gathered, "history", *every, "--measure", measure, "--json", question=question.name
            ),
        ),
    )
    if events:
        numbered = [{"number": n, **event} for n, event in enumerate(events, 1)]
        yield listing("What happened", _EVENTS, numbered)


def _no_curve(gathered: Gathered, question: OfQuestion) -> str:
    chosen = gathered.asked.chosen
    if question.settings["answers"] == "spans":
        return words.NO_CURVE_OF_SPANS_CHOSEN if chosen else words.NO_CURVE_OF_SPANS
    return words.NO_CURVE_CHOSEN if chosen else words.NO_CURVE


def _events(
    gathered: Gathered, question: OfQuestion, rows: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return what happened while the curve was drawn, oldest first; of very much, the last."""
    first, last = rows[0]["as_of"][:10], rows[-1]["as_of"]
    events = [{"at": note["at"], "text": words.event_note(note)} for note in gathered.notes]
    events += [
        {"at": flag["found_at"], "text": words.event_finding(flag)}
        for flag in gathered.flags
        if flag.get("question", question.name) == question.name
    ]
    within = (event for event in events if first <= event["at"] <= last)
    return sorted(within, key=lambda event: (event["at"], event["text"]))[-_MOST:]


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
    yield Paragraph(line(people.coverage(status)))
    yield Paragraph(line(people.pace(status)))
    if status["last_import"] is not None:
        yield Paragraph(line(people.last_import(status["last_import"])))
    least = [
        (row["annotator"], row["answers"])
        for row in sorted(question.audit["annotators"], key=lambda row: row["answers"])
        if row["annotator"] not in status["annotators_gone"]
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
