"""Annotators who look like one person: suggested, with what they answered both."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import SEVERAL, count_statements, csv_text
from tests.profiles import examples
from tracker.ledger import Ledger

Write = Callable[..., Path]
HEAD = ("item", "annotator", "category")


def suggested(ledger: Ledger, project: str = "p") -> set[tuple[str, str]]:
    return {(one.name, one.into) for one in ledger.annotators.duplicates(project)}


def fill(
    ledger: Ledger, write: Write, rows: list[tuple[str, ...]], project: str = "p", **how: Any
) -> None:
    ledger.import_file(write(csv_text([HEAD, *rows])), project, **how)


ALIKE = [
    ("Ada Lovelace", "ada_lovelace", "the same name"),
    ("Lovelace, Ada", "ada.lovelace", "the same name"),
    ("Zoë", "ZOE", "the same name"),
    ("ada.lovelace@a.example", "Ada Lovelace", "that of the e-mail"),
    ("ada+work@a.example", "ada", "that of the e-mail"),
    ("ada@a.example", "ada@b.example", "two e-mail addresses"),
    ("17", "ada@b.example", "a number and an e-mail"),
]
UNLIKE = [
    ("ada", "adam"),
    ("ada@x.example", "adam@x.example"),
    ("1", "11"),
    ("1", "ada"),
    ("!", "?"),
]


def test_names_that_look_alike_are_suggested_with_the_reason(
    sqlite_ledger: Ledger, write: Write
) -> None:
    for name, other, why in ALIKE:
        rows = [("1", name, "x"), ("2", other, "x"), ("2", "bob", "x")]
        fill(sqlite_ledger, write, rows, name)
        (found,) = sqlite_ledger.annotators.duplicates(name)
        assert {found.name, found.into} == {name, other}
        assert why in found.why, name
    for name, other in UNLIKE:
        fill(sqlite_ledger, write, [("1", name, "x"), ("2", other, "x")], f"{name} {other}")
        assert suggested(sqlite_ledger, f"{name} {other}") == set(), (name, other)


def test_suggestion_follows_the_fuller_name_and_names_no_two_people(
    sqlite_ledger: Ledger, write: Write
) -> None:
    for goes, stays in (
        ("ann", "Ann Lee"), ("A. Lee", "Ann Lee"), ("17", "ann@b.example"), ("Jörg", "Joerg"),
    ):  # fmt: skip
        more = {"Joerg": stays}.get(stays, goes)  # a name that is not fuller stays by its answers
        fill(sqlite_ledger, write, [("1", goes, "x"), ("2", stays, "x"), ("3", more, "x")], goes)
        assert suggested(sqlite_ledger, goes) == {(goes, stays)}
    people = ("ann", "Ann Lee", "Ann Smith")  # a first name of two people
    fill(sqlite_ledger, write, [("1", name, "x") for name in people], "first names")
    assert suggested(sqlite_ledger, "first names") == set()
    fill(sqlite_ledger, write, [("1", "ada", "x"), ("2", "Ada", "x")], "kinds")
    sqlite_ledger.annotators.kind("kinds", "Ada", "model")
    assert suggested(sqlite_ledger, "kinds") == set()
    rows = [("1", "7", "x"), ("2", "ada@x.example", "x"), ("1", "bob@x.example", "x")]
    fill(sqlite_ledger, write, rows)
    # 7 and bob answered the same item
    assert suggested(sqlite_ledger) == {("7", "ada@x.example")}
    fill(sqlite_ledger, write, [("3", "8", "x")])
    assert suggested(sqlite_ledger) == set(), "ada may be 7 or 8"


def test_answers_that_both_gave_are_counted_over_all_questions(
    ledger: Ledger, write: Write
) -> None:
    tone = [("1", "Ada", "x"), ("1", "ada", "x"), ("2", "Ada", "x"), ("2", "ada", "y"),
            ("3", "Ada", "x"), ("3", "ada", "")]  # fmt: skip
    tags = [("1", "Ada", "x"), ("1", "Ada", "y"), ("1", "ada", "y"), ("1", "ada", "x"),
            ("2", "Ada", "x"), ("2", "Ada", "y"), ("2", "ada", "x"), ("4", "ada", "x")]  # fmt: skip
    fill(ledger, write, tone, questions=["tone"])
    fill(ledger, write, tags, questions=["tags"], options=SEVERAL)
    (found,) = ledger.annotators.duplicates("p")
    assert (found.common.answers, found.common.different) == (5, 3)
    assert ledger.annotators.common("p", "ada", "Ada") == found.common
    ledger.annotators.merge("p", found.name, found.into)
    assert suggested(ledger) == set()
    assert len(ledger.export_frame("p")) == 3 + 2 + 1 + 1
    ledger.annotators.split("p", found.name)
    assert len(ledger.annotators.duplicates("p")) == 1


_names = st.lists(st.text("aB.@1 ", min_size=1, max_size=4).filter(str.strip), max_size=8)


@examples(8)
@given(_names)
def test_nobody_is_their_own_duplicate(
    sqlite_ledger: Ledger, write: Write, names: list[str]
) -> None:
    project = f"p{len(sqlite_ledger.projects.list())}"
    rows = [(str(n), name, "x") for n, name in enumerate(names)] + [("x", "bob", "x")]
    sqlite_ledger.import_file(write(csv_text([HEAD, *rows])), project)
    found = sqlite_ledger.annotators.duplicates(project)
    pairs = [frozenset((one.name, one.into)) for one in found]
    assert all(len(pair) == 2 for pair in pairs)
    assert len(set(pairs)) == len(pairs)


def test_the_number_of_statements_does_not_depend_on_the_people(
    ledger: Ledger, write: Write
) -> None:
    numbers = []
    for n in (2, 20):
        fill(ledger, write, [(str(k), f"{word}{k}", "x") for k in range(n) for word in ("a", "A")])
        with count_statements(ledger.database.engine) as counted:
            assert len(ledger.annotators.duplicates("p")) == n
        numbers.append(counted.number)
    assert numbers[0] == numbers[1]
