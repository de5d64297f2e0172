"""The cases of tests/data/oracles as tallies, with the figures they must give."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.measures.answered import Answered
from tracker.core.tallies import Answer

FOLDER = Path(__file__).parents[1] / "data" / "oracles"
EXPECTED: dict[str, Any] = json.loads((FOLDER / "expected.json").read_text())["cases"]
CASES = sorted(EXPECTED)
SETS = [name for name in CASES if EXPECTED[name]["group"] == "multilabel"]
SINGLE = [name for name in CASES if name not in SETS]


@dataclass(frozen=True)
class Case(Answered):
    """A case; annotators and categories are numbers in the order of their names."""

    name: str
    annotators: dict[str, int]
    categories: dict[str, int]

    @property
    def figures(self) -> dict[str, Any]:
        found: dict[str, Any] = EXPECTED[self.name]["coefficients"]
        return found

    @property
    def reading(self) -> dict[str, Any]:
        """The categories, their numbers where they have them, and whether answers are sets."""
        given = EXPECTED[self.name].get("values", {})
        return {
            "categories": list(self.categories.values()),
            "values": {self.categories[name]: float(value) for name, value in given.items()},
            "several": self.name in SETS,
        }


@cache
def load(name: str) -> Case:
    expected = EXPECTED[name]
    with (FOLDER / expected["file"]).open(newline="") as file:
        rows = list(csv.DictReader(file))
    held = {
        row["category"]: [one for one in row["category"].split("|") if one != "EMPTY"]
        if name in SETS
        else [row["category"]]
        for row in rows
    }
    categories = {category: n for n, category in enumerate(_declared(name, held))}
    annotators = {who: n for n, who in enumerate(sorted({row["annotator"] for row in rows}), 1)}
    answers: dict[str, dict[int, Answer]] = defaultdict(dict)
    for row in rows:
        answer = tuple(sorted(categories[one] for one in held[row["category"]]))
        answers[row["item"]][annotators[row["annotator"]]] = answer
    return Case(list(answers.values()), name, annotators, categories)


def _declared(name: str, held: dict[str, list[str]]) -> list[str]:
    """The categories in order; where their names are not given they are k000, k001, and so on."""
    expected = EXPECTED[name]
    if "categories" in expected:
        return list(expected["categories"])
    used = sorted({one for each in held.values() for one in each})
    if not expected.get("categories_declared_beyond_use"):
        return used
    declared = [f"k{number:03}" for number in range(expected["n_categories"])]
    assert set(used) <= set(declared)
    return declared


def figure(case: str, key: str) -> dict[str, Any]:
    found: dict[str, Any] = EXPECTED[case]["coefficients"][key]
    return found
