"""Choosing answers in Python: who is in, when, which items, and what says so afterwards."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any

import pandas as pd
import pytest
from sqlalchemy import select

from tests.filled import FillOnce
from tests.helpers import Write
from tracker.audit.flag_list import list_flags
from tracker.core import clock
from tracker.core.errors import InvalidOption, NotFound
from tracker.counts.choosing import Selecting
from tracker.history.snapshot import find_snapshot
from tracker.ledger import Ledger
from tracker.projects.annotators import add_annotator_alias, rename_annotator, set_annotator_kind
from tracker.simulate.crowds import Group, simulate_crowd
from tracker.storage.schema import Change, Note
from tracker.storage.seals.verify import verify_seals

COLUMNS = ["item", "annotator", "category", "labeled_at", "lang", "gold"]


def frame(items: int = 12) -> pd.DataFrame:
    """Ann and bob agree on odd items only; cat answers a month later; dot always says x."""
    rows = []
    for n in range(items):
        lang, gold = ("nl", "de", "en")[n % 3], "xy"[n % 2]
        for who, category, day in (
            ("ann", gold, "2020-03-01T09:00"),
            ("bob", "y", "2020-03-01T23:59:59.999999"),
            ("cat", gold, "2020-04-01T00:00"),
            ("dot", "x", ""),
        ):
            rows.append((f"i{n}", who, category, day, lang, gold))
    return pd.DataFrame(rows, columns=COLUMNS)


@pytest.fixture
def chosen(ledger: Ledger, fill_once: FillOnce) -> Ledger:
    return fill_once(ledger, load)


def load(ledger: Ledger) -> None:
    ledger.import_frame(frame(), "p", keep=["lang"])


def who(ledger: Ledger, **selecting: Any) -> set[str]:
    return {one.name for one in ledger.audit("p", **selecting).annotators}


def test_annotators_are_chosen_by_name(chosen: Ledger) -> None:
    """By other names, too; references and models where they are named."""
    assert who(chosen) == {"ann", "bob", "cat", "dot"}
    assert who(chosen, annotators=["ann", "bob"], exclude_annotators="bob") == {"ann"}
    audits = chosen.audit("p"), chosen.audit("p", annotators=["ann", "gold"])
    accuracies = [{one.name: one.figures["gold_accuracy"] for one in audit.annotators}
                  for audit in audits]  # fmt: skip
    assert accuracies == [{"ann": 1, "bob": 0.5, "cat": 1, "dot": 0.5}, {"ann": 1, "gold": None}]
    for selecting in (Selecting(annotators="ann"), Selecting(since="2020-03-15")):
        result = chosen.agreement("p", **selecting)
        assert result.gold is not None, selecting
        assert result.gold.answers == 12 * result.counts.annotators, "truths stay"
    assert chosen.agreement("p", exclude_annotators="gold").gold is None
    assert chosen.agreement("p", where={"lang": ["nl", "de"]}).counts.items == 8
    with chosen.writing("p") as (connection, project):
        rename_annotator(connection, project, "ann", "anna")
        add_annotator_alias(connection, project, "bob", "robert")
        set_annotator_kind(connection, project, "cat", "model")
    result = chosen.agreement("p", annotators=["ann", "anna", " robert "])
    assert result.counts.annotators == 2
    assert result.selection is not None
    assert result.selection["annotators"] == ["anna", "bob"]
    with pytest.raises(NotFound, match=r"no annotator 'an'.*\n.*'ann'"):
        chosen.agreement("p", annotators=["an"])
    with pytest.raises(NotFound):
        chosen.agreement("p", exclude_annotators=["nobody at all"])
    assert who(chosen) == {"anna", "bob", "dot"}
    assert who(chosen, annotators=["ann", "cat"]) == {"anna", "cat"}
    assert who(chosen, exclude_annotators=["ann"]) == {"bob", "dot"}


def test_flagged_annotators_are_left_out(ledger: Ledger) -> None:
    crowd = [Group("honest", 8), Group("constant", 1)]
    ledger.import_rows(simulate_crowd(120, 3, crowd), "q")
    assert ledger.agreement("q", exclude_flagged=True).selection is None
    ledger.audit("q", record=True)
    for names, excluded, left in (
        (None, ["constant 1"], 8),
        (["constant 1", "annotator 01"], ["constant 1"], 1),
        (["annotator 01"], [], 1),  # of those who are not in nothing is said
    ):
        result = ledger.agreement("q", annotators=names or (), exclude_flagged=True)
        assert result.selection is not None
        assert result.selection["excluded"] == excluded
        assert result.counts.annotators == left


def test_times_are_those_of_labeling(chosen: Ledger) -> None:
    def names(**selecting: Any) -> set[str]:
        return {*chosen.export_frame("p", exclude_annotators="gold", **selecting)["annotator"]}

    day, noon = date(2020, 3, 1), datetime(2020, 3, 1, 9, tzinfo=UTC)
    assert names(since="2020-03-01", until="2020-03-01") == {"ann", "bob"}
    assert names(since="2020-03-01T09:00:00Z", until="2020-03-01T12:00") == {"ann"}
    assert names(since="2020-03-01T09:00:00.000001", until="2020-03-31") == {"bob"}
    assert names(since="2020-04-01") == {"cat", "dot"}, "no time: when it was recorded"
    assert names(since="1h") == {"dot"}
    assert names(until="1 hour ago") == {"ann", "bob", "cat"}
    assert names(since=day, until=day) == {"ann", "bob"}
    assert names(until=noon) == {"ann"}
    assert who(chosen, since="2020-03-01T09:00:00.000001") == {"bob", "cat", "dot"}
    result = chosen.agreement("p", since=day, until=day)
    assert result.selection is not None
    assert (result.selection["since"], result.selection["until"]) == (
        "2020-03-01T00:00:00Z",
        "2020-03-01T23:59:59.999999Z",
    )


IMPOSSIBLE: list[tuple[dict[str, Any], str]] = [
    ({"since": "the other day"}, "--since.*is no time\n.*7d"),
    ({"until": "2020-02-30"}, "--until.*is no time"),
    ({"since": "2020-03-02", "until": "2020-03-01"}, "is later than"),
    ({"where": {"lang": []}}, "no value of 'lang'"),
    ({"where": {"lnag": "nl"}}, "no attribute|has an attribute 'lnag'\n.*lang"),
    ({"where": {"lang": ["nl", "nk"]}}, "has lang=nk\ndid you mean 'nl'"),
    ({"where": {"lang": "Esperanto"}}, "has lang=Esperanto\nits values are: 'de', 'en', 'nl'"),
]


def test_impossible_choices_are_refused(chosen: Ledger) -> None:
    calls: list[Callable[..., object]] = [
        chosen.agreement, chosen.audit, chosen.snapshot, chosen.export_frame,
    ]  # fmt: skip
    for number, (selecting, message) in enumerate(IMPOSSIBLE):
        with pytest.raises(InvalidOption, match=message):
            calls[number % len(calls)]("p", **selecting)


NOTHING = (
    Selecting(exclude_annotators=["ann", "bob", "cat", "dot"]),
    Selecting(annotators="ann", exclude_annotators="ann"),
    Selecting(until="2000-01-01"),
    Selecting(annotators="ann", since="2020-03-02"),
)


def test_an_empty_choice_has_no_figure_and_a_reason(chosen: Ledger) -> None:
    for selecting in NOTHING:
        result = chosen.agreement("p", **selecting)
        assert result.counts.to_dict() == dict.fromkeys(result.counts.to_dict(), 0), selecting
        assert all(one.value is None and one.undefined for one in result.measures)
        assert result.summary.lowest is None
    assert chosen.audit("p", **NOTHING[0]).annotators == ()
    assert not any(chosen.snapshot("p", **NOTHING[0]).assessment.counts.to_dict().values())


def test_snapshots_and_audits_tell_the_choice(chosen: Ledger) -> None:
    chosen.snapshot("p", name="all")
    choice = Selecting(exclude_annotators="dot", until="2020-04-01", where={"lang": "nl"})
    snapshot = chosen.snapshot("p", name="some", **choice)
    selection = dict.fromkeys(("since", "as_of", "known_at")) | {
        "annotators": [],
        "excluded": ["dot"],
        "until": "2020-04-01T23:59:59.999999Z",
        "where": {"lang": ["nl"]},
    }
    listed = json.loads(json.dumps(chosen.history("p").to_dict()))["snapshots"]
    assert [one["selection"] for one in listed] == [None, selection]
    with chosen.asking("p") as (connection, question):
        assert find_snapshot(connection, question, "some") == snapshot
    assert snapshot.assessment.selection == selection
    assert snapshot.assessment.counts.items == 4
    assert chosen.audit("p").to_dict()["selection"] is None
    audit = chosen.audit("p", annotators=["bob", "ann"]).to_dict()
    assert audit["selection"]["annotators"] == ["ann", "bob"]
    with chosen.reading("p") as (connection, project):
        assert list_flags(connection, project) == []


BY_MONTH = "item,annotator,label,labeled_at\n" + "".join(
    f"i{month}{who},{who},{'xy'[month % 2]},2026-{month:02}-15\n"
    for month in range(1, 7)
    for who in ("ann", "bob")
)


@pytest.fixture
def guided(ledger: Ledger, write: Write) -> Ledger:
    """Answers of six months; v1 holds from February, v2 from April on."""
    ledger.import_file(write(BY_MONTH), "p")
    ledger.notes.add("p", "second", "2026-04-01T00:00", "v2")
    ledger.notes.add("p", "no guideline", "2026-03-01T00:00")
    ledger.notes.add("p", "first", "2026-02-01T00:00", "v1")
    return ledger


def months(ledger: Ledger, **selecting: Any) -> list[int]:
    moments = ledger.export_frame("p", **selecting)["labeled_at"].astype(str)
    return sorted({int(moment[5:7]) for moment in moments})


def test_a_guideline_holds_until_the_next(guided: Ledger) -> None:
    assert months(guided, guideline="v1") == [2, 3]
    assert months(guided, guideline=" v2 ") == [4, 5, 6]
    assert months(guided, guideline="v2", until="2026-05-20") == [4, 5]
    assert months(guided, guideline="v1", since="2026-03-01") == [3]
    selection = guided.agreement("p", guideline="v1").to_dict()["selection"]
    assert (selection["guideline"], selection["since"], selection["until"]) == (
        "v1",
        "2026-02-01T00:00:00Z",
        "2026-03-31T23:59:59.999999Z",
    )
    assert "guideline" not in (guided.agreement("p", since="2026-02-01").selection or {})
    with pytest.raises(NotFound, match="did you mean 'v2' or 'v1'"):
        months(guided, guideline="v3")
    with pytest.raises(InvalidOption, match="no answer lies between"):
        months(guided, guideline="v1", since="2026-04-01")
    guided.snapshot("p", guideline="v1")
    assert guided.verify("p").to_dict()["faults"] == []


def test_a_guideline_is_of_the_notes_known_then(guided: Ledger) -> None:
    with guided.reading("p") as (connection, project):
        moments = connection.scalars(
            select(Change.recorded_at).where(Change.project_id == project.id).order_by(Change.id)
        ).all()
    with pytest.raises(InvalidOption, match="'v2' holds from 2026-04-01"):
        guided.notes.add("p", "again", guideline="v2")
    guided.notes.remove("p", 1)
    assert months(guided, guideline="v1") == [2, 3, 4, 5, 6]
    assert months(guided, guideline="v1", known_at=clock.iso(moments[-1])) == [2, 3]
    with pytest.raises(NotFound, match="'p' has no guideline 'v2'"):
        months(guided, guideline="v2")
    with pytest.raises(NotFound, match="'p' has no guideline 'v1'"):
        months(guided, guideline="v1", known_at=clock.iso(moments[-2]))
    assert guided.notes.add("p", "again", guideline="v2").to_dict()["guideline"] == "v2"


def test_a_guideline_is_erased_with_its_text_and_sealed(guided: Ledger) -> None:
    guided.notes.remove("p", 1, erase=True)
    with guided.reading("p") as (connection, project):
        assert verify_seals(connection, project.id).faults == ()
        assert set(connection.scalars(select(Note.guideline))) == {"v1", None}
    with guided.database.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE notes SET guideline = 'v9' WHERE guideline = 'v1'")
    with guided.reading("p") as (connection, project):
        faults = verify_seals(connection, project.id).faults
    assert [fault.partition(":")[0] for fault in faults] == ["notes"]
