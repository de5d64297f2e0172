"""Errors other than those of independent items: resampled, by annotator, by cluster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from tracker import queries
from tracker.agreement.cluster_robust import by_cluster
from tracker.agreement.coefficients import coefficients
from tracker.agreement.study import Study
from tracker.core.errors import InvalidOption
from tracker.core.tallies import AnnotatorTallies
from tracker.measures import MEASURES
from tracker.measures.bootstrap import bootstrap
from tracker.measures.category_rate_errors import bootstrapped_rates
from tracker.measures.category_rates import CategoryRate, category_rates
from tracker.measures.coefficient import Coefficient
from tracker.measures.jackknife import leaving_out_each, over_annotators

__all__ = ["OF_ITEMS", "Uncertainty", "uncertain", "without_each_annotator"]

RESAMPLED = ("items", "annotators")


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
    resample: str = RESAMPLED[0]
    cluster: str | None = None

    def check(self) -> None:
        """Raise InvalidOption for what does not go together."""
        if self.resample not in RESAMPLED:
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


OF_ITEMS = Uncertainty()


def uncertain(counted: Study, how: Uncertainty) -> tuple[list[Coefficient], list[CategoryRate]]:
    """The study's figures and category rates with the errors asked for.

    Those that cannot have them keep their own: pairs' kappas and, over annotators, rates.

    Raises InvalidOption for what does not go together, or an unknown attribute.
    """
    how.check()
    found = counted.figures()
    asked = counted.query
    rates = category_rates(counted.patterns, list(counted.names), asked.confidence, asked.interval)
    if how.replicates is not None and counted.sample.items:
        of, times, seed = counted.sample, how.replicates, how.seed
        return (
            bootstrap(of, found, replicates=times, seed=seed),
            bootstrapped_rates(of, rates, replicates=times, seed=seed),
        )
    if how.resample == "annotators":
        without = [figures for _, figures in without_each_annotator(counted)]
        resampled = [
            over_annotators(one, [figures[one.measure] for figures in without])
            if without and one.measure in without[0]
            else one
            for one in found
        ]
        return resampled, rates
    if how.cluster is not None:
        return by_cluster(counted, how.cluster, found, rates)
    return found, rates


def without_each_annotator(
    counted: Study, tallies: AnnotatorTallies | None = None
) -> Iterator[tuple[int, dict[str, float | None]]]:
    """Each annotator's id, and the values of the measures without the annotator's answers.

    From what the answers met; nothing is counted again. Figures of pairs are not among them.
    """
    if tallies is None:
        tallies = queries.annotator_tallies(counted.connection, counted.selection)
    wanted = [n for n in counted.wanted if MEASURES[n].needs in {"patterns", "marginals"}]
    marginals = counted.full_sample.marginals
    for annotator, patterns in leaving_out_each(counted.patterns, tallies):
        others = counted.read(patterns, len(counted.annotators) - 1)
        if marginals is not None:
            kept = {who: own for who, own in marginals.items() if who != annotator}
            others = replace(others, marginals=kept)
        found = coefficients(wanted, others, None, counted.query.confidence)
        # Scott's pi of three annotators has a value for each two of them, and none of its own.
        yield annotator, {name: one.value for name, one in found.items()}
