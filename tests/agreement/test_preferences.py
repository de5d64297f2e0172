"""Strengths, swaps and positions of a question's answers, through the ledger."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.helpers import count_statements, write_file
from tests.profiles import both
from tracker.core.errors import InvalidOption
from tracker.ledger import Ledger
from tracker.ledger.imports import QuestionOptions

TRUE = {"ada": 0.9, "bert": 0.3, "cleo": -0.3, "dan": -0.9}
HEADER = ("item", "annotator", "kind", "category", "a", "b", "prompt")
PREFERENCE = QuestionOptions(answers="preference")


def drawn(seed: int = 3, *, items: int = 120, first: float = 1.0) -> list[tuple[Any, ...]]:
    """Answers of three people and a model, every third comparison in both orders.

    The third person prefers what is shown first.
    """
    random = Random(seed)  # noqa: S311
    rows = []
    for number in range(items):
        one, other = random.sample(sorted(TRUE), 2)
        for a, b in ((one, other), (other, one))[: 2 if number % 3 == 0 else 1]:
            for who in ("ann", "bob", "first", "gpt"):
                gap = TRUE[a] - TRUE[b] + first * (who == "first")
                weights = [math.exp(gap / 2), 0.5, math.exp(-gap / 2)]
                answer = random.choices(("a", "tie", "b"), weights)[0]
                kind = "model" if who == "gpt" else "human"
                rows.append((f"{number}/{a}/{b}", who, kind, answer, a, b, f"prompt {number}"))
    return rows


def load(ledger: Ledger, folder: Path, rows: Sequence[Sequence[Any]], **how: Any) -> None:
    file = write_file(folder / "answers.csv", [HEADER[: len(rows[0])], *rows])
    how = {"options": PREFERENCE, **how}
    ledger.import_file(file, "p", **how)


@both
def test_what_the_ledger_counts_is_what_a_plain_count_has(ledger, tmp_path):
    rows = drawn()
    load(ledger, tmp_path, rows)
    found = ledger.strengths("p")
    people = [row for row in rows if row[1] != "gpt"]
    assert found.answers == len(people)
    assert found.items == len({row[0] for row in people})
    for beats in found.beats:
        sides = {"better": 0, "ties": 0, "worse": 0}
        for _, _, _, answer, a, b, _ in people:
            if {a, b} == {beats.name, beats.other}:
                better = {"a": a, "b": b}.get(answer)
                sides["ties" if better is None else
                      "better" if better == beats.name else "worse"] += 1  # fmt: skip
        assert vars(beats) | sides == vars(beats)
    answers = {(row[0], row[1]): row for row in rows}
    for swap in found.swaps:
        pairs = same = 0
        for (item, who), row in answers.items():
            number, a, b = item.split("/")
            other = answers.get((f"{number}/{b}/{a}", who))
            if who == swap.annotator and a < b and other is not None:
                pairs += 1
                same += {row[3], other[3]} in ({"a", "b"}, {"tie"})
        assert (swap.pairs, swap.same) == (pairs, same)
    (model,) = found.leaderboards
    alike = [answers[item, "gpt"][3] == answers[item, who][3]
             for item, who in answers if who != "gpt"]  # fmt: skip
    assert (model.pairs, model.agreement) == (len(alike), pytest.approx(sum(alike) / len(alike)))


def test_planted_strengths_and_position_are_found(ledger, tmp_path):
    load(ledger, tmp_path, drawn(items=200))
    found = ledger.strengths("p").to_dict()
    assert [row["name"] for row in found["strengths"]] == list(TRUE)
    for row in found["strengths"]:
        assert row.keys() == {"name", "strength", "ci_low", "ci_high", "rank_low", "rank_high"}
        assert row["ci_low"] <= TRUE[row["name"]] <= row["ci_high"]
        place = list(TRUE).index(row["name"]) + 1
        assert row["rank_low"] <= place <= row["rank_high"]
    assert sum(row["strength"] for row in found["strengths"]) == pytest.approx(0, abs=1e-9)
    assert found["position"][0]["annotator"] == "first"
    assert found["position"][0]["p_value"] < 0.001
    assert found["swaps"][0]["annotator"] == "first"
    assert found["order_effect"]["ci_low"] > 0
    (flag,) = [row for row in ledger.audit("p").to_dict()["annotators"] if row["flags"]]
    assert flag["annotator"] == "first"
    assert {one["kind"] for one in flag["flags"]} == {"position_bias"}


def test_the_number_of_statements_is_that_of_few_answers(ledger, tmp_path):
    load(ledger, tmp_path, drawn(items=6))
    with count_statements(ledger.database.engine) as few:
        ledger.strengths("p")
    load(ledger, tmp_path, drawn(4, items=80))
    with count_statements(ledger.database.engine) as many:
        ledger.strengths("p")
    assert few.number == many.number


def test_an_answer_about_two_without_names_is_in_no_strength(ledger, tmp_path):
    rows = [("i1", "ann", "human", "a", "x", "y"), ("i2", "ann", "human", "b", "x", "y"),
            ("i3", "ann", "human", "b", "", "")]  # fmt: skip
    load(ledger, tmp_path, rows)
    found = ledger.strengths("p")
    assert (found.answers, found.without_names, found.undefined) == (2, 1, None)


def test_why_there_are_no_strengths_is_said(ledger, tmp_path):
    load(ledger, tmp_path, [("i1", "ann", "human", "a", "x", "y")])
    found = ledger.strengths("p").to_dict()
    assert (found["undefined"], found["why"]) == (
        "one_sided", "x were never worse than y, nor alike"
    )  # fmt: skip
    assert [row["strength"] for row in found["strengths"]] == [None, None]


def test_how_much_better_counts_in_agreement_and_not_in_strengths(ledger, tmp_path):
    """The sides of -3…3, on an ordinal scale, are those of a, tie and b."""
    graded = QuestionOptions(answers="preference", categories=[str(n) for n in range(-3, 4)])
    steps = {"a": ("-3", "-1"), "tie": ("0",), "b": ("1", "2")}
    rows = drawn(items=60)
    load(ledger, tmp_path, rows)
    plain = ledger.strengths("p").strengths
    made = [(*row[:3], steps[row[3]][n % len(steps[row[3]])], *row[4:])
            for n, row in enumerate(rows)]  # fmt: skip
    file = write_file(tmp_path / "graded.csv", [HEADER, *made])
    ledger.import_file(file, "graded", options=graded)
    assert ledger.strengths("graded").strengths == plain
    assert ledger.agreement("graded").to_dict()["scale"] == "ordinal"


def test_sides_follow_merges_renames_and_undo(ledger, tmp_path):
    load(ledger, tmp_path, drawn(items=40))
    before = ledger.strengths("p")
    ledger.categories.rename("p", "a", "left")
    assert ledger.strengths("p") == before
    ledger.categories.merge("p", "tie", "left")
    merged = ledger.strengths("p")
    assert merged.tie is None
    assert sum(row.ties for row in merged.beats) == 0
    assert merged.answers == before.answers
    load(ledger, tmp_path, [("0/x/y", "ann", "human", "A", "x", "y")])
    assert "x" in {row.name for row in ledger.strengths("p").strengths}
    ledger.imports.undo(2)
    assert ledger.strengths("p") == merged


def test_another_question_has_no_strengths(ledger):
    ledger.projects.create("p")
    with pytest.raises(InvalidOption, match="does not ask which of two is better"):
        ledger.strengths("p")
