"""Snapshots thinned out: what goes, what stays, and that the chain holds."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime

import pytest
from sqlalchemy import Connection, func, select, text
from sqlalchemy.exc import DBAPIError

from tests.audit.flags.found import Seen, record_in
from tests.helpers import AS_THEY_ARE, Write, question_of
from tests.history.scripts import added_up, few_links, plainly, tampering
from tests.storage.as_of.plain import Clock, at
from tracker.agreement.query import Query
from tracker.core import clock
from tracker.core.errors import InvalidOption, NotFound
from tracker.counts.filter import make_answer_filter
from tracker.formats.mappings import parse_column_roles
from tracker.formats.source import STDIN, SourceFile
from tracker.history.overview import snapshot_history
from tracker.history.prune import Fate, Keep, parse_prune_keep, plan_prune, prune_snapshots
from tracker.history.snapshot import find_snapshot
from tracker.history.stored import PARTS
from tracker.history.take import take_snapshot
from tracker.history.verify import verify_snapshots
from tracker.imports.loader import load_import
from tracker.ledger import Ledger
from tracker.projects.projects import purge_project
from tracker.projects.questions import QuestionInfo, QuestionOptions, create_project
from tracker.storage.schema import Change, Snapshot, SnapshotAnnotator, Tombstone

HEADER = "item,annotator,category\n"


def left(fates: Sequence[Fate]) -> list[int]:
    return [fate.id for fate in fates if fate.kept_by is not None]


def test_rules_are_read_or_refused() -> None:
    rules = (Keep("daily", 30), Keep("weekly", 52), Keep("last", 3))
    assert parse_prune_keep("daily:30, weekly:52,last:3") == rules
    for rule in ("", "daily", "daily:", "daily:-1", "daily:1.5", "daily:1234567", "daily:3,"):
        with pytest.raises(InvalidOption, match="is not a rule"):
            parse_prune_keep(rule)


MOMENTS = [  # over the end of a year, whose last week goes on in the next one
    "2026-11-30T23:59:59",
    "2026-12-01T00:00:00",
    "2026-12-27T10:00:00",
    "2026-12-28T00:00:00",
    "2026-12-28T00:30:00",
    "2026-12-31T23:00:00",
    "2027-01-01T01:00:00",
    "2027-01-01T01:59:59",
    "2027-01-03T12:00:00",
    "2027-01-04T00:00:00",
    "2027-01-04T09:00:00",
]
NAMED = 5

PERIODS: dict[str, Callable[[int, datetime], object]] = {
    "last": lambda number, _: number,
    "hourly": lambda _, moment: (moment.date(), moment.hour),
    "daily": lambda _, moment: moment.date(),
    "weekly": lambda _, moment: moment.isocalendar()[:2],
    "monthly": lambda _, moment: (moment.year, moment.month),
    "yearly": lambda _, moment: moment.year,
}


def plainly_kept(keep: Sequence[Keep]) -> set[int]:
    """The newest snapshot of each of the last periods, the named one, and the last."""
    kept = {NAMED, len(MOMENTS)}
    for rule in keep:
        newest = {}
        for number, moment in enumerate(map(datetime.fromisoformat, MOMENTS), 1):
            newest[PERIODS[rule.period](number, moment)] = number
        periods = list(newest)
        kept |= {newest[period] for period in periods[max(len(periods) - rule.number, 0) :]}
    return kept


def test_of_each_of_the_last_periods_the_newest_is_kept(
    ledger: Ledger, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = Clock(monkeypatch)
    for number, moment in enumerate(MOMENTS, 1):
        when = datetime.fromisoformat(moment).replace(tzinfo=UTC)
        now.moment = round(when.timestamp()) * 1_000_000
        if number == 1:
            ledger.import_file(write(HEADER + "i,A,x\n i,B,y"), "p")
        ledger.snapshot("p", name="named" if number == NAMED else None)
    plans = [
        *(f"{period}:{number}" for period in PERIODS for number in (0, 1, 2, 99)),
        "daily:2,weekly:2",
        "hourly:3,monthly:1,last:2",
    ]
    with ledger.asking("p") as (connection, question):
        for rules in plans:
            keep = parse_prune_keep(rules)
            fates = plan_prune(connection, [question], keep)
            assert [fate.id for fate in fates] == list(range(1, len(MOMENTS) + 1))
            assert set(left(fates)) == plainly_kept(keep), rules
        fates = plan_prune(connection, [question], parse_prune_keep("monthly:2"))
    told = {fate.id: fate.kept_by for fate in fates}
    expected = [None, "its name", "monthly:2", "the last"]
    assert [told[number] for number in (1, NAMED, 6, 11)] == expected


def test_points_of_the_past_that_were_taken_later_are_of_their_own_days(
    ledger: Ledger, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two days of snapshots, then those of the three days before, caught up on."""
    now = Clock(monkeypatch)
    day = 24 * 60 * 60
    ledger.import_file(write(HEADER + "i,A,x\n i,B,y"), "p")
    for number in (8, 9):
        now.moment = at(number * day)
        ledger.snapshot("p")
    for number in (5, 6, 7):
        ledger.snapshot("p", as_of=clock.iso(at(number * day)))
    with ledger.asking("p") as (connection, question):
        fates = plan_prune(connection, [question], parse_prune_keep("daily:3"))
    days = {fate.id: (fate.moment - at(0)) // (day * 1_000_000) for fate in fates}
    assert days == {1: 8, 2: 9, 3: 5, 4: 6, 5: 7}
    assert {days[number] for number in left(fates)} == {9, 8, 7}


@pytest.fixture(scope="module")
def recorded(module_ledger: Ledger) -> Ledger:
    """Eight snapshots, three to a base snapshot; the fourth named, the second of other settings."""
    with pytest.MonkeyPatch.context() as patch, module_ledger.database.write() as connection:
        few_links(patch)
        question = create_project(connection, "p", QuestionOptions(categories=("x", "y", "z")))
        answer(connection, *(f"i{n},{who},{'xy'[n % 2]}" for n in range(30) for who in "AB"))
        record_in(connection, question, Seen(1))
        for number in range(1, 9):
            answer(connection, f"i{number},A,z")
            asked = Query(filter=make_answer_filter(annotators=["A"] if number == 2 else []))
            name = "named" if number == 4 else None
            take_snapshot(connection, question, asked, name=name)
    return module_ledger


Taken = tuple[Connection, QuestionInfo]


@pytest.fixture
def taken(recorded: Ledger) -> Iterator[Taken]:
    with recorded.database.write(keep=False) as connection:
        yield connection, question_of(connection)


def answer(connection: Connection, *rows: str) -> None:
    text = HEADER + "\n".join(rows)
    source = SourceFile(STDIN, io.BytesIO(text.encode()))
    question, columns = question_of(connection), parse_column_roles([])
    load_import(connection, question, [source], columns, options=AS_THEY_ARE)


def thin(taken: Taken, rules: str | None = None) -> list[int]:
    return left(prune_snapshots(taken[0], [taken[1]], parse_prune_keep(rules) if rules else ()))


def rows(connection: Connection) -> dict[str, int]:
    """How many rows each table has that hangs on snapshots."""
    tables = (*PARTS, Tombstone.__table__, Change.__table__)
    count = select(func.count())
    return {one.name: connection.scalar(count.select_from(one)) or 0 for one in tables}  # type: ignore[attr-defined]


def test_the_row_stays_and_what_hangs_on_it_goes(taken: Taken) -> None:
    connection, _ = taken
    before = rows(connection)
    figures = {one.id: one.assessment.figures() for one in snapshot_history(*taken)}
    assert thin(taken) == [2, 4, 8]
    after = {one.id: one.assessment.figures() for one in snapshot_history(*taken)}
    assert after == {number: figures[number] for number in (2, 4, 8)}
    numbers = connection.execute(select(Snapshot.id)).scalars().all()
    assert sorted(numbers) == list(range(1, 9))
    for table in ("snapshot_measures", "snapshot_categories", "snapshot_flags"):
        assert rows(connection)[table] == before[table] // 8 * 3
    assert rows(connection)["tombstones"] == 5
    for which, number in (("last", 8), ("last~1", 4), ("last~2", 2), ("named", 4)):
        assert find_snapshot(*taken, which).id == number
    for gone, why in ((3, "snapshot 3 was thinned out"), ("last~3", "no snapshot 'last~3'")):
        with pytest.raises(NotFound, match=why):
            find_snapshot(*taken, gone)
    for table in PARTS[:4]:
        with pytest.raises(DBAPIError, match="append-only"), connection.begin_nested():
            connection.execute(text(f"DELETE FROM {table.name} WHERE snapshot_id = 8"))
    unverified = [
        *(f"UPDATE snapshots SET {change} WHERE id = 3"
          for change in ("labels = 999", "taken_at = 1", "settings = '{}'")),
        "DELETE FROM snapshot_measures WHERE snapshot_id = 8; "
        "INSERT INTO tombstones SELECT project_id, id, 8, 1, '00' FROM questions",
    ]  # fmt: skip
    for statements in unverified:
        with connection.begin_nested() as undone:
            tampering(connection)
            for statement in statements.split("; "):
                connection.execute(text(statement))
            assert verify_snapshots(*taken).faults != (), statements
            undone.rollback()
    purge_project(connection, taken[1].project)
    assert set(rows(connection).values()) == {0}


@pytest.mark.parametrize("rules", [None, "last:3"])
def test_the_chain_holds_and_goes_on(taken: Taken, rules: str | None) -> None:
    """Tallies that later snapshots add up from stay; those that none adds up from do not."""
    connection, question = taken
    kept = thin(taken, rules)
    told = verify_snapshots(*taken)
    assert (told.faults, told.notes) == ((), ())
    assert (told.snapshots, told.thinned, told.recomputed) == (8, 8 - len(kept), len(kept))
    answer(connection, "i20,B,z", "i21,A,z")
    found = take_snapshot(connection, question, check=True)
    assert found.read == 2
    assert added_up(connection, found.snapshot.id) == plainly(connection, question)
    assert verify_snapshots(*taken).faults == ()
    # Those of one base snapshot are 1, 3, 4 and 5, 6, 7 and 8; a name keeps the fourth.
    left = set(connection.scalars(select(SnapshotAnnotator.snapshot_id)))
    assert left == {1, 2, 3, 4, 8, 9} | ({5, 6, 7} if 7 in kept else set())


def test_tallies_of_bases_without_a_snapshot_go(taken: Taken) -> None:
    connection, question = taken
    for number in range(9, 13):
        answer(connection, f"i{number},A,z")
        take_snapshot(connection, question, full=number == 9)
    assert thin(taken) == [2, 4, 12]
    left = set(connection.scalars(select(SnapshotAnnotator.snapshot_id)))
    assert left == {1, 2, 3, 4, 9, 10, 11, 12}
    answer(connection, "i20,B,z")
    assert take_snapshot(connection, question, check=True).read == 1
    assert thin(taken) == [2, 4, 13]
    told = verify_snapshots(*taken)
    assert (told.faults, told.snapshots, told.recomputed) == ((), 13, 3)
