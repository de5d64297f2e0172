"""Answers in the forms that other programs take."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from nltk.metrics.agreement import AnnotationTask
from nltk.metrics.distance import binary_distance

from tests.measures.answered import Answered
from tracker.measures.spans.overlap import Span

__all__ = [
    "VALUES", "alpha_rows", "entities", "fleiss_counts", "nltk_task", "quietly",
    "square", "tags", "two_columns",
]  # fmt: skip

VALUES = {0: 0.0, 1: 1.0, 2: 2.5, 3: 6.0}  # of the categories, where they are numbers


@contextmanager
def quietly() -> Iterator[None]:
    """What peers warn of is no error of ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


# -- answers -------------------------------------------------------------------------------


def alpha_rows(answers: Answered, annotators: int) -> np.ndarray:
    """A row per annotator and a column per item, as krippendorff takes them."""
    rows = np.full((annotators, len(answers.given)), np.nan)
    for item, given in enumerate(answers.given):
        for who, (category,) in given.items():
            rows[who - 1, item] = VALUES[category]
    return rows


def fleiss_counts(answers: Answered, categories: int = 4) -> np.ndarray:
    """A row per item and a column per category, as statsmodels takes them."""
    counts = np.zeros((len(answers.given), categories), dtype=int)
    for item, given in enumerate(answers.given):
        for (category,) in given.values():
            counts[item, category] += 1
    return counts


def two_columns(answers: Answered) -> tuple[list[int], list[int]]:
    """The categories of the first and the second annotator."""
    first, second = ([given[who][0] for given in answers.given] for who in (1, 2))
    return first, second


def square(answers: Answered, categories: int = 4) -> np.ndarray:
    """Their cross-table."""
    counts = np.zeros((categories, categories), dtype=int)
    np.add.at(counts, two_columns(answers), 1)
    return counts


def nltk_task(answers: Answered, distance: Any = binary_distance, *, sets: bool = False) -> Any:
    """An annotation task of nltk, whose labels are numbers, or sets of categories."""
    rows = [
        (f"c{who}", f"i{item}", frozenset(answer) if sets else VALUES[answer[0]])
        for item, given in enumerate(answers.given)
        for who, answer in given.items()
    ]
    return AnnotationTask(data=rows, distance=distance)


# -- spans ---------------------------------------------------------------------------------


def entities(spans: list[Span]) -> list[dict[str, Any]]:
    """Spans as nervaluate takes them: their end is inclusive."""
    return [{"label": f"L{label}", "start": a, "end": b - 1} for label, a, b in spans]


def tags(spans: list[Span], length: int) -> list[str]:
    """Spans that do not overlap as a tag per token, IOB2."""
    found = ["O"] * length
    for label, start, end in spans:
        found[start:end] = [f"B-L{label}", *[f"I-L{label}"] * (end - start - 1)]
    return found
