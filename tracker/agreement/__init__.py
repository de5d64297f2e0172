"""A project assessed: tallies → measures → named figures, as a whole or a row each."""

from __future__ import annotations

from tracker.agreement.annotator_groups import (
    AnnotatorGroups,
    agreement_by_annotator_attribute,
)
from tracker.agreement.assessment import Assessment, Counts
from tracker.agreement.groups import GroupedAgreement, agreement_by_attribute, agreement_by_item
from tracker.agreement.metric import Metric
from tracker.agreement.overall import assess, span_pair_agreement
from tracker.agreement.pairs import PairAgreement, agreement_by_pair
from tracker.agreement.query import (
    Asking,
    Computing,
    Query,
    Uncertainty,
    agreement_query,
    check_agreement_query,
)
from tracker.agreement.spans import SpanPair
from tracker.agreement.study import Study, study

__all__ = [
    "AnnotatorGroups",
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
    "agreement_by_annotator_attribute",
    "agreement_by_attribute",
    "agreement_by_item",
    "agreement_by_pair",
    "check_agreement_query",
    "agreement_query",
    "span_pair_agreement",
    "study",
]
