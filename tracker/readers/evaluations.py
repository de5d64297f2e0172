"""Programs that evaluate: promptfoo's results, and the runs of OpenAI evals."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from tracker.formats import answers as tool
from tracker.formats.answers import Answer, Fields, field_at, field_text, object_in, objects_in
from tracker.formats.reader import Reading
from tracker.formats.source import SourceFile
from tracker.readers.judgments import (
    HOLDS,
    HUMAN,
    MODEL,
    UNIT,
    Judgment,
    answers_of_judgments,
    first_record,
    first_text,
    judgments_reader,
    unwrapped,
)

# -- promptfoo: what models said of outputs, in the results of an evaluation ----------------------


_GRADED = {
    "llm-rubric", "model-graded-closedqa", "model-graded-factuality", "closedqa", "factuality",
    "g-eval", "answer-relevance", "context-faithfulness", "context-recall", "context-relevance",
    "select-best", "max-score", "search-rubric", "agent-rubric", "moderation", "classifier", "pi",
    "conversation-relevance", "human",
}  # fmt: skip
"""Kinds of assertions that a model judges, or a person; others compare."""


def _recognizes(first: Fields) -> bool:
    return {"evalId", "results"} <= first.keys() or {"testIdx", "gradingResult"} <= first.keys()


def _judgments(record: Fields) -> Iterator[Judgment]:
    if "evalId" in record and "results" in record:
        usual = field_text(field_at(record, "config.defaultTest.options.provider"))
        for result in objects_in(object_in(record, "results"), "results"):
            yield from _of_result(result, usual)
    else:
        yield from _of_result(record, "")


def _of_result(result: Fields, usual: str) -> Iterator[Judgment]:
    item, text = _key(result), field_text(field_at(result, "response.output"))
    data = {"text": text, **object_in(result, "vars"), **result}
    for part in objects_in(object_in(result, "gradingResult"), "componentResults"):
        assertion = object_in(part, "assertion")
        way = field_text(assertion.get("type")).removeprefix("not-")
        verdict = part.get("pass")
        value: Any = ("pass" if verdict else "fail") if isinstance(verdict, bool) else None
        human = way == "human"
        judge = first_text(assertion, ("provider", "provider.id")) or usual or way
        question = field_text(assertion.get("metric")) or way
        if way not in _GRADED:
            value = {}  # counted as none: no judge said it
        yield Judgment(
            item, "" if human else judge, HUMAN if human else MODEL, question, value,
            comment=field_text(part.get("reason")), data=data,
        )  # fmt: skip


def _key(result: Fields) -> str:
    """Return a key that the next run of the same test has, too: the test, prompt and provider."""
    variables = result.get("vars") or field_at(result, "testCase.vars")
    test = first_text(result, ("testCase.metadata.id", "testCase.description")) or _digest(
        json.dumps(variables, sort_keys=True, ensure_ascii=True)
    )
    prompt = first_text(result, ("prompt.label", "prompt.raw", "promptId"))
    provider = first_text(result, ("provider.label", "provider.id", "provider"))
    short = prompt if 0 < len(prompt) <= 40 else _digest(prompt)
    return " | ".join(filter(None, (test, short, provider)))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]


PROMPTFOO = judgments_reader(
    "promptfoo", "promptfoo: results as JSON or JSONL", _recognizes, _judgments,
    "run: promptfoo export eval latest -o FILE.json",
)  # fmt: skip


# -- OpenAI evals: the events of a run line by line, and the output items of its service ----------


NAME = "openai-evals"
_EVENT = {"run_id", "event_id", "sample_id", "type", "data"}
_ITEM = "eval.run.output_item"


def recognizes_run(source: SourceFile) -> bool:
    first = first_record(source)
    if first is None:
        return False
    spec = first.get("spec")
    is_spec = isinstance(spec, dict) and "eval_name" in spec
    return is_spec or first.keys() >= _EVENT or first.get("object") == _ITEM


def _answers(source: SourceFile, reading: Reading) -> Iterator[Answer]:
    hint = "is this the record that oaieval writes?"
    return tool.numbered(tool.answers_of_objects(source, _Run(reading).of_record, hint))


OPENAI_EVALS = tool.tool_reader(
    NAME,
    "OpenAI evals: the record of a run as JSONL, or its output items",
    HOLDS,
    recognizes=recognizes_run,
    answers=_answers,
    unit=UNIT,
)


class _Run:
    """A run, whose first line says what is evaluated and by which models."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.question = NAME
        self.judge = ""

    def of_record(self, place: int, record: dict[str, Any]) -> Iterator[Answer]:
        if "spec" in record:
            spec = object_in(record, "spec")
            self.question = first_text(spec, ("base_eval", "eval_name")) or NAME
            models = tool.list_in(spec, "completion_fns")
            # The last of several is the one that judges what the others say.
            self.judge = field_text(models[-1]) if len(models) > 1 else ""
            return
        for item in unwrapped(record):
            judgments = _of_item(item) if item.get("object") == _ITEM else self._of_event(item)
            yield from answers_of_judgments(place, judgments, item, self.reading)

    def _of_event(self, event: Fields) -> Iterator[Judgment]:
        """Yield the verdict of an event; events of other types are steps towards one."""
        data = object_in(event, "data")
        value = data.get("choice")
        if value is None and isinstance(data.get("correct"), bool):
            value = "correct" if data["correct"] else "incorrect"
        if field_text(event.get("type")) not in {"metrics", "match"} or value is None:
            return
        yield Judgment(
            field_text(event.get("sample_id")), self.judge or self.question, MODEL, self.question,
            value, field_text(event.get("created_at")), data={**data, **event},
        )  # fmt: skip


def _of_item(item: Fields) -> Iterator[Judgment]:
    for result in objects_in(item, "results"):
        name, passed = field_text(result.get("name")), result.get("passed")
        value = ("pass" if passed else "fail") if isinstance(passed, bool) else None
        yield Judgment(
            field_text(item.get("datasource_item_id")), name, MODEL, name, value,
            field_text(item.get("created_at")), data={**object_in(item, "datasource_item"), **item},
        )  # fmt: skip
