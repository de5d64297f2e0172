"""The queries that yield tallies: the database counts, Python decodes.

Statements are written once for both databases, and their number does not depend on the data.
A statement turns an item's answers into one *code* that does not depend on their order.
Grouping by the code gives the item patterns. A code means nothing outside its statement.
"""

from __future__ import annotations

from tracker.queries.annotator_patterns import joint_patterns, marginals
from tracker.queries.bind_filter import select_answers, select_labels
from tracker.queries.durations import answer_times, fastest_items
from tracker.queries.examples import changed_items, items_of_answers, pair_order
from tracker.queries.filter import EVERYTHING, AnswerFilter, Selecting, filter_of
from tracker.queries.gold import confusions, gold_tallies
from tracker.queries.groups import (
    GroupAnnotators,
    annotators_by,
    item_patterns_by,
    item_patterns_by_cluster,
    pair_tallies_by,
)
from tracker.queries.pair_tables import pair_cells, pair_tallies
from tracker.queries.retest import Repeated, passes_alone, repeat_tallies, repeated_answers
from tracker.queries.sampled_answers import joint_sample
from tracker.queries.selection import Selection, annotators_with_answers, chosen
from tracker.queries.shared_items import shared_items
from tracker.queries.skips import skip_tallies
from tracker.queries.spans import Document, span_documents
from tracker.queries.tallies import (
    Present,
    annotator_tallies,
    item_patterns,
    items_of_patterns,
    present,
)
from tracker.queries.timeline import Timeline, blocks, timeline
from tracker.queries.transitions import days_active, sequences
from tracker.queries.valid_periods import DAY, Window
from tracker.queries.votes import answers_per_item, recent_pace, votes

__all__ = [
    "DAY",
    "EVERYTHING",
    "AnswerFilter",
    "Document",
    "GroupAnnotators",
    "Repeated",
    "Selecting",
    "Selection",
    "Timeline",
    "Window",
    "annotator_tallies",
    "annotators_by",
    "annotators_with_answers",
    "answer_times",
    "answers_per_item",
    "blocks",
    "changed_items",
    "filter_of",
    "chosen",
    "confusions",
    "days_active",
    "fastest_items",
    "gold_tallies",
    "item_patterns",
    "item_patterns_by",
    "item_patterns_by_cluster",
    "items_of_answers",
    "items_of_patterns",
    "joint_patterns",
    "joint_sample",
    "marginals",
    "pair_cells",
    "pair_order",
    "pair_tallies",
    "present",
    "Present",
    "pair_tallies_by",
    "passes_alone",
    "recent_pace",
    "repeat_tallies",
    "repeated_answers",
    "select_answers",
    "select_labels",
    "sequences",
    "shared_items",
    "skip_tallies",
    "span_documents",
    "timeline",
    "votes",
]
