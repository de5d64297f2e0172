"""Agreement with co-annotators, differences of points and competences, against plain loops.

Raykar and Yu 2012, section 3.2: the spammer score. Bland and Altman 1986: differences. Dawid and
Skene 1979: their data, and crowd-kit's figures.
"""

import csv
import itertools
import json
import math
from collections import Counter, defaultdict
from pathlib import Path
from statistics import mean, stdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp
from sklearn.metrics import cohen_kappa_score

from tests.audit.crowds import Crowd, mostly_right, seeded, simulate
from tracker.audit.statistics.dawid_skene import dawid_skene_competences, fit_likelier_start
from tracker.audit.statistics.peer_agreement import (
    majority_kappa,
    majority_of_others,
    majority_tables,
    peer_agreement,
    peer_agreement_alignments,
    peer_agreement_draws,
    spammer_scores,
)
from tracker.audit.statistics.point_differences import point_differences
from tracker.core.tallies import AnnotatorTallies, make_pattern
from tracker.core.tally_columns import tally_columns_of


def alignments(crowd):
    return peer_agreement_alignments(tally_columns_of(crowd.tallies()).shared)


def plain(crowd, who):
    """Yield of each shared item own agreement, that of all, and that of three or more others."""
    for held in crowd.items:
        if who in held and len(held) > 1:
            others = [answer for other, answer in held.items() if other != who]
            own = sum(answer == held[who] for answer in others) / len(others)
            every = [a == b for a, b in itertools.permutations(held.values(), 2)]
            peers = [a == b for a, b in itertools.permutations(others, 2)]
            yield own, np.mean(every), np.mean(peers) if peers else np.nan


def test_alignments_against_plain_loops():
    """Items have one to six answers of up to three categories each."""
    answers = [(), (1,), (1, 2), (3,)]
    for seed in range(3):
        random = seeded(seed)
        people = [random.sample(range(7), random.randrange(1, 7)) for _ in range(90)]
        crowd = Crowd([{who: random.choice(answers) for who in seats} for seats in people])
        for who, found in alignments(crowd).items():
            own, every, peers = np.array([*plain(crowd, who)]).T
            gaps = (own - peers)[~np.isnan(peers)]
            assert (found.n, found.compared) == (len(own), len(gaps))
            assert found.observed == pytest.approx(own.mean())
            assert found.deviation == pytest.approx(own.std(ddof=1))
            assert found.expected == pytest.approx(every.mean())
            assert found.excess == pytest.approx((own - every).sum())
            assert found.gap == pytest.approx(gaps.mean())
            assert found.peers == pytest.approx(np.nanmean(peers))
            error = gaps.std(ddof=1) / math.sqrt(len(gaps))
            assert found.error == pytest.approx(error)
            interval = gaps.mean() - 1.96 * error, gaps.mean() + 1.96 * error
            assert found.gap_interval == pytest.approx(interval, abs=1e-4)
            low, high = found.observed_interval
            assert 0.0 <= low < found.observed < high <= 1.0


def test_agreement_within_a_pattern():
    draws = peer_agreement_draws([make_pattern([(1,), (1,), (1,), (2,), ()])])
    agreed = [0.5, 0.5, 0.5, 0.0, 0.0]
    assert draws.mean[0] == pytest.approx(np.mean(agreed))
    assert draws.variance[0] == pytest.approx(np.var(agreed))
    assert draws.step([0]) == 0.5  # agreeing with two of the four others, or with none
    pattern = make_pattern([(1,), (1,), (1,), (2,)])
    assert peer_agreement((1,), pattern) == pytest.approx(1 / 3)
    assert peer_agreement((2,), pattern) == 1.0
    assert peer_agreement((1,), make_pattern([(1,), (2,)])) is None


def score_of(table):
    return spammer_scores(np.asarray(table)[None])[0]


def plain_score(shares):
    """Return the mean over every two rows of half their squared distance."""
    return np.mean([((a - b) ** 2).sum() / 2 for a, b in itertools.combinations(shares, 2)])


def test_spammer_scores_are_means_over_pairs_and_of_two_categories_youdens_index_squared():
    for sensitivity, specificity in ((0.9, 0.8), (0.6, 0.7), (0.5, 0.5)):
        table = 1e6 * np.array([[specificity, 1 - specificity], [1 - sensitivity, sensitivity]])
        expected = (sensitivity + specificity - 1) ** 2
        assert score_of(table).value == pytest.approx(expected, abs=1e-5)
    shares = np.random.default_rng(1).dirichlet(np.ones(4), size=4)
    assert score_of(1e7 * shares).value == pytest.approx(plain_score(shares), abs=1e-5)
    assert score_of(1e7 * np.eye(3)).value == pytest.approx(1.0, abs=1e-5)
    for table in ([[5.0, 7.0], [0.0, 0.0]], [[5.0, 7.0], [0.5, 0.4]], np.zeros((3, 3))):
        assert score_of(table) is None
    assert score_of([[5.0, 0.0], [0.0, 1.0]]) is not None


