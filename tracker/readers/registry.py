"""Every format of files with its reader, and the errors for files of other formats."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import numpy as np

from tracker.core.errors import InvalidOption, Refused
from tracker.formats.answers import ToolLayout
from tracker.formats.batch import Batch, Cells
from tracker.formats.column_roles import SAY_WHO
from tracker.formats.delimited import DELIMITED, JSON_TABLE
from tracker.formats.excel import XLSX, raw_workbook
from tracker.formats.reader import RawTable, Reader, Reading
from tracker.formats.source import STDIN, Archive, SourceFile, SourceFolder
from tracker.projects.names import near_names
from tracker.readers import folders
from tracker.readers.argilla import ARGILLA
from tracker.readers.brat import BRAT
from tracker.readers.conll import CONLL
from tracker.readers.crowdflower import CROWDFLOWER
from tracker.readers.cvat import CVAT
from tracker.readers.doccano import DOCCANO
from tracker.readers.evaluations import OPENAI_EVALS, PROMPTFOO
from tracker.readers.frames import CellsSource, FrameSource, RowsSource
from tracker.readers.inception import INCEPTION
from tracker.readers.inspect_ai import INSPECT
from tracker.readers.label_studio import LABEL_STUDIO
from tracker.readers.labelbox import LABELBOX
from tracker.readers.lewidi import LEWIDI
from tracker.readers.mechanical_turk import MECHANICAL_TURK
from tracker.readers.mlflow import MLFLOW
from tracker.readers.parquet import PARQUET
from tracker.readers.potato import POTATO
from tracker.readers.prodigy import PRODIGY
from tracker.readers.sagemaker import SAGEMAKER
from tracker.readers.screening import ASREVIEW, RAYYAN, with_unlabeled_empty
from tracker.readers.tagtog import TAGTOG
from tracker.readers.toloka import TOLOKA
from tracker.readers.trace_stores import LANGFUSE, LANGSMITH, PHOENIX
from tracker.readers.zooniverse import ZOONIVERSE

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
_TEXTS = (
    (re.compile(rb"TY  ?- "), "a RIS file of references",
     "export the articles from Rayyan or ASReview as CSV"),
    (re.compile(rb"(?s)<(\?xml.{,2000}?<)?ANNOTATION_DOCUMENT"), "an ELAN file (.eaf)",
     "in ELAN, export the annotations as tab-delimited text"),
    (re.compile(rb"(?i)<(!doctype )?html\b"), "a web page (HTML)", _AS_TABLE),
    (re.compile(rb"(?s)<(\?xml\b|!DOCTYPE|[A-Za-z][\w:.-]*( [^<>]*)?/?>\s*<.*>\s*\Z)"),
     "XML; of XML, tracker reads CVAT's", "export it as CSV, JSON or in a tool's own format"),
)  # fmt: skip
"""Beginnings of text files that hold another thing than a table."""
_MAPS_ANNOTATORS = {
    *("doccano", "prodigy", "mlflow", "langfuse", "langsmith"),
    *("phoenix", "promptfoo", "inspect", "openai-evals"),
}
"""Tools whose files may name the annotator in any field."""
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
    INSPECT, OPENAI_EVALS, LEWIDI, ZOONIVERSE, RAYYAN, ASREVIEW, TAGTOG,
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
    folders.check_who_answered(reading)
    signed = reading.says_who or reading.mapped.counts
    unlabeled = bool(reading.options.span_label)
    reading.mapped = replace(reading.mapped, signed=signed, unlabeled=unlabeled)
    for batch in _batches_of_source(source, reading):
        yield with_span_labels(with_unlabeled_empty(batch), reading.options.span_label)
        del batch  # before the next is read: they are large


def with_span_labels(batch: Batch, label: str | None) -> Batch:
    """Return a batch whose spans without a category have this one."""
    if not label or "start" not in batch.columns:
        return batch
    marked = batch.columns["start"].holds(str.strip).tolist()
    cells = batch.columns.get("category")
    texts = [""] * len(marked) if cells is None else cells.at(np.arange(len(marked)))
    pairs = zip(texts, marked, strict=True)
    named = [label if is_span and not text.strip() else text for text, is_span in pairs]
    return replace(batch, columns={**batch.columns, "category": Cells.of_texts(named)})


def _batches_of_source(source: Source, reading: Reading) -> Iterator[Batch]:
    try:
        if isinstance(source, FrameSource | RowsSource | CellsSource):
            reading.annotator = folders.author_of_source(reading, source.name, is_file=False)
            yield from folders.with_author(source.batches(reading), reading, source.name)
        elif source.archive is not None:
            yield from _batches_of_archive(source.archive, reading)
        elif isinstance(source, SourceFile):
            author = folders.author_of_source(reading, source.name, is_file=source.size is not None)
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
    reader = READERS[name] if name else _as_mapped(_recognized(source), source, reading)
    if reader.read is None:
        raise Refused(
            f"{source.name} is no workbook, which the format {reader.name} is read from",
            "without a format, it is recognized (--format, or format in a mapping)",
        )
    source.facts["format"] = reader.name
    return folders.with_author(reader.read(source, reading), reading, source.name)


def _recognized(source: SourceFile) -> Reader:
    return next(
        (reader for reader in READERS.values() if reader.recognizes and reader.recognizes(source)),
        DELIMITED,
    )


def _as_mapped(reader: Reader, source: SourceFile, reading: Reading) -> Reader:
    """Return the reader of tables instead of a tool's if the user says what the columns hold.

    Raises Refused for text without a table, and if only the annotator's column is named where the
    tool says itself who answered.
    """
    mapped = reading.mapped
    start = source.head.removeprefix(BOM_UTF8).lstrip()
    for beginning, description, way in _TEXTS if reader is DELIMITED else ():
        if beginning.match(start):
            raise Refused(f"{source.name} is {description}", way)
    if reader.raw is not None:
        return reader
    is_json = reading.options.each or (JSON_TABLE.recognizes and JSON_TABLE.recognizes(source))
    table = JSON_TABLE if is_json else DELIMITED
    says_how = mapped.wide or mapped.pattern is not None or mapped.as_table
    if says_how or mapped.roles.get("category"):
        source.note = f"as the options say, not as {reader.name} (--format {reader.name})"
        return table
    if (column := mapped.roles.get("annotator")) and reader.name not in _MAPS_ANNOTATORS:
        raise Refused(
            f"{source.name} is of {reader.name}, which says itself who answered",
            f"leave out --map annotator={column}; or read it as a table: --format {table.name} "
            "--map item=COLUMN --map category=COLUMN",
        )
    return reader


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
    if reader and reader.raw is None and reading.mapped.roles.get("category") and not name:
        reader = None  # each file is read as a table
    if reader is None and reading.says_who:  # folders may have other names than the format's own
        with closing(archive.open(archive.names[0])) as first:
            of_file = _recognized(first)
        reader = of_file if of_file.in_folders else None
    if reader is None or reader.read_archive is None:
        yield from _batches_of_members(archive, reading)
        return
    archive.facts["format"] = reader.name
    reading.annotator = reading.options.annotator
    if reader is XLSX:
        author = author or folders.author_of_source(reading, archive.name, is_file=True)
        reading.annotator = archive.annotator = author
    yield from folders.with_author(reader.read_archive(archive, reading), reading, archive.name)


def _batches_of_members(archive: Archive, reading: Reading) -> Iterator[Batch]:
    """Yield the records of each file in an archive, in its own format."""
    for member, description, way in _MEMBERS:
        if member in archive.names:
            raise Refused(f"{archive.name} is {description}", way)
    if archive.leading_out:
        archive.layouts[archive.name] = ToolLayout(reading, "archive", {}, {})
    authors = folders.authors_of_members(archive, reading)
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
