"""A list of items without answers, registered by one import that can be undone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from sqlalchemy import Connection, Table, func, select

from tracker.imports.batch import Rejections
from tracker.imports.column_roles import Mapped
from tracker.imports.item_lookup import ItemIds
from tracker.imports.loader import ImportResult, Rejected, record_import, result_of
from tracker.imports.lookup import BAD
from tracker.imports.normalize import refuse_nul
from tracker.imports.readers.delimited import read_delimited
from tracker.imports.readers.source import SourceFile
from tracker.projects.change_log import lock_project, record_change
from tracker.projects.items import count_items
from tracker.projects.project import ProjectInfo
from tracker.storage import seals
from tracker.storage.schema import ItemFact

_facts = cast("Table", ItemFact.__table__)


def load_items(
    connection: Connection,
    project: ProjectInfo,
    sources: Sequence[SourceFile],
    mapped: Mapped,
    *,
    skip_invalid: bool = False,
) -> ImportResult:
    """Register the items of files, with their texts and the attributes to keep.

    A row is ``inserted`` if the project did not have the item, ``changed`` if the file says
    something new about it. Raises Refused as `load` does.
    """
    lock_project(connection, project.id)
    before = count_items(connection, project)
    names = [source.name for source in sources]
    detail = {"items": True, "sources": names}
    change, _ = record_change(connection, project.id, "import", detail)
    rejections = Rejections()
    ids = ItemIds(connection, project, change, listed=True)
    first_new, rows = ids.next, 0
    for source in sources:
        for batch in read_delimited(source, mapped, rejections):
            refuse_nul(batch, source.name)
            column = batch.columns["item"]
            numbers = ids.of(column, batch)[column.codes]
            for n in np.flatnonzero(numbers == BAD).tolist():
                rejections.add(source.name, int(batch.lines[n]), ids.reason(column[n]))
            rows += len(batch.lines)
        source.drain()
    ids.close()
    seals.changed(connection, project.id)
    rows += rejections.ragged
    if rejections.count and not skip_invalid:
        raise Rejected(result_of(None, project, rows, {}, None, rejections))
    inserted = count_items(connection, project) - before
    said = _said_otherwise(connection, project, change, first_new)
    good = rows - rejections.count
    fates = {"inserted": inserted, "changed": min(said, good - inserted), "older": 0}
    fates["unchanged"] = good - sum(fates.values())
    number = record_import(connection, project, change, rows, fates, rejections.count, sources)
    return result_of(number, project, rows, fates, None, rejections)


def _said_otherwise(
    connection: Connection, project: ProjectInfo, change: int, first_new: int
) -> int:
    """Return the number of known items about which a change said something new."""
    new = select(func.count(_facts.c.item_id.distinct())).where(
        _facts.c.project_id == project.id,
        _facts.c.change_id == change,
        _facts.c.item_id < first_new,
        _facts.c.role != "item",
        _facts.c.same_as.is_(None),
    )
    return connection.scalar(new) or 0
