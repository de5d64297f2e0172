"""Competence by Dawid and Skene's model, against crowd-kit, and where the answer is known."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from tests.audit.crowds import always, mostly_right, seeded, simulate
from tracker.audit.statistics.dawid_skene import dawid_skene_competences

CROWD_KIT = Path(__file__).parents[2] / "data" / "dawid_skene" / "crowd_kit.json"


def joint(crowd):
    return Counter(tuple(sorted(held.items())) for held in crowd.items)


def test_against_crowd_kit():
    told = json.loads(CROWD_KIT.read_text("utf-8"))
    items = defaultdict(dict)
    for item, worker, label in told["rows"]:
        items[item][worker] = (label,)
    found = dawid_skene_competences(
        Counter(tuple(sorted(held.items())) for held in items.values()).items()
    )
    assert found == pytest.approx(
        {int(who): value for who, value in told["competence"].items()}, abs=1e-6
    )


@pytest.mark.parametrize("seed", range(5))
def test_planted_annotators_rank_last(seed):
    voices = {who: mostly_right(0.8) for who in range(10)}
    voices |= {3: always(1), 7: mostly_right(1 / 3), 8: mostly_right(0.45)}
    found = dawid_skene_competences(
        joint(simulate(seeded(seed), voices, items=250, per_item=5)).items()
    )
    assert set(sorted(found, key=found.get)[:3]) == {3, 7, 8}
    sound = [value for who, value in found.items() if who not in {3, 7, 8}]
    assert sum(sound) / len(sound) == pytest.approx(0.8, abs=0.05)
    assert all(0.0 <= value <= 1.0 for value in found.values())


def test_answers_are_counted_wherever_their_items_stand():
    crowd = simulate(seeded(1), {who: mostly_right(0.7) for who in range(5)}, items=100, per_item=4)
    once = dawid_skene_competences(joint(crowd).items())
    apart = [(tuple(sorted(held.items())), 1) for held in reversed(crowd.items)]
    assert dawid_skene_competences(apart) == pytest.approx(once, abs=1e-6)


def test_an_answer_of_several_categories_is_a_category_of_its_own():
    both = ((1, (1, 2)), (2, (1, 2)), (3, (1,)))
    alone = ((1, (2,)), (2, (2,)), (3, (2,)))
    assert dawid_skene_competences([(both, 20), (alone, 20)]) == pytest.approx(
        {1: 1, 2: 1, 3: 0.5}, abs=1e-6
    )


def test_all_agree_and_nobody_answers():
    assert dawid_skene_competences([(((1, (0,)), (2, (0,))), 9)]) == {1: 1.0, 2: 1.0}
    assert dawid_skene_competences([]) == {}
