"""A project of spans assessed: every figure from one pass over its documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Annotated, Any

from sqlalchemy import Connection

from tracker.agreement.counts_sql import select_span_documents
from tracker.agreement.result import Counts
from tracker.core.results import Json, Record
from tracker.counts.selection import Selection
from tracker.measures.category_rates import CategoryRate
from tracker.measures.intervals import Coefficient
from tracker.measures.spans.f1 import SPAN_MEASURES, SpanAgreement, span_f1
from tracker.measures.spans.overlap import mark_span_sets
from tracker.measures.spans.tallies import (
    SpanTally,
    pooled_span_agreement,
    span_rates,
    why_no_spans_compared,
)
from tracker.measures.spans.unitizing import UnitTally, unitizing_alpha

_OF_PAIR = ("value", "precision", "recall", "true_positives", "undefined")


@dataclass(frozen=True)
class SpanPair:
    """Two annotators on the documents that both answered; the first is the reference."""

    annotators: tuple[str, str]
    documents: int
    measures: tuple[SpanAgreement, ...]

    @property
    def value(self) -> float | None:
        """Return the exact F1; None if it is undefined."""
        return self.measures[0].value

    def to_dict(self) -> dict[str, Any]:
        return {
            "annotators": list(self.annotators),
            "items": self.documents,
            **{
                figure.measure: {name: getattr(figure, name) for name in _OF_PAIR}
                for figure in self.measures
            },
        }


@dataclass(frozen=True)
class AnnotatorSpans(Record):
    """What one annotator marked.

    Attributes:
        shares: of the spans, the share of each category that occurs, by name.
        exact: ``span_f1_exact`` with the others' answers to the same documents pooled, the
            annotator the reference.
    """

    annotator: str
    answers: int
    spans: int
    shares: Mapping[str, float]
    exact: Annotated[SpanAgreement, Json("span_f1_exact")]


@dataclass(frozen=True)
class SpanFigures:
    """Every figure on the spans of a project.

    Attributes:
        measures: the five in the order of `SPAN_MEASURES`, pooled over pairs.
        rates: of the categories, in their order; of spans that agree exactly.
        pairs: those who share a document, by name.
        annotators: those with an answer, by name.
    """

    counts: Counts
    measures: tuple[SpanAgreement, ...]
    unitizing: Coefficient
    rates: tuple[CategoryRate, ...]
    pairs: tuple[SpanPair, ...]
    annotators: tuple[AnnotatorSpans, ...]
    names: tuple[str, ...]

    def coefficients(self) -> list[Coefficient]:
        return [*(measure.coefficient for measure in self.measures), self.unitizing]

    def measure(self, name: str) -> SpanAgreement:
        """The measure of that name; raises KeyError where there is none."""
        return self.measures[list(SPAN_MEASURES).index(name)]


def assess_spans(
    connection: Connection,
    selection: Selection,
    *,
    annotators: Mapping[int, str],
    categories: Mapping[int, str],
    confidence: float = 0.95,
) -> SpanFigures:
    """The figures of a project of spans now, by one statement.

    Raises:
        InvalidOption: the confidence level is not in (0, 1).
    """
    tally, units = SpanTally(), UnitTally()
    for _, length, answers in select_span_documents(connection, selection):
        marked = mark_span_sets({annotators[number]: spans for number, spans in answers.items()})
        tally.add(marked)
        units.add(marked, length)
    reason = why_no_spans_compared(tally)
    return SpanFigures(
        counts=_counts(tally),
        measures=pooled_span_agreement(tally, confidence),
        unitizing=unitizing_alpha(units, undefined=reason, confidence=confidence),
        rates=tuple(span_rates(tally, list(categories), confidence)),
        pairs=_pairs(tally, confidence),
        annotators=_annotators(tally, categories, confidence),
        names=tuple(categories.values()),
    )


def _counts(tally: SpanTally) -> Counts:
    return Counts(
        items=tally.documents,
        items_compared=tally.compared,
        annotators=len(tally.annotators),
        answers=tally.answers,
        labels=tally.labels,
    )


def _pairs(tally: SpanTally, confidence: float) -> tuple[SpanPair, ...]:
    return tuple(
        SpanPair(
            names,
            five[0].documents,
            tuple(
                span_f1(measure, sums, confidence=confidence)
                for measure, sums in zip(SPAN_MEASURES, five, strict=True)
            ),
        )
        for names, five in sorted(tally.pairs.items())
    )


def _annotators(
    tally: SpanTally, categories: Mapping[int, str], confidence: float
) -> tuple[AnnotatorSpans, ...]:
    values: dict[str, list[float]] = {name: [] for name in tally.annotators}
    partners: Counter[str] = Counter()
    for names, five in tally.pairs.items():
        value = five[0].value
        partners.update(names)
        if value is not None:
            for name in names:
                values[name].append(value)
    return tuple(
        AnnotatorSpans(
            annotator=name,
            answers=own.answers,
            spans=own.categories.total(),
            shares={
                categories[category]: number / own.categories.total()
                for category, number in sorted(own.categories.items())
            },
            exact=span_f1(
                "span_f1_exact",
                own.exact,
                pairs=partners[name],
                macro=fmean(values[name]) if values[name] else None,
                undefined=why_no_spans_compared(tally),
                confidence=confidence,
            ),
        )
        for name, own in sorted(tally.annotators.items())
    )
