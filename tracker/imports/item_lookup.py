"""Ids of items by name; only the recent ones of a project are kept in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import compress
from typing import Any

import numpy as np
from sqlalchemy import Column, Connection, MetaData, Table, Text, func, literal, select

from tracker.formats.batch import (
    ATTRIBUTE_COLUMN,
    KEEP,
    Batch,
    Cells,
    Flags,
    Numbers,
    place_array,
    text_array,
)
from tracker.imports import cell_values
from tracker.imports.item_facts import Fact, ItemFacts
from tracker.imports.lookup import BAD, Ids
from tracker.projects.item_aliases import standing_item_alias
from tracker.projects.names import LONGEST_NAME
from tracker.projects.projects import ProjectInfo
from tracker.storage import backends, seals
from tracker.storage.current import ATTRIBUTE, ITEM, LENGTH, TEXT
from tracker.storage.schema import Item, ItemAlias

_items = Item.__table__
_wanted = Table("wanted_items", MetaData(), Column("name", Text), prefixes=["TEMPORARY"])
_DETAILS = {"text": TEXT, "n_tokens": LENGTH}
"""What a file may tell of an item: the column of ``items`` by role."""
_MOST_REMEMBERED = 5_000_000  # names in memory, some 20 bytes each; the rest is looked up again
_SPACE = "".join(mark for mark in map(chr, range(0x3001)) if mark.isspace())
"""What Python takes for space around a text, as it does for other names."""


class ItemIds(Ids):
    """The ids of items; facts about an item are stored when it first occurs."""

    what = "item"

    def __init__(
        self, connection: Connection, project: ProjectInfo, change: int, *, listed: bool = False
    ) -> None:
        """``listed`` says that items without an answer are registered, too."""
        super().__init__(connection, project)
        self.listed = listed
        self.measures_texts = False  # whether a text's length is that of a document of spans
        self.facts = ItemFacts(connection, project.id, change)
        highest = select(func.max(Item.id)).where(Item.project_id == project.id)
        self.first_new = self.next = (connection.scalar(highest) or 0) + 1
        self.may_be_stored = self.next > 1
        also = select(literal(1)).where(standing_item_alias(project.id)).limit(1)
        self.have_aliases = connection.scalar(also) is not None
        self._names = _Names()
        self._ids = np.zeros(0, np.int64)  # of these names
        _wanted.create(connection)

    def close(self) -> None:
        """Record the facts of known items, and drop the temporary data."""
        self.facts.close()
        _wanted.drop(self.connection)

    def of(self, column: Cells, batch: Batch) -> Numbers:
        names, bad = self._fit(column)
        places = self._names.places(names)
        numbers = np.where(bad, BAD, np.append(self._ids, BAD)[places])
        unknown = (places < 0) & ~bad
        if unknown.any():
            fresh = names.take(place_array(np.flatnonzero(unknown)))
            among = np.where(unknown, np.cumsum(unknown) - 1, -1)
            if not names.equals(column.distinct):  # without their spaces some may be the same
                fresh = fresh.unique()
                among = _places(names, fresh)
            roles = (role for role in batch.columns if role in _DETAILS or role.startswith(KEEP))
            telling = {role: batch.columns[role] for role in roles}
            rows = _first_records(column, among) if telling else among[:0]
            numbers[unknown] = self._learn_items(fresh, rows, telling)[among[unknown]]
        return numbers

    def are_new(self, numbers: Numbers) -> Flags:
        return numbers >= self.first_new

    def reason(self, raw: str) -> str:
        return str(self.find_objection(raw.strip()))

    def _fit(self, column: Cells) -> tuple[Any, Flags]:
        """Return the names without surrounding space, and which of them cannot be names."""
        import pyarrow.compute as pc

        names = pc.utf8_trim(column.distinct, characters=_SPACE)
        length = np.from_dlpack(pc.binary_length(names))
        nul = np.from_dlpack(pc.find_substring(names, "\0"))
        return names, (length == 0) | (length > LONGEST_NAME) | (nul >= 0)

    def _learn_items(self, fresh: Any, rows: Numbers, telling: Mapping[str, Cells]) -> Numbers:
        """Return the ids of names that were not met before.

        Each first occurs in the given row; no rows are given if there are no columns ``telling``
        facts about items, by role.
        """
        numbers = np.zeros(len(fresh), np.int64)
        is_new = np.ones(len(fresh), bool)
        if self.may_be_stored:
            stored = self._stored(fresh)
            for place, name in enumerate(fresh.to_pylist()):
                if name in stored:
                    is_new[place], numbers[place] = False, stored[name]
        numbers[is_new] = self.next + np.arange(is_new.sum())
        self.next += int(is_new.sum())
        cells_of = {role: cells.at(rows) for role, cells in telling.items()}
        self._tell(fresh, numbers, is_new, cells_of)
        if len(self._ids) > _MOST_REMEMBERED:
            self._names, self._ids = _Names(), self._ids[:0]
            self.may_be_stored = True
        self._names.add(fresh)
        self._ids = np.concatenate([self._ids, numbers])
        return numbers

    def _stored(self, names: Any) -> dict[str, int]:
        backends.backend_of(self.connection).bulk_insert(self.connection, _wanted, {"name": names})
        rows = self.connection.execute(
            select(Item.name, Item.id)
            .join(_wanted, _wanted.c.name == Item.name)
            .where(Item.project_id == self.project.id)
        )
        stored = {row.name: row.id for row in rows}
        if self.have_aliases:  # they go before an item of that name, which is undone
            # Not joined: a planner without statistics would go through all keys for each name.
            other = select(ItemAlias.item_id).where(
                standing_item_alias(self.project.id), ItemAlias.name == _wanted.c.name
            )
            also = self.connection.execute(select(_wanted.c.name, other.scalar_subquery()))
            stored |= {name: number for name, number in also if number is not None}
        self.connection.execute(_wanted.delete())
        return stored

    def _tell(
        self, names: Any, numbers: Numbers, is_new: Flags, cells_of: Mapping[str, Sequence[str]]
    ) -> None:
        facts = {role: [_detail(role, raw) for raw in cells] for role, cells in cells_of.items()}
        if self.measures_texts and "text" in facts and "n_tokens" not in facts:
            facts["n_tokens"] = [text and len(text) for text in facts["text"]]
        if is_new.any():
            columns = {"project_id": self.project.id, "id": numbers[is_new]}
            columns["name"] = names.take(place_array(np.flatnonzero(is_new)))
            for role in _DETAILS.keys() & facts.keys():
                columns[_DETAILS[role]] = list(compress(facts[role], is_new))
            backends.backend_of(self.connection).bulk_insert(self.connection, _items, columns)
            first, number = int(numbers[is_new][0]), int(is_new.sum())
            noted = _with_nul_between(columns["name"])
            seals.seal_new_items(self.connection, self.project.id, first, number, noted)
        for which, tell in ((is_new, self.facts.of_new), (~is_new, self.facts.of_known)):
            of = np.flatnonzero(which).tolist() if facts or self.listed else []
            statements = [Fact(int(numbers[n]), ITEM, "", "") for n in of if self.listed]
            for role, cells in facts.items():
                attribute = role.removeprefix(KEEP).removeprefix(ATTRIBUTE_COLUMN)
                key = (_DETAILS[role], "") if role in _DETAILS else (ATTRIBUTE, attribute)
                of_role = [(int(numbers[n]), str(cells[n])) for n in of if cells[n] is not None]
                statements += [Fact(item, *key, text) for item, text in of_role]
            tell(statements)


class _Names:
    """Names in the order in which they were met, each once, found by their hashes.

    They stay in an Arrow array, in a tenth of the memory that Python's objects would take.
    """

    def __init__(self) -> None:
        self._names = text_array([])
        self._hashes = np.zeros(0, np.int64)  # ascending
        self._order = np.zeros(0, np.int32)  # the place of the name with each hash

    def add(self, names: Any) -> None:
        import pyarrow as pa

        hashes = _hashes(names)
        order = np.argsort(hashes)
        hashes = hashes[order]
        at = np.searchsorted(self._hashes, hashes)
        self._order = np.insert(self._order, at, order + len(self._names))
        self._hashes = np.insert(self._hashes, at, hashes)
        self._names = pa.concat_arrays([self._names, names])

    def places(self, names: Any) -> Numbers:
        """Return the place of each name, -1 if it was not met."""
        if not len(self._hashes):
            return np.full(len(names), -1)
        hashes = _hashes(names)
        at = np.minimum(np.searchsorted(self._hashes, hashes), len(self._hashes) - 1)
        present = self._hashes[at] == hashes
        places = np.where(present, self._order[at], -1)
        found_at = place_array(np.flatnonzero(present))
        if self._names.take(place_array(places[present])).equals(names.take(found_at)):
            return places
        return _places(names, self._names)  # two have the same hash


def _hashes(names: Any) -> Numbers:
    return np.fromiter(map(hash, names.to_pylist()), np.int64, len(names))


def _places(names: Any, among: Any) -> Numbers:
    """Return the place of each name among others, -1 if it is absent."""
    import pyarrow as pa
    import pyarrow.compute as pc

    index = pc.index_in(names, value_set=among)
    places: Numbers = np.frombuffer(index.buffers()[1], np.int32, len(index), 4 * index.offset)
    present = np.from_dlpack(index.is_valid().cast(pa.int8()))
    return np.where(present, places, -1)


def _with_nul_between(names: Any) -> Any:
    """Return the bytes of all names, as a buffer."""
    import pyarrow as pa
    import pyarrow.compute as pc

    ends = pa.py_buffer(np.array([0, len(names)], np.int32))
    listing = pa.ListArray.from_arrays(pa.Array.from_buffers(pa.int32(), 2, [None, ends]), names)
    return pc.binary_join(listing, text_array(["\0"])[0])[0].as_buffer()


def _first_records(column: Cells, places: Numbers) -> Numbers:
    """Return the first record of each place in a column's distinct texts; -1 if there is none."""
    of_records = places[column.codes]
    backwards = np.flatnonzero(of_records >= 0)[::-1]
    first = np.zeros(int(places.max(initial=-1)) + 1, np.int64)
    first[of_records[backwards]] = backwards
    return first


def _detail(role: str, raw: str) -> Any:
    text = raw.strip()
    if role == "n_tokens":
        with suppress(ValueError):
            return cell_values.cell_span_offset(text)
        return None
    if role.startswith(KEEP + ATTRIBUTE_COLUMN):
        return text or None  # what an item does not have is an empty cell in an export
    return text if role.startswith(KEEP) else raw or None
