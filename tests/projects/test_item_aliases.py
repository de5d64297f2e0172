"""One item under several keys: what is recorded, and what is refused with the way out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import select

from tests.helpers import count_statements, fates, standing, undo
from tracker.core.errors import InvalidOption, NotFound, Refused, TrackerError
from tracker.ledger import Ledger
from tracker.storage.schema import Change, ItemAlias

Write = Callable[..., Path]
A = "item,annotator,category\n a1,ann,x\n a2,ann,y"
B = "item,annotator,category\n b1,bob,x\n b2,bob,x"


@pytest.fixture
def named(ledger: Ledger, write: Write) -> Ledger:
    ledger.import_file(write(A, "a.csv"), "p")
    return ledger


def test_what_comes_under_another_key_is_the_items(named: Ledger, write: Write) -> None:
    assert named.items.alias("p", " a1 ", " b1 ", "c1").aliases == ("b1", "c1")
    named.items.alias("p", "c1", "d1")  # by another key
    assert fates(named.import_file(write(B, "b.csv"), "p")) == {"inserted": 2}
    assert standing(named) == [
        ("a1", "ann", "x"), ("a1", "bob", "x"), ("a2", "ann", "y"), ("b2", "bob", "x"),
    ]  # fmt: skip
    assert named.agreement("p").counts.items_compared == 1
    assert named.items.show("p", "d1") == named.items.show("p", "a1")
    assert [one.to_dict() for one in named.items.list("p", 1)] == [
        {"item": "a1", "annotators": 2, "aliases": ["b1", "c1", "d1"]}
    ]
    registered = named.import_items(write("item\n a1\n d1\n b1\n e1"), "p")
    assert (registered.inserted, registered.unchanged) == (1, 3)
    assert named.verify("p").passed
    assert named.database.check() == []
    rows = write("item,annotator,category\n a1,cem,x\n b1,cem,y")
    with pytest.raises(Refused, match="two different answers for item 'a1': 'x' here"):
        named.import_file(rows, "p")
    for number in (2, 1):
        undo(named, number)
    named.import_file(write(B, "b.csv"), "p")
    assert standing(named) == [("a1", "bob", "x"), ("b2", "bob", "x")], "other keys stay"


def test_an_item_of_its_own_is_one_of_anothers_after_the_commands_told(
    named: Ledger, write: Write
) -> None:
    number = named.import_file(write(B, "b.csv"), "p").id
    with pytest.raises(Refused) as refused:
        named.items.alias("p", "a1", "b1")
    b = write(B, "b.csv")
    assert str(refused.value) == (
        f"'b1' is an item of its own, from import {number}\n"
        f"to make it 'a1': tracker imports undo {number}; tracker item alias -p p a1 b1; "
        f"tracker import {b} -p p"
    )
    undo(named, number)
    named.items.alias("p", "a1", "b1")
    named.import_file(b, "p")
    assert standing(named)[:2] == [("a1", "ann", "x"), ("a1", "bob", "x")]
    assert [one.name for one in named.items.list("p")] == ["a1", "a2", "b2"]
    assert named.items.show("p", "b1").name == "a1"
    assert named.database.check() == []
    named.import_items(write("item\n c1", "items.csv"), "p")  # without an answer
    with pytest.raises(Refused, match=r"from import 4\n.*; tracker item import .*items.csv -p p"):
        named.items.alias("p", "a1", "c1")
    for category in "xy":  # the undo of the later import would let the earlier answer stand again
        named.import_file(write(f"item,annotator,category\n d1,bob,{category}"), "p")
    with pytest.raises(Refused, match="from imports 5, 6\n"):
        named.items.alias("p", "a1", "d1")
    number = named.import_file(write("item,annotator,category\n e1,bob,x"), "p").id
    named.items.alias("p", "e1", "f1")
    undo(named, number)
    with pytest.raises(Refused, match="'e1' has other keys itself"):
        named.items.alias("p", "a1", "e1")
    named.items.unalias("p", "f1")
    assert "f1" in named.items.alias("p", "a1", "e1", "f1").aliases


REFUSED: list[tuple[str, str, type[TrackerError], str]] = [
    ("a9", "b1", NotFound, "there is no item 'a9' in 'p'"),
    ("a1", " a1", InvalidOption, "'a1' and 'a1' are one key"),
    ("k1", "a1", InvalidOption, "'a1' is the item's own key"),
    ("a2", "k1", InvalidOption, "'k1' is another key of 'a1' already"),
    ("a1", " ", InvalidOption, "the alias's name is empty"),
    ("a1", "b\0", InvalidOption, "NUL"),
    ("a1", "b" * 501, InvalidOption, "longer than 500 bytes"),
]


def test_what_cannot_be_another_key_is_refused(named: Ledger, write: Write) -> None:
    named.items.alias("p", "a1", "k1")
    for item, alias, error, told in REFUSED:
        with pytest.raises(error, match=told):
            named.items.alias("p", item, alias)
        if "\0" not in alias:
            with pytest.raises(Refused, match=f"line 2: .*{told}"):
                named.items.alias_file("p", write([("item", "alias"), (item, alias)]))


def test_a_key_that_is_one_no_more(named: Ledger, write: Write) -> None:
    named.items.alias("p", "a1", "b1", "b2")
    named.import_file(write(B, "b.csv"), "p")
    assert named.items.unalias("p", "b1", "b1") == 1
    later = write("item,annotator,category\n b1,cem,y\n b2,cem,y")
    named.import_file(later, "p")
    found = [row[:2] for row in standing(named)]
    assert found == [("a1", "ann"), ("a1", "bob"), ("a1", "cem"), ("a2", "ann"), ("b1", "cem")]
    for name, told in (("b1", "is no other key of an item of 'p'"), ("a2", "is no other key")):
        with pytest.raises(NotFound, match=told):
            named.items.unalias("p", name)
    undo(named, 3)
    named.items.alias("p", "a2", "b1")
    assert named.items.show("p", "b1").name == "a2"
    assert named.verify("p").passed


def test_a_file_of_pairs_is_one_change(named: Ledger, write: Write) -> None:
    pairs = write("alias,item\n b1,a1\n b2,a2\n b1,a1\n c1,b1")
    with pytest.raises(Refused, match="line 5: there is no item 'b1'"):
        named.items.alias_file("p", pairs)
    pairs = write("alias,item\n b1,a1\n b2,a2\n b1,a1")
    assert [named.items.alias_file("p", pairs) for _ in "12"] == [2, 0]
    with pytest.raises(Refused, match="line 2: 'b1' is no other key of 'a2'"):
        named.items.unalias_file("p", write("item,alias\n a2,b1"))
    assert named.items.unalias_file("p", pairs) == 2
    with named.reading("p") as (connection, _):
        kinds = connection.execute(select(Change.id, Change.kind).order_by(Change.id)).all()
        held = connection.execute(select(ItemAlias.from_change, ItemAlias.to_change)).all()
    assert [tuple(one) for one in kinds[2:]] == [(3, "item alias"), (4, "item unalias")]
    assert [tuple(one) for one in held] == [(3, 4), (3, 4)]
    for text, message in (
        ("item,alias\n a1,b1\n a2,b1", "line 3: 'b1' is another key of 'a2' here, and of 'a1' on"),
        (
            "item,other\n a1,b1",
            "it needs the columns item and alias, and no others; it has item, o",
        ),
        ("item,alias", "has no rows below its header"),
        ("item,alias\n ,b1", "line 2: the item's name is empty"),
        ("item,alias\n a1,b1,c1", "line 2: 3 cells where the header has 2"),
    ):
        with pytest.raises(Refused, match=message):
            named.items.alias_file("p", write(text))


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
