"""Two chains: of what was counted, the same on every database; and of everything stored."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.audit.flags.found import Seen, acted, record
from tests.history.scripts import EVERYTHING_HAPPENS, Run
from tests.projects.test_annotator_merge import rounded
from tests.storage.as_of.plain import BOTH_KINDS, Clock
from tracker.agreement.query import Query
from tracker.history.snapshot import SnapshotRecord
from tracker.history.take import take_snapshot
from tracker.ledger import Ledger

Write = Callable[..., Path]


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


@BOTH_KINDS
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
    header = "item,annotator,category\n"
    ways: list[Callable[[str], object]] = [
        lambda p: None,
        lambda p: sqlite_ledger.import_file(write(header + "i,C,x"), p),
        lambda p: sqlite_ledger.import_file(write(header + "i,A,x"), p),  # which says the same
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
    acted(sqlite_ledger, "acknowledge", 1)
    found.append(sqlite_ledger.record_snapshot("p").snapshot.digest)
    found.append(sqlite_ledger.record_snapshot("p", confidence=0.9).snapshot.digest)
    assert len(set(found)) == len(found)
