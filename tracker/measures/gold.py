"""Annotators against the truth, from a table of true and given answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tracker.measures.pairs import cohen_kappa
from tracker.tally import Answer

__all__ = ["GoldAgreement", "against_gold"]


@dataclass(frozen=True)
class GoldAgreement:
    """The truth against the pooled annotators, one count per answer to an item with a truth.

    There is no error: the answers to one item are not independent, and the table does not say
    which belong together.

    Attributes:
        items: items that have a truth and an answer.
        answers: answers to them.
        observed: accuracy, the share of answers equal to the truth; None without answers.
        expected: accuracy expected by chance, from the shares of the truth and of the answers.
        cohen_kappa: Cohen's kappa of truth and answers, None where undefined.
        undefined: no_overlap or single_category, or None.
    """

    items: int
    answers: int
    observed: float | None
    expected: float | None
    cohen_kappa: float | None
    undefined: str | None

    def to_dict(self) -> dict[str, float | int | str | None]:
        """The ``gold`` part of the JSON of ``tracker agreement``."""
        return {
            "items": self.items,
            "answers": self.answers,
            "observed": self.observed,
            "expected": self.expected,
            "cohen_kappa": self.cohen_kappa,
            "undefined": self.undefined,
        }


def against_gold(confusion: Mapping[tuple[Answer, Answer], int], items: int) -> GoldAgreement:
    """Accuracy and kappa from ``{(true answer, given answer): answers}`` over ``items`` items."""
    kappa = cohen_kappa(confusion)
    return GoldAgreement(
        items=items,
        answers=sum(confusion.values()),
        observed=kappa.observed,
        expected=kappa.expected,
        cohen_kappa=kappa.value,
        undefined=kappa.undefined,
    )
