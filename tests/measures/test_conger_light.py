"""Conger's kappa at chance level, where roundings must not tell more than the answers."""

from __future__ import annotations

from itertools import permutations

import pytest

from tests.measures.answered import Answered
from tracker.measures.benchmarks import landis_koch

APART = [("a", "aab"), ("c", "cdddee"), ("f", "ffg")]  # no answer of one is another's


@pytest.mark.parametrize("order", [*permutations(range(3))])
def test_who_share_no_answer_are_at_chance_level(order):
    given = [{who: (ord(APART[n][0]),) for who, n in enumerate(order)}]
    given += [{who: (ord(one),)} for who, n in enumerate(order) for one in APART[n][1]]
    found = Answered(given).estimate("conger_kappa")
    assert found.parts is not None
    assert (found.parts.observed, found.parts.expected, found.value) == (0.0, 0.0, 0.0)
    assert landis_koch(found.value or 0.0) == "slight"
