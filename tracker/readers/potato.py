"""Potato: its exports as CSV, TSV and JSONL, and the folder that its server keeps."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from tracker.formats import answers as tool
from tracker.formats.answers import Answer, Fields, Malformed, Span, field_text, json_in, object_in
from tracker.formats.batch import Batch
from tracker.formats.reader import Reading
from tracker.formats.source import Archive, SourceFile
from tracker.formats.streams import head_columns, head_value

NAME = "potato"
_SPANS = "._spans"
_KEYS = {"instance_id", "user_id"}
_VALUED = {"select-one", "slider", "number", "range"}
"""Names that forms give to their only field; what was chosen is its value."""
_FREE = {"text_box", "free_response"}
_HINT = "export with: python -m potato.export --format jsonl"

Labels = dict[str, dict[str, Any]]
"""The value of each label, by schema."""


def recognizes_export(source: SourceFile) -> bool:
    first = head_value(source)
    if isinstance(first, dict):
        return _KEYS | {"labels", "spans"} <= first.keys()
    columns = head_columns(source)
    return set(columns) >= _KEYS and any("." in name for name in columns)


def _answers(source: SourceFile, reading: Reading) -> Iterator[Answer]:
    if head_value(source) is None:
        return tool.answers_of_rows(source, _Potato(reading).of_row, _HINT)
    return tool.answers_of_objects(source, _Potato(reading).of_record, _HINT)


def _states(archive: Archive) -> list[str]:
    return [name for name in archive.names if PurePosixPath(name).name == "user_state.json"]


def read_folder(archive: Archive, reading: Reading) -> Iterator[Batch]:
    """Yield the answers of all users, with their times from the history."""
    potato = _Potato(reading)

    def answers_of(source: SourceFile) -> Iterator[Answer]:
        history = PurePosixPath(source.path).with_name("annotation_history.jsonl")
        times = _times(archive, str(history))
        of_state = lambda _, state: potato.of_state(state, times)  # noqa: E731
        return tool.answers_of_objects(source, of_state, "is this the folder annotation_output?")

    return tool.batches_of_files(archive, reading, _states(archive), answers_of, NAME, unit="item")


POTATO = replace(
    tool.tool_reader(
        NAME,
        "Potato: CSV, TSV, JSONL, or the folder annotation_output",
        ("questions", "several", "spans", "time"),
        recognizes=recognizes_export,
        answers=_answers,
        unit=tool.json_unit,
    ),
    recognizes_archive=lambda archive: bool(_states(archive)),
    read_archive=read_folder,
)


def _times(archive: Archive, name: str) -> dict[tuple[str, str], str]:
    """Return when a user last changed the answer to a schema about an item."""
    times: dict[tuple[str, str], str] = {}

    def of_action(_place: int, action: dict[str, Any]) -> Iterator[Answer]:
        key = (field_text(action.get("instance_id")), field_text(action.get("schema_name")))
        times[key] = max(times.get(key, ""), field_text(action.get("timestamp")))
        yield from ()

    if name in archive.names:
        with closing(archive.open(name)) as source:
            if source.head.strip():
                hint = "remove the file to go without"
                deque(tool.answers_of_objects(source, of_action, hint), 0)
    return times


@dataclass
class _Potato:
    reading: Reading

    def of_record(self, place: int, record: dict[str, Any]) -> Iterator[Answer]:
        labels: Labels = {}
        for schema, values in object_in(record, "labels").items():
            labels[schema] = values if isinstance(values, dict) else {"": values}
        spans = object_in(record, "spans")
        self.reading.leave_out("link", _number(record.get("links")))
        yield from self._answers(place, record, labels, spans)

    def of_row(self, place: int, cells: Mapping[str, str]) -> Iterator[Answer]:
        """Yield the answers of a row: a column for each label of a schema."""
        labels: Labels = {}
        spans: dict[str, Any] = {}
        for column, cell in cells.items():
            if column in _KEYS or not cell:
                continue
            if column.endswith(_SPANS):
                spans[column.removesuffix(_SPANS)] = json_in(cells, column)
                continue
            schema, dot, label = column.partition(".")
            of_schema = labels.setdefault(schema, {})
            if dot and "" not in of_schema:
                of_schema[label] = cell
            elif not dot:  # what was chosen last, of several that the server had kept
                labels[schema] = {"": cell}
        yield from self._answers(place, cells, labels, spans)

    def of_state(
        self, state: dict[str, Any], times: Mapping[tuple[str, str], str]
    ) -> Iterator[Answer]:
        labels = object_in(state, "instance_id_to_label_to_value")
        spans = object_in(state, "instance_id_to_span_to_value")
        links = object_in(state, "instance_id_to_link_to_value")
        self.reading.leave_out("link", sum(map(_number, links.values())))
        for place, item in enumerate(dict.fromkeys([*labels, *spans]), 1):
            of_item: Labels = {}
            for name, value in _pairs(labels.get(item)):
                schema = field_text(name.get("schema"))
                of_item.setdefault(schema, {})[field_text(name.get("name"))] = value
            marked: dict[str, list[Any]] = {}
            for span, _ in _pairs(spans.get(item)):
                marked.setdefault(field_text(span.get("schema")), []).append(span)
            record = {"instance_id": item, "user_id": state.get("user_id")}
            for answer in self._answers(place, record, of_item, marked):
                schema = answer.question.partition(":")[0]
                yield answer._replace(labeled_at=times.get((item, schema), ""))

    def _answers(
        self, place: int, record: Fields, labels: Labels, spans: Fields
    ) -> Iterator[Answer]:
        item, user = field_text(record.get("instance_id")), field_text(record.get("user_id"))
        answers = list(self._categories(labels))
        answers += [(schema, list(_spans(values))) for schema, values in spans.items()]
        answer = Answer(place, item, user, "", (), data=record)
        for question, of_question in answers:
            if of_question:
                yield from tool.answers_to(self.reading, answer, {question: of_question})

    def _categories(self, labels: Labels) -> Iterator[tuple[str, list[str | Span]]]:
        """Yield the categories of each schema; a table of ratings has a question for each row."""
        for schema, values in labels.items():
            chosen = {name: value for name, value in values.items() if not _is_off(value)}
            self.reading.leave_out("free text", len(_FREE & chosen.keys()))
            chosen = {name: value for name, value in chosen.items() if name not in _FREE}
            if len(chosen) > 1 and not all(_is_on(*pair) for pair in chosen.items()):
                for name, value in chosen.items():
                    yield f"{schema}: {name}", [tool.category_of(value, f"the value of {name!r}")]
            else:
                categories: list[str | Span] = [
                    tool.category_of(value if not name or name in _VALUED else name, repr(schema))
                    for name, value in chosen.items()
                ]
                yield schema, categories


def _spans(spans: Any) -> Iterator[Span]:
    values: Iterable[Any] = spans.values() if isinstance(spans, dict) else spans
    if not isinstance(values, Iterable) or isinstance(values, str):
        raise Malformed("spans are no list")
    for value in values:
        span = tool.object_of(value, "a span")
        yield tool.span_of(span.get("name", span.get("label")), span.get("start"), span.get("end"))


def _pairs(value: Any) -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield the keys and values of a dictionary whose keys are objects, as Potato writes it."""
    if value is None:
        return
    if not isinstance(value, list):
        raise Malformed("the answers about an item are no list")
    for pair in value:
        if not isinstance(pair, list) or len(pair) != 2:
            raise Malformed("an answer is no pair of a label and its value")
        yield tool.object_of(pair[0], "a label"), pair[1]


def _is_off(value: Any) -> bool:
    return value is None or value is False or (isinstance(value, str) and value in {"", "false"})


def _is_on(name: str, value: Any) -> bool:
    return value is True or (isinstance(value, str) and value in {"true", "on", name})


def _number(value: Any) -> int:
    return len(value) if isinstance(value, list | dict) else 0
