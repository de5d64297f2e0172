"""Tables of preferences as published sets and people have them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from tests.helpers import standing, write_file
from tracker.core.errors import InvalidOption, Refused
from tracker.ledger import Ledger
from tracker.ledger.imports import QuestionOptions

PREFERENCE = QuestionOptions(answers="preference")
BENCH = [
    {"question_id": 81, "model_a": "alpaca", "model_b": "claude", "winner": "model_b",
     "judge": "expert_1", "turn": 1},
    {"question_id": 81, "model_a": "alpaca", "model_b": "claude", "winner": "tie",
     "judge": "expert_1", "turn": 2},
    {"question_id": 82, "model_a": "claude", "model_b": "alpaca", "winner": "claude",
     "judge": "gpt-4", "turn": 1},
    {"question_id": 83, "model_a": "claude", "model_b": "alpaca", "winner": "tie (bothbad)",
     "judge": "expert_2", "turn": 1},
]  # fmt: skip


def attributes(ledger: Ledger, project: str = "p") -> dict[str, dict[str, str]]:
    with ledger.labels(project) as (names, rows):
        kept = [name for name in names if name.startswith("attribute:")]
        table = [dict(zip(names, row, strict=True)) for row in rows]
    return {row["item"]: {name.partition(":")[2]: row[name] for name in kept} for row in table}


def saved(folder: Path, form: str) -> Path:
    file = folder / f"bench.{form}"
    if form == "csv":
        return write_file(file, [[*BENCH[0]], *(row.values() for row in BENCH)])
    if form == "jsonl":
        return write_file(file, "\n".join(map(json.dumps, BENCH)))
    pyarrow.parquet.write_table(pa.Table.from_pylist(BENCH), file)
    return file


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_a_table_of_judgments_of_models_is_read(ledger: Ledger, tmp_path: Path, form: str) -> None:
    result = ledger.import_file(saved(tmp_path, form), "p", options=PREFERENCE)
    assert standing(ledger) == [
        ("81/alpaca/claude/1", "expert_1", "b"),
        ("81/alpaca/claude/2", "expert_1", "tie"),
        ("82/claude/alpaca/1", "gpt-4", "a"),
        ("83/claude/alpaca/1", "expert_2", "tie"),
    ]
    assert attributes(ledger)["82/claude/alpaca/1"] == {
        "a": "claude", "b": "alpaca", "prompt": "82", "turn": "1"
    }  # fmt: skip
    (columns,) = result.columns
    assert columns["read"]["a"] == "model_a"
    assert columns["preferences"] == {
        "model_b": "b", "tie (bothbad)": "tie", "the name of one of the two": "its side"
    }  # fmt: skip
    shown = ledger.imports.show(1).to_dict()["read"]
    assert shown["preferences"].startswith("model_b = b")


def test_numbers_say_how_much_better_the_second_is_in_a_column_of_preferences(
    ledger: Ledger, tmp_path: Path
) -> None:
    rows = [("prompt_id", "response1", "response2", "overall_preference", "annotator"),
            ("p1", "one", "two", -3, "ann"), ("p2", "one", "two", 1, "ann"),
            ("p3", "one", "two", 0, "ann")]  # fmt: skip
    file = write_file(tmp_path / "pairs.csv", rows)
    ledger.import_file(file, "p", options=PREFERENCE)
    assert [row[2] for row in standing(ledger)] == ["a", "b", "tie"]
    graded = QuestionOptions(
        answers="preference", categories=("-3", "-2", "-1", "0", "1", "2", "3")
    )
    ledger.import_file(file, "graded", options=graded)
    assert [row[2] for row in standing(ledger, "graded")] == ["-3", "1", "0"]
    assert attributes(ledger)["p1"]["response_a"] == "one"


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("A", "a"), ("[[B]]", "b"), ("left", "a"), ("Model B", "b"), ("assistant_1", "a"),
        ("A>>B", "a"), ("b > a", "b"), ("both", "tie"), ("both_bad", "tie"), ("Draw", "tie"),
        ("response 2 is slightly better", "b"), ("1", "a"), ("2", "b"),
        ("banana", None), ("0", None), ("-1", None), ("3", None), ("a > a", None),
        ("a is worse", None),
    ],
)  # fmt: skip
def test_what_people_write_is_understood_or_refused_with_its_line(
    ledger: Ledger, tmp_path: Path, text: str, category: str | None
) -> None:
    rows = [("item", "annotator", "winner"), ("i1", "ann", "tie"), ("i2", "ann", text)]
    file = write_file(tmp_path / "answers.csv", rows)
    if category is None:
        with pytest.raises(Refused, match=r"answers.csv, line 3: '.*' is none of"):
            ledger.import_file(file, "p", options=PREFERENCE)
    else:
        ledger.import_file(file, "p", options=PREFERENCE)
        assert standing(ledger)[1][2] == category


def test_what_the_user_says_goes_first(ledger: Ledger, tmp_path: Path) -> None:
    rows = [("item", "annotator", "winner", "first", "second"), ("i1", "ann", "1", "x", "y")]
    file = write_file(tmp_path / "answers.csv", rows)
    how: Any = {"values": ["1=b"], "columns": ["a=first", "b=second"]}
    ledger.import_file(file, "p", options=PREFERENCE, **how)
    assert standing(ledger) == [("i1", "ann", "b")]
    assert attributes(ledger)["i1"] == {"a": "x", "b": "y"}


def test_another_question_takes_the_same_words_as_they_are(ledger: Ledger, tmp_path: Path) -> None:
    rows = [("item", "annotator", "category", "model_a"), ("i1", "ann", "left", "x")]
    ledger.import_file(write_file(tmp_path / "answers.csv", rows), "p")
    assert standing(ledger) == [("i1", "ann", "left")]


def test_items_are_registered_with_what_they_compare(ledger: Ledger, tmp_path: Path) -> None:
    ledger.projects.create("p", answers="preference")
    rows = [("prompt_id", "model_a", "model_b"), ("q1", "x", "y")]
    ledger.import_items(write_file(tmp_path / "items.csv", rows), "p")
    rows = [("item", "annotator", "category"), ("q1/x/y", "ann", "a")]
    ledger.import_file(write_file(tmp_path / "answers.csv", rows), "p")
    assert attributes(ledger) == {"q1/x/y": {"a": "x", "b": "y", "prompt": "q1"}}


def test_labels_that_are_exported_are_imported_as_the_same_question(
    ledger: Ledger, tmp_path: Path
) -> None:
    ledger.import_file(saved(tmp_path, "csv"), "p", options=PREFERENCE)
    keywords: Any = ledger.projects.import_keywords("p")
    with ledger.labels("p") as (names, rows):
        file = write_file(tmp_path / "labels.csv", [names, *rows])
    ledger.import_file(file, "q", **keywords)
    assert standing(ledger, "q") == standing(ledger)
    assert ledger.strengths("q").beats == ledger.strengths("p").beats


def test_a_category_of_a_preference_is_on_one_side_or_a_tie(ledger: Ledger) -> None:
    with pytest.raises(InvalidOption, match="says neither that a or b is better"):
        ledger.projects.create("p", answers="preference", categories=["a", "perhaps"])
    made = ledger.projects.create("p", answers="preference")
    assert made.to_dict()["answers"] == "preference"
    ledger.projects.create(
        "graded", answers="preference", categories=["a>>b", "a>b", "tie", "b>a", "b>>a"]
    )
    assert ledger.projects.show("graded").question.scale == "ordinal"
    with pytest.raises(InvalidOption, match="says neither that a or b is better"):
        ledger.projects.set("p", categories=["a", "tie", "b", "perhaps"])
