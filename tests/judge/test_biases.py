"""What is said of a judge: planted biases, its verdict in words, versions in their order."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.filled import FillOnce
from tests.judge.faces import VERDICTS, fill_judges
from tests.profiles import both
from tracker.judge import words
from tracker.judge.biases import family_of
from tracker.judge.plot import in_order
from tracker.judge.result import JudgeBias
from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions

_numbers = count(1)
PEOPLE = ("ann", "bob", "cat")


def biases(
    ledger: Ledger,
    answer: Any,
    *,
    items: int = 400,
    categories: tuple[str, ...] = ("x", "y", "z"),
    attributes: dict[str, tuple[str, ...]] | None = None,
    scale: str = "nominal",
) -> list[JudgeBias]:
    """The biases of a judge whose answer is a function of a person's one, and of the item."""
    draw = np.random.default_rng(1)
    attributes = attributes or {"source": ("web", "mail")}
    rows = []
    for n in range(items):
        item: dict[str, Any] = {
            name: values[int(draw.integers(len(values)))] for name, values in attributes.items()
        }
        truth = int(draw.integers(len(categories)))

        def given(truth: int = truth) -> int:
            return truth if draw.random() < 0.85 else int(draw.integers(len(categories)))

        own = {name: categories[given()] for name in PEOPLE}
        own["gpt-4o"] = answer(draw, categories[given()], item)
        rows += [
            {"item": f"i{n}", "annotator": name, "category": category, **item,
             "kind": "model" if name == "gpt-4o" else "human"}
            for name, category in own.items()
        ]  # fmt: skip
    project = f"p{next(_numbers)}"
    ledger.import_frame(
        pd.DataFrame(rows), project, keep=[*attributes], options=QuestionOptions(scale=scale)
    )
    (judge,) = ledger.judges.judge(project).judges
    return [*judge.biases]


MODELS = {"model": ("gpt-4", "claude-3", "llama-3")}


@both
def test_a_category_and_a_slice_that_are_judged_otherwise_are_reported(ledger: Ledger) -> None:
    """Of a judge that answers like people nothing is."""
    assert biases(ledger, lambda draw, own, item: own) == []
    first, *_ = biases(ledger, lambda draw, own, item: "x" if draw.random() < 0.3 else own)
    assert (first.kind, first.category, first.slice) == ("category", "x", None)
    assert first.observed > first.expected + 0.1
    assert "more often than people" in first.why

    def answer(draw: np.random.Generator, own: str, item: dict[str, str]) -> str:
        wrong = item["source"] == "mail" and draw.random() < 0.5
        return str(draw.choice(["x", "y", "z"])) if wrong else own

    (bias,) = biases(ledger, answer, items=600)
    assert (bias.kind, bias.slice) == ("slice", "source=mail")
    assert bias.observed < bias.expected - 0.1


def test_a_preference_for_its_own_outputs_is_reported_as_such(ledger: Ledger) -> None:
    def answer(draw: np.random.Generator, own: str, item: dict[str, str]) -> str:
        return "good" if item["model"] == "gpt-4" and draw.random() < 0.5 else own

    every = biases(ledger, answer, categories=("bad", "good"), attributes=MODELS, items=600)
    own = next(bias for bias in every if bias.kind == "self_preference")
    assert (own.category, own.slice) == ("good", "model=gpt-4")
    assert "its own outputs" in own.why
    assert not [bias for bias in every if bias.slice in {"model=claude-3", "model=llama-3"}]


def test_on_numbers_a_bias_is_how_much_higher_it_scores(ledger: Ledger) -> None:
    def answer(_: np.random.Generator, own: str, item: dict[str, str]) -> str:
        return str(int(own) + 1 if item["model"] == "gpt-4" else int(own))

    numbers = ("1", "2", "3", "4")
    every = biases(ledger, answer, categories=numbers, scale="interval", attributes=MODELS)
    kinds = {bias.kind: bias for bias in every}
    assert kinds["self_preference"].observed == pytest.approx(1, abs=0.2)
    assert kinds["severity"].observed == pytest.approx(1 / 3, abs=0.15)


def test_the_family_of_a_model_is_the_word_that_its_name_begins_with() -> None:
    names = {"gpt-4o-mini": "gpt", "GPT4": "gpt", "claude-3.5": "claude", "7b": "7b"}
    assert {name: family_of(name) for name in names} == names


def test_each_verdict_says_what_is_sure_and_what_to_do(
    sqlite_ledger: Ledger, fill_once: FillOnce
) -> None:
    ledger = fill_once(sqlite_ledger, fill_judges)
    result = ledger.judges.judge("judged")
    by_name = {judge.model: judge.to_dict() for judge in result.judges}
    assert {name: words.verdict_title(judge) for name, judge in by_name.items()} == VERDICTS
    good, poor, few = by_name["good"], by_name["poor"], by_name["few"]
    assert "surely no more than 0.05 below" in words.verdict_sentence(good)
    assert "Its answers may be used" in words.next_step(good)
    doubted = {**good, "reservations": ["people agree too little"]}
    assert "only as good as they are" in words.next_step(doubted)
    assert "surely more than 0.05 below" in words.verdict_sentence(poor)
    worst = poor["confusion"][0]
    assert f"“{worst['given']}” where the label is “{worst['truth']}”" in words.next_step(poor)
    assert "not sure yet" in words.verdict_sentence(few)
    assert "those left in the project would not settle it" in words.next_step(few)
    wanting = {**few, "more": 12}
    assert words.next_step(wanting) == "Have two people or more answer about 12 more items."
    assert "ann, bob and cat (3 of 3 people tested)" in words.stand_in_sentence(good)
    assert "does not pass" in words.stand_in_sentence(poor)
    (better,) = words.better_sentences([row.to_dict() for row in result.compared])
    assert better.startswith("good is surely better than ")
    (judge,) = ledger.judges.judge("judged", models=["good"], annotators=["ann"]).judges
    alone = judge.to_dict()
    assert "Nothing can be said of good yet" in words.verdict_sentence(alone)
    assert "Nobody can say yet" in words.stand_in_sentence(alone)


def test_a_confidence_is_wrong_only_if_that_is_sure() -> None:
    def said(sure: float, right: float, answers: int) -> str:
        return words.confidence_sentence(
            {"confidence": sure, "accuracy": right, "answers": answers}
        )

    assert "too sure" in said(0.9, 0.7, 400)
    assert "right more often than it says" in said(0.7, 0.9, 400)
    assert "no difference that could not be chance" in said(0.9, 0.85, 20)
    assert "90% sure on average" in said(0.9, 0.7, 400)


@given(st.permutations([*range(1, 15)]))
def test_versions_are_in_the_order_of_their_numbers(numbers: list[int]) -> None:
    listed = [
        {"question": "q", "model": f"m{n}", "attributes": {"family": "m", "version": f"v{n}"}}
        for n in numbers
    ]
    ordered = in_order([{"question": "q", "model": "a"}, *listed])
    assert [judge["model"] for judge in ordered] == [*(f"m{n}" for n in range(1, 15)), "a"]
