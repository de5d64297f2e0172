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
    merge_stored_labels,
    merges_as_of_now,
    split_stored_labels,
    store_merged_labels,
)
from tracker.storage.as_of.facts import latest_facts
from tracker.storage.as_of.moment import (
    NOW,
    Moment,
    as_of_caveats,
    last_change_as_of,
    moment_as_of,
    stored_erasure_since,
)
from tracker.storage.as_of.shadow_tables import (
    LabelsElsewhere,
    as_it_was,
    count_before_and_now,
    ledger_of,
    shadow_item_ids,
    shadow_tables_of_items,
)
