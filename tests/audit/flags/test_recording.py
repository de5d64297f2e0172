"""What recorded audits make of flags: new, seen again, opened again, closed; what is stored."""

import io
import json

import pytest
from rich.console import Console
from sqlalchemy import select

from tests.audit.flags.found import Seen, acted, history, listed, record, shown, states
from tests.helpers import count_statements, stored
from tracker.audit.columns import FLAGS
from tracker.audit.flag_list import count_flags
from tracker.audit.flags import Recorded
from tracker.audit.tables import flag_view, recorded_flags_in_words
from tracker.core import clock
from tracker.projects.annotators import find_flagged_annotators, rename_annotator
from tracker.render.blocks import listing_table
from tracker.storage.schema import FlagSighting

SELECTION = {"annotators": ["ada"], "excluded": [], "since": None, "until": None, "where": {}}
PAIR = Seen(1, "copying", None, other=3)


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
    "by a person": [(40, "open"), ("resolve", "resolved"), (40, "open", "found again")],
    "by itself": [(40, "open"), (None, "resolved"), (40, "open", "found again")],
    "by half": [(40, "open"), ("dismiss", "dismissed"), (59, "dismissed"), (10, "dismissed"),
                (60, "open", GREW.format(40, 60))],
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


def test_a_finding_seen_again_while_open_is_one_more_sighting(people):
    record(people, Seen(1))
    assert record(people, Seen(1, informative=99, observed=0.7)) == Recorded(0, 1, 0, 0)
    acted(people, "acknowledge", 1)
    assert record(people, Seen(1)) == Recorded(0, 1, 0, 0)
    (row,) = listed(people)
    assert (row["state"], row["times_seen"]) == ("acknowledged", 3)
    assert (row["first_observed"], row["last_observed"], row["informative"]) == (0.9, 0.9, 40)
    assert row["last_seen_at"] > row["found_at"]
    assert [seen["observed"] for seen in shown(people, 1)["sightings"]] == [0.9, 0.7, 0.9]
    assert [made[0] for made in history(people, 1)] == ["found", "acknowledged"]


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


def text_of(*view):
    """Return what a view prints, its spaces single."""
    console = Console(file=io.StringIO(), width=200)
    for part in view:
        console.print(part)
    return " ".join(console.file.getvalue().split())


def table(ledger):
    return text_of(listing_table(FLAGS, listed(ledger)))


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
    assert "ada, cy copying" in table(people)
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


def test_views_of_flags(people):
    record(people, Seen(1, observed=0.9))
    assert "0.900 →" not in table(people)
    for observed in (0.6, 0.72):
        record(people, Seen(1, observed=observed))
    assert "0.900 → 0.720 3 20" in table(people)
    acted(people, "appeal", 1, by="ada", note="no")
    assert "open, appealed" in table(people)
    acted(people, "acknowledge", 1)
    assert "acknowledged, appealed" in table(people)
    acted(people, "resolve", 1)
    assert "appealed" not in table(people)
    record(people, Seen(1, "same", None, other=3))
    told = text_of(*flag_view({"project": "p"} | shown(people, 2)))
    assert "low same in p: ada, cy ada and cy: 0.9 over 80 answers" in told
    record(people, Seen(1, "k", None, observed=None))
    told = text_of(*flag_view({"project": "p"} | shown(people, 3)))
    assert "None" not in told + table(people)
    for part in ("expected 0.5 n 80 informative 40", "also k, l", "details runs 3"):
        assert part in told
    words = [recorded_flags_in_words(Recorded(*n)) for n in ((2, 3, 0, 1), (0, 1200, 2, 0))]
    assert words == [
        "2 new, 3 seen again, 1 no longer found",
        "0 new, 1,200 seen again (2 reopened), 0 no longer found",
    ]
