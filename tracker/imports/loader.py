"""One import: every source read, staged, resolved and counted, in one transaction."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from shlex import quote
from typing import Annotated, Any

import numpy as np
from sqlalchemy import Connection, func, insert, select

from tracker.core.errors import Refused
from tracker.core.results import Filled, Hidden, Json, Record, Spread
from tracker.formats.batch import Rejection, Rejections
from tracker.formats.column_roles import Mapped
from tracker.formats.reader import AS_IT_IS, Reading, ReadOptions
from tracker.formats.registry import Source as Reader
from tracker.imports.held_rows import Held
from tracker.imports.item_lookup import ItemIds
from tracker.imports.lookup import BAD
from tracker.imports.normalize import Intake, refuse_nul_in_batch
from tracker.imports.outcomes import (
    examine_staged_rows,
    forget_rejected_names,
    outcomes_by_question,
)
from tracker.imports.parts import Parts, Progress, batches_of_sources
from tracker.imports.questions import ImportQuestions, question_numbers_of
from tracker.imports.reading_record import ReadingRecord, reading_record
from tracker.imports.repeated_rows import Files
from tracker.imports.resembling import Resemblance, resemblance_warnings, resemblances
from tracker.imports.resolve import Settlement
from tracker.imports.staging import FATES, Fates, Staging, add_staged_inserts, staging
from tracker.imports.validate import (
    validate_staged_references,
)
from tracker.imports.withdrawal import Absences
from tracker.projects.annotators import departed_warnings
from tracker.projects.categories import fold_merged_categories
from tracker.projects.items import count_project_items
from tracker.projects.projects import (
    ProjectInfo,
    lock_project,
    record_change,
)
from tracker.projects.questions import QuestionInfo
from tracker.projects.touched import log_touched_items, log_touched_range
from tracker.storage import backends, seals
from tracker.storage.as_of import merges_as_of_now
from tracker.storage.schema import (
    Annotator,
    Category,
    Import,
    Item,
    ItemAttribute,
    ItemFact,
    Label,
    PastLabel,
    Source,
)
from tracker.storage.schema.labels import QuestionKey, own_name_key

_FILLED = [
    model.__table__
    for model in (Item, ItemAttribute, ItemFact, Annotator, Category, PastLabel, Label)
]


@dataclass(frozen=True)
class ImportResult(Record):
    """The result of an import. Every row has one outcome: the five counts add up to ``rows``.

    ``rejections`` are the first of them; ``alike`` has one of each kind, with their number;
    ``columns`` says of each file with a header which column was read as what; ``questions``, in a
    project of several, what became of the answers to each: those of which ``skipped`` say nothing;
    ``preview`` has the first rows as the ledger would hold them, if the import only shows them.
    ``unit`` is what is counted: a row of several labels counts as these. ``record`` is kept: how
    the files were read, and what was left out. ``resembling`` are the new names that the warnings
    say may be others.
    """

    id: Annotated[int | None, Json("import")]
    project: str
    rows: int
    inserted: int
    changed: int
    unchanged: int
    older: int
    rejected: int
    rejections: tuple[Rejection, ...]
    alike: Annotated[tuple[tuple[Rejection, int], ...], Hidden]
    questions: Annotated[tuple[dict[str, Any], ...], Filled] = ()
    gold: Annotated[dict[str, int] | None, Json(rare=True)] = None
    warnings: Annotated[tuple[str, ...], Filled] = ()
    columns: Annotated[tuple[dict[str, Any], ...], Filled] = ()
    record: Annotated[ReadingRecord | None, Spread] = None
    preview: Annotated[tuple[dict[str, Any], ...] | None, Json(rare=True)] = None
    unit: Annotated[str, Hidden] = "row"
    resembling: Annotated[tuple[Resemblance, ...], Hidden] = ()


class Rejected(Refused):
    """An import refused because of its rows; ``result`` says which."""

    def __init__(self, result: ImportResult, ways: Sequence[str] = ()) -> None:
        """``ways`` are options with which the file could be read."""
        first = result.rejections[0]
        more = f" (and {result.rejected - 1:,} more)" if result.rejected > 1 else ""
        super().__init__(
            f"{first}{more}",
            "nothing was stored; correct the rows, or leave them out: --skip-invalid"
            + "".join(f"; {way}" for way in ways),
        )
        self.result = result


def load_import(
    connection: Connection,
    into: QuestionInfo | ImportQuestions,
    sources: Sequence[Reader],
    mapped: Mapped,
    *,
    skip_invalid: bool = False,
    progress: Progress | None = None,
    options: ReadOptions = AS_IT_IS,
    preview: bool = False,
    absences: Absences | None = None,
) -> ImportResult:
    """Read the sources into a question, or several, as one import.

    ``options`` are the user's statements about the files; with ``preview`` the result has the
    first rows, also beside bad ones; ``absences`` say what a synced source has no longer. Raises
    Refused (`Rejected` for single rows) if something cannot be imported; the caller's transaction
    is then rolled back completely.
    """
    questions = into if isinstance(into, ImportQuestions) else ImportQuestions(connection, [into])
    project = questions.project
    lock_project(connection, project.id)
    empty_before = not connection.scalar(
        select(select(Label.item_id).where(Label.project_id == project.id).exists())
    )
    names = [source.name for source in sources]
    change, recorded_at = record_change(connection, project.id, "import", {"sources": names})
    questions.change = change
    rejections, parts = Rejections(items=None if absences is None else set()), Parts(names)
    with staging(connection, recorded_at) as staged, _no_cycles():
        intake = Intake(connection, questions, staged, rejections, (change, recorded_at))
        by_question = {question.name: question.answers for question in questions.known.values()}
        reading = Reading(mapped, rejections, questions.answers, options, by_question=by_question)
        if absences is not None:
            reading.asked, reading.may_be_empty = dict(absences.asked), True
            reading.without = absences.newer
        for number, name, batch in batches_of_sources(sources, reading, progress):
            intake.take(batch, parts.number(number, batch), name)
            del batch  # before the next is read: they are large
        intake.close()
        answered = [ids.question for ids in questions.answered.values()]
        for question in answered:
            validate_staged_references(
                connection, staged.extremes.get(question.id, {}), question.key
            )
        settlement = Settlement(
            connection, staged.table, project.id, change, intake.details, staged.extremes
        )
        at_once, repeats = None, False
        apart = empty_before or (
            absences is None and settlement.is_apart(intake.items.first_new, sources)
        )
        merges = [
            merge for question in answered for merge in merges_as_of_now(connection, question.key)
        ]
        spans = question_numbers_of(answered, "spans")
        if apart and not (spans or merges) and intake.details.table is None:
            at_once = staged.all_at_once(question_numbers_of(answered, "one"))
        if at_once is None:
            _store_rows(staged, absences, project.id)
            _date_known(settlement, () if empty_before else sources, parts)
            settlement.number_repeats(answered, options.repeat)
            fold_merged_categories(connection, staged.table, merges, change)
            repeats = settlement.any_repeats()
            files = Files(sources, parts, mapped, options, rejections)
            examine_staged_rows(connection, answered, staged.table, intake, files, repeats=repeats)
        rows = sum(tally.answers for tally in intake.counted.values()) + rejections.count
        shown = intake.first_rows() if preview else None
        if rejections.count and not (skip_invalid or preview):
            refused = import_result(None, project, rows, {}, None, rejections)
            raise Rejected(refused, _ways_round(rejections, sources))
        fates_by_question = _settle(
            settlement, intake, at_once, absences, repeats=repeats, empty_before=empty_before
        )
        if intake.keeps:
            seals.seal_changed_attributes(connection, project.id)
        _tell_planner(connection, project, rows, fates_by_question)
    outcomes = tuple(outcomes_by_question(answered, intake.counted, fates_by_question))
    fates = {fate: sum(outcome[fate] for outcome in outcomes) for fate in FATES}
    truths = {fate: sum(own.truths[fate] for own in fates_by_question.values()) for fate in FATES}
    number, record = record_import(
        connection, (project.id, change), rows, fates, sources,
        replace(reading, facts=reading.facts | questions.facts),
    )  # fmt: skip
    result = import_result(
        number, project, rows, fates, truths if any(truths.values()) else None, rejections
    )
    return replace(
        result,
        id=None if preview else number,
        record=record,
        questions=outcomes if questions.several else (),
        warnings=(
            *questions.warnings,
            *resemblance_warnings(resembling := resemblances(connection, intake), project.name),
            *questions.unmet_values(),
            *departed_warnings(connection, project, change),
        ),
        resembling=resembling,
        preview=shown,
        unit="row" if [question.answers for question in answered] in ([], ["one"]) else "label",
    )


def _store_rows(staged: Staging, absences: Absences | None, project_id: int) -> None:
    staged.store()
    if absences is not None:
        absences.number_passes(staged.connection, staged.table, project_id)


def _date_known(settlement: Settlement, sources: Sequence[Reader], parts: Parts) -> None:
    for n, source in enumerate(sources, 1):
        settlement.date_known_source(source.digest, parts.numbers_of(n))


def _settle(
    settlement: Settlement,
    intake: Intake,
    at_once: Held | None,
    absences: Absences | None,
    *,
    repeats: bool,
    empty_before: bool,
) -> dict[int, Fates]:
    """Store all staged rows, log the items they touch and seal them; returns their outcomes."""
    connection, staged, change = settlement.connection, intake.staging, intake.change
    project_id = settlement.project_id
    if intake.rejections.count:
        forget_rejected_names(connection, staged.table, intake, at_once)
    if at_once is None:
        settlement.run(repeats=repeats, empty_before=empty_before)
        fates = settlement.fates(intake.gold, intake.truth_files)
        sums = seals.seal_sums_of_staged(connection, staged.table, own_name_key(staged.table))
    else:
        fates, sums = {}, (0, 0)
        for rows in at_once.in_order():
            settlement.insert_all(rows)
            fates = add_staged_inserts(fates, rows, intake.gold, intake.truth_files)
            number, total = seals.seal_sums_of_arrays(rows)
            sums = (sums[0] + number, sums[1] + total)
    if empty_before or at_once is not None:
        for question, extremes in sorted(staged.extremes.items()):
            key = QuestionKey(project_id, question)
            log_touched_range(connection, key, change, *extremes["item_id"])
    elif absences is not None:
        absences.keep(intake.rejections.items or ())
        gone = absences.withdraw(connection, staged.table, project_id, change)
        touched = gone.union_all(settlement.changed_items()).subquery("touched")
        log_touched_items(connection, project_id, change, select(*touched.c))
    elif staged.extremes:
        log_touched_items(connection, project_id, change, settlement.changed_items())
    seals.seal_new_labels(connection, project_id, change, sums)
    return fates


def _ways_round(rejections: Rejections, sources: Sequence[Reader]) -> list[str]:
    """Return how files can be imported: other ways to read them, or not to read some columns."""
    unread = rejections.optional
    layouts = [layout.to_dict() for source in sources for layout in source.layouts.values()]
    named = {(role, layout["read"].get(role)) for role in unread for layout in layouts}
    columns = sorted({name for _, name in named if name})
    ways = ["say how dates are written: --date-format '%d.%m.%Y %H:%M'"]
    return (
        rejections.ways
        + ways * ("labeled_at" in unread)
        + [f"leave out the column: {' '.join(f'--ignore {quote(name)}' for name in columns)}"]
        * bool(columns)
    )


def record_import(
    connection: Connection,
    project_change: tuple[int, int],
    rows: int,
    fates: dict[str, int],
    sources: Sequence[Reader],
    reading: Reading,
) -> tuple[int, ReadingRecord]:
    """Record an import with its files, which were read; returns its number, and how they were."""
    record, (project_id, change) = reading_record(sources, reading), project_change
    fates = {**fates, "rejected": rows - sum(fates.values())}
    result = connection.execute(
        insert(Import)
        .values(project_id=project_id, change_id=change, rows=rows, **fates)
        .values(reading=record.to_text())
        .returning(Import.id)
    )
    number = int(result.scalar_one())
    connection.execute(
        insert(Source),
        [
            {"import_id": number, "number": n, "name": source.name, "digest": source.digest}
            for n, source in enumerate(sources, 1)
        ],
    )
    return number, record


def _tell_planner(
    connection: Connection, project: ProjectInfo, rows: int, fates: dict[int, Fates]
) -> None:
    """Let the database know of the rows of an import that is not recorded yet."""
    of_project = (Import.project_id == project.id, Import.undone_by.is_(None))
    held = connection.scalar(select(func.sum(Import.inserted)).where(*of_project)) or 0
    held += sum(own.answers["inserted"] for own in fates.values())
    backends.backend_of(connection).rows_added(connection, project.id, rows, _FILLED, held)


def has_earlier_import(connection: Connection, project_id: int, number: int) -> bool:
    """Return whether there is something to compare the answers of an import with."""
    earlier = select(Import.id).where(Import.project_id == project_id, Import.id < number)
    return connection.scalar(earlier.limit(1)) is not None


def import_result(
    number: int | None,
    project: ProjectInfo,
    rows: int,
    fates: dict[str, int],
    gold: dict[str, int] | None,
    rejections: Rejections,
) -> ImportResult:
    """Return the result of an import from the outcomes of its rows."""
    return ImportResult(
        id=number,
        project=project.name,
        rows=rows,
        rejected=rejections.count,
        rejections=tuple(rejections.first),
        alike=tuple(rejections.alike.values()),
        gold=gold,
        warnings=(),
        columns=(),
        questions=(),
        preview=None,
        unit="row",
        resembling=(),
        record=None,
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


_facts = ItemFact.__table__


def load_items(
    connection: Connection,
    questions: ImportQuestions,
    sources: Sequence[Reader],
    mapped: Mapped,
    *,
    skip_invalid: bool = False,
    progress: Progress | None = None,
    options: ReadOptions = AS_IT_IS,
) -> ImportResult:
    """Register the items of files, with their texts and the attributes to keep.

    A row is ``inserted`` if the project did not have the item, ``changed`` if the file says
    something new about it. Raises Refused as `load_import` does.
    """
    project = questions.project
    lock_project(connection, project.id)
    before = count_project_items(connection, project)
    names = [source.name for source in sources]
    detail = {"items": True, "sources": names}
    change, _ = record_change(connection, project.id, "import", detail)
    questions.close(change)
    rejections = Rejections()
    ids = ItemIds(connection, project, change, listed=True)
    rows = 0
    reading = Reading(mapped, rejections, "", options)
    for _, name, batch in batches_of_sources(sources, reading, progress):
        refuse_nul_in_batch(batch, name)
        column = batch.columns["item"]
        numbers = ids.of(column, batch)[column.codes]
        for n in np.flatnonzero(numbers == BAD).tolist():
            place = int(batch.lines[n])
            rejections.add(batch.source or name, place, ids.reason(column[n]), batch.unit)
        rows += len(batch.lines)
    ids.close()
    seals.seal_changed_attributes(connection, project.id)
    of_items = [model.__table__ for model in (ItemAttribute, ItemFact, Item)]
    backends.backend_of(connection).rows_added(connection, project.id, rows, of_items)
    rows += rejections.ragged
    if rejections.count and not skip_invalid:
        raise Rejected(import_result(None, project, rows, {}, None, rejections))
    inserted = count_project_items(connection, project) - before
    changed = _said_otherwise(connection, project, change, ids.first_new)
    good = rows - rejections.count
    fates = {"inserted": inserted, "changed": min(changed, good - inserted), "older": 0}
    fates["unchanged"] = good - sum(fates.values())
    number, record = record_import(connection, (project.id, change), rows, fates, sources, reading)
    result = import_result(number, project, rows, fates, None, rejections)
    return replace(result, record=record)


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
