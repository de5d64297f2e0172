"""Errors other than those of independent items: resampled, by annotator, by cluster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tracker import queries
from tracker.agreement.cluster_robust import by_cluster
from tracker.agreement.coefficients import coefficients
from tracker.agreement.study import Study
from tracker.core.tallies import AnnotatorTallies
from tracker.measures import MEASURES
from tracker.measures.bootstrap import bootstrap
from tracker.measures.category_rate_errors import bootstrapped_rates
from tracker.measures.category_rates import CategoryRate, category_rates
from tracker.measures.coefficient import Coefficient
from tracker.measures.jackknife import leaving_out_each, over_annotators


def uncertain(counted: Study) -> tuple[list[Coefficient], list[CategoryRate]]:
    """The study's figures and category rates with the errors asked for.

    Those that cannot have them keep their own: pairs' kappas and, over annotators, rates.

    Raises InvalidOption for what does not go together, or an unknown attribute.
    """
    asked = counted.query
    how = asked.uncertainty
    how.check()
    found = counted.figures()
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
