"""Every format of files with its reader, and the errors for files of other formats."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from tracker.core.errors import InvalidOption, Refused
from tracker.formats.answers import ToolLayout
from tracker.formats.argilla import ARGILLA
from tracker.formats.batch import Batch
from tracker.formats.brat import BRAT
from tracker.formats.column_roles import SAY_WHO
from tracker.formats.conll import CONLL
from tracker.formats.crowdflower import CROWDFLOWER
from tracker.formats.cvat import CVAT
from tracker.formats.delimited import DELIMITED, JSON_TABLE
from tracker.formats.doccano import DOCCANO
from tracker.formats.excel import XLSX, raw_workbook
from tracker.formats.folders import (
    author_of_source,
    authors_of_members,
    check_who_answered,
    with_author,
)
from tracker.formats.frames import CellsSource, FrameSource, RowsSource
from tracker.formats.inception import INCEPTION
from tracker.formats.inspect_ai import INSPECT
from tracker.formats.label_studio import LABEL_STUDIO
from tracker.formats.labelbox import LABELBOX
from tracker.formats.langfuse import LANGFUSE
from tracker.formats.langsmith import LANGSMITH
from tracker.formats.lewidi import LEWIDI
from tracker.formats.mechanical_turk import MECHANICAL_TURK
from tracker.formats.mlflow import MLFLOW
from tracker.formats.openai_evals import OPENAI_EVALS
from tracker.formats.parquet import PARQUET
from tracker.formats.phoenix import PHOENIX
from tracker.formats.potato import POTATO
from tracker.formats.prodigy import PRODIGY
from tracker.formats.promptfoo import PROMPTFOO
from tracker.formats.raw import RawTable
from tracker.formats.reader import Reader, Reading
from tracker.formats.sagemaker import SAGEMAKER
from tracker.formats.source import STDIN, Archive, SourceFile, SourceFolder
from tracker.formats.toloka import TOLOKA
from tracker.projects.names import near_names

_AS_TABLE = "save the table in it as .xlsx or .csv"
_NO_TABLE = "it holds no answers that can be read; export them as a table or in the tool's format"

_BEGINNINGS = (
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office file (.xls, .doc)", _AS_TABLE),
    (b"%PDF", "a PDF", _NO_TABLE),
    (b"\x89PNG", "an image", _NO_TABLE),
    (b"\xff\xd8\xff", "an image", _NO_TABLE),
    (b"GIF8", "an image", _NO_TABLE),
    (b"ARROW1", "an Arrow or Feather file", "write it as .parquet"),
    (b"\x93NUMPY", "an array of numpy", _AS_TABLE),
    (b"7z\xbc\xaf", "a 7z archive", "unpack it, and import the folder"),
    (b"Rar!", "a RAR archive", "unpack it, and import the folder"),
    (b"BZh", "packed with bzip2", "unpack it, or pack it with gzip"),
    (b"\xfd7zXZ", "packed with xz", "unpack it, or pack it with gzip"),
    (b"\x28\xb5\x2f\xfd", "packed with zstd", "unpack it, or pack it with gzip"),
)
_NO_TEXT = tuple(beginning for beginning, _, _ in _BEGINNINGS)
_MEMBERS = (
    ("word/document.xml", "a Word document (.docx)", _AS_TABLE),
    ("ppt/presentation.xml", "a presentation (.pptx)", _NO_TABLE),
    ("xl/workbook.bin", "a binary Excel workbook (.xlsb)", _AS_TABLE),
    ("Index/Document.iwa", "a file of Numbers or Pages", _AS_TABLE),
    ("META-INF/manifest.xml", "an OpenDocument file (.ods, .odt)", _AS_TABLE),
)


Source = SourceFile | SourceFolder | FrameSource | RowsSource | CellsSource

_TOOLS = (
    LABEL_STUDIO, DOCCANO, POTATO, PRODIGY, ARGILLA, MECHANICAL_TURK, TOLOKA, CROWDFLOWER, BRAT,
    CONLL, INCEPTION, CVAT, LABELBOX, SAGEMAKER, MLFLOW, LANGFUSE, LANGSMITH, PHOENIX, PROMPTFOO,
    INSPECT, OPENAI_EVALS, LEWIDI,
)  # fmt: skip

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


def is_table_format(name: str) -> bool:
    """Return whether files of a format are tables, whose columns may be anything."""
    return name in READERS and READERS[name].raw is not None


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
        if isinstance(source, FrameSource | RowsSource | CellsSource):
            reading.annotator = author_of_source(reading, source.name, is_file=False)
            yield from with_author(source.batches(reading), reading, source.name)
        elif source.archive is not None:
            yield from _batches_of_archive(source.archive, reading)
        elif isinstance(source, SourceFile):
            author = author_of_source(reading, source.name, is_file=source.size is not None)
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
    name, source.encoding = reading.options.format, reading.options.encoding
    if name is None:
        for beginning, description, way in _BEGINNINGS:
            if source.head.startswith(beginning):
                raise Refused(f"{source.name} is {description}", way)
    reader = READERS[name] if name else _recognized(source)
    if reader.read is None:
        raise Refused(
            f"{source.name} is no workbook, which the format {reader.name} is read from",
            "without a format, it is recognized (--format, or format in a mapping)",
        )
    source.facts["format"] = reader.name
    return with_author(reader.read(source, reading), reading, source.name)


def _recognized(source: SourceFile) -> Reader:
    return next(
        (reader for reader in READERS.values() if reader.recognizes and reader.recognizes(source)),
        DELIMITED,
    )


def _reader_of_members(archive: Archive) -> Reader | None:
    """Return the reader of the first file's format if it reads all files of an archive together.

    Folders of other names than the format's own are so read if the user says who answered.
    """
    with closing(archive.open(archive.names[0])) as first:
        reader = _recognized(first)
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
    name, archive.encoding = reading.options.format, reading.options.encoding
    known = (reader for reader in READERS.values()
             if reader.recognizes_archive and reader.recognizes_archive(archive))  # fmt: skip
    reader = READERS[name] if name else next(known, None)
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
    yield from _batches_of_members(archive, reading)


def _batches_of_members(archive: Archive, reading: Reading) -> Iterator[Batch]:
    """Yield the records of each file in an archive, in its own format."""
    for member, description, way in _MEMBERS:
        if member in archive.names:
            raise Refused(f"{archive.name} is {description}", way)
    if archive.leading_out:
        archive.layouts[archive.name] = ToolLayout(reading, "archive", {}, {})
    authors = authors_of_members(archive, reading)
    for file in archive.files():
        if archive.file is not None and file.head.startswith(b"PK\x03\x04"):
            raise Refused(
                f"{file.name} is a zip file inside a zip file", "unpack it, and import the files"
            )
        author = authors.get(file.path)
        if archive.file is None and file.archive is not None:  # a zip file in a folder
            batches = _batches_of_archive(file.archive, reading, author)
        else:
            batches = _batches_of_file(file, reading, author)
        for batch in batches:
            yield replace(batch, source=batch.source or file.name)


def raw_tables(sources: Iterable[SourceFile], reading: Reading) -> Iterator[RawTable]:
    """Yield the tables of files as they stand; what holds none, or cannot be read, has none."""
    for source in sources:
        source.encoding = reading.options.encoding
        with suppress(Refused):
            if source.archive is None:
                yield from _raw_tables(source, reading)
            elif XLSX.recognizes_archive and XLSX.recognizes_archive(source.archive):
                yield from raw_workbook(source.archive, reading)
            else:
                source.archive.encoding = source.encoding
                for file in source.archive.files():
                    yield from _raw_tables(file, reading)


def _raw_tables(source: SourceFile, reading: Reading) -> Iterator[RawTable]:
    name = reading.options.format
    reader = READERS[name] if name in READERS else _recognized(source)
    if reader.raw is not None and not source.head.startswith(_NO_TEXT):
        yield from reader.raw(source, reading)
