"""What recorded audits make of flags: new, seen again, opened again, closed; what is stored."""

import json

import pytest
from sqlalchemy import select

from tests.audit.flags.found import Seen, acted, history, listed, record, shown, states
from tests.helpers import count_statements, stored
from tracker.audit.flag_list import count_flags
from tracker.audit.flags import Recorded
from tracker.core import clock
from tracker.projects.annotators import find_flagged_annotators, rename_annotator
from tracker.storage.schema import FlagSighting

SELECTION = {"annotators": ["ada"], "excluded": [], "since": None, "until": None, "where": {}}


def test_a_new_finding_is_an_open_flag_of_its_annotator_category_and_kind(people):
    assert record(people, Seen(1), Seen(2, category=None)) == Recorded(2, 0, 0, 0)
    # in the order of the audit, which tells annotators in an order that it chooses
    rows = {row["annotator"]: row for row in listed(people)}
    assert {row["flag"] for row in rows.values()} == {1, 2}
    assert (rows["ada"]["category"], rows["bo"]["category"]) == ("x", None)
    assert {row["with"] for row in rows.values()} == {None}
    assert history(people, 1) == [("found", "open", None, None)]
    assert rows["ada"]["why"].startswith("ada gave “x” in 72 of 80 answers")
    every = [Seen(1), Seen(2), Seen(1, category=2), Seen(1, "constant_category"), Seen(1, "k", 1)]
    assert record(people, *every) == Recorded(4, 1, 0, 1)
    assert record(people, *every) == Recorded(0, 5, 0, 0)


GREW = "evidence grew from {} to {} items"
STORIES = {
    "acknowledged": [(40, "open"), ("acknowledge", "acknowledged"), (99, "acknowledged")],
    "by itself": [(40, "open"), (None, "resolved"), (40, "open", "found again")],
    "from nothing": [(0, "open"), ("dismiss", "dismissed"), (0, "dismissed"),
                     (1, "open", GREW.format(0, 1)), ("dismiss", "dismissed"), (1, "dismissed")],
    # From the dismissal on, not from the last sighting, nor from an appeal: small steps add up.
    "in small steps": [(40, "open"), ("dismiss", "dismissed"), (55, "dismissed"),
                       ("appeal", "dismissed"), (59, "dismissed"),
                       (61, "open", GREW.format(40, 61)), ("dismiss", "dismissed"),
                       (91, "dismissed"), (92, "open", GREW.format(61, 92))],
    "upheld": [(40, "open"), ("appeal", "open"), ("uphold", "dismissed"), (59, "dismissed"),
               (60, "open", GREW.format(40, 60))],
    "rejected": [(40, "open"), ("appeal", "open"), ("reject", "open"), (59, "open"), (60, "open")],
    # What is resolved once more rests on no objection.
    "appealed and resolved": [(40, "open"), ("appeal", "open"), ("resolve", "resolved"),
                              (59, "resolved"), (60, "open", GREW.format(40, 60)),
                              ("resolve", "resolved"), (60, "open", "found again")],
}  # fmt: skip
"""What is recorded, as a number of items, or done; the state afterwards; why it is open again."""


@pytest.mark.parametrize("name", STORIES)
def test_a_flag_is_opened_again(people, name):
    for number, (step, state, *note) in enumerate(STORIES[name]):
        if isinstance(step, str):
            acted(people, step, 1, note="as the guideline says")
        else:
            seen = [] if step is None else [Seen(1, informative=step)]
            new, again = (bool(seen) and number == 0, bool(seen) and number > 0)
            assert record(people, *seen) == Recorded(new, again, len(note), not seen), step
        assert states(people) == {1: state}, step
        for why in note:
            assert history(people, 1)[-1] == ("reopened", "open", None, why)


def test_what_an_audit_of_all_answers_finds_no_longer_is_resolved(people):
    record(people, Seen(1), Seen(2), Seen(3), Seen(3, category=2))
    numbers = {(row["annotator"], row["category"]): row["flag"] for row in listed(people)}
    acted(people, "acknowledge", numbers["bo", "x"])
    # An audit of a selection closes nothing.
    some = record(people, Seen(1), closes=False, selection=SELECTION)
    assert some == Recorded(0, 1, 0, 0)
    people.audit("p", annotators=["ada"], record=True)
    assert "resolved" not in states(people).values()
    told = shown(people, numbers["ada", "x"])
    assert told["evidence"]["selection"] == SELECTION
    assert [seen["selection"] for seen in told["sightings"]] == [None, SELECTION]
    acted(people, "dismiss", numbers["cy", "x"])
    acted(people, "resolve", numbers["cy", "y"])
    assert record(people, Seen(1)) == Recorded(0, 1, 0, 1)
    ends = {who: history(people, number)[-1] for who, number in numbers.items()}
    assert ends["ada", "x"][0] == "found"
    assert ends["bo", "x"] == ("no longer found", "resolved", None, "no longer found")
    assert ends["cy", "x"][0] == "dismissed"
    assert ends["cy", "y"][:3] == ("resolved", "resolved", "ann")
    people.audit("p", record=True)
    assert states(people)[numbers["ada", "x"]] == "resolved"


