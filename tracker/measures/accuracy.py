"""Answers compared with the truth: accuracy and calibration; and which categories are confused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Annotated, Final, NamedTuple

from tracker.core.results import Hidden, Record
from tracker.core.tallies import Answer, ItemPatterns, Pattern
from tracker.measures.cohen import cohen_kappa
from tracker.measures.intervals import wilson_interval


@dataclass(frozen=True)
class CategoryAccuracy:
    """How well one category was recognized."""

    category: int
    true: int
    given: int
    right: int

    @property
    def precision(self) -> float | None:
        """Of the answers that hold the category, the share that is right."""
        return self.right / self.given if self.given else None

    @property
    def recall(self) -> float | None:
        """Of the answers that should hold the category, the share that does."""
        return self.right / self.true if self.true else None

    @property
    def f1(self) -> float | None:
        """The harmonic mean of precision and recall."""
        every = self.true + self.given
        return 2 * self.right / every if every else None


@dataclass(frozen=True)
class GoldAgreement(Record):
    """The truth compared with one annotator's answers, or with all annotators' pooled."""

    items: int
    answers: int
    observed: float | None
    expected: float | None
    cohen_kappa: float | None
    undefined: str | None
    ci_low: Annotated[float | None, Hidden]
    ci_high: Annotated[float | None, Hidden]
    categories: Annotated[tuple[CategoryAccuracy, ...], Hidden]
    confusion: Annotated[Mapping[tuple[Answer, Answer], int], Hidden]


def accuracy_from_confusion(
    confusion: Mapping[tuple[Answer, Answer], int],
    items: int,
    categories: Sequence[int] = (),
    confidence: float | None = None,
) -> GoldAgreement:
    """Return accuracy, kappa and each category's precision and recall.

    Args:
        confusion: ``{(true answer, given answer): answers}``.
        items: items they are about.
        categories: which to give, by id.
        confidence: of the bounds of a single annotator's accuracy; None for no bounds.
    """
    kappa = cohen_kappa(confusion)
    answers = sum(confusion.values())
    low, high = None, None
    if confidence is not None and kappa.observed is not None:
        low, high = wilson_interval(kappa.observed, answers, confidence)
    return GoldAgreement(
        items=items,
        answers=answers,
        observed=kappa.observed,
        expected=kappa.expected,
        cohen_kappa=kappa.value,
        undefined=kappa.undefined,
        ci_low=low,
        ci_high=high,
        categories=_categories(confusion, categories),
        confusion=confusion,
    )


def _categories(
    confusion: Mapping[tuple[Answer, Answer], int], categories: Sequence[int]
) -> tuple[CategoryAccuracy, ...]:
    true: Counter[int] = Counter()
    given: Counter[int] = Counter()
    right: Counter[int] = Counter()
    for (truth, answer), number in confusion.items():
        for counts, held in ((true, truth), (given, answer), (right, {*truth} & {*answer})):
            for category in held:
                counts[category] += number
    return tuple(CategoryAccuracy(c, true[c], given[c], right[c]) for c in categories)


BINS = 10
"""Bins of equal width; the first holds 0, and each its upper bound."""


class ConfidenceTally(NamedTuple):
    """Answers of one bin that are right, or that are not: the sums of their confidences."""

    bin: int
    right: bool
    answers: int
    total: float
    squares: float


@dataclass(frozen=True)
class ReliabilityBin(Record):
    """The answers with a confidence above ``low``, at most ``high``."""

    low: float
    high: float
    answers: int
    confidence: float
    accuracy: float


@dataclass(frozen=True)
class Calibration(Record):
    """How confidences compare with the share of right answers; None without an answer.

    Attributes:
        answers: those with a confidence and something to compare with.
        confidence: the mean confidence.
        accuracy: the share that is right.
        brier_score: see `calibration`.
        expected_calibration_error: likewise.
        bins: the reliability table, without empty bins.
    """

    answers: int
    confidence: float | None
    accuracy: float | None
    brier_score: float | None
    expected_calibration_error: float | None
    bins: Sequence[ReliabilityBin]


def calibration(tallies: Iterable[ConfidenceTally]) -> Calibration:
    """Return the Brier score, the expected calibration error and the reliability table.

    The Brier score is the mean of ``(confidence - 1 if right else 0)^2``: 0 is best, and 0.25 is
    what a confidence of 0.5 in everything gets. The expected calibration error is the mean over
    answers of the distance between their bin's accuracy and its mean confidence.

    Source:
        Brier (1950), Monthly Weather Review 78, 1-3, for the event that the answer is right;
        Naeini, Cooper and Hauskrecht (2015), AAAI, 2901-2907; Guo, Pleiss, Sun and Weinberger
        (2017), ICML, PMLR 70, 1321-1330, equation 5.
    """
    given = [tally for tally in tallies if tally.answers]
    if not given:
        return Calibration(0, None, None, None, None, ())
    answers, confidence, accuracy = _means(given)
    bins = []
    for number in range(BINS):
        of_bin = [tally for tally in given if tally.bin == number]
        if of_bin:
            bins.append(ReliabilityBin(number / BINS, (number + 1) / BINS, *_means(of_bin)))
    loss = sum(t.squares + (t.answers - 2 * t.total if t.right else 0.0) for t in given)
    errors = sum(of_bin.answers * abs(of_bin.accuracy - of_bin.confidence) for of_bin in bins)
    brier_score = max(loss, 0.0) / answers
    return Calibration(answers, confidence, accuracy, brier_score, errors / answers, bins)


def _means(tallies: Sequence[ConfidenceTally]) -> tuple[int, float, float]:
    """Return the number of answers, their mean confidence, and the share that is right."""
    answers = sum(tally.answers for tally in tallies)
    right = sum(tally.answers for tally in tallies if tally.right)
    return answers, sum(tally.total for tally in tallies) / answers, right / answers


NOTHING: Final = 0
"""What stands for no category; the ids of categories are greater."""


@dataclass(frozen=True)
class Confusion:
    """Two categories that were confused.

    Attributes:
        first: a category's id; `NOTHING` for none.
        second: the other one's, which is greater.
        disagreements: pairs of annotators and items that confuse the two.
        items: the items on which somebody did.
        share: of all confusions of a project.
    """

    first: int
    second: int
    disagreements: int
    items: int
    share: float


def category_confusions(patterns: ItemPatterns) -> list[Confusion]:
    """Return every two categories that were confused, the most frequent first, then by id."""
    pairs: Counter[tuple[int, int]] = Counter()
    on_items: Counter[tuple[int, int]] = Counter()
    for pattern, items in patterns:
        confused = pattern_confusions(pattern)
        for key, number in confused.items():
            pairs[key] += number * items
            on_items[key] += items
    total = sum(pairs.values())
    ranked = sorted(pairs, key=lambda key: (-pairs[key], key))
    return [Confusion(*key, pairs[key], on_items[key], pairs[key] / total) for key in ranked]


def pattern_confusions(pattern: Pattern) -> dict[tuple[int, int], int]:
    """Return how many pairs of an item's annotators confuse each two categories."""
    pairs: Counter[tuple[int, int]] = Counter()
    for (answer, number), (other, of_other) in combinations(pattern, 2):
        mine, theirs = set(answer) - set(other), set(other) - set(answer)
        for first, second in product(mine or {NOTHING}, theirs or {NOTHING}):
            pairs[min(first, second), max(first, second)] += number * of_other
    return pairs
