"""One import: every source read, staged, resolved and counted, in one transaction."""

from __future__ import annotations

import gc
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from sqlalchemy import Connection, Table, func, insert, select

from tracker.core.errors import Refused
from tracker.imports.batch import Batch, Rejection, Rejections
from tracker.imports.column_roles import Mapped
from tracker.imports.item_lookup import ItemIds
from tracker.imports.lookup import BAD
from tracker.imports.normalize import Intake, refuse_nul_in_batch
from tracker.imports.readers import Reading, read_batches
from tracker.imports.readers import Source as Reader
from tracker.imports.resolve import Settlement
from tracker.imports.staging import FATES, count_staged_inserts, staging
from tracker.imports.validate import (
    Contradiction,
    remove_contradicting_rows,
    remove_overlong_span_rows,
    validate_staged_references,
)
from tracker.projects.categories import category_names
from tracker.projects.category_merge import fold_merged_categories
from tracker.projects.change_log import (
    lock_project,
    log_touched_items,
    log_touched_range,
    record_change,
)
from tracker.projects.items import count_project_items
from tracker.projects.lookup import look_alike_names
from tracker.projects.question import QuestionInfo
from tracker.storage import backends, seals
from tracker.storage.answer_keys import of_question, own_name_key
from tracker.storage.as_of import merges_as_of_now
from tracker.storage.schema import (
    Annotator,
    Category,
    Import,
    Item,
    ItemAttribute,
    ItemFact,
    Label,
    Source,
)

Progress = Callable[[int, int | None], None]
"""Called with the bytes read so far and the bytes there are, None if unknown."""


