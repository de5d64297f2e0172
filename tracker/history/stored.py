"""The tallies of a snapshot: counted in full, or from those of an earlier one."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from sqlalchemy import Connection, Double, Table, insert, select

from tracker.agreement.coefficients import Study
from tracker.agreement.result import Assessment
from tracker.agreement.run import assessment_of
from tracker.core.tallies import AnnotatorTallies, Answer, ItemPatterns, Pattern, answers_in_pattern
from tracker.core.tally_columns import tally_columns_of
from tracker.counts.annotator_patterns import count_annotator_marginals
from tracker.counts.selection import Selection
from tracker.counts.tallies import count_annotator_tallies, count_item_patterns
from tracker.projects.questions import FIRST
from tracker.storage import backends
from tracker.storage.schema import (
    KnownPattern,
    SnapshotAnnotator,
    SnapshotCategory,
    SnapshotFlag,
    SnapshotMeasure,
    SnapshotPair,
    SnapshotPattern,
)
from tracker.storage.schema.labels import QuestionKey, of_question

MOST_PATTERNS = 20_000
"""Of more patterns than that, annotators' tallies would come near the labels in number."""


@dataclass(frozen=True)
class Tallied:
    """The tallies of a snapshot.

    Attributes:
        patterns: the item patterns, whole.
        answers: how many answers of each annotator count, none with 0.
        tallies: of the annotators, whole or the difference to another snapshot; None if
            patterns were too many.
        read: the items whose labels were read; None for all.
    """

    patterns: ItemPatterns
    answers: Mapping[int, int]
    tallies: AnnotatorTallies | None
    read: int | None = None

    @property
    def annotators(self) -> list[int]:
        """The ids of those with an answer that counts, ascending."""
        return sorted(self.answers)


def count_snapshot_tallies(connection: Connection, selection: Selection) -> Tallied:
    """Return the tallies of every item."""
    patterns = count_item_patterns(connection, selection)
    if len(patterns.counts) > MOST_PATTERNS:
        own = count_annotator_marginals(connection, selection)
        return Tallied(patterns, {who: sum(given.values()) for who, given in own.items()}, None)
    tallies = count_annotator_tallies(connection, selection)
    return Tallied(patterns, snapshot_answers_by_annotator(tallies), tallies)


def snapshot_answers_by_annotator(tallies: AnnotatorTallies) -> dict[int, int]:
    """Return how many answers of each annotator are in some tallies.

    Differences may be negative.
    """
    columns = tally_columns_of(tallies)
    answers = zip(columns.annotators.tolist(), columns.total(1.0).tolist(), strict=True)
    return {who: int(number) for who, number in answers}


def patterns_in_snapshot_tallies(tallies: AnnotatorTallies) -> ItemPatterns:
    """Return the item patterns of some tallies or of a difference, in their order.

    Each annotator of an item has met its pattern once, so that it is there as often as it has
    answers.
    """
    met: Counter[Pattern] = Counter()
    for counts in tallies.counts.values():
        for (_, pattern), items in counts.items():
            met[pattern] += items
    counted = {
        pattern: times // answers_in_pattern(pattern) for pattern, times in met.items() if times
    }
    return ItemPatterns(dict(sorted(counted.items())))


def snapshot_assessment(counted: Study) -> Assessment:
    """Return the figures that a snapshot records."""
    return assessment_of(
        counted.question,
        counted.sample,
        counted.patterns,
        counted.names,
        counted.figures(),
        counted.query,
        binary=False,
    )


# -- A snapshot as rows: stored table by table, and read back unchanged ---------------------------


Parts: TypeAlias = dict[Table, list[dict[str, Any]]]
"""The rows that hang on a snapshot, in the order of their keys, without those keys."""

PARTS = tuple(
    part.__table__
    for part in (
        SnapshotMeasure,
        SnapshotCategory,
        SnapshotPattern,
        SnapshotAnnotator,
        SnapshotPair,
        SnapshotFlag,
    )
)
_MEASURES, _CATEGORIES, _PATTERNS, _ANNOTATORS, _, _FLAGS = PARTS
_KEY = ("project_id", "question_id", "snapshot_id")
_AT_ONCE = 100  # snapshots whose rows are read together
_compact = json.JSONEncoder(separators=(",", ":")).encode  # made once: there are thousands

MEASURE_COLUMNS = (
    "value",
    "undefined",
    "observed",
    "expected",
    "standard_error",
    "ci_low",
    "ci_high",
    "confidence",
    "items",
    "method",
)
RATE_COLUMNS = (
    "labels",
    "agreements",
    "potential_agreements",
    "rate",
    "undefined",
    "standard_error",
    "ci_low",
    "ci_high",
    "specific_agreement",
)


