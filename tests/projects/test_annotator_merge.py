"""Annotators merged, split and erased: as if the names had been right from the start."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from tests.audit.flags.found import Seen, listed, record
from tests.helpers import SEVERAL, SPANS, count_statements, standing, stored, undo
from tests.profiles import both
from tracker.agreement.run import assess
from tracker.audit.run import audit_project
from tracker.core.errors import InvalidOption, NotFound
from tracker.counts.trail import change_sentence, list_activity
from tracker.history.snapshot import find_snapshot
from tracker.ledger import Ledger
from tracker.projects.annotators import (
    add_annotator_alias,
    annotator_names,
    list_annotators,
    rename_annotator,
    set_annotator_kind,
)
from tracker.projects.identities import erase_annotator, merge_annotators, split_annotator
from tracker.projects.questions import QuestionOptions
from tracker.storage.schema import Base, Change

Write = Callable[..., Path]

HEADER = "item,annotator,category,labeled_at\n"
# Ann and "ann b" are one: on i and j she answered under both names, at different times.
FILES = (
    HEADER + "i,ann,x,1\n i,bob,y,1\n j,ann b,y,2\n j,bob,x,2\n k,ann,x,3\n k,cat,x,3",
    HEADER + "i,ann b,y,4\n i,cat,x,4\n j,ann,x,1\n l,ann b,x,4\n l,bob,y,4\n k,bob,x,4",
    HEADER + "k,ann b,y,2\n m,ann,y,5\n m,ann b,x,6\n m,cat,x,5\n l,bob,x,5",
)
SAME = ("item", "annotator", "category", "labeled_at")


def people(ledger: Ledger, function: Callable[..., Any], *names: str, project: str = "p") -> Any:
    """What a function does to annotators of a project."""
    with ledger.writing(project) as (connection, found):
        return function(connection, found, *names)


def names(ledger: Ledger, project: str = "p") -> dict[str, tuple[str, ...]]:
    with ledger.reading(project) as (connection, found):
        return {one.name: one.aliases for one in list_annotators(connection, found)}


def numbers(ledger: Ledger) -> dict[int, str]:
    with ledger.reading("p") as (connection, found):
        return annotator_names(connection, found)


def told(ledger: Ledger, project: str = "p") -> dict[str, Any]:
    """The figures of a project and of its annotators."""
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


# -- merged --------------------------------------------------------------------------------


@pytest.mark.parametrize("before", [1, 3])
def test_merge_at_any_time_gives_the_figures_of_one_name(
    sqlite_ledger: Ledger, write: Write, before: int
) -> None:
    ledger = sqlite_ledger
    imports = take(ledger, write, "p", *FILES[:before])
    merged = people(ledger, merge_annotators, "ann b", "ann")
    imports += take(ledger, write, "p", *FILES[before:])
    right = take(ledger, write, "right", *(text.replace("ann b", "ann") for text in FILES))
    assert (merged.name, merged.aliases) == ("ann", ("ann b",))
    assert standing(ledger, "p", *SAME) == standing(ledger, "right", *SAME)
    assert told(ledger) == told(ledger, "right")
    assert ledger.database.check() == []
    for numbers in (imports, right):
        undo(ledger, numbers[1])
    assert standing(ledger, "p", *SAME) == standing(ledger, "right", *SAME)


@pytest.mark.parametrize(
    ("options", "columns", "rows"),
    [
        (SEVERAL, "category", ("x\n i,ann,y", "z", "\n j,ann b,x\n j,ann b,y")),
        (SPANS, "category,start,end", ("x,0,3\n i,ann,y,5,7", "x,1,3", ",,\n j,ann b,y,0,9")),
    ],
    ids=["several", "spans"],
)
def test_whole_answers_are_merged(
    ledger: Ledger, write: Write, options: QuestionOptions, columns: str, rows: tuple[str, ...]
) -> None:
    header = f"item,annotator,{columns}\n"
    files = [f"{header}i,{who},{row}" for who, row in zip(("ann", "bob", "ann b"), rows)]  # noqa: B905
    take(ledger, write, "p", *files, options=options)
    before = standing(ledger)
    people(ledger, merge_annotators, "ann b", "ann")
    take(ledger, write, "right", *(text.replace("ann b", "ann") for text in files), options=options)
    assert standing(ledger) == standing(ledger, "right")
    figures = [ledger.agreement(project).figures() for project in ("p", "right")]
    assert figures[0] == figures[1]
    people(ledger, split_annotator, "ann b")
    assert standing(ledger) == before


def test_aliases_go_where_their_annotator_goes(sqlite_ledger: Ledger, write: Write) -> None:
    take(sqlite_ledger, write, "p", FILES[0])
    people(sqlite_ledger, add_annotator_alias, "ann b", "anna")
    people(sqlite_ledger, merge_annotators, "ann b", "ann")
    assert names(sqlite_ledger) == {"ann": ("ann b", "anna"), "bob": (), "cat": ()}
    people(sqlite_ledger, merge_annotators, "anna", "cat")  # whoever an alias is of is meant
    assert names(sqlite_ledger) == {"bob": (), "cat": ("ann", "ann b", "anna")}
    people(sqlite_ledger, split_annotator, "ann b")
    assert names(sqlite_ledger) == {"ann b": (), "bob": (), "cat": ("ann", "anna")}
    assert {row[1] for row in standing(sqlite_ledger)} == {"ann b", "bob", "cat"}
    take(sqlite_ledger, write, "p", HEADER + "n,anna,x,9\n n,ann b,y,9")
    assert [row[1:] for row in standing(sqlite_ledger) if row[0] == "n"] == [
        ("ann b", "y"),
        ("cat", "x"),
    ]


# -- split ---------------------------------------------------------------------------------


@both
def test_split_gives_back_what_was_merged_and_came_in_between(ledger: Ledger, write: Write) -> None:
    take(ledger, write, "p", FILES[0])
    take(ledger, write, "q", *FILES)
    before, figures = standing(ledger, "p", *SAME), told(ledger)
    other = standing(ledger, "q", *SAME)
    people(ledger, merge_annotators, "ann b", "ann")
    assert standing(ledger, "p", *SAME) != before
    free = people(ledger, split_annotator, "ann b")
    assert (free.name, free.aliases) == ("ann b", ())
    assert standing(ledger, "p", *SAME) == before
    assert told(ledger) == figures
    people(ledger, merge_annotators, "ann b", "ann")
    take(ledger, write, "p", FILES[1])
    people(ledger, split_annotator, "ann b")
    take(ledger, write, "p", FILES[2])
    assert standing(ledger, "p", *SAME) == standing(ledger, "q", *SAME)
    assert told(ledger) == told(ledger, "q")
    people(ledger, merge_annotators, "ann b", "ann")
    take(ledger, write, "p", HEADER + "n,ann,x,7\n n,ann b,x,7")
    people(ledger, split_annotator, "ann b")
    assert [row[1] for row in standing(ledger) if row[0] == "n"] == ["ann", "ann b"]
    people(ledger, erase_annotator, "cat")
    assert standing(ledger, "q", *SAME) == other, "another project is left alone"
    with ledger.reading("p") as (connection, project):
        of_project = select(Change.kind, Change.detail).where(Change.project_id == project.id)
        changes = connection.execute(of_project.order_by(Change.id)).all()
    assert [(kind, json.loads(detail)) for kind, detail in changes if "annotator" in kind][-3:] == [
        ("merge annotators", {"annotator": 3, "into": 1}),
        ("split annotator", {"alias": 3, "from": 1}),
        ("erase annotator", {"annotator": 4}),
    ]
    assert ledger.database.check() == []


def test_who_was_flagged_under_another_name_is_flagged(sqlite_ledger: Ledger, write: Write) -> None:
    take(sqlite_ledger, write, "p", FILES[0])
    flagged = {n for n, name in numbers(sqlite_ledger).items() if name == "ann b"}
    record(sqlite_ledger, Seen(*flagged))
    people(sqlite_ledger, merge_annotators, "ann b", "ann")
    found = sqlite_ledger.agreement("p", exclude_flagged=True)
    assert found.selection is not None
    assert found.selection["excluded"] == ["ann"]


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
    with ledger.reading("p") as (connection, found):
        last, first = (change_sentence(one) for one in list_activity(connection, found, 2).acts)
    assert first == "merged a0 into b0, b0 into c0"
    assert last.startswith("merged a1 into b1, b1 into c1, a2 into b2")
    assert ledger.verify("p").passed
    assert ledger.database.check() == []


# -- erased --------------------------------------------------------------------------------


def test_after_an_erasure_the_figures_are_those_without_the_answers(
    ledger: Ledger, write: Write
) -> None:
    take(ledger, write, "p", *FILES)
    people(ledger, merge_annotators, "ann b", "ann")
    answers = sum(row[1] == "ann" for row in standing(ledger))
    assert people(ledger, erase_annotator, "ann b") == answers
    without = [
        "\n".join(
            line for line in text.split("\n") if ",ann," not in line and ",ann b," not in line
        )
        for text in FILES
    ]
    take(ledger, write, "right", *without)
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
    people(ledger, rename_annotator, name, other)
    people(ledger, add_annotator_alias, other, "billie")
    people(ledger, merge_annotators, third, other)
    people(ledger, set_annotator_kind, other, "model")
    taken = ledger.snapshot("p", annotators=[other, "bob"])
    people(ledger, erase_annotator, other)
    with ledger.database.read() as connection:
        rows = [
            (table.name, row)
            for table in Base.metadata.tables.values()
            for row in connection.execute(select(table))
        ]
    erased = (name, other, third, "billie")
    assert [row for row in rows if any(who in str(row) for who in erased)] == []
    assert set(names(ledger)) == {"bob", "erased 1"}
    answers = [row for table, row in rows if table in {"labels", "past_labels"}]
    assert {(row.annotator_id, row.given_as) for row in answers} == {(2, 2)}
    assert len(listed(ledger)) == 2
    with ledger.asking("p") as (connection, question):
        snapshot = find_snapshot(connection, question, 1).assessment
    assert snapshot.figures() == taken.assessment.figures()
    assert snapshot.selection is not None
    assert snapshot.selection["annotators"] == ["bob", "erased 1"]
    take(ledger, write, "q", HEADER + "i,ann,x,1\n i,erased 1,y,1")
    people(ledger, erase_annotator, "ann", project="q")
    assert {row[1] for row in standing(ledger, "q")} == {"erased 1"}, "the number was taken"


# -- what is said and left alone -----------------------------------------------------------


REFUSED: list[tuple[Callable[..., Any], tuple[str, ...], type[Exception], str]] = [
    (merge_annotators, ("an", "ann"), NotFound, r"no annotator 'an' in 'p'\ndid you mean"),
    (merge_annotators, ("ann", "nobody"), NotFound, "no annotator 'nobody'"),
    (merge_annotators, ("ann", " ann "), InvalidOption, "are already one annotator"),
    (merge_annotators, ("anna", "ann"), InvalidOption, "are already one annotator"),
    (merge_annotators, ("cat", "ann"), InvalidOption, "'cat' is a model annotator, 'ann' a"),
    (split_annotator, ("ann",), NotFound, r"'ann' is not an alias.*\n'ann' has the aliases: anna"),
    (split_annotator, ("bob",), NotFound, r"'bob' is not an alias of another annotator$"),
    (split_annotator, ("bib",), NotFound, r"no annotator 'bib'.*\ndid you mean 'bob'"),
    (erase_annotator, ("bib",), NotFound, "no annotator 'bib'"),
]


def test_what_cannot_be_done_says_why_and_changes_nothing(
    sqlite_ledger: Ledger, write: Write
) -> None:
    take(sqlite_ledger, write, "p", FILES[0])
    people(sqlite_ledger, add_annotator_alias, "ann", "anna")
    people(sqlite_ledger, set_annotator_kind, "cat", "model")
    before = stored(sqlite_ledger)
    for function, given, error, message in REFUSED:
        with pytest.raises(error, match=message):
            people(sqlite_ledger, function, *given)
    assert stored(sqlite_ledger) == before
