"""A project assessed: tallies → measures → named figures, as a whole or a row each."""

from __future__ import annotations

from tracker.assess.assessment import Assessment, Counts
from tracker.assess.groups import GroupedAgreement, by_attribute
from tracker.assess.items import by_item
from tracker.assess.pairs import PairAgreement, by_pair
from tracker.assess.reading import Reading
from tracker.assess.spans import SpanPair
from tracker.assess.study import Question, Study, study
from tracker.assess.uncertainty import Uncertainty
from tracker.assess.whole import assess, left_out, span_pairs

__all__ = [
    "Assessment",
    "Counts",
    "GroupedAgreement",
    "PairAgreement",
    "Question",
    "Reading",
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
