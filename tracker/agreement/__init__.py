"""A project assessed: tallies → measures → named figures, as a whole or a row each."""

from __future__ import annotations

from tracker.agreement.assessment import Assessment, Counts
from tracker.agreement.groups import GroupedAgreement, by_attribute, by_item
from tracker.agreement.metric import Metric
from tracker.agreement.overall import assess, span_pairs
from tracker.agreement.pairs import PairAgreement, by_pair
from tracker.agreement.query import Asking, Computing, Query, Uncertainty, check_used, query_of
from tracker.agreement.spans import SpanPair
from tracker.agreement.study import Study, study

__all__ = [
    "Asking",
    "Assessment",
    "Computing",
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
    "check_used",
    "query_of",
    "span_pairs",
    "study",
]
