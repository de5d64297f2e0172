"""The ledger as it was, against a plain one that forgets nothing; and what hides it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy import Connection

from tests.audit.flags.found import Seen, acted, record
from tests.helpers import SEVERAL, Write, count_statements, question_of, undo
from tests.imports.test_against_a_plain_ledger import standing
from tests.profiles import examples, on_sqlite
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
from tracker.agreement.query import Query
from tracker.agreement.run import assess
from tracker.audit.flag_list import list_flags
from tracker.audit.query import AuditQuery
from tracker.audit.run import audit_project
from tracker.core import clock
from tracker.core.errors import InvalidOption
from tracker.counts.filter import make_answer_filter
from tracker.export.labels import exported_labels
from tracker.history.status import project_status
from tracker.imports.undo import list_imports
from tracker.ledger import Ledger
from tracker.projects.annotators import list_annotators
from tracker.projects.questions import QuestionInfo, QuestionOptions
from tracker.storage.as_of import (
    Moment,
    as_it_was,
    moment_as_of,
    shadow_item_ids,
    shadow_tables_of_items,
)

Look = tuple[float | None, float | None]  # as of, known at: seconds into the script


def follow(ledger: Ledger, now: Clock, kind: str, script: list[Step], looks: list[Look]) -> None:
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


HEADER = "item,annotator,category\n"


@pytest.fixture
def twice(ledger: Ledger, write: Write) -> Ledger:
    """A project with a label that was revised, and annotators who are one."""
    ledger.import_file(write(HEADER + "i,A,x\n i,B,y"), "p")
    ledger.import_file(write(HEADER + "i,A,y\n i,C,y"), "p")
    ledger.annotators.merge("p", "B", "C")
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


def test_a_look_back_takes_as_many_statements_whatever_there_is(
    sqlite_ledger: Ledger, write: Write
) -> None:
    sent = []
    for size in (3, 90):
        rows = "\n".join(f"i{n},A{n // 3},x\n i{n},B,x" for n in range(size))
        name = f"of {size}"
        for category in "xy":
            sqlite_ledger.import_file(write(HEADER + rows.replace("x", category)), name)
        for n in range(0, size // 3, 9):
            sqlite_ledger.annotators.merge(name, f"A{n}", "B")
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
    """Of one answer under two names of a file, the last."""
    sqlite_ledger.import_file(write(HEADER + "i,A,x"), "p", options=SEVERAL)
    sqlite_ledger.annotators.alias("p", "A", "Ada")
    sqlite_ledger.import_file(write(HEADER + "i,A,y\n i,Ada,z"), "p")
    with sqlite_ledger.asking("p") as (connection, question):
        assert seen(connection, question) == ["Az"]
        with as_it_was(connection, question.project_id, Moment(through=4)):
            assert seen(connection, question) == ["Az"]


DECLARED = QuestionOptions(categories=("x", "y", "z"), wanted=3)
TIMED = "item,annotator,category,labeled_at\n"


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def when(seconds: float) -> str:
    return clock.iso(at(seconds))


def answers(*rows: str) -> str:
    """Rows such as "iAx3": item, annotator, category, and the second; without one, no time."""
    told = [[*row[:3], when(float(row[3:])) if row[3:] else ""] for row in rows]
    return TIMED + "\n".join(",".join(row) for row in told)


def everything(ledger: Ledger, project: str = "p", *, audit: bool = True, **then: Any) -> Any:
    """Return all that is told of a project, except for what says which state it was."""
    choice = make_answer_filter(**then)
    with ledger.asking(project, choice) as (connection, question):
        flags = [(one.flag, one.state) for one in list_flags(connection, question.project)]
        labels = list(exported_labels(connection, question, choice=choice))
        results = {
            "agreement": assess(connection, question, Query(filter=choice)).to_dict(),
            "status": project_status(connection, question).to_dict(),
        }
        if audit:
            query = AuditQuery(filter=choice)
            results["audit"] = audit_project(connection, question, query).to_dict()
    for result in results.values():
        for name in ("project", "selection", "as_of"):
            result.pop(name, None)
    return results | {"labels": labels, "flags": flags}


AUDITED = {9}
"""The changes of a story after which audits are told, too."""


@on_sqlite
def test_what_was_told_at_each_change_is_told_of_it_later(
    ledger: Ledger, write: Write, now: Clock
) -> None:
    def take(*rows: str) -> int | None:
        return ledger.import_file(write(answers(*rows)), "p", options=DECLARED).id

    numbers: list[int | None] = []
    story: list[Callable[[], object]] = [
        lambda: numbers.append(take("iAx", "iBx", "iCy", "jAx", "jBy", "jCy0.2")),
        lambda: numbers.append(take("iAy", "jCx0.1", "kAz", "kBz", "kCz")),
        lambda: record(ledger, Seen(1), Seen(2)),
        lambda: ledger.annotators.kind("p", "C", "model"),
        lambda: undo(ledger, numbers[0]),
        lambda: ledger.annotators.kind("p", "C", "human"),
        lambda: acted(ledger, "dismiss", 1),
        lambda: ledger.annotators.merge("p", "A", "B"),
        lambda: numbers.append(take("iAz", "jBz")),
        lambda: ledger.annotators.split("p", "A"),
        lambda: undo(ledger, numbers[1]),
    ]
    told = []
    for second, step in enumerate(story, 1):
        now.moment = at(second)
        step()
        told.append(everything(ledger, audit=second in AUDITED))
    assert all(before != after for before, after in pairwise(told))
    assert [one["status"]["open_flags"] for one in told] == [0, 0, *[2] * 4, *[1] * 5]
    now.moment = at(len(story) + 1)
    for second, then in enumerate(told, 1):
        known = when(second + 0.5)
        assert everything(ledger, audit=second in AUDITED, known_at=known) == then, second
    assert everything(ledger, audit=False) == told[-1]


@on_sqlite
def test_on_the_clock_of_labelling_it_is_as_if_later_answers_never_were(
    ledger: Ledger, write: Write, now: Clock
) -> None:
    rows = ["iAx1", "iBx2", "iAy3", "jAy2.5", "jBy3", "jCy4", "iCx4.5", "jAx5", "iBx4"]
    now.moment = at(6)
    ledger.import_file(write(answers(*rows)), "p", options=DECLARED)
    for second in (2.7, 4.2):
        given = [row for row in rows if float(row[3:]) <= second]
        project = f"until {second}"
        ledger.import_file(write(answers(*given)), project, options=DECLARED)
        then, alone = everything(ledger, as_of=when(second)), everything(ledger, project)
        for told in (then, alone):
            told["status"].pop("last_import")
        assert then == alone, second
    assert everything(ledger, as_of=when(5)) == everything(ledger)


@on_sqlite
def test_imports_kinds_and_names_are_those_that_were_known(
    ledger: Ledger, write: Write, now: Clock
) -> None:
    now.moment = at(1)
    ledger.import_file(write(answers("iAx0.1", "iBx0.5")), "p")
    now.moment = at(2)
    number = ledger.import_file(write("item,annotator,category,kind\nj,A,x,model\nj,B,x,"), "p").id
    now.moment = at(3)
    undo(ledger, number)
    ledger.annotators.rename("p", "A", "Ada")
    record(ledger, Seen(1))
    now.moment = at(4)

    def listed(**then: Any) -> tuple[list[bool], list[str]]:
        with ledger.asking("p", make_answer_filter(**then)) as (connection, question):
            imports = list_imports(connection, question.project_id)
            people = list_annotators(connection, question.project)
        return [each.undone_at is not None for each in imports], [each.kind for each in people]

    human = ["human", "human"]
    assert listed() == listed(known_at=when(3)) == ([False, True], human)
    assert listed(known_at=when(2.5)) == ([False, False], ["model", "human"])
    assert listed(known_at=when(0.5)) == ([], [])
    assert listed(as_of=when(0.7))[0] == [False, True], "this clock knows nothing of imports"
    for name in ("A", "Ada"):
        figures = ledger.agreement("p", annotators=[name, "B"], known_at=when(1.5))
        assert figures.counts.annotators == 2, name
    flagged = [ledger.agreement("p", exclude_flagged=True, known_at=when(second)).counts.annotators
               for second in (1.5, 3.5)]  # fmt: skip
    assert flagged == [2, 1]


@on_sqlite
def test_notices_tell_of_labels_without_a_time_and_of_erasures(
    ledger: Ledger, write: Write, now: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    now.moment = at(1)
    ledger.import_file(write(answers("iAx", "iBx0.5", "jAx", "jBx")), "p")
    notices: list[str] = []
    monkeypatch.setattr(ledger, "notice", notices.append)
    ledger.agreement("p", known_at=when(1))
    assert notices == []
    assert ledger.agreement("p", as_of=when(0.7)).counts.answers == 1
    ledger.snapshot("p", as_of=when(1))
    notice = "3 of 4 labels have no time of their own: they count from when they were recorded"
    assert notices == [notice] * 2
    now.moment = at(2)
    ledger.annotators.erase("p", "B")
    notices.clear()
    ledger.agreement("p", known_at=when(2))
    assert notices == []
    assert ledger.agreement("p", known_at=when(1.5)).counts.answers == 2
    assert notices == ["answers that were known then have been erased since: they are in no figure"]


@on_sqlite
def test_moments_that_cannot_be_are_refused(ledger: Ledger, write: Write, now: Clock) -> None:
    now.moment = at(5)
    ledger.import_file(write(answers("iAx", "iBx0.5")), "p")
    today = when(5)[:10]
    now_filter = make_answer_filter(as_of=when(5), known_at=when(5))
    assert make_answer_filter(as_of=today, known_at=today) == now_filter
    for option in ("as_of", "known_at"):
        for moment in (when(6), "2999-01-01", "now and then"):
            with pytest.raises(InvalidOption, match=f"--{option.replace('_', '-')}"):
                ledger.agreement("p", **{option: moment})
        with pytest.raises(InvalidOption, match="findings of the past are not recorded"):
            ledger.audit("p", record=True, **{option: when(5)})
    with pytest.raises(InvalidOption, match="known"):
        ledger.snapshot("p", known_at=when(1))
