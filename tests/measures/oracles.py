"""The cases of tests/data/oracles as tallies, with the figures they must give."""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tracker.tally import Answer, ItemPatterns, make_pattern

FOLDER = Path(__file__).parents[1] / "data" / "oracles"
EXPECTED: dict[str, Any] = json.loads((FOLDER / "expected.json").read_text())["cases"]
CASES = sorted(EXPECTED)


@dataclass(frozen=True)
class Case:
    name: str
    answers: dict[str, dict[str, Answer]]  # item -> annotator -> answer
    categories: dict[str, int]
    figures: dict[str, Any]
    recommended: dict[str, Any]

    @property
    def annotators(self) -> list[str]:
        return sorted({annotator for given in self.answers.values() for annotator in given})

    @property
    def patterns(self) -> ItemPatterns:
        return ItemPatterns(
            Counter(make_pattern(given.values()) for given in self.answers.values())
        )

    @property
    def table(self) -> dict[tuple[Answer, Answer], int]:
        """The cross-table of the first two annotators."""
        first, second = self.annotators[:2]
        return Counter(
            (given[first], given[second])
            for given in self.answers.values()
            if first in given and second in given
        )


def load(name: str) -> Case:
    expected = EXPECTED[name]
    names = list(expected.get("categories", []))
    answers: dict[str, dict[str, Answer]] = defaultdict(dict)
    with (FOLDER / expected["file"]).open(newline="") as rows:
        for row in csv.DictReader(rows):
            parts = row["category"].split("|") if expected["group"] == "multilabel" else None
            held = [row["category"]] if parts is None else [p for p in parts if p != "EMPTY"]
            names += [category for category in held if category not in names]
            answer = tuple(sorted(names.index(category) for category in held))
            answers[row["item"]][row["annotator"]] = answer
    categories = {category: index for index, category in enumerate(names)}
    return Case(
        name, answers, categories, expected["coefficients"], expected.get("recommended", {})
    )
