"""Annotators suggested as one, merged, split and erased: as if names had always been right."""

from __future__ import annotations

import re
from typing import Any

import pytest
from sqlalchemy import select

from tests.audit.flags.found import Seen, listed, record
from tests.helpers import SEVERAL, SPANS, Write, count_statements, give, standing, stored, undo
from tracker.agreement.run import assess
from tracker.audit.run import audit_project
from tracker.core.errors import InvalidOption, NotFound
from tracker.ledger import Ledger
from tracker.storage.schema import Base

HEADER = "item,annotator,category,labeled_at\n"
# Ann and "ann b" are one: on i and j she answered under both names, at different times.
FILES = (
    HEADER + "i,ann,x,1\n i,bob,y,1\n j,ann b,y,2\n j,bob,x,2\n k,ann,x,3\n k,cat,x,3",
    HEADER + "i,ann b,y,4\n i,cat,x,4\n j,ann,x,1\n l,ann b,x,4\n l,bob,y,4\n k,bob,x,4",
    HEADER + "k,ann b,y,2\n m,ann,y,5\n m,ann b,x,6\n m,cat,x,5\n l,bob,x,5",
)
SAME = ("item", "annotator", "category", "labeled_at")


def names(ledger: Ledger, project: str = "p") -> dict[str, tuple[str, ...]]:
    people = [row.annotator for row in ledger.annotators.list(project)]
    return {one.name: one.aliases for one in people}


def told(ledger: Ledger, project: str = "p") -> dict[str, Any]:
    with ledger.asking(project) as (connection, question):
        people = audit_project(connection, question).to_dict()["annotators"]
        return rounded(assess(connection, question).figures() | {"people": people})


def rounded(value: Any) -> Any:
    """JSON without the digits that the order of a sum decides, which a server may choose."""
    if isinstance(value, float):
        return round(value, 12)
    if isinstance(value, dict):
        return {name: rounded(one) for name, one in value.items()}
    return [rounded(one) for one in value] if isinstance(value, list) else value


def take(ledger: Ledger, write: Write, project: str, *files: str, **how: Any) -> list[Any]:
    return [ledger.import_file(write(text), project, **how).id for text in files]


def test_whole_answers_of_spans_are_merged(ledger: Ledger, write: Write) -> None:
    header = "item,annotator,category,start,end\n"
    rows = ("i,ann,x,0,3\n i,ann,y,5,7", "i,bob,x,1,3", "i,ann b,,,\n j,ann b,y,0,9")
    take(ledger, write, "p", *(header + row for row in rows), options=SPANS)
    before = standing(ledger)
    ledger.annotators.merge("p", "ann b", "ann")
    right = (header + row.replace("ann b", "ann") for row in rows)
    take(ledger, write, "right", *right, options=SPANS)
    assert standing(ledger) == standing(ledger, "right")
    assert ledger.agreement("p").figures() == ledger.agreement("right").figures()
    ledger.annotators.split("p", "ann b")
    assert standing(ledger) == before


def test_aliases_go_where_their_annotator_goes(sqlite_ledger: Ledger, write: Write) -> None:
    take(sqlite_ledger, write, "p", FILES[0])
    sqlite_ledger.annotators.alias("p", "ann b", "anna")
    sqlite_ledger.annotators.merge("p", "ann b", "ann")
    assert names(sqlite_ledger) == {"ann": ("ann b", "anna"), "bob": (), "cat": ()}
    sqlite_ledger.annotators.merge("p", "anna", "cat")  # whoever an alias is of is meant
    assert names(sqlite_ledger) == {"bob": (), "cat": ("ann", "ann b", "anna")}
    sqlite_ledger.annotators.split("p", "ann b")
    assert names(sqlite_ledger) == {"ann b": (), "bob": (), "cat": ("ann", "anna")}
    assert {row[1] for row in standing(sqlite_ledger)} == {"ann b", "bob", "cat"}
    take(sqlite_ledger, write, "p", HEADER + "n,anna,x,9\n n,ann b,y,9")
    later = [row[1:] for row in standing(sqlite_ledger) if row[0] == "n"]
    assert later == [("ann b", "y"), ("cat", "x")]


def test_split_gives_back_what_was_merged_and_came_in_between(ledger: Ledger, write: Write) -> None:
    take(ledger, write, "p", FILES[0])
    take(ledger, write, "q", *FILES)
    take(ledger, write, "one", *(text.replace("ann b", "ann") for text in FILES[:2]))
    other = standing(ledger, "q", *SAME)
    ledger.annotators.merge("p", "ann b", "ann")
    take(ledger, write, "p", FILES[1])
    assert standing(ledger, "p", *SAME) == standing(ledger, "one", *SAME)
    assert told(ledger) == told(ledger, "one")
    ledger.annotators.split("p", "ann b")
    take(ledger, write, "p", FILES[2])
    assert standing(ledger, "p", *SAME) == standing(ledger, "q", *SAME)
    assert told(ledger) == told(ledger, "q")
    ledger.annotators.merge("p", "ann b", "ann")
    take(ledger, write, "p", HEADER + "n,ann,x,7\n n,ann b,x,7")
    ledger.annotators.split("p", "ann b")
    assert [row[1] for row in standing(ledger) if row[0] == "n"] == ["ann", "ann b"]
    ledger.annotators.erase("p", "cat")
    assert standing(ledger, "q", *SAME) == other, "another project is left alone"
    assert ledger.database.check() == []


