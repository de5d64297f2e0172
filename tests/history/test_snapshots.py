"""Snapshots: what is recorded, and that it stays."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from sqlalchemy import select

from tests.agreement.test_recent import collapse, year
from tests.audit.flags.found import Seen, acted, record
from tests.helpers import Write, count_statements, give, stored, undo
from tests.storage.as_of.plain import Clock, at
from tracker.core import clock
from tracker.core.errors import InvalidOption, NotFound
from tracker.counts.selection import Selection
from tracker.history import take as count
from tracker.history.overview import snapshots_overview
from tracker.history.prune import parse_prune_keep, plan_prune
from tracker.history.snapshot import (
    alike_snapshot_settings,
    find_snapshot,
    query_of_snapshot,
    snapshot_settings_text,
)
from tracker.ledger import Ledger
from tracker.projects.categories import rename_category
from tracker.simulate.crowds import simulate_experiment
from tracker.storage.schema import Snapshot, SnapshotFlag

HEADER = "item,annotator,category\n"


def test_a_snapshot_holds_the_figures_and_the_tallies_of_its_moment(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.import_rows(simulate_experiment("mixed", 60, 1), "p")
    then = ledger.agreement("p")
    taken = ledger.snapshot("p", name="pilot", note="before the guideline")
    again = ledger.import_rows(simulate_experiment("high", 80, 2), "p")
    assert ledger.agreement("p").to_dict() != then.to_dict()
    with ledger.asking("p") as (connection, question):
        found = find_snapshot(connection, question, "pilot")
    assert found.to_dict() | {"own": taken.to_dict()["own"]} == taken.to_dict()
    assert found.assessment.figures() == then.figures()
    assert found.assessment.patterns == taken.assessment.patterns == then.patterns
    assert (found.id, found.note) == (1, "before the guideline")
    undo(ledger, again.id)
    assert ledger.agreement("p").figures() == then.figures()
    with ledger.changing("p") as (connection, question):
        rename_category(connection, question, "2", "two")
    before = taken.to_dict()["categories"]
    after = ledger.history("p").to_dict()["snapshots"][0]["categories"]
    assert [row["category"] for row in after] == ["0", "1", "two"]
    assert [row["rate"] for row in after] == [row["rate"] for row in before]
    rows = stored(ledger)
    for name in (" pilot ", " "):
        with pytest.raises(InvalidOption):
            ledger.snapshot("p", name=name)
    assert stored(ledger) == rows
    monkeypatch.setattr(clock, "now", lambda: 1_000_000)  # the clock runs backwards
    assert ledger.import_rows(simulate_experiment("low", 5, 1), "p").changed > 0
    second = ledger.snapshot("p")
    assert second.taken_at > taken.taken_at
    assert second.last_change_id > taken.last_change_id


def test_one_is_found_by_number_by_name_and_from_the_end(sqlite_ledger: Ledger) -> None:
    sqlite_ledger.import_rows(simulate_experiment("high", 5, 1), "p")
    missing = pytest.raises(NotFound, match=r"no snapshot 'last'\ntake one: tracker snapshot p")
    with missing, sqlite_ledger.asking("p") as (connection, question):
        find_snapshot(connection, question, "last")
    for name in ("pilot", "2", None, "v2"):
        sqlite_ledger.snapshot("p", name=name)
    with sqlite_ledger.asking("p") as (connection, question):
        for which, number in (("last", 4), ("last~2", 2), (" pilot ", 1), ("3", 3), (2, 2)):
            assert find_snapshot(connection, question, which).id == number, which
        for which in ("last~4", "5", "last~x", ""):
            with pytest.raises(NotFound, match=r"no snapshot .*\n"):
                find_snapshot(connection, question, which)


def test_a_snapshot_tells_how_it_was_asked_and_what_it_knows(
    ledger: Ledger, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = Clock(monkeypatch)
    now.moment = at(5)
    rows = "i,A,1,3\n i,B,2,4\n j,A,3,3\n j,B,3,3"
    epoch = at(0) // 1_000_000
    timed = rows.replace(",3\n", f",{epoch + 3}\n").replace(",4\n", f",{epoch + 4}\n")
    header = "item,annotator,category,labeled_at\n"
    ledger.import_file(write(header + timed[:-1] + str(epoch + 3)), "p")
    taken = ledger.snapshot("p", weights="quadratic", confidence=0.9, as_of=clock.iso(at(3.5)))
    asked = ledger.agreement("p", weights="quadratic", confidence=0.9, as_of=clock.iso(at(3.5)))
    assert taken.assessment.figures() == asked.figures()
    assert (taken.as_of, taken.moment, taken.taken_at) == (at(3.5), at(3.5), at(5) + 1)
    assert (taken.last_change_id, taken.assessment.counts.answers) == (2, 3)
    now.moment = at(9)
    ledger.import_file(write(header + "k,A,1,"), "p")
    before = ledger.snapshot("p", known_at=clock.iso(at(6)))
    assert (before.as_of, before.last_change_id) == (None, 2)
    assert before.assessment.counts.answers == 4


def test_findings_that_stand_are_kept_with_their_state(ledger: Ledger) -> None:
    ledger.import_rows(simulate_experiment("high", 10, 1), "p")
    record(ledger, Seen(1), Seen(2), Seen(3))
    acted(ledger, "dismiss", 1)
    acted(ledger, "acknowledge", 3)
    ledger.snapshot("p")
    acted(ledger, "resolve", 2)
    with ledger.database.read() as connection:
        kept = connection.execute(select(SnapshotFlag.flag_id, SnapshotFlag.state)).all()
    assert sorted(map(tuple, kept)) == [(2, "open"), (3, "acknowledged")]


def test_each_keeps_the_intervals_it_was_taken_with(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write_old_settings(query: Any, selection: Selection) -> str:
        """As when there was but Student's t, which they did not say."""
        return alike_snapshot_settings(snapshot_settings_text(query, selection))[0]

    with monkeypatch.context() as patched:
        patched.setattr(count, "snapshot_settings_text", write_old_settings)
        ledger.import_rows(simulate_experiment("mixed", 60, 1), "p")
        ledger.snapshot("p", interval="t", name="old")
    for number, interval in ((2, "t"), (3, "asymmetric")):
        ledger.import_rows(simulate_experiment("mixed", 60, number), "p")
        ledger.snapshot("p", interval=interval)
    snapshots = ledger.history("p").to_dict()["snapshots"]
    methods = [{one["method"] for one in each["measures"]} - {None} for each in snapshots]
    assert methods[:2] == [{"t"}, {"t"}]
    assert "t" not in methods[2]
    with ledger.reading("p") as (connection, _):
        settings = connection.scalars(select(Snapshot.settings).order_by(Snapshot.id)).all()
    assert [query_of_snapshot(one).interval for one in settings] == ["t", "t", "asymmetric"]
    verified = ledger.verify("p")
    assert (verified.faults, verified.recomputed) == ((), 3)
    with ledger.asking("p") as (connection, question):
        assert len(snapshots_overview(connection, question, ["krippendorff_alpha"]).moments) == 3
        fates = plan_prune(connection, [question], parse_prune_keep("last:1"))
    assert [fate.kept_by for fate in fates] == ["its name", None, "the last"]
    assert not ledger.record_snapshot("p", if_changed=True).fresh
    ledger.snapshot("p", interval="t")
    assert ledger.record_snapshot("p", if_changed=True).fresh, "other intervals are news"


