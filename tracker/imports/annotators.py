"""Files of annotators: a row for each, its other columns kept as attributes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from tracker.formats.batch import KEEP, Batch, Rejections
from tracker.formats.column_roles import Mapped
from tracker.formats.reader import Reading
from tracker.imports.loader import ImportResult, Rejected, import_result, record_import
from tracker.imports.lookup import BAD, AnnotatorIds
from tracker.imports.normalize import normalize_annotator_kinds, refuse_nul_in_batch
from tracker.projects.annotators import (
    annotator_attributes,
    list_annotators,
    record_annotator_attributes,
)
from tracker.projects.projects import ProjectInfo, lock_project, record_change
from tracker.readers.registry import Source, read_batches
from tracker.storage.current import apply_kind_facts, record_annotator_facts

Values = dict[tuple[int, str], str]
"""The value that a file gives an annotator, by the annotator's id and the attribute's name."""


@dataclass(frozen=True)
class AnnotatorImport(ImportResult):
    """The result of an import of annotators: how many were named, and their attributes."""

    annotators: int = 0
    attributes: tuple[str, ...] = ()


def load_annotators(
    connection: Connection,
    project: ProjectInfo,
    sources: Sequence[Source],
    mapped: Mapped,
    *,
    skip_invalid: bool = False,
) -> AnnotatorImport:
    """Register the annotators of files with their attributes; an empty cell says nothing.

    A row is ``inserted`` if the project did not have the annotator, ``changed`` if the file says
    something new. Raises Refused (`Rejected` for single rows) if a file cannot be imported.
    """
    lock_project(connection, project.id)
    known = {annotator.id for annotator in list_annotators(connection, project)}
    before = annotator_attributes(connection, project)
    detail = {"annotators": True, "sources": [source.name for source in sources]}
    change, _ = record_change(connection, project.id, "import", detail)
    rejections, ids, values = Rejections(), AnnotatorIds(connection, project), Values()
    kinds = dict(ids.kinds)
    rows, reading = 0, Reading(mapped, rejections, "one")
    for source in sources:
        for batch in read_batches(source, reading):
            rows += len(batch.lines)
            _take(batch, source.name, ids, values, rejections)
    rows += rejections.ragged
    met = {ids.aliases.get(number, number) for number in ids.met}
    record_annotator_facts(connection, project.id, change, ids.met, ids.kinds_given)
    apply_kind_facts(connection, project.id, change)
    attributes = ((*key, value) for key, value in values.items())
    record_annotator_attributes(connection, project.id, change, attributes)
    new = met - known
    changed = {
        number
        for (given, name), value in values.items()
        if before.get(number := ids.aliases.get(given, given), {}).get(name) != value
    }
    changed |= {n for n, kind in ids.kinds_given.items() if kinds.get(ids.name_of(n)) != kind}
    fates = {"inserted": len(new), "changed": len(changed - new), "older": 0}
    fates["unchanged"] = rows - rejections.count - sum(fates.values())
    names = tuple(sorted({name for _, name in values}))
    further: dict[str, Any] = {"annotators": len(met), "attributes": names}
    if rejections.count and not skip_invalid:
        result = import_result(project, rows, rejections, fates)
        raise Rejected(AnnotatorImport(**vars(result), **further))
    result = record_import(connection, project, change, rows, fates, sources, reading)
    return AnnotatorImport(**vars(result), **further)


def _take(
    batch: Batch, source: str, ids: AnnotatorIds, values: Values, rejections: Rejections
) -> None:
    """Note what a batch says; a row that contradicts another of the import is rejected."""
    refuse_nul_in_batch(batch, source)
    column = batch.columns["annotator"]
    numbers = ids.of(column, batch)[column.codes]
    if "kind" in batch.columns:
        normalize_annotator_kinds(ids, numbers, batch, source)
    roles = [role for role in batch.columns if role.startswith(KEEP)]
    for n, number in enumerate(numbers.tolist()):
        cells = {role.removeprefix(KEEP): batch.columns[role][n].strip() for role in roles}
        of_row = {(number, name): value for name, value in cells.items() if value}
        other = next((key for key in of_row if values.get(key, of_row[key]) != of_row[key]), None)
        if number == BAD:
            reason = ids.reason(column[n])
        elif other is not None:
            reason = f"the {other[1]} of {column[n].strip()!r} is {of_row[other]!r} here, "
            reason += f"and {values[other]!r} on another line"
        else:
            values |= of_row
            continue
        rejections.add(source, int(batch.lines[n]), reason)