def test_majority_tables_against_a_plain_loop():
    pattern = (((0,), 2), ((1,), 2), ((2,), 1))
    assert majority_of_others((0,), pattern) == {(1,): 1.0}
    assert majority_of_others((2,), pattern) == {(0,): 0.5, (1,): 0.5}
    assert majority_of_others((), (((), 1), ((4,), 1))) == {(4,): 1.0}
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
            first = [answer for answer in answers if others.count(answer) == most]
            row = shared.annotators.tolist().index(who)
            for answer in first:
                expected[row, answers.index(answer), answers.index(own)] += 1 / len(first)
    assert counts == pytest.approx(expected)
    assert counts.sum() == pytest.approx(150 * 4)


def test_kappa_against_scikit_learn():
    counts = np.random.default_rng(5).integers(0, 12, size=(4, 4)).astype(float)
    cells = [(i, j) for i in range(4) for j in range(4) for _ in range(int(counts[i, j]))]
    expected = cohen_kappa_score(*zip(*cells, strict=True))
    assert majority_kappa(counts) == pytest.approx(expected)
    assert majority_kappa(np.zeros((2, 2))) is None
    assert majority_kappa(np.array([[4.0, 0.0], [0.0, 0.0]])) is None


@given(st.lists(st.dictionaries(st.integers(1, 4), st.integers(1, 5), max_size=4), max_size=12))
def test_differences_are_of_the_answer_less_the_mean_of_the_others(items):
    points = {1: 1.0, 2: 2.0, 3: 3.5, 4: 4.0, 5: -7.0}
    plain, counts = {}, {}
    for item in items:
        pattern = make_pattern((value,) for value in item.values())
        for annotator, value in item.items():
            counts.setdefault(annotator, Counter())[(value,), pattern] += 1
            others = [points[other] for who, other in item.items() if who != annotator]
            if others:
                plain.setdefault(annotator, []).append(points[value] - mean(others))
    shared = tally_columns_of(AnnotatorTallies(counts)).shared
    differences = point_differences(shared, points)
    assert {*differences} == {*plain}
    for annotator, expected in plain.items():
        assert differences[annotator].mean == pytest.approx(mean(expected))
        spread = pytest.approx(stdev(expected), abs=1e-6) if len(expected) > 1 else None
        assert differences[annotator].spread == spread


DATA = Path(__file__).parents[2] / "data" / "dawid_skene"


def joint(items):
    return Counter(tuple(sorted(held.items())) for held in items)


@pytest.fixture(scope="module")
def anaesthetists():
    with (DATA / "anaesthetists.csv").open(newline="") as file:
        _, *table = csv.reader(file)
    rows = [
        (patient, observer, int(digit) - 1)
        for patient, (_, *cells) in enumerate(table)
        for observer, cell in enumerate(cells)
        for digit in cell
    ]
    assert len(rows) == 45 * 7
    return fit_likelier_start(*np.array(rows).T, (5, 4), np.ones(45))


def test_the_papers_anaesthetists(anaesthetists):
    assert anaesthetists.priors == pytest.approx([0.400, 0.422, 0.111, 0.067], abs=1e-3)
    errors = anaesthetists.errors
    assert errors[0] == pytest.approx(
        np.array(
            [[0.89, 0.11, 0, 0], [0.07, 0.88, 0.05, 0], [0, 0.34, 0.66, 0], [0, 0, 0.56, 0.44]]
        ),
        abs=6e-3,
    )
    # How often each of the five sees what is there, category by category.
    right = np.array([[0.89, 0.88, 0.66, 0.44], [0.83, 0.63, 1, 1], [1, 0.79, 0.20, 0.33],
                      [0.94, 0.84, 0.80, 0.67], [1, 0.73, 0.79, 0.67]])  # fmt: skip
    assert np.diagonal(errors, axis1=1, axis2=2) == pytest.approx(right, abs=6e-3)
    assert logsumexp(anaesthetists.scores, axis=1).sum() == pytest.approx(-192.891, abs=1e-3)


def test_competences_against_crowd_kit():
    told = json.loads((DATA / "crowd_kit.json").read_text("utf-8"))
    items = defaultdict(dict)
    for item, worker, label in told["rows"]:
        items[item][worker] = (label,)
    competences = dawid_skene_competences(joint(items.values()).items())
    expected = {int(who): value for who, value in told["competence"].items()}
    assert competences == pytest.approx(expected, abs=1e-6)


def test_competences_do_not_depend_on_where_items_stand():
    crowd = simulate(seeded(1), {who: mostly_right(0.7) for who in range(5)}, items=100, per_item=4)
    once = dawid_skene_competences(joint(crowd.items).items())
    apart = [(tuple(sorted(held.items())), 1) for held in reversed(crowd.items)]
    assert dawid_skene_competences(apart) == pytest.approx(once, abs=1e-6)
    # An answer of several categories is one category more.
    both = ((1, (1, 2)), (2, (1, 2)), (3, (1,)))
    alone = ((1, (2,)), (2, (2,)), (3, (2,)))
    expected = pytest.approx({1: 1, 2: 1, 3: 0.5}, abs=1e-6)
    assert dawid_skene_competences([(both, 20), (alone, 20)]) == expected
    assert dawid_skene_competences([(((1, (0,)), (2, (0,))), 9)]) == {1: 1.0, 2: 1.0}
    assert dawid_skene_competences([]) == {}
