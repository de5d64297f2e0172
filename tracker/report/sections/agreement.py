"""Agreement: each category of each question, models beside people, all coefficients."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tracker.charts import draw_categories
from tracker.measures.registry import MEASURES
from tracker.render.cells import count_cell, figure_cell, interval_cell
from tracker.render.messages import report as words
from tracker.render.messages import report_figures as figures
from tracker.report.commands import command, python_call
from tracker.report.document import Block, Figure, Group, Paragraph, Section, Table, Why, line
from tracker.report.gather import Gathered, OfQuestion
from tracker.report.sections.models import model_blocks
from tracker.report.sizes import NARROW, WIDE

_MOST_ROWS = 60


def agreement_section(found: Gathered) -> Section:
    """Return the agreement on each category, with the human ceiling beside each model."""
    blocks = [*_categories(found), *model_blocks(found), *_all(found)]
    code = python_call(found, "agreement_by_question")
    return Section("agreement", "Agreement", blocks, code)


def _categories(found: Gathered) -> Iterator[Block]:
    rows = [{"question": one.name, **row} for one in found.questions for row in one.categories]
    known = sorted((row for row in rows if row["rate"] is not None), key=lambda row: row["rate"])
    if not known:
        numbers = any(one.numbers for one in found.questions)
        yield Paragraph(line(words.NUMBERS if numbers else figures.NO_CATEGORIES))
        return
    title = "Agreement on each category"
    unknown = [row for row in rows if row["rate"] is None]
    yield Figure(
        "categories",
        figures.CATEGORIES,
        draw_categories(title, rows, width=WIDE),
        draw_categories(title, rows, width=NARROW),
        _rates(title, [*known, *unknown], several=found.several),
        _why(found, [one.name for one in found.questions if one.categories]),
    )


def _why(found: Gathered, questions: Sequence[str]) -> Why:
    first, *also = [command(found, "agreement", question=name) for name in questions]
    return Why([line(text) for text in figures.WHY_CATEGORIES], first, also)


def _rates(title: str, rows: list[dict[str, Any]], *, several: bool) -> Table:
    columns = ("category", "rate", "95% interval", "agreements", "potential")
    cells = [
        [
            *([row["question"]] if several else []),
            row["category"],
            figure_cell(row["rate"]) if row["rate"] is not None else words.reason(row),
            interval_cell(row["ci_low"], row["ci_high"]),
            count_cell(row["agreements"]),
            count_cell(row["potential_agreements"]),
        ]
        for row in rows[:_MOST_ROWS]
    ]
    first = 1 + several
    return Table(
        title,
        ["question", *columns] if several else columns,
        cells,
        frozenset(range(first, first + 4)),
        max(len(rows) - _MOST_ROWS, 0),
    )


def _all(found: Gathered) -> Iterator[Block]:
    for one in found.questions:
        title = figures.COEFFICIENTS
        yield Group(f"{title}: {one.name}" if found.several else title, [*_of(found, one)], True)


def _of(found: Gathered, one: OfQuestion) -> Iterator[Block]:
    rows = one.agreement["measures"]
    yield Table(
        figures.COEFFICIENTS,
        ["measure", "value", "95% interval", "items", "numbers"],
        [
            [
                MEASURES[row["measure"]].title,
                figure_cell(row["value"]),
                interval_cell(row["ci_low"], row["ci_high"]),
                count_cell(row["items"]),
                figures.numbered(row) if row["value"] is not None else words.reason(row),
            ]
            for row in rows
        ],
        frozenset({1, 2, 3}),
    )
    known = [row["measure"] for row in rows if row["value"] is not None]
    yield Why(
        [line(figures.formula(name)) for name in known],
        command(found, "agreement", question=one.name),
        [command(found, "agreement", "--explain", one.agreement["main"], question=one.name)],
    )
