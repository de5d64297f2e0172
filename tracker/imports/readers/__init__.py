"""Every kind of source, with its reader."""

from __future__ import annotations

from collections.abc import Iterator

from tracker.core.errors import Refused
from tracker.imports.batch import Batch, Rejections
from tracker.imports.column_roles import Mapped
from tracker.imports.readers.delimited import read_delimited
from tracker.imports.readers.frames import FrameSource, RowsSource, read_frame, read_rows
from tracker.imports.readers.source import SourceFile

__all__ = ["Source", "read"]

Source = SourceFile | FrameSource | RowsSource


def read(source: Source, mapped: Mapped, rejections: Rejections, answers: str) -> Iterator[Batch]:
    """Yield the records of a source in batches, for a project with these ``answers``.

    Raises Refused if the source cannot be read.
    """
    try:
        if isinstance(source, SourceFile):
            yield from read_delimited(source, mapped, rejections)
        elif isinstance(source, FrameSource):
            yield from read_frame(source, mapped, rejections, several=answers == "several")
        else:
            yield from read_rows(source)
    except UnicodeEncodeError as error:
        raise Refused(
            f"{source.name}: {error.object[error.start]!r} is half a character", "fix the text"
        ) from None
