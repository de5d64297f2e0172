"""Toloka: the assignments of a pool as TSV, a row for each task of each assignment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tracker.formats import answers as tool
from tracker.formats.answers import Answer, Malformed, Repeats, answers_of_rows, answers_to
from tracker.formats.batch import GOLD
from tracker.formats.reader import Reading
from tracker.formats.streams import head_columns
from tracker.readers.mechanical_turk import labels_of_value, value_of_cell

_ITEM, _WORKER, _STATUS = "ASSIGNMENT:task_id", "ASSIGNMENT:worker_id", "ASSIGNMENT:status"
_TIMES = ("ASSIGNMENT:submitted", "ASSIGNMENT:accepted", "ASSIGNMENT:started")
_INPUT, _OUTPUT, _GOLDEN = "INPUT:", "OUTPUT:", "GOLDEN:"
_NOT_GIVEN = {"REJECTED", "SKIPPED", "EXPIRED", "ACTIVE"}
_HINT = "download the assignments of the pool from Toloka as TSV"


TOLOKA = tool.tool_reader(
    "toloka",
    "Toloka: assignments of a pool as TSV",
    ("questions", "several", "time", "skips", "passes", "gold", "text", "attributes"),
    recognizes=lambda source: (
        _WORKER in (names := head_columns(source))
        and any(name.startswith(_OUTPUT) for name in names)
    ),
    answers=lambda source, reading: answers_of_rows(source, _Tasks(reading).answers, _HINT),
)


class _Tasks:
    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.repeats = Repeats(reading)
        self.truths: set[tuple[str, str, tuple[object, ...]]] = set()

    def answers(self, line: int, cells: Mapping[str, str]) -> Iterator[Answer]:
        if missing := {_ITEM, _WORKER} - cells.keys():
            raise Malformed(f"there is no column {', '.join(sorted(missing))}")
        status = cells.get(_STATUS, "").strip().upper()
        if status not in {"APPROVED", "SUBMITTED", "", *_NOT_GIVEN}:
            raise Malformed(f"the status {status[:40]!r} is none of an assignment")
        data = {name: cell for name, cell in cells.items() if not name.startswith(_OUTPUT)}
        data["text"] = cells.get(f"{_INPUT}text", "")
        truth = Answer(line, cells[_ITEM], GOLD, "", (), kind="reference", data=data)
        yield from self._given(truth, cells, _GOLDEN)
        if status in _NOT_GIVEN:
            self.reading.left_out[f"task of an assignment that is {status.lower()}"] += 1
            return
        when = next((cells[name] for name in _TIMES if cells.get(name, "").strip()), "")
        who = cells[_WORKER]
        number = self.repeats.number(truth.item, who, data)
        answer = truth._replace(annotator=who, kind="", labeled_at=when, number=number)
        yield from self._given(answer, cells, _OUTPUT)

    def _given(self, answer: Answer, cells: Mapping[str, str], before: str) -> Iterator[Answer]:
        """Yield an answer for each column of a kind; a truth only once, and only if it is one."""
        for name, cell in cells.items():
            if not name.startswith(before) or name in self.reading.options.ignore:
                continue
            question = name.removeprefix(before)
            labels = labels_of_value(value_of_cell(cell, name), "")
            if labels is None:
                self.reading.left_out[f"answer to {question!r} that is no category"] += 1
                continue
            if answer.kind:
                truth = (answer.item, question, tuple(labels))
                if not labels or truth in self.truths:
                    continue
                self.truths.add(truth)
            yield from answers_to(self.reading, answer, {question: labels})
