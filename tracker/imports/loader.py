"""One import: every source read, staged, resolved and counted, in one transaction."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from shlex import quote
from typing import Annotated, Any

import numpy as np
from sqlalchemy import Connection, exists, func, insert, select

from tracker.core.errors import Refused
from tracker.core.results import Filled, Hidden, Json, Record, Spread
from tracker.formats.batch import Oddity, Rejection, Rejections
from tracker.formats.column_roles import Mapped
from tracker.formats.reader import AS_IT_IS, Reading, ReadOptions
from tracker.imports.item_lookup import ItemIds
from tracker.imports.lookup import BAD
from tracker.imports.normalize import Intake, refuse_nul_in_batch
from tracker.imports.parts import Parts, Progress, batches_of_sources, refuse_other_numbers
from tracker.imports.questions import ImportQuestions, question_numbers_of
from tracker.imports.reading_record import ReadingRecord, reading_record
from tracker.imports.repeated_rows import Files
from tracker.imports.resembling import Resemblance, resemblance_warnings, resemblances
from tracker.imports.resolve import Settlement
from tracker.imports.staging import FATES, Fates, Held, add_staged_inserts, staging
from tracker.imports.validate import (
    examine_staged_rows,
    forget_rejected_names,
    outcomes_by_question,
    validate_staged_references,
)
from tracker.imports.withdrawal import Absences
from tracker.projects.annotators import departed_warnings
from tracker.projects.categories import fold_merged_categories
from tracker.projects.items import count_project_items
from tracker.projects.projects import ProjectInfo, lock_project, record_change
from tracker.projects.questions import QuestionInfo
from tracker.projects.touched import log_touched_items, log_touched_range
from tracker.readers.registry import Source as Reader
from tracker.storage import backends, seals
from tracker.storage.as_of import Merge, merges_as_of_now
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
    say may be others, and ``odd`` what may mean something else than it seems to.
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
    odd: tuple[Oddity, ...] = ()
    warnings: Annotated[tuple[str, ...], Filled] = ()
    columns: Annotated[tuple[dict[str, Any], ...], Filled] = ()
    record: Annotated[ReadingRecord | None, Spread] = None
    preview: Annotated[tuple[dict[str, Any], ...] | None, Json(rare=True)] = None
    unit: Annotated[str, Hidden] = "row"
    resembling: Annotated[tuple[Resemblance, ...], Hidden] = ()


class Unstored(Refused):
    """An import refused because of what its files hold; ``result`` says what."""

    result: ImportResult


class LooksOdd(Unstored):
    """An import refused because cells may mean something else than they seem to."""

    def __init__(self, result: ImportResult, place: str = "") -> None:
        """``place`` begins the sentence: the name of the file, if there is one only."""
        self.stopping = [oddity for oddity in result.odd if oddity.stops]
        first, *others = self.stopping
        more = f" (and {len(others)} more)" if others else ""
        super().__init__(f"{place}{first.what}{more}", first.option)
        self.result = result


class Rejected(Unstored):
    """An import refused because of its rows; ``result`` says which."""

    def __init__(self, result: ImportResult, ways: Sequence[str] = ()) -> None:
        """``ways`` are options with which the file could be read."""
        first = result.rejections[0]
        more = f" (and {result.rejected - 1:,} more)" if result.rejected > 1 else ""
        mend = "nothing was stored; correct the rows, or leave them out: --skip-invalid"
        super().__init__(f"{first}{more}", "; ".join([mend, *ways]))
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
    empty_before = not connection.scalar(select(exists().where(Label.project_id == project.id)))
    names = [source.name for source in sources]
    change, recorded_at = record_change(connection, project.id, "import", {"sources": names})
    questions.change = change
    rejections = Rejections(items=None if absences is None else set())
    with staging(connection, recorded_at) as staged, _no_cycles():
        intake = Intake(connection, questions, staged, rejections, (change, recorded_at), options)
        by_question = {question.name: question.answers for question in questions.known.values()}
        reading = Reading(mapped, rejections, questions.answers, options, by_question=by_question)
        if absences is not None:
            reading.asked, reading.may_be_empty = dict(absences.asked), True
            reading.without = absences.newer
        parts = _take_sources(intake, sources, reading, progress)
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
            files = Files(sources, parts, mapped, options, rejections)
            repeats = _examine_rows(
                settlement, intake, files, merges, absences, empty_before=empty_before
            )
        rows = sum(tally.answers for tally in intake.counted.values()) + rejections.count
        shown = intake.first.named(intake) if preview else None
        refused = import_result(project, rows, rejections)
        _refuse_odd(reading, refused, [] if preview else names)
        if rejections.count and not (skip_invalid or preview):
            refused = replace(refused, odd=tuple(reading.odd))
            raise Rejected(refused, _ways_round(rejections, sources))
        fates_by_question = _settle(
            settlement, intake, at_once, absences, repeats=repeats, empty_before=empty_before
        )
        if empty_before and at_once is None:
            again = settlement.count_contradictions(intake.gold)
            reading.odd += intake.odd.find_contradictions(*again)
            _refuse_odd(reading, refused, [] if preview else names)
        if intake.keeps:
            seals.seal_changed_items(connection, project.id, "attributes")
        _tell_planner(connection, project, rows, fates_by_question)
    outcomes = tuple(outcomes_by_question(answered, intake.counted, fates_by_question))
    fates = {fate: sum(outcome[fate] for outcome in outcomes) for fate in FATES}
    truths = {fate: sum(own.truths[fate] for own in fates_by_question.values()) for fate in FATES}
    reading = replace(reading, facts=reading.facts | questions.facts)
    gold = truths if any(truths.values()) else None
    result = record_import(connection, project, change, rows, fates, sources, reading, gold)
    return replace(
        result,
        id=None if preview else result.id,
        odd=tuple(reading.odd),
        questions=outcomes if questions.several else (),
        warnings=(
            *questions.warnings,
            *resemblance_warnings(resembling := resemblances(connection, intake), intake),
            *questions.unmet_values(),
            *departed_warnings(connection, project, change),
        ),
        resembling=resembling,
        preview=shown,
        unit="row" if [question.answers for question in answered] in ([], ["one"]) else "label",
    )


def _take_sources(
    intake: Intake, sources: Sequence[Reader], reading: Reading, progress: Progress | None
) -> Parts:
    """Stage the rows of all sources, note what looks odd in them, and number their files."""
    parts = Parts([source.name for source in sources])
    for number, name, batch in batches_of_sources(sources, reading, progress):
        intake.take(batch, parts.number(number, batch), name)
        del batch  # before the next is read: they are large
    intake.close()
    reading.odd += intake.odd.find(intake.annotators, several=intake.questions.several)
    reading.left_out.update(intake.odd.left_out)
    return parts


def _refuse_odd(reading: Reading, refused: ImportResult, names: Sequence[str]) -> None:
    """Raise LooksOdd if something odd must be decided first; a preview, without names, shows it."""
    if names and any(oddity.stops for oddity in reading.odd):
        place = f"{names[0]}: " if len(names) == 1 else ""
        raise LooksOdd(replace(refused, odd=tuple(reading.odd)), place)


def _examine_rows(
    settlement: Settlement,
    intake: Intake,
    files: Files,
    merges: list[Merge],
    absences: Absences | None,
    *,
    empty_before: bool,
) -> bool:
    """Store the staged rows, and reject those that contradict others; return whether any repeat."""
    connection, staged = settlement.connection, intake.staging
    answered = [ids.question for ids in intake.questions.answered.values()]
    staged.store()
    if absences is not None:
        absences.number_passes(connection, staged.table, settlement.project_id)
    for n, source in enumerate(() if empty_before else files.sources, 1):
        settlement.date_known_source(source.digest, files.parts.numbers_of(n))
    settlement.number_repeats(answered, files.options.repeat)
    fold_merged_categories(connection, staged.table, merges, intake.change)
    repeats = settlement.any_repeats()
    examine_staged_rows(intake, files, repeats=repeats)
    return repeats


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
        forget_rejected_names(intake, at_once)
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
    ways = ["say how dates are written: --date-format day.month.year"]
    return (
        rejections.ways
        + ways * ("labeled_at" in unread)
        + [f"leave out the column: {' '.join(f'--ignore {quote(name)}' for name in columns)}"]
        * bool(columns)
    )


def record_import(
    connection: Connection,
    project: ProjectInfo,
    change: int,
    rows: int,
    fates: Mapping[str, int],
    sources: Sequence[Reader],
    reading: Reading,
    gold: dict[str, int] | None = None,
) -> ImportResult:
    """Record an import with its files, which were read; returns its result."""
    record = reading_record(sources, reading)
    refuse_other_numbers(connection, project.id, sources, reading)
    counts = {**fates, "rejected": rows - sum(fates.values()), "reading": record.to_text()}
    statement = insert(Import).values(project_id=project.id, change_id=change, rows=rows, **counts)
    number = int(connection.execute(statement.returning(Import.id)).scalar_one())
    files = [
        {"import_id": number, "number": n, "name": source.name, "digest": source.digest}
        for n, source in enumerate(sources, 1)
    ]
    connection.execute(insert(Source), files)
    result = import_result(project, rows, reading.rejections, fates, number, gold)
    return replace(result, record=record)


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
    project: ProjectInfo,
    rows: int,
    rejections: Rejections,
    fates: Mapping[str, int] | None = None,
    number: int | None = None,
    gold: dict[str, int] | None = None,
) -> ImportResult:
    """Return the result of an import from the outcomes of its rows."""
    fates = fates or {}
    return ImportResult(
        id=number,
        project=project.name,
        rows=rows,
        rejected=rejections.count,
        rejections=tuple(rejections.first),
        alike=tuple(rejections.alike.values()),
        gold=gold,
        inserted=fates.get("inserted", 0),
        changed=fates.get("changed", 0),
        unchanged=fates.get("unchanged", 0),
        older=fates.get("older", 0),
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
    detail = {"items": True, "sources": [source.name for source in sources]}
    change, _ = record_change(connection, project.id, "import", detail)
    questions.close(change)
    rejections = Rejections()
    ids = ItemIds(connection, project, change, listed=True)
    ids.measures_texts = questions.have_spans_of_text
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
    seals.seal_changed_items(connection, project.id, "attributes")
    of_items = [model.__table__ for model in (ItemAttribute, ItemFact, Item)]
    backends.backend_of(connection).rows_added(connection, project.id, rows, of_items)
    rows += rejections.ragged
    if rejections.count and not skip_invalid:
        raise Rejected(import_result(project, rows, rejections))
    inserted = count_project_items(connection, project) - before
    new = select(func.count(ItemFact.item_id.distinct())).where(
        ItemFact.project_id == project.id,
        ItemFact.change_id == change,
        ItemFact.item_id < ids.first_new,
        ItemFact.role != "item",
        ItemFact.same_as.is_(None),
    )
    changed = connection.scalar(new) or 0
    good = rows - rejections.count
    fates = {"inserted": inserted, "changed": min(changed, good - inserted), "older": 0}
    fates["unchanged"] = good - sum(fates.values())
    return record_import(connection, project, change, rows, fates, sources, reading)
