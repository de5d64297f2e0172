"""Which state is meant: by number, name, date, note or period; and what is no state."""

from __future__ import annotations

from typing import Any

import pytest

from tests.compare.stories import day, figure, note, on, tell
from tests.filled import FillOnce
from tests.storage.as_of.plain import Clock
from tracker.agreement.query import Metric, Query
from tracker.compare.states import State, find_compared_state
from tracker.core import clock
from tracker.core.errors import InvalidOption, NotFound
from tracker.core.results import as_json
from tracker.ledger import Ledger


def at(text: str) -> int:
    return clock.parse_timestamp(text)


def story(ledger: Ledger) -> None:
    """Three days of answers, three snapshots, two notes."""
    tell(ledger, on(1, "i A x", "i B x", "j A x", "j B y", "k A y", "k B y"))
    ledger.snapshot("p", name="baseline")
    tell(ledger, on(3, "j B x", "k A x", "m A x", "m B x"))
    ledger.snapshot("p", name="second")
    tell(ledger, on(5, "i A y", "n A y", "n B y", "n C x"))
    ledger.snapshot("p")
    note(ledger, "guideline v2", 3)
    note(ledger, "C joins", 5)


@pytest.fixture
def told(sqlite_ledger: Ledger, fill_once: FillOnce) -> Ledger:
    """It, where no database makes a difference."""
    return fill_once(sqlite_ledger, story)


@pytest.fixture
def told_on_both(ledger: Ledger, fill_once: FillOnce) -> Ledger:
    """It on each database in turn."""
    return fill_once(ledger, story)


def state(ledger: Ledger, text: str, query: Query | None = None) -> State:
    with ledger.asking("p") as (connection, question):
        return find_compared_state(connection, question, text, query)


# -- one moment ----------------------------------------------------------------------------


SNAPSHOTS = {"1": 1, "baseline": 1, " second ": 2, "last": 3, "last~1": 2, "last~2": 1}


def test_a_snapshot(told: Ledger) -> None:
    for text, number in SNAPSHOTS.items():
        found = state(told, text)
        assert found.snapshot is not None
        assert found.snapshot.id == number
        shown = as_json(found)
        assert (shown["asked"], shown["snapshot"], shown["since"]) == (text, number, None)
        assert shown["name"] == (None, "baseline", "second", None)[number]
        assert shown["as_of"] == clock.iso(found.snapshot.moment)


MOMENTS = {
    day(3): at("2024-01-03T23:59:59.999999"),
    "2024-01-03T12:00": at("2024-01-03T12:00"),
    "2024-01-03T12:00:00+02:00": at("2024-01-03T10:00"),
    "guideline v2": at("2024-01-03"),
    " C joins ": at("2024-01-05"),
}


def test_a_moment(told: Ledger) -> None:
    for text, as_of in MOMENTS.items():
        found = state(told, text)
        assert (found.moment.as_of, found.selection.since, found.snapshot) == (as_of, None, None)
        assert as_json(found)["as_of"] == clock.iso(as_of)


