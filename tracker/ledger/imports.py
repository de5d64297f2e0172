"""Ways into a project: files, data frames, rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, Unpack, cast

from tracker.core.errors import NotFound, Refused, TrackerError
from tracker.ledger.transactions import Transactions
from tracker.projects.projects import find_project
from tracker.projects.questions import QuestionOptions

if TYPE_CHECKING:
    from tracker.formats.frames import Frame
    from tracker.formats.reader import Reader, ReadOptions
    from tracker.formats.registry import Source
    from tracker.imports.annotators import AnnotatorImport
    from tracker.imports.loader import ImportResult
    from tracker.imports.parts import Progress
    from tracker.sync.http import Remote
    from tracker.sync.label_studio import EventResult, EventRun
    from tracker.sync.run import SyncResult, SyncRun

__all__ = ["Importing", "QuestionOptions", "Reading", "Syncing", "Syncs", "Uploading"]


class Uploading(TypedDict, total=False):
    """The keyword arguments of an import that name no file.

    Attributes:
        options: what the project is made with; for one that is there, what it must be.
        columns: ``role=COLUMN`` for columns of other names.
        wide: there is one column per annotator.
        keep: columns to keep as attributes of the items.
        create: whether a project that is not there may be made.
        skip_invalid: leave bad rows out instead of refusing the import.
        dry_run: do everything, then take it all back.
        preview: a dry run whose result has the first rows, too; bad rows do not end it.
        progress: told the bytes read and the bytes there are.
        format: the format of the files; without it each is recognized.
        encoding: that of their text; without it UTF-8, or what a mark at the start says.
        date_format: how dates are written, as `datetime.strptime` has it.
        repeat: what a second answer of one annotator to one item is: ``revision`` or ``pass``.
        ignore: columns that are not read.
        annotator: who gave all answers, if the files do not say it.
        annotator_from: ``file``, ``folder`` or ``sheet``: what each annotator's answers lie in.
        questions: ``NAME=COLUMN[:WORD…]``, the column with the answers to a question, for each;
            or ``NAME[:WORD…]``, which a long file answers. A word is a kind of answer or a scale.
        values: ``OLD=NEW`` or ``QUESTION:OLD=NEW``: what cells stand for.
        separator: what is between the categories in a cell that has several.
        header_row: the line of a table's header, from 1; without it, it is found.
        no_header: a table has no header; its columns are called 1, 2, …
        join: what is put between the cells of columns that are one role together, as in
            ``item=doc+system``; without it ``/``.
        pattern: how the names of columns of answers are made, such as
            ``{annotator}_{question}.{category}``.
    """

    options: QuestionOptions | None
    columns: Sequence[str]
    wide: bool
    keep: Sequence[str]
    create: bool
    skip_invalid: bool
    dry_run: bool
    preview: bool
    progress: Progress | None
    format: str | None
    encoding: str | None
    date_format: str | None
    repeat: str | None
    annotator: str | None
    annotator_from: str | None
    ignore: Sequence[str]
    questions: Sequence[str]
    values: Sequence[str]
    separator: str | None
    header_row: int | None
    no_header: bool
    join: str | None
    pattern: str | None


class Reading(Uploading, total=False):
    """The keyword arguments of an import.

    Attributes:
        values_file: a CSV file of such pairs as ``values`` has, with the columns old, new and
            perhaps question.
        mapping: a file that `mapping_text` wrote, for what none of these says.
    """

    values_file: str | Path | None
    mapping: str | Path | None


class Importing(Transactions):
    """The methods that import answers and items; all take the keywords of `Reading`."""

    @staticmethod
    def formats() -> list[Reader]:
        """Return every format that files are read in, with what its files can hold."""
        from tracker.formats.registry import READERS

        return sorted(READERS.values(), key=lambda one: one.name)

    def import_file(
        self, path: str | Path | Sequence[str | Path], project: str, **how: Unpack[Reading]
    ) -> ImportResult:
        """Import one or more files as one unit.

        Args:
            path: the file, or several; ``-`` is standard input.
            project: the project's name; it is made if it is not there.
            how: see `Reading`.
        """
        from tracker.formats.registry import opened_sources

        with opened_sources(_paths(path)) as sources:
            return self._import(sources, project, **_with_mapping(how))

    def import_uploads(
        self,
        files: Sequence[tuple[Path, str]],
        project: str,
        *,
        items: bool = False,
        beside: Mapping[str, tuple[Path, str]] | None = None,
        **how: Unpack[Uploading],
    ) -> ImportResult:
        """Import files, each known by another name than that of its path, as one unit.

        With ``items`` as `import_items` does. ``beside`` are the files for ``mapping`` and
        ``values``, likewise; no others are read, whatever the mapping names.
        """
        beside = beside or {}
        told: dict[str, Any] = dict(how)
        if "values" in beside:
            told["values_file"] = beside["values"][0]
        if "mapping" in beside:
            told["mapping"] = beside["mapping"][0]
        with _errors_by_name(beside.values()), _uploads(files) as sources:
            keywords = _with_mapping(cast("Reading", told))
            if "values" not in beside and keywords.get("values_file"):
                raise Refused(
                    f"{beside['mapping'][1]} names a file of values that was not sent",
                    "add it to the form, called: values",
                )
            return self._import(sources, project, items=items, **keywords)

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
        from tracker.formats.frames import opened_query

        with opened_query(url, query) as source:
            return self._import([source], project, **_with_mapping(how))

    def import_items(
        self, path: str | Path | Sequence[str | Path], project: str, **how: Unpack[Reading]
    ) -> ImportResult:
        """Register the items of one or more files, which need no answers; as `import_file`."""
        from tracker.formats.registry import opened_sources

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
        from tracker.formats.registry import opened_sources

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
        from tracker.formats.column_roles import parse_annotator_roles
        from tracker.imports.annotators import load_annotators
        from tracker.projects.projects import find_project

        mapped = parse_annotator_roles(columns)
        with self.database.write(keep=not dry_run) as connection:
            found = find_project(connection, project)
            made = load_annotators(connection, found, sources, mapped, skip_invalid=skip_invalid)
        return replace(made, columns=_layouts(sources))

    def import_frame(self, frame: Frame, project: str, **how: Unpack[Reading]) -> ImportResult:
        """Import a data frame, or a table of Arrow, whose missing values are empty cells of a file.

        A whole number is written without a point, also if a gap made its column one of floats.
        If an answer to a question has several categories, its cell may hold a list of them.
        """
        from tracker.formats.frames import FrameSource

        return self._import([FrameSource(frame)], project, **_with_mapping(how))

    def import_rows(
        self, rows: Iterable[NamedTuple], project: str, name: str = "simulated"
    ) -> ImportResult:
        """Import simulated rows as they come; a field that is no role is kept of the items.

        ``name`` is what they are called, as a file would be.
        """
        from tracker.formats.frames import RowsSource

        return self._import([RowsSource(rows, name)], project)

    def _import(
        self,
        sources: Sequence[Source],
        name: str,
        *,
        items: bool = False,
        options: QuestionOptions | None = None,
        columns: Sequence[str] = (),
        wide: bool = False,
        keep: Sequence[str] = (),
        create: bool = True,
        skip_invalid: bool = False,
        dry_run: bool = False,
        preview: bool = False,
        progress: Progress | None = None,
        format: str | None = None,  # noqa: A002 - as the option is named
        encoding: str | None = None,
        date_format: str | None = None,
        repeat: str | None = None,
        ignore: Sequence[str] = (),
        annotator: str | None = None,
        annotator_from: str | None = None,
        questions: Sequence[str] = (),
        values: Sequence[str] = (),
        values_file: str | Path | None = None,
        separator: str | None = None,
        header_row: int | None = None,
        no_header: bool = False,
        join: str | None = None,
        pattern: str | None = None,
        sync: SyncRun | EventRun | None = None,
    ) -> ImportResult:
        from tracker.audit.odd_files import odd_file_messages
        from tracker.formats.column_roles import parse_column_roles
        from tracker.formats.question_columns import parse_questions
        from tracker.formats.reader import ReadOptions
        from tracker.formats.registry import check_reader_format
        from tracker.imports.loader import load_import, load_items
        from tracker.imports.questions import questions_for_import

        check_reader_format(format)
        options = options or QuestionOptions()
        asked = parse_questions(questions, options)
        mapped = parse_column_roles(
            columns,
            wide=wide,
            keep=keep,
            items=items,
            questions=asked,
            join=join,
            pattern=pattern,
        )
        read_as = ReadOptions(
            format,
            encoding,
            date_format,
            repeat,
            tuple(ignore),
            annotator,
            annotator_from,
            header_row,
            no_header,
        )
        how = _How(skip_invalid=skip_invalid, progress=progress, options=read_as)
        with self.database.write(keep=not (dry_run or preview), bulk=True) as connection:
            by_row = mapped.names_question
            into = questions_for_import(
                connection, name, options, asked, create=create, by_row=by_row
            )
            if items:
                result = load_items(connection, into, sources, mapped, **how)
            else:
                into.read_as(separator, values, values_file)
                mapped = replace(mapped, several=into.by_cell)
                project = into.project.id
                gone = None if sync is None else sync.begin(connection, project)
                result = load_import(
                    connection, into, sources, mapped, preview=preview, absences=gone, **how
                )
                if sync is not None:
                    sync.end(connection, project, result)
                answered = [one.question for one in into.answered.values()]
                odd = map(str, odd_file_messages(connection, answered, result.id))
                result = replace(result, warnings=(*result.warnings, *odd))
        return replace(result, columns=_layouts(sources))


@contextmanager
def _uploads(files: Sequence[tuple[Path, str]]) -> Iterator[Sequence[Source]]:
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
    """Return for each file that was read which column or field was read as what."""
    layouts = (one for source in sources for one in source.layouts.items())
    return tuple({"source": name, **layout.to_dict()} for name, layout in layouts)


def _paths(path: str | Path | Sequence[str | Path]) -> Sequence[str | Path]:
    return [path] if isinstance(path, str | Path) else path


# -- Projects kept like those of another program --------------------------------------------------


_ATTEMPTS = 3


class Syncs(TypedDict, total=False):
    """The keyword arguments of a sync.

    Attributes:
        questions: ``NAME=CONTROL[:WORD…]``: which questions to take, and as what; else all.
        keep: fields of the items' data to keep as their attributes.
        repeat: what a second answer of one annotator to one item is: ``revision`` or ``pass``.
        create: whether a project that is not there may be made.
        skip_invalid: leave answers out that cannot be read instead of refusing all.
        whole: read everything again, not only what was updated since the last time.
        dry_run: do everything, then take it all back.
        progress: told how many records were read, and how many there are.
    """

    questions: Sequence[str]
    keep: Sequence[str]
    repeat: str | None
    create: bool
    skip_invalid: bool
    whole: bool
    dry_run: bool
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
        *,
        url: str | None = None,
        item: str | None = None,
        questions: Sequence[str] = (),
        keep: Sequence[str] = (),
        repeat: str | None = None,
        create: bool = True,
        skip_invalid: bool = False,
    ) -> EventResult:
        """Import what Label Studio sends by a webhook, as a sync would.

        Of deleted annotations it sends too little: a sync withdraws them. What an older event says
        of an annotation does not replace what a newer one said.

        Args:
            event: what was sent, with its payload.
            project: the project's name here; it is made if it is not there.
            url: where Label Studio runs; a sync from there then has the answers for its own, and
                withdraws what was deleted.
            item: the field of a task's data that is the item's key; else the task's number is.
            questions: and
            keep: and
            repeat: and
            create: and
            skip_invalid: as in `Syncs`.
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

        found = event_of(event, url)
        if found is None:
            return EventResult(project, event["action"], IGNORED, "it concerns no answers")
        run = EventRun(found, by_number=item is None, repeat=repeat)
        if not found.tasks and not (found.deleted and item is None):
            why = f"{found.for_sync or 'items have other keys than tasks'}: {_for_sync(url)}"
            return EventResult(project, found.action, FOR_SYNC, why)
        outcome, why = KNOWN, ""
        try:
            self._import(
                [run.file], project, columns=[f"item={item}"] if item else [], keep=keep,
                questions=questions, repeat=repeat, create=create, skip_invalid=skip_invalid,
                format=run.tool, sync=run,
            )  # fmt: skip
            outcome = IMPORTED
        except NothingNew:
            pass
        if found.for_sync:
            outcome, why = FOR_SYNC, f"{found.for_sync}: {_for_sync(url)}"
        elif run.result is not None and run.result.rows == 0 and found.tasks:
            outcome, why = IGNORED, "there is no answer in it"
        withdrawn = run.absences.withdrawn if run.absences else 0
        return EventResult(project, found.action, outcome, why, run.result, withdrawn)

    def _sync(
        self,
        remote: Remote,
        name: str,
        columns: Sequence[str],
        *,
        questions: Sequence[str] = (),
        keep: Sequence[str] = (),
        repeat: str | None = None,
        create: bool = True,
        skip_invalid: bool = False,
        whole: bool = False,
        dry_run: bool = False,
        progress: Callable[[int, int | None], None] | None = None,
    ) -> SyncResult:
        """Read a source and record it, again if another sync of it ended in between."""
        from tracker.sync.run import (
            NothingNew,
            Overtaken,
            SyncResult,
            known_of_source,
            pulled_source,
        )

        told = progress or (lambda *_: None)
        for _ in range(_ATTEMPTS):
            with self.database.read() as connection:
                try:
                    number = find_project(connection, name).id
                except NotFound:
                    if not create:
                        raise
                    number = 0
                known = known_of_source(connection, number, remote.tool, remote.source)
            with pulled_source(remote, known, told, whole=whole) as run:
                imported = None
                try:
                    imported = self._import(
                        [run.file], name, columns=columns, questions=questions, keep=keep,
                        repeat=repeat, create=create, skip_invalid=skip_invalid, dry_run=dry_run,
                        format=remote.tool, sync=run,
                    )  # fmt: skip
                except NothingNew:
                    if known.through and not dry_run:
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
    told = "the next sync withdraws what it takes back: tracker sync label-studio"
    return told if url else f"{told}; only what comes by events whose address has url=…"
