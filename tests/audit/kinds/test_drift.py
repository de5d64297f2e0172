"""When an annotator's agreement, or accuracy on gold, fell."""

from __future__ import annotations

from collections import Counter

import pytest

from tracker.audit.findings import Evidence
from tracker.audit.kinds.drift import DRIFT, MINIMUM_IN_TIME
from tracker.core.audit_tallies import Blocks
from tracker.core.tallies import AnnotatorTallies, make_pattern
from tracker.core.tally_columns import keyed_tallies_of

DAY = 86_400_000_000
START = 1_700_000_000_000_000

AGREED = ((0,), make_pattern([(0,)] * 3 + [(1,)]))
ALONE = ((1,), make_pattern([(0,)] * 3 + [(1,)]))
SPLIT = ((0,), make_pattern([(0,), (1,), (2,), (3,)]))


def blocks(*rows):
    """Each row is a block: counts by own answer and pattern, and truth where there is a third."""
    counts = Counter()
    for block, row in enumerate(rows):
        for (own, pattern, *truth), items in row.items():
            counts[block, truth[0] if truth else None, own, pattern] += items
    began = {block: START + block * DAY for block in range(len(rows))}
    return Blocks(keyed_tallies_of({7: counts}), {7: began})


def only(found):
    [finding] = DRIFT.find(Evidence(AnnotatorTallies(), blocks=found))
    return finding


def test_the_block_from_which_it_fell_is_named():
    early, late = {AGREED: 9, ALONE: 1}, {AGREED: 2, ALONE: 8}
    found = only(blocks(*[early] * 6, *[late] * 4))
    assert found.details["since"].startswith("2023-11-20T22:13:20")
    assert found.details["of"] == "agreement on contested items"
    assert found.p_value < 1e-6
    assert found.notable
    assert (found.n, found.informative) == (100, 100)
    # Above the others' agreement: 2/3 - 1/3 where agreed with, 0 - 1 where alone.
    before, after = 0.9 / 3 - 0.1, 0.2 / 3 - 0.8
    assert found.effect.value == pytest.approx(after - before)
    level = 0.2 * 1 / 3 + 0.8 * 1  # what the others reach with each other, later on
    assert found.observed == pytest.approx(after + level)
    assert found.observed == pytest.approx(0.2 * 2 / 3)
    assert found.expected == pytest.approx(before + level)


def test_hard_items_in_a_row_are_no_drift():
    """Everybody disagrees on the later items, which tells nothing of the one."""
    easy, hard = {AGREED: 9, ALONE: 1}, {AGREED: 9, ALONE: 1, SPLIT: 30}
    found = only(blocks(*[easy] * 5, *[hard] * 5))
    assert found.p_value > 0.5
    assert not found.notable
    assert found.informative == 100  # an item on which no two agree cannot tell


def test_of_equal_agreement_with_the_others_half_as_contested_is_no_drift():
    even = make_pattern([(0,)] * 3 + [(1,)] * 3)
    found = only(blocks(*[{AGREED: 9, ALONE: 3}] * 5, *[{((0,), even): 6, ((1,), even): 6}] * 5))
    assert found.p_value > 0.05


def test_gold_is_taken_where_it_has_more_answers():
    early = {(*AGREED, (0,)): 6, ((2,), (((2,), 1),), (2,)): 6}
    late = {(*AGREED, (0,)): 6, ((1,), (((1,), 1),), (2,)): 6}
    found = only(blocks(*[early] * 3, *[late] * 3))
    assert found.details["of"] == "accuracy on gold"
    assert (found.observed, found.expected) == (0.5, 1.0)
    assert found.effect.value == -0.5
    assert found.informative == 72
    assert found.p_value < 1e-4
    assert found.details["since"].startswith("2023-11-17")


def test_agreement_is_taken_where_gold_is_rare():
    early = {AGREED: 9, ALONE: 1, (*SPLIT, (0,)): 1}
    found = only(blocks(*[early] * 5, *[{AGREED: 1, ALONE: 9, (*SPLIT, (0,)): 1}] * 5))
    assert found.details["of"] == "agreement on contested items"


def test_getting_better_is_no_drift():
    found = only(blocks(*[{ALONE: 8, AGREED: 2}] * 5, *[{AGREED: 9, ALONE: 1}] * 5))
    assert found.p_value > 0.5
    assert not found.notable


def test_few_answers_have_no_test():
    found = only(blocks({AGREED: MINIMUM_IN_TIME - 2}, {ALONE: 1}))
    assert found.p_value is None
    assert only(blocks({AGREED: MINIMUM_IN_TIME - 2}, {ALONE: 2})).p_value is not None


@pytest.mark.parametrize("rows", [(), ({SPLIT: 9}, {SPLIT: 9}), ({AGREED: 9}, {AGREED: 9})])
def test_nothing_that_varies_has_no_finding(rows):
    assert [*DRIFT.find(Evidence(AnnotatorTallies(), blocks=blocks(*rows)))] == []
    assert [*DRIFT.find(Evidence(AnnotatorTallies()))] == []
