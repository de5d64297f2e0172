"""What is stored of a finding: figures; and what older versions stored is still read."""

from __future__ import annotations

import json

from sqlalchemy import insert, select

from tests.audit.flags.found import Seen, listed, record, shown
from tracker.ledger import Ledger
from tracker.projects.annotators import rename_annotator
from tracker.storage.schema import FlagSighting


def rows(ledger: Ledger) -> list[str]:
    with ledger.reading("p") as (connection, _):
        statement = select(FlagSighting.evidence).order_by(FlagSighting.number)
        return list(connection.scalars(statement))


def test_no_sentence_and_no_name_is_stored(people: Ledger) -> None:
    selection = {"annotators": ["ada"], "excluded": [], "since": None, "until": None, "where": {}}
    record(people, Seen(1, "copying", None, other=3), closes=False, selection=selection)
    (text,) = rows(people)
    stored = json.loads(text)
    assert "why" not in stored
    assert (stored["with"], stored["selection"]["annotators"]) == (3, [1])
    assert not {"ada", "cy"} & {*text.replace('"', " ").split()}
    (row,) = listed(people)
    assert row["why"].startswith("ada and cy gave the same answer against most of the others on ")
    assert shown(people, 1)["evidence"]["selection"] == selection


def test_a_sentence_is_made_with_the_names_of_now(people: Ledger) -> None:
    record(people, Seen(1, "copying", None, other=3))
    with people.writing("p") as (connection, project):
        rename_annotator(connection, project, "cy", "cyd")
    told = shown(people, 1)
    assert "ada and cyd gave" in told["why"]
    assert (told["with"], told["evidence"]["with"]) == ("cyd", "cyd")
    assert told["evidence"]["why"] == told["why"]


def test_what_an_older_version_stored_is_read_with_the_names_of_now(people: Ledger) -> None:
    """It held the sentence, with annotators by number between two NULs."""
    record(people, Seen(1, "copying", None, other=3))
    old = json.loads(rows(people)[0]) | {"with": f"\0{3}\0"}
    old["why"] = f"\0{1}\0 did as \0{3}\0."
    with people.writing("p") as (connection, project):
        (sighting,) = connection.execute(select(FlagSighting.__table__)).mappings()
        added = dict(sighting) | {"number": 2, "seen_at": sighting["seen_at"] + 1}
        connection.execute(insert(FlagSighting), [added | {"evidence": json.dumps(old)}])
        rename_annotator(connection, project, "cy", 'cy "d"')
    told = shown(people, 1)
    assert told["why"] == told["evidence"]["why"] == 'ada did as cy "d".'
    assert told["evidence"]["with"] == 'cy "d"'
    assert told["times_seen"] == 2
