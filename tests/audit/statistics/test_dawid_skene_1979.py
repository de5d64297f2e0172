"""Dawid and Skene's model on the paper's data, against crowd-kit, and where truth is known."""

import csv
import json
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest
from scipy.special import logsumexp

from tests.audit.crowds import mostly_right, seeded, simulate
from tracker.audit.statistics.dawid_skene import dawid_skene_competences, fit_likelier_start

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
