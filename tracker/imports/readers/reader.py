"""What a reader of files is, and what it needs to know."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from tracker.imports.batch import Batch, Rejections
from tracker.imports.column_roles import Mapped
from tracker.imports.readers.source import SourceFile


class Reading(NamedTuple):
    """What a reader needs to know, and where it puts rows that cannot be records.

    ``answers`` says what an answer of the project is: one category, several, or spans.
    """

    mapped: Mapped
    rejections: Rejections
    answers: str


@dataclass(frozen=True)
class Reader:
    """A format of files.

    Attributes:
        name: as ``--format`` has it.
        recognizes: whether a file is in the format, by its name and its first bytes
            (`SourceFile.head`); other readers are asked if not.
        read: the records of a file in batches, column by column; raises Refused if the file
            cannot be read.
    """

    name: str
    recognizes: Callable[[SourceFile], bool]
    read: Callable[[SourceFile, Reading], Iterator[Batch]]
