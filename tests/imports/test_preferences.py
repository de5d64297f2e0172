"""Tables of preferences as published sets and people have them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from tests.helpers import standing, write_file
from tests.imports.tables import HEADER, refuse, stands
from tracker.core.errors import InvalidOption
from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions

PREFERENCE = QuestionOptions(answers="preference")
NAMES = ("question_id", "model_a", "model_b", "winner", "judge", "turn")
BENCH = [
    dict(zip(NAMES, row, strict=True))
    for row in (
        (81, "alpaca", "claude", "model_b", "expert_1", 1),
        (81, "alpaca", "claude", "tie", "expert_1", 2),
        (82, "claude", "alpaca", "claude", "gpt-4", 1),
        (83, "claude", "alpaca", "tie (bothbad)", "expert_2", 1),
    )
]


def attributes(ledger: Ledger, project: str = "p") -> dict[str, dict[str, str]]:
    with ledger.labels(project) as (names, rows):
        kept = [name for name in names if name.startswith("attribute:")]
        table = [dict(zip(names, row, strict=True)) for row in rows]
    return {row["item"]: {name.partition(":")[2]: row[name] for name in kept} for row in table}


def saved(folder: Path, form: str) -> Path:
    file = folder / f"bench.{form}"
    if form == "csv":
        return write_file(file, [NAMES, *(row.values() for row in BENCH)])
    if form == "jsonl":
        return write_file(file, "\n".join(map(json.dumps, BENCH)))
    pyarrow.parquet.write_table(pa.Table.from_pylist(BENCH), file)
    return file


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_judgments_about_two_models(ledger, tmp_path, form):
    result = ledger.import_file(saved(tmp_path, form), "p", options=PREFERENCE)
    assert stands(ledger) == (
        "81/alpaca/claude/1 expert_1 b; 81/alpaca/claude/2 expert_1 tie; "
        "82/claude/alpaca/1 gpt-4 a; 83/claude/alpaca/1 expert_2 tie"
    )
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
    # Exported labels are imported as the same question.
    keywords: Any = ledger.projects.import_keywords("p")
    with ledger.labels("p") as (names, rows):
        file = write_file(tmp_path / "labels.csv", [names, *rows])
    ledger.import_file(file, "q", **keywords)
    assert standing(ledger, "q") == standing(ledger)
    assert ledger.strengths("q").beats == ledger.strengths("p").beats


def test_numbers_say_how_much_better_the_second_is(ledger, write):
    header = ("prompt_id", "response1", "response2", "overall_preference", "annotator")
    answers = (("p1", -3), ("p2", 1), ("p3", 0))
    file = write([header, *((item, "one", "two", number, "ann") for item, number in answers)])
    ledger.import_file(file, "p", options=PREFERENCE)
    assert stands(ledger, "p", "category") == "a; b; tie"
    scale = ("-3", "-2", "-1", "0", "1", "2", "3")
    graded = QuestionOptions(answers="preference", categories=scale)
    ledger.import_file(file, "graded", options=graded)
    assert stands(ledger, "graded", "item category") == "p1 -3; p2 1; p3 0"
    assert attributes(ledger)["p1"]["response_a"] == "one"


WORDS = {
    "A": "a", "[[B]]": "b", "left": "a", "Model B": "b", "assistant_1": "a", "A>>B": "a",
    "b > a": "b", "both": "tie", "both_bad": "tie", "Draw": "tie", "1": "a", "2": "b",
    "response 2 is slightly better": "b",
}  # fmt: skip


def test_words_of_people_are_understood_or_refused_with_their_line(ledger, write):
    header = ("item", "annotator", "winner")
    for n, (text, category) in enumerate(WORDS.items()):
        file = write([header, ("i1", "ann", "tie"), ("i2", "ann", text)])
        ledger.import_file(file, f"p{n}", options=PREFERENCE)
        assert stands(ledger, f"p{n}", "item category") == f"i1 tie; i2 {category}"
    for text in ("banana", "0", "-1", "3", "a > a", "a is worse"):
        file = write([header, ("i1", "ann", "tie"), ("i2", "ann", text)], "answers.csv")
        refuse(ledger, file, f"answers.csv, line 3: '{text}' is none of", options=PREFERENCE)


def test_mapped_columns_and_values_go_first(ledger, write):
    rows = [("item", "annotator", "winner", "first", "second"), ("i1", "ann", "1", "x", "y")]
    how: Any = {"values": ["1=b"], "columns": ["a=first", "b=second"]}
    ledger.import_file(write(rows), "p", options=PREFERENCE, **how)
    assert stands(ledger) == "i1 ann b"
    assert attributes(ledger)["i1"] == {"a": "x", "b": "y"}


def test_items_are_registered_with_what_they_compare(ledger, write):
    ledger.projects.create("p", answers="preference")
    ledger.import_items(write([("prompt_id", "model_a", "model_b"), ("q1", "x", "y")]), "p")
    ledger.import_file(write(f"{HEADER}q1/x/y,ann,a"), "p")
    assert attributes(ledger) == {"q1/x/y": {"a": "x", "b": "y", "prompt": "q1"}}


def test_a_category_of_a_preference_is_a_side_or_a_tie(ledger):
    create = ledger.projects.create
    neither = "says neither that a or b is better"
    with pytest.raises(InvalidOption, match=neither):
        create("p", answers="preference", categories=["a", "perhaps"])
    assert create("p", answers="preference").to_dict()["answers"] == "preference"
    create("graded", answers="preference", categories=["a>>b", "a>b", "tie", "b>a", "b>>a"])
    assert ledger.projects.show("graded").question.scale == "ordinal"
    with pytest.raises(InvalidOption, match=neither):
        ledger.projects.set("p", categories=["a", "tie", "b", "perhaps"])