def test_how_long_ago_and_today(told: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    now = Clock(monkeypatch)
    now.moment = at("2024-01-06T18:00")
    assert state(told, "2d").moment.as_of == at("2024-01-04T18:00")
    assert state(told, "3 days ago").moment.as_of == at("2024-01-03T18:00")
    assert state(told, "2024-01-06").moment.as_of == now.moment, "today is until now"
    assert state(told, "2024-01-04..2024-01-06").moment.as_of == now.moment


def test_a_snapshot_is_as_it_was_recorded_and_a_date_as_answers_were_given(
    told_on_both: Ledger,
) -> None:
    found = told_on_both.compare("p", "baseline", "second")
    by_date = told_on_both.compare("p", day(2), day(4))
    for one, other in zip(found.measures, by_date.measures, strict=True):
        assert (one.before, one.after, one.shares) == (other.before, other.after, other.shares)
    recorded = {snap.name: snap.assessment for snap in told_on_both.history("p").snapshots}
    for one in found.measures:
        assert one.before == recorded["baseline"].measure(one.name).value
        assert one.after == recorded["second"].measure(one.name).value
    assert found.changes == by_date.changes
    assert found.changes == {
        "new_items": 1, "new_answers": 0, "revised_answers": 2, "removed_answers": 0,
    }  # fmt: skip
    # What is imported later about the past changes the past, not the record.
    tell(told_on_both, on(2, "i C y", "j C y"))
    assert told_on_both.compare("p", "baseline", "second").changes == found.changes
    assert told_on_both.compare("p", "baseline", day(2)).changes == {
        "new_items": 0, "new_answers": 2, "revised_answers": 0, "removed_answers": 0,
    }  # fmt: skip


# -- periods -------------------------------------------------------------------------------


PERIODS: dict[str, tuple[int | None, int | None]] = {
    "..guideline v2": (None, at("2024-01-03") - 1),
    "guideline v2..": (at("2024-01-03"), None),
    "guideline v2..C joins": (at("2024-01-03"), at("2024-01-05") - 1),
    "guideline v2 .. 2024-01-04": (at("2024-01-03"), at("2024-01-05") - 1),
    "2024-01-02..2024-01-02": (at("2024-01-02"), at("2024-01-03") - 1),
    "2024-01-02T12:00..": (at("2024-01-02T12:00"), None),
    "..": (None, None),
}


def test_a_period(told: Ledger) -> None:
    for text, (since, as_of) in PERIODS.items():
        found = state(told, text)
        assert (found.selection.since, found.moment.as_of) == (since, as_of)
        shown = as_json(found)
        assert shown["since"] == (None if since is None else clock.iso(since))
        assert shown["as_of"] == (None if as_of is None else clock.iso(as_of))


def test_answers_before_a_note_are_those_of_then(told_on_both: Ledger) -> None:
    """What was revised later is not taken from the time before."""
    found = told_on_both.compare("p", "..guideline v2", "guideline v2..")
    before = told_on_both.agreement("p", as_of=day(2))
    after = told_on_both.agreement("p", since=day(3))
    for one in found.measures:
        assert one.before == before.measure(one.name).value
        assert one.after == after.measure(one.name).value
    assert figure(found, "percent_agreement").before == pytest.approx(2 / 3)
    assert [one.text for one in found.notes] == ["guideline v2"]
    # i, j and k have answers in both.
    assert (found.items, found.changes) == ((0, 2, 3), None)


def test_notes_between_are_told(told: Ledger) -> None:
    def notes(a: str, b: str) -> list[str]:
        return [one.text for one in told.compare("p", a, b).notes]

    assert notes(day(1), day(6)) == ["guideline v2", "C joins"]
    assert notes(day(6), day(1)) == ["guideline v2", "C joins"], "whichever comes first"
    assert notes(day(3), day(6)) == ["C joins"]
    assert notes(day(1), day(2)) == []


# -- what is no state ----------------------------------------------------------------------


UNKNOWN = (
    ("bseline", "'bseline' is no snapshot, time or note of 'p'", "did you mean 'baseline'"),
    ("guideline v3", "'guideline v3' is no snapshot", "did you mean 'guideline v2'"),
    ("last~3", "'last~3' is no snapshot", "see: tracker snapshots list p"),
    ("", "'' is no snapshot", "see: tracker snapshots list p"),
    ("99", "'99' is no snapshot", "see: tracker snapshots list p"),
    ("2024-02-30", "'2024-02-30' is no snapshot", "see: tracker snapshots list p"),
    ("guidelin..", "'guidelin' is neither a time nor a note of 'p'", "mean 'guideline v2'"),
    ("..moon", "'moon' is neither a time nor a note", "see: tracker project notes p"),
    ("1..2", "'1' is neither a time nor a note", "see: tracker project notes p"),
)


def test_what_does_not_exist(told: Ledger) -> None:
    for text, message, mend in UNKNOWN:
        for a, b in ((text, "last"), ("last", text)):
            with pytest.raises(NotFound) as raised:
                told.compare("p", a, b)
            assert message in raised.value.message
            assert mend in (raised.value.mend or "")


def test_a_project_that_does_not_exist(told: Ledger) -> None:
    for asked in ({"project": "q"}, {"project": "p", "other": "q"}):
        with pytest.raises(NotFound, match="'q'"):
            told.compare(a="last", b="last", **asked)


def test_the_future_is_refused(told: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    Clock(monkeypatch).moment = at("2024-01-06T18:00")
    for text in ("2024-01-07", "2024-01-08T12:00", "..2024-01-08"):
        with pytest.raises(InvalidOption) as raised:
            told.compare("p", "last", text)
        assert raised.value.message == f"{text} lies in the future"
        assert raised.value.mend == "nobody knows the labels of then yet"


def test_a_period_goes_forward(told: Ledger) -> None:
    for text in ("2024-01-05..2024-01-02", "C joins..guideline v2"):
        with pytest.raises(InvalidOption, match="it ends before it begins"):
            told.compare("p", text, "last")


# -- settings ------------------------------------------------------------------------------


def test_states_that_were_read_differently_are_refused(told_on_both: Ledger) -> None:
    told_on_both.snapshot("p", name="without C", exclude_annotators="C")
    told_on_both.snapshot("p", name="wide", confidence=0.5)
    told_on_both.snapshot("p", name="A and B", annotators=["A", "B"], weights="identity")
    for a, b, unlike in (
        ("last~3", "without C", "annotators left out"),
        ("wide", "last~3", "confidence"),
        ("without C", "A and B", "annotators left out, annotators chosen, weights"),
    ):
        with pytest.raises(InvalidOption) as raised:
            told_on_both.compare("p", a, b)
        assert raised.value.message == f"{a} and {b} differ in their settings: {unlike}"
        assert raised.value.mend is not None
        assert raised.value.mend.endswith("to do it nevertheless: --anyway")
        assert told_on_both.compare("p", a, b, anyway=True).a.told == a
    found = told_on_both.compare("p", "last~3", "without C", anyway=True)
    # C's answer was left out; nobody took it away.
    assert found.changes is None
    assert found.to_dict()["periods"] == {
        "items_only_a": 0, "items_only_b": 0, "items_in_both": 5,
    }  # fmt: skip
    assert found.because is not None
    assert found.because.shares is not None
    assert found.because.shares.keys() == {"same_items"}
    assert found.because.annotators["C"].after is None


def test_times_may_differ_for_they_are_what_is_compared(told_on_both: Ledger) -> None:
    told_on_both.snapshot("p", name="late", since=day(3))
    told_on_both.snapshot("p", name="early", as_of=day(2))
    found = told_on_both.compare("p", "early", "late")
    assert figure(found, "percent_agreement").before == pytest.approx(2 / 3)
    late = told_on_both.agreement("p", since=day(3)).measure("percent_agreement").value
    assert figure(found, "percent_agreement").after == late
    assert as_json(found.b)["since"] == "2024-01-03T00:00:00Z"


def test_a_state_that_is_no_snapshot_is_like_the_snapshot_beside_it(told: Ledger) -> None:
    told.snapshot("p", name="A and B", annotators=["A", "B"], confidence=0.5, until=day(4))
    for a, b, kind in (("A and B", "..", "new_items"), (day(6), "A and B", "removed_answers")):
        found = told.compare("p", a, b)
        assert {one.comparison.confidence for one in found.measures} == {0.5}
        assert found.because is not None
        assert {*found.because.annotators} == {"A", "B"}
        # Of the same people, not of the same time: on the fifth day there was more.
        assert (found.changes or {})[kind] > 0
    told.snapshot("p", name="without C", exclude_annotators="C", weights="identity")
    assert told.compare("p", "without C", day(6)).b.query.metric.weights == "identity"


def test_a_question_is_for_states_that_no_snapshot_is_of(told: Ledger) -> None:
    query = Query((), 0.8, Metric(weights="identity"))
    asked: Any = {"confidence": 0.8, "weights": "identity"}
    assert state(told, "last", query).query.confidence == 0.95
    assert state(told, day(2), query).query.confidence == 0.8
    with pytest.raises(InvalidOption, match="differ in their settings: confidence, weights"):
        told.compare("p", "last", "..", **asked)
    assert told.compare("p", "last", "..", **asked, anyway=True).measures
    with pytest.raises(InvalidOption, match="two snapshots are compared as they were recorded"):
        told.compare("p", "last~1", "last", **asked, anyway=True)
    found = told.compare("p", day(2), "..", **asked)
    assert {one.comparison.confidence for one in found.measures} == {0.8}


def test_numbers_of_annotators_mean_nothing_across_projects(told: Ledger) -> None:
    tell(told, on(1, "1 Z x", "1 A x", "2 A y", "2 Z x"), project="q")
    told.snapshot("q", name="without Z", exclude_annotators="Z", annotators=())
    assert told.compare("p", "last", "without Z", other="q").items.both == 0
    told.snapshot("q", name="wide", confidence=0.5)
    with pytest.raises(InvalidOption, match="confidence"):
        told.compare("p", "last", "wide", other="q")
