"""What recorded audits make of flags: new, seen again, opened again, closed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.audit.flags.found import Seen, acted, history, listed, record, shown, states
from tests.helpers import count_statements, stored
from tracker.audit.flag_list import count_flags
from tracker.audit.flags import Recorded
from tracker.core import clock
from tracker.ledger import Ledger
from tracker.projects.annotators import find_flagged_annotators

SELECTION: dict[str, Any] = {
    "annotators": ["ada"], "excluded": [], "since": None, "until": None, "where": {},
}  # fmt: skip


def test_a_new_finding_is_open(people: Ledger) -> None:
    assert record(people, Seen(1), Seen(2, category=None)) == Recorded(2, 0, 0, 0)
    # in the order of the audit, which tells annotators in the order of its own
    rows = {row["annotator"]: row for row in listed(people)}
    assert {row["flag"] for row in rows.values()} == {1, 2}
    assert rows["ada"]["category"] == "x"
    assert rows["bo"]["category"] is None
    assert {row["with"] for row in rows.values()} == {None}
    assert history(people, 1) == [("found", "open", None, None)]
    assert rows["ada"]["why"].startswith("ada gave “x” in 72 of 80 answers")


def test_what_is_found_again_while_open_is_one_more_sighting(people: Ledger) -> None:
    record(people, Seen(1))
    assert record(people, Seen(1, informative=99, observed=0.7)) == Recorded(0, 1, 0, 0)
    acted(people, "acknowledge", 1)
    assert record(people, Seen(1)) == Recorded(0, 1, 0, 0)
    (row,) = listed(people)
    assert row["state"] == "acknowledged"
    assert row["times_seen"] == 3
    assert (row["first_observed"], row["last_observed"], row["informative"]) == (0.9, 0.9, 40)
    assert row["last_seen_at"] > row["found_at"]
    assert [seen["observed"] for seen in shown(people, 1)["sightings"]] == [0.9, 0.7, 0.9]
    assert [made[0] for made in history(people, 1)] == ["found", "acknowledged"]


@pytest.mark.parametrize("how", ["by a person", "by itself"])
def test_a_resolved_finding_that_is_found_is_open_again(people: Ledger, how: str) -> None:
    record(people, Seen(1))
    if how == "by itself":
        assert record(people) == Recorded(0, 0, 0, 1)
    else:
        acted(people, "resolve", 1)
    assert states(people) == {1: "resolved"}
    assert record(people, Seen(1)) == Recorded(0, 1, 1, 0)
    assert history(people, 1)[-1] == ("reopened", "open", None, "found again")
    assert listed(people)[0]["times_seen"] == 2


@pytest.mark.parametrize(
    ("then", "now", "reopened"),
    [(40, 59, False), (40, 60, True), (40, 10, False), (0, 0, False), (0, 1, True), (1, 1, False)],
)
def test_a_dismissed_finding_is_opened_again_when_its_evidence_grew_by_half(
    people: Ledger, then: int, now: int, reopened: bool
) -> None:
    record(people, Seen(1, informative=then))
    acted(people, "dismiss", 1, note="odd items")
    assert record(people, Seen(1, informative=now)) == Recorded(0, 1, int(reopened), 0)
    note = f"evidence grew from {then} to {now} items"
    expected = ("reopened", "open", None, note)
    assert (history(people, 1)[-1] == expected) is reopened
    assert states(people) == {1: "open" if reopened else "dismissed"}


@pytest.mark.parametrize("answer", ["uphold", "resolve", "reject"])
def test_an_appeal_that_is_answered_holds_until_the_evidence_grew_by_half(
    people: Ledger, answer: str
) -> None:
    record(people, Seen(1, informative=40))
    acted(people, "appeal", 1, by="ada", note="as the guideline says")
    acted(people, answer, 1)
    state = {"uphold": "dismissed", "resolve": "resolved", "reject": "open"}[answer]
    assert record(people, Seen(1, informative=59)).reopened == 0
    assert states(people) == {1: state}
    assert record(people, Seen(1, informative=60)).reopened == int(state != "open")
    assert states(people) == {1: "open"}
    if answer == "resolve":
        # What is resolved later rests on no objection any more.
        acted(people, "resolve", 1)
        assert record(people, Seen(1, informative=60)).reopened == 1


def test_evidence_grows_from_the_dismissal_on(people: Ledger) -> None:
    """Not from when it was last seen, nor from an appeal: many small steps are a large one."""
    record(people, Seen(1, informative=40))
    acted(people, "dismiss", 1)
    record(people, Seen(1, informative=55))
    acted(people, "appeal", 1, by="ada", note="no")
    assert record(people, Seen(1, informative=59)).reopened == 0
    assert record(people, Seen(1, informative=61)).reopened == 1
    # Dismissed anew with more evidence, it takes more to open it.
    acted(people, "dismiss", 1)
    assert record(people, Seen(1, informative=91)).reopened == 0
    assert record(people, Seen(1, informative=92)).reopened == 1


def test_what_is_not_found_any_more_is_resolved(people: Ledger) -> None:
    record(people, Seen(1), Seen(2), Seen(3), Seen(3, category=2))
    numbers = {(row["annotator"], row["category"]): row["flag"] for row in listed(people)}
    acted(people, "acknowledge", numbers["bo", "x"])
    acted(people, "dismiss", numbers["cy", "x"])
    acted(people, "resolve", numbers["cy", "y"])
    assert record(people, Seen(1)) == Recorded(0, 1, 0, 1)
    ends = {who: history(people, number)[-1] for who, number in numbers.items()}
    assert ends["ada", "x"][0] == "found"
    assert ends["bo", "x"] == ("no longer found", "resolved", None, "no longer found")
    assert ends["cy", "x"][0] == "dismissed"
    assert ends["cy", "y"][:3] == ("resolved", "resolved", "ann")


def test_an_audit_of_some_answers_closes_nothing(people: Ledger) -> None:
    record(people, Seen(1), Seen(2))
    assert record(people, Seen(1), closes=False, selection=SELECTION) == Recorded(0, 1, 0, 0)
    assert set(states(people).values()) == {"open"}
    (number,) = [row["flag"] for row in listed(people) if row["annotator"] == "ada"]
    told = shown(people, number)
    assert told["evidence"]["selection"] == SELECTION
    assert [seen["selection"] for seen in told["sightings"]] == [None, SELECTION]


def test_the_ledger_closes_only_after_it_looked_at_everything(people: Ledger) -> None:
    record(people, Seen(1))
    people.audit("p", annotators=["ada"], record=True)
    assert states(people) == {1: "open"}
    people.audit("p", record=True)
    assert states(people) == {1: "resolved"}


def test_findings_differ_by_annotator_category_and_kind(people: Ledger) -> None:
    every = [Seen(1), Seen(2), Seen(1, category=2), Seen(1, "constant_category"), Seen(1, "k", 1)]
    assert record(people, *every).new == len(every)
    assert record(people, *every) == Recorded(0, len(every), 0, 0)


@pytest.mark.parametrize(("one", "other"), [(1, 3), (3, 1)])
def test_a_finding_about_a_pair_is_one_flag_of_both(people: Ledger, one: int, other: int) -> None:
    assert record(people, Seen(one, "copying", None, other=other)) == Recorded(1, 0, 0, 0)
    (row,) = listed(people)
    assert (row["annotator"], row["with"]) == ("ada", "cy")
    assert shown(people, 1)["evidence"]["with"] == "cy", "as it is told of ada"
    assert record(people, Seen(other, "copying", None, other=one)) == Recorded(0, 1, 0, 0)
    assert [row["flag"] for row in listed(people, annotator="cy")] == [1]
    assert [row["flag"] for row in listed(people, annotator="ada")] == [1]
    assert listed(people, annotator="bo") == []


def flagged(ledger: Ledger) -> tuple[int, set[int]]:
    with ledger.asking("p") as (connection, question):
        flags = count_flags(connection, question.project)
        return flags, find_flagged_annotators(connection, question)


def test_annotators_are_flagged_while_a_finding_of_their_own_stands(people: Ledger) -> None:
    assert flagged(people) == (0, set())
    record(people, Seen(1), Seen(2), Seen(1, "same", None, other=3))
    assert flagged(people) == (3, {1, 2})
    numbers = {row["annotator"]: row["flag"] for row in listed(people) if row["with"] is None}
    acted(people, "acknowledge", numbers["ada"])
    assert flagged(people) == (3, {1, 2})
    acted(people, "dismiss", numbers["ada"])
    acted(people, "appeal", numbers["ada"], note="thanks")
    assert flagged(people) == (2, {2})
    record(people)
    assert flagged(people) == (0, set())
    assert people.status("p").flags == 0


def test_moments_never_run_back(people: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    record(people, Seen(1))
    monkeypatch.setattr(clock, "now", lambda: 1_000_000)
    record(people, Seen(1))
    acted(people, "dismiss", 1)
    told = shown(people, 1)
    seen = [one["seen_at"] for one in told["sightings"]]
    made = [one["at"] for one in told["changes"]]
    assert seen[0] == made[0] == told["found_at"]
    assert seen[0] < seen[1] < made[1]


def test_what_it_costs_does_not_depend_on_the_flags(people: Ledger) -> None:
    def statements(*seen: Seen) -> int:
        with count_statements(people.database.engine) as counted:
            record(people, *seen)
        return counted.number

    few, many = [[Seen(1, f"{n} of {size}") for n in range(size)] for size in (2, 60)]
    assert statements(*few) == statements(*few, *many), "new ones"
    assert statements(*few, *many) == statements(*few, *many), "and the same again"
    assert statements(*few) == statements(*many), "60 closed; and 60 opened, 2 closed"

    def asked(question: Callable[[], object]) -> int:
        with count_statements(people.database.engine) as counted:
            question()
        return counted.number

    before = asked(lambda: listed(people)), asked(lambda: shown(people, 1))
    acted(people, "dismiss", *states(people), note="all of them")
    record(people, *few, *many, Seen(2))
    assert (asked(lambda: listed(people)), asked(lambda: shown(people, 1))) == before


def test_a_failed_recording_leaves_nothing(people: Ledger) -> None:
    before = stored(people)
    with pytest.raises(ValueError, match="JSON"):
        record(people, Seen(1), Seen(2, observed=float("nan")))
    assert stored(people) == before
