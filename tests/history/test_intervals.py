"""How the intervals of snapshots are made: recorded, verified, and no reason to set them apart."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlalchemy import select, text

from tests.helpers import question_of
from tests.history.scripts import tampering
from tracker.core.errors import InvalidOption
from tracker.counts.selection import Selection
from tracker.history import take as count
from tracker.history.overview import snapshots_overview
from tracker.history.prune import parse_prune_keep, plan_prune
from tracker.history.snapshot import (
    alike_snapshot_settings,
    is_usual_snapshot,
    query_of_snapshot,
    snapshot_settings_text,
)
from tracker.history.verify import verify_snapshots
from tracker.ledger import Ledger
from tracker.simulate.crowds import simulate_experiment
from tracker.storage.schema import Snapshot


def as_once(query: Any, selection: Selection) -> str:
    """Settings as they were when there was but Student's t, which they did not say."""
    return alike_snapshot_settings(snapshot_settings_text(query, selection))[0]


def store(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Three snapshots: one of the old kind, one by t, one by default; as JSON."""
    ledger.import_rows(simulate_experiment("mixed", 60, 1), "p")
    with monkeypatch.context() as patched:
        patched.setattr(count, "snapshot_settings_text", as_once)
        ledger.snapshot("p", interval="t", name="old")
    ledger.import_rows(simulate_experiment("mixed", 70, 2), "p")
    ledger.snapshot("p", interval="t")
    ledger.import_rows(simulate_experiment("mixed", 80, 3), "p")
    ledger.snapshot("p")
    told: list[dict[str, Any]] = ledger.history("p").to_dict()["snapshots"]
    return told


def test_each_keeps_the_intervals_it_was_taken_with(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshots = store(ledger, monkeypatch)
    methods = [{one["method"] for one in each["measures"]} - {None} for each in snapshots]
    assert methods[:2] == [{"t"}, {"t"}]
    assert "Wilson" in methods[2]
    assert "t" not in methods[2]
    with ledger.reading("p") as (connection, _):
        settings = connection.scalars(select(Snapshot.settings).order_by(Snapshot.id)).all()
    assert [json.loads(one).get("interval") for one in settings] == [None, "t", "asymmetric"]
    assert [query_of_snapshot(one).interval for one in settings] == ["t", "t", "asymmetric"]
    assert all(is_usual_snapshot(one) for one in settings)
    verified = ledger.verify("p")
    assert (verified.faults, verified.recomputed) == ((), 3)
    with ledger.asking("p") as (connection, question):
        assert len(snapshots_overview(connection, question, ["krippendorff_alpha"]).moments) == 3
        fates = plan_prune(connection, [question], parse_prune_keep("last:1"))
    assert [fate.kept_by for fate in fates] == ["its name", None, "the last"]
    same = ledger.record_snapshot("p", if_changed=True)
    assert (same.fresh, same.snapshot.id) == (False, 3)
    assert ledger.import_rows(simulate_experiment("mixed", 81, 3), "p").inserted
    ledger.snapshot("p", interval="t")
    assert ledger.verify("p").faults == ()
    other = ledger.record_snapshot("p", if_changed=True)
    assert (other.fresh, other.snapshot.id) == (True, 5), "other intervals are news"
    with ledger.database.write(keep=False) as connection:
        tampering(connection)
        connection.execute(
            text("""UPDATE snapshots SET settings = replace(settings, '"t"', '"asymmetric"')""")
        )
        faults = verify_snapshots(connection, question_of(connection)).faults
    assert 2 in {fault.snapshot for fault in faults}


def test_the_rebuilt_curve_has_the_intervals_asked_for(sqlite_ledger: Ledger) -> None:
    sqlite_ledger.import_rows(simulate_experiment("mixed", 60, 1), "p")
    methods = []
    for how in ("asymmetric", "t"):
        curve = sqlite_ledger.history("p", "day", interval=how)
        methods.append({one.method for one in curve.points[-1].assessment.measures} - {None})
    assert "Wilson" in methods[0]
    assert methods[1] == {"t"}
    with pytest.raises(InvalidOption, match="intervals that they were taken with"):
        sqlite_ledger.history("p", interval="t")  # type: ignore[call-overload]
