"""Every format of files, with its reader; other sources yield their batches themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from pathlib import Path

from tracker.core.errors import InvalidOption, Refused
from tracker.imports.batch import Batch
from tracker.imports.column_roles import SAY_WHO
from tracker.imports.readers.answers import ToolLayout
from tracker.imports.readers.archive import Archive, SourceFolder
from tracker.imports.readers.argilla import ARGILLA
from tracker.imports.readers.arrow_tables import PARQUET
from tracker.imports.readers.authors import author_of_source, check_who_answered, with_author
from tracker.imports.readers.brat import BRAT
from tracker.imports.readers.conll import CONLL
from tracker.imports.readers.crowdflower import CROWDFLOWER
from tracker.imports.readers.cvat import CVAT
from tracker.imports.readers.delimited import DELIMITED
from tracker.imports.readers.doccano import DOCCANO
from tracker.imports.readers.folders import authors_of_members
from tracker.imports.readers.frames import FrameSource, RowsSource
from tracker.imports.readers.inception import INCEPTION
from tracker.imports.readers.inspect_logs import INSPECT
from tracker.imports.readers.json_table import JSON_TABLE
from tracker.imports.readers.label_studio import LABEL_STUDIO
from tracker.imports.readers.labelbox import LABELBOX
from tracker.imports.readers.langfuse import LANGFUSE
from tracker.imports.readers.langsmith import LANGSMITH
from tracker.imports.readers.lewidi import LEWIDI
from tracker.imports.readers.mechanical_turk import MECHANICAL_TURK
from tracker.imports.readers.mlflow import MLFLOW
from tracker.imports.readers.openai_evals import OPENAI_EVALS
from tracker.imports.readers.other_formats import (
    refuse_other_archive,
    refuse_other_file,
    refuse_zip_in_zip,
)
from tracker.imports.readers.phoenix import PHOENIX
from tracker.imports.readers.potato import POTATO
from tracker.imports.readers.prodigy import PRODIGY
from tracker.imports.readers.promptfoo import PROMPTFOO
from tracker.imports.readers.reader import AS_IT_IS, Reader, Reading, ReadOptions
from tracker.imports.readers.sagemaker import SAGEMAKER
from tracker.imports.readers.source import STDIN, SourceFile
from tracker.imports.readers.spreadsheets import XLSX
from tracker.imports.readers.toloka import TOLOKA
from tracker.projects.lookup import near_names

__all__ = [
    "AS_IT_IS",
    "READERS",
    "ReadOptions",
    "Reader",
    "Reading",
    "Source",
    "check_reader_format",
    "opened_sources",
    "read_batches",
]

Source = SourceFile | SourceFolder | FrameSource | RowsSource

_TOOLS = (
    LABEL_STUDIO,
    DOCCANO,
    POTATO,
    PRODIGY,
    ARGILLA,
    MECHANICAL_TURK,
    TOLOKA,
    CROWDFLOWER,
    BRAT,
    CONLL,
    INCEPTION,
    CVAT,
    LABELBOX,
    SAGEMAKER,
    MLFLOW,
    LANGFUSE,
    LANGSMITH,
    PHOENIX,
    PROMPTFOO,
    INSPECT,
    OPENAI_EVALS,
    LEWIDI,
)

READERS: dict[str, Reader] = {
    reader.name: reader for reader in (PARQUET, XLSX, *_TOOLS, JSON_TABLE, DELIMITED)
}
"""Every reader by the name of its format; the first that recognizes a file reads it."""


def check_reader_format(name: str | None) -> None:
    """Raise InvalidOption if there is no format of this name; None is for files of any."""
    if name is not None and name not in READERS:
        raise InvalidOption(
            f"there is no format {name!r}",
            near_names(name, READERS) or f"one of: {', '.join(READERS)}",
        )


@contextmanager
def opened_sources(paths: Iterable[str | Path]) -> Iterator[list[SourceFile | SourceFolder]]:
    """Open the files and folders of an import; raises InvalidOption if two are standard input."""
    names = [str(path) for path in paths]
    if names.count(STDIN) > 1:
        raise InvalidOption("standard input can be read only once")
    with ExitStack() as files:
        yield [
            files.enter_context(
                closing(SourceFolder(name) if Path(name).is_dir() else _opened(name))
            )
            for name in names
        ]


def _opened(name: str) -> SourceFile:
    """Open a file, or of a workbook the sheet that is named after it: ``FILE.xlsx#Sheet``."""
    path, _, part = name.rpartition("#")
    if not path or name == STDIN or Path(name).exists() or not Path(path).is_file():
        return SourceFile(name)
    source = SourceFile(path)
    source.part = part
    return source


