"""Annotators, their names, kinds and attributes; items, their keys, and what was said of them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy import select

from tests.helpers import Write, count_statements, fates, give, standing, stored, undo
from tracker.core.errors import InvalidOption, NotFound, Refused, TrackerError
from tracker.counts.filter import make_answer_filter
from tracker.imports.loader import Rejected
from tracker.ledger import Ledger
from tracker.projects import annotators
from tracker.storage.schema import AnnotatorAttribute, Change, ItemAlias

ANSWERS = "item,annotator,category\n i,ann@x.org,x\n i,B,y\n j,ann@x.org,x"


@pytest.fixture
def named(ledger: Ledger, write: Write) -> Ledger:
    ledger.import_file(write(ANSWERS), "p")
    return ledger


def test_answers_under_another_name_are_the_annotators(named: Ledger, write: Write) -> None:
    with named.writing("p") as (connection, project):
        annotators.rename_annotator(connection, project, "ann@x.org", "Ann")
        annotators.add_annotator_alias(connection, project, "B", "worker 7")
    assert fates(named.import_file(write(ANSWERS), "p")) == {"unchanged": 3}
    revised = write("item,annotator,category\n i,ann@x.org,z\n j,Ann,z")
    assert fates(named.import_file(revised, "p")) == {"changed": 2}
    assert standing(named) == [("i", "Ann", "z"), ("i", "B", "y"), ("j", "Ann", "z")]
    twice = write("item,annotator,category\n k,worker 7,x\n k,B,x")
    assert fates(named.import_file(twice, "p")) == {"inserted": 1, "unchanged": 1}
    contradiction = write("item,annotator,category\n i,worker 7,x\n i,B,y")
    with pytest.raises(Rejected, match="on line 3"):
        named.import_file(contradiction, "p")
    with named.writing("p") as (connection, project):
        annotators.rename_annotator(connection, project, "Ann", "Anna")
        for name in ("Anna", "Ann", "ann@x.org", " Ann "):
            assert annotators.find_annotator(connection, project, name).name == "Anna"
    taken = pytest.raises(InvalidOption, match="the name 'B' is taken")
    with taken, named.writing("p") as (connection, project):
        annotators.rename_annotator(connection, project, "Anna", "B")
    for alias in ("ann@x.org", "worker 7"):
        used = pytest.raises(InvalidOption, match="is already in use")
        with used, named.writing("p") as (connection, project):
            annotators.add_annotator_alias(connection, project, "B", alias)


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
    assert said(known_at=before) == [("A", "x", "stands"), ("B", "x", "stands")]
    assert said(as_of="2019-01-01") == []
    listed = [len(ledger.items.list_page("p", 9, **moment).items) for moment in (
        {"as_of": "2020-01-20"}, {"known_at": before}, {"as_of": "2019-01-01"}, {},
    )]  # fmt: skip
    assert listed == [2, 2, 0, 2]


def work_of_ten_days(ledger: Ledger) -> None:
    rows = [(f"i{n}", who, "x", f"2026-10-{n + 1:02}T12:00") for n in range(10)
            for who in (("ada", "carla") if n < 9 else ("ada",))]  # fmt: skip
    give(ledger, rows, "p", "labeled_at")


def test_whoever_left_is_asked_for_nothing_more_and_counts_as_before(ledger: Ledger) -> None:
    ledger.projects.create("p", wanted=3, timezone="Europe/Berlin")
    work_of_ten_days(ledger)
    before, figures = ledger.status("p").to_dict(), ledger.agreement("p").to_dict()
    assert (before["annotators_gone"], before["answers_per_day"]) == ([], 19 / 9)
    made = ledger.annotators.leave("p", "carla", "2026-10-10")
    assert made.to_dict()["left_on"] == "2026-10-10"
    told = ledger.status("p").to_dict()
    assert (told["annotators_gone"], told["answers_per_day"]) == (["carla"], 10 / 9)
    assert ledger.agreement("p").to_dict() == figures
    # The day that they left on lies in Berlin, where it ends at 22:00 UTC.
    late = [("j", "carla", "x", "2026-10-10T21:00"), ("k", "carla", "x", "2026-10-10T22:00")]
    (warning,) = give(ledger, late, "p", "labeled_at").warnings
    assert warning.startswith("carla left on 2026-10-10, and has labels of later days: 1; ")
    ledger.annotators.back("p", "carla")
    assert ledger.status("p").to_dict()["annotators_gone"] == []
    ledger.annotators.leave("p", "ada", "2099-01-01")
    assert ledger.status("p").to_dict()["annotators_gone"] == [], "she is still there"


def test_whoever_is_paused_counts_as_before_and_is_paused_until_resumed(ledger: Ledger) -> None:
    ledger.projects.create("p", wanted=3)
    work_of_ten_days(ledger)
    figures, people = ledger.agreement("p").to_dict(), ledger.annotators
    paused = people.pause("p", "carla", note=" reads the guideline again ")
    assert people.pause("p", "carla") == paused, "paused already"
    again = people.pause("p", "carla", note="was on leave")
    assert (again.paused_since, again.paused_note) == (paused.paused_since, "was on leave")
    told = ledger.status("p").to_dict()
    assert (told["annotators_paused"], told["answers_per_day"]) == (["carla"], 10 / 9)
    assert told["annotators_gone"] == []
    assert ledger.agreement("p").to_dict() == figures
    with ledger.reading("p") as (connection, _):
        log = connection.scalars(select(Change.detail)).all()
    assert not any("guideline" in detail or "leave" in detail for detail in log)
    assert people.back("p", "carla") == again, "she did not leave"
    resumed = people.resume("p", "carla")
    assert people.resume("p", "carla") == resumed
    assert "annotators_paused" not in ledger.status("p").to_dict()
    people.pause("p", "carla")
    left = people.leave("p", "carla", "2026-10-10")
    assert (left.paused_since, str(left.left_on)) == (None, "2026-10-10")
    with pytest.raises(InvalidOption, match="left 'p' on 2026-10-10"):
        people.pause("p", "carla")
    assert people.resume("p", "carla") == left, "she is not paused"
    assert people.back("p", "carla").paused_since is None
    people.pause("p", "carla", note="carla is ill")
    people.pause("p", "ada", note="works with carla")
    mentions = people.erase("p", "carla").mentions
    assert [(one.what, one.rows) for one in mentions] == [("notes on pauses of others", 1)]
    notes = {row.annotator.paused_note for row in people.list("p")}
    assert "works with carla" in notes
    assert "carla is ill" not in notes
    assert ledger.database.check() == []


PEOPLE = """
    annotator,kind,team,years
    ann,,north,3
    bob,,south,
    gpt,model,,
