"""F1 of spans: known answers, plain counts, averages, errors, category rates."""

from __future__ import annotations

from collections import Counter
from dataclasses import astuple
from itertools import combinations
from random import Random
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.measures.span_oracles import CASES, EXPECTED, ORACLE_NAMES, best_by_trying, documents
from tracker.core.errors import InvalidOption
from tracker.core.tallies import ItemPatterns, make_pattern
from tracker.measures.category_rates import category_rates
from tracker.measures.spans.f1 import SPAN_MEASURES, SpanAgreement, span_f1
from tracker.measures.spans.overlap import Marked, Span, common_spans, mark_span_sets
from tracker.measures.spans.tallies import SpanTally, pooled_span_agreement, span_rates

CLOSE = 1e-9
Documents = list[dict[str, list[Span]]]
NAMES = list(SPAN_MEASURES)

place = st.tuples(st.integers(0, 12), st.integers(1, 8)).map(lambda p: (p[0], p[0] + p[1]))
span = st.tuples(st.integers(1, 3), place).map(lambda s: (s[0], *s[1]))
answer = st.lists(span, max_size=6)
answers = st.dictionaries(st.sampled_from("ABCD"), answer, max_size=4)


def tally(given_documents: Documents) -> SpanTally:
    made = SpanTally()
    for document in given_documents:
        made.add(mark_span_sets(document))
    return made


def pooled(given_documents: Documents, confidence: float = 0.95) -> dict[str, SpanAgreement]:
    return {one.measure: one for one in pooled_span_agreement(tally(given_documents), confidence)}


def loaded(case: str) -> SpanTally:
    numbers = {}
    return tally(
        [
            {
                name: [(numbers.setdefault(s[0], len(numbers) + 1), *s[1:]) for s in spans]
                for name, spans in document.answers.items()
            }
            for document in documents(case)
        ]
    )


@pytest.mark.parametrize("measure", NAMES)
@pytest.mark.parametrize("case", CASES)
def test_known_pairs(case, measure):
    pairs = loaded(case).pairs
    assert {"-".join(pair) for pair in pairs} == set(EXPECTED[case]["pairs"])
    for pair, five in pairs.items():
        known = EXPECTED[case]["pairs"]["-".join(pair)][ORACLE_NAMES[measure]]
        found = span_f1(measure, five[NAMES.index(measure)])
        sums = five[NAMES.index(measure)]
        counted = (found.true_positives, sums.first, sums.second)
        assert counted == (known["tp"], known["n_a"], known["n_b"])
        assert found.documents == len(EXPECTED[case]["documents"])
        assert found.value == found.macro == pytest.approx(known["f1"], abs=CLOSE)
        if known["n_a"] and known["n_b"]:
            assert found.precision == pytest.approx(known["tp"] / known["n_b"], abs=CLOSE)
            assert found.recall == pytest.approx(known["tp"] / known["n_a"], abs=CLOSE)


@pytest.mark.parametrize("measure", NAMES)
@pytest.mark.parametrize("case", CASES)
def test_known_averages(case, measure):
    known = EXPECTED[case]["pairwise_average"][ORACLE_NAMES[measure]]
    found = pooled_span_agreement(loaded(case))[NAMES.index(measure)]
    assert found.measure == measure
    assert found.value == pytest.approx(known["micro_pooled_f1"], abs=CLOSE)
    assert found.macro == pytest.approx(known["macro_mean_f1"], abs=CLOSE)
    assert found.pairs == len(EXPECTED[case]["pairs"])


def plain(first: list[Span], second: list[Span]) -> list[tuple[int, int, int]]:
    """(true positives, first, second) of each measure, by sets of whatever is counted."""

    def tokens(spans, labelled):
        return {(n, c) if labelled else (n,) for c, start, end in spans for n in range(start, end)}

    exact = (Counter(first) & Counter(second)).total()
    where = [Counter(one[1:] for one in side) for side in (first, second)]
    overlap = 0
    for category in {one[0] for one in first}:
        sides = [sorted(s[1:] for s in side if s[0] == category) for side in (first, second)]
        overlap += best_by_trying(*sides)
    matched = (exact, (where[0] & where[1]).total(), overlap)
    spans = [(tp, len(first), len(second)) for tp in matched]
    covering = [[tokens(side, labelled) for side in (first, second)] for labelled in (True, False)]
    return spans + [(len(one & other), len(one), len(other)) for one, other in covering]


