from __future__ import annotations

import pytest

from tests.audit.crowds import Crowd, one, turk
from tracker.audit.evidence import Evidence
from tracker.audit.findings import audited_annotator_figures
from tracker.core.audit_tallies import Blocks
from tracker.core.tally_columns import keyed_tallies_of


def test_figures_of_a_few_items():
    crowd = one({1: 0, 2: 0, 3: 1}, {1: 1, 2: 0, 3: 1}, {1: 0})
    first = audited_annotator_figures(Evidence(crowd.tallies()))[1]
    assert (first.answers, first.items_shared) == (3, 2)
    assert first.agreement_with_peers == pytest.approx((1 / 2 + 1 / 2) / 2)
    assert first.category_shares == {0: pytest.approx(2 / 3), 1: pytest.approx(1 / 3)}


def test_answers_of_several_agree_only_if_the_same():
    crowd = Crowd([{1: (0, 1), 2: (0,), 3: (0, 1)}, {1: (), 2: (), 3: (1,)}])
    figures = audited_annotator_figures(Evidence(crowd.tallies()))
    assert figures[1].agreement_with_peers == pytest.approx((1 / 2 + 1 / 2) / 2)
    assert figures[2].agreement_with_peers == pytest.approx((0 + 1 / 2) / 2)
    assert figures[1].category_shares == {0: 0.5, 1: 0.5}


def test_no_shared_item_is_no_agreement():
    assert (
        audited_annotator_figures(Evidence(one({1: 0}).tallies()))[1].agreement_with_peers is None
    )


def test_turk():
    crowd, workers, categories = turk()
    figures = audited_annotator_figures(Evidence(crowd.tallies()))
    assert figures[workers["Q"]].category_shares == {categories["positive"]: 1.0}
    assert figures[workers["Q"]].answers == 4
    assert figures[workers["P"]].category_shares[categories["positive"]] == 0.25


def test_the_course_is_the_agreement_in_parts_with_answers_enough():
    """Of 60 shared items, all agree in the first 20, half in the next, none in the last."""
    both, apart, alone = ((0, 2),), ((0, 1), (1, 1)), ((0, 1),)
    counts = {
        (0, None, 0, both): 20,
        (0, None, 0, alone): 7,
        (1, None, 0, both): 10,
        (1, None, 0, apart): 10,
        (2, None, 0, apart): 20,
    }
    began = {1: {0: 100, 1: 200, 2: 300}}
    crowd = one({1: 0}, {1: 0}).tallies()
    blocks = Blocks(keyed_tallies_of({1: counts}), began)
    first = audited_annotator_figures(Evidence(crowd, blocks=blocks))[1]
    error = (10 * 0.5**2 + 10 * 0.5**2) / 19 / 20
    assert [part[:3] for part in first.course] == [(100, 20, 1.0), (200, 20, 0.5), (300, 20, 0.0)]
    assert first.course[1].standard_error == pytest.approx(error**0.5)
    few = Blocks(keyed_tallies_of({1: {**counts, (2, None, 0, apart): 19}}), began)
    assert not audited_annotator_figures(Evidence(crowd, blocks=few))[1].course
