"""A question about agreement: of which answers, by which metric, and how sure figures are."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Unpack

from tracker.core.errors import InvalidOption
from tracker.core.tallies import Answer, Pattern
from tracker.counts.choosing import Selecting
from tracker.counts.filter import EVERYTHING, AnswerFilter, make_answer_filter
from tracker.measures.citations import full_measure_name
from tracker.measures.intervals import ASYMMETRIC, check_interval_method
from tracker.measures.sample import Sample, Table, sample_for_measures
from tracker.measures.weights import DISTANCES, SCALES, WEIGHTS
from tracker.projects.names import is_numeric_category_name, near_names
from tracker.projects.questions import ONLY_QUESTION, QuestionInfo

# -- How answers are read: what counts as agreement between two that differ -----------------------


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
    in_order = has_order(question, names)
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
    known = ",".join(names.values()) if 0 < len(names) <= _MOST_NAMED else "lowest,…,highest"
    words = [question.project.name, known]
    words += [] if question.name == ONLY_QUESTION else ["-q", question.name]
    return f"tracker category order {shlex.join(words)}"


def _numeric(names: Mapping[int, str]) -> bool:
    return all(is_numeric_category_name(name) for name in names.values())


def has_order(question: QuestionInfo, names: Mapping[int, str]) -> bool:
    """Return whether the order of the categories is declared, or is that of numbers."""
    return question.categories_fixed or _numeric(names) or getattr(names, "ordered", False)


def sample_under_metric(
    question: QuestionInfo,
    names: Mapping[int, str],
    patterns: Iterable[tuple[Pattern, int]] | Table,
    annotators: int,
    metric: Metric = AS_DECLARED,
    marginals: Mapping[int, Mapping[Answer, int]] | None = None,
) -> Sample:
    """The tallies of a project, or of a part of it, under a reading that `check_metric` accepts.

    ``names`` are all its categories by id, in order.
    """
    return read_under_metric(question, names, metric)(patterns, annotators, marginals=marginals)


def read_under_metric(
    question: QuestionInfo, names: Mapping[int, str], metric: Metric
) -> partial[Sample]:
    """Return a function of patterns and a number of annotators to their sample, as above."""
    several, scale = question.answers == "several", metric.scale_of(question)
    numeric = _numeric(names)
    return partial(
        sample_for_measures,
        categories=list(names),
        declared=question.categories_fixed,
        values={n: float(name) for n, name in names.items()} if numeric else {},
        weighting=metric.weights or "identity",
        by_rank=scale == "ordinal",
        scale=(metric.distance or "exact") if several else scale,
        several=several,
        ordered=numeric or has_order(question, names),
    )


_RESAMPLED: Final = ("items", "annotators")


@dataclass(frozen=True)
class Uncertainty:
    """How errors are to be had; by default from the items, linearised.

    Attributes:
        replicates: of a bootstrap over items; None for none.
        resample: "annotators" for a jackknife over annotators, else "items".
        cluster: an attribute of the items whose values make them dependent.
    """

    replicates: int | None = None
    seed: int = 0
    resample: str = _RESAMPLED[0]
    cluster: str | None = None

    @property
    def options(self) -> list[str]:
        given = {
            "--bootstrap": self.replicates is not None,
            "--seed": self.seed != Uncertainty.seed,
            "--resample": self.resample != Uncertainty.resample,
            "--cluster": self.cluster is not None,
        }
        return [option for option, wanted in given.items() if wanted]

    @property
    def method(self) -> str | None:
        """How figures that have these errors call them; None for those of independent items."""
        if self.replicates is not None:
            return "bootstrap"
        if self.resample == "annotators":
            return "jackknife over annotators"
        return None if self.cluster is None else f"clustered by {self.cluster}"

    def check(self) -> None:
        """Raise InvalidOption for what does not go together."""
        if self.resample not in _RESAMPLED:
            raise InvalidOption(
                f"--resample {self.resample!r} is not known", "one of: items, annotators"
            )
        asked = {
            "--bootstrap": self.replicates is not None,
            "--resample annotators": self.resample == "annotators",
            "--cluster": self.cluster is not None,
        }
        chosen = [option for option, wanted in asked.items() if wanted]
        if len(chosen) > 1:
            raise InvalidOption(
                f"{' and '.join(chosen)} give the errors in two ways", "choose one of them"
            )
        if self.replicates is not None and self.replicates < 2:
            raise InvalidOption(
                f"a bootstrap of {self.replicates} replicates says nothing", "use 1000"
            )
        if self.seed < 0:
            raise InvalidOption(f"--seed {self.seed} is negative", "use 0, or any number above")


OF_ITEMS: Final = Uncertainty()


@dataclass(frozen=True)
class Query:
    """What is asked for.

    Attributes:
        measures: by name, which may be a short one; all that fit for none.
        metric: what counts as agreement.
        interval: how the intervals are made, see `confidence_bounds`.
        uncertainty: what the errors are those of.

    Raises:
        InvalidOption: there is no such interval.
    """

    measures: Sequence[str] = ()
    confidence: float = 0.95
    metric: Metric = AS_DECLARED
    filter: AnswerFilter = EVERYTHING
    interval: str = ASYMMETRIC
    uncertainty: Uncertainty = OF_ITEMS

    def __post_init__(self) -> None:
        check_interval_method(self.interval)
        object.__setattr__(self, "measures", tuple(map(full_measure_name, self.measures)))


def agreement_query(
    *,
    measures: Sequence[str] = (),
    confidence: float = 0.95,
    interval: str = ASYMMETRIC,
    weights: str | None = None,
    scale: str | None = None,
    distance: str | None = None,
    bootstrap: int | None = None,
    seed: int = 0,
    resample: str = _RESAMPLED[0],
    cluster: str | None = None,
    **selecting: Unpack[Selecting],
) -> Query:
    """Return the query that the arguments of `Asking` make; raises InvalidOption."""
    return Query(
        measures,
        confidence,
        Metric(weights, scale, distance),
        make_answer_filter(**selecting),
        interval,
        Uncertainty(bootstrap, seed, resample, cluster),
    )


_METRIC: Final = ("--weights", "--scale", "--distance")
_NOT_USED: Final = {
    "--gold": ("--measure", *_METRIC, "--interval"),
    "--calibration": ("--measure", *_METRIC, "--interval"),
    "--by annotator": ("--measure", *_METRIC, "--interval"),
    "--by model": ("--measure", *_METRIC, "--interval"),
    "--by item": ("--measure", *_METRIC, "--interval"),
    "--by confusion": ("--measure", *_METRIC, "--interval"),
    "--strengths": ("--measure", *_METRIC, "--interval"),
    "--influence": ("--interval",),
    "--best-merges": ("--interval",),
    "--against": ("--interval",),
    "--explain": ("--measure",),
}


def check_agreement_query(query: Query, way: str) -> Query:
    """Return the query of a further question, named as an option, such as ``--by pair``.

    Raises InvalidOption for a part of it that would not change the answer.
    """
    if query.uncertainty != OF_ITEMS:
        raise InvalidOption(
            f"{way.partition(' ')[0]} knows only the errors of items",
            f"leave out: {', '.join(query.uncertainty.options)}",
        )
    metric = query.metric
    given = {
        "--measure": query.measures,
        "--weights": metric.weights,
        "--scale": metric.scale,
        "--distance": metric.distance,
        "--interval": query.interval != Query.interval,
    }
    for option in _NOT_USED.get(way, ()):
        if given[option]:
            raise InvalidOption(f"{way} does not depend on {option}", f"leave out: {option}")
    if way in {"--influence", "--best-merges"} and len(query.measures) > 1:
        raise InvalidOption(f"{way} is of one measure", "give one --measure, or none")
    return query
