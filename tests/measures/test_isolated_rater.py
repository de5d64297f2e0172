"""A rater and a group against plain counts: Vanbelle and Albert (2009), Wong et al. (2021)."""

from collections import Counter
from functools import partial
from itertools import combinations
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.profiles import examples
from tracker.core.tallies import make_pattern
from tracker.measures.isolated_rater import (
    RATER_MEASURES,
    agreement_with_majority,
    gap_between,
    group_coefficient,
    rater_and_group,
    rater_beside_group,
    rater_coefficient,
)
from tracker.measures.sample import sample_for_measures

CATEGORIES = (1, 2, 3)
READ = partial(sample_for_measures, annotators=4, categories=CATEGORIES)
ITEMS = st.lists(  # the answer of the rater and those of the group
    st.tuples(st.sampled_from(CATEGORIES),
              st.lists(st.sampled_from(CATEGORIES), min_size=2, max_size=4).map(tuple)),
    min_size=3, max_size=25,
)  # fmt: skip
NAMES = [name for name in RATER_MEASURES if name != "gwet_ac2"]


def counted(items):
    return Counter(((own,), make_pattern((v,) for v in group)) for own, group in items)


def beside(rows):
    return rater_beside_group(*rater_and_group([*rows.items()]), READ, 4)


def plain(items, measure):
    observed = fmean(group.count(own) / len(group) for own, group in items)
    rater = [fmean(own == c for own, _ in items) for c in CATEGORIES]
    group = [fmean(group.count(c) / len(group) for _, group in items) for c in CATEGORIES]
    mean = [(r + g) / 2 for r, g in zip(rater, group, strict=True)]
    expected = {
        "percent_agreement": 0.0,
        "fleiss_kappa": sum(p * p for p in mean),
        "gwet_ac1": sum(p * (1 - p) for p in mean) / 2,
        "brennan_prediger": 1 / 3,
    }.get(measure)
    if expected is None:  # alpha: items weigh as many answers as they have
        weights = [1 + len(group) for _, group in items]
        differ = [1 - group.count(own) / len(group) for own, group in items]
        apart = sum(w * d for w, d in zip(weights, differ, strict=True)) / sum(weights)
        every = Counter(c for _, group in items for c in group)
        own_counts = Counter(own for own, _ in items)
        same = sum(own_counts[c] * every[c] for c in CATEGORIES)
        chance = 1 - same / (len(items) * every.total())
        return None if chance == 0 else 1 - apart / chance
    return None if expected == 1 else (observed - expected) / (1 - expected)


@given(ITEMS)
@examples(60)
def test_coefficients_are_those_of_a_plain_count(items):
    """Percent agreement of the group is the mean of its members, each against the others."""
    for measure in NAMES:
        value = rater_coefficient(measure, beside(counted(items))).value
        assert value == (None if value is None else pytest.approx(plain(items, measure), abs=1e-12))
    pairs = fmean(fmean(a == b for a, b in combinations(group, 2)) for _, group in items)
    of_group = group_coefficient("percent_agreement", beside(counted(items)))
    assert of_group.value == pytest.approx(pairs)


@given(items=ITEMS, weight=st.integers(0, 24))
@examples(40)
def test_an_item_moves_the_figure_by_its_influence(items, weight):
    """The slope of a little more and a little less of one item is its influence."""
    many = {row: n * 10_000 for row, n in counted(items).items()}
    place, key = [*enumerate(many)][weight % len(many)]
    for measure in NAMES:
        less, figure, more = (
            rater_coefficient(measure, beside(rows))
            for rows in (many | {key: many[key] + n} for n in (-10, 0, 10))
        )
        if None not in {less.value, figure.value, more.value}:
            slope = (more.value - less.value) / 20  # what is of second order cancels out
            assert slope == pytest.approx(figure.influence[place], rel=0.05, abs=1e-9)


@given(ITEMS)
@examples(40)
def test_the_majority_of_the_others_is_the_truth_for_rater_and_member(items):
    rater, member, shares = [], [], []
    for own, group in items:
        hits = [0, 0, 0]
        for place, answer in enumerate(group):
            others = Counter(group[:place] + group[place + 1 :]).most_common()
            if len(others) == 1 or others[0][1] > others[1][1]:
                hits[0] += own == others[0][0]
                hits[1] += answer == others[0][0]
                hits[2] += 1
        for column, number in zip((rater, member, shares), hits, strict=True):
            column.append(number / len(group))
    first, second = agreement_with_majority(beside(counted(items)))
    if sum(shares) == 0:
        assert (first.value, first.undefined) == (None, "no_overlap")
    else:
        assert first.value == pytest.approx(sum(rater) / sum(shares))
        assert second.value == pytest.approx(sum(member) / sum(shares))


def gap_of(measure, both):
    return gap_between(rater_coefficient(measure, both), group_coefficient(measure, both), 0.95)


def test_gaps_of_few_items():
    gap = gap_of("percent_agreement", beside(counted([(1, (1, 1)), (2, (2, 2)), (3, (3, 3))])))
    assert (gap.value, gap.p_value) == (0.0, None)  # without any difference they are not sure
    assert gap.low == pytest.approx(0.05 ** (1 / 3) - 1)
    # Items that two people answered are preferred to those of one.
    assert beside(counted([(1, (1, 1)), (1, (2,)), (2, (2, 1))])).group.items == 2
    assert beside(counted([(1, (2,)), (1, (1,))])).group.items == 2
