"""The content of a project as digests, part by part, whatever the database's order and text."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from functools import cache
from typing import Any, TypeAlias

from sqlalchemy import (
    BigInteger,
    Boolean,
    ColumnElement,
    Connection,
    Select,
    Table,
    Text,
    bindparam,
    case,
    func,
    literal,
    select,
)

from tracker.storage import schema

_Rows: TypeAlias = Select[*tuple[Any, ...]]
Sums = dict[int, tuple[int, int]]
"""How many labels the record of each change has, and the sum of their contents."""

LETTERS = 32  # of a digest of a part, in hexadecimal
_AT_ONCE = 10_000  # rows


def digest_for_seal(value: Any) -> str:
    """Return a digest of a value as JSON, in hexadecimal (SHA-256, the first half of it)."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:LETTERS]


def add_sums(to: Sums, sums: Sums, sign: int = 1) -> None:
    """Add to the sums of changes' records; a ``sign`` of -1 subtracts."""
    for change, (count, total) in sums.items():
        before = to.get(change, (0, 0))
        to[change] = (before[0] + sign * count, before[1] + sign * total)


# -- small parts: all of it -----------------------------------------------------------------


def _filter(project: Any, statement: _Rows) -> _Rows:
    """Return a statement restricted to one project, which the column ``project`` names.

    Statements are made once: to make them anew for each transaction takes longer than to ask them.
    """
    return statement.where(project == bindparam("project"))


def _all_rows(model: Any) -> _Rows:
    table = model.__table__
    columns = [column for column in table.columns if column.name != "project_id"]
    return _filter(table.c.project_id, select(*columns).order_by(*table.primary_key.columns))


def _mixed(model: Any) -> _Rows:
    """Return the statement of how many rows there are, and the sum of a number made of each.

    The first column, the project, is left out; of texts the lengths enter it.
    """
    number: Any = literal(0, BigInteger)
    for column in [*model.__table__.columns][1:]:
        value = func.length(column) if isinstance(column.type, Text) else column
        if isinstance(column.type, Boolean):
            value = case((column, 1), else_=0)
        mixed = number * literal(_TIMES, BigInteger) + func.coalesce(value, -1)
        number = mixed % literal(_PRIMES[2], BigInteger)
    sums = select(func.count(), func.sum(number)).select_from(model)
    return _filter(model.project_id, sums)


_PRIMES = (2_147_483_629, 2_147_483_587, 2_147_483_647)
"""The content of a row is one number: a factor of who said what, and one of when, so that parts
which are exchanged between rows show. It is below 2**31: four thousand million can be added up."""
_TIMES = 1_000_003  # a column, before the next is added


@cache
def state_statements() -> dict[str, _Rows]:
    """Return a statement for each part that is sealed whole."""
    later = schema.Snapshot.__table__.alias("later")
    last_snapshot = (
        select(schema.Snapshot.id, schema.Snapshot.seal, schema.Snapshot.question_id)
        .where(
            ~later.select()
            .where(
                later.c.project_id == schema.Snapshot.project_id, later.c.id > schema.Snapshot.id
            )
            .correlate(schema.Snapshot)
            .exists()
        )
        .order_by(schema.Snapshot.question_id)
    )
    undone = (
        select(schema.Import.change_id, schema.Import.undone_by)
        .where(schema.Import.undone_by.is_not(None))
        .order_by(schema.Import.change_id)
    )
    readings = select(
        func.count(schema.Import.reading), func.sum(func.length(schema.Import.reading))
    )
    return {
        "the project's settings": _filter(schema.Project.id, select(*schema.Project.__table__.c)),
        "questions": _all_rows(schema.Question),
        "categories": _all_rows(schema.Category),
        "what was said of categories": _mixed(schema.CategoryFact),
        "category merges": _all_rows(schema.CategoryMerge),
        "annotators": _all_rows(schema.Annotator),
        "what was said of annotators": _mixed(schema.AnnotatorFact),
        "attributes of annotators": _all_rows(schema.AnnotatorAttribute),
        "aliases of annotators": _all_rows(schema.Alias),
        "notes": _all_rows(schema.Note),
        "imports taken back": _filter(schema.Import.project_id, undone),
        "how imports were read": _filter(schema.Import.project_id, readings),
        "findings": _all_rows(schema.FlagRow),
        "what was done about findings": _all_rows(schema.FlagChange),
        "sightings of findings": _mixed(schema.FlagSighting),
        "the last snapshot": _filter(schema.Snapshot.project_id, last_snapshot),
        "snapshots thinned out": _mixed(schema.Tombstone),
        "decisions": _all_rows(schema.Decision),
        "batches of assignments": _all_rows(schema.Batch),
        "assignments": _mixed(schema.Assignment),
        "labels of merged categories": _mixed(schema.MergedLabel),
        "withdrawn answers": _mixed(schema.Withdrawal),
        "synchronizations": _mixed(schema.Sync),
        "where labels are": _all_rows(schema.Lake),
        "files of labels": _all_rows(schema.LakeFile),
        "names in files of labels": _mixed(schema.LakeName),
    }


