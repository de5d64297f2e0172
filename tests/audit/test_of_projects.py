"""A project's audit from its answers, and the findings it records."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from tests.audit.crowds import seeded
from tests.helpers import SEVERAL, SPANS, standing, stored
from tracker.audit.flag_list import list_flags
from tracker.core.errors import InvalidOption, NotFound
from tracker.ledger import Ledger
from tracker.projects.annotators import set_annotator_kind
from tracker.simulate.crowds import Group, simulate_crowd

Write = Callable[..., Path]

ROSTER = (Group("honest", 8), Group("constant", 1))


@pytest.fixture
def audited(ledger: Ledger) -> Ledger:
    """Eight honest annotators and one that always says negative, of 200 items."""
    ledger.import_rows(simulate_crowd(200, 3, ROSTER, constant="negative"), "p")
    return ledger


def test_the_planted_annotator_is_found_and_nobody_else(audited: Ledger) -> None:
    audit = audited.audit("p")
    assert {annotator.name for annotator, _ in audit.flagged()} == {"constant 1"}
    told = {row["annotator"]: row for row in audit.to_dict()["annotators"]}
    assert list(told) == sorted(told)
    assert len(told) == 9
    assert "gold" not in told
    planted = told["constant 1"]
    assert planted["category_shares"] == {"negative": 1.0, "positive": 0.0}
    flags = {flag["kind"]: flag for flag in planted["flags"]}
    constant = flags["constant_category"]
    assert (constant["category"], constant["state"], constant["observed"]) == (
        "negative",
        "flagged",
        1.0,
    )
    assert constant["n"] == planted["items_shared"]
    assert constant["p_value"] < constant["q_value"] + 1e-12 < 0.05
    assert "constant 1" in constant["why"]


def test_the_figures_are_those_of_the_rows(audited: Ledger) -> None:
    rows = standing(audited, "p")
    truths = {item: category for item, annotator, category in rows if annotator == "gold"}
    for annotator in audited.audit("p").to_dict()["annotators"]:
        mine = {item: category for item, who, category in rows if who == annotator["annotator"]}
        assert annotator["answers"] == len(mine)
        right = sum(truths[item] == category for item, category in mine.items())
        assert annotator["gold_accuracy"] == pytest.approx(right / len(mine))


def test_clear_findings_are_told_on_request(audited: Ledger) -> None:
    audit = audited.audit("p")
    states = {
        flag["state"] for row in audit.to_dict(clear=True)["annotators"] for flag in row["flags"]
    }
    assert "clear" in states
    states = {flag["state"] for row in audit.to_dict()["annotators"] for flag in row["flags"]}
    assert "clear" not in states
    frame = audit.to_frame()
    assert set(frame.annotator) == {row["annotator"] for row in audit.to_dict()["annotators"]}
    assert frame.set_index("annotator")["flags"]["annotator 01"] == []
    assert "constant_category" in frame.set_index("annotator")["flags"]["constant 1"]


def test_findings_are_recorded_once_and_seen_again(audited: Ledger) -> None:
    audited.audit("p")
    assert "flags" not in stored(audited)
    audit = audited.audit("p", record=True)
    with audited.reading("p") as (connection, project):
        first = [one.to_dict() for one in list_flags(connection, project)]
    assert [(row["annotator"], row["kind"], row["category"]) for row in first] == [
        (annotator.name, flag.kind, audit.category_name(flag))
        for annotator, flag in audit.flagged()
    ]
    audited.audit("p", record=True)
    with audited.reading("p") as (connection, project):
        again = [one.to_dict() for one in list_flags(connection, project)]
    assert len(again) == len(first) == stored(audited)["flags"]
    assert [row["found_at"] for row in again] == [row["found_at"] for row in first]
    assert again[0]["last_seen_at"] > first[0]["last_seen_at"]
    assert audited.status("p").flags == len(first)


def test_models_and_references_are_not_audited(audited: Ledger) -> None:
    with audited.writing("p") as (connection, project):
        set_annotator_kind(connection, project, "constant 1", "model")
    audit = audited.audit("p")
    assert audit.flagged() == []
    assert "constant 1" not in {annotator.name for annotator in audit.annotators}
    assert audited.agreement("p").counts.annotators == 8


def test_kinds_of_projects(ledger: Ledger, write: Write) -> None:
    answers = write("item,annotator,category\n i,A,x\n i,A,y\n i,B,x\n j,A,\n j,B,y")
    ledger.import_file(answers, "sets", options=SEVERAL)
    told = {row["annotator"]: row for row in ledger.audit("sets").to_dict()["annotators"]}
    assert told["A"]["answers"] == 2
    spans = write("item,annotator,category,start,end\n i,A,x,0,3")
    ledger.import_file(spans, "spans", options=SPANS)
    audit = ledger.audit("spans")
    assert [row["agreement_with_peers"] for row in audit.to_dict()["annotators"]] == [None]
    assert audit.not_applicable["low_agreement"] == "spans"
    assert audit.not_applicable["drift"] == "spans"
    with pytest.raises(NotFound):
        ledger.audit("nowhere")
    for alpha in (0, 1, 7):
        with pytest.raises(InvalidOption):
            ledger.audit("sets", alpha=alpha)


def test_nobody_to_compare_with(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write("item,annotator,category\n i,A,x\n j,B,x\n k,C,"), "p")
    audit = ledger.audit("p")
    assert audit.flagged() == []
    assert [row["agreement_with_peers"] for row in audit.to_dict()["annotators"]] == [None, None]


def test_the_strongest_findings_come_first_and_a_lost_yardstick_is_said(ledger: Ledger) -> None:
    """Two of five always answer a: two fifths of the answers say nothing of the items."""
    draw = seeded(6)
    rows = []
    for item in range(200):
        truth = draw.choice("abc")
        for who in "vwxyz":
            honest = truth if draw.random() < 0.9 else draw.choice("abc")
            lazy = who == "v" and draw.random() < 0.4
            rows.append((f"i{item}", who, "a" if who in "yz" else "b" if lazy else honest))
    ledger.import_frame(pd.DataFrame(rows, columns=["item", "annotator", "category"]), "p")
    found = ledger.audit("p")
    told = found.to_dict()
    assert told["yardstick"]["lost"]
    assert told["yardstick"]["share_flagged"] == pytest.approx(
        len({one.name for one, _ in found.flagged()}) / 5
    )
    ranked = [(one.name, flag.severity) for one, flag in found.by_strength()]
    assert {name for name, _ in ranked[:2]} == {"y", "z"}
    order = ["high", "medium", "low", None]
    places = [order.index(severity) for _, severity in ranked]
    assert places == sorted(places)
    assert len({flag.key for _, flag in found.by_strength()}) == len(ranked)
