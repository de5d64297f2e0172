"""promptfoo: what models said of outputs, in the results of an evaluation."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from tracker.formats.answers import field_at, field_text, object_in, objects_in
from tracker.formats.judgments import HUMAN, MODEL, Judgment, first_text, judgments_reader

_GRADED = {
    "llm-rubric", "model-graded-closedqa", "model-graded-factuality", "closedqa", "factuality",
    "g-eval", "answer-relevance", "context-faithfulness", "context-recall", "context-relevance",
    "select-best", "max-score", "search-rubric", "agent-rubric", "moderation", "classifier", "pi",
    "conversation-relevance", "human",
}  # fmt: skip
"""Kinds of assertions that a model judges, or a person; others compare."""


def _recognizes(first: Mapping[str, Any]) -> bool:
    return {"evalId", "results"} <= first.keys() or {"testIdx", "gradingResult"} <= first.keys()


def _judgments(record: Mapping[str, Any]) -> Iterator[Judgment]:
    if "evalId" in record and "results" in record:
        usual = field_text(field_at(record, "config.defaultTest.options.provider"))
        for result in objects_in(object_in(record, "results"), "results"):
            yield from _of_result(result, usual)
    else:
        yield from _of_result(record, "")


def _of_result(result: Mapping[str, Any], usual: str) -> Iterator[Judgment]:
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


def _key(result: Mapping[str, Any]) -> str:
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
