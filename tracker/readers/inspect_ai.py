"""Inspect: the scores of samples in a log, as JSON or in the packed form ``.eval``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

from tracker.core.errors import Refused
from tracker.formats import answers as tool
from tracker.formats.answers import Answer, Fields, Malformed, field_text, object_in, objects_in
from tracker.formats.batch import Batch
from tracker.formats.reader import Reading
from tracker.formats.source import Archive
from tracker.readers.judgments import (
    HUMAN,
    MODEL,
    UNIT,
    Judgment,
    answers_of_judgments,
    first_text,
    judgments_reader,
)

NAME = "inspect"
_HINT = "convert the log: inspect log convert --to json --output-dir OUT LOG"
_HEADER = "header.json"
_UNCHANGED = "UNCHANGED"
"""What an edit of a score has for all that it leaves."""
_JUDGE = tuple(f"{name}.model{more}" for name in ("options", "args", "params")
               for more in ("", ".model"))  # fmt: skip
_GRADED, _GRADER = "model_graded", "grader"
"""The names of scorers that ask a model begin so; the role of that model by default."""


def _recognizes(first: Fields) -> bool:
    spec = first.get("eval")
    return {"version", "status"} <= first.keys() and isinstance(spec, dict) and "task" in spec


def _judgments(log: Fields) -> Iterator[Judgment]:
    spec = object_in(log, "eval")
    for sample in objects_in(log, "samples"):
        yield from _of_sample(spec, sample)


def _of_sample(spec: Fields, sample: Fields) -> Iterator[Judgment]:
    """Yield the scores of a sample; each epoch after the first is a pass."""
    key = (first_text(spec, ("task",)), first_text(spec, ("model",)), field_text(sample.get("id")))
    item = "/".join(filter(None, key))
    epoch = field_text(sample.get("epoch"))
    when = first_text(sample, ("completed_at", "started_at")) or field_text(spec.get("created"))
    output = first_text(object_in(sample, "output"), ("completion",))
    data = {"text": output or field_text(sample.get("input")), **sample}
    number = "" if epoch == "1" else epoch
    for scorer, score in object_in(sample, "scores").items():
        result = tool.object_of(score, f"the score of {scorer!r}")
        first = Judgment(item, _judge(spec, scorer), MODEL, scorer, None, when,
                         number=number, data=data)  # fmt: skip
        for edit in objects_in(result, "history") or [result]:
            yield from _parts(_edited(first, edit), edit)


def _edited(score: Judgment, edit: Fields) -> Judgment:
    """Return whose a score of a history is: the scorer's, or that of who changed it."""
    about = object_in(edit, "provenance")
    comment = field_text(edit.get("explanation"))
    if comment in {"", _UNCHANGED}:
        comment = field_text(about.get("reason"))
    if not about:
        return score._replace(comment=comment)
    who, when = (field_text(about.get(name)) for name in ("author", "timestamp"))
    return score._replace(who=who, kind=HUMAN, when=when or score.when, comment=comment)


def _parts(score: Judgment, edit: Fields) -> Iterator[Judgment]:
    """Yield a score, or each part of one with several; none for an edit of anything else."""
    value = edit.get("value")
    if value == _UNCHANGED:
        return
    for part, verdict in (value if isinstance(value, dict) else {"": value}).items():
        question = f"{score.question}: {part}" if part else score.question
        yield score._replace(question=question, value=verdict)


def _judge(spec: Fields, scorer: str) -> str:
    """Return the model that a scorer asks, if the log says so; else the scorer's name."""
    for described in objects_in(spec, "scorers"):
        if field_text(described.get("name")).rpartition("/")[2] == scorer:
            model = first_text(described, _JUDGE)
            if model or not scorer.startswith(_GRADED):
                return model or scorer
            role = first_text(described, ("options.model_role",)) or _GRADER
            return first_text(spec, (f"model_roles.{role}.model",)) or scorer
    return scorer


def _read_packed(archive: Archive, reading: Reading) -> Iterator[Batch]:
    try:
        header = tool.object_of(json.loads(archive.text(_HEADER)), "the header")
        spec = object_in(header, "eval")
        objects_in(spec, "scorers")
    except (ValueError, RecursionError, Malformed) as error:
        raise Refused(f"{archive.name}/{_HEADER}: {error}", _HINT) from None

    def of_sample(place: int, sample: dict[str, Any]) -> Iterator[Answer]:
        return answers_of_judgments(place, _of_sample(spec, sample), sample, reading)

    def answers() -> Iterator[Answer]:
        for name in archive.names:
            if name.startswith("samples/"):
                with closing(archive.open(name)) as source:
                    yield from tool.answers_of_objects(source, of_sample, _HINT)

    return tool.batches_of_answers(archive, reading, tool.numbered(answers()), NAME, UNIT)


INSPECT = replace(
    judgments_reader(NAME, "Inspect: logs, .eval or JSON", _recognizes, _judgments, _HINT),
    recognizes_archive=lambda archive: (
        _HEADER in archive.names and any(name.startswith("samples/") for name in archive.names)
    ),
    read_archive=_read_packed,
)