def read_batches(source: Source, reading: Reading) -> Iterator[Batch]:
    """Yield the records of a source in batches.

    A file is read in the format that the options name, or in that which a reader recognizes; any
    other is taken for delimited text. An archive that no reader recognizes is read file by file.
    Raises Refused if the source cannot be read.
    """
    check_who_answered(reading)
    reading.mapped = replace(reading.mapped, signed=reading.says_who)
    try:
        if isinstance(source, FrameSource | RowsSource):
            author = author_of_source(reading, source.name, is_file=False)
            reading.annotator = author
            yield from with_author(source.batches(reading), reading, source.name)
        elif source.archive is not None:
            yield from _batches_of_archive(source.archive, reading)
        elif isinstance(source, SourceFile):
            is_file = source.size is not None
            author = author_of_source(reading, source.name, is_file=is_file)
            yield from _batches_of_file(source, reading, author)
    except UnicodeEncodeError as error:
        raise Refused(
            f"{source.name}: {error.object[error.start]!r} is half a character", "fix the text"
        ) from None


def _batches_of_file(source: SourceFile, reading: Reading, author: str | None) -> Iterator[Batch]:
    """Return the batches of a file; ``author`` gave all its answers, if the user says so."""
    reading.annotator = source.annotator = author
    if reading.options.annotator_from == "sheet":
        raise Refused(f"{source.name} is no workbook, and has no sheets", SAY_WHO)
    form, source.encoding = reading.options.format, reading.options.encoding
    known = (one for one in READERS.values() if one.recognizes and one.recognizes(source))
    if form is None:
        refuse_other_file(source.name, source.head[:100])
    reader = READERS[form] if form else next(known, DELIMITED)
    if reader.read is None:
        raise Refused(
            f"{source.name} is no workbook, which the format {reader.name} is read from",
            "without a format, it is recognized (--format, or format in a mapping)",
        )
    source.facts["format"] = reader.name
    return with_author(reader.read(source, reading), reading, source.name)


def _reader_of_members(archive: Archive) -> Reader | None:
    """Return the reader of the first file's format if it reads all files of an archive together.

    Folders of other names than the format's own are so read if the user says who answered.
    """
    with closing(archive.open(archive.names[0])) as first:
        known = (one for one in READERS.values() if one.recognizes and one.recognizes(first))
        reader = next(known, DELIMITED)
    return reader if reader.in_folders else None


def _batches_of_archive(
    archive: Archive, reading: Reading, author: str | None = None
) -> Iterator[Batch]:
    """Yield the records of an archive as a whole, or of each file in its own format.

    ``author`` gave all answers of a workbook that lies in a folder, if the user says so.
    """
    if not archive.names:
        raise Refused(
            f"{archive.name} holds no file",
            "names that lead out of the archive (..) are not read" if archive.leading_out else None,
        )
    if archive.leading_out:
        reading.left_out["file whose name leads out of the archive"] += archive.leading_out
    form, archive.encoding = reading.options.format, reading.options.encoding
    known = (one for one in READERS.values()
             if one.recognizes_archive and one.recognizes_archive(archive))  # fmt: skip
    reader = READERS[form] if form else next(known, None)
    if reader is None and reading.says_who:
        reader = _reader_of_members(archive)
    if reader is not None and reader.read_archive is not None:
        archive.facts["format"] = reader.name
        reading.annotator = reading.options.annotator
        if reader is XLSX:
            reading.annotator = author or author_of_source(reading, archive.name, is_file=True)
            archive.annotator = reading.annotator
        yield from with_author(reader.read_archive(archive, reading), reading, archive.name)
        return
    refuse_other_archive(archive.name, archive.names)
    if archive.leading_out:
        archive.layouts[archive.name] = ToolLayout(reading, "archive", {}, {})
    authors = authors_of_members(archive, reading)
    for file in archive.files():
        if archive.file is not None:
            refuse_zip_in_zip(file.name, file.head)
        packed = file.archive if archive.file is None else None  # in folders only
        author = authors.get(file.path)
        read = (
            _batches_of_file(file, reading, author)
            if packed is None
            else _batches_of_archive(packed, reading, author)
        )
        for batch in read:
            yield replace(batch, source=batch.source or file.name)
