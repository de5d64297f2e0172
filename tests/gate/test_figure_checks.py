"""Findings as a gate sees them: those of an audit now, less those that somebody has settled."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.audit.flags.found import Seen, acted, audit_of, record
from tests.gate.conftest import Gate
from tests.helpers import give
from tracker.audit.divided import DividedDefinition
from tracker.audit.flags import with_settled
from tracker.audit.kind import ProjectFinding
from tracker.gate.config import parse_gate_config
from tracker.gate.context import Present
from tracker.gate.evaluate import Found, gate_findings_now, gate_kinds_not_applicable
from tracker.ledger import Ledger
from tracker.projects.annotators import annotator_names
from tracker.projects.categories import category_names
from tracker.simulate.crowds import Group, simulate_crowd

CONSTANT = '[[check]]\nflags = ["constant_category"]\n'


@pytest.fixture
def crowded(ledger: Ledger) -> Ledger:
    """The project p of a small crowd in which one annotator always answers the same."""
    ledger.import_rows(simulate_crowd(60, 7, [Group("honest", 5), Group("constant", 1)]), "p")
    return ledger


def test_findings_of_any_kind_and_of_kinds_that_do_not_apply(crowded: Ledger, gate: Gate) -> None:
    anyone = '[[check]]\nflags = ["any"]'
    for text in (CONSTANT, anyone):
        assert gate(text, exclude_annotators="constant 1").passed
    (result,) = gate(anyone).checks
    assert (result.passed, result.check) == (False, "no finding of any kind")
    crowded.audit("p", record=True)
    assert gate(CONSTANT, exclude_flagged=True).passed
    (result,) = gate('[[check]]\nflags = ["too_fast", "severity_bias"]').checks
    assert (result.passed, result.value, result.undefined) == (None, None, "not_applicable")
    assert "severity_bias (there are no ordered categories)" in result.why
    # What another kind finds is found all the same.
    (result,) = gate('[[check]]\nflags = ["severity_bias", "constant_category"]').checks
    assert result.passed is False
    give(crowded, [(1, "ada", "x")], "q")
    for text, why in (
        (CONSTANT, "Not looked for: constant_category (there are no items with two answers)."),
        (anyone, "No kind of finding can be looked for."),
    ):
        (result,) = gate(text, "q").checks
        assert (result.passed, result.why) == (None, why)


def test_speed_is_a_remark_and_counts_only_if_it_is_named(ledger: Ledger, gate: Gate) -> None:
    rows = [
        (f"i{item}", f"a{who}", "xy"[item % 2], 1 if who == 0 else 8 + (7 * who + item) % 5)
        for item in range(30)
        for who in range(12)
    ]
    give(ledger, rows, "p", "seconds")
    found, recorded = ledger.record_audit("p")
    (remark,) = found.to_dict()["annotators"][0]["flags"]
    assert [remark[key] for key in ("kind", "state", "severity")] == [
        "too_fast",
        "flagged",
        "remark",
    ]
    assert (found.flagged(), found.failing("flagged"), recorded.new) == ([], [], 0)
    assert [flag.kind for flag in found.failing("flagged:too_fast")] == ["too_fast"]
    assert gate('[[check]]\nflags = ["any"]').passed
    assert not gate('[[check]]\nflags = ["too_fast"]').passed


@pytest.fixture
def people(ledger: Ledger) -> Ledger:
    """The annotators ada, bo and cy, numbered 1 to 3, and the categories x and y, 1 and 2."""
    give(ledger, [("i", "ada", "x"), ("i", "bo", "y"), ("i", "cy", "x")])
    return ledger


def now(
    ledger: Ledger,
    *seen: Seen,
    kinds: tuple[str, ...] = (),
    definitions: tuple[ProjectFinding, ...] = (),
) -> Found:
    with ledger.asking("p") as (connection, question):
        present = Present(connection, question, parse_gate_config(CONSTANT, "f"))
        names = annotator_names(connection, question.project), category_names(connection, question)
        (audit,) = with_settled(connection, [question], [audit_of(*names, seen)])
        audit = replace(audit, definitions=definitions)
        vars(present)["audit"] = audit
        return gate_findings_now(present, kinds)


def test_a_category_counts_as_read_in_two_ways_if_enough_items_tell(people: Ledger) -> None:
    divided = DividedDefinition(category=1, more=(1,), less=(2,), p_value=1e-9)
    found = Found([(("x",), divided.kind, ())], [])
    assert now(people, definitions=(divided,)) == found
    assert now(people, definitions=(replace(divided, certain=False),)) == Found([], [])


ADA = [(("ada",), "category_bias", ())]


def test_finding_stands_until_it_is_settled(people: Ledger) -> None:
    record(people, Seen(1))
    assert now(people, Seen(1)) == Found(ADA, [])
    acted(people, "acknowledge", 1)
    assert now(people, Seen(1)) == Found(ADA, [])
    record(people)  # it is not found any more, and then again
    assert now(people, Seen(1)) == Found(ADA, [])


@pytest.mark.parametrize("action", ["dismiss", "resolve"])
def test_settled_finding_is_not_found(people: Ledger, action: str) -> None:
    record(people, Seen(1))
    acted(people, action, 1)
    assert now(people, Seen(1)) == Found([], [1])
    assert now(people, Seen(1), Seen(1, category=2)) == Found(ADA, [1])
    acted(people, "appeal", 1, by="ada", note="still")
    assert now(people, Seen(1)) == Found([], [1])


def test_dismissed_finding_is_found_where_an_audit_would_open_it(people: Ledger) -> None:
    record(people, Seen(1, informative=40))
    acted(people, "dismiss", 1)
    assert now(people, Seen(1, informative=59)) == Found([], [1])
    assert now(people, Seen(1, informative=60)) == Found(ADA, [])
    record(people, Seen(1, informative=60))
    assert now(people, Seen(1, informative=60)) == Found(ADA, [])
    acted(people, "dismiss", 1)
    assert now(people, Seen(1, informative=60)) == Found([], [1])


def test_finding_about_a_pair_is_found_once_and_settled_once(people: Ledger) -> None:
    copied = Seen(1, "copying", category=None, other=3)
    assert now(people, copied) == Found([(("ada", "cy"), "copying", ())], [])
    record(people, copied)
    acted(people, "dismiss", 1)
    assert now(people, copied) == Found([], [1])


def test_finding_is_of_the_kinds_that_it_explains(people: Ledger) -> None:
    assert now(people, Seen(1), kinds=("k",)) == Found([(("ada",), "category_bias", ("k",))], [])
    assert now(people, Seen(1), kinds=("drift",)) == Found([], [])
    assert now(people, Seen(1), kinds=("drift", "category_bias")) == Found(ADA, [])
    with people.asking("p") as (connection, question):
        present = Present(connection, question, parse_gate_config(CONSTANT, "f"))
        assert gate_kinds_not_applicable(present, ()) == {}
        assert set(gate_kinds_not_applicable(present, ("drift", "category_bias"))) == {"drift"}
