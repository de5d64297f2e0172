"""The alternative annotator test against an algorithm written out from the paper's definitions.

Calderon, Reichart and Dror (2025), ACL 2025. The published figures of their nine data sets were
compared by hand; the data has no licence, so this file has answers of its own.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import ttest_1samp

from tests.profiles import examples
from tracker.core.beside_columns import BesideColumns
from tracker.core.tallies import make_pattern
from tracker.measures.alternative_test import alternative_test, by_rejections, count_advantages

Answers = dict[str, dict[int, int]]  # of each person, by item
Score = Callable[[int, Sequence[int]], float]


def accuracy(own: int, others: Sequence[int]) -> float:
    return float(np.mean([own == other for other in others]))


def minus_rmse(own: int, others: Sequence[int]) -> float:
    return -math.sqrt(float(np.mean([(own - other) ** 2 for other in others])))


def plain(people, model, score, epsilon, least):
    """Omega, rho and p as the paper has them, from answers one by one."""
    p_values, wins = {}, []
    for person, own in people.items():
        differences, model_wins = [], []
        for item, answer in own.items():
            others = [theirs[item] for name, theirs in people.items()
                      if name != person and item in theirs]  # fmt: skip
            if others and item in model:
                human, other = score(answer, others), score(model[item], others)
                differences.append((human >= other) - (other >= human))
                model_wins.append(other >= human)
        if len(differences) >= least:
            p_values[person] = ttest_1samp(differences, epsilon, alternative="less").pvalue
            wins.append(float(np.mean(model_wins)))
    ranked = sorted(p_values.items(), key=lambda row: row[1])
    harmonic = sum(1 / n for n in range(1, len(ranked) + 1))
    rejected = 0
    for rank, (_, p) in enumerate(ranked, 1):
        if p <= rank * 0.05 / (len(ranked) * harmonic):
            rejected = rank
    return rejected / len(ranked), float(np.mean(wins)), p_values


def counted(people: Answers, model: dict[int, int]) -> BesideColumns:
    """The same answers as the tally that a database counts."""
    numbers = {name: n for n, name in enumerate(people)}
    values = sorted({v for own in [*people.values(), model] for v in own.values()})
    rows = Counter()
    for item, given_ in model.items():
        met = {name: own[item] for name, own in people.items() if item in own}
        pattern = make_pattern((value,) for value in met.values())
        for name, value in met.items():
            rows[numbers[name], values.index(given_), values.index(value), pattern] += 1
    patterns = sorted({key[3] for key in rows})
    table = [(0, *key[:3], patterns.index(key[3]), items) for key, items in rows.items()]
    columns = np.array(table, dtype=np.int64).reshape(-1, 6).T
    return BesideColumns(tuple((value,) for value in values), tuple(patterns), *columns)


def outcome(people, model, score, epsilon, least):
    columns = counted(people, model)
    points = np.array([value for (value,) in columns.answers], dtype=np.float64)
    alike = (
        (lambda a, b: (a == b).astype(np.float64))
        if score is accuracy
        else (lambda a, b: -((points[a] - points[b]) ** 2))
    )
    names = dict(enumerate(people))
    return alternative_test(
        count_advantages(columns, alike), dict.fromkeys(names, epsilon), names, least=least
    )


def drawn(seed, items=60, people=5, right=0.8):
    draw = np.random.default_rng(seed)
    truth = draw.integers(1, 5, items)
    answers = {
        f"p{n}": {
            item: int(truth[item]) if draw.random() < right else int(draw.integers(1, 5))
            for item in range(items) if draw.random() < 0.8
        }
        for n in range(people)
    }  # fmt: skip
    model = {
        item: int(truth[item]) if draw.random() < 0.75 else int(draw.integers(1, 5))
        for item in range(items)
    }
    return answers, model


@pytest.mark.parametrize("score", [accuracy, minus_rmse])
@given(seed=st.integers(0, 10_000), epsilon=st.sampled_from([0.0, 0.1, 0.15, 0.2]))
@examples(60)
def test_omega_rho_and_p_are_those_of_the_paper(score, seed, epsilon):
    people, model = drawn(seed)
    omega, rho, p_values = plain(people, model, score, epsilon, 30)
    assume(not any(math.isnan(p) or p == 0 for p in p_values.values()))
    result = outcome(people, model, score, epsilon, 30)
    assert (result.omega, result.rho) == (pytest.approx(omega), pytest.approx(rho))
    shown = {row.annotator: row.p_value for row in result.humans if row.p_value is not None}
    assert shown == {name: pytest.approx(p) for name, p in p_values.items()}


def test_a_judge_that_ties_everywhere_is_tested_exactly():
    people = {name: dict.fromkeys(range(40), 1) for name in ("ann", "bob", "cat")}
    result = outcome(people, dict.fromkeys(range(40), 1), accuracy, 0.1, 30)
    assert [(row.p_value, row.exact) for row in result.humans] == [
        (pytest.approx(0.9**40), True)
    ] * 3
    assert (result.omega, result.rho) == (1.0, 1.0)


def test_exact_p_is_the_chance_of_so_many_equal_advantages():
    """If every item favors the model, the likeliest mean of epsilon gives -1 by (1 - eps) / 2."""
    people = {
        "ann": dict.fromkeys(range(30), 2),
        "bob": dict.fromkeys(range(30), 1),
        "cat": dict.fromkeys(range(30), 1),
        "dan": dict.fromkeys(range(30), 1),
    }
    result = outcome(people, dict.fromkeys(range(30), 1), accuracy, 0.2, 30)
    by_name = {row.annotator: row for row in result.humans}
    assert by_name["ann"].p_value == pytest.approx(0.4**30)
    against = outcome(people, dict.fromkeys(range(30), 2), accuracy, 0.2, 30)
    assert {row.annotator: row.p_value for row in against.humans}["bob"] == 1.0


def test_people_of_few_items_are_told_and_not_tested():
    people, model = drawn(3)
    people["new"] = dict.fromkeys(range(29), 1)
    result = outcome(people, model, accuracy, 0.2, 30)
    assert result.tested == 5
    last = result.humans[-1]
    assert (last.annotator, last.items, last.rejected, last.p_value) == ("new", 29, None, None)


@pytest.mark.parametrize(("items", "why"), [(0, "no_overlap"), (29, "too_few_items")])
def test_without_enough_items_it_is_undefined_with_its_reason(items, why):
    people = {name: dict.fromkeys(range(items), 1) for name in ("ann", "bob")}
    result = outcome(people, dict.fromkeys(range(40), 1), accuracy, 0.2, 30)
    assert (result.omega, result.rho, result.passed, result.undefined) == (None, None, None, why)


def test_the_items_needed_are_those_that_would_do():
    people, model = drawn(5, items=40)
    few = outcome(people, model, accuracy, 0.0, 10)
    assert few.omega is not None
    if few.items_needed is not None:
        times = math.ceil(few.items_needed / min(row.items for row in few.humans)) + 1
        more = {name: {i + 40 * n: v for i, v in own.items() for n in range(times)}
                for name, own in people.items()}  # fmt: skip
        model_more = {i + 40 * n: v for i, v in model.items() for n in range(times)}
        enough = outcome(more, model_more, accuracy, 0.0, 10)
        assert enough.omega is not None
        assert enough.omega >= 0.5


def test_a_judge_that_is_worse_than_most_by_more_than_epsilon_needs_no_number_of_items():
    people, _ = drawn(7, right=0.95)
    result = outcome(people, dict.fromkeys(range(60), 9), accuracy, 0.1, 30)
    assert (result.omega, result.passed, result.items_needed) == (0.0, False, None)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_rejections_are_the_longest_run_of_ranks_below_the_line(p_values):
    number = len(p_values)
    harmonic = sum(1 / n for n in range(1, number + 1))
    ranked = sorted(p_values)
    last = max(
        (n for n in range(1, number + 1) if ranked[n - 1] <= n * 0.05 / (number * harmonic)),
        default=0,
    )
    line = ranked[last - 1] if last else -1.0
    assert by_rejections(p_values) == [p <= line for p in p_values]
