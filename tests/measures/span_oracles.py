"""The span cases of tests/data/oracles, what they must give, and a matching by brute force."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from typing import Any

from tests.measures.oracles import FOLDER
from tracker.measures.spans.overlap import Interval

EXPECTED: dict[str, Any] = json.loads((FOLDER / "spans_expected.json").read_text())["cases"]
CASES = sorted(EXPECTED)
ORACLE_NAMES = {
    "span_f1_exact": "exact_span_label", "span_f1_unlabelled": "exact_span_unlabelled",
    "span_f1_overlap": "overlap_same_label_max_matching", "token_f1": "token_label",
    "token_f1_unlabelled": "token_unlabelled",
}  # fmt: skip
Answers = dict[str, list[tuple[str, int, int]]]


def _read(name: str) -> list[dict[str, str]]:
    with (FOLDER / "spans" / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def documents(case: str) -> Iterator[tuple[str, int, Answers]]:
    """The name, the length and the answers of each document, empty where nothing was marked."""
    spans = _read(case)
    for row in _read("documents"):
        if row["case"] == case:
            answers: Answers = {name: [] for name in row["seen_by"].split("|")}
            for span in spans:
                if span["doc"] == row["doc"]:
                    place = (span["label"], int(span["start"]), int(span["end"]))
                    answers[span["annotator"]].append(place)
            yield row["doc"], int(row["n_tokens"]), answers


def rows(case: str) -> list[tuple[object, ...]]:
    """The case as a file to import: seen and nothing marked is a row without a category."""
    lines: list[tuple[object, ...]] = [("doc", "annotator", "category", "start", "end", "n_tokens")]
    for document, length, answers in documents(case):
        for name, spans in answers.items():
            lines += [(document, name, *span, length) for span in spans or [(None, None, None)]]
    return lines


def best_by_trying(first: list[Interval], second: list[Interval]) -> int:
    """The largest matching: every interval of the first side is left out or given a partner."""
    if not first:
        return 0
    (start, end), rest = first[0], first[1:]
    best = best_by_trying(rest, second)
    for n, (other_start, other_end) in enumerate(second):
        if start < other_end and other_start < end:
            best = max(best, 1 + best_by_trying(rest, second[:n] + second[n + 1 :]))
    return best
