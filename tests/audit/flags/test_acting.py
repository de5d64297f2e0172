"""What people do about flags, and what two at once make of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Connection, insert, text

from tests.audit.flags.found import Seen, acted, history, listed, record, record_in, shown, states
from tests.helpers import stored
from tracker.audit.flags import Recorded, act_on_flags, flag_changes
from tracker.audit.tables import flag_standing_in_words
from tracker.core.errors import InvalidOption, NotFound
from tracker.ledger import Ledger
from tracker.projects.annotators import set_annotator_kind
from tracker.projects.projects import purge_project
from tracker.projects.questions import QuestionInfo
from tracker.storage.schema import FlagRow


@pytest.fixture
def flagged(people: Ledger) -> Ledger:
    """A ledger with three open flags."""
    record(people, Seen(1), Seen(1, category=2), Seen(2))
    return people


def test_what_was_done_is_kept_with_who_and_why(flagged: Ledger) -> None:
    (done,) = acted(flagged, "acknowledge", 1, by="ann", note=" will ask ")
    assert (done.flag, done.state, done.changed, done.by) == (1, "acknowledged", True, "ann")
    acted(flagged, "resolve", 1, by="bo")
    assert history(flagged, 1) == [
        ("found", "open", None, None),
        ("acknowledged", "acknowledged", "ann", "will ask"),
        ("resolved", "resolved", "bo", None),
    ]
    row = listed(flagged, states=["resolved"])[0]
    assert (row["flag"], row["action"], row["by"], row["note"]) == (1, "resolved", "bo", None)
    assert row["changed_at"] > row["last_seen_at"]


def test_several_flags_at_once(flagged: Ledger) -> None:
    done = acted(flagged, "dismiss", 3, 1, 3)
    assert [one.flag for one in done] == [3, 1]
    assert states(flagged) == {1: "dismissed", 2: "open", 3: "dismissed"}


@pytest.mark.parametrize("action", ["acknowledge", "dismiss", "resolve"])
def test_what_is_done_already_is_not_done_again(flagged: Ledger, action: str) -> None:
    first = acted(flagged, action, 1, by="ann")[0]
    before = stored(flagged)
    (again,) = acted(flagged, action, 1, by="bo", note="me too")
    assert not again.changed
    assert (again.by, again.at, again.state) == ("ann", first.at, first.state)
    assert str(again.before).startswith(f"{first.state} (by ann, 20")
    assert stored(flagged) == before


@pytest.mark.parametrize("action", ["acknowledge", "dismiss", "resolve"])
def test_what_was_done_can_be_undone(flagged: Ledger, action: str) -> None:
    acted(flagged, action, 1, 2, by="ann")
    (done,) = acted(flagged, "reopen", 1, by="bo", note="a mistake")
    assert (done.state, done.changed, done.by) == ("open", True, "bo")
    assert history(flagged, 1)[-1] == ("reopened", "open", "bo", "a mistake")
    assert states(flagged)[1] == "open" != states(flagged)[2]
    (again,) = acted(flagged, "reopen", 1, by="ann")
    assert not again.changed
    acted(flagged, action, 1, by="cy")
    assert states(flagged)[1] == states(flagged)[2]


def test_who_made_a_state_is_told_after_an_appeal(flagged: Ledger) -> None:
    acted(flagged, "dismiss", 1, by="ann")
    acted(flagged, "appeal", 1, by="ada", note="I disagree")
    (again,) = acted(flagged, "dismiss", 1, by="bo")
    assert (again.changed, again.by) == (False, "ann")


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        ("dismiss", "acknowledge", r"flag 1 is dismissed \(by ann, 20\d\d-\d\d-\d\d\); only open"),
        ("dismiss", "resolve", r"flag 1 is dismissed \(by ann.* only open or acknowledged ones"),
        ("resolve", "acknowledge", r"flag 1 is resolved \(by ann"),
        (None, "acknowledge", r"flag 1 is resolved \(no longer found, 20"),
    ],
)
def test_what_makes_no_sense_is_refused(
    flagged: Ledger, first: Any, second: str, told: str
) -> None:
    if first is None:
        record(flagged)
    else:
        acted(flagged, first, 1)
    before = stored(flagged)
    with pytest.raises(InvalidOption, match=told) as caught:
        acted(flagged, second, 1)
    assert len(str(caught.value).splitlines()) == 1
    assert stored(flagged) == before


def test_all_flags_or_none(flagged: Ledger) -> None:
    acted(flagged, "dismiss", 2)
    before = stored(flagged)
    with pytest.raises(InvalidOption, match="flag 2"):
        acted(flagged, "acknowledge", 1, 2, 3)
    with pytest.raises(NotFound, match="no flag 9 in 'p'"):
        acted(flagged, "acknowledge", 1, 9)
    assert stored(flagged) == before


@pytest.mark.parametrize("state", ["open", "acknowledge", "dismiss", "resolve"])
def test_an_appeal_keeps_the_state(flagged: Ledger, state: Any) -> None:
    if state != "open":
        acted(flagged, state, 1)
    before = states(flagged)
    (appeal,) = acted(flagged, "appeal", 1, by="ada", note="the guideline says so")
    assert appeal.changed
    assert states(flagged) == before
    assert history(flagged, 1)[-1] == ("appealed", before[1], "ada", "the guideline says so")
    assert acted(flagged, "appeal", 1, by="ada", note="and again")[0].changed


def test_an_appeal_has_an_outcome(flagged: Ledger) -> None:
    with pytest.raises(InvalidOption, match="nobody appealed against flag 1"):
        acted(flagged, "uphold", 1)
    acted(flagged, "acknowledge", 1, by="mia")
    acted(flagged, "appeal", 1, by="ada", note="as the guideline says")
    row = listed(flagged)[0]
    assert (row["appeal"]["by"], row["appeal"]["outcome"]) == ("ada", None)
    assert flag_standing_in_words(row) == "acknowledged by mia; appealed by ada"
    acted(flagged, "reject", 1, by="mia", note="see section 2")
    row = listed(flagged)[0]
    assert (row["appeal"]["outcome"], row["appeal"]["answer"]) == ("rejected", "see section 2")
    assert flag_standing_in_words(row) == "acknowledged by mia; appealed by ada, rejected by mia"
    assert not acted(flagged, "reject", 1, by="bo")[0].changed
    (done,) = acted(flagged, "uphold", 1, by="bo")
    assert (done.state, done.changed) == ("dismissed", True)
    row = listed(flagged)[0]
    assert flag_standing_in_words(row) == "appealed by ada; upheld, and so dismissed by bo"
    with pytest.raises(InvalidOption, match=r"flag 1 is dismissed \(by bo.*upheld by bo"):
        acted(flagged, "reject", 1)
    acted(flagged, "reopen", 1, by="mia")
    assert listed(flagged)[0]["appeal"]["outcome"] is None, "it waits again"


@pytest.mark.parametrize("note", [None, "", " \n "])
def test_an_appeal_says_why(flagged: Ledger, note: str | None) -> None:
    with pytest.raises(InvalidOption, match="note"):
        acted(flagged, "appeal", 1, by="ada", note=note)


@pytest.mark.parametrize("bad", ["a\0b", "\udcff"])
def test_what_no_database_holds_is_refused(flagged: Ledger, bad: str) -> None:
    with pytest.raises(InvalidOption, match="the note holds"):
        acted(flagged, "dismiss", 1, note=bad)
    with pytest.raises(InvalidOption, match="the name in --by holds"):
        acted(flagged, "dismiss", 1, by=bad)
    with pytest.raises(InvalidOption, match="--by is empty"):
        acted(flagged, "dismiss", 1, by=" ")


@pytest.mark.parametrize("number", [0, -1, 4, 10**30])
def test_an_unknown_number_says_which_there_are(flagged: Ledger, number: int) -> None:
    for ask in (lambda: acted(flagged, "dismiss", number), lambda: shown(flagged, number)):
        with pytest.raises(NotFound, match="1 to 3; see: tracker flags list p"):
            ask()


def test_where_nothing_is_recorded_it_is_said(people: Ledger) -> None:
    with pytest.raises(NotFound, match="tracker audit p --record"):
        acted(people, "dismiss", 1)


def test_choosing_among_flags(flagged: Ledger) -> None:
    acted(flagged, "dismiss", 1)

    def numbers(**chosen: Any) -> list[int]:
        return [row["flag"] for row in listed(flagged, **chosen)]

    assert numbers() == [1, 2, 3]
    assert numbers(states=["all"]) == numbers(states=["open", "all"]) == [1, 2, 3]
    assert numbers(states=["dismissed"]) == [1]
    assert numbers(states=["dismissed", "open"]) == [1, 2, 3]
    assert numbers(states=["resolved"]) == []
    assert numbers(kind="category_bias") == [1, 2, 3]
    assert numbers(kind="constant_category") == []
    mine = numbers(annotator="ada")
    assert len(mine) == 2
    assert numbers(annotator="bo") == [n for n in (1, 2, 3) if n not in mine]
    with pytest.raises(InvalidOption, match="did you mean 'open'"):
        numbers(states=["opne"])
    with pytest.raises(InvalidOption, match="'category_bias'"):
        numbers(kind="category_bais")
    with pytest.raises(NotFound, match="nobody"):
        numbers(annotator="nobody")


def test_the_history_of_a_project_is_in_order(flagged: Ledger) -> None:
    acted(flagged, "dismiss", 3)
    acted(flagged, "acknowledge", 1)
    record(flagged, Seen(1), Seen(1, category=2), Seen(2, informative=99))
    with flagged.reading("p") as (connection, project):
        told = [one.to_dict() for one in flag_changes(connection, project)]
        alone = [one.to_dict() for one in flag_changes(connection, project, 3)]
    assert [(row["flag"], row["action"]) for row in told[:5]] == [
        (1, "found"), (2, "found"), (3, "found"), (3, "dismissed"), (1, "acknowledged"),
    ]  # fmt: skip
    assert [row["at"] for row in told] == sorted(row["at"] for row in told)
    assert [row for row in told if row["flag"] == 3] == alone


def test_a_purge_takes_flags_along(flagged: Ledger) -> None:
    acted(flagged, "dismiss", 1)
    with flagged.writing("p") as (connection, project):
        purge_project(connection, project)
    assert [name for name in stored(flagged) if name.startswith("flag")] == []
    assert stored(flagged)["purges"] == 1


def test_a_flag_without_its_beginning_is_found(flagged: Ledger) -> None:
    assert flagged.database.check() == []
    with flagged.changing("p") as (connection, question):
        row = question.key._asdict() | {"id": 4, "annotator_id": 3, "other_id": 3}
        row |= {"kind": "k", "category_id": 0, "found_at": 5}
        connection.execute(insert(FlagRow), row)
    assert flagged.database.check() == ["1 flags were recorded without a sighting or a change"]


# -- two at once ---------------------------------------------------------------------------


def until_somebody_waits(ledger: Ledger) -> None:
    """Go on once another transaction waits for a lock, where the database can be asked."""
    if ledger.database.url.get_backend_name() == "postgresql":
        statement = text("SELECT count(*) FROM pg_locks WHERE NOT granted")
        last = time.monotonic() + 30
        while time.monotonic() < last:
            with ledger.database.read() as connection:
                if connection.scalar(statement):
                    return
        pytest.fail("nobody waits for the project")


def meanwhile(
    ledger: Ledger,
    first: Callable[[Connection, QuestionInfo], object],
    second: Callable[[], object],
) -> Any:
    """What the second made of it, who began before the first had committed."""
    found: list[Any] = []
    begun = threading.Event()

    def run() -> None:
        begun.set()
        try:
            found.append(second())
        except InvalidOption as error:
            found.append(error)

    thread = threading.Thread(target=run)
    with ledger.changing("p") as (connection, question):
        first(connection, question)
        thread.start()
        assert begun.wait(30)
        until_somebody_waits(ledger)
    thread.join(30)
    assert not thread.is_alive()
    return found[0]


def test_who_comes_second_sees_what_the_first_did(flagged: Ledger) -> None:
    (done,) = meanwhile(
        flagged,
        lambda connection, question: act_on_flags(
            connection, question.project, [1], "dismiss", by="ann"
        ),
        lambda: acted(flagged, "dismiss", 1, by="bo"),
    )
    assert (done.changed, done.by) == (False, "ann")
    assert len(history(flagged, 1)) == 2


def test_who_comes_second_may_not_do_what_makes_no_sense_any_more(flagged: Ledger) -> None:
    refused = meanwhile(
        flagged,
        lambda connection, question: act_on_flags(
            connection, question.project, [1], "dismiss", by="ann"
        ),
        lambda: acted(flagged, "acknowledge", 1, by="bo"),
    )
    assert isinstance(refused, InvalidOption)
    assert "dismissed (by ann" in str(refused)
    assert len(history(flagged, 1)) == 2


def test_two_audits_at_once_record_a_finding_once(people: Ledger) -> None:
    def first(connection: Connection, question: QuestionInfo) -> None:
        record_in(connection, question, Seen(1))

    assert meanwhile(people, first, lambda: record(people, Seen(1))) == Recorded(0, 1, 0, 0)
    (row,) = listed(people)
    assert row["times_seen"] == 2


def test_an_audit_counts_what_stands_when_it_is_recorded(people: Ledger) -> None:
    """It would else close what one of newer answers had just found."""
    audit, recorded = meanwhile(
        people,
        lambda connection, question: set_annotator_kind(
            connection, question.project, "bo", "model"
        ),
        lambda: people.record_audit("p"),
    )
    assert [annotator.name for annotator in audit.annotators] == ["ada", "cy"]
    assert recorded == Recorded(0, 0, 0, 0)
