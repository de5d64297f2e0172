"""Choosing answers in Python: who is in, when, which items, and what says so afterwards."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from typing import Any

import pandas as pd
import pytest

from tests.filled import FillOnce
from tests.helpers import count_rows, count_statements
from tracker.agreement.groups import agreement_by_attribute
from tracker.agreement.query import Query
from tracker.audit.flag_list import list_flags
from tracker.core.errors import InvalidOption, NotFound
from tracker.counts.choosing import Selecting
from tracker.counts.filter import make_answer_filter
from tracker.history.snapshot import find_snapshot
from tracker.ledger import Ledger
from tracker.projects.annotators import add_annotator_alias, rename_annotator, set_annotator_kind

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
    """The twelve items, their language kept."""
    return fill_once(ledger, load)


def load(ledger: Ledger) -> None:
    ledger.import_frame(frame(), "p", keep=["lang"])


def who(ledger: Ledger, **selecting: Any) -> set[str]:
    """Whose answers are counted."""
    return {one.name for one in ledger.audit("p", **selecting).annotators}


# -- annotators ----------------------------------------------------------------------------


def test_only_some_and_all_but_some(chosen: Ledger) -> None:
    assert who(chosen) == {"ann", "bob", "cat", "dot"}
    assert who(chosen, annotators=["ann", "bob"]) == {"ann", "bob"}
    assert who(chosen, annotators="ann") == {"ann"}
    assert who(chosen, exclude_annotators=["ann", "bob"]) == {"cat", "dot"}
    assert who(chosen, annotators=["ann", "bob"], exclude_annotators="bob") == {"ann"}
    found = chosen.agreement("p", annotators=["ann", "cat"])
    assert found.counts.annotators == 2
    assert found.measure("cohen_kappa").value == 1
    assert found.measure("percent_agreement").value == 1


def test_other_names_are_the_annotators(chosen: Ledger) -> None:
    with chosen.writing("p") as (connection, project):
        rename_annotator(connection, project, "ann", "anna")
        add_annotator_alias(connection, project, "bob", "robert")
    found = chosen.agreement("p", annotators=["ann", "anna", " robert "])
    assert found.counts.annotators == 2
    assert found.selection is not None
    assert found.selection["annotators"] == ["anna", "bob"]
    with pytest.raises(NotFound, match=r"no annotator 'an'.*\n.*'ann'"):
        chosen.agreement("p", annotators=["an"])
    with pytest.raises(NotFound):
        chosen.agreement("p", exclude_annotators=["nobody at all"])


def test_a_model_is_compared_where_it_is_named(chosen: Ledger) -> None:
    with chosen.writing("p") as (connection, project):
        set_annotator_kind(connection, project, "cat", "model")
    assert who(chosen) == {"ann", "bob", "dot"}
    assert who(chosen, annotators=["ann", "cat"]) == {"ann", "cat"}
    assert who(chosen, exclude_annotators=["ann"]) == {"bob", "dot"}


def test_a_reference_is_compared_where_it_is_named_but_never_with_itself(chosen: Ledger) -> None:
    found = chosen.agreement("p", annotators=["ann", "gold"])
    assert found.counts.annotators == 2
    assert found.gold is not None
    assert (found.gold.answers, found.gold.observed) == (12, 1)
    accuracies = {one.name: one.figures["gold_accuracy"] for one in chosen.audit("p").annotators}
    assert accuracies == {"ann": 1, "bob": 0.5, "cat": 1, "dot": 0.5}
    only = chosen.audit("p", annotators=["ann", "gold"]).annotators
    assert {one.name: one.figures["gold_accuracy"] for one in only} == {"ann": 1, "gold": None}


def test_truths_stay_unless_they_are_left_out_by_name(chosen: Ledger) -> None:
    for selecting in (Selecting(annotators="ann"), Selecting(since="2020-03-15")):
        found = chosen.agreement("p", **selecting)
        assert found.gold is not None, selecting
        assert found.gold.answers == 12 * found.counts.annotators
    assert chosen.agreement("p", exclude_annotators="gold").gold is None
    assert chosen.agreement("p", where={"lang": "nl"}).gold.items == 4  # type: ignore[union-attr]


def test_the_flagged_are_left_out(chosen: Ledger) -> None:
    from tests.audit.test_of_projects import ROSTER
    from tracker.simulate.crowds import simulate_crowd

    chosen.import_rows(simulate_crowd(200, 3, ROSTER), "q")
    assert chosen.agreement("q", exclude_flagged=True).selection is None
    chosen.audit("q", record=True)
    found = chosen.agreement("q", exclude_flagged=True)
    assert found.selection is not None
    assert found.selection["excluded"] == ["constant 1"]
    assert found.counts.annotators == 8
    both = chosen.agreement("q", annotators=["constant 1", "annotator 01"], exclude_flagged=True)
    assert both.counts.annotators == 1
    one = chosen.agreement("q", annotators="annotator 01", exclude_flagged=True)
    assert one.selection is not None
    assert one.selection["excluded"] == [], "of those who are not in nothing is said"


# -- times ---------------------------------------------------------------------------------


def test_times_are_those_of_labelling(chosen: Ledger) -> None:
    assert who(chosen, since="2020-03-01", until="2020-03-01") == {"ann", "bob"}
    assert who(chosen, since="2020-03-01T09:00:00Z", until="2020-03-01T12:00") == {"ann"}
    assert who(chosen, since="2020-03-01T09:00:00.000001", until="2020-03-31") == {"bob"}
    assert who(chosen, since="2020-04-01") == {"cat", "dot"}, "no time: when it was recorded"
    assert who(chosen, since="1h") == {"dot"}
    assert who(chosen, until="1 hour ago") == {"ann", "bob", "cat"}
    day = date(2020, 3, 1)
    assert who(chosen, since=day, until=day) == {"ann", "bob"}
    assert who(chosen, until=datetime(2020, 3, 1, 9, tzinfo=UTC)) == {"ann"}
    found = chosen.agreement("p", since=day, until=day)
    assert found.selection is not None
    assert (found.selection["since"], found.selection["until"]) == (
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


def test_what_cannot_be_chosen(chosen: Ledger) -> None:
    calls: list[Callable[..., object]] = [
        chosen.agreement, chosen.audit, chosen.snapshot, chosen.export_frame,
    ]  # fmt: skip
    for selecting, message in IMPOSSIBLE:
        for call in calls:
            with pytest.raises(InvalidOption, match=message):
                call("p", **selecting)


# -- items ---------------------------------------------------------------------------------


def test_attributes_of_items(chosen: Ledger) -> None:
    assert chosen.agreement("p", where={"lang": "nl"}).counts.items == 4
    assert chosen.agreement("p", where={"lang": ["nl", "de"]}).counts.items == 8
    chosen.import_frame(frame(6).assign(half="first"), "p", keep=["half"])
    assert chosen.agreement("p", where={"lang": ["nl", "de"], "half": "first"}).counts.items == 4
    with chosen.asking("p") as (connection, question):
        found = agreement_by_attribute(connection, question, "half", Query())
    assert [(value, group.counts.items) for value, group in found.groups] == [
        ("first", 6),
        (None, 6),
    ]


def test_groups_have_the_figures_of_their_items(chosen: Ledger) -> None:
    for selecting in (
        Selecting(),
        Selecting(annotators=["ann", "bob"]),
        Selecting(since="2020-03-01", until="2020-03-31", where={"lang": ["nl", "de"]}),
    ):
        query = Query(filter=make_answer_filter(**selecting))
        with chosen.asking("p") as (connection, question):
            told = agreement_by_attribute(connection, question, "lang", query).to_dict()
        assert [group["value"] for group in told["groups"]][-1] == "nl"
        for group in told["groups"]:
            alone: Selecting = {**selecting, "where": {"lang": group["value"]}}
            whole = chosen.agreement("p", **alone).figures()
            assert group["counts"] == whole["counts"]
            assert group["categories"] == whole["categories"]
            assert group["summary"] == whole["summary"]
            values = {one["measure"]: one["value"] for one in whole["measures"]}
            for one in group["measures"]:
                assert one["value"] == values[one["measure"]], one["measure"]


# -- nothing left, and what is said of it ----------------------------------------------------


NOTHING = (
    Selecting(exclude_annotators=["ann", "bob", "cat", "dot"]),
    Selecting(annotators="ann", exclude_annotators="ann"),
    Selecting(until="2000-01-01"),
    Selecting(annotators="ann", since="2020-03-02"),
)


def test_nothing_left_has_no_figure_and_a_reason(chosen: Ledger) -> None:
    for selecting in NOTHING:
        found = chosen.agreement("p", **selecting)
        assert found.counts.to_dict() == dict.fromkeys(found.counts.to_dict(), 0), selecting
        assert all(one.value is None and one.undefined for one in found.measures)
        assert found.summary.lowest is None
        assert chosen.audit("p", **selecting).annotators == ()
        taken = chosen.snapshot("p", **selecting)
        assert taken.assessment.counts == found.counts


def test_a_snapshot_tells_what_was_chosen(chosen: Ledger) -> None:
    chosen.snapshot("p", name="all")
    taken = chosen.snapshot(
        "p", name="some", exclude_annotators="dot", until="2020-04-01", where={"lang": "nl"}
    )
    said = {
        "annotators": [],
        "excluded": ["dot"],
        "since": None,
        "until": "2020-04-01T23:59:59.999999Z",
        "as_of": None,
        "known_at": None,
        "where": {"lang": ["nl"]},
    }
    told = json.loads(json.dumps(chosen.history("p").to_dict()))["snapshots"]
    assert [one["selection"] for one in told] == [None, said]
    with chosen.asking("p") as (connection, question):
        found = find_snapshot(connection, question, "some")
    assert found == taken
    assert found.assessment.selection == said
    assert found.assessment.counts.items == 4
    again = chosen.agreement(
        "p", exclude_annotators="dot", until="2020-04-01", where={"lang": "nl"}
    )
    assert again.to_dict()["selection"] == said
    assert again.patterns == found.assessment.patterns


def test_an_audit_tells_what_was_chosen(chosen: Ledger) -> None:
    assert chosen.audit("p").to_dict()["selection"] is None
    told = chosen.audit("p", annotators=["bob", "ann"]).to_dict()
    assert told["selection"]["annotators"] == ["ann", "bob"]
    assert [row["annotator"] for row in told["annotators"]] == ["ann", "bob"]
    assert [row["items_shared"] for row in told["annotators"]] == [12, 12]
    with chosen.reading("p") as (connection, project):
        assert list_flags(connection, project) == []


def test_rows_are_exported_as_they_are_chosen(chosen: Ledger) -> None:
    def rows(**selecting: Any) -> dict[str, int]:
        counts: dict[str, int] = chosen.export_frame("p", **selecting)["annotator"].value_counts()
        return dict(counts)

    assert rows() == {"ann": 12, "bob": 12, "cat": 12, "dot": 12, "gold": 12}
    assert rows(annotators=["ann"]) == {"ann": 12}
    assert rows(exclude_annotators=["ann", "gold"]) == {"bob": 12, "cat": 12, "dot": 12}
    assert rows(where={"lang": "nl"}, until="2020-03-31") == {"ann": 4, "bob": 4}
    assert rows(since="2020-03-02", until="2020-04-01") == {"cat": 12}


# -- what it costs -------------------------------------------------------------------------


@contextmanager
def counting_in(ledger: Ledger) -> Iterator[tuple[Any, Any]]:
    engine = ledger.database.engine
    with count_statements(engine) as statements, count_rows(engine) as rows:
        yield statements, rows


def test_a_choice_costs_the_same_whatever_the_items(ledger: Ledger) -> None:
    for items in (12, 400):
        ledger.import_frame(frame(items), f"p{items}", keep=["lang"])
    everything: Selecting = {
        "annotators": ["ann", "bob", "dot"],
        "exclude_annotators": "dot",
        "exclude_flagged": True,
        "since": "2020-01-01",
        "until": "2021-01-01",
        "where": {"lang": ["nl", "de"]},
    }

    def groups(project: str, **selecting: Any) -> object:
        with ledger.asking(project) as (connection, question):
            query = Query(filter=make_answer_filter(**selecting))
            return agreement_by_attribute(connection, question, "lang", query)

    questions: list[Callable[..., object]] = [ledger.agreement, ledger.snapshot, groups]
    for question in questions:
        numbers = []
        for project in ("p12", "p400"):
            with counting_in(ledger) as (statements, rows):
                question(project, **everything)
            numbers.append(statements.number)
            assert 0 < rows.number < 600
        assert numbers[0] == numbers[1]
