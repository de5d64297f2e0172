"""Strengths, swaps and positions of a question's answers, through the ledger."""

import math
from random import Random
from typing import Any

import pandas as pd
import pytest

from tests.profiles import both, on_sqlite
from tracker.core.errors import InvalidOption
from tracker.ledger import Ledger
from tracker.ledger.imports import QuestionOptions

TRUE = {"ada": 0.9, "bert": 0.3, "cleo": -0.3, "dan": -0.9}
HEADER = ["item", "annotator", "kind", "category", "a", "b", "prompt"]
PREFERENCE = QuestionOptions(answers="preference")


def drawn(seed: int = 3, *, items: int = 120, first: float = 1.0) -> list[tuple[Any, ...]]:
    """Answers of three people and a model, every third comparison in both orders.

    The third person prefers what is shown first.
    """
    random = Random(seed)  # noqa: S311
    rows: list[tuple[Any, ...]] = []
    for number in range(items):
        one, other = random.sample(sorted(TRUE), 2)
        for a, b in ((one, other), (other, one))[: 2 if number % 3 == 0 else 1]:
            for name in ("ann", "bob", "first", "gpt"):
                gap = TRUE[a] - TRUE[b] + first * (name == "first")
                weights = [math.exp(gap / 2), 0.5, math.exp(-gap / 2)]
                answer = random.choices(("a", "tie", "b"), weights)[0]
                kind = "model" if name == "gpt" else "human"
                rows.append((f"{number}/{a}/{b}", name, kind, answer, a, b, f"prompt {number}"))
    return rows


def preferences(rows: Any) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=HEADER[: len(rows[0])])


def load(ledger: Ledger, rows: Any, project: str = "p", **how: Any) -> None:
    ledger.import_frame(preferences(rows), project, **({"options": PREFERENCE} | how))


@both
def test_strengths_are_counted_as_in_a_plain_count(ledger):
    rows = drawn(items=60)
    load(ledger, rows)
    result = ledger.strengths("p")
    people = [row for row in rows if row[1] != "gpt"]
    assert result.answers == len(people)
    assert result.items == len({row[0] for row in people})
    for beats in result.beats:
        sides = {"better": 0, "ties": 0, "worse": 0}
        for _, _, _, answer, a, b, _ in people:
            if {a, b} == {beats.name, beats.other}:
                better = {"a": a, "b": b}.get(answer)
                sides["better" if better == beats.name else "worse" if better else "ties"] += 1
        assert vars(beats) | sides == vars(beats)
    answers = {(row[0], row[1]): row for row in rows}
    for swap in result.swaps:
        pairs = same = 0
        for (item, name), row in answers.items():
            number, a, b = item.split("/")
            other = answers.get((f"{number}/{b}/{a}", name))
            if name == swap.annotator and a < b and other is not None:
                pairs += 1
                same += {row[3], other[3]} in ({"a", "b"}, {"tie"})
        assert (swap.pairs, swap.same) == (pairs, same)
    (model,) = result.leaderboards
    alike = [answers[item, "gpt"][3] == answers[item, name][3]
             for item, name in answers if name != "gpt"]  # fmt: skip
    assert (model.pairs, model.agreement) == (len(alike), pytest.approx(sum(alike) / len(alike)))


def test_planted_strengths_and_position_are_found(ledger):
    load(ledger, drawn(items=200))
    result = ledger.strengths("p").to_dict()
    assert [row["name"] for row in result["strengths"]] == list(TRUE)
    for place, row in enumerate(result["strengths"], 1):
        assert row["ci_low"] <= TRUE[row["name"]] <= row["ci_high"]
        assert row["rank_low"] <= place <= row["rank_high"]
    assert sum(row["strength"] for row in result["strengths"]) == pytest.approx(0, abs=1e-9)
    assert result["position"][0]["annotator"] == "first"
    assert result["position"][0]["p_value"] < 0.001
    assert result["swaps"][0]["annotator"] == "first"
    assert result["order_effect"]["ci_low"] > 0


@on_sqlite
def test_grades_count_in_agreement_and_not_in_strengths(ledger):
    """The sides of -3…3, on an ordinal scale, are those of a, tie and b."""
    steps = {"a": ("-3", "-1"), "tie": ("0",), "b": ("1", "2")}
    rows = drawn(items=30)
    load(ledger, rows)
    grades = [(*row[:3], steps[row[3]][n % len(steps[row[3]])], *row[4:])
              for n, row in enumerate(rows)]  # fmt: skip
    graded = QuestionOptions(answers="preference", categories=[str(n) for n in range(-3, 4)])
    load(ledger, grades, "graded", options=graded)
    assert ledger.strengths("graded").strengths == ledger.strengths("p").strengths
    assert ledger.agreement("graded").to_dict()["scale"] == "ordinal"


def test_sides_follow_merges_and_renames(ledger):
    load(ledger, drawn(items=40))
    before = ledger.strengths("p")
    ledger.categories.rename("p", "a", "left")
    assert ledger.strengths("p") == before
    ledger.categories.merge("p", "tie", "left")
    merged = ledger.strengths("p")
    assert merged.tie is None
    assert sum(row.ties for row in merged.beats) == 0
    assert merged.answers == before.answers


def test_answers_without_strengths(ledger):
    load(ledger, [("i1", "ann", "human", "a", "x", "y")])
    result = ledger.strengths("p").to_dict()
    assert result["undefined"] == "one_sided"
    assert result["why"] == "x were never worse than y, nor alike"
    assert [row["strength"] for row in result["strengths"]] == [None, None]
    rows = [("i2", "ann", "human", "b", "x", "y"), ("i3", "ann", "human", "b", "", "")]
    load(ledger, rows)
    result = ledger.strengths("p")
    assert (result.answers, result.without_names, result.undefined) == (2, 1, None)
    ledger.projects.create("q")
    with pytest.raises(InvalidOption, match="does not ask which of two is better"):
        ledger.strengths("q")
