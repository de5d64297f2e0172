"""What was recorded last: of all answers, of what is not archived, undone or closed."""

from __future__ import annotations

from tests.filled import FillOnce
from tracker.ledger import Ledger
from tracker.simulate.crowds import Group, simulate_crowd


def fill(ledger: Ledger) -> None:
    ledger.import_rows(simulate_crowd(120, 7, [Group("honest", 6), Group("constant", 2)]), "p")
    ledger.import_rows(simulate_crowd(20, 7, [Group("honest", 3)]), "q")
    ledger.audit("p", record=True)
    for name in ("p", "q"):
        ledger.snapshot(name)


def test_the_last_snapshot_of_all_answers_counts(ledger: Ledger, fill_once: FillOnce) -> None:
    fill_once(ledger, fill)
    ledger.snapshot("p", annotators=["constant 1"])
    found = ledger.recorded_figures()
    assert [(one.project, one.question) for one in found.snapshots] == [
        ("p", "label"),
        ("q", "label"),
    ]
    first, recorded = found.snapshots[0], ledger.history("p").to_dict()["snapshots"][0]
    alpha = next(m for m in recorded["measures"] if m["measure"] == "krippendorff_alpha")
    assert (first.value, first.ci_low, first.ci_high) == (
        alpha["value"], alpha["ci_low"], alpha["ci_high"],
    )  # fmt: skip
    assert (first.items, first.answers) == (120, recorded["counts"]["answers"])
    ledger.import_rows(simulate_crowd(10, 8, [Group("honest", 3)]), "q")
    assert ledger.recorded_figures().snapshots == found.snapshots  # nothing is computed


def test_findings_count_while_they_need_attention(ledger: Ledger, fill_once: FillOnce) -> None:
    fill_once(ledger, fill)
    listed = ledger.flags.list("p").flags
    assert sum(one.number for one in ledger.recorded_figures().findings) == len(listed) > 1
    numbers = [one.flag for one in listed]
    ledger.flags.acknowledge("p", numbers[:1], by="ada")
    assert sum(one.number for one in ledger.recorded_figures().findings) == len(listed)
    ledger.flags.dismiss("p", numbers, by="ada")
    assert ledger.recorded_figures().findings == []


def test_an_import_that_is_undone_is_not_the_last(ledger: Ledger, fill_once: FillOnce) -> None:
    fill_once(ledger, fill)
    before = ledger.recorded_figures().imports
    made = ledger.import_rows(simulate_crowd(5, 9, [Group("honest", 2)]), "p")
    assert made.id is not None
    assert ledger.recorded_figures().imports[0].recorded_at > before[0].recorded_at
    ledger.imports.undo(made.id)
    assert ledger.recorded_figures().imports == before


def test_archived_projects_are_left_out(ledger: Ledger, fill_once: FillOnce) -> None:
    fill_once(ledger, fill)
    ledger.projects.archive("p")
    found = ledger.recorded_figures()
    assert {one.project for rows in found for one in rows} == {"q"}
