"""Two tools' files about the same items, told apart by their keys: as if the keys were the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import standing, undo
from tests.profiles import examples
from tracker.ledger import Ledger

Write = Callable[..., Path]
Rows = Sequence[tuple[int, str, str, int | None]]
PAIRS = {1: "b1", 2: "b2", 3: "b3"}
"""The items that the second tool has under keys of its own; item 4 has none in the first."""


class Script(NamedTuple):
    """The rows of two tools, the order of their imports, and which of these is undone."""

    files: tuple[Rows, Rows]
    order: tuple[int, ...]
    undone: int


def rows(annotators: str) -> st.SearchStrategy[Rows]:
    row = st.tuples(
        st.integers(1, 4),
        st.sampled_from(annotators),
        st.sampled_from("xy"),
        st.none() | st.integers(1, 3),
    )
    return st.lists(row, min_size=1, max_size=6, unique_by=lambda one: one[:2])


scripts = st.builds(
    Script,
    st.tuples(rows("AB"), rows("BC")),
    st.permutations([0, 1, 0, 1]).map(tuple),
    st.integers(0, 3),
)


def follow(ledger: Ledger, write: Write, names: tuple[str, str], script: Script) -> None:
    """Import the same into two projects, in one with the keys of the second tool renamed."""
    for name in names:
        ledger.import_items(write([["item"], ["a1"], ["a2"], ["a3"]]), name)
    pairs = [(f"a{n}", alias) for n, alias in PAIRS.items()]
    ledger.items.alias_file(names[0], write([("item", "alias"), *pairs]))
    imports: list[list[int]] = [[], []]
    for which in script.order:
        for name, made in zip(names, imports, strict=True):
            keys = PAIRS if which and name == names[0] else {n: f"a{n}" for n in PAIRS}
            told = [(keys.get(n, f"own{n}"), *rest) for n, *rest in script.files[which]]
            header = ("item", "annotator", "category", "labeled_at")
            done = ledger.import_file(write([header, *told]), name)
            assert done.id is not None
            made.append(done.id)
    same(ledger, names)
    for made in imports:
        undo(ledger, made[script.undone])
    same(ledger, names)
    assert [ledger.verify(name).ledger for name in names] == [(), ()]
    assert len(ledger.items.show(names[0], "b1").aliases) == 1
    assert ledger.database.check() == []


def same(ledger: Ledger, names: tuple[str, str]) -> None:
    told: list[dict[str, Any]] = []
    for name in names:
        found: dict[str, Any] = {"labels": standing(ledger, name)}
        found["past"] = [
            (label.annotator, label.category, label.state)
            for item in ("a1", "a2", "a3")
            for label in ledger.items.show(name, item).labels
        ]
        listed = [(one.name, one.annotators) for one in ledger.items.list(name)]
        told.append(found | {"items": listed, "agreement": ledger.agreement(name).to_dict()})
        told[-1]["agreement"]["project"] = ""
    assert told[0] == told[1]


numbers = count()


@examples(2)
@given(scripts)
def test_keys_of_their_own_change_nothing(
    sqlite_ledger: Ledger, write: Write, script: Script
) -> None:
    number = next(numbers)
    follow(sqlite_ledger, write, (f"p{number}", f"q{number}"), script)
