"""Errors of coefficients: linearised, by cluster, resampled, over annotators, without an item.

Each against something that does not know its formula: a numerical slope, a jackknife, items
counted twice, samples drawn again. What other programs print for an error is in test_oracles.
"""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.measures.answered import Answered, estimate_of
from tests.measures.strategies import answered, crowd, one_category, several_categories, tally
from tests.profiles import examples
from tracker.core.tallies import ItemPatterns
from tracker.measures.cohen import cohen_kappa
from tracker.measures.intervals import INTERVALS, Coefficient
from tracker.measures.registry import MEASURES
from tracker.measures.resampling import (
    bootstrap,
    coefficient_over_clusters,
    jackknife_item_patterns,
    jackknife_over_annotators,
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
DECLARED = {"categories": [0, 1, 2, 3], "values": {0: 0.0, 1: 1.0, 2: 2.0, 3: 4.0}}
SHARED = ("percent_agreement", "fleiss_kappa", "brennan_prediger")
PLAIN = [(name, DECLARED) for name in (*SHARED, "gwet_ac1")]
ALPHAS = [("krippendorff_alpha", DECLARED | {"scale": scale})
          for scale in ("nominal", "ordinal", "interval", "ratio")]  # fmt: skip
WEIGHTED = [(name, DECLARED | {"weighting": word}) for name in (*SHARED, "gwet_ac2")
            for word in ("linear", "quadratic", "ordinal")]  # fmt: skip
CONGER = [("conger_kappa", DECLARED | {"weighting": word}) for word in ("identity", "linear")]
EVERY = [*PLAIN, *ALPHAS, *WEIGHTED]
APART = [{1: (0,), 2: (0,)}, {1: (1,), 2: (1,)}]


def named(pair):
    measure, reading = pair
    return f"{measure}-{reading.get('weighting', reading.get('scale', 'plain'))}"


each = pytest.mark.parametrize(("measure", "reading"), EVERY, ids=map(named, EVERY))


def numbers(figure):
    return figure.value, figure.standard_error, figure.ci_low, figure.ci_high


@each
def test_an_items_influence_is_the_slope_of_the_coefficient(measure, reading):
    """The slope: a hundred items more of one kind among a hundred million."""
    patterns = crowd(100, 3, answering=0.6).patterns
    many = ItemPatterns({pattern: n * 1_000_000 for pattern, n in patterns})
    influence = estimate_of(measure, sample_for_measures(many, 4, **reading)).influence
    for place, (pattern, items) in [*enumerate(many)][::3]:
        less, more = (
            estimate_of(measure, sample_for_measures(
                ItemPatterns({**many.counts, pattern: n}), 4, **reading)).value
            for n in (items - 1000, items + 1000)
        )  # fmt: skip
        # Influences are some 1e-9; a value of 16 digits gives seven of a slope over 2000 items.
        assert influence[place] == pytest.approx((more - less) / 2000, rel=1e-4, abs=1e-13)


# Squared distances give a rare outlying category great influence, of which a jackknife makes more:
# it takes in what is of second order, is conservative (Efron and Stein 1981), and falls with 1 / n.


def test_the_error_of_lights_kappa_is_near_a_jackknifes():
    answers = crowd(80, 8)
    error = answers.estimate("light_kappa", **DECLARED).standard_error
    rows, values = list(answers.given), []
    for place in range(len(rows)):
        tables = Answered(rows[:place] + rows[place + 1 :]).tables
        values.append(np.mean([cohen_kappa(table).value for table in tables.values()]))
    wanted = math.sqrt(79**2 / 80 * float(np.var(values, ddof=1)))
    assert error == pytest.approx(wanted, rel=0.02)


@examples(10)
@example(Answered([{1: (0,)}, {1: (0,), 2: (0,)}, {1: (0,), 2: (0,), 3: (0,), 4: (1,)}]))
@given(answered())
def test_bounds_hold_the_value(answers):
    for measure, reading in [*EVERY, *CONGER]:
        estimate = answers.estimate(measure, **reading)
        figure = estimate.coefficient(0.9)
        assert (figure.ci_low is None) == (figure.ci_high is None) == (figure.method is None)
        if figure.ci_low is not None:
            least = -1 if not figure.expected else -figure.expected / (1 - figure.expected)
            assert min(-1, least, figure.value) <= figure.ci_low <= figure.value
            assert figure.value <= figure.ci_high <= 1
            wider = estimate.coefficient(0.99)  # of other draws
            assert wider.method != figure.method or wider.ci_low <= figure.ci_low + 1e-3


def test_items_that_hardly_vary():
    alike = Answered([{1: (0,), 2: (0,), 3: (1,)}] * 9)
    figure = alike.estimate("percent_agreement").coefficient()
    low = 0.05 ** (1 / 9)
    assert numbers(figure) == pytest.approx((1 / 3, 0, low / 3, 1 - low * 2 / 3))
    assert figure.method == "one-sided exact"


def by_cluster(answers, measure, clusters, how="asymmetric", **reading):
    """The figure with the error of items in clusters, one number per item."""
    estimate = answers.estimate(measure, **reading)
    place = {pattern: n for n, (pattern, _) in enumerate(answers.patterns)}
    sums = Counter()
    for item, cluster in zip(answers.given, clusters, strict=True):
        (pattern,) = Answered([item]).patterns.counts
        sums[cluster] += estimate.influence[place[pattern]]
    powers = sum(total**2 for total in sums.values()), sum(total**4 for total in sums.values())
    figure, pairs = estimate.coefficient(interval=how), estimate.of_pairs
    return coefficient_over_clusters(figure, powers, len(sums), "document", how, of_pairs=pairs)


@each
def test_clusters_of_one_item_and_of_copies_of_an_item(measure, reading):
    answers = crowd(400, 11)  # enough for the bounds of both to be made alike
    for how in INTERVALS:
        plain = answers.estimate(measure, **reading).coefficient(interval=how)
        clustered = by_cluster(answers, measure, range(400), how, **reading)
        assert clustered.method == "clustered by document"
        assert numbers(clustered) == pytest.approx(numbers(plain), abs=1e-12)
    once = crowd(50, 11)
    twice = Answered([*once.given, *once.given])
    clustered = by_cluster(twice, measure, [*range(50), *range(50)], **reading).standard_error
    wanted = once.estimate(measure, **reading).standard_error
    assert clustered == pytest.approx(wanted, abs=1e-12)
    # Twice 50 items look like 100: sqrt((2n - 1) / (n - 1)), near the root of two.
    naive = twice.estimate(measure, **reading).standard_error
    assert clustered / naive == pytest.approx(math.sqrt(99 / 49), abs=1e-9)


def test_one_cluster_supports_no_error_and_nothing_has_none():
    one = by_cluster(crowd(20, 1), "fleiss_kappa", [0] * 20)
    assert (*numbers(one)[1:], one.method) == (None, None, None, None)
    assert one.value is not None
    blank = Coefficient("fleiss_kappa", None, "no_overlap")
    assert coefficient_over_clusters(blank, (1.0, 1.0), 5, "document") is blank


def test_the_bootstrap_is_near_the_linearised_error():
    answers = crowd(1000, 21, answering=0.6)
    for measure, reading in [*PLAIN, *WEIGHTED[-3:], *ALPHAS]:
        plain = answers.estimate(measure, **reading).coefficient()
        rounds = 300 if reading.get("scale") == "ordinal" else 1000
        (figure,) = bootstrap(answers.sample(**reading), [plain], replicates=rounds, seed=5)
        assert (figure.value, figure.method) == (plain.value, "bootstrap")
        # The spread of 1000 values is known to 1 / sqrt(2000), 2.2%; of 300 to 4.1%.
        spread = pytest.approx(plain.standard_error, rel=4 / (2 * rounds) ** 0.5)
        assert figure.standard_error == spread
        for one, other in ((figure.ci_low, plain.ci_low), (figure.ci_high, plain.ci_high)):
            assert one == pytest.approx(other, abs=0.5 * plain.standard_error)


def test_figures_that_cannot_be_bootstrapped_keep_what_they_have():
    answers = crowd(30, 4)
    conger = answers.estimate("conger_kappa", **DECLARED).coefficient()
    blank = Coefficient("fleiss_kappa", None, "no_overlap")
    kept = [conger, blank]
    assert bootstrap(answers.sample(**DECLARED), kept, replicates=10, seed=0) == kept
    # Both items of two answers are in 1 - 2 (21/22)**22 + (20/22)**22 of the samples: in 40%.
    few = Answered([*APART, *([{1: (0,)}] * 20)])
    plain = few.estimate("krippendorff_alpha").coefficient()
    assert (plain.value, plain.standard_error) == (1, 0)
    assert bootstrap(few.sample(), [plain], replicates=500, seed=1) == [plain]
    perfect = Answered(APART * 10)  # samples that do not vary leave the exact bound
    plain = perfect.estimate("fleiss_kappa").coefficient(interval="t")
    assert (plain.value, plain.method) == (1, "one-sided exact")
    assert bootstrap(perfect.sample(), [plain], replicates=500, seed=1) == [plain]


def test_the_jackknife_over_annotators_by_hand():
    values = [0.4, 0.5, 0.6, 0.7]
    kappa = jackknife_over_annotators(Coefficient("fleiss_kappa", 0.5), values)
    # (n - 1) / n times the squared distances from .55: .75 * .05.
    assert kappa.standard_error == pytest.approx(math.sqrt(0.0375))
    # t of three degrees of freedom at 97.5% is 3.182; both bounds are cut off at the limits.
    assert kappa.ci_low == pytest.approx(0.5 - 3.1824 * math.sqrt(0.0375), abs=1e-4)
    assert (kappa.ci_high, kappa.method) == (1.0, "jackknife over annotators")
    share = jackknife_over_annotators(Coefficient("percent_agreement", 0.5), values)
    assert share.ci_low == 0.0
    figure = Coefficient("fleiss_kappa", 0.5, standard_error=0.1, ci_low=0.3, ci_high=0.7)
    blank = Coefficient("fleiss_kappa", None, "no_overlap")
    for without in ([0.4, 0.5], [0.4, None, 0.5, 0.6], []):
        few = jackknife_over_annotators(figure, without)
        assert (*numbers(few)[:3], few.method) == (0.5, None, None, None)
        assert jackknife_over_annotators(blank, without) is blank


@examples(15)
@given(answered(one_category | several_categories), st.sets(st.integers(0, 3), min_size=2))
def test_leaving_out_and_merging_is_counting_anew(answers, merged):
    left = dict(jackknife_item_patterns(answers.patterns, answers.tallies))
    assert left.keys() == answers.marginals.keys()
    for annotator, patterns in left.items():
        rows = [{name: answer for name, answer in item.items() if name != annotator}
                for item in answers.given]  # fmt: skip
        assert patterns == Answered(rows).patterns
    into = dict.fromkeys(merged, min(merged))
    rows = [[merge_pattern_answer(a, into) for a in item.values()] for item in answers.given]
    assert merge_pattern_table(answers.patterns, into) == tally(rows)
    for category in range(4):
        rows = [[a for a in item.values() if category not in a] for item in answers.given]
        assert patterns_without_category(answers.patterns, category) == tally(rows)


READINGS = [
    *((name, {"weighting": word}) for name in BOOTSTRAPPED for word in ("identity", "quadratic")
      if name not in {"scott_pi", "gwet_ac2", "krippendorff_alpha"}), *ALPHAS,
]  # fmt: skip


@examples(15)
@given(answered(), st.sampled_from(READINGS))
def test_without_one_item_is_counting_without_it(answers, pair):
    measure, reading = pair
    reading = DECLARED | reading
    sample = sample_for_measures(answers.patterns, 4, **reading)
    values = jackknife_without_item(sample, measure, list(range(len(sample.table.items))))
    for (pattern, _), value in zip(answers.patterns, values, strict=True):
        left = answers.patterns - ItemPatterns({pattern: 1})
        wanted = estimate_of(measure, sample_for_measures(left, 4, **reading)).value
        assert value == (None if wanted is None else pytest.approx(wanted, abs=1e-9))


def test_the_strongest_patterns_move_the_figure_most():
    answers = crowd(60, 5)
    alpha = answers.estimate("krippendorff_alpha")
    order = most_influential_patterns(alpha.influence, 5)
    sizes = np.abs(alpha.influence)
    assert [sizes[place] for place in order] == sorted(sizes, reverse=True)[:5]
    values = jackknife_without_item(answers.sample(), "krippendorff_alpha", order)
    for place, value in zip(order, values, strict=True):
        # To first order; one of sixty items leaves a sixtieth of it to the second.
        assert alpha.value - value == pytest.approx(alpha.influence[place], rel=0.06)
