"""A question about agreement: of which answers, by which metric, and how sure figures are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypedDict, Unpack

from tracker.agreement.metric import AS_DECLARED, Metric
from tracker.core.errors import InvalidOption
from tracker.measures.citations import full_measure_name
from tracker.measures.confidence_bounds import ASYMMETRIC, check_interval_method
from tracker.queries import EVERYTHING, AnswerFilter, Selecting, make_answer_filter

_RESAMPLED: Final = ("items", "annotators")


@dataclass(frozen=True)
class Uncertainty:
    """How errors are to be had; by default from the items, linearised.

    Attributes:
        replicates: of a bootstrap over items; None for none.
        seed: of its random numbers.
        resample: "annotators" for a jackknife over annotators, else "items".
        cluster: an attribute of the items whose values make them dependent.
    """

    replicates: int | None = None
    seed: int = 0
    resample: str = _RESAMPLED[0]
    cluster: str | None = None

    @property
    def options(self) -> list[str]:
        """The options that are given."""
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
        confidence: the level of the intervals, in (0, 1).
        metric: what counts as agreement.
        filter: whose answers to which items.
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


class Computing(TypedDict, total=False):
    """The keyword arguments that say how figures are computed.

    Attributes:
        confidence: the level of the intervals, in (0, 1).
        interval: "asymmetric", or Student's "t"; see `confidence_bounds`.
        weights: of the chance-corrected coefficients: identity, linear, quadratic or ordinal.
        scale: of the categories: nominal, ordinal, interval or ratio.
        distance: of alpha between sets of categories: exact, jaccard or masi.
    """

    confidence: float
    interval: str
    weights: str | None
    scale: str | None
    distance: str | None


class Asking(Computing, Selecting, total=False):
    """The keyword arguments that ask about agreement, as every method that computes it takes them.

    Attributes:
        measures: only these, by name, which may be a short one.
        bootstrap: errors come from so many samples of the items.
        seed: of the samples' random numbers.
        resample: "annotators" for errors that come from leaving out each annotator.
        cluster: the attribute whose values group items that are alike; errors allow for it.
    """

    measures: Sequence[str]
    bootstrap: int | None
    seed: int
    resample: str
    cluster: str | None


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
