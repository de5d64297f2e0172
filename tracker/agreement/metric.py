"""How answers are read: what counts as agreement between two that differ."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from tracker.core.errors import InvalidOption
from tracker.core.tallies import Answer, ItemPatterns
from tracker.measures.sample import Sample, sample_for_measures
from tracker.measures.weights import DISTANCES, SCALES, WEIGHTS
from tracker.projects.lookup import is_numeric_category_name, near_names
from tracker.projects.question import ONLY_QUESTION, QuestionInfo


@dataclass(frozen=True)
class Metric:
    """What was asked for; None leaves it to the project.

    Attributes:
        weights: of the chance-corrected coefficients: identity, linear, quadratic or ordinal.
        scale: of alpha: nominal, ordinal, interval or ratio.
        distance: of alpha between sets of categories: exact, jaccard or masi.
    """

    weights: str | None = None
    scale: str | None = None
    distance: str | None = None

    @property
    def weighted(self) -> bool:
        """Whether answers that differ may agree in part."""
        return self.weights not in {None, "identity"}

    def scale_of(self, question: QuestionInfo) -> str:
        """The scale asked for, else the project's."""
        return self.scale or question.scale


AS_DECLARED = Metric()


def check_metric(question: QuestionInfo, names: Mapping[int, str], metric: Metric) -> None:
    """Accept a reading that the project's categories allow.

    Raises InvalidOption for an unknown word, or one that needs numbers or an order that the
    categories do not have.
    """
    for option, word, known in (
        ("--weights", metric.weights, WEIGHTS),
        ("--scale", metric.scale, SCALES),
        ("--distance", metric.distance, DISTANCES),
    ):
        if word is not None and word not in known:
            raise InvalidOption(
                f"{option} {word!r} is not known",
                near_names(word, known) or f"one of: {', '.join(known)}",
            )
    if question.answers != "several" and metric.distance is not None:
        raise InvalidOption(
            f"{question.title!r} has one category per answer, and --distance compares sets",
            "leave out: --distance",
        )
    if question.answers == "several" and (metric.weighted or metric.scale is not None):
        raise InvalidOption(
            f"{question.title!r} has several categories per answer, which have no order",
            "use --distance jaccard or masi",
        )
    _check_order(question, names, metric)


def _check_order(question: QuestionInfo, names: Mapping[int, str], metric: Metric) -> None:
    numeric = _numeric(names)
    ranked = metric.scale_of(question) == "ordinal"
    word = metric.weights if metric.weighted else None
    in_order = _ordered(question, names)
    if word in {"linear", "quadratic"} and not ranked and not numeric:
        raise InvalidOption(
            f"{word} weights need numbers, and the categories of {question.title!r} are not",
            "--scale ordinal, for ranks in the declared order"
            if in_order
            else f"--scale ordinal, with an order: {_order_command(question, names)}",
        )
    if metric.scale in {"interval", "ratio"} and not numeric:
        raise InvalidOption(
            f"the {metric.scale} scale needs numbers, and the categories of "
            f"{question.title!r} are not",
            "use --scale nominal or ordinal" if in_order else "use --scale nominal",
        )
    by_order = word == "ordinal" or (word is not None and ranked) or metric.scale == "ordinal"
    if by_order and not in_order:
        raise InvalidOption(
            f"the categories of {question.title!r} have no order",
            f"declare one, lowest first: {_order_command(question, names)}",
        )


_MOST_NAMED = 7


def _order_command(question: QuestionInfo, names: Mapping[int, str]) -> str:
    """Return the command that declares an order, with the categories to put into it."""
    known = ",".join(names.values()) if 0 < len(names) <= _MOST_NAMED else "lowest,…,highest"
    words = [question.project.name, known]
    words += [] if question.name == ONLY_QUESTION else ["-q", question.name]
    return f"tracker category order {shlex.join(words)}"


def _numeric(names: Mapping[int, str]) -> bool:
    return all(is_numeric_category_name(name) for name in names.values())


def _ordered(question: QuestionInfo, names: Mapping[int, str]) -> bool:
    return question.categories_fixed or _numeric(names) or getattr(names, "ordered", False)


def sample_under_metric(
    question: QuestionInfo,
    names: Mapping[int, str],
    patterns: ItemPatterns,
    annotators: int,
    metric: Metric = AS_DECLARED,
    marginals: Mapping[int, Mapping[Answer, int]] | None = None,
) -> Sample:
    """The tallies of a project, or of a part of it, under a reading that `check_metric` accepts.

    ``names`` are all its categories by id, in order.
    """
    several = question.answers == "several"
    scale = metric.scale_of(question)
    return sample_for_measures(
        patterns,
        annotators,
        categories=list(names),
        declared=question.categories_fixed,
        values={n: float(name) for n, name in names.items()} if _numeric(names) else {},
        weighting=metric.weights or "identity",
        by_rank=scale == "ordinal",
        scale=(metric.distance or "exact") if several else scale,
        several=several,
        ordered=_ordered(question, names),
        marginals=marginals,
    )
