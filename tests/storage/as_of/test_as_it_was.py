"""The ledger as it was, against a plain one that forgets nothing; and what hides it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy import Connection, func, select

from tests.helpers import SEVERAL, count_statements, question_of
from tests.helpers import standing as standing_frame
from tests.imports.test_against_a_plain_ledger import standing
from tests.profiles import examples
from tests.storage.as_of.plain import (
    BOTH_KINDS,
    Both,
    Clock,
    Merge,
    Split,
    Step,
    Undo,
    at,
    moments,
    steps,
)
from tracker.export.labels import LABEL_COLUMNS, exported_labels
from tracker.ledger import Ledger
from tracker.projects.annotators import add_annotator_alias, list_annotators, set_annotator_kind
from tracker.projects.identities import merge_annotators
from tracker.projects.questions import QuestionInfo
from tracker.storage.as_of import (
    NOW,
    Moment,
    as_it_was,
    moment_as_of,
    shadow_item_ids,
    shadow_tables_of_items,
)
from tracker.storage.schema import Label

Look = tuple[float | None, float | None]  # as of, known at: seconds into the script


def follow(ledger: Ledger, now: Clock, kind: str, script: list[Step], looks: list[Look]) -> None:
    """Take the steps of a script, then look back."""
    with ledger.database.write(keep=False) as connection:
        both = Both(connection, kind, now)
        for step in script:
            both.take(step)
        question, plain = both.question, both.plain
        assert standing(connection, question) == plain.stood()
        for as_of, known_at in [(None, plain.changes), *looks]:
            clocks = [None if moment is None else at(moment) for moment in (as_of, known_at)]
            moment = moment_as_of(connection, question.project_id, *clocks)
            then = plain.stood(as_of, known_at)
            with as_it_was(connection, question.project_id, moment):
                assert standing(connection, question) == then
        of_item = {answer: labels for answer, labels in then.items() if answer[0] == "j"}
        with (
            shadow_item_ids(connection, [2]) as items,
            shadow_tables_of_items(connection, question.project_id, moment, items),
        ):
            assert standing(connection, question) == of_item
        assert standing(connection, question) == plain.stood()


def scripts(kind: str) -> st.SearchStrategy[Any]:
    looks = st.lists(st.tuples(moments, moments), min_size=1, max_size=2)
    return st.tuples(st.lists(steps(kind), min_size=1, max_size=5), looks)


I_A = ("i", "A", 1)
EVERYTHING_AT_ONCE: list[Step] = [
    [{(I_A, 0): frozenset("y"), (("i", "B", 2), None): frozenset("x")}],
    Merge("A", "B"),
    [{(I_A, 2): frozenset()}, {(("i", "B", 1), 2): frozenset("x")}],
    Undo(1),
    Merge("B", "C"),
    Split("A"),
]
EVERY_LOOK: list[Look] = [
    *((None, known_at) for known_at in (0.5, 2, 3, 4, 5, 7, 8)),
    *((as_of, known_at) for as_of in (0.5, 5.0) for known_at in (3, 5, 8)),
]


@BOTH_KINDS
def test_every_state_is_that_of_a_plain_ledger(
    ledger: Ledger, backend: str, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    now = Clock(monkeypatch)

    @examples(6 if backend == "sqlite" else 1)
    @example((EVERYTHING_AT_ONCE, EVERY_LOOK if backend == "sqlite" else EVERY_LOOK[::4]))
    @given(scripts(kind))
    def check(script: tuple[list[Step], list[Look]]) -> None:
        follow(ledger, now, kind, *script)

    check()


# -- what hides it -------------------------------------------------------------------------

Write = Callable[..., Path]
HEADER = "item,annotator,category\n"


@pytest.fixture
def twice(ledger: Ledger, write: Write) -> Ledger:
    """A project with a label that was revised, and annotators who are one."""
    ledger.import_file(write(HEADER + "i,A,x\n i,B,y"), "p")
    ledger.import_file(write(HEADER + "i,A,y\n i,C,y"), "p")
    with ledger.writing("p") as (connection, project):
        merge_annotators(connection, project, "B", "C")
    return ledger


def seen(connection: Connection, question: QuestionInfo) -> list[str]:
    return sorted("".join(row[1:3]) for row in exported_labels(connection, question))


def temporary_tables(connection: Connection) -> int:
    statement = (
        "SELECT count(*) FROM sqlite_temp_master WHERE name NOT LIKE 'sqlite_%'"
        if connection.dialect.name == "sqlite"
        else "SELECT count(*) FROM pg_class WHERE relnamespace = pg_my_temp_schema()"
    )
    return connection.exec_driver_sql(statement).scalar_one()


def test_other_connections_see_the_present_and_pasts_of_their_own(twice: Ledger) -> None:
    with twice.asking("p") as (one, question), twice.reading("p") as (other, _):
        with as_it_was(one, question.project_id, Moment(through=2)):
            assert (seen(one, question), seen(other, question)) == (["Ax", "By"], ["Ay", "Cy"])
            with as_it_was(other, question.project_id, Moment(through=3)):
                assert seen(other, question) == ["Ay", "By", "Cy"]
                assert seen(one, question) == ["Ax", "By"]
            assert seen(other, question) == ["Ay", "Cy"]
        assert seen(one, question) == ["Ay", "Cy"]


def test_look_back_leaves_nothing_also_after_an_error(twice: Ledger) -> None:
    with twice.asking("p") as (connection, question):
        for moment in (Moment(as_of=1), Moment(through=2), Moment(10**18, 3, 10**18)):
            with as_it_was(connection, question.project_id, moment):
                assert temporary_tables(connection) > 1
            with (
                shadow_item_ids(connection, [1]) as items,
                shadow_tables_of_items(connection, question.project_id, moment, items),
            ):
                assert temporary_tables(connection) > 1
            assert temporary_tables(connection) == 0
            assert seen(connection, question) == ["Ay", "Cy"]
        with (
            count_statements(twice.database.engine) as sent,
            as_it_was(connection, question.project_id, NOW),
        ):
            pass
        assert sent.number == 0, "the present is not hidden"
        for through, names in ((2, "AB"), (3, "ABC")):  # before the first merge
            with as_it_was(connection, question.project_id, Moment(through=through)):
                assert "By" in seen(connection, question)
                people = list_annotators(connection, question.project)
                assert [person.name for person in people] == list(names)
    with twice.database.write() as connection:
        question = question_of(connection)
        with (
            suppress(ZeroDivisionError),
            connection.begin_nested(),
            as_it_was(connection, question.project_id, Moment(through=2)),
        ):
            assert seen(connection, question) == ["Ax", "By"]
            raise ZeroDivisionError
        assert seen(connection, question) == ["Ay", "Cy"]
        assert temporary_tables(connection) == 0


def test_plans_that_a_server_keeps_do_not_mix_states(twice: Ledger) -> None:
    answers = select(func.count()).where(Label.project_id == 1)
    with twice.reading("p") as (connection, project):
        for _ in range(3):
            assert {connection.scalar(answers) for _ in range(8)} == {2}
            with as_it_was(connection, project.id, Moment(through=1)):
                assert {connection.scalar(answers) for _ in range(8)} == {0}
        for _ in range(8):
            with shadow_item_ids(connection, [1]) as items:
                for moment, number in ((Moment(through=1), 0), (NOW, 2)):
                    with shadow_tables_of_items(connection, project.id, moment, items):
                        assert connection.scalar(answers) == number


def test_a_look_back_takes_as_many_statements_whatever_there_is(
    sqlite_ledger: Ledger, write: Write
) -> None:
    sent = []
    for size in (3, 300):
        people = range(size // 3)
        rows = "\n".join(f"i{n},A{n % len(people)},x\n i{n},B,x" for n in range(size))
        name = f"of {size}"
        for category in "xy":
            text = HEADER + rows.replace("x", category)
            sqlite_ledger.import_file(write(text), name)
        with sqlite_ledger.writing(name) as (connection, project):
            for a in people[::9]:
                set_annotator_kind(connection, project, f"A{a}", "model")
                set_annotator_kind(connection, project, f"A{a}", "human")
                merge_annotators(connection, project, f"A{a}", "B")
        with sqlite_ledger.reading(name) as (connection, project):
            for moment in (Moment(through=2), Moment(10**18), Moment(10**18, 2, 10**18)):
                with (
                    count_statements(sqlite_ledger.database.engine) as counted,
                    as_it_was(connection, project.id, moment),
                ):
                    pass
                sent.append(counted.number)
    assert sent[:3] == sent[3:]
    assert max(sent) < 70


def test_same_record_stands_now_and_then(sqlite_ledger: Ledger, write: Write) -> None:
    """Of one answer under two names of a file, and of repetitions at the same time, the last."""
    sqlite_ledger.import_file(write(HEADER + "i,A,x"), "p", options=SEVERAL)
    with sqlite_ledger.writing("p") as (connection, project):
        add_annotator_alias(connection, project, "A", "Ada")
    sqlite_ledger.import_file(write(HEADER + "i,A,y\n i,Ada,z"), "p")
    with sqlite_ledger.asking("p") as (connection, question):
        assert seen(connection, question) == ["Az"]
        with as_it_was(connection, question.project_id, Moment(through=4)):
            assert seen(connection, question) == ["Az"]
    header = "item,annotator,category,labeled_at,seconds\n"
    for seconds in (5, 9):
        sqlite_ledger.import_file(write(f"{header}i,A,x,2024-01-01,{seconds}"), "q")
    assert standing_frame(sqlite_ledger, "q", "seconds") == [(9,)]
    with sqlite_ledger.asking("q") as (connection, question):
        with as_it_was(connection, question.project_id, Moment(through=3)):
            rows = list(exported_labels(connection, question))
        assert [row[LABEL_COLUMNS.index("seconds")] for row in rows] == [9]
