"""Answers as annotation tools keep them, and the batches that the loader takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from tracker.core.errors import Refused
from tracker.imports.batch import KEEP, Batch, Cells, Numbers
from tracker.imports.column_roles import SAY_WHO
from tracker.imports.left_out import left_out_words
from tracker.imports.places import Unit
from tracker.imports.readers.archive import Archive
from tracker.imports.readers.reader import Reading
from tracker.imports.readers.source import SourceFile
from tracker.projects.lookup import near_names

WITHOUT_AUTHOR = ("annotation without an annotator", "judgment without an author")
"""What is left out because it does not say who answered."""

_AT_ONCE = 10_000  # answers
_ENOUGH = 8 * 1024 * 1024  # characters of texts of items for a batch

Fields = Mapping[str, Any]
_NONE: Fields = {}


class Span(NamedTuple):
    """A category from one place in a text to another: half-open, in characters of Unicode."""

    category: str
    start: int
    end: int


class Answer(NamedTuple):
    """One answer of one annotator to one question about one item; texts as a file holds them.

    Attributes:
        place: the line, or the number of the record in its file.
        item: the key of the item.
        annotator: the name.
        question: the name of the control or column that was answered.
        labels: the categories or spans; none for an answer that says nothing.
        labeled_at: ISO 8601, or seconds since 1970; empty if the file does not say.
        seconds: how long it took.
        number: 1, 2, … of several answers of the annotator to the item; empty for the first.
        kind: ``human``, ``model`` or ``reference``; empty if the file does not say.
        confidence: from 0 to 1.
        comment: why.
        length: that of the item, in the unit of its spans.
        lines: the place of each label, if they stand in places of their own.
        data: what the file says of the item, by field; `text` and what the user keeps are of it.
        marked: the text that the spans are in, if it is known; they must end in it.
    """

    place: int
    item: str
    annotator: str
    question: str
    labels: Sequence[str | Span]
    labeled_at: str = ""
    seconds: str = ""
    number: str = ""
    kind: str = ""
    confidence: str = ""
    comment: str = ""
    length: str = ""
    lines: Sequence[int] = ()
    data: Fields = _NONE
    marked: str = ""


_ROLES = {
    "labeled_at": "labeled_at",
    "seconds": "seconds",
    "pass": "number",
    "kind": "kind",
    "confidence": "confidence",
    "comment": "comment",
    "n_tokens": "length",
}
"""What an answer may have; a batch in which no answer has it lacks the column."""


@dataclass
class ToolLayout:
    """Which questions a tool's file answers, and what was left out of it."""

    reading: Reading
    format: str
    read: dict[str, str]
    names: Mapping[str, str]

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "format": self.format,
            "read": self.read,
            "questions": {self.names.get(name, name): name for name in self.reading.asked},
            "annotators": [],
            "kept": list(self.reading.mapped.keep),
            "left_out": [f"{n:,} {what}" for what, n in self.reading.left_out.items()],
            "notes": self.reading.notes,
        }


def batches_of_answers(
    source: SourceFile | Archive,
    reading: Reading,
    answers: Iterable[Answer],
    form: str,
    unit: Unit = "line",
    name: str | None = None,
) -> Iterator[Batch]:
    """Yield the answers of a file in batches, a record for each label.

    The item, its text and its attributes are the fields of the file's items that the user names;
    of the questions, only those that the user names, if any. Raises Refused for a field that is
    not there, and for a file without answers. ``unit`` is what the places of answers count, and
    ``name`` that of the file, if the source is an archive.
    """
    names = {one.column: one.name for one in reading.mapped.questions if one.column}
    fields = _ItemFields(reading, source.name)
    empty = True
    rejected_before = reading.rejections.count
    rows = _within_their_text(answers, reading, name or source.name, unit)
    while some := _portion(rows):
        if source.layout is None:
            source.layout = ToolLayout(reading, form, fields.read, names)
        if names:
            reading.left_out.update(
                f"answer to {one.question!r}" for one in some if one.question not in names
            )
            some = [one._replace(question=names[one.question]) for one in some
                    if one.question in names]  # fmt: skip
        if some:
            empty = False
            yield replace(_batch(some, fields, reading, names), unit=unit)
    if empty and reading.rejections.count == rejected_before and not reading.may_be_empty:
        raise _no_answer(source.name, reading, names)


def _no_answer(source: str, reading: Reading, names: Mapping[str, str]) -> Refused:
    """Return what to raise for a file without an answer to the questions that the user names."""
    told = ", ".join(left_out_words(f"{n:,} {what}") for what, n in reading.left_out.items())
    strange = next((name for name in names if name not in reading.asked), None)
    has = ", ".join(reading.asked)
    mend = f"it has no question {strange!r}; it has: {has}" if strange and has else None
    if any(what in reading.left_out for what in WITHOUT_AUTHOR):
        mend = SAY_WHO
    return Refused(f"{source} holds no answer" + (f"; left out: {told}" if told else ""), mend)


def _within_their_text(
    answers: Iterable[Answer], reading: Reading, source: str, unit: Unit
) -> Iterator[Answer]:
    """Yield answers; those with a span that ends behind its text are rejected."""
    for one in answers:
        if one.marked:
            last = max((label.end for label in one.labels if isinstance(label, Span)), default=0)
            if last > len(one.marked):
                item = item_key(reading, one.item, one.data)
                reason = behind_the_end(last, one.marked)
                reading.rejections.add(source, one.place, reason, unit, item)
                reading.rejections.ragged += 1
                continue
        yield one


