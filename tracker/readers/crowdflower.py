"""CrowdFlower, later Figure Eight and Appen: the full report, a row or object for each judgment."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from tracker.core.errors import Refused
from tracker.formats import answers as tool
from tracker.formats.answers import Answer, Fields, Malformed, Repeats, Texts, field_text, object_in
from tracker.formats.batch import GOLD, Batch
from tracker.formats.reader import Reader, Reading
from tracker.formats.source import SourceFile
from tracker.formats.streams import head_columns, head_value, table_rows

NAME = "crowdflower"
_UNIT, _WORKER, _CREATED, _STARTED = "_unit_id", "_worker_id", "_created_at", "_started_at"
_OF_AGGREGATES = {"_trusted_judgments", "_unit_state", "_last_judgment_at"}
_TAINTED = "_tainted"
_TRUTH, _REASON = "_gold", "_gold_reason"
_HINT = "download the full report of the job, which has a row for each judgment"


def recognizes_report(source: SourceFile) -> bool:
    first = head_value(source)
    if isinstance(first, dict):
        results = first.get("results")
        return isinstance(results, dict) and "judgments" in results
    names = {*head_columns(source)}
    return _UNIT in names and bool({_WORKER, *_OF_AGGREGATES} & names)


def read_report(source: SourceFile, reading: Reading) -> Iterator[Batch]:
    """Yield the answers of all judgments that are not tainted, and the truths of test questions.

    Raises Refused for an aggregated report, which names no worker.
    """
    report = _Report(reading)
    if isinstance(head_value(source), dict):
        answers = tool.answers_of_objects(source, report.of_unit, _HINT)
        yield from tool.batches_of_answers(
            source, reading, tool.numbered(answers), NAME, "judgment"
        )
        return
    if _WORKER not in head_columns(source):
        raise Refused(f"{source.name} is an aggregated report, which names no worker", _HINT)
    readings = source.readings()
    report.questions = _questions(next(readings), reading)
    rows = tool.answers_of_rows(next(readings), report.of_row, _HINT)
    yield from tool.batches_of_answers(source, reading, rows, NAME)
    readings.close()


CROWDFLOWER = Reader(
    NAME,
    recognizes=recognizes_report,
    read=read_report,
    title="CrowdFlower, Figure Eight, Appen: full report as CSV or JSON",
    holds=("questions", "several", "time", "seconds", "skips", "passes", "gold", "text",
           "attributes"),
)  # fmt: skip


def _questions(source: SourceFile, reading: Reading) -> list[str]:
    """Return the columns of answers: those with a truth, or few texts that differ in a unit.

    Other columns hold what was shown, which is the same for all judgments of a unit.
    """
    mapped = {question.column for question in reading.mapped.questions}
    names = head_columns(source)
    shown = [
        name for name in names
        if not name.startswith("_") and not name.endswith((_TRUTH, _REASON))
        and name not in reading.options.ignore and not name.startswith("orig_")
    ]  # fmt: skip
    texts: defaultdict[str, Texts] = defaultdict(Texts)
    first: defaultdict[str, dict[str, str]] = defaultdict(dict)
    varies: set[str] = set()
    for _, cells in table_rows(source):
        of_unit = first[cells.get(_UNIT, "")]
        for name in shown:
            if cell := cells.get(name, "").strip():
                texts[name].add(cell)
                if of_unit.setdefault(name, cell) != cell:
                    varies.add(name)
    questions = []
    for name in shown:
        if name in mapped or name + _TRUTH in names or (name in varies and texts[name].are_few):
            questions.append(name)
        elif name in varies:
            reading.left_out[f"column {name!r} of free texts"] = 1
    if not questions:
        raise Refused(
            f"{source.name} does not show which columns hold the answers",
            f"name them: --question NAME=COLUMN; the columns are: {', '.join(shown)[:500]}",
        )
    return questions


class _Report:
    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.repeats = Repeats(reading)
        self.questions: list[str] = []
        self.truths: set[tuple[str, str]] = set()

    def of_row(self, line: int, cells: Mapping[str, str]) -> Iterator[Answer]:
        """Yield the answers of a row, and the truths of its unit once."""
        data = {name: cell for name, cell in cells.items() if name not in self.questions}
        answers = {name: cells.get(name, "") for name in self.questions}
        yield from self._judgment(line, cells, answers, data)

    def of_unit(self, place: int, unit: Fields) -> Iterator[Answer]:
        data = object_in(unit, "data")
        for judgment in tool.objects_in(object_in(unit, "results"), "judgments"):
            payload = {f"_{name}": field_text(value) for name, value in judgment.items()}
            payload.setdefault(_UNIT, field_text(unit.get("id")))
            yield from self._judgment(place, {**data, **payload}, object_in(judgment, "data"), data)

    def _judgment(
        self, place: int, payload: Fields, answers: Fields, data: Fields
    ) -> Iterator[Answer]:
        item, who = payload.get(_UNIT, ""), payload.get(_WORKER, "")
        if not item.strip():
            raise Malformed(f"there is no {_UNIT}")
        truth = Answer(place, item, GOLD, "", (), kind="reference", data=data)
        for name in answers:
            yield from self._truth(truth, name, payload.get(name + _TRUTH))
        if payload.get(_TAINTED, "").strip().lower() == "true" and (
            _TAINTED not in self.reading.options.ignore
        ):
            self.reading.left_out["tainted judgment"] += 1
            return
        created, started = _moment(payload.get(_CREATED, "")), _moment(payload.get(_STARTED, ""))
        answer = truth._replace(
            annotator=who, kind="", labeled_at=created,
            seconds=tool.seconds_between(started, created),
            number=self.repeats.number(item, who, data),
        )  # fmt: skip
        labels = {name: _labels(value) for name, value in answers.items()}
        yield from tool.answers_to(self.reading, answer, labels)

    def _truth(self, truth: Answer, name: str, value: Any) -> Iterator[Answer]:
        """Yield the truth of a unit once; several of them may each be right, and are left out."""
        labels = _labels(value)
        if not labels or (truth.item, name) in self.truths:
            return
        self.truths.add((truth.item, name))
        if len(labels) > 1:
            self.reading.left_out[f"truth of {name!r} with several right answers"] += 1
            return
        tool.ask_for(self.reading, name, labels)
        yield truth._replace(question=name, labels=labels)


def _labels(value: Any) -> list[str]:
    """Return the categories of a value; those of boxes are lines of a cell."""
    values = value if isinstance(value, list) else field_text(value).split("\n")
    return [text for part in values if (text := field_text(part).strip())]


def _moment(text: str) -> str:
    """Return a time, which CSV has with the month first, as ISO 8601; other text as it is."""
    for form in ("%m/%d/%Y %H:%M:%S", "%m/%d/%Y %H:%M", "%m/%d/%y %H:%M"):
        with suppress(ValueError):
            return datetime.strptime(text.strip(), form).replace(tzinfo=UTC).isoformat()
    return text.strip()
