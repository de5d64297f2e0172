"""Items left without a category, more than the others leave them so."""

from __future__ import annotations

import pytest
from scipy import stats

from tracker.audit.findings import Evidence
from tracker.audit.kinds.empty_answers import EMPTY_ANSWERS
from tracker.core.tallies import AnnotatorTallies


def found_in(skips):
    [found] = EMPTY_ANSWERS.find(Evidence(AnnotatorTallies(), skips={3: skips}))
    return found


def test_the_upper_tail_is_that_of_the_items_seen_with_others():
    found = found_in({(True, 1, 4): 9, (True, 2, 4): 2, (False, 1, 4): 12, (False, 0, 4): 77})
    law = stats.poisson_binom([1 / 4] * 21 + [2 / 4] * 2)
    assert found.p_value == pytest.approx(law.sf(10))
    assert (found.n, found.informative, found.category) == (100, 23, None)
    assert found.observed == pytest.approx(0.11)
    assert found.peers == pytest.approx((2 * 1 / 3 + 12 * 1 / 3) / 100)
    assert found.expected == pytest.approx((21 / 4 + 2 / 2) / 100)
    assert found.effect.value == pytest.approx((9 * 3 / 4 + 2 * 2 / 4) / (12 / 4))
    assert found.notable


def test_leaving_fewer_is_not_looked_for():
    found = found_in({(False, 1, 4): 60})
    assert found.p_value == pytest.approx(1.0)
    assert found.effect.value == 0.0
    assert not found.notable


def test_items_that_nobody_else_saw_do_not_count():
    found = found_in({(True, 1, 1): 50, (True, 1, 3): 1, (False, 0, 3): 9})
    assert (found.n, found.informative, found.p_value) == (10, 1, None)
    assert [*EMPTY_ANSWERS.find(Evidence(AnnotatorTallies(), skips={3: {(True, 1, 1): 5}}))] == []


def test_what_everybody_leaves_cannot_tell():
    found = found_in({(True, 3, 3): 40, (False, 0, 3): 40})
    assert (found.informative, found.p_value, found.effect.value) == (0, None, None)
    assert not found.notable


@pytest.mark.parametrize(("items", "tested"), [(9, False), (10, True)])
def test_ten_items_that_could_tell_are_needed(items, tested):
    assert (found_in({(True, 1, 3): items}).p_value is not None) == tested
