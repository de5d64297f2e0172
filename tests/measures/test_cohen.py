"""Cohen's kappa of one pair and of very many, against the truth, and of zero."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.measures.strategies import one_category
from tests.profiles import examples
from tracker.measures import cohen as pairs
from tracker.measures.accuracy import accuracy_from_confusion
from tracker.measures.cohen import cohen_kappa, cohen_kappas, kappa_cells
from tracker.measures.intervals import confidence_interval, confidence_intervals
from tracker.measures.weights import weights

N, P = (0,), (1,)

tables = st.dictionaries(st.tuples(one_category, one_category), st.integers(1, 9), max_size=12)


def test_annotators_p_and_q_of_the_turk_experiment_are_at_chance_level():
    kappa = cohen_kappa({(P, P): 1, (N, P): 3})
    assert (kappa.observed, kappa.expected, kappa.value) == (0.25, 0.25, 0.0)
    # One of them never varied: the error is 0 and supports no t bounds.
    assert kappa.standard_error == 0.0
    t = cohen_kappa({(P, P): 1, (N, P): 3}, interval="t")
    assert (t.ci_low, t.ci_high, t.method) == (None, None, None)
    assert kappa.method == "posterior"
    assert kappa.ci_low is not None
    assert kappa.ci_high is not None
    assert -1 <= kappa.ci_low < 0 < kappa.ci_high < 1


def test_one_item_has_no_error():
    kappa = cohen_kappa({(N, P): 1})
    assert kappa.value == 0
    assert (kappa.standard_error, kappa.ci_low, kappa.ci_high) == (None, None, None)


def test_no_item_and_one_category_are_undefined():
    nothing, same = cohen_kappa({}), cohen_kappa({(N, N): 4})
    assert (nothing.value, nothing.undefined, nothing.items) == (None, "no_overlap", 0)
    assert (same.value, same.undefined, same.items) == (None, "single_category", 4)
    assert (same.observed, same.expected) == (1.0, 1.0)


@given(tables)
def test_kappa_is_1_if_and_only_if_agreement_is_perfect(counts):
    kappa = cohen_kappa(counts)
    perfect = all(one == other for one, other in counts)
    if kappa.value is None:
        assert len({answer for cell in counts for answer in cell}) < 2
    else:
        assert (kappa.value == 1) == perfect


@pytest.mark.parametrize("weighting", ["identity", "linear", "ordinal"])
@examples(12)
@given(st.lists(tables, max_size=5))
def test_many_pairs_at_once_are_each_by_itself(weighting, many):
    answers = [(n,) for n in range(4)]
    values = {0: 0.0, 1: 1.0, 2: 4.0, 3: 5.0}
    of = weights(weighting, answers, values)
    cells = kappa_cells(many, answers)
    alone = [cohen_kappas(kappa_cells([one], answers), weighting=of)[0] for one in many]
    before, pairs._AT_A_TIME = pairs._AT_A_TIME, 8  # two pairs of four answers at a time
    try:
        found = list(cohen_kappas(cells, weighting=of))
    finally:
        pairs._AT_A_TIME = before
    assert [one.undefined for one in found] == [one.undefined for one in alone]
    for one, other in zip(found, alone, strict=True):
        assert numbers(one) == pytest.approx(numbers(other), abs=1e-12, nan_ok=True)


def numbers(figure: Any) -> list[float]:
    held = (figure.value, figure.observed, figure.expected, figure.standard_error, figure.ci_low)
    return [np.nan if number is None else float(number) for number in held]


def test_gold_of_the_turk_experiment():
    gold = accuracy_from_confusion({(N, N): 9, (N, P): 6, (P, N): 2, (P, P): 13}, items=6)
    told = gold.to_dict()
    assert (told["items"], told["answers"]) == (6, 30)
    assert told["observed"] == pytest.approx(22 / 30)
    assert (told["expected"], told["undefined"]) == (0.5, None)
    assert told["cohen_kappa"] == pytest.approx(7 / 15)


def test_gold_without_answers_is_undefined():
    gold = accuracy_from_confusion({}, items=0)
    assert (gold.observed, gold.cohen_kappa, gold.undefined) == (None, None, "no_overlap")


def test_gold_of_one_category_keeps_its_accuracy():
    gold = accuracy_from_confusion({(N, N): 5}, items=2)
    assert (gold.observed, gold.cohen_kappa, gold.undefined) == (1.0, None, "single_category")


def test_precision_and_recall_of_each_category():
    gold = accuracy_from_confusion(
        {(N, N): 9, (N, P): 6, (P, N): 2, (P, P): 13}, 6, categories=[0, 1, 2]
    )
    none, positive, unused = gold.categories
    assert (none.true, none.given, none.right) == (15, 11, 9)
    assert (positive.true, positive.given, positive.right) == (15, 19, 13)
    assert (unused.true, unused.given, unused.right) == (0, 0, 0)


# -- bounds of very many -------------------------------------------------------------------


@given(
    st.lists(st.tuples(st.floats(-1.2, 1), st.floats(0, 2), st.integers(2, 500)), min_size=1),
    st.floats(0.01, 0.99),
)
def test_intervals_at_once_are_those_one_by_one(rows, confidence):
    values, errors, items = np.array(rows).T
    low, high = confidence_intervals(values, errors, items, confidence)
    assert list(zip(low, high, strict=True)) == [
        confidence_interval(*row, confidence) for row in rows
    ]
