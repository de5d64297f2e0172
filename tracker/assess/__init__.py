"""A project assessed: tallies → measures → named figures, as a whole or a row each."""

from __future__ import annotations

from tracker.assess.assessment import Assessment, Counts
from tracker.assess.items import by_item
from tracker.assess.pairs import PairAgreement, by_pair
from tracker.assess.whole import assess

__all__ = ["Assessment", "Counts", "PairAgreement", "assess", "by_item", "by_pair"]