def test_annotators_are_flagged_while_a_finding_of_theirs_stands(people):
    def flagged():
        with people.asking("p") as (connection, question):
            flags = count_flags(connection, question.project)
            return flags, find_flagged_annotators(connection, question)

    assert flagged() == (0, set())
    record(people, Seen(1), Seen(2), Seen(1, "same", None, other=3))
    assert flagged() == (3, {1, 2})
    numbers = {row["annotator"]: row["flag"] for row in listed(people) if row["with"] is None}
    acted(people, "acknowledge", numbers["ada"])
    assert flagged() == (3, {1, 2})
    acted(people, "dismiss", numbers["ada"])
    acted(people, "appeal", numbers["ada"], note="thanks")
    assert flagged() == (2, {2})
    record(people)
    assert flagged() == (0, set())
    assert people.status("p").flags == 0


def test_moments_never_run_back(people, monkeypatch):
    record(people, Seen(1))
    monkeypatch.setattr(clock, "now", lambda: 1_000_000)
    record(people, Seen(1))
    acted(people, "dismiss", 1)
    told = shown(people, 1)
    seen = [one["seen_at"] for one in told["sightings"]]
    made = [one["at"] for one in told["changes"]]
    assert seen[0] == made[0] == told["found_at"]
    assert seen[0] < seen[1] < made[1]


def test_statements_do_not_depend_on_the_number_of_flags(people):
    def statements(ask, *seen):
        with count_statements(people.database.engine) as counted:
            ask(people, *seen)
        return counted.number

    few, many = [[Seen(1, f"{n} of {size}") for n in range(size)] for size in (2, 30)]
    assert statements(record, *few) == statements(record, *few, *many), "new ones"
    assert statements(record, *few, *many) == statements(record, *few, *many), "the same again"
    assert statements(record, *few) == statements(record, *many), "30 closed; 30 opened, 2 closed"
    before = statements(listed), statements(shown, 1)
    acted(people, "dismiss", *states(people), note="all of them")
    record(people, *few, *many, Seen(2))
    assert (statements(listed), statements(shown, 1)) == before
    rows = stored(people)
    with pytest.raises(ValueError, match="JSON"):
        record(people, Seen(1), Seen(2, observed=float("nan")))
    assert stored(people) == rows, "a failed recording leaves nothing"


def evidence_of(ledger):
    with ledger.reading("p") as (connection, _):
        return connection.scalar(select(FlagSighting.evidence))


@pytest.mark.parametrize(("one", "other"), [(1, 3), (3, 1)])
def test_a_finding_about_a_pair_is_one_flag_of_both_and_stored_without_names(people, one, other):
    pair = Seen(one, "copying", None, other=other)
    assert record(people, pair, closes=False, selection=SELECTION) == Recorded(1, 0, 0, 0)
    data = json.loads(evidence_of(people))
    assert "why" not in data
    assert (data["with"], data["selection"]["annotators"]) == (3, [1])
    assert not {"ada", "cy"} & {*evidence_of(people).replace('"', " ").split()}
    (row,) = listed(people)
    assert (row["annotator"], row["with"]) == ("ada", "cy")
    assert row["why"].startswith("ada and cy gave the same answer against most of the others on ")
    evidence = shown(people, 1)["evidence"]
    assert (evidence["with"], evidence["selection"]) == ("cy", SELECTION), "as it is told of ada"
    assert record(people, Seen(other, "copying", None, other=one)) == Recorded(0, 1, 0, 0)
    for name in ("ada", "bo", "cy"):
        flags = [row["flag"] for row in listed(people, annotator=name)]
        assert flags == ([] if name == "bo" else [1])
    with people.writing("p") as (connection, project):
        rename_annotator(connection, project, "cy", "cyd")
    told = shown(people, 1)
    assert "ada and cyd gave" in told["why"]
    assert (told["with"], told["evidence"]["with"]) == ("cyd", "cyd")
    assert told["evidence"]["why"] == told["why"]
