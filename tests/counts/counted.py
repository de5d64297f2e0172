"""All that is counted by statements whose rows add up, as values that can be compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from sqlalchemy import Connection

from tracker.agreement.counts_sql import count_tallies_by_stretch
from tracker.audit.shared_sql import (
    count_items_beside_models,
    count_links_of_annotators,
    count_shared_items,
)
from tracker.core.clock import DAY
from tracker.counts import import_tallies
from tracker.counts.annotator_patterns import (
    count_annotator_marginals,
    count_gold_confusions,
    gold_tallies,
)
from tracker.counts.beside_people import count_labelled_answers
from tracker.counts.items import count_answers_per_item, count_recent_labels
from tracker.counts.retest import repeat_tallies
from tracker.counts.selection import Selection
from tracker.counts.tallies import (
    count_annotator_tallies,
    count_item_patterns,
    count_pair_cells,
    pair_tallies,
    select_label_contents,
    skip_tallies,
)
from tracker.counts.timeline import (
    Stretches,
    count_active_days,
    count_patterns_by_moment,
    count_timeline_blocks,
    count_transitions,
)

WEEKS = Stretches(7 * DAY, 2_900 * 7 * DAY, 4_000 * 7 * DAY)
MODELS = frozenset({2})


def rows_of(*columns: Any) -> list[Any]:
    return sorted(zip(*map(np.ndarray.tolist, columns), strict=True))


def plain(counts: Any) -> Any:
    return {name: dict(by_key) for name, by_key in counts.items()}


def most_answers(connection: Connection, selection: Selection) -> int:
    return max(count_answers_per_item(connection, selection), default=0)


def pair_cells(connection: Connection, selection: Selection) -> Any:
    pairs, cells = count_pair_cells(connection, selection)
    return pairs, rows_of(cells.pair, cells.first, cells.second, cells.items)


def tallies_by_stretch(connection: Connection, selection: Selection) -> Any:
    tallies = count_tallies_by_stretch(connection, selection, WEEKS)
    return [plain(tallies.columns), *(column.tolist() for column in tallies[1:])]


def tallies_by_file(connection: Connection, selection: Selection) -> Any:
    files = import_tallies.count_file_tallies(connection, selection)
    if files is None:
        return None
    owners = zip(files.annotators, files.files, files.columns.values(), strict=True)
    return [(annotator, file, dict(counts)) for annotator, file, counts in owners]


def shared_items(connection: Connection, selection: Selection) -> Any:
    items = count_shared_items(connection, selection, most_answers(connection, selection), 1)
    kinds = [*zip(*map(np.ndarray.tolist, (items.answers, items.alike, items.minority,
                                           items.given)), strict=True)]  # fmt: skip
    rows = zip(items.pair.tolist(), items.kind.tolist(), items.items.tolist(), strict=True)
    linked = set() if items.linked is None else {*map(tuple, items.linked.tolist())}
    return sorted((items.pairs[pair], kinds[kind], number) for pair, kind, number in rows), linked


def items_with_models(connection: Connection, selection: Selection) -> Any:
    most = most_answers(connection, selection)
    items = count_items_beside_models(connection, selection.without(MODELS), MODELS, most)
    return items.pairs, rows_of(items.pair, items.answers, items.given, items.same, items.items)


def blocks(connection: Connection, selection: Selection) -> Any:
    """Count what does not add up over items, and so may not be carried over from before."""
    found = count_timeline_blocks(connection, selection, 2)
    return plain(found.tallies), found.began


COUNTS: dict[str, Callable[[Connection, Selection], Any]] = {
    "patterns": lambda *at: dict(count_item_patterns(*at).counts),
    "tallies": lambda *at: plain(count_annotator_tallies(*at).counts),
    "marginals": count_annotator_marginals,
    "pairs": lambda *at: dict(pair_tallies(*at).counts),
    "cells": pair_cells,
    "skips": lambda *at: plain(skip_tallies(*at)),
    "moments": count_patterns_by_moment,
    "stretches": tallies_by_stretch,
    "answers": count_answers_per_item,
    "recent": lambda *at: count_recent_labels(*at, 3),
    "contents": select_label_contents,
    "gold": lambda *at: plain(gold_tallies(*at)),
    "confusions": count_gold_confusions,
    "repeats": lambda *at: plain(repeat_tallies(*at)),
    "transitions": lambda *at: plain(count_transitions(*at)),
    "files": tallies_by_file,
    "shared": shared_items,
    "links": count_links_of_annotators,
    "labelled": lambda connection, selection: plain(
        count_labelled_answers(connection, selection.without(MODELS), MODELS)
    ),
    "beside": items_with_models,
    "blocks": blocks,
    "days": count_active_days,
}
"""Every count whose rows add up, as values that can be compared."""


def part(place: int, parts: int = 4) -> list[str]:
    return [*COUNTS][place % parts :: parts]


def everything(
    connection: Connection, selection: Selection, names: Iterable[str] = tuple(COUNTS)
) -> dict[str, Any]:
    return {name: COUNTS[name](connection, selection) for name in names}
