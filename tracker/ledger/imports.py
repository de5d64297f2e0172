"""Ways into a project: files, data frames, rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, Unpack

from tracker.core.errors import NotFound, Refused, TrackerError
from tracker.core.operations import part_of
from tracker.imports.choosing import AnswerOptions, EventOptions, SyncOptions
from tracker.ledger.transactions import Transactions
from tracker.projects.projects import find_project
from tracker.projects.questions import QuestionOptions

if TYPE_CHECKING:
    from tracker.formats.column_roles import AskedQuestion, Mapped
    from tracker.formats.reader import Reader, ReadOptions
    from tracker.formats.source import SourceFile
    from tracker.imports.annotators import AnnotatorImport
    from tracker.imports.columns import Grid
    from tracker.imports.loader import ImportResult
    from tracker.imports.parts import Progress
    from tracker.readers.frames import CellsSource, Frame
    from tracker.readers.registry import Source
    from tracker.sync.http import Remote
    from tracker.sync.label_studio import EventResult, EventRun
    from tracker.sync.run import SyncResult, SyncRun

__all__ = ["Importing", "QuestionOptions", "Reading", "Syncing", "Syncs"]


class Reading(AnswerOptions, total=False):
    """The keyword arguments of an import.

    Attributes:
        options: what the project is made with; for one that is there, what it must be.
        progress: told the bytes read and the bytes there are.
    """

    options: QuestionOptions | None
    progress: Progress | None


class Importing(Transactions):
    """The methods that import answers and items; all take the keywords of `Reading`."""

    @staticmethod
    def formats() -> list[Reader]:
        """Return every format that files are read in, with what its files can hold."""
        from tracker.readers.registry import READERS

        return sorted(READERS.values(), key=lambda reader: reader.name)

    def import_file(
        self, path: str | Path | Sequence[str | Path], project: str, **how: Unpack[Reading]
    ) -> ImportResult:
        """Import one or more files as one unit.

        Args:
            path: the file, or several; ``-`` is standard input.
            project: the project's name; it is made if it is not there.
            how: see `Reading`.
        """
        from tracker.readers.registry import opened_sources

        with opened_sources(_paths(path)) as sources:
            return self._import(sources, project, **_with_mapping(how))

    def import_uploads(
        self,
        files: Sequence[tuple[Path, str]],
        project: str,
        *,
        items: bool = False,
        beside: Mapping[str, tuple[Path, str]] | None = None,
        **how: Unpack[Reading],
    ) -> ImportResult:
        """Import files, each known by another name than that of its path, as one unit.

        With ``items`` as `import_items` does. ``beside`` are the files for ``mapping`` and
        ``values``, likewise; no others are read, whatever the mapping names.
        """
        beside = beside or {}
        how["values_file"] = beside["values"][0] if "values" in beside else None
        how["mapping"] = beside["mapping"][0] if "mapping" in beside else None
        with _errors_by_name(beside.values()), _uploads(files) as sources:
            keywords = _with_mapping(how)
            if "values" not in beside and keywords.get("values_file"):
                raise Refused(
                    f"{beside['mapping'][1]} names a file of values that was not sent",
                    "add it to the form, called: values",
                )
            return self._import(sources, project, items=items, **keywords)

    @staticmethod
    def grids(
        files: Sequence[tuple[Path, str]],
        made: ImportResult | None = None,
        **how: Unpack[Reading],
    ) -> list[Grid]:
        """Return the tables among files that `import_uploads` takes, as they stand there.

        With what an import ``made`` of them, or would make, also the rows that it rejects. What
        is wrong about the keywords is passed over: the import itself says it.
        """
        from tracker.formats.mappings import parse_questions
        from tracker.formats.reader import AS_IT_IS, ReadOptions
        from tracker.imports.columns import grids_of_files

        mapped, options = _mapped({}, ()), AS_IT_IS
        with suppress(TrackerError):
            options = ReadOptions.of(how)
            mapped = _mapped(how, parse_questions(how.get("questions", ()), QuestionOptions()))
        wanted: dict[str, set[int]] = {}
        for rejection in () if made is None else made.rejections:
            wanted.setdefault(rejection.source, set()).add(rejection.line)
        with _uploads(files) as sources:
            layouts = () if made is None else made.columns
            return grids_of_files(sources, mapped, options, layouts, wanted)

    @staticmethod
    def mapping_text(
        folder: str | Path = ".", made: ImportResult | None = None, **how: Unpack[Reading]
    ) -> str:
        """Return the text of a file for `mapping` that says how an import reads its files.

        It holds what says which column is what, not what becomes of its rows. With the import
        that was ``made`` so, also what was decided as its files were read.
        Paths in it are relative to the folder that it is for.
        """
        from tracker.imports.mapping_file import mapping_file_text

        read = None if made is None or made.record is None else made.record.read
        return mapping_file_text(_with_mapping(how), Path(folder), read)

    def import_query(
        self, url: str, query: str, project: str, **how: Unpack[Reading]
    ) -> ImportResult:
        """Import the rows of a query on any SQLite or Postgres database, which is only read.

        Args:
            url: the database; its password is neither stored nor shown.
            query: a SELECT whose columns are those of a file.
            project: the project's name; it is made if it is not there.
            how: see `Reading`.
        """
        from tracker.readers.frames import opened_query

        with opened_query(url, query) as source:
            return self._import([source], project, **_with_mapping(how))

    def import_items(
        self, path: str | Path | Sequence[str | Path], project: str, **how: Unpack[Reading]
    ) -> ImportResult:
        """Register the items of one or more files, which need no answers; as `import_file`."""
        from tracker.readers.registry import opened_sources

        with opened_sources(_paths(path)) as sources:
            return self._import(sources, project, items=True, **_with_mapping(how))

    def import_annotators(
        self,
        path: str | Path | Sequence[str | Path],
        project: str | None,
        *,
        columns: Sequence[str] = (),
        skip_invalid: bool = False,
        dry_run: bool = False,
    ) -> AnnotatorImport:
        """Register the annotators of one or more files; all further columns are attributes.

        Args:
            path: the file, or several; ``-`` is standard input.
            project: the project's name; None for the only one.
            columns: ``annotator=COLUMN`` and ``kind=COLUMN`` for columns of other names.
            skip_invalid: leave bad rows out instead of refusing the import.
            dry_run: do everything, then take it all back.
        """
        from tracker.readers.registry import opened_sources

        with opened_sources(_paths(path)) as sources:
            return self._import_annotators(
                sources, project, columns, skip_invalid=skip_invalid, dry_run=dry_run
            )

    def import_annotator_uploads(
        self,
        files: Sequence[tuple[Path, str]],
        project: str,
        *,
        columns: Sequence[str] = (),
        skip_invalid: bool = False,
        dry_run: bool = False,
    ) -> AnnotatorImport:
        """Do likewise with files, each known by another name than that of its path."""
        with _uploads(files) as sources:
            return self._import_annotators(
                sources, project, columns, skip_invalid=skip_invalid, dry_run=dry_run
            )

    def _import_annotators(
        self,
        sources: Sequence[Source],
        project: str | None,
        columns: Sequence[str],
        *,
        skip_invalid: bool,
        dry_run: bool,
    ) -> AnnotatorImport:
        from tracker.formats.mappings import parse_annotator_roles
        from tracker.imports.annotators import load_annotators
        from tracker.projects.projects import find_project

        mapped = parse_annotator_roles(columns)
        with self.database.write(keep=not dry_run) as connection:
            info = find_project(connection, project)
            result = load_annotators(connection, info, sources, mapped, skip_invalid=skip_invalid)
        return replace(result, columns=_layouts(sources))

    def import_frame(self, frame: Frame, project: str, **how: Unpack[Reading]) -> ImportResult:
        """Import a data frame, or a table of Arrow, whose missing values are empty cells of a file.

        A whole number is written without a point, also if a gap made its column one of floats.
        If an answer to a question has several categories, its cell may hold a list of them.
        """
        from tracker.readers.frames import FrameSource

        return self._import([FrameSource(frame)], project, **_with_mapping(how))

    def import_rows(
        self, rows: Iterable[NamedTuple], project: str, name: str = "simulated"
    ) -> ImportResult:
        """Import simulated rows as they come; a field without a role is kept of the items.

        ``name`` is what they are called, as a file would be.
        """
        from tracker.readers.frames import RowsSource

        return self._import([RowsSource(rows, name)], project)

    def import_cells(self, cells: CellsSource, project: str) -> ImportResult:
        """Import records whose roles, and whose question if there are several, are given.

        Without annotators they are a list of items.
        """
        how: Reading = {}
        if "annotator" not in cells.columns:
            return self._import([cells], project, items=True)
        if "question" in cells.columns:
            names = list(dict.fromkeys(cells.columns["question"]))
            how = {"columns": ["question=question"], "questions": names}
        return self._import([cells], project, **how)

    def _import(
        self,
        sources: Sequence[Source],
        name: str,
        *,
        items: bool = False,
        sync: SyncRun | EventRun | None = None,
        **how: Unpack[Reading],
    ) -> ImportResult:
        from tracker.formats.mappings import parse_questions
        from tracker.formats.reader import ReadOptions
        from tracker.imports.loader import has_earlier_import, load_import, load_items
        from tracker.imports.questions import questions_for_import
        from tracker.readers.registry import check_reader_format
        from tracker.work.events import tell_of_rounds

        check_reader_format(how.get("format"))
        options, preview = how.get("options") or QuestionOptions(), how.get("preview", False)
        asked = parse_questions(how.get("questions", ()), options)
        mapped = _mapped(how, asked, items=items)
        loading = _How(
            skip_invalid=how.get("skip_invalid", False),
            progress=how.get("progress"),
            options=ReadOptions.of(how),
        )
        is_kept = not (how.get("dry_run") or preview)
        with self.database.write(keep=is_kept, bulk=True) as connection:
            by_row = mapped.names_question
            into = questions_for_import(
                connection, name, options, asked, create=how.get("create", True), by_row=by_row
            )
            mapped = replace(mapped, pairs=into.pairs)
            if items:
                result = load_items(connection, into, sources, mapped, **loading)
            else:
                into.read_as(how.get("separator"), how.get("values", ()), how.get("values_file"))
                mapped = replace(mapped, several=into.by_cell)
                project = into.project.id
                gone = None if sync is None else sync.begin(connection, project)
                result = load_import(
                    connection, into, sources, mapped, preview=preview, absences=gone, **loading
                )
                if sync is not None:
                    sync.end(connection, project, result)
                if into.change is not None:
                    tell_of_rounds(connection, into.project, into.change)
                if result.id and has_earlier_import(connection, into.project.id, result.id):
                    from tracker.audit.odd_files import odd_file_messages

                    answered = [ids.question for ids in into.answered.values()]
                    odd = map(str, odd_file_messages(connection, answered, result.id))
                    result = replace(result, warnings=(*result.warnings, *odd))
        told = {"preferences": into.told} if into.told else {}
        return replace(result, columns=tuple(one | told for one in _layouts(sources)))


@contextmanager
def _uploads(files: Sequence[tuple[Path, str]]) -> Iterator[Sequence[SourceFile]]:
    """Open files that have other names than their paths."""
    from tracker.formats.source import SourceFile

    with ExitStack() as opened:
        yield [
            opened.enter_context(closing(SourceFile(str(path), name=name))) for path, name in files
        ]


@contextmanager
def _errors_by_name(files: Iterable[tuple[Path, str]]) -> Iterator[None]:
    """Let errors name files as they were sent, not where they lie."""
    try:
        yield
    except TrackerError as error:
        for path, name in files:
            error.message = error.message.replace(str(path), name)
        raise


def _with_mapping(how: Reading) -> Any:
    """Return the keywords of an import with those of the file that one of them names."""
    from tracker.imports.mapping_file import with_mapping_file

    rest = {name: value for name, value in how.items() if name != "mapping"}
    path = how.get("mapping")
    return rest if path is None else with_mapping_file(path, rest)


class _How(TypedDict):
    skip_invalid: bool
    progress: Progress | None
    options: ReadOptions


def _layouts(sources: Sequence[Source]) -> tuple[dict[str, Any], ...]:
    layouts = (entry for source in sources for entry in source.layouts.items())
    return tuple({"source": name, **layout.to_dict()} for name, layout in layouts)


def _mapped(
    how: Mapping[str, Any], asked: tuple[AskedQuestion, ...], *, items: bool = False
) -> Mapped:
    """Return what the keywords of an import say of columns, with the questions that they name."""
    from tracker.formats.mappings import parse_column_roles

    return parse_column_roles(
        how.get("columns", ()),
        wide=how.get("wide", False),
        keep=how.get("keep", ()),
        items=items,
        questions=asked,
        join=how.get("join"),
        pattern=how.get("pattern"),
        wide_items=how.get("wide_items", False),
        counts=how.get("counts", False),
        each=how.get("each"),
        accept=how.get("accept", ()),
    )


def _paths(path: str | Path | Sequence[str | Path]) -> Sequence[str | Path]:
    return [path] if isinstance(path, str | Path) else path


_ATTEMPTS = 3


class Recording(SyncOptions, total=False):
    """How what was read is recorded.

    Attributes:
        repeat: what a second answer of one annotator to one item is: ``revision`` or ``pass``.
    """

    repeat: str | None


class Syncs(Recording, total=False):
    """The keyword arguments of a sync.

    Attributes:
        whole: read everything again, not only what was updated since the last time.
        progress: told how many records were read, and how many there are.
    """

    whole: bool
    progress: Callable[[int, int | None], None] | None


class Syncing(Importing):
    """The methods that read another program live; all take the keywords of `Syncs`."""

    def sync_label_studio(
        self,
        url: str,
        project_id: int,
        project: str,
        *,
        token: str,
        item: str | None = None,
        **how: Unpack[Syncs],
    ) -> SyncResult:
        """Import what was answered, corrected or deleted in Label Studio since the last sync.

        Answers that it has no longer are withdrawn: they stand no more, and are kept. The sync is
        an import, which can be undone, unless there was nothing new.

        Args:
            url: where Label Studio runs.
            project_id: the number of its project.
            project: the project's name here; it is made if it is not there.
            token: an access token of Label Studio; it is neither stored nor shown.
            item: the field of a task's data that is the item's key; else the task's number is.
            how: see `Syncs`.
        """
        from tracker.sync.label_studio import LabelStudio

        remote = LabelStudio(url, project_id, token, item)
        return self._sync(remote, project, [f"item={item}"] if item else [], **how)

    def sync_mlflow(
        self,
        url: str,
        experiment: str,
        project: str,
        *,
        token: str = "",
        username: str = "",
        password: str = "",
        item: str | None = None,
        **how: Unpack[Syncs],
    ) -> SyncResult:
        """Import what was assessed, corrected or deleted in MLflow since the last sync.

        All is read each time, for MLflow does not tell of deletions; what is known stays as it is.

        Args:
            url: where MLflow's tracking server runs.
            experiment: the name of its experiment, or the number.
            project: the project's name here; it is made if it is not there.
            token: for a server that asks for one; it is neither stored nor shown, nor are
            username: and
            password: which go before the token.
            item: the field of a trace that is the item's key, such as ``tags.case``; else that is
                the identifier of its request, or its own.
            how: see `Syncs`.
        """
        from tracker.sync.mlflow import MLflow

        remote = MLflow(
            url, experiment, token=token, username=username, password=password, item=item
        )
        how["whole"] = True
        return self._sync(remote, project, [f"item={item}"] if item else [], **how)

    def take_label_studio_event(
        self,
        event: Mapping[str, Any],
        project: str,
        **how: Unpack[EventOptions],
    ) -> EventResult:
        """Import what Label Studio sends by a webhook, as a sync would.

        Of deleted annotations it sends too little: a sync withdraws them. What an older event says
        of an annotation does not replace what a newer one said.

        Args:
            event: what was sent, with its payload.
            project: the project's name here; it is made if it is not there.
            how: see `EventOptions`.
        """
        from tracker.sync.label_studio import (
            FOR_SYNC,
            IGNORED,
            IMPORTED,
            KNOWN,
            EventResult,
            EventRun,
            event_of,
        )
        from tracker.sync.run import NothingNew

        url, item = how.get("url"), how.get("item")
        occurrence = event_of(event, url)
        if occurrence is None:
            return EventResult(project, event["action"], IGNORED, "it concerns no answers")
        run = EventRun(occurrence, by_number=item is None, repeat=how.get("repeat"))
        if not occurrence.tasks and not (occurrence.deleted and item is None):
            why = f"{occurrence.for_sync or 'items have other keys than tasks'}: {_for_sync(url)}"
            return EventResult(project, occurrence.action, FOR_SYNC, why)
        columns = [f"item={item}"] if item else []
        recording = part_of(Recording, how)
        outcome, why = KNOWN, ""
        try:
            self._import(
                [run.file], project, columns=columns, format=run.tool, sync=run, **recording
            )
            outcome = IMPORTED
        except NothingNew:
            pass
        if occurrence.for_sync:
            outcome, why = FOR_SYNC, f"{occurrence.for_sync}: {_for_sync(url)}"
        elif run.result is not None and run.result.rows == 0 and occurrence.tasks:
            outcome, why = IGNORED, "there is no answer in it"
        withdrawn = run.absences.withdrawn if run.absences else 0
        return EventResult(project, occurrence.action, outcome, why, run.result, withdrawn)

    def _sync(
        self,
        remote: Remote,
        name: str,
        columns: Sequence[str],
        *,
        whole: bool = False,
        progress: Callable[[int, int | None], None] | None = None,
        **how: Unpack[Recording],
    ) -> SyncResult:
        """Read a source and record it, again if another sync of it ended in between."""
        from tracker.sync.run import (
            NothingNew,
            Overtaken,
            SyncResult,
            known_of_source,
            pulled_source,
        )

        reporter = progress or (lambda *_: None)
        for _ in range(_ATTEMPTS):
            with self.database.read() as connection:
                try:
                    number = find_project(connection, name).id
                except NotFound:
                    if not how.get("create", True):
                        raise
                    number = 0
                known = known_of_source(connection, number, remote.tool, remote.source)
            with pulled_source(remote, known, reporter, whole=whole) as run:
                imported = None
                try:
                    imported = self._import(
                        [run.file], name, columns=columns, format=remote.tool, sync=run, **how
                    )
                except NothingNew:
                    if known.through and not how.get("dry_run"):
                        with self.database.write() as connection:
                            run.note_nothing_new(connection, number)
                except Overtaken:
                    whole = whole or run.asks_anew
                    continue
                return SyncResult(
                    name, remote.tool, remote.source, imported,
                    run.absences.withdrawn if imported and run.absences else 0,
                    run.pulled.read, run.since, run.until or None,
                )  # fmt: skip
        raise Refused(f"{name!r} changes faster than {remote.source} is read", "try again later")


def _for_sync(url: str | None) -> str:
    """Return what to do about answers that an event takes back without saying which."""
    advice = "the next sync withdraws what it takes back: tracker sync label-studio"
    return advice if url else f"{advice}; only what comes by events whose address has url=…"
