"""Annotators of a table that are models: their kind, and their version as part of the name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Protocol

import numpy as np

from tracker.formats.batch import Batch, Cells, text_array
from tracker.formats.column_roles import Layout
from tracker.formats.judge_columns import Judge
from tracker.formats.source import ReadAs

MODEL = "model"
_MOST_NAMED = 100  # models that the layout lists


class Table(Protocol):
    """What has columns with names."""

    name: str
    layout: ReadAs | None


def with_models(batches: Iterator[Batch], table: Table) -> Iterator[Batch]:
    """Yield the batches of a table, in which models are such and named with their version.

    A kind that the table gives stands, and a version belongs to a model only. The layout of the
    table names the models that were found.
    """
    found: dict[str, None] = {}
    for batch in batches:
        layout = table.layout
        judge = layout.judge if isinstance(layout, Layout) else None
        if judge is None:
            yield batch
            continue
        yield _judged(batch, judge, found)
        assert isinstance(layout, Layout)
        if len(found) > len(layout.models) < _MOST_NAMED:
            table.layout = replace(layout, models=tuple(found)[:_MOST_NAMED])


def _judged(batch: Batch, judge: Judge, found: dict[str, None]) -> Batch:
    """Return a batch with the kind of each annotator; models are added to those found."""
    columns = dict(batch.columns)
    nothing = Cells(np.zeros(len(batch.lines), np.int64), text_array([""]))
    parts = [columns["annotator"], columns.pop("version", nothing), columns.get("kind", nothing)]
    numbers = np.zeros(len(batch.lines), np.int64)
    for part in parts:
        numbers = numbers * len(part.distinct) + part.codes
    _, first, codes = np.unique(numbers, return_index=True, return_inverse=True)
    names, kinds = [], []
    for name, version, kind in zip(*(part.at(first) for part in parts), strict=True):
        model = kind.strip().casefold() == MODEL or (
            not kind.strip() and judge.is_model(name.strip(), version.strip())
        )
        names.append(_with_version(name.strip(), version.strip()) if model else name)
        kinds.append(MODEL if model else kind)
        if model:
            found[names[-1]] = None
    columns["annotator"] = _in_order(Cells(codes, text_array(names)))
    if any(kinds):
        columns["kind"] = _in_order(Cells(codes, text_array(kinds)))
    return replace(batch, columns=columns)


def _in_order(cells: Cells) -> Cells:
    """Return a column with its texts once each, in the order in which they occur."""
    return cells.mapped(str).take(np.arange(len(cells.codes)))


def _with_version(name: str, version: str) -> str:
    """Return the name of a model with its version: ``gpt-x@3``."""
    return f"{name}@{version}" if name and version and not name.endswith(f"@{version}") else name
