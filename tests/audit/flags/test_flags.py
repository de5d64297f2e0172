"""Flags: what recorded audits make of them, what people do about them, and what two do at once."""

import json
import threading
import time

import pytest
from sqlalchemy import insert, select, text

from tests.audit.flags.found import Seen, acted, history, listed, record, record_in, shown, states
from tests.helpers import count_statements, give, stored
from tests.profiles import both
from tracker.audit.flag_list import count_flags
from tracker.audit.flags import Recorded, act_on_flags
from tracker.audit.tables import flag_standing_in_words
from tracker.core import clock
from tracker.core.errors import InvalidOption, NotFound
from tracker.projects.annotators import (
    find_flagged_annotators,
    rename_annotator,
    set_annotator_kind,
)
from tracker.projects.projects import purge_project
from tracker.storage.schema import FlagRow, FlagSighting

SELECTION = {"annotators": ["ada"], "excluded": [], "since": None, "until": None, "where": {}}


def load_people(ledger):
    answers = [("i", "ada", "x"), ("i", "bo", "y"), ("i", "cy", "x"), ("j", "ada", "x"),
               ("j", "bo", "x")]  # fmt: skip
    give(ledger, answers)


@pytest.fixture
def people(ledger, fill_once):
    """The annotators ada, bo and cy, numbered 1 to 3, and the categories x and y, 1 and 2."""
    return fill_once(ledger, load_people)


def test_a_flag_is_of_an_annotator_a_category_and_a_kind(people):
    every = [Seen(1), Seen(2), Seen(1, category=2), Seen(1, "constant_category"), Seen(1, "k", 1)]
    assert record(people, Seen(1), Seen(2, category=None)) == Recorded(2, 0, 0, 0)
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


@pytest.fixture
def flagged(people):
    """A ledger with three open flags."""
    record(people, Seen(1), Seen(1, category=2), Seen(2))
    return people


def refuses(ledger, match, action, *flags, error=InvalidOption, **options):
    """Check that an action is refused and changes nothing; return the error's lines."""
    before = stored(ledger)
    with pytest.raises(error, match=match) as caught:
        acted(ledger, action, *flags, **options)
    assert stored(ledger) == before
    return str(caught.value).splitlines()


@pytest.mark.parametrize("action", ["acknowledge", "dismiss", "resolve"])
def test_an_action_is_done_once_and_can_be_undone(flagged, action):
    first, _ = acted(flagged, action, 1, 2, by="ann")
    before = stored(flagged)
    (again,) = acted(flagged, action, 1, by="bo", note="me too")
    assert (again.changed, again.by, again.at, again.state) == (
        False, "ann", first.at, first.state,
    )  # fmt: skip
    assert str(again.before).startswith(f"{first.state} (by ann, 20")
    assert stored(flagged) == before
    (appeal,) = acted(flagged, "appeal", 1, by="ada", note="I disagree")
    assert (appeal.changed, states(flagged)[1]) == (True, first.state)
    assert history(flagged, 1)[-1] == ("appealed", first.state, "ada", "I disagree")
    assert acted(flagged, "appeal", 1, by="ada", note="and again")[0].changed
    (again,) = acted(flagged, action, 1, by="bo")
    assert (again.changed, again.by) == (False, "ann"), "whose state it is, after an appeal"
    (done,) = acted(flagged, "reopen", 1, by="bo", note="a mistake")
    assert (done.state, done.changed, done.by) == ("open", True, "bo")
    assert history(flagged, 1)[-1] == ("reopened", "open", "bo", "a mistake")
    assert states(flagged)[1] == "open" != states(flagged)[2]
    assert not acted(flagged, "reopen", 1, by="ann")[0].changed
    acted(flagged, action, 1, by="cy")
    assert states(flagged)[1] == states(flagged)[2]


def test_an_appeal_has_an_outcome(flagged):
    refuses(flagged, "nobody appealed against flag 1", "uphold", 1)
    (appeal,) = acted(flagged, "appeal", 2, by="ada", note="the guideline says so")
    assert (appeal.changed, states(flagged)[2]) == (True, "open")
    acted(flagged, "acknowledge", 1, by="mia")
    acted(flagged, "appeal", 1, by="ada", note="as the guideline says")

    def appealed():
        row = listed(flagged)[0]
        return (*(row["appeal"][name] for name in ("by", "outcome", "answer")),
                flag_standing_in_words(row))  # fmt: skip

    assert appealed() == ("ada", None, None, "acknowledged by mia; appealed by ada")
    acted(flagged, "reject", 1, by="mia", note="see section 2")
    words = "acknowledged by mia; appealed by ada, rejected by mia"
    assert appealed() == ("ada", "rejected", "see section 2", words)
    assert not acted(flagged, "reject", 1, by="bo")[0].changed
    (done,) = acted(flagged, "uphold", 1, by="bo")
    assert (done.state, done.changed) == ("dismissed", True)
    assert appealed()[3] == "appealed by ada; upheld, and so dismissed by bo"
    refuses(flagged, r"flag 1 is dismissed \(by bo.*upheld by bo", "reject", 1)
    acted(flagged, "reopen", 1, by="mia")
    assert appealed()[1] is None, "it waits again"


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ("dismiss", "acknowledge", r"flag 1 is dismissed \(by ann, 20\d\d-\d\d-\d\d\); only open"),
        ("dismiss", "resolve", r"flag 1 is dismissed \(by ann.* only open or acknowledged ones"),
        ("resolve", "acknowledge", r"flag 1 is resolved \(by ann"),
        (None, "acknowledge", r"flag 1 is resolved \(no longer found, 20"),
    ],
)
def test_actions_that_make_no_sense_are_refused(flagged, first, second, message):
    if first is None:
        record(flagged)
    else:
        acted(flagged, first, 1)
    assert len(refuses(flagged, message, second, 1)) == 1


