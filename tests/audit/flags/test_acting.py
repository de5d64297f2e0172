"""What people do about flags, and what two at once make of it."""

import threading
import time

import pytest
from sqlalchemy import insert, text

from tests.audit.flags.found import Seen, acted, history, listed, record, record_in, shown, states
from tests.helpers import stored
from tests.profiles import both
from tracker.audit.flags import Recorded, act_on_flags
from tracker.audit.tables import flag_standing_in_words
from tracker.core.errors import InvalidOption, NotFound
from tracker.projects.annotators import set_annotator_kind
from tracker.projects.projects import purge_project
from tracker.storage.schema import FlagRow


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
