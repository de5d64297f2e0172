"""Two states of a project beside each other, by random scripts: figures, and shares that add up."""

from __future__ import annotations

import math
from datetime import date

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy import Connection

from tests.counts.test_timeline import (
    EVERYTHING_AT_ONCE,
    FIRST,
    SAID_AGAIN,
    Case,
    cases,
    play,
)
from tests.profiles import both, examples
from tracker.agreement.query import Query
from tracker.agreement.result import Assessment
from tracker.agreement.run import assess
from tracker.compare.comparison import StateComparison, compare_states
from tracker.compare.items import KINDS
from tracker.compare.states import find_compared_state
from tracker.core.clock import DAY
from tracker.counts.filter import AnswerFilter
from tracker.ledger import Ledger
from tracker.projects.questions import QuestionInfo
from tracker.storage.as_of import Moment, as_it_was

EPOCH = date(1970, 1, 1).toordinal()


def follow(ledger: Ledger, kind: str, case: Case) -> None:
    """Play a script, and compare the states of two days."""
    script, _, _, look = case
    days = sorted([FIRST - 1 + look % 12, FIRST + look % 23])
    with ledger.database.write(keep=False) as connection:
        project, _ = play(connection, kind, script)
        names = [date.fromordinal(EPOCH + day).isoformat() for day in days]
        states = [find_compared_state(connection, project, name) for name in names]
        found = compare_states(connection, *states)
        for side, day in enumerate(days):
            measures = [one.name for one in found.measures]
            same_figures(found, assessed(connection, project, day, measures), side)
        shares_add_up(found)


def assessed(
    connection: Connection, question: QuestionInfo, day: int, measures: list[str]
) -> Assessment:
    moment = (day + 1) * DAY - 1
    with as_it_was(connection, question.project_id, Moment(moment)):
        return assess(connection, question, Query(measures, filter=AnswerFilter(as_of=moment)))


def same_figures(found: StateComparison, then: Assessment, side: int) -> None:
    values = {one.name: (one.before, one.after)[side] for one in found.measures}
    assert values == {one.measure: one.value for one in then.measures}
    assert {"percent_agreement", "krippendorff_alpha", "fleiss_kappa"} <= values.keys()
    rates = {one.name: (one.before, one.after)[side] for one in found.categories}
    assert rates == {then.categories[rate.category]: rate.rate for rate in then.rates}


def shares_add_up(found: StateComparison) -> None:
    for one in found.measures:
        if one.before is None or one.after is None:
            assert one.shares is None
            continue
        difference = one.after - one.before
        assert one.comparison.difference == pytest.approx(difference, abs=1e-12)
        if one.shares is not None:
            assert math.fsum(one.shares.values()) == pytest.approx(difference, abs=1e-9)
            assert one.shares.keys() == {kind for kind in KINDS if found.changes[kind]}
    if found.because is None:
        return
    lead = next(one for one in found.measures if one.name == found.because.measure)
    assert found.because.shares == lead.shares
    for parts in (found.because.annotators, found.because.answers):
        total = math.fsum(part.contribution for part in parts.values())
        assert total == pytest.approx(lead.after - lead.before, abs=1e-9)
        sizes = [abs(part.contribution) for part in parts.values()]
        assert sizes == sorted(sizes, reverse=True)


@both
def test_figures_are_those_of_then_and_shares_add_up(ledger: Ledger, backend: str) -> None:
    @examples(5 if backend == "sqlite" else 1)
    @example(("one", (SAID_AGAIN, 1, 1, 0)))
    @example(("several", (EVERYTHING_AT_ONCE, 1, 1, 7)))
    @given(st.one_of(*(st.tuples(st.just(kind), cases(kind)) for kind in ("one", "several"))))
    def check(drawn: tuple[str, Case]) -> None:
        follow(ledger, *drawn)

    check()
