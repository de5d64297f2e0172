"""Annotators, their names and kinds; items, and all that was said of one."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from sqlalchemy import select

from tests.helpers import fates, standing, undo
from tests.profiles import both
from tracker.core import clock
from tracker.core.errors import InvalidOption
from tracker.counts.trail import change_sentence
from tracker.ledger import Ledger
from tracker.projects.annotators import (
    add_annotator_alias,
    find_annotator,
    find_paused,
    list_annotators,
    rename_annotator,
)
from tracker.projects.items import ItemAnnotators, find_item, list_items
from tracker.storage.schema import Change

Write = Callable[..., Path]
ANSWERS = "item,annotator,category\n i,ann@x.org,x\n i,B,y\n j,ann@x.org,x"


@pytest.fixture
def named(ledger: Ledger, write: Write) -> Ledger:
    ledger.import_file(write(ANSWERS), "p")
    return ledger


def test_an_old_export_still_fits_after_a_rename(named: Ledger, write: Write) -> None:
    with named.writing("p") as (connection, project):
        rename_annotator(connection, project, "ann@x.org", "Ann")
        annotators = [one.to_dict() for one in list_annotators(connection, project)]
    assert annotators == [
        {"annotator": "Ann", "kind": "human", "aliases": ["ann@x.org"], "left_on": None},
        {"annotator": "B", "kind": "human", "aliases": [], "left_on": None},
    ]
    assert fates(named.import_file(write(ANSWERS), "p")) == {"unchanged": 3}
    revised = write("item,annotator,category\n i,ann@x.org,z\n j,Ann,z")
    assert fates(named.import_file(revised, "p")) == {"changed": 2}
    assert standing(named) == [("i", "Ann", "z"), ("i", "B", "y"), ("j", "Ann", "z")]
    both = write("item,annotator,category\n k,ann@x.org,x\n k,Ann,x")
    assert fates(named.import_file(both, "p")) == {"inserted": 1, "unchanged": 1}
    assert named.agreement("p").counts.annotators == 2
    with named.writing("p") as (connection, project):
        rename_annotator(connection, project, "Ann", "Anna")
        for name in ("Anna", "Ann", "ann@x.org", " Ann "):
            assert find_annotator(connection, project, name).name == "Anna"
    taken = pytest.raises(InvalidOption, match="the name 'B' is taken")
    with taken, named.writing("p") as (connection, project):
        rename_annotator(connection, project, "Anna", "B")


def test_answers_under_an_alias_are_the_annotators(named: Ledger, write: Write) -> None:
    with named.writing("p") as (connection, project):
        add_annotator_alias(connection, project, "B", "worker 7")
    file = write("item,annotator,category\n j,worker 7,x\n i,worker 7,x")
    assert fates(named.import_file(file, "p")) == {"inserted": 1, "changed": 1}
    people = [row for row in standing(named) if row[1] == "B"]
    assert people == [("i", "B", "x"), ("j", "B", "x")]
    contradiction = write("item,annotator,category\n i,worker 7,x\n i,B,y")
    with pytest.raises(Exception, match="on line 3"):
        named.import_file(contradiction, "p")
    for alias in ("ann@x.org", "worker 7"):
        slip = pytest.raises(InvalidOption, match="is already in use")
        with slip, named.writing("p") as (connection, project):
            add_annotator_alias(connection, project, "B", alias)


@both
def test_pages_of_items_join_without_gap_or_repeat(ledger: Ledger, write: Write) -> None:
    rows = [f" {key},A,x,{text}" for key, text in (("z", ""), ("a%", "Tea"), ("m", "a tea_cup"))]
    ledger.import_file(write("\n".join(["item,annotator,category,text", *rows])), "p")
    ledger.import_file(write("item,annotator,category\n other,A,x"), "q")
    first = ledger.items.list_page("p", 2)
    assert first.next is not None
    with ledger.reading("p") as (connection, project):
        assert list_items(connection, project, limit=2) == list(first.items)
    assert [one.name for one in first.items] == ["z", "a%"]
    assert ledger.items.list_page("p", 2, after=first.next) == ([ItemAnnotators("m", 1)], None)
    assert ledger.items.list_page("p", 3).next is None
    for part, found in (("TEA", ["a%", "m"]), ("%", ["a%"]), ("_", ["m"]), ("Z", ["z"])):
        assert [one.name for one in ledger.items.list_page("p", 9, search=part).items] == found, (
            part
        )


def test_all_that_was_said_of_an_item(ledger: Ledger, write: Write) -> None:
    header = "item,annotator,category,pass,labeled_at,seconds,text,lang\n"
    first = write(header + "i,A,x,1,2024-03-02,2.5,hello,en\n i,B,,1,,,hello,en\n j,A,x,1,,,,")
    numbers = [ledger.import_file(first, "p", keep=["lang"]).id]
    numbers.append(ledger.import_file(write(header + "i,A,y,1,2024-03-03,,hello,en"), "p").id)
    numbers.append(ledger.import_file(write(header + "i,A,z,1,2024-03-04,,hello,en"), "p").id)
    numbers.append(ledger.import_file(write(header + "i,A,w,1,2024-03-01,,hello,en"), "p").id)
    undo(ledger, numbers[2])
    with ledger.reading("p") as (connection, project):
        told = find_item(connection, project, " i ").to_dict()
        listed = [ItemAnnotators("i", 1), ItemAnnotators("j", 1)]
        assert list_items(connection, project) == listed, "B skipped i"
    assert (told["item"], told["text"], told["attributes"]) == ("i", "hello", {"lang": "en"})
    assert [
        (row["annotator"], row["category"], row["answer"], row["state"], row["import"])
        for row in told["labels"]
    ] == [
        ("A", "w", "label", "superseded", numbers[3]),
        ("A", "x", "label", "superseded", numbers[0]),
        ("A", "y", "label", "stands", numbers[1]),
        ("A", "z", "label", "taken back", numbers[2]),
        ("B", None, "skipped", "stands", numbers[0]),
    ]
    assert told["labels"][1]["seconds"] == 2.5
    assert told["labels"][1]["labeled_at"] == "2024-03-02T00:00:00Z"
    assert told["labels"][4]["labeled_at"] is None


def test_an_item_is_shown_as_it_was_on_either_clock(ledger: Ledger, write: Write) -> None:
    header = "item,annotator,category,labeled_at\n"
    ledger.import_file(write(f"{header}i,A,x,2020-01-01\ni,B,x,2020-01-01\nj,A,y,2020-01-01"), "p")
    before = datetime.now(UTC)
    ledger.import_file(write(f"{header}i,A,z,2020-02-01\ni,C,x,2020-01-15"), "p")
    ledger.imports.undo(2)
    ledger.import_file(write(f"{header}i,A,y,2020-03-01"), "p")

    def said(**moment: Any) -> list[tuple[str, str, str]]:
        return [(one.annotator, one.category, one.state)
                for one in ledger.items.show("p", "i", **moment).labels]  # fmt: skip

    assert said() == [
        ("A", "x", "superseded"), ("A", "z", "taken back"), ("A", "y", "stands"),
        ("B", "x", "stands"), ("C", "x", "taken back"),
    ]  # fmt: skip
    assert said(as_of="2020-01-10") == [("A", "x", "stands"), ("B", "x", "stands")]
    assert said(as_of="2020-02-10") == [
        ("A", "x", "stands"), ("A", "z", "taken back"), ("B", "x", "stands"),
        ("C", "x", "taken back"),
    ]  # fmt: skip
    assert said(known_at=before) == [("A", "x", "stands"), ("B", "x", "stands")]
    assert said(as_of="2019-01-01") == []
    listed = [ledger.items.list_page("p", 9, **moment).items for moment in (
        {"as_of": "2020-01-20"}, {"known_at": before}, {"as_of": "2019-01-01"}, {},
    )]  # fmt: skip
    both = [ItemAnnotators("i", 2), ItemAnnotators("j", 1)]
    assert listed == [both, both, [], both]
    assert said()[2] == ("A", "y", "stands"), "what was hidden is to be seen again"


def test_whoever_left_is_asked_for_nothing_more_and_counts_as_before(ledger: Ledger) -> None:
    ledger.projects.create("p", wanted=3, timezone="Europe/Berlin")
    days = [f"2026-10-{day:02}T12:00" for day in range(1, 11)]
    rows = [
        (f"i{n}", who, "x", day)
        for n, day in enumerate(days)
        for who in (("ada", "carla") if n < 9 else ("ada",))
    ]
    columns = ["item", "annotator", "category", "labeled_at"]
    ledger.import_frame(pd.DataFrame(rows, columns=columns), "p")
    before, figures = ledger.status("p").to_dict(), ledger.agreement("p").to_dict()
    assert (before["annotators_gone"], before["answers_per_day"]) == ([], 19 / 9)
    made = ledger.annotators.leave("p", "carla", "2026-10-10")
    assert made.to_dict()["left_on"] == "2026-10-10"
    told = ledger.status("p").to_dict()
    assert (told["annotators_gone"], told["answers_per_day"]) == (["carla"], 10 / 9)
    assert ledger.agreement("p").to_dict() == figures
    assert ledger.database.check() == []
    # The day that they left on lies in Berlin, where it ends at 22:00 UTC.
    late = [("j", "carla", "x", "2026-10-10T21:00"), ("k", "carla", "x", "2026-10-10T22:00")]
    result = ledger.import_frame(pd.DataFrame(late, columns=columns), "p")
    (warning,) = result.warnings
    assert warning.startswith("carla left on 2026-10-10, and has labels of later days: 1; ")
    ledger.annotators.back("p", "carla")
    assert ledger.status("p").to_dict()["annotators_gone"] == []
    what = [change_sentence(act) for act in ledger.projects.changes("p").acts]
    assert what[:3:2] == ["noted that carla is back", "noted that carla left on 2026-10-10"]
    ledger.annotators.leave("p", "ada", "2099-01-01")
    assert ledger.status("p").to_dict()["annotators_gone"] == [], "she is still there"


@both
def test_whoever_is_paused_counts_as_before_and_is_paused_until_resumed(ledger: Ledger) -> None:
    ledger.projects.create("p", wanted=3)
    rows = [
        (f"i{n}", who, "x", f"2026-10-{n + 1:02}T12:00")
        for n in range(10)
        for who in (("ada", "carla") if n < 9 else ("ada",))
    ]
    columns = ["item", "annotator", "category", "labeled_at"]
    ledger.import_frame(pd.DataFrame(rows, columns=columns), "p")
    figures, people = ledger.agreement("p").to_dict(), ledger.annotators
    paused = people.pause("p", "carla", note=" reads the guideline again ")
    assert people.pause("p", "carla") == paused, "paused already"
    again = people.pause("p", "carla", note="was on leave")
    assert (again.paused_since, again.paused_note) == (paused.paused_since, "was on leave")
    shown = people.show("p", "carla").to_dict()
    assert shown["paused_note"] == "was on leave"
    assert shown["paused_since"] == clock.iso(paused.paused_since or 0)
    told = ledger.status("p").to_dict()
    assert (told["annotators_paused"], told["answers_per_day"]) == (["carla"], 10 / 9)
    assert told["annotators_gone"] == []
    assert ledger.agreement("p").to_dict() == figures
    with ledger.reading("p") as (connection, info):
        assert find_paused(connection, info) == {paused.id: paused.paused_since}
        log = connection.scalars(select(Change.detail)).all()
    assert not any("guideline" in detail or "leave" in detail for detail in log)
    assert ledger.database.check() == []
    assert people.back("p", "carla") == again, "she did not leave"
    resumed = people.resume("p", "carla")
    assert people.resume("p", "carla") == resumed
    assert "paused_since" not in resumed.to_dict()
    assert "annotators_paused" not in ledger.status("p").to_dict()
    people.pause("p", "carla")
    left = people.leave("p", "carla", "2026-10-10")
    assert (left.paused_since, str(left.left_on)) == (None, "2026-10-10")
    with pytest.raises(InvalidOption, match="left 'p' on 2026-10-10"):
        people.pause("p", "carla")
    assert people.resume("p", "carla") == left, "she is not paused"
    assert people.back("p", "carla").paused_since is None
    what = [change_sentence(act) for act in ledger.projects.changes("p").acts][:6]
    ledger.annotators.pause("p", "carla", note="carla is ill")
    ledger.annotators.pause("p", "ada", note="works with carla")
    erased = ledger.annotators.erase("p", "carla")
    mentions = [(mention.what, mention.rows) for mention in erased.mentions]
    assert mentions == [("notes on pauses of others", 1)]
    listed = ledger.annotators.list("p")
    notes = {row.annotator.name: row.annotator.paused_note for row in listed}
    assert notes["ada"] == "works with carla"
    assert "carla is ill" not in notes.values()
    assert ledger.database.check() == []
    assert what == [
        "noted that carla is back", "noted that carla left on 2026-10-10", "paused carla",
        "resumed carla", "paused carla", "paused carla",
    ]  # fmt: skip
