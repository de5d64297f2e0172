"""Shared minority answers, and how likely they are of two with habits of their own."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.audit.crowds import leaning, mostly_right, seeded, simulate
from tracker.audit.findings import Evidence
from tracker.audit.kinds.copying import Habits, copying_habits, joint_copying_chance
from tracker.core.tallies import (
    answers_in_pattern,
    chance_of_sharing,
    is_minority,
    make_pattern,
    minority_answers,
)

NEUTRAL = Habits({}, 1.0)
answers = st.lists(st.sampled_from([(), (1,), (2,), (3,), (1, 2)]), min_size=2, max_size=7)
odds = st.floats(0.05, 20.0)
people = st.builds(Habits, st.fixed_dictionaries({1: odds, 2: odds}), odds)


def shared_minority(one, other, rest):
    """Both the same, and fewer than half of the rest gave it."""
    return one == other and 2 * sum(answer == one for answer in rest) < len(rest)


@given(answers)
def test_without_habits_any_two_are_as_likely_as_others(given_answers):
    pattern = make_pattern(given_answers)
    seats = [*permutations(range(len(given_answers)), 2)]
    hits = 0
    for one, other in seats:
        rest = [answer for seat, answer in enumerate(given_answers) if seat not in {one, other}]
        hits += shared_minority(given_answers[one], given_answers[other], rest)
    assert chance_of_sharing(pattern, minority_answers(pattern)) == pytest.approx(hits / len(seats))
    assert joint_copying_chance(
        NEUTRAL, NEUTRAL, pattern, minority_answers(pattern)
    ) == pytest.approx(hits / len(seats))


@given(answers, people, people)
def test_with_habits_every_way_to_have_answered_is_weighed(given_answers, one, other):
    """All assignments of the answers to the annotators, the first two having habits."""
    pattern = make_pattern(given_answers)
    most = max(count for _, count in pattern)
    chance = weight = 0.0
    for truth, number in pattern:
        together = every = 0.0
        for a, b in permutations(range(len(given_answers)), 2):
            rest = [answer for seat, answer in enumerate(given_answers) if seat not in {a, b}]
            ways = 1.0
            for person, answer in ((one, given_answers[a]), (other, given_answers[b])):
                ways *= person.right if answer == truth else 1.0
                for category in answer:
                    ways *= person.leaning.get(category, 1.0)
            every += ways
            together += ways * shared_minority(given_answers[a], given_answers[b], rest)
        likely = 3.0 ** (number - most)
        chance += likely * together / every
        weight += likely
    assert joint_copying_chance(one, other, pattern, minority_answers(pattern)) == pytest.approx(
        chance / weight
    )


@given(answers, people, people)
def test_it_does_not_matter_who_is_named_first(given_answers, one, other):
    pattern = make_pattern(given_answers)
    chance = joint_copying_chance(one, other, pattern, minority_answers(pattern))
    assert chance == pytest.approx(
        joint_copying_chance(other, one, pattern, minority_answers(pattern))
    )
    assert 0.0 <= chance <= 1.0


def test_it_rises_with_a_common_leaning_and_with_errors():
    pattern = make_pattern([(1,)] * 2 + [(2,)] * 4)
    lean = [
        joint_copying_chance(
            Habits({1: o}, 1.0), Habits({1: o}, 1.0), pattern, minority_answers(pattern)
        )
        for o in (1, 2, 4, 8)
    ]
    err = [
        joint_copying_chance(Habits({}, o), Habits({}, o), pattern, minority_answers(pattern))
        for o in (1, 0.5, 0.2, 0.05)
    ]
    assert lean == sorted(lean)
    assert err == sorted(err)
    assert lean[-1] > 3 * lean[0]


def test_what_is_a_minority():
    pattern = make_pattern([(1,)] * 2 + [(2,)] * 3 + [(3,)])
    assert minority_answers(pattern) == [(1,), (2,)]  # (2,): one other of four
    assert not is_minority((3,), pattern)
    assert not is_minority((9,), pattern)
    assert not is_minority((1,), make_pattern([(1,), (1,)]))
    assert minority_answers(make_pattern([(1,)] * 3 + [(2,)] * 2)) == [(1,), (2,)]
    assert minority_answers(make_pattern([(1,)] * 3 + [(2,)])) == []
    assert answers_in_pattern(pattern) == 6


def test_habits_are_odds_against_the_others_of_the_same_items():
    voices = {who: mostly_right(0.8) for who in range(8)}
    voices |= {0: leaning(1, 0.5, mostly_right(0.8)), 1: mostly_right(0.4)}
    found = copying_habits(Evidence(simulate(seeded(2), voices, items=300, per_item=4).tallies()))
    assert found[0].leaning[1] > 3
    assert found[0].leaning[0] < 0.7
    assert found[1].right < 0.4
    sound = [found[who] for who in range(2, 8)]
    assert all(person.right > 2 * found[1].right for person in sound)
    assert all(person.leaning[1] < found[0].leaning[1] / 2 for person in sound)


def test_of_few_items_habits_are_near_none():
    tiny = simulate(seeded(3), {0: mostly_right(1), 1: mostly_right(0)}, items=1, per_item=2)
    for person in copying_habits(Evidence(tiny.tallies())).values():
        assert 1 / 3 <= person.right <= 3
        assert all(1 / 3 <= ratio <= 3 for ratio in person.leaning.values())
