"""Models beside people: over all, and category by category."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tracker.charts import draw_model_categories, draw_models
from tracker.render.cells import count_cell, figure_cell
from tracker.render.messages import report as words
from tracker.render.messages import report_figures as figures
from tracker.render.messages.agreement import left_out_of_people_sentence
from tracker.report.commands import command
from tracker.report.document import Block, Figure, Group, Paragraph, Table, Why, line
from tracker.report.gather import Gathered, OfQuestion
from tracker.report.sizes import NARROW, WIDE

_MOST_ROWS = 60


def model_blocks(found: Gathered) -> Iterator[Block]:
    """Return each model beside the human ceiling; nothing where no model met a person."""
    met = [one for one in found.questions if any(_met(row) for row in one.models)]
    title, blocks = "Models and the human ceiling", list[Block]()
    rows = [{"question": one.name, **row} for one in met for row in one.models if not one.numbers]
    if rows:
        blocks.append(_overall(found, title, rows))
    for one in met:
        of = words.of_question(one.name) if found.several else ""
        numbers = Paragraph(line(of, words.NO_SHARES_OF_NUMBERS))
        blocks += [numbers] if one.numbers else _of_question(found, one)
        findings = [flag["why"] for row in one.models for flag in row["findings"]]
        findings += [
            left_out_of_people_sentence(row) for row in one.models if row["left_out_of_people"]
        ]
        blocks += [Paragraph(line(of, why)) for why in findings]
    if blocks:
        yield Group(title, blocks)


def _met(row: Mapping[str, Any]) -> bool:
    return row["with_people"] is not None


def _overall(found: Gathered, title: str, rows: list[dict[str, Any]]) -> Figure:
    table = Table(
        title,
        [
            "model",
            "question",
            "with people",
            "95% interval",
            "people",
            "kappa with majority",
            "items",
        ],
        [
            [
                row["model"],
                row["question"],
                words.percent(row["with_people"]),
                _shares(row),
                words.percent(row["people"]),
                figure_cell(row["kappa_with_majority"]),
                count_cell(row["items"]),
            ]
            for row in rows
        ],
        frozenset(range(2, 7)),
    )
    return Figure(
        "models",
        figures.MODELS,
        draw_models(title, rows, width=WIDE),
        draw_models(title, rows, width=NARROW),
        table,
        _why(found, list(dict.fromkeys(row["question"] for row in rows)), figures.WHY_MODELS),
    )


def _of_question(found: Gathered, one: OfQuestion) -> Iterator[Block]:
    """Return each category of each model, the widest gap below the ceiling first."""
    rows = sorted(
        ({"model": model["model"], **row} for model in one.models for row in model["categories"]),
        key=lambda row: (row["people"] is None, row["with_people"] - (row["people"] or 0.0)),
    )
    if not rows or one.confusions is None:  # spans and numbers have no categories to compare
        return
    title = f"Models on each category of {one.name}" if found.several else figures.ON_CATEGORIES
    figure = Figure(
        f"models-{found.questions.index(one)}",
        figures.MODEL_CATEGORIES,
        draw_model_categories(title, rows, width=WIDE),
        draw_model_categories(title, rows, width=NARROW),
        _table(title, rows),
        _why(found, [one.name], figures.WHY_MODEL_CATEGORIES),
    )
    yield Group(title, [figure], found.questions.index(one) > 0)


def _table(title: str, rows: list[dict[str, Any]]) -> Table:
    return Table(
        title,
        ["category", "model", "with people", "95% interval", "pairs", "people", "pairs of people"],
        [
            [
                row["category"],
                row["model"],
                words.percent(row["with_people"]),
                _shares(row),
                f"{row['agreements']:,} / {row['potential_agreements']:,}",
                words.percent(row["people"]) if row["people"] is not None else _no_ceiling(row),
                "-"
                if row["people"] is None
                else f"{row['people_agreements']:,} / {row['people_potential']:,}",
            ]
            for row in rows[:_MOST_ROWS]
        ],
        frozenset(range(2, 7)),
        max(len(rows) - _MOST_ROWS, 0),
    )


def _no_ceiling(row: Mapping[str, Any]) -> str:
    return words.SUPPRESSED if row["people_potential"] else figures.NO_CEILING


def _why(found: Gathered, questions: Sequence[str], lines: Sequence[str]) -> Why:
    first, *also = [
        command(found, "agreement", "--by", "model", question=name) for name in questions
    ]
    return Why([line(text) for text in lines], first, also)


def _shares(row: Mapping[str, Any]) -> str:
    if row["low"] is None:
        return "-"
    return f"{words.percent(row['low'])} to {words.percent(row['high'])}"
