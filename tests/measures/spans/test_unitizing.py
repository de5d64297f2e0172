"""Krippendorff's alpha for unitizing: the published example, and what must hold of any."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracker.core.errors import InvalidOption
from tracker.measures.spans.overlap import Interval, Span, mark_span_sets
from tracker.measures.spans.unitizing import UnitTally, unitizing_alpha

Documents = list[tuple[dict[str, list[Span]], int | None]]
LENGTH = 14


def tally(documents: Documents) -> UnitTally:
    made = UnitTally()
    for answers, length in documents:
        made.add(mark_span_sets(answers), length)
    return made


def example() -> Documents:
    """Krippendorff (2004), page 254: a continuum from 150 to 450, two observers, c = 1, k = 2."""
    both = [(2, 180, 240), (2, 300, 350)]
    observers = {
        "i": [(1, 225, 295), (1, 370, 400), *both],
        "j": [(1, 220, 300), (1, 355, 375), (1, 400, 420), *both],
    }
    return [
        ({who: [(c, s - 150, e - 150) for c, s, e in own] for who, own in observers.items()}, 300)
    ]


def test_the_example_of_krippendorff_2004():
    found = tally(example())
    (observed, expected), (none, other) = found.disagreements(1), found.disagreements(2)
    assert float(observed) == pytest.approx(0.0144, abs=5e-5)
    assert float(expected) == pytest.approx(0.0532, abs=5e-5)
    assert float(1 - observed / expected) == pytest.approx(0.7286, abs=5e-5)
    assert none == 0
    assert float(other) == pytest.approx(0.0490, abs=5e-5)
    alpha = unitizing_alpha(found)
    assert alpha.value == pytest.approx(0.8591, abs=5e-4)  # there from the rounded figures above
    assert alpha.details["observed_disagreement"] == pytest.approx(float(observed))
    assert alpha.details["expected_disagreement"] == pytest.approx(float(expected + other))
    assert (alpha.items, alpha.standard_error, alpha.ci_low) == (1, None, None)


def test_an_example_of_dkpro_statistics():
    # Figures of its test of an 8 long unit against three of length 1 in it, on ten positions.
    found = tally([({"0": [(1, 1, 9)], "1": [(1, 2, 3), (1, 4, 5), (1, 6, 7)]}, 10)])
    observed, expected = map(float, found.disagreements(1))
    assert observed == pytest.approx(0.9100, abs=5e-5)
    assert expected == pytest.approx(0.5351, abs=1e-4)
    assert unitizing_alpha(found).value == pytest.approx(-0.7003, abs=5e-5)


@pytest.mark.parametrize(
    ("first", "second", "observed"),
    [
        ([(2, 10), (14, 20)], [(4, 8), (15, 17)], 0.03125),
        ([(0, 18)], [(0, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 9), (9, 10)], 2.26736),
        (
            [(2, 8), (10, 12), (14, 18), (20, 22)],
            [(0, 2), (4, 8), (10, 14), (16, 18), (20, 22)],
            0.02777,
        ),
        (
            [(0, 2), (2, 10), (10, 14), (14, 20), (20, 24)],
            [(0, 4), (4, 8), (8, 15), (15, 17), (17, 24)],
            0.38715,
        ),
    ],
)
def test_observed_disagreement_of_krippendorff_1995(first, second, observed):
    # Page 57, examples A to D. Its expected disagreement has since been put right by the author.
    found = tally([({"0": [(1, *u) for u in first], "1": [(1, *u) for u in second]}, 24)])
    assert float(found.disagreements(1)[0]) == pytest.approx(observed, abs=1e-5)


def apart(spans: list[Span]) -> list[Span]:
    """Those spans that overlap none before them of the same category."""
    kept = []
    for category, start, end in sorted(spans):
        if not any(c == category and start < e and s < end for c, s, e in kept):
            kept.append((category, start, end))
    return kept


place = st.tuples(st.integers(0, LENGTH - 4), st.integers(1, 4)).map(lambda p: (p[0], sum(p)))
span = st.tuples(st.integers(1, 2), place).map(lambda s: (s[0], *s[1]))
answer = st.lists(span, max_size=5).map(apart)
answers = st.fixed_dictionaries({"A": answer, "B": answer}, optional={"C": answer, "D": answer})


def gaps(units: list[Interval]) -> list[Interval]:
    edges = [0, *(edge for unit in units for edge in unit), LENGTH]
    return [(s, e) for s, e in zip(edges[::2], edges[1::2], strict=True) if s < e]


def by_definition(document: dict[str, list[Span]], category: int) -> tuple[float, float]:
    """D_o and D_e of one document, term by term as the source has them."""
    units = {who: [(s, e) for c, s, e in own if c == category] for who, own in document.items()}
    m = len(document)
    observed = 0
    for one, other in permutations(document, 2):
        for s, e in units[one]:
            observed += sum((s - t) ** 2 + (e - f) ** 2 for t, f in units[other] if s < f and t < e)
            # Once as a unit in a gap and, with the annotators the other way round, once as a gap.
            observed += 2 * sum((e - s) ** 2 for t, f in gaps(units[other]) if t <= s and e <= f)
    every = [e - s for own in units.values() for s, e in own]
    holes = [f - t for own in units.values() for t, f in gaps(own)]
    expected = sum(
        (len(every) - 1) / 3 * (2 * n**3 - 3 * n**2 + n)
        + n * n * sum(hole - n + 1 for hole in holes if hole >= n)
        for n in every
    )
    positions = m * LENGTH
    places = positions * (positions - 1) - sum(n * (n - 1) for n in every)
    return observed / (m * (m - 1) * LENGTH**2), 2 / LENGTH * expected / places


@given(answers)
def test_a_document_by_definition(document):
    found = tally([(document, LENGTH)])
    for category in found.categories:
        parts = tuple(map(float, found.disagreements(category)))
        assert parts == pytest.approx(by_definition(document, category))


@given(st.lists(answers, min_size=1, max_size=4))
def test_documents_are_summed_in_any_order(documents):
    found = unitizing_alpha(tally([(document, LENGTH) for document in documents]))
    turned = unitizing_alpha(tally([(document, LENGTH) for document in documents[::-1]]))
    assert turned == found
    if found.value is None:
        assert found.undefined == "single_category"
        assert not any(own for document in documents for own in document.values())
    else:
        assert found.value <= 1
        same = all(own == document["A"] for document in documents for own in document.values())
        assert (found.value == 1) == same


def test_units_and_gaps_of_several_documents_are_one_continuum():
    # Two documents that nothing crosses are one of their length where units touch both ends.
    halves = [
        ({"A": [(1, 0, 3), (1, 8, 10)], "B": [(1, 0, 4), (1, 8, 10)]}, 10),
        ({"A": [(1, 0, 2), (1, 4, 10)], "B": [(1, 0, 3)]}, 10),
    ]
    whole = [
        (
            {
                "A": [(1, 0, 3), (1, 8, 10), (1, 10, 12), (1, 14, 20)],
                "B": [(1, 0, 4), (1, 8, 10), (1, 10, 13)],
            },
            20,
        )
    ]
    assert unitizing_alpha(tally(halves)).value == unitizing_alpha(tally(whole)).value


def test_answers_that_not_everyone_gave_weigh_as_in_alpha():
    twice = [({"A": [(1, 0, 3)], "B": [(1, 1, 3)]}, 9)] * 2
    once = [({"A": [(1, 0, 3)], "B": [(1, 1, 3)], "C": [(1, 1, 3)]}, 9)]
    both = tally([*twice, *once])
    # Observed: 1 of a pair twice, and 1 of each of two pairs halved; over 2 * 18 + 3 * 9 positions.
    assert both.disagreements(1)[0] == pytest.approx(2 * (1 + 1 + 2 / 2) / (45 + 18) / 27)
    alone = [*twice, ({"C": [(1, 4, 9)]}, None)]
    assert unitizing_alpha(tally(alone)) == unitizing_alpha(tally(twice))


@pytest.mark.parametrize(
    ("answers_of", "length"),
    [
        ({"A": [(1, 0, 3)], "B": [(1, 0, 3)]}, None),  # how long is it?
        ({"A": [(1, 0, 3)], "B": [(1, 0, 3)]}, 2),  # past its end
        ({"A": [(1, 0, 3), (1, 2, 4)], "B": []}, 9),  # units that overlap
    ],
)
def test_where_it_does_not_apply(answers_of, length):
    fine = [({"A": [(1, 0, 3)], "B": [(1, 0, 3)]}, 9)]
    for documents in ([(answers_of, length), *fine], [*fine, (answers_of, length)]):
        alpha = unitizing_alpha(tally(documents))
        assert (alpha.value, alpha.undefined, alpha.items) == (None, "not_applicable", 2)


def test_units_of_different_categories_may_overlap():
    assert unitizing_alpha(tally([({"A": [(1, 0, 3), (2, 2, 5)], "B": []}, 9)])).value is not None


def test_nothing_to_compare():
    assert unitizing_alpha(UnitTally(), undefined="no_overlap").undefined == "no_overlap"
    assert unitizing_alpha(tally([({"A": [], "B": []}, 9)])).undefined == "single_category"
    one_position = tally([({"A": [(1, 0, 1)], "B": [(1, 0, 1)]}, 1)])
    assert unitizing_alpha(one_position).undefined == "single_category"
    with pytest.raises(InvalidOption):
        unitizing_alpha(UnitTally(), confidence=1)
