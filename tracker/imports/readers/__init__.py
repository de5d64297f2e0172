"""Every format of files, with its reader; other sources yield their batches themselves."""

from __future__ import annotations

from collections.abc import Iterator

from tracker.core.errors import InvalidOption, Refused
from tracker.imports.batch import Batch
from tracker.imports.readers.delimited import DELIMITED
from tracker.imports.readers.frames import FrameSource, RowsSource
from tracker.imports.readers.reader import Reader, Reading
from tracker.imports.readers.source import SourceFile
from tracker.projects.lookup import near_names

__all__ = ["READERS", "Reader", "Reading", "Source", "check_reader_format", "read_batches"]

Source = SourceFile | FrameSource | RowsSource

READERS: dict[str, Reader] = {reader.name: reader for reader in (DELIMITED,)}
"""Every reader by the name of its format; the first that recognizes a file reads it."""


def check_reader_format(name: str | None) -> None:
    """Raise InvalidOption if there is no format of this name; None is for files of any."""
    if name is not None and name not in READERS:
        raise InvalidOption(
            f"there is no format {name!r}",
            near_names(name, READERS) or f"one of: {', '.join(READERS)}",
        )


def read_batches(source: Source, reading: Reading, form: str | None = None) -> Iterator[Batch]:
    """Yield the records of a source in batches.

    A file is read in the format ``form``, or in that which a reader recognizes; any other is taken
    for delimited text. Raises Refused if the source cannot be read.
    """
    try:
        if isinstance(source, SourceFile):
            known = (reader for reader in READERS.values() if reader.recognizes(source))
            reader = next(known, DELIMITED) if form is None else READERS[form]
            yield from reader.read(source, reading)
        else:
            yield from source.batches(reading)
    except UnicodeEncodeError as error:
        raise Refused(
            f"{source.name}: {error.object[error.start]!r} is half a character", "fix the text"
        ) from None
