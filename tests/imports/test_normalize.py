"""A column of annotators' kinds: what is exported is the same elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import undo
from tracker.core.errors import Refused
from tracker.ledger import Ledger
from tracker.projects.annotators import add_annotator_alias, list_annotators

Write = Callable[..., Path]

HEADER = "item,annotator,category,kind\n"


def kinds(ledger: Ledger, project: str = "p") -> dict[str, str]:
    with ledger.reading(project) as (connection, found):
        return {one.name: one.kind for one in list_annotators(connection, found)}


def test_a_kind_goes_with_the_import_that_gave_it(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write("item,annotator,category\n i,A,x\n i,gpt,x"), "p")
    later = ledger.import_file(write(HEADER + "j,A,x,\n j,gpt,x, Model "), "p").id
    again = ledger.import_file(write(HEADER + "k,gpt,x,model"), "p").id
    undo(ledger, later)
    assert kinds(ledger) == {"A": "human", "gpt": "model"}
    undo(ledger, again)
    assert kinds(ledger) == {"A": "human", "gpt": "human"}


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ("j,gpt,x,human", "line 2: 'gpt' is a human here, and a model in 'p'.*kind gpt human -p p"),
        ("j,B,x,human\n k,B,x,model", "line 3: 'B' is a model here, and a human on another line"),
        ("j,B,x,robot", "line 2: 'robot' is no kind of annotator.*--map kind="),
    ],
)
def test_kinds_that_contradict_are_refused(
    ledger: Ledger, write: Write, rows: str, reason: str
) -> None:
    ledger.import_file(write(HEADER + "i,gpt,x,model"), "p")
    file = write(HEADER + rows)
    with pytest.raises(Refused, match=f"(?s){reason}"):
        ledger.import_file(file, "p")
    assert kinds(ledger) == {"gpt": "model"}
    ledger.import_file(file, "p", columns=["kind="])
    assert kinds(ledger)["gpt"] == "model"


def test_an_alias_gives_its_annotator_the_kind(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write("item,annotator,category\n i,gpt,x"), "p")
    with ledger.writing("p") as (connection, project):
        add_annotator_alias(connection, project, "gpt", "gpt-4")
    ledger.import_file(write(HEADER + "j,gpt-4,x,model"), "p")
    assert kinds(ledger) == {"gpt": "model"}
