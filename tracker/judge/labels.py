"""What a model makes of items whose label is known: by decision, reference or people's majority."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TypeAlias

from tracker.core.tallies import Answer
from tracker.counts.beside_people import Labelled
from tracker.judge.bench import Bench
from tracker.judge.cells import label_of
from tracker.judge.examples import MOST_KINDS, Kind
from tracker.judge.result import Confused, JudgeRates
from tracker.measures.accuracy import accuracy_from_confusion

_MOST_CONFUSED = 20


Labels: TypeAlias = Mapping[tuple[Answer, Answer], int]
"""Items of a label by it and the model's answer: ``{(label, given): items}``."""


def labels_of(labelled: Labelled) -> Labels:
    """Return the items that have a label."""
    counts: Counter[tuple[Answer, Answer]] = Counter()
    for (given, truth, pattern), items in labelled.items():
        label = label_of(truth, pattern)
        if label is not None:
            counts[label, given] += items
    return counts


def truth_words(labelled: Labelled) -> str:
    """Return how many items have a label, and from where."""
    known = sum(items for (_, truth, _), items in labelled.items() if truth is not None)
    majority = sum(labels_of(labelled).values()) - known
    words = ((known, "by decision or reference"), (majority, "by people's majority"))
    parts = [f"{items:,} {whence}" for items, whence in words if items]
    return "items with a label: " + (" and ".join(parts) or "none")


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def label_rates(bench: Bench, truths: Labels) -> dict[str, JudgeRates]:
    """Return how each category is recognized; nothing of very many numbers."""
    if bench.has_many_numbers:
        return {}
    every = sum(truths.values())
    rates = {}
    for accuracy in accuracy_from_confusion(truths, every, list(bench.names)).categories:
        others = every - accuracy.true
        right = others - (accuracy.given - accuracy.right)
        rates[bench.names[accuracy.category]] = JudgeRates(
            accuracy.recall,
            _share(right, others),
            accuracy.precision,
            accuracy.true,
            accuracy.given,
        )
    return rates


def _apart(truths: Labels) -> list[tuple[tuple[Answer, Answer], int]]:
    """Return the labels and other answers of the model, the most frequent first."""
    apart = [row for row in truths.items() if row[0][0] != row[0][1]]
    return sorted(apart, key=lambda row: (-row[1], row[0]))


def confused_labels(bench: Bench, truths: Labels) -> list[Confused]:
    """Return the labels for which the model gave another, the most frequent first."""
    if bench.has_many_numbers:
        return []
    return [
        Confused(bench.word(truth), bench.word(given), items)
        for (truth, given), items in _apart(truths)[:_MOST_CONFUSED]
    ]


def worst_kinds(bench: Bench, model: int, truths: Labels) -> list[Kind]:
    """Return the confusions of which items are shown; none if answers are sets."""
    if bench.question.answers == "several" or bench.has_many_numbers:
        return []
    return [Kind(model, truth, given) for ((truth,), (given,)), _ in _apart(truths)[:MOST_KINDS]]
