"""All that is counted by statements whose rows add up, as values that can be compared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sqlalchemy import Connection

from tracker.agreement.counts_sql import count_tallies_by_stretch
from tracker.audit.shared_sql import (
    count_items_beside_models,
    count_links_of_annotators,
    count_shared_items,
)
from tracker.core.audit_tallies import FileTallies, SharedItems
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
from tracker.counts.timeline import Stretches, count_patterns_by_moment, count_transitions

WEEKS = Stretches(7 * DAY, 2_900 * 7 * DAY, 4_000 * 7 * DAY)


def everything(connection: Connection, selection: Selection) -> dict[str, Any]:
    """What all functions return whose counts are kept, as values that can be compared."""
    models = frozenset({2})
    people = selection.without(models)
    tallies = count_annotator_tallies(connection, selection)
    pairs, cells = count_pair_cells(connection, selection)
    most = max((sum(n for _, n in pattern) for pattern, _ in tallies_of(tallies)), default=0)
    beside = count_items_beside_models(connection, people, models, most)
    by_stretch = count_tallies_by_stretch(connection, selection, WEEKS)
    return {
        "patterns": dict(count_item_patterns(connection, selection).counts),
        "tallies": plain(tallies.counts),
        "marginals": count_annotator_marginals(connection, selection),
        "pairs": dict(pair_tallies(connection, selection).counts),
        "cells": (pairs, sorted(zip(*map(np.ndarray.tolist, (
            cells.pair, cells.first, cells.second, cells.items)), strict=True))),
        "skips": plain(skip_tallies(connection, selection)),
        "moments": count_patterns_by_moment(connection, selection),
        "stretches": [
            plain(by_stretch.columns),
            *(column.tolist() for column in by_stretch[1:]),
        ],
        "answers": count_answers_per_item(connection, selection),
        "recent": count_recent_labels(connection, selection, 3),
        "there": select_label_contents(connection, selection),
        "gold": plain(gold_tallies(connection, selection)),
        "confusions": count_gold_confusions(connection, selection),
        "repeats": plain(repeat_tallies(connection, selection)),
        "transitions": plain(count_transitions(connection, selection)),
        "files": by_file(import_tallies.count_file_tallies(connection, selection)),
        "shared": shared(count_shared_items(connection, selection, most, 1)),
        "links": count_links_of_annotators(connection, selection),
        "labelled": plain(count_labelled_answers(connection, people, models)),
        "beside": (beside.pairs, sorted(zip(*map(np.ndarray.tolist, (
            beside.pair, beside.answers, beside.given, beside.same, beside.items)), strict=True))),
    }  # fmt: skip


def tallies_of(tallies: Any) -> Iterator[tuple[Any, int]]:
    for own in tallies.counts.values():
        for (_, pattern), number in own.items():
            yield pattern, number


def plain(counts: Any) -> Any:
    return {who: dict(own) for who, own in counts.items()}


def by_file(files: FileTallies | None) -> Any:
    if files is None:
        return None
    owners = zip(files.annotators, files.files, files.columns.values(), strict=True)
    return [(who, file, dict(counts)) for who, file, counts in owners]


def shared(items: SharedItems) -> Any:
    kinds = [*zip(*map(np.ndarray.tolist, (items.answers, items.alike, items.minority,
                                           items.given)), strict=True)]  # fmt: skip
    rows = zip(items.pair.tolist(), items.kind.tolist(), items.items.tolist(), strict=True)
    linked = set() if items.linked is None else {*map(tuple, items.linked.tolist())}
    return sorted((items.pairs[pair], kinds[kind], number) for pair, kind, number in rows), linked
