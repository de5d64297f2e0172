"""The ledger as it was: the labels at a moment, or as they were known by then.

Two clocks run: when an answer was labeled, and when the ledger learned of it. Inside `as_it_was`
every statement reads the past, itself unchanged: temporary tables hide the stored ones of the
same names, on either database, for this connection alone.
"""

from tracker.storage.as_of.annotators import (
    ERASURE,
    MERGE,
    SPLIT,
    Merge,
    keep_merged,
    live_merges,
    merge_labels,
    split_labels,
)
from tracker.storage.as_of.facts import best_facts
from tracker.storage.as_of.moment import (
    NOW,
    Moment,
    erased_since,
    last_change,
    moment_of,
    through_change,
    to_bear_in_mind,
)
from tracker.storage.as_of.shadow_tables import as_it_was, only_items, some_items

__all__ = [
    "ERASURE",
    "MERGE",
    "NOW",
    "SPLIT",
    "Merge",
    "Moment",
    "as_it_was",
    "best_facts",
    "erased_since",
    "keep_merged",
    "last_change",
    "live_merges",
    "merge_labels",
    "moment_of",
    "only_items",
    "some_items",
    "split_labels",
    "through_change",
    "to_bear_in_mind",
]
