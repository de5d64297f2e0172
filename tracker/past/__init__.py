"""The ledger as it was: the labels at a moment, or what was known of them by then.

Two clocks run: when an answer was labelled, and when the ledger learnt of it. Inside `as_it_was`
every statement reads the past, itself unchanged: temporary tables hide the stored ones of the
same names, on either database, for this connection alone.
"""

from tracker.past.facts import best_facts
from tracker.past.hiding import as_it_was, only_items, some_items
from tracker.past.labels import ANSWER, ORDER
from tracker.past.merges import (
    Merge,
    keep_merged,
    live_merges,
    merge_labels,
    split_labels,
)
from tracker.past.moment import (
    NOW,
    Moment,
    erased_since,
    last_change,
    moment_of,
    through_change,
    to_bear_in_mind,
)
from tracker.past.people import ERASURE, MERGE, SPLIT

__all__ = [
    "ANSWER",
    "ERASURE",
    "MERGE",
    "NOW",
    "ORDER",
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
