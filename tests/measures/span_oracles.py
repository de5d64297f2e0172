"""The span cases of tests/data/oracles, what they must give, and a matching by brute force."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.measures.oracles import FOLDER
from tracker.measures.spans.overlap import Interval

__all__ = [
    "CASES",
    "EXPECTED",
    "ORACLE_NAMES",
    "SpanDocument",
    "best_by_trying",
    "documents",
    "rows",
]

EXPECTED: dict[str, Any] = json.loads((FOLDER / "spans_expected.json").read_text())["cases"]
CASES = sorted(EXPECTED)
ORACLE_NAMES = {
    "span_f1_exact": "exact_span_label",
    "span_f1_unlabelled": "exact_span_unlabelled",
    "span_f1_overlap": "overlap_same_label_max_matching",
    "token_f1": "token_label",
    "token_f1_unlabelled": "token_unlabelled",
}


@dataclass(frozen=True)
class SpanDocument:
    name: str
    length: int
    answers: dict[str, list[tuple[str, int, int]]]  # of everyone who saw it


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def documents(case: str) -> Iterator[SpanDocument]:
    """The documents of a case, with an empty list for who saw one and marked nothing."""
    spans = _read(FOLDER / "spans" / f"{case}.csv")
    for row in _read(FOLDER / "spans" / "documents.csv"):
        if row["case"] == case:
            answers: dict[str, list[tuple[str, int, int]]] = {
                name: [] for name in row["seen_by"].split("|")
            }
            for span in spans:
                if span["doc"] == row["doc"]:
                    answers[span["annotator"]].append(
                        (span["label"], int(span["start"]), int(span["end"]))
                    )
            yield SpanDocument(row["doc"], int(row["n_tokens"]), answers)


def rows(case: str) -> list[tuple[object, ...]]:
    """The case as a file to import: seen and nothing marked is a row without a category."""
    told: list[tuple[object, ...]] = [("doc", "annotator", "category", "start", "end", "n_tokens")]
    for document in documents(case):
        for name, spans in document.answers.items():
            told += [(document.name, name, *span, document.length) for span in spans]
            if not spans:
                told.append((document.name, name, None, None, None, document.length))
    return told


def best_by_trying(first: list[Interval], second: list[Interval]) -> int:
    """The largest matching: every interval of the first side is left out or given a partner."""
    if not first:
        return 0
    (start, end), rest = first[0], first[1:]
    found = best_by_trying(rest, second)
    for n, (other_start, other_end) in enumerate(second):
        if start < other_end and other_start < end:
            found = max(found, 1 + best_by_trying(rest, second[:n] + second[n + 1 :]))
    return found