def sealed_state(connection: Connection, project_id: int) -> dict[str, str]:
    """Return the digest of each such part; empty for a project that does not exist."""
    digests = {}
    for part, statement in state_statements().items():
        rows = [_plain(row) for row in connection.execute(statement, {"project": project_id})]
        if part == "the project's settings" and not rows:
            return {}
        if part == "attributes of annotators":  # databases sort texts in their own ways
            rows.sort()
        digests[part] = digest_for_seal(rows)
    return digests


def _plain(row: Sequence[Any]) -> list[Any]:
    """Return a row in JSON's types: Postgres' sums are decimal numbers."""
    return [int(value) if isinstance(value, Decimal) else value for value in row]


# -- what stays as it is, change by change ----------------------------------------------------

_counts = ["change_id", "rows", "inserted", "changed", "unchanged", "older", "rejected"]
_imports = select(*(schema.Import.__table__.c[name] for name in _counts))
_sources = select(
    schema.Import.change_id, schema.Source.number, schema.Source.name, schema.Source.digest
).join_from(schema.Import, schema.Source, schema.Source.import_id == schema.Import.id)
_touched = select(
    schema.Touched.change_id,
    func.count(),
    func.sum(schema.Touched.first_item),
    func.sum(schema.Touched.last_item),
).group_by(schema.Touched.change_id)


def _after(statement: _Rows, project: Any, change: Any, *then: Any) -> _Rows:
    return _filter(project, statement.where(change > bindparam("after")).order_by(change, *then))


BY_CHANGE: dict[str, _Rows] = {
    "changes": _after(
        select(
            schema.Change.id, schema.Change.kind, schema.Change.recorded_at, schema.Change.detail
        ),
        schema.Change.project_id,
        schema.Change.id,
    ),
    "imports": _after(_imports, schema.Import.project_id, schema.Import.change_id),
    "sources": _after(
        _sources, schema.Import.project_id, schema.Import.change_id, schema.Source.number
    ),
    "touched": _after(_touched, schema.Touched.project_id, schema.Touched.change_id),
}
"""A statement for each part: its rows after a change, in the order of changes."""


def sealed_rows(connection: Connection, part: str, project_id: int, after: int) -> list[list[Any]]:
    """Return the rows of a part of `BY_CHANGE` after a change, in its order."""
    rows = connection.execute(BY_CHANGE[part], {"project": project_id, "after": after})
    return [_plain(row) for row in rows]


def sealed_item_names(connection: Connection, project_id: int, upto: Sequence[int]) -> list[str]:
    """Return a digest of the items' names up to each number, each from the one before."""
    statement = (
        select(schema.Item.id, schema.Item.name)
        .where(
            schema.Item.project_id == project_id,
            schema.Item.id > upto[0],
            schema.Item.id <= upto[-1],
        )
        .order_by(schema.Item.id)
    )
    digests, place = [hashlib.sha256() for _ in upto[1:]], 0
    # The driver's own rows: two columns without anything to convert, in a third of the time.
    cursor = connection.execute(statement).cursor
    while cursor is not None and (rows := cursor.fetchmany(_AT_ONCE)):
        names: list[str] = []
        for number, name in rows:
            if number > upto[place + 1]:
                digests[place].update("\0".join([*names, ""]).encode())
                names = []
                while number > upto[place + 1]:
                    place += 1
            names.append(name)
        digests[place].update("\0".join([*names, ""]).encode())
    return [digest.hexdigest()[:LETTERS] for digest in digests]


OF_ITEMS: dict[str, tuple[Any, ...]] = {
    "attributes": (
        schema.ItemAttribute.item_id,
        schema.ItemAttribute.name,
        schema.ItemAttribute.value,
    ),
    "item_aliases": (
        schema.ItemAlias.item_id,
        schema.ItemAlias.name,
        schema.ItemAlias.from_change,
        schema.ItemAlias.to_change,
    ),
}
"""The columns of all that is sealed of items beside their names; other keys, past ones too."""


