"""The trail of a project: each act once, the last first, by name, a part at a time."""

from __future__ import annotations

import pandas as pd
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from tests.filled import FillOnce
from tests.profiles import both
from tests.web.reading import read
from tests.work.test_assignments import import_items
from tracker.core.errors import InvalidOption
from tracker.counts.choosing import ACTS
from tracker.counts.trail import _ABOUT, _SENTENCES, change_sentence
from tracker.ledger import Ledger
from tracker.simulate.crowds import Group, simulate_crowd
from tracker.storage.schema import Change
from tracker.web.app import create_app


def do_everything(ledger: Ledger) -> None:
    rows = [(f"i{n}", who, "yes" if who == "always" or (n + turn) % 3 else "no")
            for n in range(60) for turn, who in enumerate(("always", "a", "b", "c"))]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["item", "annotator", "category"])
    ledger = ledger.acting_for("ada")
    ledger.projects.create("p")
    ledger.import_frame(frame, "p")
    ledger.import_frame(frame.assign(category="maybe"), "p")
    ledger.imports.undo(2)
    ledger.import_frame(frame[:3].assign(category="maybe", annotator="d"), "p")
    ledger.projects.set("p", wanted=3)
    ledger.projects.set("p", goal="alpha +-0.05")
    ledger.projects.set("p", instructions="Read it twice.")
    ledger.categories.order("p", ["no", "yes", "maybe"])
    ledger.categories.rename("p", "yes", "sure")
    ledger.categories.merge("p", "maybe", "sure")
    ledger.categories.split("p", "maybe")
    ledger.annotators.rename("p", "a", "anna")
    ledger.annotators.alias("p", "b", "bob")
    ledger.annotators.merge("p", "c", "b")
    ledger.annotators.split("p", "c")
    ledger.annotators.kind("p", "c", "model")
    ledger.annotators.leave("p", "c", "2026-03-01")
    ledger.annotators.back("p", "c")
    ledger.annotators.pause("p", "c", note="why")
    ledger.annotators.resume("p", "c")
    rule = '[[rule]]\nwhen = "agreement < 1 over the last 30"\nthen = "pause"'
    ledger.rules.check("p", text=rule)
    ledger.projects.set("p", timezone="Europe/Berlin")
    ledger.projects.set("p", tentative_from=0.6, good_from=0.75)
    ledger.projects.set("p", item_link="https://l.test/{item}", media_hosts=["m.test"])
    ledger.annotators.erase("p", "anna")
    ledger.items.alias("p", "i1", "one")
    ledger.items.unalias("p", "one")
    ledger.assignments.assign("p", to=["b", "new"], answers=9)
    ledger.assignments.withdraw("p")
    import_items(ledger, ["new 1", "new 2"])
    ledger.rounds.start("p", to=["first", "second"])
    ledger.adjudication.decide("p", "i0", ["no"], reason="ambiguous")
    ledger.notes.add("p", "what")
    ledger.notes.remove("p", 1)
    ledger.questions.rename("p", "label", "tone")
    ledger.questions.add("p", "other")
    ledger.snapshot_by_question("p")
    ledger.record_audit_by_question("p")
    ledger.flags.dismiss("p", [1], by="bob", note="so it is")
    ledger.snapshot_by_question("p", name="first")
    ledger.prune("p", "last:1")
    ledger.projects.archive("p")
    ledger.projects.archive("p", restore=True)
    ledger.projects.rename("p", "q")


