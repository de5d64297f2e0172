"""A ledger with rows in every part that is sealed."""

from __future__ import annotations

from tests.audit.flags.found import Seen, acted, record
from tests.helpers import Write, undo
from tracker.history.prune import parse_prune_keep, prune_snapshots
from tracker.ledger import Ledger
from tracker.projects.annotators import add_annotator_alias
from tracker.projects.notes import add_note
from tracker.projects.questions import QuestionOptions

ROWS = """item,annotator,category,labeled_at,seconds,lang
 i,A,x,2026-01-01,1.5,nl
 i,B,y,1969-01-02,,nl
 j,A,x,2026-01-03,,de
 j,B,x,2026-01-04,3,de"""


def furnished(ledger: Ledger, write: Write) -> None:
    """Fill the project ``p`` by everything that changes one."""
    options = QuestionOptions(categories=("x", "y", "z"))
    ledger.import_file(write(ROWS), "p", options=options, keep=["lang"])
    ledger.snapshot("p", name="first")
    again = ledger.import_file(write("item,annotator,category\n i,A,y\n k,C,z"), "p")
    ledger.import_file(write("item,annotator,category\n j,B,y\n j,C,x"), "p")
    undo(ledger, again.id)
    record(ledger, Seen(1), Seen(2))
    acted(ledger, "dismiss", 1)
    ledger.snapshot("p")
    with ledger.writing("p") as (connection, project):
        add_annotator_alias(connection, project, "A", "Anna")
        add_note(connection, project, "guideline v2")
    ledger.snapshot("p")
    with ledger.changing("p") as (connection, question):
        prune_snapshots(connection, [question], parse_prune_keep("last:1"))


def worked_on(ledger: Ledger, write: Write) -> None:
    ledger.import_items(write("item\nl\nm"), "p")
    ledger.assignments.assign("p", to=["A", "dee"], answers=1)
    ledger.assignments.withdraw("p", ["dee"])
    ledger.adjudication.decide("p", "i", ["x"], reason="ambiguous", note="either")
    ledger.categories.merge("p", "z", "x")
