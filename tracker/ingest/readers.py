"""Every kind of source, and what reads it."""

from __future__ import annotations

from collections.abc import Iterator

from tracker.errors import Refused
from tracker.ingest.columns import Mapped
from tracker.ingest.delimited import read_delimited
from tracker.ingest.memory import FrameSource, RowsSource, read_frame, read_rows
from tracker.ingest.records import Batch, Rejections
from tracker.ingest.source import SourceFile

__all__ = ["Source", "read"]

Source = SourceFile | FrameSource | RowsSource


def read(source: Source, mapped: Mapped, rejections: Rejections, answers: str) -> Iterator[Batch]:
    """The records of a source in batches, for a project of such ``answers``.

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