"""


@pytest.fixture
def answered(ledger: Ledger, write: Write) -> Ledger:
    ledger.import_file(write("item,annotator,label\ni,ann,x\ni,bob,y\n"), "p")
    return ledger


def told(ledger: Ledger, known_at: str | None = None) -> dict[str, dict[str, str]]:
    choice = make_answer_filter(known_at=known_at)
    with ledger.asking("p", choice) as (connection, question):
        found = annotators.annotator_attributes(connection, question.project)
        names = annotators.annotator_names(connection, question.project)
    return {names[number]: values for number, values in found.items()}


def test_every_other_column_is_an_attribute(answered: Ledger, write: Write) -> None:
    before = stored(answered)
    assert fates(answered.import_annotators(write(PEOPLE), "p", dry_run=True))
    assert stored(answered) == before
    result = answered.import_annotators(write(PEOPLE, "people.csv"), "p")
    assert fates(result) == {"inserted": 1, "changed": 2}
    attributes = {"ann": {"team": "north", "years": "3"}, "bob": {"team": "south"}}
    assert told(answered) == attributes
    kinds = {row.annotator.name: row.annotator.kind for row in answered.annotators.list("p")}
    assert kinds == {"ann": "human", "bob": "human", "gpt": "model"}
    assert fates(answered.import_annotators(write(PEOPLE), "p")) == {"unchanged": 3}
    assert told(answered) == attributes
    answered.annotators.merge("p", "bob", "ann")
    assert told(answered) == {"ann": {"team": "south", "years": "3"}}
    answered.annotators.split("p", "bob")
    assert told(answered) == attributes
    answered.annotators.erase("p", "ann")
    assert told(answered) == {"bob": {"team": "south"}}
    with answered.database.engine.begin() as connection:
        assert set(connection.scalars(select(AnnotatorAttribute.value))) == {"south"}
        assert answered.verify("p").passed
        connection.exec_driver_sql("UPDATE annotator_attributes SET value = 'north'")
    (fault,) = answered.verify("p").ledger
    assert fault.startswith("attributes of annotators:")


def test_imports_are_undone_and_known_as_they_were(answered: Ledger, write: Write) -> None:
    later = "annotator,team,years\nann,west,3\neve,west,\n"
    numbers, moments = [], []
    for text in (PEOPLE, later):
        numbers.append(answered.import_annotators(write(text), "p").id or 0)
        moments.append(datetime.now(UTC).isoformat())
    assert told(answered)["ann"] == {"team": "west", "years": "3"}
    answered.imports.undo(numbers[0])
    assert told(answered) == {"ann": {"team": "west", "years": "3"}, "eve": {"team": "west"}}
    assert [told(answered, known_at=at)["ann"]["team"] for at in moments] == ["north", "west"]
    answered.imports.undo(numbers[1])
    assert told(answered) == {}
    assert [row.annotator.name for row in answered.annotators.list("p")] == ["ann", "bob"]


def test_files_that_do_not_say_who_or_contradict(ledger: Ledger, write: Write) -> None:
    ledger.projects.create("p")
    cases: list[tuple[str, list[str], str]] = [
        ("who,team\na,b", [], "no column for the annotator"),
        ("annotator,team,team\na,b,c", [], "several columns named 'team'"),
        ("annotator,user,team\na,b,c", ["kind=sort"], "no column 'sort'"),
        ("a,b\nc,d", ["item=a"], "a list of annotators has no item"),
        ("annotator,team\nann,north\nann,south", [], "'south' here, and 'north' on another line"),
        ("annotator,team\n,east", [], "line 2: the annotator is empty"),
    ]
    for rows, mapped, reason in cases:
        with pytest.raises(TrackerError, match=reason):
            ledger.import_annotators(write(rows), "p", columns=mapped)
    file = write("who,sort,team\nann,model,north\n")
    ledger.import_annotators(file, "p", columns=["annotator=who", "kind=sort"])
    ledger.import_annotators(write("Name,team\nbob,south\n"), "p")
    assert told(ledger) == {"ann": {"team": "north"}, "bob": {"team": "south"}}


A = "item,annotator,category\n a1,ann,x\n a2,ann,y"
B = "item,annotator,category\n b1,bob,x\n b2,bob,x"


@pytest.fixture
def aliased(ledger: Ledger, write: Write) -> Ledger:
    ledger.import_file(write(A, "a.csv"), "p")
    return ledger


def test_what_comes_under_another_key_is_the_items(aliased: Ledger, write: Write) -> None:
    assert aliased.items.alias("p", " a1 ", " b1 ", "c1").aliases == ("b1", "c1")
    aliased.items.alias("p", "c1", "d1")  # by another key
    assert fates(aliased.import_file(write(B, "b.csv"), "p")) == {"inserted": 2}
    assert standing(aliased) == [
        ("a1", "ann", "x"), ("a1", "bob", "x"), ("a2", "ann", "y"), ("b2", "bob", "x"),
    ]  # fmt: skip
    assert aliased.items.show("p", "d1") == aliased.items.show("p", "a1")
    registered = aliased.import_items(write("item\n a1\n d1\n b1\n e1"), "p")
    assert (registered.inserted, registered.unchanged) == (1, 3)
    assert aliased.verify("p").passed
    rows = write("item,annotator,category\n a1,cem,x\n b1,cem,y")
    with pytest.raises(Refused, match="two different answers for item 'a1': 'x' here"):
        aliased.import_file(rows, "p")
    for number in (2, 1):
        undo(aliased, number)
    aliased.import_file(write(B, "b.csv"), "p")
    assert standing(aliased) == [("a1", "bob", "x"), ("b2", "bob", "x")], "other keys stay"


def test_an_item_of_its_own_is_one_of_anothers_after_the_commands_told(
    aliased: Ledger, write: Write
) -> None:
    number = aliased.import_file(write(B, "b.csv"), "p").id
    with pytest.raises(Refused) as refused:
        aliased.items.alias("p", "a1", "b1")
    assert str(refused.value) == (
        f"'b1' is an item of its own, from import {number}\n"
        f"to make it 'a1': tracker imports undo {number}; tracker item alias -p p a1 b1; "
        f"tracker import {write(B, 'b.csv')} -p p"
    )
    aliased.import_items(write("item\n c1", "items.csv"), "p")  # without an answer
    with pytest.raises(Refused, match=r"from import 3\n.*; tracker item import .*items.csv -p p"):
        aliased.items.alias("p", "a1", "c1")
    for category in "xy":  # the undo of the later import would let the earlier answer stand again
        aliased.import_file(write(f"item,annotator,category\n d1,bob,{category}"), "p")
    with pytest.raises(Refused, match="from imports 4, 5\n"):
        aliased.items.alias("p", "a1", "d1")
    number = aliased.import_file(write("item,annotator,category\n e1,bob,x"), "p").id
    aliased.items.alias("p", "e1", "f1")
    undo(aliased, number)
    with pytest.raises(Refused, match="'e1' has other keys itself"):
        aliased.items.alias("p", "a1", "e1")
    aliased.items.unalias("p", "f1")
    assert "f1" in aliased.items.alias("p", "a1", "e1", "f1").aliases


REFUSED: list[tuple[str, str, type[TrackerError], str]] = [
    ("a9", "b1", NotFound, "there is no item 'a9' in 'p'"),
    ("a1", " a1", InvalidOption, "'a1' and 'a1' are one key"),
    ("k1", "a1", InvalidOption, "'a1' is the item's own key"),
    ("a2", "k1", InvalidOption, "'k1' is another key of 'a1' already"),
    ("a1", " ", InvalidOption, "the alias's name is empty"),
    ("a1", "b\0", InvalidOption, "NUL"),
    ("a1", "b" * 501, InvalidOption, "longer than 500 bytes"),
]


def test_what_cannot_be_another_key_is_refused(aliased: Ledger) -> None:
    aliased.items.alias("p", "a1", "k1")
    for item, alias, error, told in REFUSED:
        with pytest.raises(error, match=told):
            aliased.items.alias("p", item, alias)


def test_a_key_that_is_one_no_more(aliased: Ledger, write: Write) -> None:
    aliased.items.alias("p", "a1", "b1", "b2")
    aliased.import_file(write(B, "b.csv"), "p")
    assert aliased.items.unalias("p", "b1", "b1") == 1
    later = write("item,annotator,category\n b1,cem,y\n b2,cem,y")
    aliased.import_file(later, "p")
    found = [row[:2] for row in standing(aliased)]
    assert found == [("a1", "ann"), ("a1", "bob"), ("a1", "cem"), ("a2", "ann"), ("b1", "cem")]
    with pytest.raises(NotFound, match="is no other key of an item of 'p'"):
        aliased.items.unalias("p", "a2")
    undo(aliased, 3)
    aliased.items.alias("p", "a2", "b1")
    assert aliased.items.show("p", "b1").name == "a2"
    assert aliased.verify("p").passed


def test_a_file_of_pairs_is_one_change(aliased: Ledger, write: Write) -> None:
    pairs = write("alias,item\n b1,a1\n b2,a2\n b1,a1\n c1,b1")
    with pytest.raises(Refused, match="line 5: there is no item 'b1'"):
        aliased.items.alias_file("p", pairs)
    pairs = write("alias,item\n b1,a1\n b2,a2\n b1,a1")
    assert [aliased.items.alias_file("p", pairs) for _ in "12"] == [2, 0]
    with pytest.raises(Refused, match="line 2: 'b1' is no other key of 'a2'"):
        aliased.items.unalias_file("p", write("item,alias\n a2,b1"))
    assert aliased.items.unalias_file("p", pairs) == 2
    with aliased.reading("p") as (connection, _):
        held = connection.execute(select(ItemAlias.from_change, ItemAlias.to_change)).all()
    assert [tuple(one) for one in held] == [(3, 4), (3, 4)]
    for text, message in (
        ("item,alias\n a1,b1\n a2,b1", "line 3: 'b1' is another key of 'a2' here, and of 'a1' on"),
        ("item,other\n a1,b1", "it needs the columns item and alias, and no others"),
        ("item,alias", "has no rows below its header"),
        ("item,alias\n ,b1", "line 2: the item's name is empty"),
        ("item,alias\n a1,b1,c1", "line 2: 3 cells where the header has 2"),
    ):
        with pytest.raises(Refused, match=message):
            aliased.items.alias_file("p", write(text))


def test_statements_do_not_grow_with_the_pairs(sqlite_ledger: Ledger, write: Write) -> None:
    counted = []
    for number in (3, 60):
        name, items = f"of {number}", range(number)
        sqlite_ledger.import_items(write([["item"], *([f"a{n}"] for n in items)]), name)
        pairs = write([("item", "alias"), *((f"a{n}", f"b{n}") for n in items)])
        with count_statements(sqlite_ledger.database.engine) as statements:
            assert sqlite_ledger.items.alias_file(name, pairs) == number
            assert sqlite_ledger.items.unalias_file(name, pairs) == number
        counted.append(statements.number)
    assert counted[0] == counted[1]
