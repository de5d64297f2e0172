"""Errors of items that are alike in clusters, such as the sentences of a document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from tracker import queries
from tracker.agreement.study import Study
from tracker.measures.category_rate_errors import clustered_rate, rate_influences
from tracker.measures.category_rates import CategoryRate
from tracker.measures.coefficient import Coefficient
from tracker.measures.estimate import Estimate, Floats
from tracker.measures.jackknife import clustered
from tracker.projects.item_attributes import check_attribute

_AT_A_TIME = 100_000

Row = tuple[str | int, int, int]  # cluster, the place of a pattern, items


def by_cluster(
    counted: Study,
    attribute: str,
    found: Sequence[Coefficient],
    rates: Sequence[CategoryRate],
) -> tuple[list[Coefficient], list[CategoryRate]]:
    """Figures and rates with the errors of clusters; those without influences keep their own.

    Each figure's clusters are those with an item that enters it.

    Raises InvalidOption for an attribute that no item has.
    """
    check_attribute(counted.connection, counted.project, attribute)
    wanted = {
        name: _entering(counted, one)
        for name, one in counted.estimates.items()
        if isinstance(one, Estimate) and one.influence is not None
    }
    of_rates, could_agree = rate_influences(counted.sample, [rate.category for rate in rates])
    influences = np.vstack([*wanted.values(), of_rates, could_agree])
    patterns = [pattern for pattern, items in counted.patterns if items]
    place = {pattern: n for n, pattern in enumerate(patterns)}
    rows = queries.item_patterns_by_cluster(counted.connection, counted.selection, attribute)
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
    how = counted.query.interval
    agreeable = clusters[len(wanted) + len(rates) :].tolist()
    return [
        clustered(one, *of[one.measure], attribute, how) if one.measure in of else one
        for one in found
    ], [
        clustered_rate(rate, one[0], number, could)
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
