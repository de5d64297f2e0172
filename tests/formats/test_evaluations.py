"""Programs that evaluate: a model's verdicts, on items that the next run has, too."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.formats.reading import found_in, write_json_lines
from tests.formats.test_exports import EXPORTS
from tracker.ledger import Ledger

FILES = EXPORTS / "hand-written"
ROWS = ("item", "annotator", "kind", "question", "category", "pass", "comment")


def test_assertions_that_a_model_judges_are_its_answers() -> None:
    found = found_in(FILES / "promptfoo-results.json", keep=["question"])
    key, judge = "case-{} | short | openai:gpt-4o-mini", "openai:gpt-4o"
    assert found.rows(*ROWS) == [
        (key.format(1), judge, "model", "polite", "pass", "", "It says please."),
        (key.format(2), judge, "model", "polite", "fail", "", "It is curt."),
    ]
    assert found.left_out == {"judgment that is no category": 1, "judgment without an author": 1}
    assert ("There, please.", "Where?") in found.rows("text", "keep:question")


def test_a_test_without_a_name_is_known_by_its_variables(tmp_path: Path) -> None:
    results = json.loads((FILES / "promptfoo-results.json").read_text())["results"]["results"]
    for result in results:
        del result["testCase"]["metadata"]
    first = found_in(write_json_lines(tmp_path / "x.jsonl", results)).rows("item")
    for n, result in enumerate(results):
        result["testIdx"] = 7 - n
    results.reverse()
    assert found_in(write_json_lines(tmp_path / "y.jsonl", results)).rows("item") == first


LOGS = [EXPORTS / "inspect" / f"inspect-log.{form}" for form in ("json", "eval")]


@pytest.mark.parametrize("log", LOGS, ids=lambda path: path.name)
def test_scores_of_samples_are_answers_of_the_scorer_or_its_model(log: Path) -> None:
    found = found_in(log)
    sample = "manners/mockllm/model/{}"
    assert found.format == "inspect"
    assert [row for row in found.rows(*ROWS) if row[3] == "model_graded_qa"] == [
        (sample.format(item), "mockllm/grader", "model", "model_graded_qa", value, number, why)
        for item, value, number, why in (
            ("2", "C", "", "Reason 1. GRADE: C"), ("2", "C", "2", "Reason 3. GRADE: C"),
            ("a", "I", "", "Reason 0. GRADE: I"), ("a", "I", "2", "Reason 2. GRADE: I"),
        )
    ]  # fmt: skip
    models = {row[1] for row in found.rows(*ROWS) if row[2] == "model"}
    assert models == {"mockllm/grader", "mockllm/checker", "includes", "parts"}
    assert found.left_out == {"judgment without a value": 4}, "scores that are no number"


@pytest.mark.parametrize("log", LOGS, ids=lambda path: path.name)
def test_edits_of_a_score_are_answers_of_who_edited_it(log: Path) -> None:
    edited = [row for row in found_in(log).rows(*ROWS) if row[0][-1] == "a" and row[5] == "2"]
    assert [row[1:] for row in edited if row[3] == "includes"] == [
        ("ada", "human", "includes", "C", "2", "It is polite after all."),
        ("bo", "human", "includes", "I", "2", "No"),
        ("includes", "model", "includes", "I", "2", "no"),
    ]


@pytest.mark.parametrize(
    ("scorer", "roles", "judge"),
    [
        ({"options": {"model": "openai/gpt-4o"}}, {}, "openai/gpt-4o"),
        ({"args": {"model": {"model": "openai/o3"}}}, {}, "openai/o3"),
        ({"options": {}}, {"grader": {"model": "openai/gpt-4o"}}, "openai/gpt-4o"),
        ({"options": {"model_role": "x"}}, {"grader": {"model": "a"}}, "model_graded_qa"),
        ({}, {}, "model_graded_qa"),
    ],
)
def test_the_model_that_a_scorer_asks(
    tmp_path: Path, scorer: dict[str, Any], roles: dict[str, Any], judge: str
) -> None:
    spec = {"task": "t", "model": "m", "model_roles": roles,
            "scorers": [{"name": "inspect_ai/model_graded_qa", **scorer}]}  # fmt: skip
    sample = {"id": 1, "epoch": 1, "scores": {"model_graded_qa": {"value": "C"}}}
    log = {"version": 2, "status": "success", "eval": spec, "samples": [sample]}
    path = write_json_lines(tmp_path / "x.json", [log])
    assert found_in(path).rows("annotator", "category") == [(judge, "C")]


def test_choices_of_a_run_are_answers_of_the_last_model() -> None:
    found = found_in(FILES / "openai-evals.jsonl")
    assert found.rows(*ROWS) == [
        ("manners.dev.0", "gpt-4o", "model", "manners", "Yes", "", ""),
        ("manners.dev.1", "gpt-4o", "model", "manners", "No", "", ""),
    ]


def test_output_items_of_the_service_have_graders(tmp_path: Path) -> None:
    item = {"object": "eval.run.output_item", "datasource_item_id": 4, "created_at": 1760000000,
            "datasource_item": {"q": "x"},
            "results": [{"name": "polite", "passed": False}]}  # fmt: skip
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"object": "list", "data": [item], "has_more": False}))
    found = found_in(path, keep=["q"])
    assert found.rows("item", "annotator", "category", "keep:q") == [("4", "polite", "fail", "x")]
    assert found.format == "openai-evals"


def test_the_same_log_twice_changes_nothing(sqlite_ledger: Ledger) -> None:
    for log in (FILES / "promptfoo-results.json", FILES / "openai-evals.jsonl", LOGS[0]):
        first = sqlite_ledger.import_file(log, log.name)
        again = sqlite_ledger.import_file(log, log.name)
        assert first.inserted == first.rows == again.unchanged > 0, log.name


def test_an_event_of_an_odd_type_is_a_step(tmp_path: Path) -> None:
    lines = (FILES / "openai-evals.jsonl").read_text().splitlines()
    events = [json.loads(line) for line in lines]
    events[1]["type"] = ["sampling"]
    assert len(found_in(write_json_lines(tmp_path / "x.jsonl", events)).records) == 2
