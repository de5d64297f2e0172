"""Answers given again, by the pattern of their item."""

from __future__ import annotations

from sqlalchemy import Connection, select

from tracker.core.audit_tallies import RepeatTallies
from tracker.core.tallies import Answer, Pattern
from tracker.queries.annotator_patterns import ANSWER, against_patterns
from tracker.queries.retest import every_repeat
from tracker.queries.selection import Selection, answers_of

_EXTRA = {"earlier": ANSWER, "later": ANSWER}


def repeat_tallies(connection: Connection, selection: Selection) -> RepeatTallies:
    """Return how often an annotator gave one answer and then another to an item of a pattern.

    The pattern is made of the answers that count, each annotator's first to the item.
    """
    later, earlier, both = every_repeat(selection)
    first = answers_of(selection, "first")
    of_both = (first.c.item_id == later.c.item_id) & (first.c.annotator_id == later.c.annotator_id)
    repeated = (
        select(
            later.c.item_id,
            later.c.annotator_id,
            first.c.answer,
            earlier.c.answer.label("earlier"),
            later.c.answer.label("later"),
        )
        .select_from(both.join(first, of_both))
        .subquery("repeated")
    )
    counts = against_patterns(connection, selection, repeated, extra=_EXTRA)
    tallies: dict[int, dict[tuple[Answer, Answer, Pattern], int]] = {}
    for annotator, own_counts in counts.items():
        own_tallies = tallies[annotator] = {}
        for (one, other, _, pattern), times in own_counts.items():
            key = (one, other, pattern)
            own_tallies[key] = own_tallies.get(key, 0) + times
    return tallies