@given(answer, answer)
def test_a_pair_by_plain_counting(first, second):
    one, other = Marked(first), Marked(second)
    counted = list(zip(common_spans(one, other).numbers, one.numbers, other.numbers, strict=True))
    assert counted == plain(first, second)
    assert common_spans(other, one).numbers == common_spans(one, other).numbers


@given(st.lists(answers, max_size=4))
def test_a_project_by_plain_counting(given_documents):
    counted = tally(given_documents)
    pairs = {}
    for document in given_documents:
        for pair in combinations(sorted(document), 2):
            found = plain(document[pair[0]], document[pair[1]])
            sums = pairs.setdefault(pair, [[0, 0, 0] for _ in NAMES])
            for sum_of, numbers in zip(sums, found, strict=True):
                sum_of[:] = [a + b for a, b in zip(sum_of, numbers, strict=True)]
    assert {
        pair: [[sums.true_positives, sums.first, sums.second] for sums in five]
        for pair, five in counted.pairs.items()
    } == pairs
    for n, figure in enumerate(pooled_span_agreement(counted)):
        tp, first, second = (sum(sums[n][k] for sums in pairs.values()) for k in range(3))
        values = [2 * a / (b + c) for a, b, c in (sums[n] for sums in pairs.values()) if b + c]
        assert figure.true_positives == tp
        assert figure.value == (2 * tp / (first + second) if first + second else None)
        assert figure.precision == (tp / second if second else None)
        assert figure.recall == (tp / first if first else None)
        assert figure.macro == (pytest.approx(fmean(values)) if values else None)
        assert figure.documents == sum(len(document) > 1 for document in given_documents)
        assert (figure.value is None) == (figure.undefined is not None)
        if figure.ci_low is not None:
            assert figure.value is not None
            assert figure.ci_high is not None
            assert 0 <= figure.ci_low <= figure.value <= figure.ci_high <= 1


@given(st.lists(answers, max_size=4))
def test_annotators_and_categories_by_plain_counting(given_documents):
    counted = tally(given_documents)
    shared = [(d[a], d[b]) for d in given_documents for a, b in combinations(sorted(d), 2)]
    for rate in span_rates(counted, [1, 2, 3]):
        both = union = 0
        for sides in shared:
            one, other = (Counter(s for s in side if s[0] == rate.category) for side in sides)
            both += (one & other).total()
            union += (one | other).total()
        assert (rate.agreements, rate.potential_agreements) == (both, union)
        assert rate.rate == (both / union if union else None)
        assert rate.specific_agreement == (2 * both / (both + union) if union else None)
        every = [s for document in given_documents for spans in document.values() for s in spans]
        assert rate.labels == sum(s[0] == rate.category for s in every)
    for name, own in counted.annotators.items():
        mine = [d for d in given_documents if name in d]
        met = [(d[name], d[other]) for d in mine for other in d if other != name]
        assert own.answers == len(mine)
        assert own.categories == Counter(s[0] for d in mine for s in d[name])
        assert own.exact.first == sum(len(one) for one, _ in met)
        assert own.exact.second == sum(len(other) for _, other in met)
        tp = sum((Counter(one) & Counter(other)).total() for one, other in met)
        assert own.exact.true_positives == tp


@given(st.lists(answers, max_size=3), st.lists(answers, max_size=3))
def test_sums_add_over_documents(left, right):
    parts = [tally(part) for part in (left, right, left + right)]

    def sums(one):
        found = Counter({"documents": one.documents, "compared": one.compared})
        sides = [("pooled", sums) for sums in enumerate(one.pooled)]
        sides += [(pair, sums) for pair, five in one.pairs.items() for sums in enumerate(five)]
        for owner, (n, of_measure) in sides:
            found.update({(owner, n, k): v for k, v in enumerate(astuple(of_measure))})
        for category, of_category in one.categories.items():
            found.update({(category, k): v for k, v in enumerate(astuple(of_category))})
        return found

    assert sums(parts[0]) + sums(parts[1]) == +sums(parts[2])