@both
def test_every_act_is_listed_once_in_words_and_found_by_person_and_subject(
    ledger: Ledger, fill_once: FillOnce
) -> None:
    fill_once(ledger, do_everything)
    ledger.acting_for('bo "by": "ada"').projects.set("q", timezone="UTC")
    whole = ledger.projects.changes("q").acts
    with ledger.database.read() as connection:
        kinds = list(connection.scalars(select(Change.kind).order_by(Change.id.desc())))
    assert [one.kind for one in whole if one.change] == kinds
    assert {*_SENTENCES} - {*kinds} == {"snapshot", "read labels"}, "its labels are in no files"
    told = [(one.by, change_sentence(one)) for one in whole]
    for expected in (
        ("ada", "renamed the project from p to q"), ("ada", "set tone: wanted 3"),
        (None, "took the snapshot first"), ("bob", "dismissed finding 1"),
        ("ada", "undid import 2"), ("ada", "merged the category maybe of tone into sure"),
        ("ada", "merged c into b"), ("ada", "split c from b"), ("ada", "made c a model"),
        ("ada", "gave b the alias bob"),
    ):  # fmt: skip
        assert told.count(expected) == 1, (expected, told)
    assert not {one for _, one in told} & {*kinds}
    assert [one.at for one in whole] == sorted((one.at for one in whole), reverse=True)
    first = ledger.projects.changes("q", 30)
    rest = ledger.projects.changes("q", before=first.next)
    assert (first.acts + rest.acts, rest.next) == (whole, None)
    with pytest.raises(InvalidOption, match="no place"):
        ledger.projects.changes("q", before="x")
    parts = [ledger.projects.changes("q", about=about).acts for about in ACTS]
    assert all(parts)
    assert sorted(act.at for part in parts for act in part) == sorted(act.at for act in whole)
    assert {*_ABOUT} | {"findings"} == {*ACTS}
    for by in ("ada", "bob", 'bo "by": "ada"', "Ada"):
        acts = ledger.projects.changes("q", by=by).acts
        assert acts == tuple(act for act in whole if act.by == by)
    dismissed = ledger.projects.changes("q", by="bob", about="findings").acts
    assert [act.what for act in dismissed] == ["dismissed finding 1"]
    assert ledger.projects.changes("q", by="bob", about="people").acts == ()
    with pytest.raises(InvalidOption, match="no change is about 'finding'"):
        ledger.projects.changes("q", about="finding")
    with TestClient(create_app(ledger), base_url="http://127.0.0.1:8000") as client:
        page = read(client, "/projects/q/changes")
        assert page.to("took the snapshot first") == "/projects/q/snapshots/2"
        assert page.to("dismissed finding 1") == "/projects/q/findings/1"


def test_the_page_keeps_what_is_chosen_in_its_links(ledger: Ledger) -> None:
    hostile = "<b>&by=x"
    acting = ledger.acting_for(hostile)
    acting.projects.create("q")
    for n in range(60):
        acting.notes.add("q", f"note {n}")
    ledger.projects.set("q", timezone="Europe/Berlin")
    chosen = "by=%3Cb%3E%26by%3Dx&about=settings"
    with TestClient(create_app(ledger), base_url="http://127.0.0.1:8000") as client:
        page = read(client, f"/projects/q/changes?{chosen}")
        assert {row[1] for row in page.rows[1:]} == {hostile}
        assert page.to(hostile) == f"/projects/q/changes?{chosen}"
        earlier = page.to("Earlier changes")
        assert earlier.endswith(f"&{chosen}")
        assert len(read(client, earlier).rows) == 1 + 11
        assert read(client, earlier).to("Last changes") == f"/projects/q/changes?{chosen}"
        assert "no place" in read(client, "/projects/q/changes?before=x", 422).text
        assert "no change is about" in read(client, "/projects/q/changes?about=x", 422).text


def test_the_last_snapshot_of_all_answers_counts(ledger: Ledger) -> None:
    ledger.import_rows(simulate_crowd(120, 7, [Group("honest", 6), Group("constant", 2)]), "p")
    ledger.import_rows(simulate_crowd(20, 7, [Group("honest", 3)]), "q")
    ledger.audit("p", record=True)
    for name in ("p", "q"):
        ledger.snapshot(name)
    ledger.snapshot("p", annotators=["constant 1"])
    figures = ledger.recorded_figures()
    listed = [(one.project, one.question) for one in figures.snapshots]
    assert listed == [("p", "label"), ("q", "label")]
    first, recorded = figures.snapshots[0], ledger.history("p").to_dict()["snapshots"][0]
    alpha = next(m for m in recorded["measures"] if m["measure"] == "krippendorff_alpha")
    interval = alpha["value"], alpha["ci_low"], alpha["ci_high"]
    assert (first.value, first.ci_low, first.ci_high) == interval
    assert (first.items, first.answers) == (120, recorded["counts"]["answers"])
    imported = ledger.import_rows(simulate_crowd(10, 8, [Group("honest", 3)]), "q")
    after = ledger.recorded_figures()
    assert after.snapshots == figures.snapshots  # nothing is computed
    assert after.imports != figures.imports
    assert imported.id is not None
    ledger.imports.undo(imported.id)
    assert ledger.recorded_figures().imports == figures.imports, "an undone import is not the last"
    listed = ledger.flags.list("p").flags
    numbers = [one.flag for one in listed]
    assert sum(one.number for one in figures.findings) == len(listed) > 1
    ledger.flags.acknowledge("p", numbers[:1], by="ada")
    assert sum(one.number for one in ledger.recorded_figures().findings) == len(listed)
    ledger.flags.dismiss("p", numbers, by="ada")
    assert ledger.recorded_figures().findings == []
    ledger.projects.archive("p")
    assert {one.project for rows in ledger.recorded_figures() for one in rows} == {"q"}
