"""Answers as annotation tools keep them, and the batches that the loader takes."""

from __future__ import annotations

import codecs
import json
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from tracker.core.errors import InvalidOption, Refused
from tracker.formats.batch import KEEP, Batch, Cells, Unit
from tracker.formats.column_roles import SAY_WHO
from tracker.formats.reader import Reader, Reading, left_out_words
from tracker.formats.source import Archive, SourceFile
from tracker.formats.streams import json_records, table_rows
from tracker.projects.names import check_entered_name, is_numeric_category_name, near_names

WITHOUT_AUTHOR = ("annotation without an annotator", "judgment without an author")
"""What is left out because it does not say who answered."""

WITHOUT_LABEL = "span without a label"

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
    """One answer of one annotator to one question about one item; texts as a file holds them."""

    place: int  # the line, or the number of the record in its file
    item: str  # its key
    annotator: str
    question: str  # the name of the control or column that was answered
    labels: Sequence[str | Span]  # none for an answer that says nothing
    labeled_at: str = ""  # ISO 8601, or seconds since 1970; empty if the file does not say
    seconds: str = ""  # how long it took
    number: str = ""  # 1, 2, … of several answers of the annotator to the item
    kind: str = ""  # human, model or reference; empty if the file does not say
    confidence: str = ""  # from 0 to 1
    comment: str = ""
    length: str = ""  # of the item, in the unit of its spans
    lines: Sequence[int] = ()  # the place of each label, if they stand in places of their own
    data: Fields = _NONE  # what the file says of the item; its text and what the user keeps
    marked: str = ""  # the text that the spans are in, if it is known; they must end in it


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
        return {
            "format": self.format,
            "read": self.read,
            "questions": {self.names.get(name, name): name for name in self.reading.asked},
            "annotators": [],
            "kept": list(self.reading.mapped.keep),
            "left_out": [f"{n:,} {noun}" for noun, n in self.reading.left_out.items()],
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
    names = {
        question.column: question.name for question in reading.mapped.questions if question.column
    }
    fields = _ItemFields(reading, source.name)
    empty = True
    rejected_before = reading.rejections.count
    answers = _after_their_kind(_with_span_labels(answers, reading), reading)
    rows = _within_their_text(answers, reading, name or source.name, unit)
    while portion := _portion(rows):
        if source.layout is None:
            source.layout = ToolLayout(reading, form, fields.read, names)
        if names:
            every = _to_questions(portion, names, reading)
            portion = [answer._replace(question=names[answer.question]) for answer in every]
        if portion:
            empty = False
            yield replace(_batch(portion, fields, reading, names), unit=unit)
    if empty and reading.rejections.count == rejected_before and not reading.may_be_empty:
        raise _no_answer(source.name, reading, names)


def tool_reader(
    name: str,
    title: str,
    holds: tuple[str, ...],
    *,
    recognizes: Callable[[SourceFile], bool],
    answers: Callable[[SourceFile, Reading], Iterable[Answer]],
    unit: str | Callable[[SourceFile], str] = "line",
) -> Reader:
    """Return the reader of a tool's files; ``unit`` is what the places of answers count."""

    def read(source: SourceFile, reading: Reading) -> Iterator[Batch]:
        places = unit if isinstance(unit, str) else unit(source)
        return batches_of_answers(source, reading, answers(source, reading), name, places)

    return Reader(name, recognizes, read, title, holds)


def _after_their_kind(answers: Iterable[Answer], reading: Reading) -> Iterator[Answer]:
    """Yield answers; those without labels wait until it is known what their question asks for.

    A question that is never answered with a label asks for one category.
    """
    held: dict[str, list[Answer]] = {}
    for answer in answers:
        if answer.question in reading.asked:
            yield from held.pop(answer.question, ())
            yield answer
        else:
            held.setdefault(answer.question, []).append(answer)
    for question, silent in held.items():
        reading.ask(question)
        yield from silent


def is_without_label(label: str | Span) -> bool:
    return isinstance(label, Span) and not label.category


def _with_span_labels(answers: Iterable[Answer], reading: Reading) -> Iterator[Answer]:
    """Yield answers whose spans all have a category: the user's, if the tool wrote none.

    Without the user's these spans are left out, and an answer of nothing else, too.
    """
    name = (reading.options.span_label or "").strip()
    for answer in answers:
        if not any(map(is_without_label, answer.labels)):
            yield answer
            continue
        spans = [Span(name, *label[1:]) for label in answer.labels if is_without_label(label)]
        others = [label for label in answer.labels if not is_without_label(label)]
        if name:
            yield answer._replace(labels=unique_labels([*others, *spans]))
        else:
            reading.left_out[WITHOUT_LABEL] += len(spans)
            if others:
                yield answer._replace(labels=others)


def _no_answer(source: str, reading: Reading, names: Mapping[str, str]) -> Refused:
    left_out = ", ".join(left_out_words(f"{n:,} {noun}") for noun, n in reading.left_out.items())
    strange = next((name for name in names if name not in reading.asked), None)
    has = ", ".join(reading.asked)
    mend = f"it has no question {strange!r}; it has: {has}" if strange and has else None
    if any(noun in reading.left_out for noun in WITHOUT_AUTHOR):
        mend = SAY_WHO
    elif reading.left_out[WITHOUT_LABEL]:
        mend = "give them a category: --span-label NAME"
    more = f"; left out: {left_out}" if left_out else ""
    return Refused(f"{source} holds no answer{more}", mend)


def _within_their_text(
    answers: Iterable[Answer], reading: Reading, source: str, unit: Unit
) -> Iterator[Answer]:
    """Yield answers; those with a span that ends behind its text are rejected."""
    for answer in answers:
        if answer.marked:
            last = max((label.end for label in answer.labels if isinstance(label, Span)), default=0)
            if last > len(answer.marked):
                item = item_key(reading, answer.item, answer.data)
                reason = behind_the_end(last, answer.marked)
                reading.rejections.add_unread(source, answer.place, reason, unit, item)
                continue
        yield answer


def item_key(reading: Reading, item: str, data: Fields) -> str:
    """Return the key of an item: that of the file, or the field that the user names."""
    name = reading.mapped.roles.get("item")
    return (field_text(field_at(data, name)) if name else item).strip()


def behind_the_end(last: int, text: str) -> str:
    return f"a span ends at {last}, and the text has {len(text)} characters"


def _portion(answers: Iterator[Answer]) -> list[Answer]:
    """Return the next answers: as many as fit into the memory with the data of their items."""
    portion: list[Answer] = []
    size, data = 0, None
    for answer in answers:
        portion.append(answer)
        if answer.data is not data:
            data = answer.data
            size += sum(len(text) for text in data.values() if isinstance(text, str))
        if len(portion) >= _AT_ONCE or size > _ENOUGH:
            break
    return portion


def _batch(
    answers: Sequence[Answer], fields: _ItemFields, reading: Reading, names: Mapping[str, str]
) -> Batch:
    parts = zip(*answers, strict=True)
    fields_of: dict[str, Any] = dict(zip(Answer._fields, parts, strict=True))
    texts: dict[str, Sequence[str]] = fields.of(fields_of["item"], fields_of["data"])
    texts |= {"annotator": fields_of["annotator"], "question": fields_of["question"]}
    for role, name in _ROLES.items():
        if any(fields_of[name]):
            texts[role] = fields_of[name]
    lengths = [len(labels) or 1 for labels in fields_of["labels"]]
    records = np.repeat(np.arange(len(answers)), lengths)
    places = np.array(fields_of["place"])[records]
    if any(fields_of["lines"]):
        ends = np.cumsum(lengths)
        for answer, end in zip(answers, ends.tolist(), strict=True):
            if answer.lines:
                places[end - len(answer.lines) : end] = answer.lines
    columns = {role: Cells.of_texts(cells) for role, cells in texts.items()}
    if len(records) > len(answers):
        columns = {role: cells.take(records) for role, cells in columns.items()}
    # An answer without labels has an empty one.
    flat = [label for labels in fields_of["labels"] for label in labels or ("",)]
    if any(question.answers == "spans" for question in reading.asked.values()):
        spans = [(*map(str, e),) if isinstance(e, Span) else (e, "", "") for e in flat]
        for role, cells in zip(("category", "start", "end"), zip(*spans, strict=True), strict=True):
            columns[role] = Cells.of_texts(cells)
    else:
        columns["category"] = Cells.of_texts(flat)
    asked = reading.asked.items()
    questions = {names.get(name, name): how for name, how in asked if not names or name in names}
    return Batch(places, columns, asked=questions)


class _ItemFields:
    """The fields of items that are read: their key, text, and what the user keeps."""

    def __init__(self, reading: Reading, source: str) -> None:
        mapped = reading.mapped
        self.source = source
        self.read = {role: name for role, name in mapped.roles.items() if name}
        self.read |= {KEEP + name: name for name in mapped.keep}
        self.without_text = mapped.roles.get("text") == ""
        self._checked = not self.read

    def of(self, items: Sequence[str], data: Sequence[Fields]) -> dict[str, Sequence[str]]:
        """Return the columns of items with these keys and data; raises Refused as `_check`."""
        # Answers to one item follow one another, and their reader gives them the same data.
        places, distinct = [], list[Fields]()
        for record in data:
            if not distinct or record is not distinct[-1]:
                distinct.append(record)
            places.append(len(distinct) - 1)
        if not self._checked:
            self._check(distinct)
        columns: dict[str, Sequence[str]] = {"item": items}
        texts = {
            role: [field_text(field_at(record, name)) for record in distinct]
            for role, name in self.read.items()
        }
        if "text" not in texts and not self.without_text:
            texts["text"] = [field_text(record.get("text")) for record in distinct]
        for role, column in texts.items():
            if role != "text" or any(column):
                columns[role] = [column[place] for place in places]
        return columns

    def _check(self, data: Sequence[Fields]) -> None:
        known = {name for record in data[:1000] for name in record}
        for role, name in self.read.items():
            if all(field_at(record, name) is None for record in data):
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


# -- Places in a text that a program counts in UTF-16, as Java and browsers do --------------------


class CharacterPlaces:
    """The places of a text in characters of Unicode."""

    def __init__(self, text: str) -> None:
        wide = (n for n, character in enumerate(text) if ord(character) > 0xFFFF)
        self._wide = [n + before for before, n in enumerate(wide)]
        """Where the characters that UTF-16 counts twice begin, counted in UTF-16."""

    def of(self, place: int) -> int:
        return place - bisect_left(self._wide, place)


class Malformed(Exception):
    """What is wrong with a record, and perhaps how to mend it; its reader adds the place."""

    def __init__(self, message: str, mend: str | None = None) -> None:
        super().__init__(message)
        self.mend = mend


def json_in(cells: Mapping[str, str], name: str) -> Any:
    """Return the value that a cell holds as JSON; None for an empty one. Raises Malformed."""
    try:
        return json.loads(cells[name]) if cells.get(name, "").strip() else None
    except (ValueError, RecursionError) as error:
        raise Malformed(f"{name!r} is not JSON: {str(error)[:80]}") from None


def list_in(record: Mapping[str, Any], name: str) -> list[Any]:
    """Return a field that holds a list; none if it is missing. Raises Malformed."""
    value = record.get(name)
    if not isinstance(value, list | None):
        raise Malformed(f"{name!r} is no list")
    return value or []


def objects_in(record: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """Return a field that holds a list of objects; none if it is missing. Raises Malformed."""
    return [object_of(value, f"a value of {name!r}") for value in list_in(record, name)]


def object_in(record: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return a field that holds an object; an empty one if it is missing. Raises Malformed."""
    value = record.get(name)
    return {} if value is None else object_of(value, repr(name))


def object_of(value: Any, subject: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Malformed(f"{subject} is no object")
    return value


def category_of(value: Any, subject: str) -> str:
    """Return a value that can be a category: a text, number or boolean. Raises Malformed."""
    text = field_text(value)
    if not text.strip():
        raise Malformed(f"{subject} is no text or number: {str(value)[:40]}")
    return text


def span_of(category: Any, start: Any, end: Any) -> Span:
    """Return a span; its category is empty if the tool wrote none, see `_with_span_labels`."""
    if type(start) is not int or type(end) is not int:
        raise Malformed(f"a span starts at {str(start)[:40]} and ends at {str(end)[:40]}")
    if category in (None, "", []):
        return Span("", start, end)
    return Span(category_of(category, "the label of a span"), start, end)


def unique_labels(labels: Iterable[str | Span]) -> list[str | Span]:
    return list(dict.fromkeys(labels))


def ask_for(reading: Reading, question: str, labels: Sequence[str | Span]) -> None:
    """Note a question, and by the labels of an answer whether it asks for spans, or several.

    An answer without labels says nothing of its question. Raises Malformed if the name cannot be
    one, or if answers hold spans and categories of the whole.
    """
    spans = any(isinstance(label, Span) for label in labels)
    try:
        check_entered_name(question, "question")
        if not reading.options.span_label:
            labels = [label for label in labels if not is_without_label(label)]
        if not labels:
            return
        reading.ask(question, "spans" if spans else "several" if len(labels) > 1 else "one")
    except (Refused, InvalidOption) as error:
        raise Malformed(error.message) from None


def confidence_text(value: Any) -> str:
    """Return a number from 0 to 1 as a text; empty for anything else."""
    is_share = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
    return field_text(value) if is_share else ""


def json_unit(source: SourceFile) -> str:
    """Return what the places of a JSON file count: records of a list, or lines."""
    head = source.head.removeprefix(codecs.BOM_UTF8).lstrip()
    return "record" if head[:1] == b"[" else "line"


def answers_of_objects(
    source: SourceFile, of_record: Callable[[int, dict[str, Any]], Iterator[Answer]], hint: str
) -> Iterator[Answer]:
    """Yield the answers of a JSON file of objects. Raises Refused, with the place."""
    unit = json_unit(source)
    for place, value in json_records(source):
        try:
            yield from of_record(place, object_of(value, "this"))
        except Malformed as error:
            raise Refused(f"{source.name}, {unit} {place}: {error}", hint) from None


def answers_of_rows(
    source: SourceFile,
    of_row: Callable[[int, dict[str, str]], Iterator[Answer]],
    hint: str,
    may_lack: Collection[str] = (),
) -> Iterator[Answer]:
    """Yield the answers of a table of text. Raises Refused, with the line; see `table_rows`."""
    for line, cells in table_rows(source, may_lack):
        try:
            yield from of_row(line, cells)
        except Malformed as error:
            raise Refused(f"{source.name}, line {line}: {error}", error.mend or hint) from None


def mapped_annotator(reading: Reading, record: Mapping[str, Any]) -> str | None:
    """Return who answered by the field that the user names; None without ``--map annotator``."""
    name = reading.mapped.roles.get("annotator")
    return field_text(field_at(record, name)) if name else None


_MOST_CATEGORIES, _LONGEST_CATEGORY = 100, 200  # texts of a question, characters of one


@dataclass
class Texts:
    """The texts of a column, as far as it takes to tell categories from free texts."""

    number: int = 0
    distinct: set[str] = field(default_factory=set)

    def add(self, text: str) -> None:
        self.number += 1
        if len(self.distinct) <= _MOST_CATEGORIES:
            self.distinct.add(text)

    @property
    def are_few(self) -> bool:
        """Whether they are short, and most of them stand there several times."""
        few = 2 * len(self.distinct) <= self.number + 4 and len(self.distinct) <= _MOST_CATEGORIES
        return few and max(map(len, self.distinct), default=0) <= _LONGEST_CATEGORY

    @property
    def are_categories(self) -> bool:
        return self.are_few or all(map(is_numeric_category_name, self.distinct))


def seconds_between(started: str, ended: str) -> str:
    """Return the whole seconds between two times in ISO 8601; empty if that is not known."""
    with suppress(ValueError, TypeError):
        time = datetime.fromisoformat(ended) - datetime.fromisoformat(started)
        return str(int(time.total_seconds())) if time.total_seconds() >= 0 else ""
    return ""


def answers_to(
    reading: Reading, answer: Answer, by_question: Mapping[str, Iterable[str | Span]]
) -> Iterator[Answer]:
    """Yield an answer for each question with its labels, each once, see `ask_for`."""
    for question, answered in by_question.items():
        labels = unique_labels(answered)
        ask_for(reading, question, labels)
        yield answer._replace(question=question, labels=labels)


class Repeats:
    """The number of each answer that an annotator gives to the same item, in a file's order.

    There is one only if such answers are passes: if the user says so, or by ``default``.
    """

    def __init__(self, reading: Reading, default: str = "revision") -> None:
        self._passes = (reading.options.repeat or default) == "pass"
        self._key = reading.mapped.roles.get("item")
        self._met: Counter[tuple[str, str]] = Counter()

    def number(self, item: str, annotator: str, data: Mapping[str, Any]) -> str:
        """Return the number of one more answer; empty for the first."""
        if not self._passes:
            return ""
        pair = (field_text(field_at(data, self._key)) if self._key else item, annotator)
        self._met[pair] += 1
        return "" if self._met[pair] == 1 else str(self._met[pair])


def numbered(answers: Iterable[Answer]) -> Iterator[Answer]:
    """Yield answers, each with its number in the file as its place.

    The ledger keeps one comment and confidence for each place and annotator, so a record in which
    one annotator says several things cannot be the place.
    """
    for number, answer in enumerate(answers, 1):
        yield answer._replace(place=number)


def batches_of_files(
    archive: Archive,
    reading: Reading,
    names: Sequence[str],
    answers_of: Callable[[SourceFile], Iterable[Answer]],
    form: str,
    unit: str = "line",
) -> Iterator[Batch]:
    """Yield the answers of an archive's files in batches, each with the name of its file.

    All are read once before, so that it is known what each question asks for. Raises Refused if
    none of the files holds an answer.
    """
    columns = {question.column for question in reading.mapped.questions if question.column}
    left_out = reading.left_out.copy()
    for name in names:
        with closing(archive.open(name)) as source:
            for _ in answers_of(source):
                pass
    reading.left_out = left_out
    empty = True
    for name in names:
        with closing(archive.open(name)) as source:
            answers = iter(answers_of(source))
            if columns:
                answers = _to_questions(answers, columns, reading)
            if (first := next(answers, None)) is not None:
                empty = False
                rest = chain([first], answers)
                batches = batches_of_answers(archive, reading, rest, form, unit, source.name)
                yield from (replace(batch, source=source.name) for batch in batches)
    if empty:
        yield from batches_of_answers(archive, reading, (), form, unit)


def _to_questions(
    answers: Iterable[Answer], columns: Collection[str], reading: Reading
) -> Iterator[Answer]:
    """Yield the answers to questions that the user names; others are left out."""
    for answer in answers:
        if answer.question in columns:
            yield answer
        else:
            reading.left_out[f"answer to {answer.question!r}"] += 1