def item_key(reading: Reading, item: str, data: Fields) -> str:
    """Return the key of an item: that of the file, or the field that the user names."""
    name = reading.mapped.roles.get("item")
    return (field_text(field_at(data, name)) if name else item).strip()


def behind_the_end(last: int, text: str) -> str:
    """Return what is wrong with a span that ends there."""
    return f"a span ends at {last}, and the text has {len(text)} characters"


def _portion(answers: Iterator[Answer]) -> list[Answer]:
    """Return the next answers: as many as fit into the memory with the data of their items."""
    some: list[Answer] = []
    size, data = 0, None
    for one in answers:
        some.append(one)
        if one.data is not data:
            data = one.data
            size += sum(len(text) for text in data.values() if isinstance(text, str))
        if len(some) >= _AT_ONCE or size > _ENOUGH:
            break
    return some


def _batch(
    answers: Sequence[Answer], fields: _ItemFields, reading: Reading, names: Mapping[str, str]
) -> Batch:
    parts = zip(*answers, strict=True)
    fields_of: dict[str, Any] = dict(zip(Answer._fields, parts, strict=True))
    columns: dict[str, Sequence[str]] = fields.of(fields_of["item"], fields_of["data"])
    columns |= {"annotator": fields_of["annotator"], "question": fields_of["question"]}
    for role, name in _ROLES.items():
        if any(fields_of[name]):
            columns[role] = fields_of[name]
    spans = any(one.answers == "spans" for one in reading.asked.values())
    given, lengths = _label_columns(fields_of["labels"], spans=spans)
    records = np.repeat(np.arange(len(answers)), lengths)
    places = np.array(fields_of["place"])[records]
    if any(fields_of["lines"]):
        ends = np.cumsum(lengths)
        for one, end in zip(answers, ends.tolist(), strict=True):
            if one.lines:
                places[end - len(one.lines) : end] = one.lines
    return Batch(
        places,
        {role: _taken(Cells.of_texts(cells), records) for role, cells in columns.items()}
        | {role: Cells.of_texts(cells) for role, cells in given.items()},
        asked={
            names.get(name, name): one
            for name, one in reading.asked.items()
            if not names or name in names
        },
    )


def _label_columns(
    answers: Sequence[Sequence[str | Span]], *, spans: bool
) -> tuple[dict[str, Sequence[str]], list[int]]:
    """Return the columns of the labels of answers, and the number of records of each answer.

    ``spans`` says that questions ask for spans, even if no answer at hand has one.
    """
    labels = [label for some in answers for label in some or ("",)]
    lengths = [len(some) or 1 for some in answers]
    if not spans:
        return {"category": labels}, lengths  # type: ignore[dict-item]
    marked = [label if isinstance(label, Span) else None for label in labels]
    return {
        "category": [one.category if isinstance(one, Span) else one for one in labels],
        "start": ["" if one is None else str(one.start) for one in marked],
        "end": ["" if one is None else str(one.end) for one in marked],
    }, lengths


def _taken(cells: Cells, records: Numbers) -> Cells:
    return cells if len(records) == len(cells.codes) else cells.take(records)


class _ItemFields:
    """The fields of items that are read: their key, text, and what the user keeps."""

    def __init__(self, reading: Reading, source: str) -> None:
        mapped = reading.mapped
        self.source = source
        self.wanted = {role: name for role, name in mapped.roles.items() if name}
        self.wanted |= {KEEP + name: name for name in mapped.keep}
        self.without_text = mapped.roles.get("text") == ""
        self.read: dict[str, str] = {**self.wanted}
        self._checked = not self.wanted

    def of(self, items: Sequence[str], data: Sequence[Fields]) -> dict[str, Sequence[str]]:
        """Return the columns of items with these keys and data; raises Refused as `_check`."""
        # Answers to one item follow one another, and their reader gives them the same data.
        places, distinct = [], list[Fields]()
        for one in data:
            if not distinct or one is not distinct[-1]:
                distinct.append(one)
            places.append(len(distinct) - 1)
        if not self._checked:
            self._check(distinct)
        columns: dict[str, Sequence[str]] = {"item": items}
        wanted = {role: [field_text(field_at(one, name)) for one in distinct]
                  for role, name in self.wanted.items()}  # fmt: skip
        if "text" not in self.wanted and not self.without_text:
            wanted["text"] = [field_text(one.get("text")) for one in distinct]
        for role, texts in wanted.items():
            if role != "text" or any(texts):
                columns[role] = [texts[place] for place in places]
        return columns

    def _check(self, data: Sequence[Fields]) -> None:
        """Raise Refused for a field that none of these items has."""
        known = {name for one in data[:1000] for name in one}
        for role, name in self.wanted.items():
            if all(field_at(one, name) is None for one in data):
                flag = f"--keep {name}" if role.startswith(KEEP) else f"--map {role}={name}"
                raise Refused(
                    f"{self.source} has no field {name!r} ({flag})",
                    near_names(name, known) or f"its fields are: {', '.join(sorted(known))}",
                )
        self._checked = True


def field_at(record: Fields, name: str) -> Any:
    """Return a field by its name, or by the names that lead to it: ``meta.topic``."""
    if name in record:
        return record[name]
    value: Any = record
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def field_text(value: Any) -> str:
    """Return a plain value of JSON as a file of cells would hold it; empty for anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value) if isinstance(value, int | float) else ""
