"""Seals: the same on both databases, of few statements, and broken by whatever else writes."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Table, text
from sqlalchemy.sql import visitors

from tests.helpers import count_rows, count_statements, csv_text, question_of, undo, write_file
from tests.history.scripts import tampering
from tests.storage.seals.furnished import furnished, worked_on
from tracker.core import clock
from tracker.history.verify import Verified, verify_snapshots
from tracker.ledger import Ledger
from tracker.projects.identities import erase_annotator, merge_annotators, split_annotator
from tracker.storage.schema import Base
from tracker.storage.seals.digests import BY_CHANGE, state_statements

Write = Callable[..., Path]


def seals(ledger: Ledger) -> list[dict[str, Any]]:
    with ledger.database.read() as connection:
        rows = connection.execute(text("SELECT * FROM seals ORDER BY project_id, id"))
        return [dict(row) for row in rows.mappings()]


def test_both_databases_give_the_same_seals(
    sqlite_ledger: Ledger,
    emptied_postgres_ledger: Ledger,
    write: Write,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = []
    for ledger in (sqlite_ledger, emptied_postgres_ledger):
        moments = itertools.count(1_800_000_000_000_000, 1_000_000)
        monkeypatch.setattr(clock, "now", lambda moments=moments: next(moments))
        furnished(ledger, write)
        worked_on(ledger, write)
        with ledger.writing("p") as (connection, project):
            merge_annotators(connection, project, "C", "B")
        with ledger.writing("p") as (connection, project):
            split_annotator(connection, project, "C")
            erase_annotator(connection, project, "B")
        found.append(seals(ledger))
        assert ledger.verify("p").passed
    for seal in itertools.chain(*found):
        del seal["digest"]
        seal["added"] = json.loads(seal["added"])
        for part in ("changes", "sources"):  # the names of files differ
            seal["added"].pop(part, None)
    assert found[0] == found[1]


def test_items_after_an_undo_are_sealed_and_numbers_are_not_given_again(
    ledger: Ledger, write: Write
) -> None:
    numbers = [
        ledger.import_items(write(f"item,language\ni,{value}"), "p", keep=["language"]).id
        for value in ("nl", "de")
    ]
    for number in reversed(numbers):
        undo(ledger, number)
        assert ledger.verify("p").passed
    ledger.projects.delete("p")
    assert ledger.import_file(write("item,annotator,category\n i,A,x"), "p").id == 3


def test_seal_and_verification_read_no_labels(sqlite_ledger: Ledger, write: Write) -> None:
    items = 300
    rows = [(f"i{n}", who, "x") for n in range(items) for who in "AB"]
    sqlite_ledger.import_file(write(csv_text([("item", "annotator", "category"), *rows])), "p")
    few = write("item,annotator,category\n i1,A,y\n new,A,y")
    with count_statements(sqlite_ledger.database.engine) as first:
        sqlite_ledger.import_file(few, "p")
    with (
        count_statements(sqlite_ledger.database.engine) as verified,
        count_rows(sqlite_ledger.database.engine) as read,
    ):
        sqlite_ledger.verify("p")
    assert first.number < 130
    assert verified.number < 50
    assert read.number < items + 200, "names of items, and no labels"


def test_names_of_new_items_are_sealed_as_they_come_in(sqlite_ledger: Ledger, write: Write) -> None:
    """They are not read again; and it is the same digest as that of what was stored."""

    def file(names: Iterable[str], name: str) -> Path:
        rows = ((one, "A", "x") for one in names)
        return write(csv_text([("item", "annotator", "category"), *rows]), name)

    one = file((f" {n} é\u2028" for n in range(400)), "one.csv")
    two = file((f"{n} é" for n in range(200, 600)), "two.csv")
    with count_rows(sqlite_ledger.database.engine) as read:
        sqlite_ledger.import_file([one, two], "p")
    assert read.number < 200
    sqlite_ledger.import_file(two, "p")
    sqlite_ledger.import_file(file(["1 é", "new", "newer"], "three.csv"), "p")
    assert sqlite_ledger.verify("p").passed
    added = [json.loads(seal["added"]) for seal in seals(sqlite_ledger)]
    told = [(one["items"], "names" in one) for one in added]
    assert told == [(600, True), (600, False), (602, True)]


NOT_SEALED = {
    "drafts": "they become answers, or are taken back, within minutes",
    "item_facts": "texts by the million; the items, attributes and keys they make are sealed",
    "kept_tallies": "counted anew if they do not fit",
    "pseudonym_keys": "of no project", "purges": "of no project",
    "saved_views": "no figure follows from one",
    **dict.fromkeys(["access_changes", "deliveries", "keyed_requests", "signing_keys", "tokens",
                     "user_annotators", "users", "webhooks"], "of the server, not of a project"),
}  # fmt: skip
"""Tables that are neither sealed nor append-only, and why."""


def test_every_table_is_sealed_or_append_only() -> None:
    sealed = {"labels", "past_labels", "answer_details", "items", "item_attributes", "item_aliases"}
    for statement in (*state_statements().values(), *BY_CHANGE.values()):
        parts = visitors.iterate(statement)
        sealed |= {part.name for part in parts if isinstance(part, Table)}
    tables = Base.metadata.tables.items()
    guarded = {name for name, table in tables if table.info.get("append_only")}
    assert {name for name, _ in tables} - sealed - guarded == NOT_SEALED.keys()


PARTS = ("measures", "categories", "patterns", "annotators", "flags")
TAMPERED = {
    "categories": ["UPDATE categories SET name = 'was x' WHERE name = 'x'",
        "UPDATE categories SET name = 'x' WHERE name = 'y'",
        "UPDATE categories SET name = 'y' WHERE name = 'was x'"],
    "what was said of categories": ["UPDATE category_facts SET value = 9 WHERE category_id = 1"],
    "what was said of annotators": ["DELETE FROM annotator_facts WHERE annotator_id = 2"],
    "annotators": ["UPDATE annotators SET name = 'Ada' WHERE name = 'A'"],
    "annotators ": ["UPDATE annotators SET kind = 'model' WHERE name = 'B'"],
    "the project's settings": ["UPDATE projects SET good_from = good_from + 0.01"],
    "questions": ["UPDATE questions SET instructions = 'say x'"],
    "aliases of annotators": ["UPDATE aliases SET annotator_id = 2"],
    "notes": ["UPDATE notes SET text = 'no guideline'"],

    "names of items": ["UPDATE items SET name = 'other' WHERE name = 'j'"],
    "attributes of items": ["UPDATE item_attributes SET value = 'fr' WHERE item_id = 1"],

    "other keys of items": ["UPDATE item_aliases SET item_id = 2"],

    "labels of change 2": ["UPDATE labels SET labeled_at = labeled_at + 1 WHERE item_id = 1"],
    "labels of change 2 ": [  # two times exchanged
        "UPDATE labels SET labeled_at = (SELECT sum(labeled_at) FROM labels WHERE item_id = 1) "
        "- labeled_at WHERE item_id = 1"
    ],
    "labels of change 2  ": ["UPDATE past_labels SET category_id = 3 WHERE change_id = 2"],
    "labels of change 3": ["UPDATE past_labels SET spent_ms = 7 WHERE change_id = 3"],
    "labels of change 3 ": ["DELETE FROM past_labels WHERE change_id = 3"],
    "labels of change 4": ["UPDATE labels SET category_id = 3 WHERE change_id = 4"],
    "labels of change 4 ": ["UPDATE labels SET first_change_id = 1 WHERE change_id = 4"],
    "labels of change 77": ["INSERT INTO changes VALUES (1, 77, 'import', 9, '{}')",
        "INSERT INTO labels SELECT project_id, question_id, 3, annotator_id, pass, category_id, "
        "span_start, span_end, labeled_at, has_own_time, NULL, 77, source, given_as, spent_ms "
        "FROM labels WHERE item_id = 1 AND annotator_id = 1"],
    "the change log": ["UPDATE changes SET recorded_at = recorded_at + 1 WHERE id = 2"],
    "the change log ": ["UPDATE changes SET detail = '{}' WHERE id = 3"],
    "the change log  ": ["DELETE FROM changes WHERE id = 4"],
    "the counts of imports": ["UPDATE imports SET rows = rows + 1, inserted = inserted + 1"],
    "imports taken back": ["UPDATE imports SET undone_by = NULL"],
    "the files of imports": ["UPDATE sources SET digest = '00'"],
    "the files of imports ": ["DELETE FROM sources WHERE import_id = 2"],
    "the record of touched items": ["DELETE FROM touched"],
    "the record of touched items ": ["UPDATE touched SET last_item = last_item + 1"],
    "findings": ["UPDATE flags SET kind = 'copying' WHERE id = 2"],
    "what was done about findings": [
        "DELETE FROM flag_changes WHERE flag_id = 1 AND number = 2"
    ],
    "what was done about findings ": ["UPDATE flag_changes SET made_by = 'Eve' WHERE number = 2"],
    "sightings of findings": ["UPDATE flag_sightings SET informative = 4000"],

    "the last snapshot": [
        *(f"DELETE FROM snapshot_{part} WHERE snapshot_id = 3" for part in PARTS),
        "DELETE FROM snapshots WHERE id = 3",
    ],
    "the last snapshot ": [
        *(f"DELETE FROM snapshot_{part}" for part in PARTS), "DELETE FROM tombstones",
        "DELETE FROM snapshots",
    ],
    "snapshots thinned out": ["DELETE FROM tombstones"],
    "decisions": ["UPDATE decisions SET reason = 'annotator error'"],
    "decisions ": ["DELETE FROM decisions"],
    "batches of assignments": ["UPDATE batches SET until = 9"],
    "assignments": ["DELETE FROM assignments WHERE place = 1"],
    "assignments ": ["UPDATE assignments SET withdrawn_by = NULL"],
    "labels of merged categories": ["DELETE FROM merged_labels"],
    "withdrawn answers": ["INSERT INTO withdrawals VALUES (1, 1, 1, 1, 1, 5, 1, 1, 2, 3)"],
    "synchronizations": [
        "INSERT INTO syncs VALUES (1, 2, 'label-studio', 'http://l', NULL, 5, '{}')"
    ],
    "where labels are": ["INSERT INTO lakes VALUES (1, '/lake', '{}', 'duckdb')"],
    "files of labels": [
        "INSERT INTO lake_files VALUES (1, 1, '/lake/a.parquet', 9, 8, NULL, 'd', 3, 1, 1, 1, 2)"
    ],
    "names in files of labels": ["INSERT INTO lakes VALUES (1, '/lake', '{}', 'duckdb')",
        "INSERT INTO lake_names VALUES (1, 'annotator', 'Ada ', 1)"],

    "seal": ["DELETE FROM seals WHERE id = 3"],
    "seal ": ["UPDATE seals SET sealed_at = sealed_at + 1 WHERE id = 3"],
    "a seal cannot be read": ["UPDATE seals SET added = 'x' WHERE id = 3"],
}  # fmt: skip


@pytest.fixture(scope="module")
def sealed(module_ledger: Ledger, tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    folder = tmp_path_factory.mktemp("answers")
    numbers = iter(range(100))
    for fill in (furnished, worked_on):
        fill(module_ledger, lambda told: write_file(folder / f"{next(numbers)}.csv", told))
    module_ledger.items.alias("p", "i", "4711")
    module_ledger.projects.set("p", good_from=0.7)
    return module_ledger


def tampered(ledger: Ledger, *statements: str, **how: bool) -> Verified:
    """The project verified when statements have changed it, which is then taken back."""
    with ledger.database.write(keep=False, bulk=True) as connection:
        tampering(connection)
        changed = [connection.execute(text(statement)).rowcount for statement in statements]
        assert changed[-1]
        return verify_snapshots(connection, question_of(connection), **how)


def test_what_something_else_did_is_seen(sealed: Ledger, tmp_path: Path) -> None:
    assert sealed.verify("p").passed
    sealed.import_file(write_file(tmp_path / "q.csv", "item,annotator,category\n i,A,x"), "q")
    verified = sealed.verify("p")
    assert (verified.passed, verified.seals) == (True, 18), "another project changes no seal"
    for part, statements in TAMPERED.items():
        verified = tampered(sealed, *statements, chain_only=not part.startswith("labels of"))
        assert not verified.passed, part
        faults = verified.ledger
        assert any(fault.startswith(part.strip()) for fault in faults), (part, faults)


def test_what_was_changed_before_the_next_change_stays_seen(
    sqlite_ledger: Ledger, write: Write
) -> None:
    furnished(sqlite_ledger, write)
    with sqlite_ledger.database.engine.begin() as connection:
        connection.execute(text("UPDATE annotators SET name = 'Ada' WHERE name = 'B'"))
    sqlite_ledger.snapshot("p")
    undo(sqlite_ledger, 3)
    assert sqlite_ledger.verify("p").ledger == (
        "annotators: changed by something else than this program between change 8 and the next one",
    )


def test_who_makes_all_seals_anew_lacks_the_digest_that_was_noted_down(
    sqlite_ledger: Ledger, write: Write
) -> None:
    furnished(sqlite_ledger, write)
    noted = sqlite_ledger.verify("p").digest
    taken = sqlite_ledger.record_snapshot("p").snapshot
    assert noted is not None
    for digest in (noted, taken.digest, taken.seal):
        assert sqlite_ledger.verify("p", chain_only=True, expect=digest).passed
    with sqlite_ledger.database.write(bulk=True) as connection:
        tampering(connection)
        connection.execute(text("UPDATE annotators SET name = 'Ada' WHERE name = 'B'"))
        connection.execute(text("DELETE FROM seals"))
    sqlite_ledger.snapshot("p")
    assert sqlite_ledger.verify("p").passed, "nothing else tells of it"
    (why,) = sqlite_ledger.verify("p", expect=noted).ledger
    assert noted in why
