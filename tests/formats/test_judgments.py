"""Stores of judgments: judges are models with a version, and nobody is made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.formats.reading import found_in, write_json_lines
from tests.formats.test_exports import EXPORTS
from tracker.core.errors import Refused
from tracker.ledger import Ledger

FILES = EXPORTS / "hand-written"
ROWS = ("item", "annotator", "kind", "question", "category")


@pytest.mark.parametrize(
    ("name", "form", "judge", "unsigned"),
    [
        ("../mlflow/mlflow-traces.json", "mlflow", "openai:/gpt-4o@3", 1),
        ("langfuse-scores.json", "langfuse", "gpt-4o@2", 1),
        ("langfuse-scores.csv", "langfuse", "eval", 1),
        ("langsmith-feedback.jsonl", "langsmith", "gpt-4o", 1),
        ("phoenix-annotations.json", "phoenix", "gpt-4o@2", 1),
        ("phoenix-annotations.csv", "phoenix", "LLM", 1),
    ],
)
def test_judges_are_models_and_unsigned_judgments_are_counted(
    name: str, form: str, judge: str, unsigned: int
) -> None:
    found = found_in(FILES / name)
    assert found.format == form
    assert judge in {one["annotator"] for one in found.records if one.get("kind") == "model"}
    assert found.left_out["judgment without an author"] == unsigned
    assert any(one.get("comment") for one in found.records)


def trace(*assessments: dict[str, Any], **info: Any) -> dict[str, Any]:
    return {"info": {"trace_id": "t1", "assessments": list(assessments), **info}}


def assessed(value: Any, who: str = "ada", kind: str = "HUMAN", **more: Any) -> dict[str, Any]:
    return {"name": "polite", "source": {"source_type": kind, "source_id": who},
            "feedback": {"value": value}} | more  # fmt: skip


def test_an_override_by_the_author_is_a_revision_and_by_another_an_answer(
    ledger: Ledger, tmp_path: Path
) -> None:
    said = [
        assessed("yes", create_time_ms=1_760_000_000_000, valid=False),
        assessed("no", create_time_ms=1_760_000_500_500, overrides="a"),
        assessed("yes", "m", "LLM_JUDGE", create_time_ms=1_759_000_000_000, valid=False),
    ]
    path = write_json_lines(tmp_path / "x.jsonl", [trace(*said)])
    assert ledger.import_file(path, "p").inserted == 2
    frame = ledger.export_frame("p")
    assert sorted(zip(frame["annotator"], frame["kind"], frame["category"], strict=True)) == [
        ("ada", "human", "no"),
        ("m", "model", "yes"),
    ]


def test_each_judgment_of_a_trace_has_its_own_reason(ledger: Ledger, tmp_path: Path) -> None:
    said = [assessed(n, rationale=f"reason {n}", name=f"q{n}") for n in (1, 2)]
    ledger.import_file(write_json_lines(tmp_path / "x.jsonl", [trace(*said)]), "p")
    frame = ledger.export_frame("p")
    assert sorted(zip(frame["question"], frame["comment"], strict=True)) == [
        ("q1", "reason 1"),
        ("q2", "reason 2"),
    ]


def test_a_judgment_that_was_updated_is_of_the_time_of_the_update(tmp_path: Path) -> None:
    times = {"create_time": "2026-01-01T00:00:00Z", "last_update_time": "2026-01-02T00:00:00Z"}
    path = write_json_lines(tmp_path / "x.jsonl", [trace(assessed("no", **times))])
    assert found_in(path).rows("labeled_at") == [("2026-01-02T00:00:00Z",)]


def test_what_is_expected_is_a_reference(tmp_path: Path) -> None:
    serialized = {"serialized_value": {"serialization_format": "JSON", "value": "x" * 500}}
    path = write_json_lines(tmp_path / "x.jsonl", [trace(
        {"name": "polite", "source": {}, "expectation": {"value": True}},
        {"name": "answer", "source": {}, "expectation": serialized}, span_id="s")])  # fmt: skip
    found = found_in(path)
    assert found.rows(*ROWS) == [("t1", "gold", "reference", "polite", "true")]
    assert found.left_out == {"judgment that is no category": 1}


def test_the_item_is_a_key_that_stays_if_there_is_one(tmp_path: Path) -> None:
    path = write_json_lines(
        tmp_path / "x.jsonl", [trace(assessed(1), tags={"case": "c7"}, client_request_id="r1")]
    )
    assert found_in(path).rows("item") == [("r1",)]
    assert found_in(path, "item=tags.case").rows("item") == [("c7",)]


def test_a_frame_of_traces_has_their_assessments_in_a_column(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(
        json.dumps([{"trace_id": "t1", "request": "q", "assessments": [assessed([1, 2])]}])
    )
    found = found_in(path)
    assert found.rows("item", "text", "category") == [("t1", "q", "1"), ("t1", "q", "2")]
    assert found.asked == {"polite": "several"}


def test_the_judge_of_a_store_that_does_not_say_may_be_named(tmp_path: Path) -> None:
    score = {"traceId": "t", "name": "n", "value": 1, "source": "API", "metadata": {"bot": "b"}}
    path = write_json_lines(tmp_path / "x.jsonl", [score])
    assert found_in(path).rows("annotator", "kind") == [("api", "model")]
    assert found_in(path, "annotator=metadata.bot").rows("annotator") == [("b",)]


def test_a_large_answer_of_an_interface_is_recognized(tmp_path: Path) -> None:
    score = {"traceId": "t", "name": "n", "value": 1, "source": "API", "comment": "x" * 1000}
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"data": [score | {"traceId": f"t{n}"} for n in range(1500)]}))
    found = found_in(path)
    assert (found.format, len(found.records)) == ("langfuse", 1500)


def test_a_store_without_an_author_is_refused(tmp_path: Path) -> None:
    path = write_json_lines(tmp_path / "x.jsonl", [trace(assessed(1, "default"))])
    with pytest.raises(Refused, match="holds no answer; left out: 1 judgment without an author"):
        found_in(path)
