"""Models beside people, in the terminal and as flat rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from rich.console import RenderableType

from tracker.render.audit import finding_lines
from tracker.render.cells import Text, count_cell, figure_cell, interval_cell
from tracker.render.messages.agreement import left_out_of_people_sentence
from tracker.render.tables import table

NO_MODELS: Final = (
    "No model shares the question with people. Who is one: tracker annotator kind PROJECT NAME "
    "model"
)


def model_csv_rows(told: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return models as flat rows, each before its categories; its own row has no ``category``."""
    return [
        {"model": one["model"], **dict.fromkeys(_FLAT), **row}
        for one in told
        for row in (
            {key: value for key, value in one.items() if key not in _NESTED},
            *one["categories"],
        )
    ]


_NESTED: Final = {"categories", "findings", "left_out_of_people"}
_FLAT: Final = (
    "category", "items", "with_people", "low", "high", "people", "kappa_with_majority",
    "kappa_low", "kappa_high", "majority_items",
    "agreements", "potential_agreements", "people_agreements", "people_potential",
)  # fmt: skip


def models_view(told: Sequence[Mapping[str, Any]]) -> Iterator[RenderableType]:
    """Yield each model with the people, then each category of each."""
    if not told:
        yield Text(NO_MODELS)
        return
    overall = ("model", "items", "with people", "interval", "people", "kappa with majority",
               "interval", "items")  # fmt: skip
    yield table(overall, [_overall(one) for one in told])
    rows = [_category(one["model"], row) for one in told for row in one["categories"]]
    if rows:
        columns = ("category", "model", "with people", "interval", "pairs", "people",
                   "pairs of people")  # fmt: skip
        yield table(columns, rows, names=2)
    for one in told:
        for flag in one["findings"]:
            yield from finding_lines(one["model"], flag)
        if one["left_out_of_people"]:
            yield Text(left_out_of_people_sentence(one), style="yellow")
    yield Text(
        "People: how often two of them gave the same answer on the model's items. "
        "Kappa: with what most people gave, on the items on which one answer was given most.",
        style="dim",
    )


def _overall(one: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        one["model"],
        count_cell(one["items"]),
        figure_cell(one["with_people"]),
        interval_cell(one["low"], one["high"]),
        figure_cell(one["people"]),
        figure_cell(one["kappa_with_majority"]),
        interval_cell(one["kappa_low"], one["kappa_high"]),
        count_cell(one["majority_items"]),
    )


def _category(model: str, row: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        row["category"],
        model,
        figure_cell(row["with_people"]),
        interval_cell(row["low"], row["high"]),
        f"{row['agreements']:,} / {row['potential_agreements']:,}",
        figure_cell(row["people"]),
        f"{row['people_agreements']:,} / {row['people_potential']:,}",
    )