@dataclass(frozen=True)
class ImportResult:
    """The result of an import. Every row has one outcome: the five counts add up to ``rows``.

    ``rejections`` are the first of them; ``alike`` has one of each kind, with their number;
    ``columns`` says of each file with a header which column was read as what.
    """

    id: int | None
    project: str
    rows: int
    inserted: int
    changed: int
    unchanged: int
    older: int
    rejected: int
    rejections: tuple[Rejection, ...]
    alike: tuple[tuple[Rejection, int], ...]
    gold: dict[str, int] | None
    warnings: tuple[str, ...] = ()
    columns: tuple[dict[str, Any], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON; with ``gold`` if a gold column held truths."""
        return {
            "import": self.id,
            "project": self.project,
            "rows": self.rows,
            **{fate: getattr(self, fate) for fate in FATES},
            "rejected": self.rejected,
            "rejections": [rejection.to_dict() for rejection in self.rejections],
            **({} if self.gold is None else {"gold": self.gold}),
            **({"warnings": list(self.warnings)} if self.warnings else {}),
            **({"columns": list(self.columns)} if self.columns else {}),
        }


class Rejected(Refused):
    """An import refused because of its rows; ``result`` says which."""

    def __init__(self, result: ImportResult) -> None:
        first = result.rejections[0]
        more = f" (and {result.rejected - 1:,} more)" if result.rejected > 1 else ""
        super().__init__(
            f"{first}{more}",
            "nothing was stored; correct the rows, or leave them out: --skip-invalid",
        )
        self.result = result


def load_import(
    connection: Connection,
    question: QuestionInfo,
    sources: Sequence[Reader],
    mapped: Mapped,
    *,
    skip_invalid: bool = False,
    progress: Progress | None = None,
    form: str | None = None,
) -> ImportResult:
    """Read the sources into the project as one import; ``form`` is the format of its files.

    Raises Refused (`Rejected` for single rows) if something cannot be imported; the caller's
    transaction is then rolled back completely.
    """
    lock_project(connection, question.project_id)
    empty_before = not connection.scalar(
        select(select(Label.item_id).where(of_question(Label, question.key)).exists())
    )
    names = [source.name for source in sources]
    change, recorded_at = record_change(
        connection, question.project_id, "import", {"sources": names}
    )
    rejections = Rejections()
    with staging(connection, recorded_at) as staged, _no_cycles():
        intake = Intake(connection, question, staged, rejections, (change, recorded_at))
        rows = 0
        reading = Reading(mapped, rejections, question.answers)
        for number, name, batch in _batches(sources, reading, progress, form):
            rows += intake.take(batch, number, name)
            del batch  # before the next is read: they are large
        rows += rejections.ragged
        intake.close()
        validate_staged_references(connection, staged.extremes, question.key)
        settlement = Settlement(
            connection, staged.table, question.project_id, change, intake.details
        )
        digests = {number: source.digest for number, source in enumerate(sources, 1)}
        at_once, repeats = None, False
        merges = merges_as_of_now(connection, question.key)
        if (
            empty_before
            and question.answers != "spans"
            and not merges
            and intake.details.table is None
        ):
            at_once = staged.all_at_once(single=question.answers == "one")
        if at_once is None:
            staged.store()
            if not empty_before:
                settlement.date_known_sources(digests)
            fold_merged_categories(connection, staged.table, merges, change)
            repeats = settlement.any_repeats()
            _examine(connection, question, staged.table, intake.gold, names, rejections, repeats)
        if rejections.count and not skip_invalid:
            raise Rejected(import_result(None, question, rows, {}, None, rejections))
        if at_once is None:
            settlement.run(repeats=repeats, empty_before=empty_before)
            fates, gold = settlement.fates(intake.gold, intake.truth_files)
        else:
            settlement.insert_all(at_once)
            fates, gold = count_staged_inserts(at_once, intake.gold, intake.truth_files)
        if "item_id" in staged.extremes:
            if empty_before:
                log_touched_range(connection, question.key, change, *staged.extremes["item_id"])
            else:
                log_touched_items(
                    connection, question.project_id, change, settlement.changed_items()
                )
        seals.seal_new_labels(
            connection,
            question.project_id,
            change,
            seals.seal_sums_of_staged(connection, staged.table, own_name_key(staged.table))
            if at_once is None
            else seals.seal_sums_of_arrays(at_once),
        )
        if mapped.keep:
            seals.seal_changed_attributes(connection, question.project_id)
        filled = (Item, ItemAttribute, Annotator, Category, Label)
        backends.backend_of(connection).rows_added(
            connection, rows, [cast("Table", one.__table__) for one in filled]
        )
    # What is not staged any more only repeated another row of its file.
    fates["unchanged"] += rows - sum(fates.values()) - rejections.count
    number = record_import(
        connection, question.project_id, change, rows, fates, rejections.count, sources
    )
    truths = gold if any(gold.values()) else None
    warnings = tuple(_alike(question, category_names(connection, question), intake.categories.met))
    return replace(
        import_result(number, question, rows, fates, truths, rejections), warnings=warnings
    )


def _alike(question: QuestionInfo, names: Mapping[int, str], met: Collection[int]) -> Iterator[str]:
    """Yield a sentence for each group of look-alike categories, if the import met one of them."""
    numbers = {name: number for number, name in names.items()}
    for group in look_alike_names(names.values()):
        if any(numbers[name] in met for name in group):
            words = " ".join(map(shlex.quote, (question.project.name, *group[:2])))
            yield (
                f"the categories {' and '.join(map(repr, group))} look alike; to make them one: "
                f"tracker category merge {words}"
            )


def _batches(
    sources: Sequence[Reader], reading: Reading, progress: Progress | None, form: str | None
) -> Iterator[tuple[int, str, Batch]]:
    """Yield all batches, each with its source's number and name."""
    import pyarrow as pa

    sizes = [source.size for source in sources]
    total = None if None in sizes else sum(size or 0 for size in sizes)
    before = 0
    for number, source in enumerate(sources, 1):
        if progress is not None:
            source.watch(lambda read, before=before: progress(before + read, total))  # type: ignore[misc]
        for batch in read_batches(source, reading, form):
            yield number, source.name, batch
            del batch
            pa.default_memory_pool().release_unused()
        source.drain()
        before += source.bytes_read


def _examine(
    connection: Connection,
    question: QuestionInfo,
    incoming: Table,
    gold: int | None,
    names: Sequence[str],
    rejections: Rejections,
    repeats: bool,
) -> None:
    """Reject the staged rows that contradict others, or what is known of their item."""
    contradictory: list[Contradiction] = []
    if repeats:
        single = question.answers == "one"
        contradictory += remove_contradicting_rows(
            connection, incoming, question.key, single=single
        )
    if question.answers == "spans":
        contradictory += remove_overlong_span_rows(connection, incoming, question.project_id)
    for row in contradictory:
        if row.annotator_id == gold:
            raise Refused(
                f"{names[row.source - 1]}, line {row.line}: {row.reason}", "correct the gold column"
            )
        rejections.add(names[row.source - 1], row.line, row.reason)


def record_import(
    connection: Connection,
    project_id: int,
    change: int,
    rows: int,
    fates: dict[str, int],
    rejected: int,
    sources: Sequence[Reader],
) -> int:
    """Record an import with its files, which were read; returns its number."""
    made = connection.execute(
        insert(Import)
        .values(project_id=project_id, change_id=change, rows=rows, rejected=rejected, **fates)
        .returning(Import.id)
    )
    number = int(made.scalar_one())
    connection.execute(
        insert(Source),
        [
            {"import_id": number, "number": n, "name": source.name, "digest": source.digest}
            for n, source in enumerate(sources, 1)
        ],
    )
    return number


def import_result(
    number: int | None,
    question: QuestionInfo,
    rows: int,
    fates: dict[str, int],
    gold: dict[str, int] | None,
    rejections: Rejections,
) -> ImportResult:
    """Return the result of an import from the outcomes of its rows."""
    return ImportResult(
        id=number,
        project=question.project.name,
        rows=rows,
        rejected=rejections.count,
        rejections=tuple(rejections.first),
        alike=tuple(rejections.alike.values()),
        gold=gold,
        warnings=(),
        columns=(),
        **{fate: fates.get(fate, 0) for fate in FATES},
    )


@contextmanager
def _no_cycles() -> Iterator[None]:
    """Disable the cycle collector, which would walk millions of plain lists for nothing."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


_facts = cast("Table", ItemFact.__table__)


def load_items(
    connection: Connection,
    question: QuestionInfo,
    sources: Sequence[Reader],
    mapped: Mapped,
    *,
    skip_invalid: bool = False,
    progress: Progress | None = None,
    form: str | None = None,
) -> ImportResult:
    """Register the items of files, with their texts and the attributes to keep.

    A row is ``inserted`` if the project did not have the item, ``changed`` if the file says
    something new about it. Raises Refused as `load_import` does.
    """
    lock_project(connection, question.project_id)
    before = count_project_items(connection, question.project)
    names = [source.name for source in sources]
    detail = {"items": True, "sources": names}
    change, _ = record_change(connection, question.project_id, "import", detail)
    rejections = Rejections()
    ids = ItemIds(connection, question.project, change, listed=True)
    first_new, rows = ids.next, 0
    reading = Reading(mapped, rejections, question.answers)
    for _, name, batch in _batches(sources, reading, progress, form):
        refuse_nul_in_batch(batch, name)
        column = batch.columns["item"]
        numbers = ids.of(column, batch)[column.codes]
        for n in np.flatnonzero(numbers == BAD).tolist():
            rejections.add(name, int(batch.lines[n]), ids.reason(column[n]))
        rows += len(batch.lines)
    ids.close()
    seals.seal_changed_attributes(connection, question.project_id)
    rows += rejections.ragged
    if rejections.count and not skip_invalid:
        raise Rejected(import_result(None, question, rows, {}, None, rejections))
    inserted = count_project_items(connection, question.project) - before
    said = _said_otherwise(connection, question, change, first_new)
    good = rows - rejections.count
    fates = {"inserted": inserted, "changed": min(said, good - inserted), "older": 0}
    fates["unchanged"] = good - sum(fates.values())
    number = record_import(
        connection, question.project_id, change, rows, fates, rejections.count, sources
    )
    return import_result(number, question, rows, fates, None, rejections)


def _said_otherwise(
    connection: Connection, question: QuestionInfo, change: int, first_new: int
) -> int:
    """Return the number of known items about which a change said something new."""
    new = select(func.count(_facts.c.item_id.distinct())).where(
        _facts.c.project_id == question.project_id,
        _facts.c.change_id == change,
        _facts.c.item_id < first_new,
        _facts.c.role != "item",
        _facts.c.same_as.is_(None),
    )
    return connection.scalar(new) or 0
