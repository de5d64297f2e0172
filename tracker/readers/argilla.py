"""Argilla: records with their responses and suggestions, of version 2 and of version 1."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from tracker.core.errors import Refused
from tracker.formats import answers as tool
from tracker.formats.answers import Answer, Fields, Malformed, Span, field_text, list_in, object_of
from tracker.formats.batch import Batch
from tracker.formats.reader import Reader, Reading
from tracker.formats.source import SourceFile
from tracker.formats.streams import head_columns, head_value

NAME = "argilla"
_RESPONSES = ".responses"
_SUGGESTION = ".suggestion"
_V1 = "-suggestion"
_HINT = "export with: json.dump(dataset.records.to_list(flatten=True), file)"


class _Response(NamedTuple):
    """What a user or an agent answers to a question about a record."""

    question: str
    who: str
    value: Any
    status: str | None = ""
    kind: str = ""
    confidence: str = ""


def recognizes_records(source: SourceFile) -> bool:
    first = head_value(source)
    if first is None:
        return is_argilla_dataset(head_columns(source))
    if not isinstance(first, dict):
        return False
    if "fields" in first and "responses" in first:
        return True
    keys = [str(name) for name in first]
    return is_argilla_dataset(keys) or any(
        name.endswith(_V1) and f"{name}-metadata" in first and name.removesuffix(_V1) in first
        for name in keys
    )


def is_argilla_dataset(columns: Iterable[str]) -> bool:
    return any(name.endswith(f"{_RESPONSES}.users") for name in columns)


def read_records(source: SourceFile, reading: Reading) -> Iterator[Batch]:
    """Yield the submitted responses, and the suggestions as answers of models.

    Raises Refused for a data set as CSV, whose lists nobody can read.
    """
    if head_value(source) is None:
        raise Refused(
            f"{source.name} is a data set of Argilla as CSV, in which lists are no longer such",
            "write it as Parquet: dataset.records.to_datasets().to_parquet(FILE)",
        )
    return _batches(
        source, reading, tool.answers_of_objects(source, _Records(reading).of_record, _HINT)
    )


def read_rows(
    source: SourceFile, reading: Reading, rows: Iterable[dict[str, Any]]
) -> Iterator[Batch]:
    """Yield the same of the rows of a data set. Raises Refused, with the row."""

    def answers() -> Iterator[Answer]:
        records = _Records(reading)
        for place, row in enumerate(rows, 1):
            try:
                yield from records.of_record(place, row)
            except Malformed as error:
                raise Refused(f"{source.name}, row {place}: {error}", _HINT) from None

    return _batches(source, reading, answers())


def _batches(source: SourceFile, reading: Reading, answers: Iterator[Answer]) -> Iterator[Batch]:
    return tool.batches_of_answers(source, reading, tool.numbered(answers), NAME, "answer")


ARGILLA = Reader(
    NAME,
    recognizes=recognizes_records,
    read=read_records,
    title="Argilla: records as JSON, JSONL or Parquet, of version 2 or 1",
    holds=("questions", "several", "spans", "models", "confidence", "text", "attributes"),
)


class _Records:
    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.named: set[str] = set()  # questions whose responses are texts

    def of_record(self, place: int, record: dict[str, Any]) -> Iterator[Answer]:
        nested = "fields" in record and "responses" in record
        responses = list(_nested(record) if nested else _flat(record))
        data = dict(record)
        for name in ("fields", "metadata"):
            if isinstance(more := record.get(name), dict):
                data |= more
        keys = (field_text(record.get(name)) for name in ("id", "external_id", "_server_id"))
        item = next(filter(None, keys), str(place))
        left_out = self.reading.left_out
        for response in responses:
            question, who, value, status, kind, confidence = response
            if not kind and isinstance(value, str):
                self.named.add(question)
            if status is None:
                left_out["status of a response, which may be a draft"] += 1
            if kind and type(value) is int and question in self.named:
                left_out["suggestion as a number without its name"] += 1
            elif status is not None and status not in {"submitted", "completed", ""}:
                left_out[f"response with the status {status!r}"] += 1
            elif (labels := self._labels(response)) is not None:
                answer = Answer(place, item, who, "", (), kind=kind, confidence=confidence)
                yield from tool.answers_to(
                    self.reading, answer._replace(data=data), {question: labels}
                )

    def _labels(self, response: _Response) -> list[str | Span] | None:
        """Return the labels of a response; None for what is no answer to such a question."""
        value = response.value
        if value is None:
            return [] if response.kind != "model" else None
        values = value if isinstance(value, list) else [value]
        if any(isinstance(part, dict) and "rank" in part for part in values):
            self.reading.left_out["ranking"] += 1
            return None
        return tool.unique_labels(
            tool.span_of(part.get("label"), part.get("start"), part.get("end"))
            if isinstance(part, dict)
            else tool.category_of(part, f"a response to {response.question!r}")
            for part in values
        )


def _nested(record: Fields) -> Iterator[_Response]:
    """Yield what was said of a record with fields, responses and suggestions of their own."""
    responses = record["responses"]
    if isinstance(responses, list):  # of version 1: one for each user
        for response in (object_of(value, "a response") for value in responses):
            for question, values in tool.object_in(response, "values").items():
                value = object_of(values, "a value").get("value")
                yield _Response(question, field_text(response.get("user_id")), value,
                            field_text(response.get("status")))  # fmt: skip
    else:
        for question, values in tool.object_in(record, "responses").items():
            if not isinstance(values, list):
                raise Malformed(f"the responses to {question!r} are no list")
            for response in (object_of(value, "a response") for value in values):
                status = field_text(response["status"]) if "status" in response else None
                who = field_text(response.get("user_id"))
                yield _Response(question, who, response.get("value"), status)
    suggestions = record.get("suggestions")
    if isinstance(suggestions, list):
        for suggestion in (object_of(value, "a suggestion") for value in suggestions):
            yield _suggested(field_text(suggestion.get("question_name")), suggestion)
    else:
        for question, value in tool.object_in(record, "suggestions").items():
            yield _suggested(question, object_of(value, "a suggestion"))


def _suggested(question: str, suggestion: Fields) -> _Response:
    who = field_text(suggestion.get("agent")) or "suggestion"
    confidence = tool.confidence_text(suggestion.get("score"))
    return _Response(question, who, suggestion.get("value"), kind="model", confidence=confidence)


def _flat(record: Fields) -> Iterator[_Response]:
    """Yield what was said of a record whose keys hold the questions."""
    for key in record:
        name = key.removesuffix(_RESPONSES)
        if name != key:
            users, values = list_in(record, f"{key}.users"), list_in(record, key)
            yield from _listed(name, users, values, list_in(record, f"{key}.status"))
        name = key.removesuffix(_SUGGESTION)
        if name != key and record[key] is not None:
            suggestion = {"value": record[key], "score": record.get(f"{key}.score"),
                          "agent": record.get(f"{key}.agent")}  # fmt: skip
            yield _suggested(name, suggestion)
        name = key.removesuffix(_V1)
        if name != key and name in record:
            yield from _of_version_1(record, name)


def _of_version_1(record: Fields, name: str) -> Iterator[_Response]:
    responses = record[name]
    if isinstance(responses, dict):  # of columns, as Hugging Face writes lists of objects
        columns = [list_in(responses, column) for column in ("user_id", "value", "status")]
        yield from _listed(name, *columns)
    else:
        for response in (object_of(value, "a response") for value in list_in(record, name)):
            yield _Response(name, field_text(response.get("user_id")), response.get("value"),
                        field_text(response.get("status")))  # fmt: skip
    if record[name + _V1] is not None:
        about = tool.object_in(record, f"{name}{_V1}-metadata")
        yield _suggested(name, {**about, "value": record[name + _V1]})


def _listed(
    question: str, users: Sequence[Any], values: Sequence[Any], states: Sequence[Any]
) -> Iterator[_Response]:
    if len(users) != len(values) or len(states) not in {0, len(values)}:
        raise Malformed(f"{question!r} has {len(values)} responses, and {len(users)} users")
    for n, (who, value) in enumerate(zip(users, values, strict=True)):
        yield _Response(question, field_text(who), value, field_text(states[n]) if states else "")
