"""tagtog: the zip file or folder of a project, with a file of annotations for each document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from html import unescape
from pathlib import PurePosixPath
from typing import Any

from tracker.core.errors import Refused
from tracker.formats import answers as tool
from tracker.formats.answers import Answer, Fields, Malformed, Span, field_text, list_in, object_in
from tracker.formats.batch import Batch
from tracker.formats.reader import Reader, Reading
from tracker.formats.source import Archive, SourceFile
from tracker.formats.streams import head_value
from tracker.readers.folders import AnnotatorFile, files_by_annotator

_ENDING, _LEGEND = ".ann.json", "annotations-legend.json"
_MEMBER = re.compile(r"(?:.*/)?members/([^/]+)/.*")
_AROUND = re.compile(
    r"(?:.*/)?(?:pool|master|members/[^/]+|plain\.html)/|\.ann\.json$|\.plain\.html$|\.txt$"
)
_ENTITIES = "entities"
_USER, _MODEL = "user:", "ml:"
_HINT = "in tagtog, download all documents of the project, and import the zip file as it is"


def _read(archive: Archive, reading: Reading) -> Iterator[Batch]:
    """Yield the answers of a project's members; the master only if theirs are not there."""
    names = archive.matching(f"*{_ENDING}")
    files = [
        AnnotatorFile(name, match[1], _document(name))
        for name in names
        if (match := _MEMBER.fullmatch(name))
    ]
    in_folders = len({PurePosixPath(name).parent for name in names}) > 1
    if reading.says_who or (in_folders and not files and "master/" not in names[0]):
        files = files_by_annotator(archive, names, reading, whole=True)
    reading.leave_out("merged document", len(names) - len(files) if files else 0)
    if not files:
        files = [AnnotatorFile(name, "", _document(name)) for name in names]
        reading.notes.append(
            "each document is of the people who are named in it; who found nothing is not known"
        )
    names = [file.name for file in files]
    answers_of = _Project(archive, reading, files).answers
    return tool.batches_of_files(archive, reading, names, answers_of, "tagtog", "document")


def _read_one(source: SourceFile, _reading: Reading) -> Iterator[Batch]:
    raise Refused(f"{source.name} is one document of tagtog, without its legend and text", _HINT)


TAGTOG = Reader(
    "tagtog",
    recognizes=lambda source: (
        isinstance(first := head_value(source), dict) and {"annotatable", _ENTITIES} <= first.keys()
    ),
    read=_read_one,
    title="tagtog: zip file or folder of a project",
    holds=("questions", "spans", "models", "text"),
    recognizes_archive=lambda archive: bool(archive.matching(f"*{_ENDING}")),
    read_archive=_read,
)


class _Project:
    def __init__(self, archive: Archive, reading: Reading, files: list[AnnotatorFile]) -> None:
        self.archive, self.reading = archive, reading
        self.files = {file.name: file for file in files}
        self.legend: Fields = {}
        if legends := archive.matching(f"*{_LEGEND}"):
            try:
                content = {"the legend": archive.text(legends[0])}
                self.legend = tool.object_of(tool.json_in(content, "the legend"), "the legend")
            except Malformed as error:
                raise Refused(f"{archive.name}/{legends[0]}: {error}", _HINT) from None
        self.texts = {
            key: name
            for name in [*archive.matching("*.plain.html"), *archive.matching("*.txt")]
            for key in (PurePosixPath(_document(name)).name, _document(name))
        }

    def answers(self, source: SourceFile) -> Iterator[Answer]:
        return tool.answers_of_objects(source, partial(self._of_document, source.path), _HINT)

    def _of_document(self, path: str, place: int, record: Fields) -> Iterator[Answer]:
        _, member, item = self.files[path]
        item = _document(item).removesuffix(".ann")
        if member and record.get("anncomplete") is False:
            self.reading.leave_out("document that is not confirmed")
            return
        self.reading.leave_out("relation", len(list_in(record, "relations")))
        text, starts = self._text(item, record)
        by_user: dict[str, dict[str, list[str | Span]]] = {}
        is_placed = True
        if member and any(key.startswith("e_") for key in self.legend):
            by_user[member] = {_ENTITIES: []}
        for entity in tool.objects_in(record, _ENTITIES):
            spans = self._spans(entity, starts.get(field_text(entity.get("part"))), text)
            is_placed &= bool(spans)
            for user in self._people(entity, member):
                by_user.setdefault(user, {}).setdefault(_ENTITIES, []).extend(spans)
        for key, meta in object_in(record, "metas").items():
            label = tool.category_of(
                tool.object_of(meta, "a meta").get("value"), f"the value of {key!r}"
            )
            for user in self._people(meta, member):
                by_user.setdefault(user, {})[self._name(key)] = [label]
        length, data = str(len(text) or ""), {"text": text}
        answer = Answer(place, item, "", "", (), length=length, marked=text, data=data)
        for user, labels in by_user.items():
            if not is_placed:
                labels.pop(_ENTITIES, None)
            if _ENTITIES in labels:
                self.reading.ask(_ENTITIES, "spans", offsets="characters")
            kind = "model" if user.startswith(_MODEL) else ""
            answer = answer._replace(annotator=user, kind=kind)
            yield from tool.answers_to(self.reading, answer, labels)

    def _spans(self, entity: Fields, start: int | None, text: str) -> list[str | Span]:
        """Return the places of an entity in the text, whose part begins at ``start``."""
        if start is None:
            self.reading.leave_out("span in a part whose place is not known")
            return []
        spans: list[str | Span] = []
        for offset in tool.objects_in(entity, "offsets"):
            marked = field_text(offset.get("text"))
            name = self._name(entity.get("classId"))
            span = tool.span_of(name, offset.get("start"), len(marked))
            begin, end = start + span.start, start + span.start + span.end
            if text and text[begin:end] != marked:
                self.reading.leave_out("span that does not stand where it should")
                return []
            spans.append(span._replace(start=begin, end=end))
        return spans

    def _people(self, marked: Fields, member: str) -> list[str]:
        """Return who marked something: the member whose file it is, or the users in it."""
        people = [field_text(name) for name in list_in(object_in(marked, "confidence"), "who")]
        if member:
            return [member]
        if not people:
            self.reading.leave_out("annotation without an annotator")
        return list(dict.fromkeys(name.removeprefix(_USER) for name in people if name))

    def _name(self, class_id: Any) -> str:
        key = field_text(class_id)
        return field_text(self.legend.get(key)) or key

    def _text(self, document: str, record: Fields) -> tuple[str, dict[str, int]]:
        """Return the text of a document, and where each of its parts starts.

        Without its file, only the place of a single part is known.
        """
        parts = [field_text(part) for part in list_in(object_in(record, "annotatable"), "parts")]
        name = self.texts.get(document) or self.texts.get(PurePosixPath(document).name, "")
        content = self.archive.text(name) if name else ""
        if not name.endswith(".html"):
            return content, dict.fromkeys(parts, 0) if len(parts) == 1 else {}
        text, starts = "", {}
        for part in parts:
            element = rf'<(\w+)[^>]*\bid="{re.escape(part)}"[^>]*>(.*?)</\1>'
            if match := re.search(element, content, re.DOTALL):
                starts[part] = len(text)
                text += unescape(re.sub("<[^>]*>", "", match[2])) + "\n"
        return text.removesuffix("\n"), starts


def _document(path: str) -> str:
    """Return the name of a document by that of one of its files."""
    return _AROUND.sub("", path)
