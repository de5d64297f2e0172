"""Which state or period is compared, and which versions of a model answer on either side."""

from __future__ import annotations

from math import fsum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.compare.stories import day, figure, note, on, tell
from tests.filled import FillOnce
from tests.helpers import Write, write_file
from tests.storage.as_of.plain import Clock
from tracker.agreement.query import Metric, Query
from tracker.compare.states import State, find_compared_state
from tracker.core import clock
from tracker.core.errors import InvalidOption, NotFound
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
    return fill_once(sqlite_ledger, story)


@pytest.fixture
def told_on_both(ledger: Ledger, fill_once: FillOnce) -> Ledger:
    return fill_once(ledger, story)


def state(ledger: Ledger, text: str, query: Query | None = None) -> State:
    with ledger.asking("p") as (connection, question):
        return find_compared_state(connection, question, text, query)


SNAPSHOTS = {"1": 1, "baseline": 1, " second ": 2, "last": 3, "last~1": 2, "last~2": 1}
MOMENTS = {
    day(3): at("2024-01-03T23:59:59.999999"),
    "2024-01-03T12:00": at("2024-01-03T12:00"),
    "2024-01-03T12:00:00+02:00": at("2024-01-03T10:00"),
    "guideline v2": at("2024-01-03"),
    " C joins ": at("2024-01-05"),
}
PERIODS: dict[str, tuple[int | None, int | None]] = {
    "..guideline v2": (None, at("2024-01-03") - 1),
    "guideline v2..": (at("2024-01-03"), None),
    "guideline v2..C joins": (at("2024-01-03"), at("2024-01-05") - 1),
    "guideline v2 .. 2024-01-04": (at("2024-01-03"), at("2024-01-05") - 1),
    "2024-01-02..2024-01-02": (at("2024-01-02"), at("2024-01-03") - 1),
    "2024-01-02T12:00..": (at("2024-01-02T12:00"), None),
    "..": (None, None),
}


