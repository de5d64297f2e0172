"""The alternative annotator test against an algorithm written out from the paper's definitions.

Calderon, Reichart and Dror (2025), ACL 2025. The published figures of their nine data sets were
compared by hand; the data has no license, so this file has its own answers.
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
from tracker.measures.alternative_test import alternative_test, count_advantages

Answers = dict[str, dict[int, int]]  # of each person, by item
Score = Callable[[int, Sequence[int]], float]


def accuracy(own: int, others: Sequence[int]) -> float:
    return float(np.mean([own == other for other in others]))


def minus_rmse(own: int, others: Sequence[int]) -> float:
    return -math.sqrt(float(np.mean([(own - other) ** 2 for other in others])))


def plain(
    people: Answers, model: dict[int, int], score: Score, epsilon: float, least: int
) -> tuple[float, float, dict[str, float]]:
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
    rejected = sum(rejections(list(p_values.values())))
    return rejected / len(p_values), float(np.mean(wins)), p_values


def rejections(p_values: Sequence[float]) -> list[bool]:
    number = len(p_values)
    harmonic = sum(1 / n for n in range(1, number + 1))
    below = [p for n, p in enumerate(sorted(p_values), 1) if p <= n * 0.05 / (number * harmonic)]
    return [bool(below) and p <= below[-1] for p in p_values]


def counted(people, model):
    """The same answers as the tally that a database counts."""
    numbers = {name: n for n, name in enumerate(people)}
    values = sorted({v for own in [*people.values(), model] for v in own.values()})
    rows = Counter()
    for item, of_model in model.items():
        labels = {name: own[item] for name, own in people.items() if item in own}
        pattern = make_pattern((value,) for value in labels.values())
        for name, value in labels.items():
            rows[numbers[name], values.index(of_model), values.index(value), pattern] += 1
    patterns = sorted({key[3] for key in rows})
    table = [(0, *key[:3], patterns.index(key[3]), items) for key, items in rows.items()]
    columns = np.array(table, dtype=np.int64).reshape(-1, 6).T
    return BesideColumns(tuple((value,) for value in values), tuple(patterns), *columns)


def outcome(people, model, score=accuracy, epsilon=0.2, least=30):
    columns = counted(people, model)
    points = np.array([value for (value,) in columns.answers], dtype=np.float64)

    def alike(a, b):
        same, squares = (a == b).astype(np.float64), -((points[a] - points[b]) ** 2)
        return same if score is accuracy else squares

    names = dict(enumerate(people))
    advantages = count_advantages(columns, alike)
    return alternative_test(advantages, dict.fromkeys(names, epsilon), names, least=least)


def drawn(seed, items=60, right=0.8):
    draw = np.random.default_rng(seed)
    truth = draw.integers(1, 5, items)

    def label(item, right):
        return int(truth[item]) if draw.random() < right else int(draw.integers(1, 5))

    answers = {f"p{n}": {item: label(item, right) for item in range(items) if draw.random() < 0.8}
               for n in range(5)}  # fmt: skip
    return answers, {item: label(item, 0.75) for item in range(items)}


def same(label, items, *names):
    return {name: dict.fromkeys(range(items), label) for name in names}


@pytest.mark.parametrize("score", [accuracy, minus_rmse])
@given(seed=st.integers(0, 10_000), epsilon=st.sampled_from([0.0, 0.1, 0.15, 0.2]))
@examples(60)
def test_omega_rho_and_p_are_those_of_the_paper(score, seed, epsilon):
    people, model = drawn(seed)
    omega, rho, p_values = plain(people, model, score, epsilon, 30)
    assume(not any(math.isnan(p) or p == 0 for p in p_values.values()))
    result = outcome(people, model, score, epsilon)
    assert (result.omega, result.rho) == (pytest.approx(omega), pytest.approx(rho))
    shown = {row.annotator: row.p_value for row in result.humans if row.p_value is not None}
    assert shown == {name: pytest.approx(p) for name, p in p_values.items()}


def test_exact_p_is_the_chance_of_so_many_equal_advantages():
    ties = outcome(same(1, 40, "ann", "bob", "cat"), dict.fromkeys(range(40), 1), epsilon=0.1)
    rows = [(row.p_value, row.exact) for row in ties.humans]
    assert rows == [(pytest.approx(0.9**40), True)] * 3
    assert (ties.omega, ties.rho) == (1.0, 1.0)
    # If every item favors the model, the likeliest mean of epsilon gives -1 by (1 - eps) / 2.
    people = same(2, 30, "ann") | same(1, 30, "bob", "cat", "dan")
    for label, name, p_value in ((1, "ann", 0.4**30), (2, "bob", 1.0)):
        result = outcome(people, dict.fromkeys(range(30), label))
        by_name = {row.annotator: row.p_value for row in result.humans}
        assert by_name[name] == pytest.approx(p_value)


def test_few_items_are_shown_and_not_tested():
    people, model = drawn(3)
    result = outcome(people | same(1, 29, "new"), model)
    assert result.tested == 5
    last = result.humans[-1]
    assert (last.annotator, last.items, last.rejected, last.p_value) == ("new", 29, None, None)
    for items, why in ((0, "no_overlap"), (29, "too_few_items")):
        result = outcome(same(1, items, "ann", "bob"), dict.fromkeys(range(40), 1))
        assert (result.omega, result.rho, result.passed) == (None, None, None)
        assert result.undefined == why


def test_the_items_needed_are_those_that_would_do():
    people, model = drawn(5, items=40)
    few = outcome(people, model, epsilon=0.0, least=10)
    assert few.omega is not None
    if few.items_needed is not None:
        times = math.ceil(few.items_needed / min(row.items for row in few.humans)) + 1
        more = {name: {i + 40 * n: v for i, v in own.items() for n in range(times)}
                for name, own in (people | {"model": model}).items()}  # fmt: skip
        model = more.pop("model")
        assert outcome(more, model, epsilon=0.0, least=10).omega >= 0.5
    # A judge that is worse than most by more than epsilon needs no number of items.
    people, _ = drawn(7, right=0.95)
    worse = outcome(people, dict.fromkeys(range(60), 9), epsilon=0.1)
    assert (worse.omega, worse.passed, worse.items_needed) == (0.0, False, None)
