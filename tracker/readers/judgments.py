"""Judgments of outputs, as the stores of traces and the programs that evaluate keep them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from tracker.formats import answers as tool
from tracker.formats.answers import Answer, Fields, answers_of_objects, answers_of_rows, answers_to
from tracker.formats.reader import Reader, Reading
from tracker.formats.source import SourceFile
from tracker.formats.streams import head_columns, head_value

HOLDS = ("questions", "several", "time", "models", "comments", "text", "attributes")

UNIT = "judgment"
"""What the places of answers count."""

HUMAN, MODEL, REFERENCE = "human", "model", "reference"
_WRAPPERS = ("data", "traces", "scores", "feedback", "annotations", "results")
_VERSIONS = ("version", "judge_version", "prompt_version", "model_version", "scorer_version")
_MODELS = ("judge", "model", "judge_model", "evaluator", "model_name")


class Judgment(NamedTuple):
    """What a person, a model or a program said of an output, in answer to a question."""

    item: str  # the key of what was judged
    who: str  # the name of the judge; empty if the store does not say
    kind: str  # human, model or reference
    question: str
    value: Any  # a category, several, or None
    when: str = ""  # ISO 8601, or seconds since 1970
    comment: str = ""  # the reason that was given
    confidence: str = ""  # from 0 to 1
    number: str = ""  # of the pass
    data: Fields | None = None  # of the record, for the item's text and attributes


def judgments_reader(
    name: str,
    title: str,
    recognizes: Callable[[Fields], bool],
    judgments_of: Callable[[Fields], Iterator[Judgment]],
    hint: str,
) -> Reader:
    """Return the reader of a store: of JSON, of lines of JSON, or of a table with the same names.

    ``recognizes`` gets the first record, in a table only with the names of its columns, and
    ``judgments_of`` each record. ``hint`` says how to export.
    """

    def answers(source: SourceFile, reading: Reading) -> Iterator[Answer]:
        def of_record(place: int, record: Fields) -> Iterator[Answer]:
            for judged in unwrapped(record):
                yield from answers_of_judgments(place, judgments_of(judged), judged, reading)

        answers_of = answers_of_rows if head_value(source) is None else answers_of_objects
        return tool.numbered(answers_of(source, of_record, hint))

    def recognized(source: SourceFile) -> bool:
        first = first_record(source)
        return first is not None and recognizes(first)

    return tool.tool_reader(name, title, HOLDS, recognizes=recognized, answers=answers, unit=UNIT)


def answers_of_judgments(
    place: int, judgments: Iterator[Judgment], record: Fields, reading: Reading
) -> Iterator[Answer]:
    """Yield judgments as answers; those without an author or a category are counted instead."""
    left_out = reading.left_out
    for judgment in judgments:
        mapped = tool.mapped_annotator(reading, record)
        who = judgment.who if mapped is None else mapped
        who = who or reading.annotator or ""
        if not who:
            left_out["judgment without an author"] += 1
        elif judgment.value is None or judgment.value == "":
            left_out["judgment without a value"] += 1
        elif isinstance(judgment.value, dict) or len(str(judgment.value)) > 120:  # characters
            left_out["judgment that is no category"] += 1
        else:
            values = judgment.value if isinstance(judgment.value, list) else [judgment.value]
            labels = [tool.category_of(value, "a judgment") for value in values]
            answer = Answer(
                place, judgment.item, who, "", (), judgment.when, "", judgment.number,
                judgment.kind, judgment.confidence, judgment.comment, data=judgment.data or record,
            )  # fmt: skip
            yield from answers_to(reading, answer, {judgment.question: labels})


def unwrapped(record: Fields) -> Iterator[dict[str, Any]]:
    """Yield the records that an object of an interface holds under ``data``; or the object."""
    for name in _WRAPPERS:
        if isinstance(records := record.get(name), list) and len(record) <= 3:
            for value in records:
                yield tool.object_of(value, f"a value of {name!r}")
            return
    yield dict(record)


def first_record(source: SourceFile) -> Fields | None:
    """Return the first record of a file, as far as its head has it; of a table its columns."""
    first = head_value(source)
    if first is None:
        return dict.fromkeys(head_columns(source))
    if not isinstance(first, dict):
        return None
    for name in _WRAPPERS:
        records = first.get(name)
        if isinstance(records, list):
            return next((record for record in records if isinstance(record, dict)), None)
        if name in first and records is None and len(first) == 1:  # cut off by the head's end
            text = source.head.decode("utf-8", "ignore")
            match = re.search(rf'"{name}"\s*:\s*\[\s*', text)
            with suppress(ValueError, RecursionError):
                value = json.JSONDecoder().raw_decode(text, match.end())[0] if match else None
                return value if isinstance(value, dict) and value else first
    return first


def judge_of(metadata: Any, otherwise: str = "") -> str:
    """Return the name of a judge with its version, ``gpt-x@3``, from what a store keeps of it."""
    if not isinstance(metadata, Mapping):
        return otherwise
    name = first_text(metadata, _MODELS) or otherwise
    version = first_text(metadata, _VERSIONS)
    return f"{name}@{version}" if name and version else name


def first_text(record: Fields, names: Sequence[str]) -> str:
    """Return the first of some fields that is there, by their names or dotted paths."""
    return next(filter(None, (tool.field_text(tool.field_at(record, name)) for name in names)), "")
