"""F1 of spans, matchings of intervals, and Krippendorff's alpha for unitizing."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, permutations
from random import Random
from statistics import fmean

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.measures.span_oracles import best_by_trying
from tests.measures.strategies import tally as tally_items
from tests.profiles import exhaustive
from tracker.measures.category_rates import category_rates
from tracker.measures.spans.f1 import SPAN_MEASURES, span_f1
from tracker.measures.spans.overlap import (
    common_span_length,
    disjoint_spans,
    mark_span_sets,
    most_matches,
)
from tracker.measures.spans.tallies import SpanTally, pooled_span_agreement, span_rates
from tracker.measures.spans.unitizing import UnitTally, unitizing_alpha

NAMES = list(SPAN_MEASURES)

place = st.tuples(st.integers(0, 12), st.integers(1, 8)).map(lambda p: (p[0], sum(p)))
places = st.lists(place, max_size=7).map(sorted)
span = st.tuples(st.integers(1, 3), place).map(lambda s: (s[0], *s[1]))
answer = st.lists(span, max_size=6)
answers = st.dictionaries(st.sampled_from("ABCD"), answer, max_size=4)
projects = st.lists(answers, max_size=4)


def tally(rows):
    sums = SpanTally()
    for document in rows:
        sums.add(mark_span_sets(document))
    return sums


def pooled(*rows, confidence=0.95):
    return {one.measure: one for one in pooled_span_agreement(tally(rows), confidence)}


# Intervals: matchings against trying everything, lengths against counting positions.


@given(places, places)
# Equal spans first would leave one pair: only crosswise there are two.
@example([(0, 3), (2, 8)], [(2, 8), (7, 9)])
@example([(0, 9), (1, 2), (3, 4)], [(0, 2), (1, 5), (4, 9)])
@example([(0, 2), (2, 4)], [(0, 4)])
@example([(0, 2)], [(2, 4)])
def test_matchings_and_positions_of_intervals(first, second):
    assert most_matches(first, second) == best_by_trying(first, second)
    assert most_matches(second, first) == most_matches(first, second)
    positions = [{n for start, end in side for n in range(start, end)} for side in (first, second)]
    one, other = disjoint_spans(first), disjoint_spans(second)
    assert {n for start, end in one for n in range(start, end)} == positions[0]
    assert sum(end - start for start, end in one) == len(positions[0])
    assert common_span_length(one, other) == len(positions[0] & positions[1])


def test_a_matching_of_many_nested_spans_takes_no_longer_than_sorting():
    nested = [(n, 40_000 - n) for n in range(20_000)]
    apart = [(2 * n, 2 * n + 1) for n in range(20_000)]
    assert most_matches(nested, apart) == 20_000
    assert most_matches(nested, nested) == 20_000
    long = pooled({"A": [(1, 0, 10**9)], "B": [(1, 10**8, 10**9)]})["token_f1"]
    assert long.true_positives == 9 * 10**8, "tokens are not listed"


def plain(first, second):
    """(true positives, first, second) of each measure, by sets of what is counted."""

    def tokens(spans, labelled):
        return {(n, c) if labelled else (n,) for c, start, end in spans for n in range(start, end)}

    exact = (Counter(first) & Counter(second)).total()
    where = [Counter(one[1:] for one in side) for side in (first, second)]
    overlap = sum(
        best_by_trying(*(sorted(s[1:] for s in side if s[0] == category)
                         for side in (first, second)))
        for category in {one[0] for one in first}
    )  # fmt: skip
    matched = (exact, (where[0] & where[1]).total(), overlap)
    covering = [[tokens(side, labelled) for side in (first, second)] for labelled in (True, False)]
    return [(tp, len(first), len(second)) for tp in matched] + [
        (len(one & other), len(one), len(other)) for one, other in covering
    ]


@given(projects)
def test_a_project_by_plain_counting(rows):
    sums = tally(rows)
    pairs = {}
    for document in rows:
        for pair in combinations(sorted(document), 2):
            five = pairs.setdefault(pair, [[0, 0, 0] for _ in NAMES])
            for numbers, counts in zip(five, plain(*map(document.get, pair)), strict=True):
                numbers[:] = [a + b for a, b in zip(numbers, counts, strict=True)]
    assert {
        pair: [[part.true_positives, part.first, part.second] for part in five]
        for pair, five in sums.pairs.items()
    } == pairs
    for n, figure in enumerate(pooled_span_agreement(sums)):
        tp, first, second = (sum(five[n][k] for five in pairs.values()) for k in range(3))
        values = [2 * a / (b + c) for a, b, c in (five[n] for five in pairs.values()) if b + c]
        assert figure.true_positives == tp
        assert figure.value == (2 * tp / (first + second) if first + second else None)
        assert figure.precision == (tp / second if second else None)
        assert figure.recall == (tp / first if first else None)
        assert figure.macro == (pytest.approx(fmean(values)) if values else None)
        assert figure.documents == sum(len(document) > 1 for document in rows)
        assert (figure.value is None) == (figure.undefined is not None)
        if figure.ci_low is not None:
            assert 0 <= figure.ci_low <= figure.value <= figure.ci_high <= 1


@given(projects)
def test_annotators_and_categories_by_plain_counting(rows):
    sums = tally(rows)
    shared = [(d[a], d[b]) for d in rows for a, b in combinations(sorted(d), 2)]
    for rate in span_rates(sums, [1, 2, 3]):
        both = union = 0
        for sides in shared:
            one, other = (Counter(s for s in side if s[0] == rate.category) for side in sides)
            both += (one & other).total()
            union += (one | other).total()
        assert (rate.agreements, rate.potential_agreements) == (both, union)
        assert rate.rate == (both / union if union else None)
        assert rate.specific_agreement == (2 * both / (both + union) if union else None)
        every = [s for document in rows for spans in document.values() for s in spans]
        assert rate.labels == sum(s[0] == rate.category for s in every)
    for name, own in sums.annotators.items():
        mine = [d for d in rows if name in d]
        met = [(d[name], d[other]) for d in mine for other in d if other != name]
        assert own.answers == len(mine)
        assert own.categories == Counter(s[0] for d in mine for s in d[name])
        assert own.exact.first == sum(len(one) for one, _ in met)
        assert own.exact.second == sum(len(other) for _, other in met)
        tp = sum((Counter(one) & Counter(other)).total() for one, other in met)
        assert own.exact.true_positives == tp


# Shapes of spans: measures with their figures.


ONE = {"A": [(1, 0, 1)], "B": [(1, 0, 1)]}
EMPTY = {"A": [], "B": []}


@pytest.mark.parametrize(
    ("rows", "reason"),
    [([], "too_few_items"), ([{"A": [(1, 0, 1)]}], "too_few_annotators"),
     ([{"A": [(1, 0, 1)]}, {"B": [(1, 0, 1)]}], "no_overlap"),
     ([EMPTY, {"A": [(1, 0, 1)]}], "single_category")],
)  # fmt: skip
def test_undefined_figures_say_why(rows, reason):
    for figure in pooled_span_agreement(tally(rows)):
        assert (figure.value, figure.undefined, figure.true_positives) == (None, reason, 0)
    for rate in span_rates(tally(rows), [1]):
        assert (rate.rate, rate.undefined) == (None, "no_overlap")


def crowd(number):
    """Three annotators who mark the same spans with slips, now and then nothing."""
    random = Random(1)  # noqa: S311
    rows = []
    for _ in range(number):
        truth = [(random.randint(1, 3), 10 * n, 10 * n + 4) for n in range(random.randint(0, 6))]
        document = {name: [] for name in "ABC"}
        for spans in document.values():
            for category, start, end in truth:
                slip = random.random()
                if slip < 0.9:
                    moved = (start, end) if slip < 0.7 else (start + 1, end + 2)
                    spans.append((category, *moved))
        rows.append(document)
    return rows


@pytest.mark.parametrize("number", [60, pytest.param(200, marks=exhaustive)])
def test_errors_are_those_of_leaving_one_document_out(number):
    rows = crowd(number)
    parts = [pooled(*rows[:n], *rows[n + 1 :]) for n in range(number)]
    for name, figure in pooled(*rows).items():
        values = [part[name].value for part in parts]
        mean = fmean(values)
        jackknife = ((number - 1) / number * sum((v - mean) ** 2 for v in values)) ** 0.5
        assert figure.standard_error == pytest.approx(jackknife, rel=0.02)


def test_errors_and_bounds_of_spans():
    # Three annotators who are two, one of them twice: no more is known than of two.
    two = [{"A": d["A"], "B": d["B"]} for d in crowd(60)]
    alone = span_f1("span_f1_exact", tally(two).pooled[0])
    three = span_f1("span_f1_exact", tally([{**d, "C": d["B"]} for d in two]).pooled[0], pairs=3)
    assert three.standard_error > 0.6 * alone.standard_error
    narrow, wide = (pooled(*crowd(20), confidence=level)["token_f1"] for level in (0.8, 0.99))
    assert wide.ci_low < narrow.ci_low
    perfect = pooled(*[ONE] * 10, EMPTY)["span_f1_exact"]
    assert (perfect.value, perfect.standard_error, perfect.ci_high) == (1, 0, 1)
    assert perfect.ci_low == pytest.approx(0.05 ** (1 / 10))
    one = {"A": [(1, 0, 1), (1, 2, 3)], "B": [(1, 0, 1)]}
    for rows in ([one], [one, EMPTY]):  # one document with spans
        figure = pooled(*rows)["span_f1_exact"]
        assert (figure.standard_error, figure.ci_low, figure.ci_high) == (None, None, None)


def test_category_rates_are_those_of_items_where_a_span_is_an_item():
    # One place a document, marked with category 1 or with nothing: an item of one category.
    random = Random(5)  # noqa: S311
    marks = [[random.random() < 0.7 for _ in "ABC"] for _ in range(50)]
    rows = [{name: [(1, 0, 1)] * mark for name, mark in zip("ABC", row, strict=True)}
            for row in marks]  # fmt: skip
    patterns = tally_items([[(1,) if mark else () for mark in row] for row in marks])
    rates = category_rates(patterns, [1, 2], interval="t")
    assert span_rates(tally(rows), [1, 2]) == rates


# Krippendorff's alpha for unitizing.

LENGTH = 14


def units(*rows):
    sums = UnitTally()
    for document, length in rows:
        sums.add(mark_span_sets(document), length)
    return sums


def alpha_of(*rows):
    return unitizing_alpha(units(*rows))


def test_the_example_of_krippendorff_2004():
    """Page 254: a continuum from 150 to 450, two observers, c = 1, k = 2."""
    both = [(2, 180, 240), (2, 300, 350)]
    observers = {
        "i": [(1, 225, 295), (1, 370, 400), *both],
        "j": [(1, 220, 300), (1, 355, 375), (1, 400, 420), *both],
    }
    sums = units(({who: [(c, s - 150, e - 150) for c, s, e in own]
                   for who, own in observers.items()}, 300))  # fmt: skip
    (observed, expected), (none, other) = sums.disagreements(1), sums.disagreements(2)
    assert float(observed) == pytest.approx(0.0144, abs=5e-5)
    assert float(expected) == pytest.approx(0.0532, abs=5e-5)
    assert none == 0
    assert float(other) == pytest.approx(0.0490, abs=5e-5)
    alpha = unitizing_alpha(sums)
    assert alpha.value == pytest.approx(0.8591, abs=5e-4)  # there from the rounded figures above
    assert (alpha.items, alpha.standard_error, alpha.ci_low) == (1, None, None)


# Page 57, examples A to D. Its expected disagreement has since been put right by the author.


def apart(spans):
    """The spans that overlap none before them of the same category."""
    kept = []
    for category, start, end in sorted(spans):
        if not any(c == category and start < e and s < end for c, s, e in kept):
            kept.append((category, start, end))
    return kept


short = st.tuples(st.integers(0, LENGTH - 4), st.integers(1, 4)).map(lambda p: (p[0], sum(p)))
unit = st.tuples(st.integers(1, 2), short).map(lambda s: (s[0], *s[1]))
unitized = st.lists(unit, max_size=5).map(apart)
continua = st.fixed_dictionaries(
    {"A": unitized, "B": unitized}, optional={"C": unitized, "D": unitized}
)


def gaps(units):
    edges = [0, *(edge for unit in units for edge in unit), LENGTH]
    return [(s, e) for s, e in zip(edges[::2], edges[1::2], strict=True) if s < e]


def by_definition(document, category):
    """D_o and D_e of one document, term by term as the source has them."""
    own = {who: [(s, e) for c, s, e in spans if c == category] for who, spans in document.items()}
    m = len(document)
    observed = 0
    for one, other in permutations(document, 2):
        for s, e in own[one]:
            observed += sum((s - t) ** 2 + (e - f) ** 2 for t, f in own[other] if s < f and t < e)
            # Once as a unit in a gap and, with the annotators the other way round, once as a gap.
            observed += 2 * sum((e - s) ** 2 for t, f in gaps(own[other]) if t <= s and e <= f)
    every = [e - s for units in own.values() for s, e in units]
    holes = [f - t for units in own.values() for t, f in gaps(units)]
    expected = sum(
        (len(every) - 1) / 3 * (2 * n**3 - 3 * n**2 + n)
        + n * n * sum(hole - n + 1 for hole in holes if hole >= n)
        for n in every
    )
    positions = m * LENGTH
    ways = positions * (positions - 1) - sum(n * (n - 1) for n in every)
    return observed / (m * (m - 1) * LENGTH**2), 2 / LENGTH * expected / ways


@given(st.lists(continua, min_size=1, max_size=4))
def test_unitizing_by_definition_and_in_any_order(rows):
    first = units((rows[0], LENGTH))
    for category in first.categories:
        disagreements = tuple(map(float, first.disagreements(category)))
        assert disagreements == pytest.approx(by_definition(rows[0], category))
    alpha = alpha_of(*((document, LENGTH) for document in rows))
    assert alpha_of(*((document, LENGTH) for document in rows[::-1])) == alpha
    if alpha.value is None:
        assert alpha.undefined == "single_category"
        assert not any(own for document in rows for own in document.values())
    else:
        assert alpha.value <= 1
        same = all(own == document["A"] for document in rows for own in document.values())
        assert (alpha.value == 1) == same


def test_documents_are_one_continuum():
    # Two documents that nothing crosses are one of their length where units touch both ends.
    halves = [({"A": [(1, 0, 3), (1, 8, 10)], "B": [(1, 0, 4), (1, 8, 10)]}, 10),
              ({"A": [(1, 0, 2), (1, 4, 10)], "B": [(1, 0, 3)]}, 10)]  # fmt: skip
    whole = {"A": [(1, 0, 3), (1, 8, 10), (1, 10, 12), (1, 14, 20)],
             "B": [(1, 0, 4), (1, 8, 10), (1, 10, 13)]}  # fmt: skip
    assert alpha_of(*halves).value == alpha_of((whole, 20)).value
    # Answers that not everyone gave weigh as in alpha.
    twice = [({"A": [(1, 0, 3)], "B": [(1, 1, 3)]}, 9)] * 2
    once = ({"A": [(1, 0, 3)], "B": [(1, 1, 3)], "C": [(1, 1, 3)]}, 9)
    # Observed: 1 of a pair twice, and 1 of each of two pairs halved; over 2 * 18 + 3 * 9 positions.
    observed = units(*twice, once).disagreements(1)[0]
    assert observed == pytest.approx(2 * (1 + 1 + 2 / 2) / (45 + 18) / 27)
    assert alpha_of(*twice, ({"C": [(1, 4, 9)]}, None)) == alpha_of(*twice)


FINE = ({"A": [(1, 0, 3)], "B": [(1, 0, 3)]}, 9)


@pytest.mark.parametrize(
    ("document", "length"),
    [(FINE[0], None), (FINE[0], 2), ({"A": [(1, 0, 3), (1, 2, 4)], "B": []}, 9)],
    ids=["unknown length", "past the end", "overlapping units"],
)
def test_where_unitizing_does_not_apply(document, length):
    assert alpha_of(({"A": [(1, 0, 3), (2, 2, 5)], "B": []}, 9)).value is not None  # two categories
    assert alpha_of((ONE, 1)).undefined == "single_category"
    for rows in ([(document, length), FINE], [FINE, (document, length)]):
        alpha = alpha_of(*rows)
        assert (alpha.value, alpha.undefined, alpha.items) == (None, "not_applicable", 2)
