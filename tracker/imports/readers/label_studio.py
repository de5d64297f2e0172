"""Label Studio: its exports as JSON, JSON-MIN, CSV and TSV."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tracker.core.errors import Refused
from tracker.imports.batch import Batch
from tracker.imports.readers.answers import batches_of_answers
from tracker.imports.readers.label_studio_rows import FIXED, Records
from tracker.imports.readers.label_studio_tasks import Tasks
from tracker.imports.readers.reader import Reader, Reading
from tracker.imports.readers.records import head_value
from tracker.imports.readers.rows import head_columns
from tracker.imports.readers.source import SourceFile

NAME = "label-studio"
_OF_RECORDS = FIXED - {"updated_at"}
_CONLL = re.compile(rb"-DOCSTART- -X- O\r?\n\s*(\S+ -X- _ \S+\s*)?")
_HINT = "export as JSON from Label Studio"


def recognizes_export(source: SourceFile) -> bool:
    """Return whether a file is an export of Label Studio."""
    return _is_of_tasks(source) or _is_of_records(source) or bool(_CONLL.match(source.head))


def read_export(source: SourceFile, reading: Reading) -> Iterator[Batch]:
    """Yield the answers of an export. Raises Refused for one that no longer says who answered."""
    if _CONLL.match(source.head):
        raise Refused(f"{source.name} does not say who answered, nor about which task", _HINT)
    read: Tasks | Records
    if _is_of_records(source):
        read = Records(source, reading)
    elif source.head.lstrip()[:1] in {b"[", b"{"} or source.head[:3] == b"\xef\xbb\xbf":
        read = Tasks(source, reading)
    else:
        raise Refused(f"{source.name} is no export of Label Studio", _HINT)
    return batches_of_answers(source, reading, read.answers(), NAME, read.unit)


LABEL_STUDIO = Reader(
    NAME,
    recognizes=recognizes_export,
    read=read_export,
    title="Label Studio: JSON, JSON-MIN, CSV, TSV",
    holds=(
        "questions", "several", "spans", "time", "seconds", "skips", "passes", "gold", "models",
        "confidence", "text", "attributes",
    ),
)  # fmt: skip


def _is_of_tasks(source: SourceFile) -> bool:
    first = head_value(source)
    return (
        isinstance(first, dict)
        and "id" in first
        and not first.keys().isdisjoint({"annotations", "completions"})
    )


def _is_of_records(source: SourceFile) -> bool:
    first = head_value(source)
    columns = first.keys() if isinstance(first, dict) else set(head_columns(source))
    return columns >= _OF_RECORDS