@given(st.lists(answers, max_size=4))
def test_f1_does_not_depend_on_who_is_the_reference(given_documents):
    turned = [
        {"DCBA"["ABCD".index(name)]: spans for name, spans in document.items()}
        for document in given_documents
    ]
    for one, other in zip(
        pooled_span_agreement(tally(given_documents)),
        pooled_span_agreement(tally(turned)),
        strict=True,
    ):
        assert other.value == one.value
        assert (other.precision, other.recall) == (one.recall, one.precision)
        assert other.standard_error == one.standard_error
        assert (other.macro is None) == (one.macro is None)
        assert other.macro is None or other.macro == pytest.approx(one.macro)


def test_touching_spans_are_two_and_share_nothing():
    figures = pooled([{"A": [(1, 0, 2), (1, 2, 4)], "B": [(1, 0, 4)]}])
    assert figures["span_f1_exact"].value == 0
    assert figures["span_f1_overlap"].true_positives == 1
    assert figures["token_f1"].value == 1
    assert pooled([{"A": [(1, 0, 2)], "B": [(1, 2, 4)]}])["span_f1_overlap"].value == 0


def test_a_position_under_two_spans_of_a_category_counts_once():
    figures = pooled([{"A": [(1, 0, 5), (1, 3, 5), (2, 3, 5)], "B": [(1, 0, 5)]}])
    assert (figures["token_f1"].true_positives, figures["token_f1"].recall) == (5, 5 / 7)
    assert figures["token_f1_unlabelled"].value == 1
    assert figures["span_f1_overlap"].recall == 1 / 3


def test_the_parts_of_a_discontinuous_span_count_each():
    figures = pooled([{"A": [(1, 0, 2), (1, 5, 6)], "B": [(1, 0, 2)]}])
    assert figures["span_f1_exact"].value == 2 / 3


def test_equal_places_of_several_categories_are_a_multiset_without_labels():
    figures = pooled([{"A": [(1, 0, 2), (2, 0, 2), (3, 0, 2)], "B": [(1, 0, 2), (4, 0, 2)]}])
    assert figures["span_f1_exact"].true_positives == 1
    assert figures["span_f1_unlabelled"].true_positives == 2


def test_long_spans_cost_no_more_than_short_ones():
    figures = pooled([{"A": [(1, 0, 10**9)], "B": [(1, 10**8, 10**9)]}])
    assert figures["token_f1"].true_positives == 9 * 10**8


@pytest.mark.parametrize(
    ("given_documents", "reason"),
    [
        ([], "too_few_items"),
        ([{"A": [(1, 0, 1)]}], "too_few_annotators"),
        ([{"A": [(1, 0, 1)]}, {"B": [(1, 0, 1)]}], "no_overlap"),
        ([{"A": [], "B": []}, {"A": [(1, 0, 1)]}], "single_category"),
    ],
)
def test_what_is_undefined_says_why(given_documents, reason):
    for figure in pooled_span_agreement(tally(given_documents)):
        told = figure.to_dict()
        assert told.pop("undefined") == reason
        assert told.pop("confidence") == 0.95
        assert told.pop("true_positives") == 0
        assert told.pop("items") == sum(len(document) > 1 for document in given_documents)
        assert told.pop("measure") in SPAN_MEASURES
        assert set(told.values()) == {None}
    for rate in span_rates(tally(given_documents), [1]):
        assert (rate.rate, rate.undefined) == (None, "no_overlap")


def test_one_side_without_a_span_is_no_agreement_at_all():
    for figure in pooled([{"A": [(1, 0, 1)], "B": []}]).values():
        assert (figure.value, figure.precision, figure.recall) == (0, None, 0)


def test_a_pair_that_marked_nothing_is_not_in_the_mean_of_pairs():
    figure = pooled([{"A": [(1, 0, 1)], "B": [(1, 0, 1)]}, {"A": [], "C": []}])["span_f1_exact"]
    assert (figure.value, figure.macro, figure.pairs, figure.documents) == (1, 1, 2, 2)


