"""Krippendorff's alpha and cross-replication reliability under any distance, from item patterns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tracker.measures.chance_corrected import coefficient_quotients
from tracker.measures.estimate import Estimate, single_category_estimate, undefined_estimate
from tracker.measures.intervals import NO_OVERLAP, NO_SPREAD, NOT_APPLICABLE, Parts
from tracker.measures.sample import Floats, Sample, Table
from tracker.measures.weights import DISTANCES, Weighting, krippendorff_distances


@dataclass(frozen=True, eq=False)
class Disagreement:
    """The parts that alpha is computed from.

    Attributes:
        table: the patterns of two answers or more.
        between: the distance.
        totals: how often each answer was given, (A,).
        within: per pattern, the distances of its ordered pairs over the answers less one, (P,).
        apart: per answer, its distances from all others weighed by their totals, (A,).
    """

    table: Table
    between: Weighting
    totals: Floats
    within: Floats
    apart: Floats

    @property
    def answers(self) -> float:
        """Answers that can be compared."""
        return float(self.totals.sum())

    @property
    def varied(self) -> bool:
        """Whether any two answers lie apart, as told by them and not by a sum that is rounded."""
        used = np.flatnonzero(self.totals)
        return bool(self.between.between(used[:1], used).any())

    @property
    def observed(self) -> float:
        """D_o: the mean distance within items, an item weighing as many answers as it has."""
        return float(self.table.items @ self.within) / self.answers

    @property
    def expected(self) -> float:
        """D_e: the mean distance of all pairs of answers, whatever the item."""
        return float(self.totals @ self.apart) / (self.answers * (self.answers - 1))


def krippendorff_disagreement(sample: Sample) -> Disagreement:
    """Return the parts of alpha; raises InvalidOption if the distance does not fit the answers."""
    table = sample.table.compared()
    totals = table.over_answers(table.count * table.items[table.owner].astype(np.float64))
    between = krippendorff_distances(sample.scale, table.answers, sample.values, totals)
    within = table.pairs(between) / (table.sizes - 1)
    return Disagreement(table, between, totals, within, between.against(totals))


def krippendorff_alpha(sample: Sample) -> Estimate:
    """Return Krippendorff's alpha, at most 1; 0 is chance level.

    Items of one answer are dropped. ``value = 1 - D_o / D_e``; if distances lie between 0 and
    1, ``observed`` and ``expected`` are one less the two.

    Undefined: as percent_agreement; single_category if all answers that can be compared are
    the same; not_applicable if the scale needs an order or numbers that there are not.

    Raises:
        InvalidOption: the distance needs numbers that the categories are not.

    Source:
        Krippendorff (2011), Computing Krippendorff's Alpha-Reliability. The error linearizes
        alpha without its small-sample correction (Gwet 2014, chapter 5), the ordinal distance's
        dependence on the totals included.
    """
    reading = {"distance" if sample.scale in DISTANCES else "scale": sample.scale}
    if sample.why_not is not None:
        return undefined_estimate("krippendorff_alpha", sample.why_not, reading=reading)
    if sample.scale == "ordinal" and not sample.ordered:
        return undefined_estimate("krippendorff_alpha", NOT_APPLICABLE, reading=reading)
    parts = krippendorff_disagreement(sample)
    if not parts.varied:
        return single_category_estimate("krippendorff_alpha", sample.compared, reading=reading)
    observed, expected = parts.observed, parts.expected
    influence = np.zeros(len(sample.table.items))
    influence[sample.table.sizes > 1] = _influence(parts)
    return Estimate(
        "krippendorff_alpha",
        1 - observed / expected,
        parts=_parts(sample.scale, observed, expected),
        influence=influence,
        counts=np.where(sample.table.sizes > 1, sample.table.items, 0),
        sample=sample,
        redrawn=resampled_krippendorff_alpha,
        items=sample.compared,
        compared=sample.compared,
        reading=reading,
    )


def _parts(scale: str, observed: float, expected: float) -> Parts:
    """Return both disagreements and, if distances lie between 0 and 1, the agreements."""
    if scale not in {"nominal", "exact", "jaccard", "masi"}:
        return Parts(None, None, observed, expected)
    return Parts(1 - observed, 1 - expected, observed, expected)


def resampled_krippendorff_alpha(sample: Sample, items: Floats) -> Floats:
    """Return alpha of resampled numbers of items of each pattern, (B, P): (B,).

    NaN if it is undefined. Ranks are made of the answers, and so are drawn anew with them.
    """
    parts = krippendorff_disagreement(sample)
    kept = items[:, sample.table.sizes > 1]
    totals = parts.table.sums(parts.table.count.astype(np.float64), kept)
    answers = totals.sum(axis=1)
    if parts.between.name == "ordinal":
        within, apart = _by_ranks_again(parts.table, kept, totals)
    else:
        within = kept @ parts.within
        apart = (totals * parts.between.against(totals)).sum(axis=1)
    # NaN if no item of two answers is drawn.
    expected = coefficient_quotients(apart, answers * (answers - 1))
    return 1 - coefficient_quotients(coefficient_quotients(within, answers), expected)


def _by_ranks_again(table: Table, kept: Floats, totals: Floats) -> tuple[Floats, Floats]:
    """Return sums of the squared gaps between ranks, within items and over all pairs, both (B,)."""
    ranks = np.cumsum(totals, axis=1) - totals / 2
    middle = coefficient_quotients((totals * ranks).sum(axis=1), totals.sum(axis=1))
    ranks -= np.nan_to_num(middle)[:, None]
    counts = table.dense(table.count.astype(np.float64)).T
    sums, squares = ranks @ counts, ranks**2 @ counts
    within = (kept * 2 * (table.sizes * squares - sums**2) / (table.sizes - 1)).sum(axis=1)
    apart = 2 * totals.sum(axis=1) * (totals * ranks**2).sum(axis=1)
    return within, apart


def _influence(parts: Disagreement) -> Floats:
    """Return one item's influence on alpha, by pattern, (P,), by linearizing D_o / D_e."""
    table, answers = parts.table, parts.answers
    observed = parts.observed
    expected = float(parts.totals @ parts.apart) / answers**2  # without the correction
    ratio = observed / expected
    own = parts.within - observed * table.sizes
    by_chance = (
        table.over_patterns(table.count * parts.apart[table.answer]) / answers
        - expected * table.sizes
    )
    change = own - 2 * ratio * by_chance
    if parts.between.name == "ordinal":
        change += table.over_patterns(table.count * _by_ranks(parts, ratio)[table.answer])
    return -change / (answers * expected)


