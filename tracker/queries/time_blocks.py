"""Answers in blocks of time: how an annotator answered first, and how later."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from sqlalchemy import (
    Connection,
    Subquery,
    case,
    func,
    select,
)

from tracker.core.audit_tallies import Blocks
from tracker.core.tallies import Answer, Pattern
from tracker.queries.annotator_patterns import OPTIONAL_ANSWER, Extra, against_patterns
from tracker.queries.answer_order import dated_answers, over_time
from tracker.queries.gold import NOBODY, with_truths
from tracker.queries.selection import Selection, stream


def blocks(connection: Connection, selection: Selection, number: int) -> dict[int, Blocks]:
    """Return each annotator's timed answers in order, cut into a number of blocks: by annotator id.

    Blocks have equally many answers; if they do not divide, the first ones have one more.
    An annotator with fewer answers than blocks has as many blocks as answers. A truth is that
    of `confusions`.
    """
    cut = _cut(selection, number)
    key = (cut.c.annotator_id, cut.c.block)
    began: dict[int, dict[int, int]] = defaultdict(dict)
    first = select(*key, func.min(cut.c.labelled_at)).where(cut.c.block.is_not(None))
    for annotator, block, at in stream(connection, first.group_by(*key)):
        began[annotator][block] = at
    extra = {"block": Extra(int, number.bit_length()), "truth": OPTIONAL_ANSWER}
    rows, nobody = with_truths(selection, cut), frozenset({NOBODY})
    tallies = against_patterns(connection, selection, rows, nobody, extra, every=True)
    return {who: Blocks(_ordered(tallies.get(who, {})), starts) for who, starts in began.items()}


def _ordered(
    counts: Mapping[Any, int],
) -> dict[tuple[int, Answer, Pattern, Answer | None], int]:
    """Return a tally's keys in the order of `Blocks`."""
    return {
        (block, own, pattern, truth): items
        for (block, truth, own, pattern), items in counts.items()
    }


def _cut(selection: Selection, number: int) -> Subquery:
    """Return one row per answer: item_id, annotator_id, answer, labelled_at, block.

    Blocks count from 0; NULL for an untimed answer.
    """
    dated = dated_answers(selection)
    block = over_time(func.ntile(number), dated) - 1
    return select(
        dated.c.item_id,
        dated.c.annotator_id,
        dated.c.answer,
        dated.c.labelled_at,
        case((dated.c.timed == 1, block)).label("block"),
    ).subquery("cut")
