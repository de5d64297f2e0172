"""Pairs of annotators in the terminal and as flat rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from rich.console import RenderableType

from tracker.agreement import PairAgreement, SpanPair
from tracker.render.cells import count, figure, interval, table
from tracker.render.words import reading_of

_MOST_ROWS: Final = 200  # pairs that a person may read through
_F1: Final = ("F1 exact", "unlabelled", "overlap", "token F1", "unlabelled")
_NUMERIC: Final = ("pearson", "spearman", "concordance", "bias", "lower_limit", "upper_limit")


def pair_rows(pairs: Sequence[PairAgreement]) -> list[dict[str, Any]]:
    """Pairs as flat rows, for CSV."""
    return [
        {"annotator_1": pair.annotators[0], "annotator_2": pair.annotators[1]}
        | {k: v for k, v in pair.to_dict().items() if k not in {"annotators", "numeric"}}
        | (
            {name: getattr(pair.numeric, name).value for name in (*_NUMERIC, "sd")}
            if pair.numeric is not None
            else {}
        )
        for pair in pairs
    ]


def show_pairs(pairs: Sequence[PairAgreement]) -> RenderableType:
    """The pairs, the least agreeing first."""
    ordered = sorted(pairs, key=lambda pair: (pair.kappa.value is None, pair.kappa.value or 0))
    numeric = any(pair.numeric is not None for pair in pairs)
    rows = [
        (
            *pair.annotators,
            count(pair.kappa.items),
            figure(pair.kappa.observed),
            figure(pair.kappa.expected),
            figure(pair.kappa.value),
            interval(pair.kappa.ci_low, pair.kappa.ci_high),
            *(
                figure(None if pair.numeric is None else getattr(pair.numeric, name).value)
                for name in (_NUMERIC if numeric else ())
            ),
            *(() if numeric else (reading_of(pair.kappa),)),
        )
        for pair in ordered[:_MOST_ROWS]
    ]
    numbers = ("Pearson", "Spearman", "Lin", "bias", "from", "to")
    columns = (
        "annotator",
        "and",
        "items",
        "observed",
        "expected",
        "Cohen's kappa",
        "interval",
        *(numbers if numeric else ("reading ",)),
    )
    made = table(columns, rows, left=2)
    if len(pairs) > _MOST_ROWS:
        made.caption = f"The {_MOST_ROWS} lowest of {count(len(pairs))} pairs; all: --csv, --json"
    return made


def span_pair_rows(pairs: Sequence[SpanPair]) -> list[dict[str, Any]]:
    """Pairs of a project of spans as flat rows, one per pair and measure."""
    return [
        {
            "annotator_1": pair.annotators[0],
            "annotator_2": pair.annotators[1],
            "items": pair.documents,
            "measure": one.measure,
            "value": one.value,
            "precision": one.precision,
            "recall": one.recall,
            "true_positives": one.true_positives,
            "undefined": one.undefined,
        }
        for pair in pairs
        for one in pair.measures
    ]


def show_span_pairs(pairs: Sequence[SpanPair]) -> RenderableType:
    """The pairs of a project of spans, the least agreeing first; the first is the reference."""
    ordered = sorted(pairs, key=lambda pair: pair.measures[0].value or 0)
    rows = [
        (
            *pair.annotators,
            count(pair.documents),
            figure(pair.measures[0].precision),
            figure(pair.measures[0].recall),
            *(figure(one.value) for one in pair.measures),
        )
        for pair in ordered[:_MOST_ROWS]
    ]
    columns = ("reference", "response", "documents", "precision", "recall", *_F1)
    return table(columns, rows, left=2)
