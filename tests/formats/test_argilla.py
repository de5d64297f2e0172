"""Argilla: what was submitted counts; suggestions are answers of models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.formats.reading import found_in
from tests.formats.test_exports import EXPORTS
from tracker.core.errors import Refused
from tracker.ledger import Ledger

FLAT = EXPORTS / "hand-written" / "argilla-flat.json"


def write(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text(json.dumps(records))
    return path


def flat(**keys: Any) -> dict[str, Any]:
    return {"id": "r1", "text": "t", **{name.replace("__", "."): one for name, one in keys.items()}}


@pytest.mark.parametrize("name", ["argilla-flat.json", "argilla-nested.json", "argilla-1.jsonl"])
def test_suggestions_are_answers_of_models_and_drafts_are_none(name: str) -> None:
    found = found_in(FLAT.with_name(name))
    assert found.format == "argilla"
    models = [one for one in found.records if one.get("kind") == "model"]
    assert {(one["item"], one["annotator"], one["category"]) for one in models} == {
        ("r1", "tone-model-v2", "bad"),
        ("r2", "tone-model-v2", "good"),
    }
    assert found.left_out == {
        "response with the status 'draft'": 2,
        "response with the status 'discarded'": 2,
    }
    assert found.asked == {"tone": "one", "topics": "several"}


def test_confidence_text_and_fields_are_kept() -> None:
    found = found_in(FLAT, keep=["topic"])
    (one,) = [one for one in found.records if one.get("confidence") and one["item"] == "r1"]
    assert (one["confidence"], one["text"], one["keep:topic"]) == (
        "0.8",
        "The tram was late.",
        "news",
    )


def test_spans_and_ratings_are_read_and_rankings_counted(tmp_path: Path) -> None:
    span = {"label": "PER", "start": 0, "end": 4}
    rank = {"value": "a", "rank": 1}
    path = write(tmp_path / "x.json", flat(
        n__responses=[[span]], n__responses__users=["u"], n__responses__status=["submitted"],
        r__responses=[4], r__responses__users=["u"], r__responses__status=["submitted"],
        k__responses=[[rank]], k__responses__users=["u"], k__responses__status=["submitted"],
        n__suggestion=[span], n__suggestion__score=[0.5], n__suggestion__agent=None))  # fmt: skip
    found = found_in(path)
    assert found.rows("annotator", "question", "category", "end") == [
        ("suggestion", "n", "PER", "4"),
        ("u", "n", "PER", "4"),
        ("u", "r", "4", ""),
    ]
    assert found.left_out == {"ranking": 1}


def test_responses_of_version_1_may_be_columns_or_those_of_each_user(tmp_path: Path) -> None:
    columns = {"user_id": ["u"], "value": ["bad"], "status": ["submitted"]}
    path = write(tmp_path / "x.json", {"text": "t", "external_id": "r1", "tone": columns,
        "tone-suggestion": None, "tone-suggestion-metadata": None})  # fmt: skip
    wanted = [("r1", "u", "tone", "bad")]
    assert found_in(path).rows("item", "annotator", "question", "category") == wanted
    response = {"user_id": "u", "values": {"tone": {"value": "bad"}}, "status": "submitted"}
    path = write(tmp_path / "y.json", {"external_id": "r1", "fields": {"text": "t"},
        "responses": [response], "suggestions": [
            {"question_name": "tone", "value": "bad", "agent": "m", "score": 1}]})  # fmt: skip
    wanted.insert(0, ("r1", "m", "tone", "bad"))
    assert found_in(path).rows("item", "annotator", "question", "category") == wanted


def test_users_and_responses_of_different_numbers_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "x.json", flat(t__responses=["a"], t__responses__users=["u", "v"]))
    with pytest.raises(Refused, match=r"record 1: 't' has 1 responses, and 2 users"):
        found_in(path)


def test_a_question_that_is_named_by_its_control_is_imported(ledger: Ledger) -> None:
    result = ledger.import_file(FLAT, "p", questions=["mood=tone"])
    assert result.inserted == result.rows == 6


def test_suggestions_of_a_data_set_have_their_names_if_the_file_has_them() -> None:
    found = found_in(EXPORTS / "argilla" / "data-set.parquet")
    models = [one for one in found.records if one.get("kind") == "model"]
    assert [(one["annotator"], one["category"]) for one in models] == [
        ("gpt-4o", "good"), ("gpt-4o", "food"),
    ]  # fmt: skip
    assert found.left_out == {"response with the status 'discarded'": 1,
                              "response with the status 'draft'": 1}  # fmt: skip
    lines = found_in(EXPORTS / "argilla" / "data-set.jsonl")
    assert lines.left_out["suggestion as a number without its name"] == 3
    assert {one["category"] for one in lines.records if one.get("kind") == "model"} == {"food"}


def test_responses_whose_status_is_not_told_are_counted() -> None:
    found = found_in(EXPORTS / "argilla" / "records-nested.json")
    assert found.left_out == {"status of a response, which may be a draft": 11}


def test_a_data_set_as_csv_is_refused_with_the_way_out(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("id,tone.responses,tone.responses.users\n1,['a' 'b'],['x' 'y']\n")
    with pytest.raises(Refused, match=r"as CSV.*\n.*to_parquet"):
        found_in(path)


def test_a_damaged_data_set_names_its_row(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    row = {"id": "1", "tone.responses": ["a"], "tone.responses.users": ["x", "y"]}
    pd.DataFrame([row]).to_parquet(path)
    with pytest.raises(Refused, match="row 1: 'tone' has 1 responses, and 2 users"):
        found_in(path)
