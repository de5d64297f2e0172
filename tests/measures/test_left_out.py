"""Annotators, items and categories left out, categories merged: the same as counting anew."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.measures.answered import Answered
from tests.measures.strategies import (
    answered,
    complete,
    crowd,
    one_category,
    several_categories,
    tally,
)
from tests.profiles import examples
from tracker.core.tallies import ItemPatterns
from tracker.measures.chance_corrected import percent_agreement
from tracker.measures.registry import MEASURES
from tracker.measures.resampling import (
    jackknife_item_patterns,
    jackknife_without_item,
    most_influential_patterns,
)
from tracker.measures.sample import (
    merge_pattern_answer,
    merge_pattern_table,
    patterns_without_category,
    sample_for_measures,
)

BOOTSTRAPPED = {name: one.redrawn for name, one in MEASURES.items() if one.redrawn is not None}
some = examples(15)
DECLARED: dict[str, Any] = {"categories": [0, 1, 2, 3], "values": {0: 0.0, 1: 1.0, 2: 2.5, 3: 6.0}}


@some
@given(answered(one_category | several_categories))
def test_leaving_out_each_annotator_is_counting_without_him(answers):
    left = dict(jackknife_item_patterns(answers.patterns, answers.tallies))
    assert left.keys() == answers.marginals.keys()
    for annotator, patterns in left.items():
        others = Answered(
            [
                {who: answer for who, answer in given_.items() if who != annotator}
                for given_ in answers.given
            ]
        )
        assert patterns == others.patterns


@some
@given(answered(one_category | several_categories), st.sets(st.integers(0, 3), min_size=2))
def test_merging_is_counting_merged_answers(answers, merged):
    into = dict.fromkeys(merged, min(merged))
    rows = [[merge_pattern_answer(a, into) for a in given_.values()] for given_ in answers.given]
    assert merge_pattern_table(answers.patterns, into) == tally(rows)


@some
@given(complete(annotators=3))
def test_nothing_is_left_to_agree_on_where_all_categories_are_merged(answers):
    one = merge_pattern_table(answers.patterns, dict.fromkeys(range(4), 0))
    for measure in ("fleiss_kappa", "krippendorff_alpha", "gwet_ac1", "brennan_prediger"):
        function = MEASURES[measure].function
        assert function is not None
        found = function(sample_for_measures(one, 3, categories=[0]))
        assert (found.value, found.undefined) == (None, "single_category"), measure
    raw = percent_agreement(sample_for_measures(one, 3, categories=[0]))
    assert raw.value == 1


@some
@given(answered(several_categories), st.integers(0, 3))
def test_without_a_category_is_without_the_answers_that_hold_it(answers, category):
    rows = [[a for a in given_.values() if category not in a] for given_ in answers.given]
    assert patterns_without_category(answers.patterns, category) == tally(rows)


@some
@given(answered())
def test_merging_two_of_four_changes_no_more_than_those(answers):
    for first, second in combinations(range(4), 2):
        merged = merge_pattern_table(answers.patterns, {second: first})
        assert merged.items == answers.patterns.items
        assert merged.answers == answers.patterns.answers
        used, together = labels_by_category(answers.patterns), labels_by_category(merged)
        assert together[first] == used[first] + used[second]
        assert second not in together


def labels_by_category(patterns: ItemPatterns) -> Counter[int]:
    """How many answers hold each category that occurs."""
    totals = Counter()
    for pattern, items in patterns:
        for answer, count in pattern:
            totals.update(dict.fromkeys(answer, items * count))
    return totals


@pytest.mark.parametrize(
    ("measure", "reading"),
    [
        *((name, word) for name in BOOTSTRAPPED for word in ("identity", "quadratic")
          if name not in {"scott_pi", "gwet_ac2", "krippendorff_alpha"}),
        *(("krippendorff_alpha", scale) for scale in ("nominal", "ordinal", "interval", "ratio")),
    ],
)  # fmt: skip
@some
@given(answered())
def test_without_one_item_is_counting_without_it(measure, reading, answers):
    how = {"scale" if measure == "krippendorff_alpha" else "weighting": reading}
    patterns = answers.patterns
    sample = sample_for_measures(patterns, 4, **how, **DECLARED)
    places = list(range(len(sample.table.items)))
    function = MEASURES[measure].function
    assert function is not None
    values = jackknife_without_item(sample, measure, places)
    for (pattern, _), value in zip(patterns, values, strict=True):
        left = patterns - ItemPatterns({pattern: 1})
        wanted = function(sample_for_measures(left, 4, **how, **DECLARED)).value
        assert value == (None if wanted is None else pytest.approx(wanted, abs=1e-9))


def test_the_strongest_patterns_move_the_figure_most():
    answers = crowd(60, 5)
    alpha = answers.estimate("krippendorff_alpha")
    assert alpha.influence is not None
    order = most_influential_patterns(alpha.influence, 5)
    sizes = np.abs(alpha.influence)
    assert len(order) == 5
    assert [sizes[place] for place in order] == sorted(sizes, reverse=True)[:5]
    values = jackknife_without_item(answers.sample(), "krippendorff_alpha", order)
    for place, value in zip(order, values, strict=True):
        assert value is not None
        assert alpha.value is not None
        # To first order; one of sixty items leaves a sixtieth of it to the second.
        assert alpha.value - value == pytest.approx(alpha.influence[place], rel=0.06)
