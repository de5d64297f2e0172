"""The spammer score (Raykar and Yu 2012, section 3.2), and the tables that it rests on."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from tests.audit.crowds import mostly_right, seeded, simulate
from tracker.audit.statistics.peer_agreement import (
    majority_kappa,
    majority_of_others,
    majority_tables,
    spammer_scores,
)
from tracker.core.tally_columns import tally_columns_of


def score_of(table):
    """The score of one table."""
    return spammer_scores(np.asarray(table)[None])[0]


def plain_score(shares):
    """The mean over every two rows of half their squared distance."""
    pairs = [*itertools.combinations(shares, 2)]
    return sum(((a - b) ** 2).sum() / 2 for a, b in pairs) / len(pairs)


@pytest.mark.parametrize(("sensitivity", "specificity"), [(0.9, 0.8), (0.6, 0.7), (0.5, 0.5)])
def test_of_two_categories_it_is_the_square_of_youdens_index(sensitivity, specificity):
    table = 1e6 * np.array([[specificity, 1 - specificity], [1 - sensitivity, sensitivity]])
    expected = (sensitivity + specificity - 1) ** 2
    assert score_of(table).value == pytest.approx(expected, abs=1e-5)


def test_of_several_it_is_the_mean_over_pairs():
    shares = np.random.default_rng(1).dirichlet(np.ones(4), size=4)
    assert score_of(1e7 * shares).value == pytest.approx(plain_score(shares), abs=1e-5)
    assert score_of(1e7 * np.eye(3)).value == pytest.approx(1.0, abs=1e-5)


def drawn(shares, sizes, seed):
    random = np.random.default_rng(seed)
    rows = [random.multinomial(n, p, 500) for n, p in zip(sizes, shares, strict=True)]
    return [score_of(table) for table in np.stack(rows, axis=1).astype(float)]


def test_of_answers_that_do_not_depend_on_the_items_it_is_near_nothing():
    scores = drawn([[0.2, 0.5, 0.3]] * 3, [12, 40, 25], seed=2)
    values = np.array([score.value for score in scores])
    assert abs(values.mean()) < 4 * values.std() / np.sqrt(500)
    blind = np.array([score.blind_error for score in scores])
    assert blind.mean() == pytest.approx(values.std(), rel=0.15)
    # Of rows that differ by chance alone the other error is too large, never too small.
    assert all(score.error >= score.blind_error for score in scores)
    assert np.mean(values > 2.326 * blind) <= 0.06  # skewed: more than 0.01


def test_its_error_is_about_right():
    shares = np.array([[0.8, 0.1, 0.1], [0.2, 0.6, 0.2], [0.1, 0.2, 0.7]])
    truth = plain_score(shares)
    scores = drawn(shares, [30, 30, 30], seed=3)
    values = np.array([score.value for score in scores])
    assert values.mean() == pytest.approx(truth, abs=4 * values.std() / np.sqrt(500))
    held = [abs(score.value - truth) < 1.96 * score.error for score in scores]
    assert 0.90 <= np.mean(held) <= 0.99


def test_one_row_says_nothing():
    assert score_of(np.array([[5.0, 7.0], [0.0, 0.0]])) is None
    assert score_of(np.array([[5.0, 7.0], [0.5, 0.4]])) is None
    assert score_of(np.zeros((3, 3))) is None
    assert score_of(np.array([[5.0, 0.0], [0.0, 1.0]])) is not None


def test_the_majority_is_that_of_the_others():
    pattern = (((0,), 2), ((1,), 2), ((2,), 1))
    assert majority_of_others((0,), pattern) == {(1,): 1.0}
    assert majority_of_others((2,), pattern) == {(0,): 0.5, (1,): 0.5}
    assert majority_of_others((), (((), 1), ((4,), 1))) == {(4,): 1.0}


def test_tables_are_those_of_a_plain_loop():
    voices = {who: mostly_right(0.6) for who in range(5)}
    crowd = simulate(seeded(4), voices, items=150, per_item=4)
    shared = tally_columns_of(crowd.tallies()).shared
    counts = majority_tables(shared)
    answers = sorted({answer for pattern in shared.patterns for answer, _ in pattern})
    expected = np.zeros_like(counts)
    for held in crowd.items:
        for who, own in held.items():
            others = [answer for other, answer in held.items() if other != who]
            most = max(others.count(answer) for answer in answers)
            first = [a for a in answers if others.count(a) == most]
            for answer in first:
                row = shared.annotators.tolist().index(who)
                expected[row, answers.index(answer), answers.index(own)] += 1 / len(first)
    assert counts == pytest.approx(expected)
    assert counts.sum() == pytest.approx(150 * 4)


def test_kappa_against_scikit_learn():
    counts = np.random.default_rng(5).integers(0, 12, size=(4, 4)).astype(float)
    cells = [(i, j) for i in range(4) for j in range(4) for _ in range(int(counts[i, j]))]
    rows, columns = zip(*cells, strict=True)
    assert majority_kappa(counts) == pytest.approx(cohen_kappa_score(rows, columns))
    assert majority_kappa(np.zeros((2, 2))) is None
    assert majority_kappa(np.array([[4.0, 0.0], [0.0, 0.0]])) is None