def test_actions_are_of_all_flags_or_none_with_a_name_and_a_note_that_can_be_stored(flagged):
    acted(flagged, "dismiss", 2)
    refuses(flagged, "flag 2", "acknowledge", 1, 2, 3)
    refuses(flagged, "no flag 9 in 'p'", "acknowledge", 1, 9, error=NotFound)
    for note in (None, "", " \n "):
        refuses(flagged, "note", "appeal", 1, by="ada", note=note)
    for bad in ("a\0b", "\udcff"):
        refuses(flagged, "the note holds", "dismiss", 1, note=bad)
        refuses(flagged, "the name in --by holds", "dismiss", 1, by=bad)
    refuses(flagged, "--by is empty", "dismiss", 1, by=" ")
    for number in (0, -1, 4, 10**30):
        message = "1 to 3; see: tracker flags list p"
        refuses(flagged, message, "dismiss", number, error=NotFound)
        with pytest.raises(NotFound, match=message):
            shown(flagged, number)


def test_a_flag_without_a_sighting_is_told_and_all_go_with_a_purge(flagged):
    assert flagged.database.check() == []
    with flagged.changing("p") as (connection, question):
        row = question.key._asdict() | {"id": 4, "annotator_id": 3, "other_id": 3}
        row |= {"kind": "k", "category_id": 0, "found_at": 5}
        connection.execute(insert(FlagRow), row)
    assert flagged.database.check() == ["1 flags were recorded without a sighting or a change"]
    with flagged.writing("p") as (connection, project):
        purge_project(connection, project)
    assert [name for name in stored(flagged) if name.startswith("flag")] == []
    assert stored(flagged)["purges"] == 1


def until_another_waits(ledger):
    """Go on once another transaction waits for a lock, where the database can be asked."""
    if ledger.database.url.get_backend_name() == "postgresql":
        statement = text("SELECT count(*) FROM pg_locks WHERE NOT granted")
        last = time.monotonic() + 30
        while time.monotonic() < last:
            with ledger.database.read() as connection:
                if connection.scalar(statement):
                    return
        pytest.fail("no transaction waits for the project")


def meanwhile(ledger, first, second):
    """Return the result of the second call, which begins before the first has committed."""
    results, begun = [], threading.Event()

    def run():
        begun.set()
        try:
            results.append(second())
        except InvalidOption as error:
            results.append(error)

    thread = threading.Thread(target=run)
    with ledger.changing("p") as (connection, question):
        first(connection, question)
        thread.start()
        assert begun.wait(30)
        until_another_waits(ledger)
    thread.join(30)
    assert not thread.is_alive()
    return results[0]


@both
def test_two_people_at_once(flagged):
    """The second sees what the first did, and may do only what still makes sense."""

    def dismiss(number):
        return lambda connection, question: act_on_flags(
            connection, question.project, [number], "dismiss", by="ann"
        )

    (done,) = meanwhile(flagged, dismiss(1), lambda: acted(flagged, "dismiss", 1, by="bo"))
    assert (done.changed, done.by) == (False, "ann")
    refused = meanwhile(flagged, dismiss(2), lambda: acted(flagged, "acknowledge", 2, by="bo"))
    assert isinstance(refused, InvalidOption)
    assert "dismissed (by ann" in str(refused)
    assert [len(history(flagged, number)) for number in (1, 2)] == [2, 2]


def test_two_audits_at_once(people):
    """A finding is recorded once; an audit counts what stands when it is recorded."""

    def leave_out(connection, question):
        set_annotator_kind(connection, question.project, "bo", "model")

    audit, recorded = meanwhile(people, leave_out, lambda: people.record_audit("p"))
    assert [annotator.name for annotator in audit.annotators] == ["ada", "cy"]
    assert recorded == Recorded(0, 0, 0, 0)
    again = meanwhile(
        people,
        lambda connection, question: record_in(connection, question, Seen(1)),
        lambda: record(people, Seen(1)),
    )
    assert again == Recorded(0, 1, 0, 0)
    assert [row["times_seen"] for row in listed(people)] == [2]
