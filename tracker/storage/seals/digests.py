"""The content of a project as digests, part by part, whatever the database's order and text."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, TypeAlias

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Select,
    Table,
    bindparam,
    case,
    func,
    literal,
    select,
)

from tracker.storage.schema import (
    Alias,
    Annotator,
    AnnotatorAttribute,
    AnnotatorFact,
    AnswerDetail,
    Category,
    CategoryFact,
    CategoryMerge,
    Change,
    FlagChange,
    FlagRow,
    FlagSighting,
    Import,
    Item,
    ItemAlias,
    ItemAttribute,
    Label,
    Note,
    PastLabel,
    Project,
    Question,
    Snapshot,
    Source,
    Tombstone,
    Touched,
)

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


def _sums(model: Any, *sums: Any) -> _Rows:
    return _filter(model.project_id, select(func.count(), *map(func.sum, sums)).select_from(model))


_later = Snapshot.__table__.alias("later")
_last_snapshot = (
    select(Snapshot.id, Snapshot.seal, Snapshot.question_id)
    .where(
        ~_later.select()
        .where(_later.c.project_id == Snapshot.project_id, _later.c.id > Snapshot.id)
        .correlate(Snapshot)
        .exists()
    )
    .order_by(Snapshot.question_id)
)
_order = (
    select(
        CategoryFact.category_id,
        CategoryFact.change_id,
        CategoryFact.value,
        CategoryFact.question_id,
    )
    .where(CategoryFact.role == "position")
    .order_by(CategoryFact.question_id, CategoryFact.category_id, CategoryFact.change_id)
)
_undone = (
    select(Import.change_id, Import.undone_by)
    .where(Import.undone_by.is_not(None))
    .order_by(Import.change_id)
)
_readings = select(func.count(Import.reading), func.sum(func.length(Import.reading)))

STATE: dict[str, _Rows] = {
    "the project's settings": _filter(Project.id, select(*Project.__table__.c)),
    "questions": _all_rows(Question),
    "categories": _all_rows(Category),
    "the order of categories": _filter(CategoryFact.project_id, _order),
    "category merges": _all_rows(CategoryMerge),
    "annotators": _all_rows(Annotator),
    "what was said of annotators": _sums(
        AnnotatorFact, AnnotatorFact.annotator_id * AnnotatorFact.change_id
    ),
    "attributes of annotators": _all_rows(AnnotatorAttribute),
    "aliases of annotators": _all_rows(Alias),
    "notes": _all_rows(Note),
    "imports taken back": _filter(Import.project_id, _undone),
    "how imports were read": _filter(Import.project_id, _readings),
    "findings": _all_rows(FlagRow),
    "what was done about findings": _all_rows(FlagChange),
    "sightings of findings": _sums(
        FlagSighting,
        FlagSighting.informative,
        FlagSighting.flag_id * FlagSighting.number,
        func.length(FlagSighting.evidence),
    ),
    "the last snapshot": _filter(Snapshot.project_id, _last_snapshot),
    "snapshots thinned out": _sums(Tombstone, Tombstone.snapshot_id),
}
"""A statement for each part that is sealed whole."""


def sealed_state(connection: Connection, project_id: int) -> dict[str, str]:
    """Return the digest of every part of `STATE`; empty for a project that does not exist."""
    digests = {}
    for part, statement in STATE.items():
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

_imports = select(
    Import.change_id,
    Import.rows,
    Import.inserted,
    Import.changed,
    Import.unchanged,
    Import.older,
    Import.rejected,
)
_sources = select(Import.change_id, Source.number, Source.name, Source.digest).join_from(
    Import, Source, Source.import_id == Import.id
)
_touched = select(
    Touched.change_id, func.count(), func.sum(Touched.first_item), func.sum(Touched.last_item)
).group_by(Touched.change_id)


def _after(statement: _Rows, project: Any, change: Any, *then: Any) -> _Rows:
    return _filter(project, statement.where(change > bindparam("after")).order_by(change, *then))


BY_CHANGE: dict[str, _Rows] = {
    "changes": _after(
        select(Change.id, Change.kind, Change.recorded_at, Change.detail),
        Change.project_id,
        Change.id,
    ),
    "imports": _after(_imports, Import.project_id, Import.change_id),
    "sources": _after(_sources, Import.project_id, Import.change_id, Source.number),
    "touched": _after(_touched, Touched.project_id, Touched.change_id),
}
"""A statement for each part: its rows after a change, in the order of changes."""


def sealed_rows(connection: Connection, part: str, project_id: int, after: int) -> list[list[Any]]:
    """Return the rows of a part of `BY_CHANGE` after a change, in its order."""
    rows = connection.execute(BY_CHANGE[part], {"project": project_id, "after": after})
    return [_plain(row) for row in rows]


def sealed_item_names(connection: Connection, project_id: int, upto: Sequence[int]) -> list[str]:
    """Return a digest of the items' names up to each number, each from the one before."""
    statement = (
        select(Item.id, Item.name)
        .where(Item.project_id == project_id, Item.id > upto[0], Item.id <= upto[-1])
        .order_by(Item.id)
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
    "attributes": (ItemAttribute.item_id, ItemAttribute.name, ItemAttribute.value),
    "item_aliases": (
        ItemAlias.item_id,
        ItemAlias.name,
        ItemAlias.from_change,
        ItemAlias.to_change,
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
    table = AnswerDetail.__table__
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
_PRIMES = (2_147_483_629, 2_147_483_587, 2_147_483_647)
"""The content of a row is one number: a factor of who said what, and one of when, so that parts
which are exchanged between rows show. It is below 2**31: four thousand million can be added up."""


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
    for model in (Label, PastLabel):
        rows = model.__table__.c
        content = func.sum(_content(rows, rows.given_as))
        statement = select(rows.change_id, func.count(), content).group_by(rows.change_id)
        statement = statement.where(rows.project_id == project_id)
        if column is not None:
            statement = statement.where(rows[column].in_(list(values)))
        for change, count, total in connection.execute(statement):
            add_sums(sums, {change: (count, int(total))})
    return sums
