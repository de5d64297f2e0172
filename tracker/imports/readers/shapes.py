"""Records of annotation tools: their parts as they should be, or what is wrong and where."""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import chain
from typing import Any

from tracker.core.errors import InvalidOption, Refused
from tracker.imports.batch import Batch
from tracker.imports.readers.answers import Answer, Span, batches_of_answers, field_at, field_text
from tracker.imports.readers.archive import Archive
from tracker.imports.readers.reader import Reading
from tracker.imports.readers.records import json_records
from tracker.imports.readers.rows import table_rows
from tracker.imports.readers.source import SourceFile
from tracker.projects.lookup import check_entered_name


class Malformed(Exception):
    """What is wrong with a record, and perhaps how to mend it; its reader adds the place."""

    def __init__(self, message: str, mend: str | None = None) -> None:
        super().__init__(message)
        self.mend = mend


def list_in(record: Mapping[str, Any], name: str) -> list[Any]:
    """Return a field that holds a list; none if it is missing. Raises Malformed."""
    value = record.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise Malformed(f"{name!r} is no list")
    return value


def objects_in(record: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """Return a field that holds a list of objects; none if it is missing. Raises Malformed."""
    return [object_of(one, f"a value of {name!r}") for one in list_in(record, name)]


def object_in(record: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return a field that holds an object; an empty one if it is missing. Raises Malformed."""
    value = record.get(name)
    return {} if value is None else object_of(value, repr(name))


def object_of(value: Any, what: str) -> dict[str, Any]:
    """Return a value that is an object. Raises Malformed."""
    if not isinstance(value, dict):
        raise Malformed(f"{what} is no object")
    return value


def category_of(value: Any, what: str) -> str:
    """Return a value that can be a category: a text, number or boolean. Raises Malformed."""
    text = field_text(value)
    if not text.strip():
        raise Malformed(f"{what} is no text or number: {str(value)[:40]}")
    return text


def span_of(category: Any, start: Any, end: Any) -> Span:
    """Return a category at a place in a text. Raises Malformed."""
    if type(start) is not int or type(end) is not int:
        raise Malformed(f"a span starts at {str(start)[:40]} and ends at {str(end)[:40]}")
    return Span(category_of(category, "the label of a span"), start, end)


def unique_labels(labels: Iterable[str | Span]) -> list[str | Span]:
    """Return labels in their order, each once."""
    return list(dict.fromkeys(labels))


def ask_for(reading: Reading, question: str, labels: Sequence[str | Span]) -> None:
    """Note a question, and by the labels of an answer whether it asks for spans, or several.

    An answer without labels says nothing of its question. Raises Malformed if the name cannot be
    one, or if answers hold spans and categories of the whole.
    """
    spans = any(isinstance(one, Span) for one in labels)
    try:
        check_entered_name(question, "question")
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


class Repeats:
    """The number of each answer that an annotator gives to the same item, in a file's order.

    There is one only if the user says that such answers are passes; else they are revisions.
    """

    def __init__(self, reading: Reading) -> None:
        self._passes = reading.options.repeat == "pass"
        self._key = reading.mapped.roles.get("item")
        self._met: Counter[tuple[str, str]] = Counter()

    def number(self, item: str, annotator: str, data: Mapping[str, Any]) -> str:
        """Return the number of one more answer; empty for the first."""
        if not self._passes:
            return ""
        pair = (field_text(field_at(data, self._key)) if self._key else item, annotator)
        self._met[pair] += 1
        return "" if self._met[pair] == 1 else str(self._met[pair])


def after_their_kind(answers: Iterable[Answer], reading: Reading) -> Iterator[Answer]:
    """Yield answers, those that say nothing once it is known what their question asks for.

    If none of a question's answers says anything, it asks for one category.
    """
    held: dict[str, list[Answer]] = {}
    for one in answers:
        if one.question in reading.asked:
            yield from held.pop(one.question, ())
            yield one
        else:
            held.setdefault(one.question, []).append(one)
    for question, some in held.items():
        reading.ask(question)
        yield from some


def numbered(answers: Iterable[Answer]) -> Iterator[Answer]:
    """Yield answers, each with its number in the file as its place.

    The ledger keeps one comment and confidence for each place and annotator, so a record in which
    one annotator says several things cannot be the place.
    """
    for number, one in enumerate(answers, 1):
        yield one._replace(place=number)


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
    wanted = {one.column for one in reading.mapped.questions if one.column}
    before = reading.left_out.copy()
    for name in names:
        with closing(archive.open(name)) as source:
            for _ in answers_of(source):
                pass
    reading.left_out = before
    empty = True
    for name in names:
        with closing(archive.open(name)) as source:
            answers = after_their_kind(answers_of(source), reading)
            rest = _of_questions(answers, wanted, reading) if wanted else answers
            first = next(rest, None)
            if first is not None:
                empty = False
                batches = batches_of_answers(
                    archive, reading, chain([first], rest), form, unit, source.name
                )
                yield from (replace(one, source=source.name) for one in batches)
    if empty:
        yield from batches_of_answers(archive, reading, (), form, unit)


def _of_questions(
    answers: Iterable[Answer], wanted: set[str], reading: Reading
) -> Iterator[Answer]:
    for one in answers:
        if one.question in wanted:
            yield one
        else:
            reading.left_out[f"answer to {one.question!r}"] += 1