def _by_ranks(parts: Disagreement, ratio: float) -> Floats:
    """Return what one more of each answer changes through the ranks of an ordinal distance, (A,).

    The distance of c and k is the square of R_c - R_k, R_c the answers below c and half of c's.
    So one more answer g moves R_g by a half and every R above it by 1; the sums of squares,
    within items and over all pairs, change by their slopes in R.
    """
    table, totals = parts.table, parts.totals
    ranks = np.cumsum(totals) - totals / 2
    ranks = ranks - ranks.mean()
    items = table.items[table.owner]
    sums = table.over_patterns(table.count * ranks[table.answer])[table.owner]
    others = (sums - ranks[table.answer]) / (table.sizes[table.owner] - 1)
    neighbours = table.over_answers(items * table.count * others)
    within = 4 * (totals * ranks - neighbours)
    overall = 4 * (totals * ranks - totals * (totals @ ranks) / parts.answers)
    slope = within - ratio * overall
    above = np.cumsum(slope[::-1])[::-1] - slope
    change: Floats = slope / 2 + above
    return change


NAME = "cross_replication_reliability"


def cross_replication_reliability(first: Table, second: Table, pooled: Sample) -> Estimate:
    """Return kappa_x, the agreement of pairs of answers across two groups, at most 1.

    ``value = 1 - D_o / D_e`` over the items that both groups answered. D_o is the mean distance
    of an item's pairs of one answer of each group, an item weighing as many answers as it has;
    D_e is that of all such pairs, whatever the item. Alpha within a group compares the pairs of
    that group alone: groups that agree within and not with each other read the task differently.

    ``first`` and ``second`` are the groups' answers to the same items, row for row, each of which
    has an influence; ``pooled`` is the sum of both under a reading.

    Undefined: no_overlap if both groups answered no item; single_category if all these answers
    are the same; not_applicable if the scale needs an order that there is not.

    Source:
        Wong, Paritosh and Aroyo (2021), Cross-replication Reliability: An Empirical Approach to
        Interpreting Inter-rater Reliability, ACL-IJCNLP 2021, with missing data. The error
        linearizes the value, with an ordinal distance held as it is.
    """
    scale, answers = pooled.scale, pooled.table.answers
    reading = {"distance" if scale in DISTANCES else "scale": scale}
    if not pooled.items:
        return undefined_estimate(NAME, NO_OVERLAP, reading=reading)
    if scale == "ordinal" and not pooled.ordered:
        return undefined_estimate(NAME, NOT_APPLICABLE, reading=reading)
    first, second, both = first.recoded(answers), second.recoded(answers), pooled.table
    given, met, totals = (
        table.over_answers(table.count * table.items[table.owner].astype(np.float64))
        for table in (first, second, both)
    )
    distance = krippendorff_distances(scale, answers, pooled.values, totals)
    items, number = both.items, int(both.items.sum())
    used = np.flatnonzero(totals)
    if not distance.between(used[:1], used).any():
        return single_category_estimate(NAME, number, reading=reading)
    # Of all pairs of an item's answers those within either group are not across.
    across = (both.pairs(distance) - first.pairs(distance) - second.pairs(distance)) / 2
    apart = across / (first.sizes * second.sizes)
    every, possible = float(totals.sum()), float(given.sum() * met.sum())
    observed = float(items @ (both.sizes * apart)) / every
    by_one, by_other = distance.against(np.stack([given, met]))
    expected = float(given @ by_other) / possible
    chance = (
        first.over_patterns(first.count * by_other[first.answer])
        + second.over_patterns(second.count * by_one[second.answer])
    ) / possible - expected * (first.sizes / given.sum() + second.sizes / met.sum())
    change = both.sizes * (apart - observed) / every - observed / expected * chance
    value = 1 - observed / expected
    return Estimate(
        NAME,
        value if abs(value) > NO_SPREAD else 0.0,  # chance, but for rounding
        parts=_parts(scale, observed, expected),
        influence=-change / expected,
        counts=items,
        items=number,
        compared=number,
        reading=reading,
    )
