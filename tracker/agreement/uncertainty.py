"""Errors other than those of independent items: resampled, by annotator, by cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from tracker import queries
from tracker.agreement.coefficients import coefficients
from tracker.agreement.study import Study
from tracker.core.tallies import AnnotatorTallies
from tracker.measures import MEASURES
from tracker.measures.bootstrap import bootstrap
from tracker.measures.category_rates import (
    CategoryRate,
    bootstrapped_rates,
    category_rate_influences,
    category_rates,
    clustered_category_rate,
)
from tracker.measures.coefficient import Coefficient
from tracker.measures.estimate import Estimate, Floats
from tracker.measures.jackknife import (
    coefficient_over_clusters,
    jackknife_item_patterns,
    jackknife_over_annotators,
)
from tracker.projects.items import check_item_attribute


def study_with_uncertainty(counted: Study) -> tuple[list[Coefficient], list[CategoryRate]]:
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
        without = [figures for _, figures in coefficients_without_annotators(counted)]
        resampled = [
            jackknife_over_annotators(one, [figures[one.measure] for figures in without])
            if without and one.measure in without[0]
            else one
            for one in found
        ]
        return resampled, rates
    if how.cluster is not None:
        return uncertainty_by_cluster(counted, how.cluster, found, rates)
    return found, rates


def coefficients_without_annotators(
    counted: Study, tallies: AnnotatorTallies | None = None
) -> Iterator[tuple[int, dict[str, float | None]]]:
    """Each annotator's id, and the values of the measures without the annotator's answers.

    From what the answers met; nothing is counted again. Figures of pairs are not among them.
    """
    if tallies is None:
        tallies = queries.count_annotator_tallies(counted.connection, counted.selection)
    wanted = [n for n in counted.wanted if MEASURES[n].needs in {"patterns", "marginals"}]
    marginals = counted.full_sample.marginals
    for annotator, patterns in jackknife_item_patterns(counted.patterns, tallies):
        others = counted.read(patterns, len(counted.annotators) - 1)
        if marginals is not None:
            kept = {who: own for who, own in marginals.items() if who != annotator}
            others = replace(others, marginals=kept)
        found = coefficients(wanted, others, None, counted.query.confidence)
        # Scott's pi of three annotators has a value for each two of them, and none of its own.
        yield annotator, {name: one.value for name, one in found.items()}


_AT_A_TIME = 100_000

Row = tuple[str | int, int, int]  # cluster, the place of a pattern, items


def uncertainty_by_cluster(
    counted: Study,
    attribute: str,
    found: Sequence[Coefficient],
    rates: Sequence[CategoryRate],
) -> tuple[list[Coefficient], list[CategoryRate]]:
    """Figures and rates with the errors of clusters; those without influences keep their own.

    Each figure's clusters are those with an item that enters it.

    Raises InvalidOption for an attribute that no item has.
    """
    check_item_attribute(counted.connection, counted.question.project, attribute)
    wanted = {
        name: _entering(counted, one)
        for name, one in counted.estimates.items()
        if isinstance(one, Estimate) and one.influence is not None
    }
    of_rates, could_agree = category_rate_influences(
        counted.sample, [rate.category for rate in rates]
    )
    influences = np.vstack([*wanted.values(), of_rates, could_agree])
    patterns = [pattern for pattern, items in counted.patterns if items]
    place = {pattern: n for n, pattern in enumerate(patterns)}
    rows = queries.count_patterns_by_cluster(counted.connection, counted.selection, attribute)
    squares, fourths = np.zeros(len(influences)), np.zeros(len(influences))
    clusters = np.zeros(len(influences), dtype=np.int64)
    numbered = ((cluster, place[pattern], items) for cluster, pattern, items in rows)
    for part, number in _parts(numbered):
        sums, entered = _summed(part, number, influences)
        squares += (sums**2).sum(axis=1)
        fourths += (sums**4).sum(axis=1)
        clusters += entered
    powers = zip(squares.tolist(), fourths.tolist(), strict=True)
    told = list(zip(powers, clusters.tolist(), strict=True))
    of = dict(zip(wanted, told, strict=False))
    of_pairs = {n: isinstance(e, Estimate) and e.of_pairs for n, e in counted.estimates.items()}
    how = counted.query.interval
    agreeable = clusters[len(wanted) + len(rates) :].tolist()
    return [
        coefficient_over_clusters(
            one, *of[one.measure], attribute, how, of_pairs=of_pairs[one.measure]
        )
        if one.measure in of
        else one
        for one in found
    ], [
        clustered_category_rate(rate, one[0], number, could)
        for rate, (one, number), could in zip(rates, told[len(wanted) :], agreeable, strict=False)
    ]


def _entering(counted: Study, one: Estimate) -> Floats:
    """The influence of one item of each pattern; NaN where its items do not enter the figure."""
    influence = np.zeros(0) if one.influence is None else one.influence
    alone = counted.sample.table.sizes < 2
    return np.where(alone & (one.items == one.compared), np.nan, influence)


def _parts(rows: Iterable[Row]) -> Iterator[tuple[list[tuple[int, int, int]], int]]:
    """Whole clusters, numbered from 0, some at a time, and how many there are."""
    held: list[tuple[int, int, int]] = []
    last: str | int | None = None
    number = -1
    for cluster, pattern, items in rows:
        # An item without the attribute is its own cluster, named by its number.
        if cluster != last or type(cluster) is not type(last):
            if len(held) >= _AT_A_TIME:
                yield held, number + 1
                held, number = [], -1
            last, number = cluster, number + 1
        held.append((number, pattern, items))
    if held:
        yield held, number + 1


def _summed(
    rows: Sequence[tuple[int, int, int]], clusters: int, influences: Floats
) -> tuple[Floats, np.ndarray]:
    """Per figure each cluster's sum of influences, (M, C), and how many clusters enter, (M,)."""
    cluster, pattern, items = np.array(rows, dtype=np.int64).T
    enters = ~np.isnan(influences)
    filled = np.where(enters, influences, 0.0)
    sums = np.array([np.bincount(cluster, one[pattern] * items, clusters) for one in filled])
    met = np.array([np.bincount(cluster[one[pattern]], minlength=clusters) > 0 for one in enters])
    return sums, met.sum(axis=1)
