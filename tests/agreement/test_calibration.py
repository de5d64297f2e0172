"""Confidences against gold and against the majority of the others, counted again in plain code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pytest

from tests.helpers import SEVERAL, SPANS, count_statements
from tests.questions import answer_question
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


def drawn_sets(seed: int) -> dict[tuple[str, str], tuple[str, float | None]]:
    """Answers of several categories, written in any order; some say that none applies."""
    random = Random(seed)  # noqa: S311
    return {
        key: ("|".join(random.sample("xyz", random.choice([0, 1, 1, 2, 2]))), confidence)
        for key, (_, confidence) in drawn(seed).items()
    }


def sets(answers: Answers) -> dict[tuple[str, str], tuple[str, float | None]]:
    return {key: (in_order(label), confidence) for key, (label, confidence) in answers.items()}


def in_order(label: str) -> str:
    return "|".join(sorted(filter(None, label.split("|"))))


def load_sets(ledger: Ledger, answers: Answers, gold: Mapping[str, str] | None = None) -> None:
    rows = [
        (item, who, category, confidence, "model" if who == "gpt" else "human")
        for (item, who), (label, confidence) in answers.items()
        for category in label.split("|")
    ]
    rows += [
        (i, "g", one, None, "reference") for i, t in (gold or {}).items() for one in t.split("|")
    ]
    columns = ["item", "annotator", "label", "confidence", "kind"]
    ledger.import_frame(pd.DataFrame(rows, columns=columns), "p", options=SEVERAL)


def test_of_several_categories_all_must_be_right(ledger: Ledger) -> None:
    answers = drawn_sets(4)
    load_sets(ledger, answers)
    assert told(ledger) == plain(sets(answers))


def test_of_several_categories_all_must_be_those_of_gold(ledger: Ledger) -> None:
    answers, random = drawn_sets(5), Random(6)  # noqa: S311
    gold = {f"i{n:02}": "|".join(random.sample("xyz", random.choice([0, 1, 2]))) for n in range(50)}
    load_sets(ledger, answers, gold)
    expected = {item: in_order(truth) for item, truth in gold.items()}
    assert told(ledger) == plain(sets(answers), expected)


def test_question_by_question(ledger: Ledger, write: Callable[..., Path]) -> None:
    """Each as if it had a project of its own; the worst calibrated first, the unfit last."""
    spans = "item,annotator,label,start,end\n1,ann,x,0,1"
    answer_question(ledger, write("item,annotator,label\n1,ann,x"))
    for name, seed in (("one", 7), ("two", 8)):
        rows = [(item, who, *said) for (item, who), said in drawn(seed).items()]
        lines = [",".join(map(str, ("" if cell is None else cell for cell in row))) for row in rows]
        content = "\n".join(["item,annotator,label,confidence", *lines])
        answer_question(ledger, write(content), name)
        answer_question(ledger, write(content), project=name)
    answer_question(ledger, write(spans), "where", options=SPANS)
    shown = ledger.calibration_by_question("p").to_dict()
    found = shown["questions"]
    errors = [one["pooled"]["expected_calibration_error"] for one in found[:2]]
    assert errors == sorted(errors, reverse=True)
    for one in found[:2]:
        alone = ledger.calibration(one["question"]).to_dict()
        assert one == {**alone, "question": one["question"], "project": "p"}
    assert [one["question"] for one in found[2:]] == ["label", "where"]
    assert [one["undefined"] for one in found[2:]] == ["not_applicable"] * 2
    assert found[3]["why"].startswith("spans have no calibration")
    assert found[2]["why"] == "no answer has a confidence"
    (only,) = ledger.calibration_by_question("p", questions=["two"]).questions
    assert only == "two"
    with pytest.raises(InvalidOption, match="no answer has a confidence"):
        ledger.calibration_by_question("p", questions=["label", "where"])


def test_statements_do_not_depend_on_the_answers(
    sqlite_ledger: Ledger, write: Callable[..., Path]
) -> None:
    def statements(items: int) -> int:
        rows = [f"{n},{who},{n % 3},0.5" for n in range(items) for who in ("ann", "bob", "cat")]
        content = "\n".join(["item,annotator,label,confidence", *rows])
        answer_question(sqlite_ledger, write(content), "tone")
        with count_statements(sqlite_ledger.database.engine) as counted:
            sqlite_ledger.calibration_by_question("p")
        return counted.number

    assert statements(40) == statements(4)


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
    with pytest.raises(InvalidOption, match="no answer has a confidence"):
        sqlite_ledger.calibration("p")
    with pytest.raises(InvalidOption, match="--calibration does not depend on --weights"):
        sqlite_ledger.calibration("p", weights="linear")
    load(sqlite_ledger, {("j", "ann"): ("x", 0.5)})
    assert sqlite_ledger.calibration("p").to_dict()["pooled"]["answers"] == 0
    frame = pd.DataFrame(
        [("i", "ann", "x", 0, 1)], columns=["item", "annotator", "label", "start", "end"]
    )
    sqlite_ledger.import_frame(frame, "q", options=SPANS)
    with pytest.raises(InvalidOption, match="spans have no calibration"):
        sqlite_ledger.calibration("q")