def sealed_item_digest(connection: Connection, part: str, project_id: int) -> str:
    """Return a digest of a part of `OF_ITEMS`: a sum, as databases sort texts in their own ways."""
    columns, total = OF_ITEMS[part], 0
    statement = select(*columns).where(columns[0].table.c.project_id == project_id)
    for row in connection.execute(statement, execution_options={"yield_per": _AT_ONCE}):
        text = "\0".join(map(str, row)).encode()
        total += int.from_bytes(hashlib.blake2b(text, digest_size=16).digest())
    return f"{total % 2**128:032x}"


def seal_sums_of_details(connection: Connection, project_id: int, *which: Any) -> Sums:
    """Return for each change how many details of answers it recorded, and the sum of their digests.

    Only those that meet the conditions count.
    """
    table = schema.AnswerDetail.__table__
    columns = [column for column in table.columns if column.name != "project_id"]
    statement = select(*columns).where(table.c.project_id == project_id, *which)
    sums: Sums = {}
    for row in connection.execute(statement, execution_options={"yield_per": _AT_ONCE}):
        digest = hashlib.blake2b(repr(tuple(row)).encode(), digest_size=8).digest()
        count, total = sums.get(row.change_id, (0, 0))
        sums[row.change_id] = (count + 1, total + int.from_bytes(digest))
    return sums


# -- labels -----------------------------------------------------------------------------------


_WHO = {
    "item_id": 2_654_435_761,
    "question_id": 65_537,
    "given_as": 40_503,
    "category_id": 97,
    "pass": 31,
    "span_start": 7,
    "span_end": 1,
}
_WHEN = {
    "labeled_at": 1,
    "spent_ms": 8_191,
    "source": 131,
    "has_own_time": 1,
    "first_change_id": 524_287,
}


def _content(rows: Any, given_as: Any) -> ColumnElement[int]:
    """Return the content of a statement's row as a number."""
    derived = {
        "given_as": given_as,
        "spent_ms": func.coalesce(rows.spent_ms, -1),
        "has_own_time": case((rows.has_own_time, 1), else_=0),
        "first_change_id": func.coalesce(rows.first_change_id, 0),
    }

    def factor(columns: Mapping[str, int], prime: int) -> Any:
        terms = [
            (derived[name] if name in derived else rows[name]) * literal(times, BigInteger)
            for name, times in columns.items()
        ]
        return sum(terms[1:], terms[0]) % literal(prime, BigInteger)

    content: ColumnElement[int] = factor(_WHO, _PRIMES[0]) * factor(_WHEN, _PRIMES[1])
    return content % literal(_PRIMES[2], BigInteger)


def seal_sums_of_arrays(rows: Mapping[str, Any]) -> tuple[int, int]:
    """Return `seal_sums_of_staged` of rows held as arrays, (rows,), or as one number for all."""
    import numpy as np

    number, total, at_once = len(rows["line"]), 0, 250_000
    for start in range(0, number, at_once):
        part = {
            name: column
            if isinstance(column, int)
            else column[start : start + at_once].astype(np.int64)
            for name, column in rows.items()
            if name in {*_WHO, *_WHEN, "annotator_id"}
        }
        part["given_as"] = np.where(part["given_as"] == 0, part["annotator_id"], part["given_as"])
        # Remainders as databases have them below zero.
        who, when = (
            np.fmod(sum(part[name] * columns[name] for name in columns if name in part), prime)
            for columns, prime in zip((_WHO, _WHEN), _PRIMES, strict=False)
        )
        total += int(np.sum(np.fmod(who * when, _PRIMES[2])))
    return number, total


def seal_sums_of_staged(connection: Connection, rows: Table, given_as: Any) -> tuple[int, int]:
    """Return how many labels an import is about to record, and the sum of their contents."""
    statement = select(func.count(), func.sum(_content(rows.c, given_as))).select_from(rows)
    count, total = connection.execute(statement).one()
    return count, int(total or 0)


def seal_sums_of_labels(
    connection: Connection, project_id: int, column: str | None = None, values: Iterable[int] = ()
) -> Sums:
    """Return for each change how many labels it recorded and their sum, standing and past.

    Only those with one of ``values`` in a column, if one is named.
    """
    sums: Sums = {}
    for model in (schema.Label, schema.PastLabel):
        rows = model.__table__.c
        content = func.sum(_content(rows, rows.given_as))
        statement = select(rows.change_id, func.count(), content).group_by(rows.change_id)
        statement = statement.where(rows.project_id == project_id)
        if column is not None:
            statement = statement.where(rows[column].in_(list(values)))
        for change, count, total in connection.execute(statement):
            add_sums(sums, {change: (count, int(total))})
    return sums