def test_snapshot_moment_and_period_are_recognized(
    told: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    for text, number in SNAPSHOTS.items():
        found = state(told, text)
        assert found.snapshot.id == number
    for text, as_of in MOMENTS.items():
        found = state(told, text)
        assert (found.moment.as_of, found.selection.since, found.snapshot) == (as_of, None, None)
    for text, (since, until) in PERIODS.items():
        found = state(told, text)
        assert (found.selection.since, found.moment.as_of) == (since, until)
    now = Clock(monkeypatch)
    now.moment = at("2024-01-06T18:00")
    assert state(told, "2d").moment.as_of == at("2024-01-04T18:00")
    assert state(told, "3 days ago").moment.as_of == at("2024-01-03T18:00")
    assert state(told, "2024-01-06").moment.as_of == now.moment, "today is until now"
    assert state(told, "2024-01-04..2024-01-06").moment.as_of == now.moment


def test_snapshot_is_as_recorded_and_a_date_as_answers_were_given(told_on_both: Ledger) -> None:
    found = told_on_both.compare("p", "baseline", "second")
    by_date = told_on_both.compare("p", day(2), day(4))
    assert (found.measures, found.changes) == (by_date.measures, by_date.changes)
    assert found.changes == {
        "new_items": 1, "new_answers": 0, "revised_answers": 2, "removed_answers": 0,
    }  # fmt: skip
    # What is imported later about the past changes the past, not the record.
    tell(told_on_both, on(2, "i C y", "j C y"))
    assert told_on_both.compare("p", "baseline", "second").changes == found.changes
    assert told_on_both.compare("p", "baseline", day(2)).changes == {
        "new_items": 0, "new_answers": 2, "revised_answers": 0, "removed_answers": 0,
    }  # fmt: skip


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
    told_on_both.snapshot("p", name="late", since=day(3))
    told_on_both.snapshot("p", name="early", as_of=day(2))
    recorded = told_on_both.compare("p", "early", "late")  # their times may differ
    assert [one.after for one in recorded.measures] == [one.after for one in found.measures]
    # i, j and k have answers in both.
    assert (found.items, found.changes) == ((0, 2, 3), None)


def test_notes_between_are_told(told: Ledger) -> None:
    def notes(a: str, b: str) -> list[str]:
        return [one.text for one in told.compare("p", a, b).notes]

    assert notes(day(1), day(6)) == ["guideline v2", "C joins"]
    assert notes(day(6), day(1)) == ["guideline v2", "C joins"], "whichever comes first"
    assert notes("guideline v2", "C joins") == ["C joins"], "the first note was there already"
    assert notes(day(1), day(2)) == []


UNKNOWN = (
    ("bseline", "'bseline' is no snapshot, time or note of 'p'", "did you mean 'baseline'"),
    ("guideline v3", "'guideline v3' is no snapshot", "did you mean 'guideline v2'"),
    ("2024-02-30", "'2024-02-30' is no snapshot", "see: tracker snapshots list p"),
    ("guidelin..", "'guidelin' is neither a time nor a note of 'p'", "mean 'guideline v2'"),
    ("1..2", "'1' is neither a time nor a note", "see: tracker project notes p"),
)


def test_unknown_and_impossible_states_are_refused(
    told: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    for text, message, mend in UNKNOWN:
        for a, b in ((text, "last"), ("last", text)):
            with pytest.raises(NotFound) as missing:
                told.compare("p", a, b)
            assert message in missing.value.message
            assert mend in (missing.value.mend or "")
    for options in ({"project": "q"}, {"project": "p", "other": "q"}):
        with pytest.raises(NotFound, match="'q'"):
            told.compare(a="last", b="last", **options)
    with pytest.raises(InvalidOption, match="it ends before it begins"):
        told.compare("p", "C joins..guideline v2", "last")
    Clock(monkeypatch).moment = at("2024-01-06T18:00")
    for text in ("2024-01-07", "..2024-01-08"):
        with pytest.raises(InvalidOption, match="lies in the future"):
            told.compare("p", "last", text)


def test_states_that_were_read_differently_are_refused(told_on_both: Ledger) -> None:
    told_on_both.snapshot("p", name="without C", exclude_annotators="C")
    told_on_both.snapshot("p", name="wide", confidence=0.5)
    told_on_both.snapshot("p", name="A and B", annotators=["A", "B"], weights="identity")
    for a, b, unlike in (
        ("wide", "last~3", "confidence"),
        ("without C", "A and B", "annotators left out, annotators chosen, weights"),
    ):
        with pytest.raises(InvalidOption, match=f"differ in their settings: {unlike}"):
            told_on_both.compare("p", a, b)
    found = told_on_both.compare("p", "last~3", "without C", anyway=True)
    # C's answer was left out; nobody took it away.
    assert found.changes is None
    assert found.to_dict()["periods"] == {
        "items_only_a": 0, "items_only_b": 0, "items_in_both": 5,
    }  # fmt: skip
    assert found.because.shares.keys() == {"same_items"}
    assert found.because.annotators["C"].after is None


def test_a_state_that_is_no_snapshot_is_like_the_snapshot_beside_it(told: Ledger) -> None:
    told.snapshot("p", name="A and B", annotators=["A", "B"], confidence=0.5, until=day(4))
    for a, b, kind in (("A and B", "..", "new_items"), (day(6), "A and B", "removed_answers")):
        found = told.compare("p", a, b)
        assert {one.comparison.confidence for one in found.measures} == {0.5}
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


FIRST_DAY = on(1, "i A x", "i B x", "j A x", "j B y", "k A y", "k B y", "l A x", "l B x")
SECOND_DAY = on(3, "i A y", "i B x", "m A x", "m B y", "n A y", "n B y", "n C y", "o B x", "o C y")
APART = (f"..{day(1)}", f"{day(2)}..")


def fill_periods(ledger: Ledger) -> None:
    """Two days; one item is answered on both, by the same people."""
    tell(ledger, FIRST_DAY, SECOND_DAY)


@pytest.fixture
def periods(ledger: Ledger, fill_once: FillOnce) -> Ledger:
    return fill_once(ledger, fill_periods)


def test_periods_add_and_take_nothing_away(periods: Ledger) -> None:
    found = periods.compare("p", *APART)
    assert (found.items, found.changes, found.is_unchanged) == ((3, 3, 1), None, False)
    for one in found.measures:
        if one.shares is not None:
            assert fsum(one.shares.values()) == pytest.approx(one.comparison.difference)
    # Of agreement: i, j, k, l were 1, 0, 1, 1; i, m, n, o are 0, 0, 1, 0.
    # With the other items but i as before: 1, 0, 1, 0; with i as after but the items of before:
    # 0, 0, 1, 1.
    agreement = figure(found, "percent_agreement")
    assert (agreement.before, agreement.after) == (0.75, 0.25)
    assert agreement.shares == pytest.approx({"other_items": -0.25, "same_items": -0.25})
    back = figure(periods.compare("p", *APART[::-1]), "percent_agreement")
    assert back.shares == pytest.approx({"other_items": 0.25, "same_items": 0.25})
    note(periods, "new rules", 2, guideline="v2")
    for name in ("new rules", "v2"):
        assert periods.compare("p", f"..{name}", f"{name}..").measures == found.measures, name


def test_periods_share_items_by_their_names_alone(periods: Ledger) -> None:
    tell(periods, on(5, "q A x", "q B x", "r A y", "r B y"))
    found = periods.compare("p", f"..{day(1)}", f"{day(5)}..")
    assert found.items.both == 0
    alpha = figure(found, "krippendorff_alpha")
    assert alpha.comparison.test == "independent_t"
    assert alpha.shares == {"other_items": pytest.approx(alpha.comparison.difference)}
    tell(periods, on(7, "k A y", "k B y", "s A x", "s B y"))  # k alike on both days
    found = periods.compare("p", f"..{day(1)}", f"{day(7)}..")
    assert (found.items, found.changes) == ((3, 1, 1), None)
    assert figure(found, "percent_agreement").shares == pytest.approx(
        {"other_items": 0.5 - 0.75, "same_items": 0.0}, abs=1e-12
    )


def test_recorded_periods_are_periods_and_overlapping_ones_states(periods: Ledger) -> None:
    """Snapshots of a time are periods, too; of all answers they are states."""
    periods.snapshot("p", name="first", until=day(1))
    periods.snapshot("p", name="second", since=day(2))
    periods.snapshot("p", name="all")
    assert periods.compare("p", "first", "second").changes is None
    assert periods.compare("p", "first", "all").changes is not None
    assert periods.compare("p", "second", "all").to_dict()["periods"] is None
    at_the_end = periods.compare("p", f"..{day(1)}", "second")
    assert figure(at_the_end, "percent_agreement").shares == pytest.approx(
        {"other_items": -0.25, "same_items": -0.25}
    )
    for sides in ((f"..{day(3)}", f"{day(3)}.."), (day(2), f"{day(2)}.."), ("..", f"{day(2)}..")):
        found = periods.compare("p", *sides)
        assert found.changes is not None
        assert found.to_dict()["periods"] is None


FIRST = on(1, "i A x", "i B x", "i M5 x", "j A x", "j B y", "j M5 y", "k A y", "k M5 y")
SECOND = on(3, "m A x", "m B y", "m M8 x", "n A y", "n B y", "n M8 x", "i M8 y")
MODELS = "annotator,kind,family,version\nM5,model,M,may\nM8,model,M,august\n"


def fill_versions(ledger: Ledger) -> None:
    """Two people answer on both days; one version of a model on each."""
    tell(ledger, FIRST, SECOND)
    with TemporaryDirectory() as folder:
        ledger.import_annotators(write_file(Path(folder) / "models.csv", MODELS), "p")


@pytest.fixture
def versions(ledger: Ledger, fill_once: FillOnce) -> Ledger:
    return fill_once(ledger, fill_versions)


def families(found: Any) -> list[dict[str, Any]]:
    """What the JSON says of families, versions by name."""
    return [
        {key: [v["annotator"] for v in one[key]] if key in "ab" else one[key] for key in one}
        for one in found.to_dict()["families"]
    ]


def test_another_version_answers(versions: Ledger) -> None:
    found = versions.compare("p", *APART)
    assert families(found) == [{"family": "M", "a": ["M5"], "b": ["M8"], "contribution": None}]
    assert found.to_dict()["families"][0]["b"] == [{"annotator": "M8", "version": "august"}]
    # Answers of before still stand at a later time.
    (one,) = families(versions.compare("p", day(1), day(3)))
    assert (one["a"], one["b"]) == (["M5"], ["M5", "M8"])
    assert families(versions.compare("p", day(3), day(4))) == []
    assert families(versions.compare("p", day(3), day(3))) == []


def test_its_part_in_the_difference_is_that_of_its_versions(versions: Ledger) -> None:
    for n, names in enumerate((["A", "B", "M5"], ["A", "B", "M8"])):
        versions.snapshot("p", name=f"s{n}", annotators=names)
    found = versions.compare("p", "s0", "s1", anyway=True)
    parts = found.because.annotators
    (one,) = families(found)
    assert one["contribution"] == pytest.approx(fsum(parts[v].contribution for v in ("M5", "M8")))


def test_other_answers_of_the_project(versions: Ledger) -> None:
    found = versions.against("p", {"annotators": ["A", "M5"]}, annotators=["A", "M8"])
    (one,) = families(found)
    assert (one["a"], one["b"]) == (["M8"], ["M5"])
    # Only one side names annotators: models count there alone.
    (one,) = families(versions.against("p", {"annotators": ["A", "M5"]}))
    assert (one["a"], one["b"]) == ([], ["M5"])
    assert families(versions.against("p", {"annotators": ["A"]}, annotators=["B"])) == []


def test_only_models_with_a_family_are_versions(versions: Ledger, write: Write) -> None:
    versions.import_annotators(write("annotator,family\nM8,N\nA,M\n"), "p")
    assert [one["family"] for one in families(versions.compare("p", *APART))] == ["M", "N"]
    versions.annotators.kind("p", "M8", "human")
    (one,) = families(versions.compare("p", *APART))
    assert (one["family"], one["a"], one["b"]) == ("M", ["M5"], [])
