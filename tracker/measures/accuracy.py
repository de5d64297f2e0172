"""Annotators compared with the truth, from a table of true and given answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tracker.core.tallies import Answer
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
class GoldAgreement:
    """The truth compared with one annotator's answers, or with all annotators' pooled."""

    items: int
    answers: int
    observed: float | None
    expected: float | None
    cohen_kappa: float | None
    undefined: str | None
    ci_low: float | None
    ci_high: float | None
    categories: tuple[CategoryAccuracy, ...]
    confusion: Mapping[tuple[Answer, Answer], int]

    def to_dict(self) -> dict[str, float | int | str | None]:
        """Return the ``gold`` part of the JSON of ``tracker agreement``."""
        return {
            "items": self.items,
            "answers": self.answers,
            "observed": self.observed,
            "expected": self.expected,
            "cohen_kappa": self.cohen_kappa,
            "undefined": self.undefined,
        }


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
        confidence: the level of the bounds of a single annotator's accuracy; None for no bounds.

    Raises:
        InvalidOption: the confidence level is not in (0, 1).
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
