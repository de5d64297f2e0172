"""A rater beside a group against plain counts: Vanbelle and Albert (2009), Wong et al. (2021)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import combinations
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.profiles import examples
from tracker.core.tallies import make_pattern
from tracker.measures.isolated_rater import (
    RATER_MEASURES,
    Beside,
    agreement_with_majority,
    constant_rater,
    gap_between,
    group_coefficient,
    random_coefficient,
    rater_beside_group,
    rater_coefficient,
)
from tracker.measures.sample import sample_for_measures

CATEGORIES = (1, 2, 3)
READ = partial(sample_for_measures, annotators=4, categories=CATEGORIES)
Item = tuple[int, tuple[int, ...]]
ITEMS = st.lists(
    st.tuples(st.sampled_from(CATEGORIES),
              st.lists(st.sampled_from(CATEGORIES), min_size=2, max_size=4).map(tuple)),
    min_size=3, max_size=25,
)  # fmt: skip
NAMES = [name for name in RATER_MEASURES if name != "gwet_ac2"]


def beside(items: Sequence[Item]) -> Beside:
    rows = Counter(((own,), make_pattern((v,) for v in met)) for own, met in items)
    return rater_beside_group([*rows.items()], READ, 4)


def plain(items: list[Item], measure: str) -> float | None:
    """The coefficient from items one by one."""
    observed = fmean(met.count(own) / len(met) for own, met in items)
    rater = [fmean(own == c for own, _ in items) for c in CATEGORIES]
    group = [fmean(met.count(c) / len(met) for _, met in items) for c in CATEGORIES]
    mean = [(r + g) / 2 for r, g in zip(rater, group, strict=True)]
    expected = {
        "percent_agreement": 0.0,
        "fleiss_kappa": sum(p * p for p in mean),
        "gwet_ac1": sum(p * (1 - p) for p in mean) / 2,
        "brennan_prediger": 1 / 3,
    }.get(measure)
    if expected is None:  # alpha: items weigh as many answers as they have
        weights = [1 + len(met) for _, met in items]
        differ = [1 - met.count(own) / len(met) for own, met in items]
        apart = sum(w * d for w, d in zip(weights, differ, strict=True)) / sum(weights)
        every = Counter(c for _, met in items for c in met)
        own_counts = Counter(own for own, _ in items)
        same = sum(own_counts[c] * every[c] for c in CATEGORIES)
        chance = 1 - same / (len(items) * every.total())
        return None if chance == 0 else 1 - apart / chance
    return None if expected == 1 else (observed - expected) / (1 - expected)


@pytest.mark.parametrize("measure", NAMES)
@given(ITEMS)
@examples(60)
def test_a_coefficient_is_that_of_a_plain_count(measure, items):
    expected = plain(items, measure)
    value = rater_coefficient(measure, beside(items)).value
    assert value == (None if value is None else pytest.approx(expected, abs=1e-12))


@pytest.mark.parametrize("measure", NAMES)
@given(items=ITEMS, weight=st.integers(0, 24))
@examples(40)
def test_an_item_moves_the_figure_by_its_influence(measure, items, weight):
    """The derivative by a small further weight of one item is its influence, to first order."""
    rows = Counter(((own,), make_pattern((v,) for v in met)) for own, met in items)
    key = [*rows][weight % len(rows)]
    scale = 10_000
    many = {row: n * scale for row, n in rows.items()}
    more = {**many, key: many[key] + 10}  # so little that the first order is all there is
    before = rater_coefficient(measure, rater_beside_group([*many.items()], READ, 4))
    after = rater_coefficient(measure, rater_beside_group([*more.items()], READ, 4))
    if before.value is None or after.value is None:
        return
    assert before.influence is not None
    place = [*many].index(key)
    slope = (after.value - before.value) / 10
    assert slope == pytest.approx(before.influence[place], rel=0.05, abs=1e-9)


@given(ITEMS)
@examples(40)
def test_the_group_beside_itself_is_its_own_coefficient(items):
    """Percent agreement of the group is the mean over its members, each set beside the others."""
    pairs = fmean(fmean(a == b for a, b in combinations(met, 2)) for _, met in items)
    assert group_coefficient("percent_agreement", beside(items)).value == pytest.approx(pairs)


@given(ITEMS)
@examples(40)
def test_the_majority_of_the_others_is_the_truth_for_rater_and_member_alike(items):
    rater = []
    member = []
    shares = []
    for own, met in items:
        hits = [0, 0, 0]
        for place, answer in enumerate(met):
            others = Counter(met[:place] + met[place + 1 :]).most_common()
            if len(others) == 1 or others[0][1] > others[1][1]:
                hits[0] += own == others[0][0]
                hits[1] += answer == others[0][0]
                hits[2] += 1
        rater.append(hits[0] / len(met))
        member.append(hits[1] / len(met))
        shares.append(hits[2] / len(met))
    first, second = agreement_with_majority(beside(items))
    if sum(shares) == 0:
        assert (first.value, first.undefined) == (None, "no_overlap")
    else:
        assert first.value == pytest.approx(sum(rater) / sum(shares))
        assert second.value == pytest.approx(sum(member) / sum(shares))


def test_a_rater_drawn_at_random_from_the_group_is_on_average_at_its_agreement():
    draw = np.random.default_rng(1)
    gaps = []
    for _ in range(200):
        truth = draw.integers(1, 4, 100)
        answers = np.where(draw.random((5, 100)) < 0.8, truth, draw.integers(1, 4, (5, 100)))
        items = [(int(a[0]), tuple(map(int, a[1:]))) for a in answers.T]
        of = beside(items)
        for measure in NAMES:
            gap = gap_between(rater_coefficient(measure, of), group_coefficient(measure, of), 0.95)
            assert gap is not None
            gaps.append((measure, gap.value, gap.low <= 0 <= gap.high))
    for measure in NAMES:
        own = [row for row in gaps if row[0] == measure]
        assert abs(fmean(value for _, value, _ in own)) < 0.015
        assert 0.9 <= fmean(covered for *_, covered in own) <= 1.0


def test_a_constant_rater_has_no_more_than_chance():
    items = [(1, (1, 1, 2)), (2, (2, 2, 2)), (1, (1, 1, 1)), (3, (3, 1, 1))] * 10
    constant = constant_rater(beside(items), READ)
    assert rater_coefficient("percent_agreement", constant).value == pytest.approx(7 / 12)
    assert (rater_coefficient("krippendorff_alpha", constant).value or 0) < 0.05
    assert random_coefficient("percent_agreement", beside(items)) == pytest.approx(
        0.5 * 7 / 12 + 0.25 * 4 / 12 + 0.25 * 1 / 12
    )


def test_few_items_without_any_difference_are_not_called_sure():
    of = beside([(1, (1, 1)), (2, (2, 2)), (3, (3, 3))])
    gap = gap_between(
        rater_coefficient("percent_agreement", of), group_coefficient("percent_agreement", of), 0.95
    )
    assert gap is not None
    assert (gap.value, gap.p_value) == (0.0, None)
    assert gap.low == pytest.approx(0.05 ** (1 / 3) - 1)


def test_items_that_two_people_answered_are_preferred_to_those_of_one():
    of = beside([(1, (1, 1)), (1, (2,)), (2, (2, 1))])
    assert of.group.items == 2
    assert beside([(1, (2,)), (1, (1,))]).group.items == 2