def test_who_was_flagged_under_another_name_is_flagged(sqlite_ledger: Ledger, write: Write) -> None:
    take(sqlite_ledger, write, "p", FILES[0])
    record(sqlite_ledger, Seen(3))
    sqlite_ledger.annotators.merge("p", "ann b", "ann")
    found = sqlite_ledger.agreement("p", exclude_flagged=True)
    assert (found.selection or {})["excluded"] == ["ann"]


def test_pairs_are_merged_by_one_change_and_as_many_statements_as_one(
    sqlite_ledger: Ledger, write: Write
) -> None:
    ledger = sqlite_ledger
    rows = "".join(f"i{n},{who}{n},x,1\n" for n in range(9) for who in ("a", "b", "c"))
    take(ledger, write, "p", HEADER + rows)
    counts = []
    for some in (range(1), range(1, 9)):
        pairs = [(f"{one}{n}", f"{other}{n}") for n in some for one, other in ("ab", "bc")]
        with count_statements(ledger.database.engine) as counted:
            assert len(ledger.annotators.merge_pairs("p", pairs)) == len(pairs)
        counts.append(counted.number)
    assert counts[0] == counts[1]
    assert names(ledger) == {f"c{n}": (f"a{n}", f"b{n}") for n in range(9)}
    assert {row[1] for row in standing(ledger)} == {f"c{n}" for n in range(9)}
    assert [act.kind for act in ledger.projects.changes("p").acts][:2] == ["merge annotators"] * 2
    assert ledger.verify("p").passed
    assert ledger.database.check() == []


def test_after_an_erasure_the_figures_are_those_without_the_answers(
    ledger: Ledger, write: Write
) -> None:
    take(ledger, write, "p", *FILES)
    ledger.annotators.merge("p", "ann b", "ann")
    ledger.annotators.erase("p", "ann b")
    take(ledger, write, "right", *(re.sub(r"\n ?\w,ann( b)?,.*", "", text) for text in FILES))
    assert standing(ledger, "p", *SAME) == standing(ledger, "right", *SAME)
    assert told(ledger) == told(ledger, "right")
    assert ledger.database.check() == []
    take(ledger, write, "p", HEADER + "n,ann,x,9")
    assert ("n", "ann", "x") in standing(ledger), "who comes under the name is somebody new"


def test_erasure_leaves_a_number(sqlite_ledger: Ledger, write: Write) -> None:
    """Whatever was done with the name: it stands in no row of the database."""
    ledger, name, other, third = sqlite_ledger, "wilhelmina", "wilma", "helmi"
    text = f"{HEADER}i,{name},x,1\n i,bob,y,1\n j,{name},x,1\n j,{third},y,1\n j,bob,x,1"
    imports = take(ledger, write, "p", text, text.replace(",1", ",2").replace("x,", "y,"))
    record(ledger, Seen(1), Seen(1, kind="copying", other=2))
    undo(ledger, imports[1])
    ledger.annotators.rename("p", name, other)
    ledger.annotators.alias("p", other, "billie")
    ledger.annotators.merge("p", third, other)
    ledger.annotators.kind("p", other, "model")
    taken = ledger.snapshot("p", annotators=[other, "bob"])
    ledger.annotators.erase("p", other)
    with ledger.database.read() as connection:
        rows = [(table.name, row) for table in Base.metadata.tables.values()
                for row in connection.execute(select(table))]  # fmt: skip
    erased = (name, other, third, "billie")
    assert [row for row in rows if any(who in str(row) for who in erased)] == []
    assert set(names(ledger)) == {"bob", "erased 1"}
    answers = [row for table, row in rows if table in {"labels", "past_labels"}]
    assert {(row.annotator_id, row.given_as) for row in answers} == {(2, 2)}
    assert len(listed(ledger)) == 2
    (snapshot,) = ledger.history("p").snapshots
    assert snapshot.assessment.figures() == taken.assessment.figures()
    assert (snapshot.assessment.selection or {})["annotators"] == ["bob", "erased 1"]
    take(ledger, write, "q", HEADER + "i,ann,x,1\n i,erased 1,y,1")
    ledger.annotators.erase("q", "ann")
    assert {row[1] for row in standing(ledger, "q")} == {"erased 1"}, "the number was taken"


