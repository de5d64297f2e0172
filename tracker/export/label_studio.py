"""The consensus as predictions that Label Studio imports."""

from __future__ import annotations

from collections import Counter
from typing import Any

from sqlalchemy import Connection

from tracker.core.errors import InvalidOption
from tracker.export.consensus_items import ConsensusItem, consensus_by_item
from tracker.export.documents import Document, encoded, json_list
from tracker.export.items import ATTRIBUTE
from tracker.projects.lookup import is_numeric_category_name
from tracker.projects.question import QuestionInfo
from tracker.queries import AnswerFilter

_RATED = {"ordinal": "rating", "interval": "number", "ratio": "number"}
"""The controls that hold a number, by the scale that their answers are read with."""


def label_studio_document(
    connection: Connection,
    question: QuestionInfo,
    method: str,
    choice: AnswerFilter,
    *,
    control: str | None = None,
    on: str | None = None,
) -> Document:
    """Return tasks with the consensus as a prediction of each.

    Args:
        connection: to the database.
        question: the question whose answers they are.
        method: see `consensus_rows`.
        choice: the answers that count.
        control: the name of the control (``from_name``); the question's by default.
        on: the name of the object and of its key in the data (``to_name``); ``text`` by default.

    An item without a consensus is a task without a prediction. Raises InvalidOption for spans that
    are counted in tokens.
    """
    if question.answers == "spans" and question.offsets == "tokens":
        raise InvalidOption(
            f"{question.told}, has spans of tokens, and Label Studio counts characters",
            "write them with --for conll",
        )
    document = Document("task")
    control, on = control or question.name, on or "text"
    written = _Written(question, method, control, on, document.left_out)
    items = consensus_by_item(connection, question, method, choice)
    document.parts = json_list(document.counted(map(written.task, items)))
    return document


class _Written:
    """Writes tasks."""

    def __init__(
        self, question: QuestionInfo, method: str, control: str, on: str, left_out: Counter[str]
    ) -> None:
        self.question = question
        self.version = f"consensus-{method}"
        self.control = control
        self.on = on
        self.left_out = left_out

    def task(self, item: ConsensusItem) -> str:
        """Return a task; its number is the item's name if that is one."""
        data: dict[str, Any] = {
            name.removeprefix(ATTRIBUTE): value
            for name, value in item.known.items()
            if value is not None and name.startswith(ATTRIBUTE)
        }
        data |= {"item": item.name} | ({} if item.text is None else {self.on: item.text})
        if item.text is None:
            self.left_out["the text of an item, which is not known"] += 1
        first = item.rows[0]
        predictions = []
        if first["category"] is None and (self.question.answers == "one" or first["tied"]):
            self.left_out["a consensus, because of a tie"] += 1
        else:
            given = [row for row in item.rows if row["category"] is not None]
            predictions.append({
                "model_version": self.version,
                "score": min(row["confidence"] for row in item.rows),
                "result": self._result(given, item.text) if given else [],
            })  # fmt: skip
        number = int(item.name) if item.name.isdecimal() else item.name
        return encoded({"id": number, "data": data, "annotations": [], "predictions": predictions})

    def _result(self, rows: list[dict[str, Any]], text: str | None) -> list[dict[str, Any]]:
        """Return the regions: one for all categories of an answer, or one a span."""
        if self.question.answers == "spans":
            found = [("labels", self._span(row, text), row["confidence"]) for row in rows]
        else:
            kind, value = self._value([row["category"] for row in rows])
            found = [(kind, value, None)]
        return [
            {"id": f"{self.control}-{n}", "from_name": self.control, "to_name": self.on,
             "type": kind, "value": value, **({} if score is None else {"score": score})}
            for n, (kind, value, score) in enumerate(found, 1)
        ]  # fmt: skip

    def _value(self, categories: list[str]) -> tuple[str, dict[str, Any]]:
        kind = _RATED.get(self.question.scale)
        if kind and self.question.answers == "one" and is_numeric_category_name(categories[0]):
            number = float(categories[0])
            whole = number.is_integer()
            if whole or kind == "number":
                return kind, {kind: int(number) if whole else number}
        return "choices", {"choices": categories}

    @staticmethod
    def _span(row: dict[str, Any], text: str | None) -> dict[str, Any]:
        start, end = row["start"], row["end"]
        return {
            "start": start, "end": end,
            **({} if text is None else {"text": text[start:end]}), "labels": [row["category"]],
        }  # fmt: skip
