"""doccano: the zip file of a project, with a file for each of its members."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from tracker.core.errors import Refused
from tracker.formats import answers as tool
from tracker.formats.answers import Answer, Fields, Malformed, Span, answers_to, field_text, list_in
from tracker.formats.batch import Batch
from tracker.formats.column_names import NAMES_OF_ROLES, folded_name
from tracker.formats.column_roles import SAY_WHO
from tracker.formats.reader import Reader, Reading
from tracker.formats.source import Archive, SourceFile
from tracker.formats.streams import head_columns, head_value

NAME = "doccano"
_SUFFIXES = {".jsonl", ".json", ".csv"}
_LABELS = ("label", "cats", "entities")
_OF_USERS = "annotations"
_LEFT_OUT = {"relations": "relation", "bbox": "bounding box", "segmentation": "segment"}
_OF_OLD = {"id", "text", "data", "relations", *_LABELS}
"""All fields of an example without metadata, as versions wrote it that had no comments."""
_NOTHING = {b"", b'""', b"[]"}
_HINT = "choose JSONL in doccano's export, and import the zip file as it is"


def recognizes_member(source: SourceFile) -> bool:
    fields = _fields(source)
    if names_users(source):
        return True
    if "id" in fields and "Comments" in fields and not fields.isdisjoint(_LABELS):
        return True
    is_sure = "data" in fields or PurePosixPath(source.path).stem == "all"
    return is_sure and fields <= _OF_OLD and _is_of_old(source)


def names_users(source: SourceFile) -> bool:
    """Return whether the first annotation says who gave it, as the oldest versions wrote it."""
    first = head_value(source)
    if not isinstance(first, dict) or not {"id", "annotations"} <= first.keys():
        return False
    annotations = first["annotations"]
    if not annotations:
        return annotations == [] and "annotation_approver" in first
    marks = annotations[0] if isinstance(annotations, list) else None
    return isinstance(marks, dict) and "user" in marks and not {"label", "text"}.isdisjoint(marks)


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
    if not (reading.mapped.roles.get("annotator") or reading.annotator or names_users(source)):
        _refuse_shared(source.name, [source.path])
        raise Refused(
            f"{source.name} does not say who answered",
            "import doccano's zip file, or a folder of its files, each named after a member; or "
            + SAY_WHO,
        )
    member = _Member(reading, reading.annotator or "", approved=False)
    return tool.batches_of_answers(
        source, reading, member.answers(source), NAME, tool.json_unit(source)
    )


def recognizes_project(archive: Archive) -> bool:
    if any(PurePosixPath(name).suffix not in _SUFFIXES for name in archive.names):
        return False
    for name in _filled(archive):
        with closing(archive.open(name)) as source:
            return recognizes_member(source) or _is_of_old(source)
    return False


def read_project(archive: Archive, reading: Reading) -> Iterator[Batch]:
    """Yield the answers of all members, each named as their file.

    An example without a label is an answer only in an export of approved examples. Raises Refused
    if the members share their labels.
    """
    names = [*_filled(archive)]
    _refuse_shared(archive.name, names)
    approved = "approved" in PurePosixPath(archive.name).name or _is_approved(archive, names)

    def answers_of(source: SourceFile) -> Iterator[Answer]:
        return _Member(reading, PurePosixPath(source.path).stem, approved).answers(source)

    return tool.batches_of_files(archive, reading, names, answers_of, NAME)


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


def _filled(archive: Archive) -> Iterator[str]:
    """Yield the names of files that are not empty."""
    for name in archive.names:
        with closing(archive.open(name)) as source:
            if source.head[:4].strip() not in _NOTHING:
                yield name


def _fields(source: SourceFile) -> set[str]:
    first = head_value(source)
    if first is None:
        return set(head_columns(source))
    return set(first) if isinstance(first, dict) else set()


def _is_approved(archive: Archive, names: list[str]) -> bool:
    """Return whether an export has only what each member confirmed.

    Any other has the same examples for every member.
    """

    def of_record(_place: int, record: Fields) -> Iterator[Answer]:
        keys.update(f"{field_text(record.get('id'))}\0".encode("utf-8", "replace"))
        yield from ()

    digests = set[bytes]()
    for name in names:
        with closing(archive.open(name)) as source:
            keys = hashlib.sha256()
            deque(_records(source, of_record), 0)
            digests.add(keys.digest())
    return len(digests) > 1


def _records(
    source: SourceFile, of_record: Callable[[int, dict[str, Any]], Iterator[Answer]]
) -> Iterator[Answer]:
    if head_value(source) is not None:
        return tool.answers_of_objects(source, of_record, _HINT)
    return tool.answers_of_rows(source, of_record, _HINT)


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
        if _OF_USERS in record and not questions:
            yield from self._of_users(place, record)
            return
        for name, noun in _LEFT_OUT.items():
            self.reading.leave_out(noun, len(list_in(record, name)))
        if not questions:
            return
        labels = {name: _labels(record, name) for name in questions}
        if not (self.approved or any(labels.values())):
            left_out["example without a label"] += 1
            return
        mapped = tool.mapped_annotator(self.reading, record)
        data = {name: value for name, value in record.items() if name not in questions}
        data.setdefault("text", record.get("data"))
        annotator, item = self.annotator if mapped is None else mapped, field_text(record.get("id"))
        answer = Answer(place, item, annotator, "", (), comment=_comment(record), data=data)
        marked = field_text(data.get("text"))
        yield from answers_to(self.reading, answer._replace(marked=marked), labels)

    def _of_users(self, place: int, record: dict[str, Any]) -> Iterator[Answer]:
        by_user: dict[str, list[str | Span]] = {}
        for annotation in tool.objects_in(record, _OF_USERS):
            if "label" not in annotation and "start_offset" not in annotation:
                self.reading.left_out["free text"] += 1
                continue
            user = field_text(annotation.get("user"))
            label = annotation if "start_offset" in annotation else annotation["label"]
            by_user.setdefault(user, []).extend(_labels({_OF_USERS: [label]}, _OF_USERS))
        if not by_user:
            self.reading.left_out["example without a label"] += 1
        item, text = field_text(record.get("id")), field_text(record.get("text"))
        for user, labels in by_user.items():
            answer = Answer(place, item, user, "", (), data=record, marked=text)
            yield from answers_to(self.reading, answer, {"label": labels})


def _labels(record: Fields, name: str) -> list[str | Span]:
    value = record[name]
    if isinstance(value, str):  # a cell of CSV
        return tool.unique_labels(filter(None, map(str.strip, value.split("#"))))
    labels: list[str | Span] = []
    for part in list_in(record, name):
        if isinstance(part, list):
            if len(part) != 3:
                raise Malformed(f"a span of {name!r} is not [start, end, label]")
            labels.append(tool.span_of(part[2], part[0], part[1]))
        elif isinstance(part, dict):
            start, end = part.get("start_offset"), part.get("end_offset")
            labels.append(tool.span_of(part.get("label"), start, end))
        else:
            labels.append(tool.category_of(part, f"a value of {name!r}"))
    return tool.unique_labels(labels)


def _comment(record: Fields) -> str:
    value = record.get("Comments")
    if not isinstance(value, list):
        return field_text(value)
    texts = (part.get("comment") if isinstance(part, dict) else part for part in value)
    return "\n".join(filter(None, map(field_text, texts)))
