"""Cohen (1960), Fleiss, Cohen and Everitt (1969), and what rests on Cohen's kappa."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.measures.strategies import one_category
from tracker.measures.gold import against_gold
from tracker.measures.pairs import cohen_kappa
from tracker.tally import Answer

Table = dict[tuple[Answer, Answer], int]
N, P = (0,), (1,)

tables = st.dictionaries(st.tuples(one_category, one_category), st.integers(1, 9), max_size=12)


def table(counts: list[list[int]]) -> Table:
    return {
        ((one,), (other,)): count
        for one, row in enumerate(counts)
        for other, count in enumerate(row)
        if count
    }


def test_cohen_1960_p_37() -> None:
    kappa = cohen_kappa(table([[25, 12, 3], [13, 2, 15], [12, 16, 2]]))
    assert kappa.observed == pytest.approx(0.29)
    assert kappa.expected == pytest.approx(0.35)
    assert kappa.value == pytest.approx(-6 / 65)


def test_annotators_p_and_q_of_the_turk_experiment_are_at_chance_level() -> None:
    kappa = cohen_kappa({(P, P): 1, (N, P): 3})
    assert (kappa.observed, kappa.expected, kappa.value) == (0.25, 0.25, 0.0)
    # One of them never varied: the error is 0 and supports no bounds.
    assert (kappa.standard_error, kappa.ci_low, kappa.ci_high) == (0.0, None, None)


def test_gold_of_the_turk_experiment() -> None:
    gold = against_gold({(N, N): 9, (N, P): 6, (P, N): 2, (P, P): 13}, items=6)
    assert gold.to_dict() == {
        "items": 6,
        "answers": 30,
        "observed": pytest.approx(22 / 30),
        "expected": 0.5,
        "cohen_kappa": pytest.approx(7 / 15),
        "undefined": None,
    }


def test_gold_without_answers_is_undefined() -> None:
    gold = against_gold({}, items=0)
    assert (gold.observed, gold.cohen_kappa, gold.undefined) == (None, None, "no_overlap")


def test_gold_of_one_category_keeps_its_accuracy() -> None:
    gold = against_gold({(N, N): 5}, items=2)
    assert (gold.observed, gold.cohen_kappa, gold.undefined) == (1.0, None, "single_category")


def test_one_item_has_no_error() -> None:
    kappa = cohen_kappa({(N, P): 1})
    assert kappa.value == 0
    assert (kappa.standard_error, kappa.ci_low, kappa.ci_high) == (None, None, None)


@given(tables)
def test_fleiss_cohen_everitt_1969_equation_13(counts: Table) -> None:
    kappa = cohen_kappa(counts)
    n = sum(counts.values())
    assume(kappa.value is not None and n > 1)
    share = {cell: Fraction(count, n) for cell, count in counts.items()}
    row = {c: sum(p for (a, _), p in share.items() if a == c) for c, _ in share}
    row |= {c: sum(p for (a, _), p in share.items() if a == c) for _, c in share}
    column = {c: sum(p for (_, b), p in share.items() if b == c) for c in row}
    po = sum(p for (a, b), p in share.items() if a == b)
    pe = sum(row[c] * column[c] for c in row)
    inner = sum(
        p * ((1 - pe) - (column[a] + row[a]) * (1 - po)) ** 2
        for (a, b), p in share.items()
        if a == b
    )
    outer = sum(p * (column[a] + row[b]) ** 2 for (a, b), p in share.items() if a != b)
    variance = inner + (1 - po) ** 2 * outer - (po * pe - 2 * pe + po) ** 2
    assert kappa.standard_error == pytest.approx(sqrt(variance / n) / float((1 - pe) ** 2))


@given(tables)
def test_kappa_is_symmetric_and_blind_to_names(counts: Table) -> None:
    swapped = {(other, one): count for (one, other), count in counts.items()}
    renamed = {((9 - a[0],), (9 - b[0],)): count for (a, b), count in counts.items()}
    assert cohen_kappa(counts) == cohen_kappa(swapped) == cohen_kappa(renamed)


@given(tables)
def test_kappa_is_1_if_and_only_if_agreement_is_perfect(counts: Table) -> None:
    kappa = cohen_kappa(counts)
    assume(kappa.value is not None)
    assert (kappa.value == 1) == all(one == other for one, other in counts)