def weeks_of(answers: pd.DataFrame, first: int, end: int) -> pd.DataFrame:
    weeks = answers["item"].str.split().str[0].astype(int)
    return answers[(weeks >= first) & (weeks < end)]


def own_of(ledger: Ledger, **asked: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ledger.history("p", **asked).to_dict()["snapshots"]
    return [one["own"] for one in found]


def test_a_snapshots_own_figures_are_those_of_the_new_items(ledger: Ledger) -> None:
    answers = year(collapse)
    for first, end in ((0, 10), (10, 25), (25, 30)):
        ledger.import_frame(weeks_of(answers, first, end), "p")
        ledger.snapshot("p")
        ledger.import_frame(weeks_of(answers, first, end), f"alone {first}")
    for first, own in zip((0, 10, 25), own_of(ledger), strict=True):
        alone = ledger.agreement(f"alone {first}").to_dict()
        assert own["items"] == alone["counts"]["items"]
        assert own["answers"] == alone["counts"]["answers"]
        of_alone = {one["measure"]: one for one in alone["measures"]}
        for one in own["measures"]:
            assert one["value"] == pytest.approx(of_alone[one["measure"]]["value"])
            assert one["ci_low"] == pytest.approx(of_alone[one["measure"]]["ci_low"])


def test_the_one_before_is_that_of_the_same_answers(sqlite_ledger: Ledger) -> None:
    answers = year(collapse, weeks=6)
    sqlite_ledger.import_frame(weeks_of(answers, 0, 3), "p")
    sqlite_ledger.snapshot("p", interval="t")
    with count_statements(sqlite_ledger.database.engine) as first:
        own_of(sqlite_ledger)
    sqlite_ledger.import_frame(weeks_of(answers, 3, 6), "p")
    sqlite_ledger.snapshot("p", annotators=["ada", "bo"])
    sqlite_ledger.snapshot("p")
    sqlite_ledger.snapshot("p", as_of="2024-01-14")  # of an earlier moment than all
    with count_statements(sqlite_ledger.database.engine) as all_snapshots:
        whole, two, all_, early = own_of(sqlite_ledger)
    assert all_snapshots.number == first.number
    assert (early["items"], whole["items"], all_["items"]) == (40, 20, 60)
    assert two["items"] > all_["items"]
    sqlite_ledger.snapshot("p")
    sqlite_ledger.prune("p", keep="last:1")
    assert own_of(sqlite_ledger)[-1]["items"] == 120, "those that were thinned out are passed over"


def test_own_figures_are_of_items_answered_further_and_of_none_taken_back(ledger: Ledger) -> None:
    for people, items in (("ab", "abcd"), ("c", "ab"), ("ab", "ef")):
        rows = [(item, who, item) for item in items for who in people]
        done = give(ledger, rows)
        ledger.snapshot("p")
    ledger.imports.undo(done.id or 0)
    ledger.snapshot("p")
    assert [(own["items"], own["answers"]) for own in own_of(ledger)] == [
        (4, 8),
        (2, 6),
        (2, 4),
        (0, 0),
    ]