REFUSED: list[tuple[str, tuple[str, ...], type[Exception], str]] = [
    ("merge", ("an", "ann"), NotFound, r"no annotator 'an' in 'p'\ndid you mean"),
    ("merge", ("ann", "nobody"), NotFound, "no annotator 'nobody'"),
    ("merge", ("anna", "ann"), InvalidOption, "are already one annotator"),
    ("merge", ("cat", "ann"), InvalidOption, "'cat' is a model annotator, 'ann' a"),
    ("split", ("ann",), NotFound, r"'ann' is not an alias.*\n'ann' has the aliases: anna"),
    ("split", ("bob",), NotFound, r"'bob' is not an alias of another annotator$"),
    ("erase", ("bib",), NotFound, "no annotator 'bib'"),
]


def test_what_cannot_be_done_says_why_and_changes_nothing(
    sqlite_ledger: Ledger, write: Write
) -> None:
    take(sqlite_ledger, write, "p", FILES[0])
    sqlite_ledger.annotators.alias("p", "ann", "anna")
    sqlite_ledger.annotators.kind("p", "cat", "model")
    before = stored(sqlite_ledger)
    for act, given, error, message in REFUSED:
        with pytest.raises(error, match=message):
            getattr(sqlite_ledger.annotators, act)("p", *given)
    assert stored(sqlite_ledger) == before


def suggested(ledger: Ledger, project: str = "p") -> set[tuple[str, str]]:
    return {(one.name, one.into) for one in ledger.annotators.duplicates(project)}


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


def test_names_that_look_alike_are_suggested_with_the_reason(sqlite_ledger: Ledger) -> None:
    for name, other, why in ALIKE:
        rows = [("1", name, "x"), ("2", other, "x"), ("2", "bob", "x")]
        give(sqlite_ledger, rows, name)
        (found,) = sqlite_ledger.annotators.duplicates(name)
        assert {found.name, found.into} == {name, other}
        assert why in found.why, name
    for name, other in UNLIKE:
        give(sqlite_ledger, [("1", name, "x"), ("2", other, "x")], f"{name} {other}")
        assert suggested(sqlite_ledger, f"{name} {other}") == set(), (name, other)


def test_suggestion_follows_the_fuller_name_and_names_no_two_people(sqlite_ledger: Ledger) -> None:
    for goes, stays in (
        ("ann", "Ann Lee"), ("A. Lee", "Ann Lee"), ("17", "ann@b.example"), ("Jörg", "Joerg"),
    ):  # fmt: skip
        more = {"Joerg": stays}.get(stays, goes)  # a name that is not fuller stays by its answers
        give(sqlite_ledger, [("1", goes, "x"), ("2", stays, "x"), ("3", more, "x")], goes)
        assert suggested(sqlite_ledger, goes) == {(goes, stays)}
    people = ("ann", "Ann Lee", "Ann Smith")  # a first name of two people
    give(sqlite_ledger, [("1", name, "x") for name in people], "first names")
    assert suggested(sqlite_ledger, "first names") == set()
    give(sqlite_ledger, [("1", "ada", "x"), ("2", "Ada", "x")], "kinds")
    sqlite_ledger.annotators.kind("kinds", "Ada", "model")
    assert suggested(sqlite_ledger, "kinds") == set()
    rows = [("1", "7", "x"), ("2", "ada@x.example", "x"), ("1", "bob@x.example", "x")]
    give(sqlite_ledger, rows)
    # 7 and bob answered the same item
    assert suggested(sqlite_ledger) == {("7", "ada@x.example")}
    give(sqlite_ledger, [("3", "8", "x")])
    assert suggested(sqlite_ledger) == set(), "ada may be 7 or 8"


def test_answers_that_both_gave_are_counted_over_all_questions(ledger: Ledger) -> None:
    tone = [("1", "Ada", "x"), ("1", "ada", "x"), ("2", "Ada", "x"), ("2", "ada", "y"),
            ("3", "Ada", "x"), ("3", "ada", "")]  # fmt: skip
    tags = [("1", "Ada", "x"), ("1", "Ada", "y"), ("1", "ada", "y"), ("1", "ada", "x"),
            ("2", "Ada", "x"), ("2", "Ada", "y"), ("2", "ada", "x"), ("4", "ada", "x")]  # fmt: skip
    give(ledger, tone, questions=["tone"], empty="skipped")
    give(ledger, tags, questions=["tags"], options=SEVERAL)
    (found,) = ledger.annotators.duplicates("p")
    assert (found.common.answers, found.common.different) == (5, 3)
    assert ledger.annotators.common("p", "ada", "Ada") == found.common


def test_the_number_of_statements_does_not_depend_on_the_people(ledger: Ledger) -> None:
    numbers = []
    for n in (2, 20):
        give(ledger, [(str(k), f"{word}{k}", "x") for k in range(n) for word in ("a", "A")])
        with count_statements(ledger.database.engine) as counted:
            assert len(ledger.annotators.duplicates("p")) == n
        numbers.append(counted.number)
    assert numbers[0] == numbers[1]
