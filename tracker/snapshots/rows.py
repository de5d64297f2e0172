"""A snapshot as rows: stored table by table, and read back unchanged."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias, cast

from sqlalchemy import Connection, Double, Table, insert, select

from tracker.agreement.result import Assessment
from tracker.core.tallies import AnnotatorTallies, Answer, ItemPatterns, Pattern
from tracker.snapshots.tallies import Tallied
from tracker.storage import backends
from tracker.storage.answer_keys import QuestionKey, of_question
from tracker.storage.schema import (
    KnownPattern,
    SnapshotAnnotator,
    SnapshotCategory,
    SnapshotFlag,
    SnapshotMeasure,
    SnapshotPair,
    SnapshotPattern,
)

Parts: TypeAlias = dict[Table, list[dict[str, Any]]]
"""The rows that hang on a snapshot, in the order of their keys, without those keys."""

PARTS = tuple(
    cast("Table", part.__table__)
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
        {"measure": one.measure, "position": place}
        | {column: getattr(one, column) for column in MEASURE_COLUMNS}
        | {"details": json.dumps(dict(one.details), sort_keys=True)}
        for place, one in enumerate(assessment.measures)
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
        rows = [key | {"id": n, "pattern": snapshot_pattern_text(one)} for n, one in added.items()]
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
    found: dict[int, Parts] = {}
    for table in PARTS:
        columns = [column for column in table.columns if column.name not in _KEY]
        statement = (
            select(table.c.snapshot_id, *columns)
            .where(of_question(table, question), table.c.snapshot_id.between(first, last))
            .order_by(*table.primary_key.columns)
        )
        for number, *values in connection.execute(statement).all():
            parts = found.setdefault(number, {})
            row = {column.name: value for column, value in zip(columns, values, strict=True)}
            parts.setdefault(table, []).append(row)
    return found


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
