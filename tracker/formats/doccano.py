"""doccano: the zip file of a project, with a file for each of its members."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, TypeVar

from tracker.core.errors import Refused
from tracker.formats.answers import (
    Answer,
    Malformed,
    Span,
    answers_of_objects,
    answers_of_rows,
    ask_for,
    batches_of_answers,
    batches_of_files,
    category_of,
    field_text,
    json_unit,
    list_in,
    mapped_annotator,
    span_of,
    unique_labels,
)
from tracker.formats.batch import Batch
from tracker.formats.column_names import NAMES_OF_ROLES, folded_name
from tracker.formats.column_roles import SAY_WHO
from tracker.formats.reader import Reader, Reading
from tracker.formats.source import Archive, SourceFile
from tracker.formats.streams import head_columns, head_value

T = TypeVar("T")

NAME = "doccano"
_SUFFIXES = {".jsonl", ".json", ".csv"}
_LABELS = ("label", "cats", "entities")
_LEFT_OUT = {"relations": "relation", "bbox": "bounding box", "segmentation": "segment"}
_OF_OLD = {"id", "text", "data", "relations", *_LABELS}
"""All fields of an example without metadata, as versions wrote it that had no comments."""
_NOTHING = {b"", b'""', b"[]"}
_HINT = "choose JSONL in doccano's export, and import the zip file as it is"


def recognizes_member(source: SourceFile) -> bool:
    fields = _fields(source)
    if "id" in fields and "Comments" in fields and not fields.isdisjoint(_LABELS):
        return True
    is_sure = "data" in fields or PurePosixPath(source.path).stem == "all"
    return is_sure and fields <= _OF_OLD and _is_of_old(source)


def _is_of_old(source: SourceFile) -> bool:
    """Return whether a file is one that an older version wrote, perhaps with metadata.

    A table that says itself who answered is none.
    """
    first, fields = head_value(source), _fields(source)
    if "id" not in fields or fields.isdisjoint({"text", "data"}):
        return False
    if first is None:
        return {"data", "label"} <= fields <= _OF_OLD
    folded = {folded_name(name) for name in fields}
    has_lists = any(isinstance(first.get(name), list) for name in _LABELS)
    return has_lists and folded.isdisjoint(NAMES_OF_ROLES["annotator"].split())


def read_member(source: SourceFile, reading: Reading) -> Iterator[Batch]:
    """Yield the answers of a single file, if the user says which field has the annotator.

    Raises Refused if not: the file itself does not say who answered.
    """
    if not (reading.mapped.roles.get("annotator") or reading.annotator):
        _refuse_shared(source.name, [source.path])
        raise Refused(
            f"{source.name} does not say who answered",
            "import doccano's zip file, or a folder of its files, each named after a member; or "
            + SAY_WHO,
        )
    member = _Member(reading, reading.annotator or "", approved=False)
    return batches_of_answers(source, reading, member.answers(source), NAME, json_unit(source))


def recognizes_project(archive: Archive) -> bool:
    if any(PurePosixPath(name).suffix not in _SUFFIXES for name in archive.names):
        return False
    first = next((name for name in archive.names if not _is_empty(archive, name)), None)
    return first is not None and _opened(
        archive, first, lambda source: recognizes_member(source) or _is_of_old(source)
    )


def read_project(archive: Archive, reading: Reading) -> Iterator[Batch]:
    """Yield the answers of all members, each named as their file.

    An example without a label is an answer only in an export of approved examples. Raises Refused
    if the members share their labels.
    """
    names = [name for name in archive.names if not _is_empty(archive, name)]
    _refuse_shared(archive.name, names)
    approved = _is_approved(archive, names)

    def answers_of(source: SourceFile) -> Iterator[Answer]:
        return _Member(reading, PurePosixPath(source.path).stem, approved).answers(source)

    return batches_of_files(archive, reading, names, answers_of, NAME)


DOCCANO = Reader(
    NAME,
    recognizes=recognizes_member,
    read=read_member,
    title="doccano: zip file of JSONL, JSON or CSV, a file for each member",
    holds=("questions", "several", "spans", "skips", "comments", "text", "attributes"),
    recognizes_archive=recognizes_project,
    read_archive=read_project,
)


def _refuse_shared(name: str, files: list[str]) -> None:
    """Raise Refused if the only file holds the labels of all members."""
    if [PurePosixPath(file).stem for file in files] == ["all"]:
        raise Refused(
            f"{name} does not say who answered: the members of the project share labels",
            "in doccano, make a project that does not share annotations across all users",
        )


def _opened(archive: Archive, name: str, use: Callable[[SourceFile], T]) -> T:
    with closing(archive.open(name)) as source:
        return use(source)


def _is_empty(archive: Archive, name: str) -> bool:
    return _opened(archive, name, lambda source: source.head[:4].strip() in _NOTHING)


def _fields(source: SourceFile) -> set[str]:
    first = head_value(source)
    if first is None:
        return set(head_columns(source))
    return set(first) if isinstance(first, dict) else set()


def _is_approved(archive: Archive, names: list[str]) -> bool:
    """Return whether an export has only what each member confirmed.

    Any other has the same examples for every member.
    """
    if "approved" in PurePosixPath(archive.name).name:
        return True
    return len({_opened(archive, name, _digest_of_keys) for name in names}) > 1


def _digest_of_keys(source: SourceFile) -> bytes:
    keys = hashlib.sha256()

    def of_record(_place: int, record: Mapping[str, Any]) -> Iterator[Answer]:
        keys.update(f"{field_text(record.get('id'))}\0".encode("utf-8", "replace"))
        yield from ()

    for _ in _records(source, of_record):
        pass
    return keys.digest()


def _records(
    source: SourceFile, of_record: Callable[[int, dict[str, Any]], Iterator[Answer]]
) -> Iterator[Answer]:
    if head_value(source) is not None:
        return answers_of_objects(source, of_record, _HINT)
    return answers_of_rows(source, of_record, _HINT)


@dataclass
class _Member:
    reading: Reading
    annotator: str
    approved: bool

    def answers(self, source: SourceFile) -> Iterator[Answer]:
        return _records(source, self._of_example)

    def _of_example(self, place: int, record: dict[str, Any]) -> Iterator[Answer]:
        questions = [name for name in _LABELS if name in record]
        left_out = self.reading.left_out
        for name, noun in _LEFT_OUT.items():
            if number := len(list_in(record, name)):
                left_out[noun] += number
        if not questions:
            return
        labels = {name: _labels(record, name) for name in questions}
        if not (self.approved or any(labels.values())):
            left_out["example without a label"] += 1
            return
        mapped = mapped_annotator(self.reading, record)
        data = {name: value for name, value in record.items() if name not in questions}
        data.setdefault("text", record.get("data"))
        for name, of_question in labels.items():
            ask_for(self.reading, name, of_question)
            yield Answer(
                place, field_text(record.get("id")),
                self.annotator if mapped is None else mapped,
                name, of_question, comment=_comment(record), data=data,
                marked=field_text(data.get("text")),
            )  # fmt: skip


def _labels(record: Mapping[str, Any], name: str) -> list[str | Span]:
    value = record[name]
    if isinstance(value, str):  # a cell of CSV
        return unique_labels(filter(None, map(str.strip, value.split("#"))))
    labels: list[str | Span] = []
    for part in list_in(record, name):
        if isinstance(part, list):
            if len(part) != 3:
                raise Malformed(f"a span of {name!r} is not [start, end, label]")
            labels.append(span_of(part[2], part[0], part[1]))
        elif isinstance(part, dict):
            start, end = part.get("start_offset"), part.get("end_offset")
            labels.append(span_of(part.get("label"), start, end))
        else:
            labels.append(category_of(part, f"a value of {name!r}"))
    return unique_labels(labels)


def _comment(record: Mapping[str, Any]) -> str:
    value = record.get("Comments")
    if not isinstance(value, list):
        return field_text(value)
    texts = (part.get("comment") if isinstance(part, dict) else part for part in value)
    return "\n".join(filter(None, map(field_text, texts)))
