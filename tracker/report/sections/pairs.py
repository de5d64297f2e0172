"""Each two annotators: the heat map, and the pairs that agree least."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tracker.charts import draw_pairs, pair_rows
from tracker.render.cells import count_cell, figure_cell, interval_cell
from tracker.render.messages import report as words
from tracker.render.messages import report_figures as figures
from tracker.report.commands import command, python_call
from tracker.report.document import Block, Figure, Paragraph, Section, Table, Why, line
from tracker.report.gather import Gathered, OfQuestion
from tracker.report.sections.each import each_question

_MOST = 40  # pairs of a table


def pairs_section(found: Gathered) -> Section:
    """Return who agrees with whom, question by question."""
    code = python_call(found, "by_pair", one=True, weights=found.questions[0].weights)
    return Section("pairs", "Who agrees with whom", each_question(found, _of), code)


def _of(found: Gathered, one: OfQuestion) -> Iterator[Block]:
    if not one.pairs:
        yield Paragraph(line(figures.NO_PAIRS))
        return
    weighted = ["--weights", one.weights] if one.weights else []
    shown = command(found, "agreement", "--by", "pair", *weighted, question=one.name)
    if one.settings["answers"] == "spans":
        yield Paragraph(line(figures.PAIRS_OF_SPANS))
        yield _spans(one)
        yield Why([line(figures.formula("span_f1_exact"))], shown)
        return
    title = "Each two annotators"
    yield Figure(
        f"pairs-{found.questions.index(one)}",
        figures.PAIRS_IN_ORDER if one.weights else figures.PAIRS,
        draw_pairs(title, pair_rows({"pairs": one.pairs})),
        None,
        _table(title, one),
        Why([line(text) for text in _why(one)], shown),
    )


def _why(one: OfQuestion) -> tuple[str, ...]:
    return (*figures.WHY_PAIRS, figures.WHY_WEIGHTS) if one.weights else figures.WHY_PAIRS


def _table(title: str, one: OfQuestion) -> Table:
    def place(row: Mapping[str, Any]) -> tuple[bool, float]:
        return row["cohen_kappa"] is None, row["cohen_kappa"] or 0.0

    rows = sorted(one.pairs, key=place)
    return Table(
        title,
        ["annotators", "kappa", "95% interval", "observed", "expected", "items"],
        [
            [
                " / ".join(row["annotators"]),
                figure_cell(row["cohen_kappa"])
                if row["cohen_kappa"] is not None
                else words.reason({"measure": "cohen_kappa", **row}),
                interval_cell(row["ci_low"], row["ci_high"]),
                figure_cell(row["observed"]),
                figure_cell(row["expected"]),
                count_cell(row["items"]),
            ]
            for row in rows[:_MOST]
        ],
        frozenset(range(1, 6)),
        max(len(rows) - _MOST, 0),
    )


def _spans(one: OfQuestion) -> Table:
    def exact(row: Mapping[str, Any]) -> float | None:
        value: float | None = row["span_f1_exact"]["value"]
        return value

    rows = sorted(one.pairs, key=lambda row: (exact(row) is None, exact(row) or 0.0))
    return Table(
        "Each two annotators",
        ["annotators", "exact F1"],
        [[" / ".join(row["annotators"]), figure_cell(exact(row))] for row in rows[:_MOST]],
        frozenset({1}),
        max(len(rows) - _MOST, 0),
    )
