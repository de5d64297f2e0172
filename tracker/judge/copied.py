"""People who give a model's answers: they say nothing of it, as the audit finds copying."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from tracker.audit.evidence import Evidence
from tracker.audit.findings import audit
from tracker.audit.kinds.copying import COPYING_FROM_MODELS
from tracker.core.audit_tallies import BesideModels, BesidePatterns
from tracker.core.beside_columns import BesideColumns
from tracker.core.tallies import AnnotatorTallies, Answer, Pattern
from tracker.core.tally_columns import TallyColumns


def people_who_copy(rows: BesideColumns, *, several: bool) -> list[int]:
    """Return who gives the answers of the model of these rows, where others do not, by id."""
    shared = rows.where(rows.sizes[rows.pattern] > 1)
    persons, person = np.unique(shared.person, return_inverse=True)
    if not len(persons):
        return []
    width = len(shared.answers)
    keys, kind = np.unique(shared.pattern * width + shared.given, return_inverse=True)
    held = np.array(
        [dict(shared.patterns[key // width]).get(shared.answers[key % width], 0)
         for key in keys.tolist()],
        dtype=np.int64,
    )  # fmt: skip
    model = int(shared.model[0])

    def patterns(wanted: Collection[tuple[int, int]]) -> BesidePatterns:
        return {pair: _patterns(shared.where(shared.person == pair[0])) for pair in wanted}

    beside = BesideModels(
        tuple((number, model) for number in persons.tolist()),
        shared.sizes[shared.pattern],
        held[kind],
        (shared.own == shared.given).astype(np.int64),
        person,
        shared.items,
        patterns,
    )
    columns = (shared.own, shared.pattern, shared.items)
    tallies = TallyColumns(persons, shared.answers, shared.patterns, person, *columns)
    merged = AnnotatorTallies(tallies.merged(persons.tolist()))  # whatever the model answered
    evidence = Evidence(merged, several=several, models=beside)
    findings = audit(evidence, (COPYING_FROM_MODELS,))
    return sorted({flag.annotator for flag in findings if flag.state == "flagged"})


def _patterns(rows: BesideColumns) -> dict[tuple[Pattern, Answer, bool], int]:
    columns = (rows.pattern, rows.given, rows.own, rows.items)
    counts: dict[tuple[Pattern, Answer, bool], int] = {}
    for pattern, given, own, items in zip(*(c.tolist() for c in columns), strict=True):
        key = rows.patterns[pattern], rows.answers[given], own == given
        counts[key] = counts.get(key, 0) + items
    return counts
