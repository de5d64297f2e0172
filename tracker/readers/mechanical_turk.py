"""Mechanical Turk: the results of a batch as CSV, a row for each assignment."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from datetime import datetime
from shlex import quote
from typing import Any

from tracker.core import clock
from tracker.core.errors import Refused
from tracker.formats import answers as tool
from tracker.formats.answers import Answer, CharacterPlaces, Fields, Malformed, Repeats, Span
from tracker.formats.batch import GOLD
from tracker.formats.dates import read_moment
from tracker.formats.item_columns import numbered_families
from tracker.formats.reader import Reading
from tracker.formats.source import SourceFile
from tracker.formats.streams import head_columns, table_rows

# -- Values of a form's fields: plain text, or JSON with categories, boxes that were ticked, spans


_ESCAPED_COMMA = re.compile(r"(?<!\\)((?:\\\\)*)\\,")

Labels = list[str | Span]


def value_of_cell(cell: str, column: str) -> Any:
    """Return the value of a cell: what it holds as JSON, or its text. Raises Malformed.

    A comma may have a backslash before it, which JSON does not know.
    """
    text = cell.strip()
    if text[:1] not in {"{", "["}:
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        with suppress(ValueError, RecursionError):
            return json.loads(_ESCAPED_COMMA.sub(r"\1,", text))
        raise Malformed(
            f"the cell of {column!r} looks like JSON and is none: {text[:40]} ({error})",
            f"correct the cell, or leave the column out: --ignore {quote(column)}",
        ) from None


def labels_of_value(value: Any, text: str) -> Labels | None:
    """Return the categories or spans of a value; none for one that says nothing.

    An object of booleans is a group of boxes, and has the names of those that are ticked. The
    places of spans are of a browser, which counts in UTF-16; ``text`` is what they are in. None
    for a value of another kind, such as a drawing. Raises Malformed.
    """
    if isinstance(value, list):
        plain = not any(isinstance(part, list | dict) for part in value)
        return [tool.category_of(part, "a value of a list") for part in value] if plain else None
    if not isinstance(value, Mapping):
        category = tool.field_text(value)
        return [category] if category.strip() else []
    if isinstance(value.get("entities"), list):
        places = CharacterPlaces(text)
        spans = (
            tool.span_of(span.get("label"), span.get("startOffset"), span.get("endOffset"))
            for span in tool.objects_in(value, "entities")
        )
        return [Span(span.category, places.of(span.start), places.of(span.end)) for span in spans]
    name, inner = next(iter(value.items()), ("", None))
    kind = list if name in {"labels", "values"} else str | int | float
    is_inner = name in {"label", "value", "on", "labels", "values"} and isinstance(inner, kind)
    if len(value) == 1 and is_inner:
        return labels_of_value(inner, text)
    return ticked(value)


def ticked(boxes: Fields) -> Labels | None:
    """Return the names of boxes that are true, as such or as ``{"on": true}``; None for others."""
    names: Labels = []
    for name, box in boxes.items():
        value = box.get("on") if isinstance(box, Mapping) and len(box) == 1 else box
        if value is True or value == "true":
            names.append(name)
        elif value is not False and value != "false":
            return None
    return names


_ANSWER, _INPUT = "Answer.", "Input."
_WHOLE_FORM = "taskAnswers"
_COMMENTS = {"comment", "comments", "feedback"}
_OF_THE_FORM = {"activetime", "starttime", "endtime", "submit", "submitbutton"}
"""Fields that pages of tasks often have beside what they ask, in small letters."""
_NOT_FILLED = {"Approve", "Reject"}
"""Columns at the end for the requester, whose cells the tool does not write."""
_STATUS = "AssignmentStatus"
_GOLD = re.compile(r"(?i)(?<![a-z])(gold|truth)(?![a-z])")
"""The names of columns that may hold the true answer."""
_HINT = "download the results of the batch from Mechanical Turk as CSV"


MECHANICAL_TURK = tool.tool_reader(
    "mechanical-turk",
    "Mechanical Turk: results of a batch as CSV",
    ("questions", "several", "spans", "time", "seconds", "skips", "passes", "comments", "text",
     "attributes"),
    recognizes=lambda source: set(head_columns(source)) >= {"HITId", "WorkerId"}
    and any(name.startswith((_ANSWER, _STATUS)) for name in head_columns(source)),
    answers=lambda source, reading: _Assignments(reading).of_batch(source),
)  # fmt: skip


def _refuse_several_items(source: SourceFile) -> None:
    """Raise Refused if each row may hold several items with an answer each."""
    families = numbered_families(head_columns(source))
    items = [stem for stem in families if stem.startswith(_INPUT)]
    for stem, numbers in families.items():
        item = next((each for each in items if families[each] == numbers), None)
        if item and stem.startswith(_ANSWER):
            maps = f"--map {quote(f'item={item}{{n}}')} --map {quote(f'category={stem}{{n}}')}"
            raise Refused(
                f"{source.name} has several numbered columns {item!r} and {stem!r}: a row may be "
                "several items, or several answers about one",
                f"several items: {maps}; one item: --format mechanical-turk",
            )


class _Assignments:
    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.repeats = Repeats(reading)
        self.named = {question.column.lower() for question in reading.mapped.questions}
        self.gold = ""  # the column of truths
        self.truths: set[str] = set()  # the items that have one

    def of_batch(self, source: SourceFile) -> Iterator[Answer]:
        if self.reading.options.format is None and not self.named:
            _refuse_several_items(source)
        with closing(source.readings()) as readings:
            self._find_truths(next(readings))
            yield from tool.answers_of_rows(next(readings), self.answers, _HINT, _NOT_FILLED)

    def _find_truths(self, source: SourceFile) -> None:
        """Note the column of truths if it is certain: one question has its values as answers."""
        names = set(head_columns(source)) - set(self.reading.options.ignore)
        golds = [name for name in sorted(names) if _GOLD.search(name) and _ANSWER not in name]
        if not golds or "gold" in self.reading.mapped.roles:
            return
        values, truths = defaultdict[str, set[str | Span]](set), set[str]()
        alone = replace(self.reading, left_out=Counter(), asked={})
        for _, cells in table_rows(source, _NOT_FILLED):
            truths.update(filter(None, [cells.get(golds[0], "").strip()]))
            with suppress(Malformed):
                for question, labels in _Assignments(alone)._answered(cells, "")[0].items():
                    values[question].update(labels)
        fitting = [question for question in values if truths and truths <= values[question]]
        if len(golds) == len(fitting) == len(values) == 1:
            self.gold = golds[0]
            return
        which = f"-q {quote(f'{fitting[0]}={fitting[0]}')}" if len(fitting) == 1 else "-q NAME=NAME"
        for name in golds:
            options = f"{which} " * (len(values) > 1) + f"--map {quote(f'gold={name}')}"
            self.reading.left_out[f"column of {name!r} (a truth? {options})"] = 1

    def answers(self, line: int, cells: Mapping[str, str]) -> Iterator[Answer]:
        status = cells.get(_STATUS, "Submitted").strip()
        if status not in {"Approved", "Submitted", "Rejected"}:
            raise Malformed(f"the {_STATUS} {status[:40]!r} is not Approved or Submitted")
        if status == "Rejected" or cells.get("Reject", "").strip():
            self.reading.left_out["rejected assignment"] += 1
            return
        data = {name: cell for name, cell in cells.items() if not name.startswith(_ANSWER)}
        data.setdefault("text", data.get(_INPUT + "text", ""))
        answers, comments = self._answered(cells, data["text"])
        submitted = moment_of(cells.get("SubmitTime", ""))
        item, who = cells.get("HITId", ""), cells.get("WorkerId", "")
        number = self.repeats.number(item, who, data)
        for question, labels in answers.items():
            tool.ask_for(self.reading, question, labels)
            yield Answer(
                line, item, who, question, labels, labeled_at=submitted, number=number,
                seconds=cells.get("WorkTimeInSeconds", "").strip()
                or tool.seconds_between(moment_of(cells.get("AcceptTime", "")), submitted),
                comment="\n".join(comments),
                data=data,
            )  # fmt: skip
            key = tool.item_key(self.reading, item, data)
            if (truth := cells.get(self.gold, "").strip()) and key not in self.truths:
                self.truths.add(key)
                yield Answer(line, item, GOLD, question, [truth], kind="reference", data=data)

    def _answered(self, cells: Mapping[str, str], text: str) -> tuple[dict[str, Labels], list[str]]:
        fields = {
            name.removeprefix(_ANSWER): cell
            for name, cell in cells.items()
            if name.startswith(_ANSWER) and name not in self.reading.options.ignore
        }
        forms = value_of_cell(fields.pop(_WHOLE_FORM, "") or "{}", _ANSWER + _WHOLE_FORM)
        values = {name: value_of_cell(cell, _ANSWER + name) for name, cell in fields.items()}
        for form in forms if isinstance(forms, list) else [forms]:
            if not isinstance(form, dict):
                raise Malformed(f"{_ANSWER}{_WHOLE_FORM} holds no form")
            values |= form
        for name in [name for name in values if name.lower() in _OF_THE_FORM - self.named]:
            if values.pop(name) != "":
                self.reading.left_out[f"value of {name!r} (a time or button of the form)"] += 1
        comments = {name for name in values if name.lower() in _COMMENTS - self.named}
        if len(comments) == len(values):
            comments = set()
        answers: dict[str, Labels] = {}
        for name, value in _grouped({n: v for n, v in values.items() if n not in comments}).items():
            if isinstance(value, str) and "|" in value:  # the names of boxes in a plain form
                labels = labels_of_value([*filter(None, map(str.strip, value.split("|")))], text)
            else:
                labels = labels_of_value(value, text)
            if labels is None:
                self.reading.left_out[f"answer to {name!r} that is no category"] += 1
            else:
                answers[name] = tool.unique_labels(labels)
        texts = (value for name, value in values.items() if name in comments)
        return answers, [text for text in texts if isinstance(text, str) and text]


def _grouped(values: Mapping[str, object]) -> dict[str, object]:
    """Return values by question: ``tone.pos`` and ``tone.neg``, true or false, are one of ``tone``.

    ``tone.label`` is `tone`, too, if there is no other.
    """
    groups: dict[str, dict[str, object]] = {}
    for name, value in values.items():
        question, _, box = name.rpartition(".")
        groups.setdefault(question or name, {})[box if question else ""] = value
    grouped: dict[str, object] = {}
    for question, boxes in groups.items():
        only = next(iter(boxes)) if len(boxes) == 1 else None
        if only is not None and only in {"", "label", "labels", "value", "on"}:
            grouped[question] = boxes[only]
        elif all(value == "" for value in boxes.values()):
            grouped[question] = []
        elif only is None and ticked({n: v or "false" for n, v in boxes.items()}) is not None:
            grouped[question] = {n: v or "false" for n, v in boxes.items()}
        else:
            grouped |= {f"{question}.{box}" if box else question: v for box, v in boxes.items()}
    return grouped


def moment_of(text: str) -> str:
    """Return a time such as ``Thu Oct 09 07:30:52 UTC 2025`` as ISO 8601, other text as it is."""
    try:
        return datetime.fromisoformat(clock.iso(read_moment(text.strip()))).isoformat()
    except ValueError:
        return text.strip()
