"""Inspect: the scores of samples in a log, as JSON or in the packed form ``.eval``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from typing import Any

from tracker.core.errors import Refused
from tracker.imports.batch import Batch
from tracker.imports.readers.answers import Answer, batches_of_answers, field_text
from tracker.imports.readers.archive import Archive
from tracker.imports.readers.judgments import (
    MODEL,
    UNIT,
    Judgment,
    answers_of_judgments,
    first_text,
    judgments_reader,
)
from tracker.imports.readers.reader import Reading
from tracker.imports.readers.shapes import (
    Malformed,
    after_their_kind,
    answers_of_objects,
    numbered,
    object_in,
    object_of,
    objects_in,
)

NAME = "inspect"
_HINT = "convert the log: inspect log convert --to json --output-dir OUT LOG"
_HEADER = "header.json"


def _recognizes(first: Mapping[str, Any]) -> bool:
    spec = first.get("eval")
    return {"version", "status"} <= first.keys() and isinstance(spec, dict) and "task" in spec


def _judgments(log: Mapping[str, Any]) -> Iterator[Judgment]:
    spec = object_in(log, "eval")
    for sample in objects_in(log, "samples"):
        yield from _of_sample(spec, sample)


def _of_sample(spec: Mapping[str, Any], sample: Mapping[str, Any]) -> Iterator[Judgment]:
    """Yield the scores of a sample; each epoch after the first is a pass."""
    key = (first_text(spec, ("task",)), first_text(spec, ("model",)), field_text(sample.get("id")))
    item = "/".join(filter(None, key))
    epoch = field_text(sample.get("epoch"))
    when = first_text(sample, ("completed_at", "started_at")) or field_text(spec.get("created"))
    output = first_text(object_in(sample, "output"), ("completion",))
    data = {"text": output or field_text(sample.get("input")), **sample}
    for scorer, score in object_in(sample, "scores").items():
        given = object_of(score, f"the score of {scorer!r}")
        value = given.get("value")
        values = value if isinstance(value, dict) else {"": value}
        for part, one in values.items():
            yield Judgment(
                item, _judge(spec, scorer), MODEL, f"{scorer}: {part}" if part else scorer, one,
                when, field_text(given.get("explanation")),
                number="" if epoch == "1" else epoch, data=data,
            )  # fmt: skip


def _judge(spec: Mapping[str, Any], scorer: str) -> str:
    """Return the model that a scorer asks, if the log says so; else the scorer's name."""
    for one in objects_in(spec, "scorers"):
        if field_text(one.get("name")).rpartition("/")[2] == scorer:
            return first_text(one, ("options.model", "args.model", "params.model")) or scorer
    return scorer


def _recognizes_packed(archive: Archive) -> bool:
    return _HEADER in archive.names and any(name.startswith("samples/") for name in archive.names)


def _read_packed(archive: Archive, reading: Reading) -> Iterator[Batch]:
    """Yield the scores of a packed log, which has a file for each sample."""
    try:
        header = object_of(json.loads(archive.text(_HEADER)), "the header")
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
                    yield from answers_of_objects(source, of_sample, _HINT)

    given = after_their_kind(numbered(answers()), reading)
    return batches_of_answers(archive, reading, given, NAME, UNIT)


INSPECT = replace(
    judgments_reader(NAME, "Inspect: logs, .eval or JSON", _recognizes, _judgments, _HINT),
    recognizes_archive=_recognizes_packed,
    read_archive=_read_packed,
)