def snapshot_figure_rows(assessment: Assessment) -> Parts:
    """Return the rows of measures and of category rates."""
    measures = [
        {"measure": figure.measure, "position": place}
        | {column: getattr(figure, column) for column in MEASURE_COLUMNS}
        | {"details": json.dumps(dict(figure.details), sort_keys=True)}
        for place, figure in enumerate(assessment.measures)
    ]
    rates = [
        {"category_id": rate.category, "position": place}
        | {column: getattr(rate, column) for column in RATE_COLUMNS}
        for place, rate in enumerate(assessment.rates)
    ]
    return {
        _MEASURES: sorted((_as_stored(_MEASURES, row) for row in measures), key=_first),
        _CATEGORIES: sorted((_as_stored(_CATEGORIES, row) for row in rates), key=_first),
    }


def _first(row: Mapping[str, Any]) -> Any:
    return next(iter(row.values()))


def _as_stored(table: Table, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row as it will be read back: in a column of doubles, whole numbers are doubles."""
    return {
        name: float(value)
        if isinstance(table.c[name].type, Double) and value is not None
        else value
        for name, value in row.items()
    }


def snapshot_tally_rows(
    tallied: Tallied, numbers: Mapping[Pattern, int], changed: set[int]
) -> Parts:
    """Return the rows of the tallies.

    ``changed`` annotators get one even if nothing is left of them.
    """
    patterns = [
        {"pattern_id": numbers[pattern], "items": items} for pattern, items in tallied.patterns
    ]
    who = sorted(changed | (set() if tallied.tallies is None else set(tallied.tallies.counts)))
    annotators = [
        {
            "annotator_id": annotator,
            "answers": tallied.answers.get(annotator, 0),
            "tallies": _tallies_text(tallied.tallies, annotator, numbers),
        }
        for annotator in who
    ]
    return {
        _PATTERNS: sorted(patterns, key=_first),
        _ANNOTATORS: annotators,
    }


def _tallies_text(
    tallies: AnnotatorTallies | None, annotator: int, numbers: Mapping[Pattern, int]
) -> str | None:
    if tallies is None:
        return None
    met = tallies.counts.get(annotator, {})
    return _compact(sorted((own, numbers[pattern], items) for (own, pattern), items in met.items()))


def snapshot_flag_rows(standing: Sequence[tuple[int, str]]) -> Parts:
    """Return the rows of the flags that stand, by number."""
    return {_FLAGS: [{"flag_id": number, "state": state} for number, state in sorted(standing)]}


# -- patterns, numbered once for all snapshots of a question ---------------------------------


def snapshot_pattern_text(pattern: Pattern) -> str:
    """Return a pattern as canonical JSON."""
    return _compact(pattern)


def read_snapshot_pattern(text: str) -> Pattern:
    """Return a pattern from its JSON."""
    return tuple((tuple(answer), count) for answer, count in json.loads(text))


def number_snapshot_patterns(
    connection: Connection,
    question: QuestionKey,
    texts: dict[int, str],
    patterns: set[Pattern],
) -> dict[Pattern, int]:
    """Return the numbers of patterns; new ones are stored in their order, and join ``texts``."""
    known = {text: number for number, text in texts.items()}
    numbers = {pattern: known.get(snapshot_pattern_text(pattern)) for pattern in patterns}
    stored = {pattern: number for pattern, number in numbers.items() if number is not None}
    added = dict(enumerate(sorted(patterns - stored.keys()), max(texts, default=0) + 1))
    if added:
        key = question._asdict()
        rows = [
            key | {"id": n, "pattern": snapshot_pattern_text(pattern)}
            for n, pattern in added.items()
        ]
        connection.execute(insert(KnownPattern), rows)
    texts |= {number: snapshot_pattern_text(pattern) for number, pattern in added.items()}
    return stored | {pattern: number for number, pattern in added.items()}


def snapshot_pattern_texts(connection: Connection, question: QuestionKey) -> dict[int, str]:
    """Return the patterns of a question as JSON, by number."""
    rows = connection.execute(
        select(KnownPattern.id, KnownPattern.pattern).where(of_question(KnownPattern, question))
    )
    return {row.id: row.pattern for row in rows}


# -- in and out --------------------------------------------------------------------------------


def store_snapshot_parts(
    connection: Connection, question: QuestionKey, snapshot_id: int, parts: Parts
) -> None:
    """Insert the rows of a snapshot, one statement per table."""
    for table, rows in parts.items():
        if rows:
            key = dict(zip(_KEY, (*question, snapshot_id), strict=True))
            columns = {name: [row[name] for row in rows] for name in rows[0]}
            backends.backend_of(connection).bulk_insert(connection, table, key | columns)


def read_snapshot_parts(
    connection: Connection, question: QuestionKey, first: int, last: int
) -> dict[int, Parts]:
    """Return the rows of all snapshots from one number to another, one statement per table."""
    snapshots: dict[int, Parts] = {}
    for table in PARTS:
        columns = [column for column in table.columns if column.name not in _KEY]
        statement = (
            select(table.c.snapshot_id, *columns)
            .where(of_question(table, question), table.c.snapshot_id.between(first, last))
            .order_by(*table.primary_key.columns)
        )
        for number, *values in connection.execute(statement).all():
            parts = snapshots.setdefault(number, {})
            row = {column.name: value for column, value in zip(columns, values, strict=True)}
            parts.setdefault(table, []).append(row)
    return snapshots


def snapshots_with_parts(
    connection: Connection, question: QuestionKey, numbers: Sequence[int]
) -> Iterator[tuple[int, Parts]]:
    """Yield each snapshot's number and rows, numbers ascending.

    Some snapshots are read together.
    """
    for start in range(0, len(numbers), _AT_ONCE):
        some = numbers[start : start + _AT_ONCE]
        parts = read_snapshot_parts(connection, question, some[0], some[-1])
        for number in some:
            yield number, parts.get(number, {})


def item_patterns_in_snapshot(parts: Parts, texts: Mapping[int, str]) -> ItemPatterns:
    """Return the item patterns of a snapshot's rows, in their order."""
    counts = {
        read_snapshot_pattern(texts[row["pattern_id"]]): row["items"]
        for row in parts.get(_PATTERNS, [])
    }
    return ItemPatterns(dict(sorted(counts.items())))


def annotator_tallies_in_snapshot(parts: Parts, texts: Mapping[int, str]) -> AnnotatorTallies:
    """Return the annotators' tallies in a snapshot's rows, complete or a difference."""
    counts: dict[int, dict[tuple[Answer, Pattern], int]] = {}
    known: dict[int, Pattern] = {}
    for row in parts.get(_ANNOTATORS, []):
        met = counts[row["annotator_id"]] = {}
        for own, number, items in json.loads(row["tallies"] or "[]"):
            if number not in known:
                known[number] = read_snapshot_pattern(texts[number])
            met[tuple(own), known[number]] = items
    return AnnotatorTallies({who: met for who, met in counts.items() if met})


def answers_in_snapshot(parts: Parts) -> dict[int, int]:
    """Return how many answers each annotator had, by a snapshot's own rows."""
    return {row["annotator_id"]: row["answers"] for row in parts.get(_ANNOTATORS, [])}


def flags_in_snapshot(parts: Parts) -> list[tuple[int, str]]:
    """Return the flags that stood, by a snapshot's rows."""
    return [(row["flag_id"], row["state"]) for row in parts.get(_FLAGS, [])]


# -- Two chains that show whether the record was changed ------------------------------------------


_COUNTED = {
    "snapshot_categories": ("category_id", "labels", "agreements", "potential_agreements"),
    "snapshot_patterns": ("pattern", "items"),
    "snapshot_annotators": ("annotator_id", "answers", "tallies"),
    "snapshot_pairs": ("first_id", "second_id", "cells"),
    "snapshot_flags": ("flag_id", "state"),
}
"""What is counted in each part; a pattern stands for itself, not for its number."""

_HEADER = ("id", "as_of", "last_change_id", "settings", "scale", "base_snapshot_id")
_COUNTS = ("items", "items_compared", "annotators", "answers", "labels")

_SEALED_AS = {"last_change_id": "through_change", "base_snapshot_id": "frame_id"}
"""The names of columns when the first snapshots were sealed."""


def snapshot_digest(
    before: str, header: Mapping[str, Any], parts: Parts, texts: Mapping[int, str]
) -> str:
    """Return the digest of a snapshot, in hexadecimal (SHA-256).

    Args:
        before: the digest of the snapshot before it; empty for the first.
        header: the snapshot's row.
        parts: the rows that hang on it.
        texts: the patterns as JSON, by number.
    """
    counted = {
        table.name: [
            [texts[row["pattern_id"]] if c == "pattern" else row[c] for c in _COUNTED[table.name]]
            for row in parts.get(table, [])
        ]
        for table in PARTS
        if table.name in _COUNTED
    }
    # The order of texts differs between programs, that of numbers does not.
    counted["snapshot_patterns"].sort()
    return _sha256(before, [header[name] for name in (*_HEADER, *_COUNTS)], counted)


def snapshot_parts_digest(parts: Parts) -> str:
    """Return the digest of every stored value that hangs on a snapshot's row."""
    return _sha256(
        {table.name: [list(row.values()) for row in parts.get(table, [])] for table in PARTS}
    )


def snapshot_seal(before: str, header: Mapping[str, Any], parts: str) -> str:
    """Return the seal of a snapshot, in hexadecimal (SHA-256); its row must have its digest.

    Args:
        before: the seal of the snapshot before it; empty for the first.
        header: the snapshot's row; what it says of its project, whose numbers may differ from
            one database to another, and of its own seal is not sealed.
        parts: the digest of the rows that hang on it.
    """
    sealed = {
        _SEALED_AS.get(name, name): value
        for name, value in header.items()
        if name not in {"project_id", "seal"} and (name, value) != ("question_id", FIRST)
    }
    return _sha256(before, sealed, parts)


def _sha256(*values: Any) -> str:
    text = json.dumps(values, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
