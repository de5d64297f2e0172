"""The record verified: whatever was changed behind the program's back is found, and where."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Column, Float, Integer, Table, text

from tests.audit.flags.found import Seen, record
from tests.helpers import SPANS, Write, question_of
from tests.history.scripts import EVERYTHING_HAPPENS, Run, Step, all_steps, tampering
from tests.profiles import examples, exhaustive
from tests.projects.test_annotator_merge import rounded
from tests.storage.as_of.plain import BOTH_KINDS, Clock, at
from tracker.agreement.query import Query
from tracker.core import clock
from tracker.counts.filter import make_answer_filter
from tracker.history import stored
from tracker.history.snapshot import SnapshotRecord
from tracker.history.take import take_snapshot
from tracker.history.verify import Verified, verify_snapshots
from tracker.ledger import Ledger
from tracker.projects.identities import erase_annotator
from tracker.projects.questions import QuestionOptions
from tracker.storage.schema import Base

HEADER = "item,annotator,category\n"


def found(ledger: Ledger, **how: Any) -> Verified:
    with ledger.asking("p") as (connection, question):
        return verify_snapshots(connection, question, **how)


def faults(verified: Verified) -> list[int]:
    return [fault.snapshot for fault in verified.faults]


CHOICES: list[dict[str, float]] = [
    {}, {"as_of": 3}, {}, {"as_of": 4, "known_at": 3}, {"since": 2}, {},
]  # fmt: skip


def follow(ledger: Ledger, now: Clock, kind: str, script: list[Step]) -> None:
    """Snapshots of everything or of what was chosen, after every step; then all verified."""
    with ledger.database.write(keep=False) as connection:
        run = Run(connection, kind, now)
        for number, step in enumerate(script):
            run.take(step)
            then = {name: clock.iso(at(second)) for name, second in CHOICES[number % 6].items()}
            query = Query(filter=make_answer_filter(**then))
            take_snapshot(connection, run.question, query, pairs=number % 2 == 0)
        verified = verify_snapshots(connection, run.question)
        assert verified.faults == ()
        erased = connection.execute(
            text("SELECT max(id) FROM changes WHERE kind = 'erase annotator'")
        ).scalar()
        assert all(str(erased) in note.why for note in verified.notes)
        assert (verified.snapshots, verified.thinned) == (len(script), 0)
        assert verified.recomputed == len(script) - len(verified.notes)


@BOTH_KINDS
def test_snapshots_after_any_script_verify(
    sqlite_ledger: Ledger, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    now = Clock(monkeypatch)

    @examples(2)
    @given(st.lists(all_steps(kind), min_size=3, max_size=6))
    def check(script: list[Step]) -> None:
        follow(sqlite_ledger, now, kind, script)

    check()


def test_spans_and_other_readings_are_verified(ledger: Ledger, write: Write) -> None:
    header = "item,annotator,category,start,end\n"
    rows = "i,A,x,0,4\n i,B,x,1,4\n j,A,y,0,2\n j,B,x,0,2\n k,A,,,\n k,B,,,"
    ledger.import_file(write(header + rows), "p", options=SPANS)
    ledger.snapshot("p")
    ledger.import_file(write(header + "i,B,x,0,4"), "p")
    ledger.snapshot("p", exclude_annotators=["B"])
    ledger.import_file(write(HEADER + "i,A,1\n i,B,2\n j,A,3\n j,B,3"), "numbers")
    ledger.snapshot("numbers", weights="quadratic", scale="interval", confidence=0.8)
    for project, snapshots in (("p", 2), ("numbers", 1)):
        with ledger.asking(project) as (connection, question):
            told = verify_snapshots(connection, question).to_dict()
        assert (told["passed"], told["recomputed"], told["faults"]) == (True, snapshots, [])
    seen: list[tuple[int, int]] = []
    assert found(ledger, chain_only=True, progress=lambda *far: seen.append(far)).recomputed == 0
    found(ledger, progress=lambda *far: seen.append(far))
    assert seen == [(2, 2), (1, 2), (2, 2)]


@pytest.fixture(scope="module")
def record_of(module_ledger: Ledger, tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    """Four snapshots of a project with rows in every table; the second is to be changed."""
    ledger = module_ledger
    file = tmp_path_factory.mktemp("answers") / "answers.csv"
    options = QuestionOptions(categories=("x", "y", "z"))
    for number in range(1, 5):
        items = range(12) if number == 1 else range(number)
        rows = [f"i{n},{who},{'xy'[n * number % len(who) % 2]}" for n in items for who in PEOPLE]
        file.write_text(HEADER + "\n".join(rows))
        ledger.import_file(file, "p", options=options)
        record(ledger, *map(Seen, range(1, number)), closes=False)
        without = ["A"] if number == 3 else []
        told = {"name": f"name {number}", "note": f"note {number}"}
        ledger.record_snapshot("p", exclude_annotators=without, **told)
    return ledger


PEOPLE = ("A", "BBB", "CC")
SNAPSHOTS = Base.metadata.tables["snapshots"]
PAIRS = "snapshot_pairs"

CHECKED = {  # what the table's own constraints let through
    "agreements": "potential_agreements",
    "state": "'acknowledged'",
    "settings": """replace(settings, '0.95', '0.96')""",
    "id": "id + 50",
}


def other(column: Column[Any]) -> str:
    """Another value of a column than it has, where it has one."""
    if column.name in CHECKED:
        return CHECKED[column.name]
    if isinstance(column.type, Integer):
        return f"coalesce({column.name}, 6) + 10"
    told = f"coalesce({column.name}, '')"
    if isinstance(column.type, Float):
        free = not {"value", "rate"} & {column.name}
        return f"coalesce({column.name}, 0.5) + 0.125" if free else f"{column.name} + 0.125"
    return f"{column.name} || ' x'" if column.name == "undefined" else f"{told} || ' x'"


def own_columns(table: Table) -> list[Column[Any]]:
    return [one for one in table.columns if one.name not in {"project_id", "snapshot_id"}]


CHANGES = {
    f"{table.name}.{column.name}": f"UPDATE {table.name} SET {column.name} = {other(column)} "
    + ("WHERE id = 2" if table is SNAPSHOTS else "WHERE snapshot_id = 2")
    for table in (SNAPSHOTS, *stored.PARTS)
    for column in own_columns(table)
    if column.name != "tallies" and table.name != PAIRS
} | {
    "tallies": "UPDATE snapshot_annotators SET tallies = '[]' WHERE snapshot_id = 2",
    **{f"less of {one.name}": f"DELETE FROM {one.name} WHERE snapshot_id = 2"
       for one in stored.PARTS if one.name != PAIRS},
    # No snapshot is recorded with tables of pairs any more; those that were are held to them.
    "more pairs": f"INSERT INTO {PAIRS} VALUES (1, 1, 2, 1, 2, '[]')",
}  # fmt: skip


def tampered(ledger: Ledger, *statements: str, **how: Any) -> Verified:
    """The record verified when statements have changed it, which is then taken back."""
    with ledger.database.write(keep=False, bulk=True) as connection:
        tampering(connection)
        changed = [connection.execute(text(statement)).rowcount for statement in statements]
        assert changed[-1] > 0
        return verify_snapshots(connection, question_of(connection), **how)


@pytest.mark.parametrize("part", range(3))
def test_change_of_anything_stored_is_found_where_it_is(record_of: Ledger, part: int) -> None:
    for where, statement in [*CHANGES.items()][part::3]:
        verified = tampered(record_of, statement, chain_only=True)
        assert not verified.to_dict()["passed"], where
        first = 3 if where in {"snapshots.id", "snapshots.question_id"} else 2
        assert faults(verified)[0] == first, where
        assert re.search("does not fit what is stored|is not stored", verified.faults[0].why)


def test_missing_snapshot_unreadable_part_and_changed_label_are_found(record_of: Ledger) -> None:
    verified = found(record_of)
    assert (verified.faults, verified.notes, verified.recomputed) == ((), (), 4)
    tables = [f"DELETE FROM {part.name} WHERE snapshot_id = 2" for part in stored.PARTS]
    verified = tampered(record_of, *tables, "DELETE FROM snapshots WHERE id = 2", chain_only=True)
    assert faults(verified)[0] == 3
    for what, statement in UNREADABLE.items():
        verified = tampered(record_of, statement)
        assert faults(verified)[0] == (1 if "pattern" in what else 2), what
    for statement in (
        "UPDATE labels SET category_id = 3 WHERE item_id = 9 AND annotator_id = 1",
        "DELETE FROM labels WHERE item_id = 9 AND annotator_id = 3",
        "UPDATE past_labels SET category_id = 3 WHERE item_id = 1 AND annotator_id = 2",
        "UPDATE past_labels SET taken_back_by = 2",
    ):
        assert tampered(record_of, statement, chain_only=True).faults == ()
        verified = tampered(record_of, statement)
        assert faults(verified)[0] == 1
        assert "not those of the ledger as it was" in verified.faults[0].why


FORGED = {
    "does not follow from the ledger": (
        "UPDATE snapshot_measures SET value = value + 0.01 WHERE snapshot_id = 4"
    ),
    "counts are not": "UPDATE snapshots SET items_compared = items_compared + 1 WHERE id = 4",
}


@pytest.mark.parametrize("why", FORGED)
def test_a_forger_who_knows_the_digests_is_found_by_the_recount(
    record_of: Ledger, why: str
) -> None:
    """The last snapshot changed, digest and seal made to fit."""
    with record_of.database.write(keep=False, bulk=True) as connection:
        tampering(connection)
        question = question_of(connection)
        connection.execute(text(FORGED[why]))
        rows = connection.execute(SNAPSHOTS.select().order_by(SNAPSHOTS.c.id)).all()
        parts = stored.read_snapshot_parts(connection, question.key, 4, 4)[4]
        row = rows[3]._asdict()
        row["digest"] = stored.snapshot_digest(
            rows[2].digest, row, parts, stored.snapshot_pattern_texts(connection, question.key)
        )
        row["seal"] = stored.snapshot_seal(rows[2].seal, row, stored.snapshot_parts_digest(parts))
        values = {name: row[name] for name in ("digest", "seal")}
        connection.execute(SNAPSHOTS.update().where(SNAPSHOTS.c.id == 4).values(values))
        assert verify_snapshots(connection, question, chain_only=True).faults == ()
        verified = verify_snapshots(connection, question)
    assert set(faults(verified)) == {4}
    assert why in verified.faults[0].why


UNREADABLE = {
    "the text of a pattern": "UPDATE patterns SET pattern = '[[[3],1]]' WHERE id = 1",
    "a pattern": "UPDATE patterns SET pattern = 'x' WHERE id = 1",
    "a pattern's number": "UPDATE patterns SET id = 99 WHERE id = 1",
    "a pattern gone": "DELETE FROM patterns WHERE id = 1",
    "tallies": "UPDATE snapshot_annotators SET tallies = 'x' WHERE snapshot_id = 2",
    "a tally of nothing": "UPDATE snapshot_annotators SET tallies = '[[[1],99,1]]' "
    "WHERE snapshot_id = 2",
    "settings": "UPDATE snapshots SET settings = 'x' WHERE id = 2",
}


def test_what_the_program_changed_since_is_a_note_or_nothing(ledger: Ledger, write: Write) -> None:
    rows = "\n".join(
        f"i{n},{who},{'xy'[n % place]},nl" for n in range(6) for place, who in ((1, "A"), (2, "B"))
    )
    options = QuestionOptions(categories=("x", "y", "z"))
    file = write(f"item,annotator,category,lang\n{rows}")
    ledger.import_file(file, "p", options=options, keep=["lang"])
    ledger.snapshot("p")
    ledger.import_file(write(HEADER + "k,A,z"), "p")  # its first answer of this category
    ledger.categories.rename("p", "x", "w")
    assert found(ledger).faults == found(ledger).notes == ()
    ledger.snapshot("p", annotators=["A"])
    ledger.snapshot("p", where={"lang": "nl"})
    assert found(ledger).notes == ()
    with ledger.database.write() as connection:
        connection.execute(text("UPDATE item_attributes SET value = 'de' WHERE item_id = 1"))
    verified = found(ledger)
    assert (verified.faults, verified.recomputed) == ((), 2)
    assert "chosen by attributes" in verified.notes[0].why
    with ledger.writing("p") as (connection, project):
        erase_annotator(connection, project, "B")
    ledger.snapshot("p")
    verified = found(ledger)
    assert (verified.faults, verified.recomputed) == ((), 2)
    assert (verified.notes[0].snapshot, verified.notes[0].why) == (
        1, "answers that it counted were erased by change 5"
    )  # fmt: skip
    assert not verified.passed, "seals tell of the attribute"


def played(ledger: Ledger, now: Clock, kind: str) -> list[SnapshotRecord]:
    """Snapshots after each step of a script that has all kinds of steps."""
    taken = []
    with ledger.database.write(keep=False) as connection:
        run = Run(connection, kind, now)
        for number, step in enumerate(
            EVERYTHING_HAPPENS[::2] if kind == "several" else EVERYTHING_HAPPENS
        ):
            run.take(step)
            how: dict[str, Any] = {"name": f"after {number}"}
            asked = Query(confidence=0.9 if number % 4 == 3 else 0.95)
            taken.append(take_snapshot(connection, run.question, asked, **how).snapshot)
    return taken


@pytest.mark.parametrize("kind", ["one", pytest.param("several", marks=exhaustive)])
def test_both_databases_give_the_same_digests_and_figures(
    sqlite_ledger: Ledger,
    emptied_postgres_ledger: Ledger,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
) -> None:
    now = Clock(monkeypatch)
    one, other = (played(ledger, now, kind) for ledger in (sqlite_ledger, emptied_postgres_ledger))
    assert [taken.digest for taken in one] == [taken.digest for taken in other]
    assert len({taken.digest for taken in one}) == len(one)
    assert [taken.settings for taken in one] == [taken.settings for taken in other]
    for here, there in zip(one, other, strict=True):
        assert rounded(here.to_dict() | {"digest": None}) == rounded(
            there.to_dict() | {"digest": None}
        )


def digests(ledger: Ledger, write: Write, project: str, **told: Any) -> tuple[str, str]:
    ledger.import_file(write("item,annotator,category\n i,A,x\n i,B,y\n j,A,x\n j,B,x"), project)
    taken = ledger.record_snapshot(project, **told).snapshot
    return taken.digest, taken.seal


def test_a_name_and_a_note_are_sealed_and_not_counted(
    ledger: Ledger, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = Clock(monkeypatch)
    plain = digests(ledger, write, "p")
    assert digests(ledger, write, "the same") == plain
    for number, told in enumerate(({"name": "v1"}, {"note": "why"})):
        digest, seal = digests(ledger, write, f"told {number}", **told)
        assert digest == plain[0]
        assert seal != plain[1]
    now.moment += 1
    digest, seal = digests(ledger, write, "later")
    assert (digest == plain[0], seal == plain[1]) == (True, False), "the wall clock"


def test_whatever_was_counted_makes_the_digest(sqlite_ledger: Ledger, write: Write) -> None:
    """Each of these is another snapshot of the same project, from the same start."""
    ways: list[Callable[[str], object]] = [
        lambda p: None,
        lambda p: sqlite_ledger.import_file(write(HEADER + "i,C,x"), p),
        lambda p: sqlite_ledger.import_file(write(HEADER + "i,A,x"), p),  # which says the same
        sqlite_ledger.snapshot,
    ]
    found = []
    for number, way in enumerate(ways):
        project = f"p{number}"
        digests(sqlite_ledger, write, project)
        way(project)
        found.append(sqlite_ledger.record_snapshot(project).snapshot.digest)
    digests(sqlite_ledger, write, "p")
    record(sqlite_ledger, Seen(1))
    found.append(sqlite_ledger.record_snapshot("p").snapshot.digest)
    digests(sqlite_ledger, write, "q")
    found.append(sqlite_ledger.record_snapshot("q", confidence=0.9).snapshot.digest)
    assert len(set(found)) == len(found)
