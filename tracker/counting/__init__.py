"""Each SELECT … GROUP BY that yields a tally: the database counts, Python decodes.

Statements are written once for both databases, and their number does not depend on the data.
An item's answers become one *code* inside the statement, canonical whatever their order, so
that grouping by it gives the item patterns. A code means nothing outside its statement.
"""

from __future__ import annotations

from tracker.counting.others import (
    answers_per_item,
    confusions,
    recent_pace,
    span_counts,
    votes,
)
from tracker.counting.selection import Selection, annotators_with_answers, select_answers
from tracker.counting.tallies import annotator_tallies, item_patterns, pair_tallies, recount

__all__ = [
    "Selection",
    "annotator_tallies",
    "annotators_with_answers",
    "answers_per_item",
    "confusions",
    "item_patterns",
    "pair_tallies",
    "recent_pace",
    "recount",
    "select_answers",
    "span_counts",
    "votes",
]
