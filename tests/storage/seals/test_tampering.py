"""Whatever is changed in the ledger by something else than this program is seen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import text

from tests.helpers import question_of, undo, write_file
from tests.history.scripts import tampering
from tests.storage.seals.furnished import furnished
from tracker.history.verify import Verified, verify_snapshots
from tracker.ledger import Ledger
from tracker.storage.seals.verify import verify_seals

Write = Callable[..., Path]

TAMPERED = {
    "categories": [
        "UPDATE categories SET name = 'was x' WHERE name = 'x'",
        "UPDATE categories SET name = 'x' WHERE name = 'y'",
        "UPDATE categories SET name = 'y' WHERE name = 'was x'",
    ],
    "the order of categories": ["UPDATE category_facts SET value = 9 WHERE category_id = 1"],
    "what was said of annotators": ["DELETE FROM annotator_facts WHERE annotator_id = 2"],
    "annotators": ["UPDATE annotators SET name = 'Ada' WHERE name = 'A'"],
    "annotators ": ["UPDATE annotators SET kind = 'model' WHERE name = 'B'"],
    "the project's settings": ["UPDATE questions SET scale = 'ordinal'"],
    "names of questions": ["UPDATE questions SET name = 'another'"],
    "aliases of annotators": ["UPDATE aliases SET annotator_id = 2"],
    "notes": ["UPDATE notes SET text = 'no guideline'"],
    "notes ": ["UPDATE notes SET at = at - 1"],
    "names of items": ["UPDATE items SET name = 'other' WHERE name = 'j'"],
    "attributes of items": ["UPDATE item_attributes SET value = 'fr' WHERE item_id = 1"],
    "attributes of items ": ["DELETE FROM item_attributes WHERE item_id = 2"],
    "other keys of items": ["UPDATE item_aliases SET item_id = 2"],
    "other keys of items ": ["UPDATE item_aliases SET name = '4712'"],
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
    "sightings of findings ": ["DELETE FROM flag_sightings WHERE flag_id = 2"],
    "the last snapshot": [
        *(
            f"DELETE FROM snapshot_{part} WHERE snapshot_id = 3"
            for part in ("measures", "categories", "patterns", "annotators", "flags")
        ),
        "DELETE FROM snapshots WHERE id = 3",
    ],
    "the last snapshot ": [
        *(
            f"DELETE FROM snapshot_{part}"
            for part in ("measures", "categories", "patterns", "annotators", "flags")
        ),
        "DELETE FROM tombstones",
        "DELETE FROM snapshots",
    ],
    "snapshots thinned out": ["DELETE FROM tombstones"],
    "seal": ["DELETE FROM seals WHERE id = 3"],
    "seal ": ["UPDATE seals SET sealed_at = sealed_at + 1 WHERE id = 3"],
    "a seal cannot be read": ["UPDATE seals SET added = 'x' WHERE id = 3"],
}  # fmt: skip


@pytest.fixture(scope="module")
def sealed(module_ledger: Ledger, tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    folder = tmp_path_factory.mktemp("answers")
    numbers = iter(range(100))
    furnished(module_ledger, lambda told: write_file(folder / f"{next(numbers)}.csv", told))
    module_ledger.items.alias("p", "i", "4711")
    return module_ledger


def test_what_the_program_did_is_sound(sealed: Ledger) -> None:
    verified = sealed.verify("p")
    assert (verified.ledger, verified.faults) == ((), ())
    assert verified.passed
    assert verified.seals == 12


def tampered(ledger: Ledger, *statements: str, **how: bool) -> Verified:
    """The project verified when statements have changed it, which is then taken back."""
    with ledger.database.write(keep=False, bulk=True) as connection:
        tampering(connection)
        changed = [connection.execute(text(statement)).rowcount for statement in statements]
        assert changed[-1]
        return verify_snapshots(connection, question_of(connection), **how)


def test_what_something_else_did_is_seen(sealed: Ledger) -> None:
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
        assert sqlite_ledger.verify("p", expect=digest).passed
    with sqlite_ledger.database.write(bulk=True) as connection:
        tampering(connection)
        connection.execute(text("UPDATE annotators SET name = 'Ada' WHERE name = 'B'"))
        connection.execute(text("DELETE FROM seals"))
    sqlite_ledger.snapshot("p")
    assert sqlite_ledger.verify("p").passed, "nothing else tells of it"
    (why,) = sqlite_ledger.verify("p", expect=noted).ledger
    assert noted in why


def test_another_project_changes_no_seal_of_this_one(sqlite_ledger: Ledger, write: Write) -> None:
    furnished(sqlite_ledger, write)
    digest = sqlite_ledger.verify("p").digest
    sqlite_ledger.import_file(write("item,annotator,category\n i,A,x"), "q")
    sqlite_ledger.agreement("p")
    with sqlite_ledger.reading("p") as (connection, project):
        assert verify_seals(connection, project.id).digest == digest
