"""A project assessed: tallies → measures → named figures, as a whole or a row each."""

from __future__ import annotations

from tracker.agreement.assessment import Assessment, Counts
from tracker.agreement.groups import GroupedAgreement, by_attribute
from tracker.agreement.items import by_item
from tracker.agreement.metric import Metric
from tracker.agreement.overall import assess, left_out, span_pairs
from tracker.agreement.pairs import PairAgreement, by_pair
from tracker.agreement.spans import SpanPair
from tracker.agreement.study import Query, Study, study
from tracker.agreement.uncertainty import Uncertainty

__all__ = [
    "Assessment",
    "Counts",
    "GroupedAgreement",
    "PairAgreement",
    "Query",
    "Metric",
    "SpanPair",
    "Study",
    "Uncertainty",
    "assess",
    "by_attribute",
    "by_item",
    "by_pair",
    "left_out",
    "span_pairs",
    "study",
]
