"""Programs that evaluate: a model's verdicts, on items that the next run has, too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.imports.readers.reading import found_in, write_json_lines
from tests.imports.readers.test_exports import EXPORTS
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


@pytest.mark.parametrize("name", ["inspect-log.json", "inspect-log.eval"])
def test_scores_of_samples_are_answers_of_the_scorer_or_its_model(name: str) -> None:
    found = found_in(FILES / name)
    sample = "manners/openai/gpt-4o-mini/{}"
    assert found.format == "inspect"
    assert [row for row in found.rows(*ROWS) if row[3] == "model_graded_qa"] == [
        (sample.format(1), "openai/gpt-4o", "model", "model_graded_qa", "C", "", "It is."),
        (sample.format(1), "openai/gpt-4o", "model", "model_graded_qa", "I", "2", "It is not."),
        (sample.format("b"), "openai/gpt-4o", "model", "model_graded_qa", "C", "", "Yes."),
    ]
    assert {row[1] for row in found.rows(*ROWS)} == {"openai/gpt-4o", "includes"}


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


@pytest.mark.parametrize(
    "name", ["promptfoo-results.json", "inspect-log.eval", "openai-evals.jsonl"]
)
def test_the_same_log_twice_changes_nothing(ledger: Ledger, name: str) -> None:
    first = ledger.import_file(FILES / name, "p")
    again = ledger.import_file(FILES / name, "p")
    assert first.inserted == first.rows == again.unchanged > 0


def test_an_event_of_an_odd_type_is_a_step(tmp_path: Path) -> None:
    lines = (FILES / "openai-evals.jsonl").read_text().splitlines()
    events = [json.loads(line) for line in lines]
    events[1]["type"] = ["sampling"]
    assert len(found_in(write_json_lines(tmp_path / "x.jsonl", events)).records) == 2
