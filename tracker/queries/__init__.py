"""The queries that yield tallies: the database counts, Python decodes.

Statements are written once for both databases, and their number does not depend on the data.
A statement turns an item's answers into one *code* that does not depend on their order.
Grouping by the code gives the item patterns. A code means nothing outside its statement.
"""

from __future__ import annotations

from tracker.queries.annotator_groups import GroupPatterns, count_patterns_by_annotator_group
from tracker.queries.annotator_patterns import (
    count_annotator_marginals,
    count_joint_patterns,
    select_item_joint_patterns,
)
from tracker.queries.bind_filter import select_answers, select_labels, within_guideline
from tracker.queries.confidences import (
    any_confidence,
    confidences_against_gold,
    confidences_against_majority,
    select_answer_details,
)
from tracker.queries.durations import select_answer_durations, select_fastest_items
from tracker.queries.examples import count_pair_order, select_changed_examples, select_example_items
from tracker.queries.filter import EVERYTHING, AnswerFilter, Selecting, make_answer_filter
from tracker.queries.gold import count_gold_confusions, gold_tallies
from tracker.queries.groups import (
    GroupAnnotators,
    count_patterns_by_cluster,
    count_patterns_by_group,
    pair_tallies_by_group,
    select_annotators_by_group,
)
from tracker.queries.import_tallies import (
    LEAST_ROWS,
    count_file_tallies,
    count_shifted_agreement,
)
from tracker.queries.item_answers import select_answers_to_items, select_items_below
from tracker.queries.item_page import ItemChoice, ItemVotes, select_item_page
from tracker.queries.linked_annotators import count_links_of_annotators
from tracker.queries.pair_tables import count_pair_cells, pair_tallies
from tracker.queries.periods import (
    PairPeriods,
    count_pairs_by_period,
    count_tallies_by_period,
)
from tracker.queries.retest import (
    Repeated,
    count_unrepeated_passes,
    repeat_tallies,
    select_repeated_answers,
)
from tracker.queries.sampled_answers import select_joint_sample
from tracker.queries.selection import Selection, select_answering_annotators, where_chosen
from tracker.queries.shared_items import count_shared_items
from tracker.queries.shared_with_models import count_items_beside_models
from tracker.queries.sides import count_sides
from tracker.queries.skips import skip_tallies
from tracker.queries.slices import (
    IMPORT,
    LEAST_ITEMS,
    MOST_SEARCHED,
    Slice,
    count_patterns_by_slice,
    count_tallies_by_slice,
)
from tracker.queries.spans import Document, select_span_documents
from tracker.queries.tallies import (
    Present,
    count_annotator_tallies,
    count_item_patterns,
    select_items_of_patterns,
    select_label_contents,
)
from tracker.queries.timeline import (
    Timeline,
    count_patterns_by_moment,
    count_timeline,
    count_timeline_blocks,
)
from tracker.queries.transitions import count_active_days, count_transitions
from tracker.queries.valid_periods import Window
from tracker.queries.votes import (
    ModelAnswers,
    count_answers_per_item,
    count_model_answers,
    count_recent_labels,
    count_votes,
)

__all__ = [
    "EVERYTHING",
    "IMPORT",
    "LEAST_ITEMS",
    "LEAST_ROWS",
    "MOST_SEARCHED",
    "AnswerFilter",
    "Document",
    "GroupAnnotators",
    "GroupPatterns",
    "ItemChoice",
    "ItemVotes",
    "ModelAnswers",
    "PairPeriods",
    "Repeated",
    "Selecting",
    "Selection",
    "Slice",
    "Timeline",
    "Window",
    "any_confidence",
    "select_answer_details",
    "select_answers_to_items",
    "select_items_below",
    "confidences_against_gold",
    "confidences_against_majority",
    "count_annotator_tallies",
    "select_annotators_by_group",
    "select_answering_annotators",
    "select_answer_durations",
    "count_answers_per_item",
    "count_timeline_blocks",
    "select_changed_examples",
    "make_answer_filter",
    "where_chosen",
    "within_guideline",
    "count_gold_confusions",
    "count_active_days",
    "select_fastest_items",
    "gold_tallies",
    "count_file_tallies",
    "count_item_patterns",
    "count_patterns_by_slice",
    "count_tallies_by_slice",
    "count_sides",
    "count_shifted_agreement",
    "count_patterns_by_group",
    "count_patterns_by_cluster",
    "count_patterns_by_moment",
    "count_patterns_by_annotator_group",
    "select_example_items",
    "select_items_of_patterns",
    "select_item_page",
    "count_joint_patterns",
    "select_item_joint_patterns",
    "select_joint_sample",
    "count_annotator_marginals",
    "count_pair_cells",
    "count_pair_order",
    "count_pairs_by_period",
    "count_tallies_by_period",
    "pair_tallies",
    "select_label_contents",
    "Present",
    "pair_tallies_by_group",
    "count_unrepeated_passes",
    "count_recent_labels",
    "repeat_tallies",
    "select_repeated_answers",
    "select_answers",
    "select_labels",
    "count_transitions",
    "count_shared_items",
    "count_items_beside_models",
    "count_links_of_annotators",
    "skip_tallies",
    "select_span_documents",
    "count_timeline",
    "count_model_answers",
    "count_votes",
]
