"""Agreement on spans: shares of spans, or of positions, that two annotators both marked.

A span is ``(category id, start, end)``, its end exclusive, in the project's offsets. Of two
annotators the first is the reference and the second the response: precision is the share of the
response's spans that the reference has, recall the share of the reference's that the response
has, and F1 their harmonic mean, which is the same either way round. There is no chance term: the
number of places without a span that two annotators could agree on has no bound.

Nothing links the parts of a discontinuous span, so each part counts as a span.

Source:
    Hripcsak and Rothschild (2005), J. Am. Med. Inform. Assoc. 12, 296: F1 is what agreement
    beyond chance comes to where what neither marked cannot be counted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from tracker.measures.intervals import (
    NO_OVERLAP,
    SINGLE_CATEGORY,
    Coefficient,
    Detail,
    check_confidence,
    confidence_interval,
    interval_without_spread,
)

SPAN_MEASURES: Final = {
    "span_f1_exact": "2 TP / (n1 + n2), TP = spans with the same bounds and category",
    "span_f1_unlabelled": "2 TP / (n1 + n2), TP = spans with the same bounds",
    "span_f1_overlap": "2 TP / (n1 + n2), TP = the most spans of one category that can be paired "
    "off with one they overlap",
    "token_f1": "2 TP / (n1 + n2), TP = places marked by both with the same category",
    "token_f1_unlabelled": "2 TP / (n1 + n2), TP = places marked by both",
}
"""The formula of each measure by its name, in the order of every figure that holds all five."""


@dataclass(frozen=True)
class SpanAgreement:
    """One measure's F1 for a pair of annotators, or pooled over pairs.

    Attributes:
        measure: a name in `SPAN_MEASURES`.
        value: F1 in [0, 1]; None if it cannot be computed.
        undefined: why ``value`` is None: no_overlap if no document has two answers,
            single_category if none of these marks anything ("none applies" is all there is),
            or why the project has nothing to compare; else None.
        true_positives: spans (of ``token_…`` measures: positions) that both marked.
        precision: of ``second``'s, the share that ``first`` has; None if it has none.
        recall: of ``first``'s, the share that ``second`` has; None if it has none.
        standard_error: of ``value`` over a sample of documents; None below two with spans.
        ci_low: lower confidence bound, likewise.
        ci_high: upper confidence bound, likewise.
        confidence: the level of the bounds, in (0, 1).
        method: how the bounds came to be, as in `Coefficient`.
        documents: the documents that two annotators answered, with or without spans.
        pairs: the pairs of annotators who share a document.
        macro: the mean of the pairs' values, each pair weighing the same; None without any.
    """

    measure: str
    value: float | None
    undefined: str | None = None
    true_positives: int = 0
    precision: float | None = None
    recall: float | None = None
    standard_error: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    confidence: float = 0.95
    method: str | None = None
    documents: int = 0
    pairs: int = 0
    macro: float | None = None

    @property
    def coefficient(self) -> Coefficient:
        """The figure in the form of other projects; its documents are items there."""
        return Coefficient(
            measure=self.measure,
            value=self.value,
            undefined=self.undefined,
            standard_error=self.standard_error,
            ci_low=self.ci_low,
            ci_high=self.ci_high,
            confidence=self.confidence,
            items=self.documents,
            method=self.method,
            details={
                "true_positives": self.true_positives,
                "precision": self.precision,
                "recall": self.recall,
                "macro": self.macro,
            },
        )

    def to_dict(self) -> dict[str, Detail]:
        """Return a coefficient's JSON, without the chance term that it does not have."""
        figures = self.coefficient.to_dict()
        return {name: figures[name] for name in figures if name not in {"observed", "expected"}}


@dataclass(slots=True)
class SpanSums:
    """Integer sums over documents of one measure; they add over disjoint sets of documents.

    ``t`` is a document's true positives and ``n`` the spans of both sides together, each summed
    over the pairs of annotators that are pooled.
    """

    documents: int = 0
    marked: int = 0  # documents of n above 0
    true_positives: int = 0
    first: int = 0
    second: int = 0
    t_t: int = 0
    t_n: int = 0
    n_n: int = 0

    def add(self, true_positives: int, first: int, second: int) -> None:
        self.documents += 1
        number = first + second
        if number:
            self.marked += 1
            self.true_positives += true_positives
            self.first += first
            self.second += second
            self.t_t += true_positives * true_positives
            self.t_n += true_positives * number
            self.n_n += number * number

    @property
    def value(self) -> float | None:
        """F1; None without a span."""
        number = self.first + self.second
        return 2 * self.true_positives / number if number else None

    def squared_residuals(self) -> int:
        """Return the sum over documents of (t N - T n)^2: N**4 / 4 times that of influences."""
        total, number = self.true_positives, self.first + self.second
        return self.t_t * number**2 - 2 * self.t_n * total * number + self.n_n * total**2


def span_f1(
    measure: str,
    sums: SpanSums,
    *,
    pairs: int = 1,
    macro: float | None = None,
    undefined: str | None = None,
    confidence: float = 0.95,
) -> SpanAgreement:
    """Return F1 of the sums with its error and bounds; the documents are the sample.

    The error is that of a ratio of sums over documents (Cochran 1977, section 6.4), so pairs that
    share a document are not taken for independent. The bounds are Student's, in [0, 1], with one
    degree of freedom less than there are documents with a span: the others say nothing of the
    spread. If all documents have the same F1, 1 among them, `interval_without_spread` gives
    them, which for 1 bounds the share of documents that agree perfectly.

    Args:
        measure: a name in `SPAN_MEASURES`.
        sums: over documents, of one pair or of the pairs pooled.
        pairs: how many pairs they hold.
        macro: the mean of the pairs' values; of one pair it is the value.
        undefined: why there is nothing to compare, if the caller knows more than the sums.
        confidence: of the bounds.
    """
    check_confidence(confidence)
    value = sums.value
    if value is None:
        reason = undefined or (SINGLE_CATEGORY if sums.documents else NO_OVERLAP)
        return SpanAgreement(
            measure, None, reason, confidence=confidence, documents=sums.documents, pairs=pairs
        )
    error, low, high, method = _spread(sums, value, confidence)
    precision = sums.true_positives / sums.second if sums.second else None
    recall = sums.true_positives / sums.first if sums.first else None
    return SpanAgreement(
        measure, value, None, sums.true_positives, precision, recall, error, low, high, confidence,
        method, sums.documents, pairs, value if pairs == 1 else macro,
    )  # fmt: skip


def _spread(
    sums: SpanSums, value: float, confidence: float
) -> tuple[float | None, float | None, float | None, str | None]:
    """Return standard error, lower and upper bound, and the method."""
    if sums.marked < 2:
        return None, None, None, None
    residuals, number = sums.squared_residuals(), sums.first + sums.second
    if not residuals:
        return 0.0, *interval_without_spread(value, sums.marked, confidence), "one-sided exact"
    scale = sums.documents / (sums.documents - 1)
    error = 2 * math.sqrt(scale * residuals) / number**2
    return error, *confidence_interval(value, error, sums.marked, confidence, low=0.0), "t"
