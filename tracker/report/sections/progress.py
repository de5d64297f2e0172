"""Coverage, pace, and who and what is next."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import Any

from tracker.render.cells import count_cell
from tracker.render.messages import report_people as people
from tracker.render.messages.findings import is_accusation
from tracker.render.messages.report import percent
from tracker.report.commands import command, python_call
from tracker.report.document import (
    Block,
    Code,
    Fact,
    Facts,
    Group,
    Paragraph,
    Section,
    Table,
    Why,
    line,
)
from tracker.report.gather import Gathered, OfQuestion
from tracker.report.sections.each import each_question


def progress_section(found: Gathered) -> Section:
    """Return how far each question is."""
    code = python_call(found, "status_by_question", moment=True)
    return Section("progress", "Progress", each_question(found, _of), code)


def _wanted(told: Mapping[str, Any]) -> list[Fact]:
    """Return how far the wanted answers are there; nothing if no number of them is wanted."""
    if told["coverage"] is None:
        return []
    return [
        Fact("Complete", percent(told["coverage"]), f"{told['items_complete']:,} items"),
        Fact("Missing", count_cell(told["answers_missing"]), "answers"),
    ]


def _recorded(found: Gathered, one: OfQuestion) -> int:
    """Return how many findings about a question are recorded, whatever became of them."""
    return sum(flag.get("question", one.name) == one.name for flag in found.flags)


def _stands_out(one: OfQuestion) -> bool:
    rows = one.audit["annotators"]
    return any(is_accusation(flag) for row in rows for flag in row["flags"])


def _findings(found: Gathered, one: OfQuestion) -> Fact:
    """Return how many findings wait for somebody; unknown if none was ever recorded."""
    recorded = _recorded(found, one)
    if not recorded:
        return Fact("Open findings", "-", "none recorded")
    return Fact("Open findings", count_cell(one.status["open_flags"]), f"of {recorded:,} recorded")


def _of(found: Gathered, one: OfQuestion) -> Iterator[Block]:
    told = one.status
    yield Facts(
        [
            *_wanted(told),
            Fact("Unanswered", count_cell(told["items_unanswered"]), "items"),
            _findings(found, one),
            Fact("Annotators", count_cell(told["annotators"])),
        ]
    )
    if not _recorded(found, one) and _stands_out(one):
        record = shlex.join(["tracker", "audit", found.asked.project, "--record"])
        yield Paragraph(line(people.NOT_RECORDED, Code(record)))
    yield Paragraph(line(people.coverage(told)))
    yield Paragraph(line(people.pace(told)))
    if told["last_import"] is not None:
        yield Paragraph(line(people.last_import(told["last_import"])))
    least = [
        (row["annotator"], row["answers"])
        for row in sorted(one.audit["annotators"], key=lambda row: row["answers"])
        if row["annotator"] not in told["annotators_gone"]
    ]
    short = one.short["items"]
    if short and least:
        yield Paragraph(line(people.who_is_next(least)))
    if short:
        yield Group(
            people.short_items(short),
            [
                Table(
                    people.short_items(short),
                    ["item", "answers"],
                    [[name, count_cell(answers)] for name, answers in short],
                    frozenset({1}),
                )
            ],
            True,
        )
    yield Why([line(people.WHY_PROGRESS)], command(found, "status", question=one.name, moment=True))
