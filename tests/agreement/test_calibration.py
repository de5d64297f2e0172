"""Confidences against gold and against the majority of the others, counted again in plain code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from random import Random
from typing import Any

import pandas as pd
import pytest

from tests.helpers import SEVERAL
from tracker.core.errors import InvalidOption
from tracker.ledger import Ledger

PEOPLE = ("ann", "bob", "cat", "gpt")
Answers = Mapping[tuple[str, str], tuple[str, float | None]]
"""Answers with their confidences, by item and annotator."""


def drawn(seed: int = 1) -> dict[tuple[str, str], tuple[str, float | None]]:
    random = Random(seed)  # noqa: S311 - no secret is made with it
    return {
        (f"i{n:02}", who): (
            random.choice("xyz"),
            random.choice([None, 0.0, 0.1, 0.3, 0.35, 0.7, 0.95, 1.0]),
        )
        for n in range(60)
        for who in PEOPLE
        if random.random() < 0.8
    }


def load(ledger: Ledger, answers: Answers, gold: Mapping[str, str] | None = None) -> None:
    rows = [
        (item, who, label, confidence, "model" if who == "gpt" else "human")
        for (item, who), (label, confidence) in answers.items()
    ]
    columns = ["item", "annotator", "label", "confidence", "kind"]
    frame = pd.DataFrame(rows, columns=columns)
    if gold:
        frame["gold"] = frame["item"].map(gold)
    ledger.import_frame(frame, "p")


def plain(answers: Answers, gold: Mapping[str, str] | None = None) -> dict[str, dict[str, Any]]:
    """The number of answers, and the Brier score, of each annotator."""
    losses: dict[str, list[float]] = {}
    for (item, who), (label, confidence) in answers.items():
        if confidence is None:
            continue
        truth = gold.get(item) if gold else None
        if gold is None:
            votes = Counter(
                other
                for (i, w), (other, _) in answers.items()
                if i == item and w not in {who, "gpt"}
            )
            ranked = votes.most_common(2)
            if ranked and (len(ranked) == 1 or ranked[0][1] > ranked[1][1]):
                truth = ranked[0][0]
        if truth is not None:
            losses.setdefault(who, []).append((confidence - (label == truth)) ** 2)
    return {
        who: {"answers": len(held), "brier_score": pytest.approx(sum(held) / len(held))}
        for who, held in losses.items()
    }


def told(ledger: Ledger, **asking: Any) -> dict[str, dict[str, Any]]:
    found = ledger.calibration("p", **asking).to_dict()
    return {
        one["annotator"]: {key: one[key] for key in ("answers", "brier_score")}
        for one in found["annotators"]
    }


def test_against_the_majority_of_the_others(ledger: Ledger) -> None:
    answers = drawn()
    load(ledger, answers)
    found = ledger.calibration("p")
    assert found.against == "majority"
    assert told(ledger) == plain(answers)
    assert found.pooled.answers == sum(one["answers"] for one in plain(answers).values())


def test_against_gold(ledger: Ledger) -> None:
    answers = drawn(2)
    random = Random(3)  # noqa: S311
    gold = {f"i{n:02}": random.choice("xyz") for n in range(0, 60, 2)}
    load(ledger, answers, gold)
    assert ledger.calibration("p").against == "gold"
    assert told(ledger) == plain(answers, gold)


def test_a_choice_of_annotators_leaves_the_others_votes(ledger: Ledger) -> None:
    answers = drawn()
    load(ledger, answers)
    assert told(ledger, annotators="gpt") == {"gpt": plain(answers)["gpt"]}
    without = {key: value for key, value in answers.items() if key[1] != "cat"}
    assert told(ledger, exclude_annotators="cat") == plain(without)


def test_more_than_fifteen_answers_to_an_item(sqlite_ledger: Ledger) -> None:
    answers = {("i", f"a{n}"): ("x" if n < 12 else "y", 0.5) for n in range(20)}
    load(sqlite_ledger, answers)
    assert told(sqlite_ledger) == plain(answers)


def test_undone_answers_do_not_count(ledger: Ledger) -> None:
    answers = drawn()
    load(ledger, answers)
    later = {("i00", "ann"): ("z", 0.95)}
    load(ledger, later)
    assert told(ledger) == plain({**answers, **later})
    ledger.imports.undo(2)
    assert told(ledger) == plain(answers)


def test_what_cannot_be_compared(sqlite_ledger: Ledger) -> None:
    load(sqlite_ledger, {("i", "ann"): ("x", None)})
    with pytest.raises(InvalidOption, match="no answer of 'p' has a confidence"):
        sqlite_ledger.calibration("p")
    with pytest.raises(InvalidOption, match="--calibration does not depend on --weights"):
        sqlite_ledger.calibration("p", weights="linear")
    load(sqlite_ledger, {("j", "ann"): ("x", 0.5)})
    assert sqlite_ledger.calibration("p").to_dict()["pooled"]["answers"] == 0
    frame = pd.DataFrame([("i", "ann", "x")], columns=["item", "annotator", "label"])
    sqlite_ledger.import_frame(frame, "q", options=SEVERAL)
    with pytest.raises(InvalidOption, match="one category per answer"):
        sqlite_ledger.calibration("q")
