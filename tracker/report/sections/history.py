"""The curve of each question, with what happened on it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tracker.charts import draw_history, history_rows
from tracker.measures.registry import MEASURES
from tracker.render.cells import count_cell, figure_cell, interval_cell, minute_cell
from tracker.render.messages import report as words
from tracker.render.messages import report_figures as figures
from tracker.report.commands import command, python_call
from tracker.report.document import Block, Code, Figure, Paragraph, Section, Table, Why, line
from tracker.report.gather import Gathered, OfQuestion
from tracker.report.sections.each import each_question
from tracker.report.sizes import NARROW, WIDE

_MOST = 20  # events on a curve


def history_section(found: Gathered) -> Section:
    """Return the curve of each question, the weakest first."""
    code = python_call(found, "history_by_question", every=found.questions[0].every)
    return Section("history", "Over time", each_question(found, _of), code)


def _of(found: Gathered, one: OfQuestion) -> Iterator[Block]:
    measure = one.agreement["main"]
    rows = history_rows(one.history, measure)
    if len(rows) < 2:
        yield Paragraph(line(_no_curve(found, one)))
        yield Paragraph(line(Code(shlex.join(["tracker", "snapshot", found.asked.project]))))
        return
    title = MEASURES[measure].title
    events = _events(found, one, rows)
    numbers = [{"at": event["at"], "text": str(n)} for n, event in enumerate(events, 1)]
    every = ["--every", one.every] if one.every else []
    yield Figure(
        f"history-{found.questions.index(one)}",
        figures.points_shown(len(rows), one.every, title, events=bool(events)),
        draw_history(title, rows, numbers, width=WIDE),
        draw_history(title, rows, numbers, width=NARROW),
        _points(title, rows),
        Why(
            [
                line(figures.WHY_CURVE["rebuilt" if one.every else None]),
                line(figures.formula(measure)),
            ],
            command(found, "history", *every, "--measure", measure, "--json", question=one.name),
        ),
    )
    if events:
        yield Table(
            "What happened",
            ["", "when", "what"],
            [[str(n), minute_cell(row["at"]), row["text"]] for n, row in enumerate(events, 1)],
        )


def _no_curve(found: Gathered, one: OfQuestion) -> str:
    """Return why there is no curve, and how to have one."""
    chosen = found.asked.chosen
    if one.settings["answers"] == "spans":
        return figures.NO_CURVE_OF_SPANS_CHOSEN if chosen else figures.NO_CURVE_OF_SPANS
    return figures.NO_CURVE_CHOSEN if chosen else figures.NO_CURVE


def _points(title: str, rows: Sequence[Mapping[str, Any]]) -> Table:
    return Table(
        title,
        ["as of", "snapshot", "value", "95% interval", "items", "so far"],
        [
            [
                minute_cell(row["as_of"]),
                "" if row["snapshot"] is None else str(row["snapshot"]),
                figure_cell(row["value"]) if row["value"] is not None else words.reason(row),
                interval_cell(row["ci_low"], row["ci_high"]),
                count_cell(row["items"]),
                figure_cell(row["so_far"]),
            ]
            for row in rows
        ],
        frozenset({2, 3, 4, 5}),
    )


def _events(
    found: Gathered, one: OfQuestion, rows: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return what happened while the curve was drawn, oldest first; of very much, the last."""
    first, last = rows[0]["as_of"][:10], rows[-1]["as_of"]
    events = [{"at": note["at"], "text": figures.event_note(note)} for note in found.notes]
    events += [
        {"at": flag["found_at"], "text": figures.event_finding(flag)}
        for flag in found.flags
        if flag.get("question", one.name) == one.name
    ]
    within = (event for event in events if first <= event["at"] <= last)
    return sorted(within, key=lambda event: (event["at"], event["text"]))[-_MOST:]