def test_a_confidence_that_is_none_is_refused():
    with pytest.raises(InvalidOption):
        pooled_span_agreement(SpanTally(), 1.5)
    with pytest.raises(InvalidOption):
        span_rates(SpanTally(), [], 0)


def crowd(number: int, seed: int = 1) -> Documents:
    """Three annotators who mark the same spans with slips, now and then nothing."""
    random = Random(seed)  # noqa: S311
    made = []
    for _ in range(number):
        truth = [(random.randint(1, 3), 10 * n, 10 * n + 4) for n in range(random.randint(0, 6))]
        document = {}
        for name in "ABC":
            document[name] = []
            for category, start, end in truth:
                slip = random.random()
                if slip < 0.7:
                    document[name].append((category, start, end))
                elif slip < 0.9:
                    document[name].append((category, start + 1, end + 2))
        made.append(document)
    return made


@pytest.mark.parametrize("number", [100, 200])
def test_errors_are_those_of_leaving_one_document_out(number):
    given_documents = crowd(number)
    figures = pooled_span_agreement(tally(given_documents))
    left_out = [[] for _ in NAMES]
    for n in range(number):
        rest = pooled_span_agreement(tally(given_documents[:n] + given_documents[n + 1 :]))
        for values, figure in zip(left_out, rest, strict=True):
            assert figure.value is not None
            values.append(figure.value)
    for values, figure in zip(left_out, figures, strict=True):
        mean = fmean(values)
        jackknife = ((number - 1) / number * sum((v - mean) ** 2 for v in values)) ** 0.5
        assert figure.standard_error == pytest.approx(jackknife, rel=0.02)


def test_pairs_on_one_document_are_not_independent():
    # Three annotators who are two, one of them twice: no more is known than of two.
    two = [{"A": d["A"], "B": d["B"]} for d in crowd(60)]
    three = [{**d, "C": d["B"]} for d in two]
    counted = tally(three)
    alone = span_f1("span_f1_exact", tally(two).pooled[0])
    again = span_f1("span_f1_exact", counted.pooled[0], pairs=3)
    assert again.standard_error is not None
    assert alone.standard_error is not None
    assert again.standard_error > 0.6 * alone.standard_error


def test_a_perfect_figure_has_a_one_sided_bound():
    documents_of_one = [{"A": [(1, 0, 1)], "B": [(1, 0, 1)]}] * 10
    figure = pooled([*documents_of_one, {"A": [], "B": []}])["span_f1_exact"]
    assert (figure.value, figure.standard_error, figure.ci_high) == (1, 0, 1)
    assert figure.ci_low == pytest.approx(0.05 ** (1 / 10))


def test_one_document_with_spans_says_nothing_of_the_spread():
    one = [{"A": [(1, 0, 1), (1, 2, 3)], "B": [(1, 0, 1)]}]
    for given_documents in (one, [*one, {"A": [], "B": []}]):
        figure = pooled(given_documents)["span_f1_exact"]
        assert (figure.standard_error, figure.ci_low, figure.ci_high) == (None, None, None)


def test_a_wider_level_has_wider_bounds():
    given_documents = crowd(20)
    narrow, wide = (pooled(given_documents, level)["token_f1"] for level in (0.8, 0.99))
    assert wide.ci_low is not None
    assert narrow.ci_low is not None
    assert wide.ci_low < narrow.ci_low
    assert wide.confidence == 0.99


def test_category_rates_are_those_of_items_where_a_span_is_an_item():
    # One place a document, marked with category 1 or with nothing: an item of one category.
    random = Random(5)  # noqa: S311
    marks = [[random.random() < 0.7 for _ in "ABC"] for _ in range(50)]
    given_documents = [
        {name: [(1, 0, 1)] if one else [] for name, one in zip("ABC", row, strict=True)}
        for row in marks
    ]
    patterns = ItemPatterns(
        Counter(make_pattern((1,) if one else () for one in row) for row in marks)
    )
    assert span_rates(tally(given_documents), [1, 2]) == category_rates(
        patterns, [1, 2], interval="t"
    )
