"""Attributes of annotators: from files, undone, as they were known, merged and erased."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import select

from tests.helpers import fates, stored
from tracker.core import clock
from tracker.core.errors import InvalidOption, Refused
from tracker.counts.filter import make_answer_filter
from tracker.imports.loader import Rejected
from tracker.ledger import Ledger
from tracker.projects.annotators import annotator_attributes, annotator_names
from tracker.storage.schema import AnnotatorAttribute, Change
from tracker.storage.seals.verify import verify_seals

PEOPLE = """
    annotator,kind,team,years
    ann,,north,3
    bob,,south,
    gpt,model,,
"""


@pytest.fixture
def answered(ledger: Ledger, write: Callable[..., Path]) -> Ledger:
    ledger.import_file(write("item,annotator,label\ni,ann,x\ni,bob,y\n"), "p")
    return ledger


def told(ledger: Ledger, known_at: str | None = None) -> dict[str, dict[str, str]]:
    choice = make_answer_filter(known_at=known_at)
    with ledger.asking("p", choice) as (connection, question):
        found = annotator_attributes(connection, question.project)
        names = annotator_names(connection, question.project)
    return {names[number]: values for number, values in found.items()}


def test_every_other_column_is_an_attribute(answered: Ledger, write: Callable[..., Path]) -> None:
    before = stored(answered)
    assert fates(answered.import_annotators(write(PEOPLE), "p", dry_run=True))
    assert stored(answered) == before
    result = answered.import_annotators(write(PEOPLE, "people.csv"), "p")
    assert fates(result) == {"inserted": 1, "changed": 2}
    assert result.to_dict()["annotators"] == 3
    assert result.to_dict()["attributes"] == ["team", "years"]
    attributes = {"ann": {"team": "north", "years": "3"}, "bob": {"team": "south"}}
    assert told(answered) == attributes
    listed = {row.annotator.name: row.to_dict() for row in answered.annotators.list("p")}
    assert listed["gpt"] == {
        "annotator": "gpt", "kind": "model", "aliases": [], "left_on": None, "labels": 0,
        "attributes": {},
    }  # fmt: skip
    sources = answered.imports.show(result.id or 0).to_dict()["sources"]
    assert [Path(source["name"]).name for source in sources] == ["people.csv"]
    with answered.reading("p") as (connection, _):
        detail = connection.scalars(select(Change.detail).order_by(Change.id.desc())).first()
    assert json.loads(detail or "")["annotators"] is True
    assert fates(answered.import_annotators(write(PEOPLE), "p")) == {"unchanged": 3}
    assert told(answered) == attributes
    answered.annotators.merge("p", "bob", "ann")
    assert told(answered) == {"ann": {"team": "south", "years": "3"}}
    answered.annotators.split("p", "bob")
    assert told(answered) == attributes
    answered.annotators.erase("p", "ann")
    assert told(answered) == {"bob": {"team": "south"}}
    with answered.reading("p") as (connection, project):
        assert set(connection.scalars(select(AnnotatorAttribute.value))) == {"south"}
        assert verify_seals(connection, project.id).faults == ()
    with answered.database.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE annotator_attributes SET value = 'north'")
    with answered.reading("p") as (connection, project):
        faults = verify_seals(connection, project.id).faults
    assert [fault.partition(":")[0] for fault in faults] == ["attributes of annotators"]


@pytest.mark.parametrize("first", [0, 1])
def test_imports_are_undone_in_any_order_and_known_as_they_were(
    answered: Ledger, write: Callable[..., Path], first: int
) -> None:
    later = "annotator,team,years\nann,west,3\neve,west,\n"
    numbers, moments = [], []
    for text in (PEOPLE, later):
        numbers.append(answered.import_annotators(write(text), "p").id or 0)
        with answered.database.read() as connection:
            moments.append(clock.iso(max(connection.scalars(select(Change.recorded_at)))))
    assert told(answered)["ann"] == {"team": "west", "years": "3"}
    answered.imports.undo(numbers[first])
    assert told(answered) == (
        {"ann": {"team": "west", "years": "3"}, "eve": {"team": "west"}}
        if first == 0
        else {"ann": {"team": "north", "years": "3"}, "bob": {"team": "south"}}
    )
    assert [told(answered, known_at=at)["ann"]["team"] for at in moments] == ["north", "west"]
    answered.imports.undo(numbers[1 - first])
    assert told(answered) == {}
    assert [row.annotator.name for row in answered.annotators.list("p")] == ["ann", "bob"]


def test_contradictions_are_rejected(answered: Ledger, write: Callable[..., Path]) -> None:
    path = write("annotator,team\nann,north\n,east\nann,south\nbob,south\n")
    with pytest.raises(Rejected, match="line 3: the annotator is empty"):
        answered.import_annotators(path, "p")
    made = answered.import_annotators(path, "p", skip_invalid=True)
    assert fates(made) == {"changed": 2, "rejected": 2}
    assert "the team of 'ann' is 'south' here, and 'north' on another line" in str(
        made.rejections[1]
    )
    assert told(answered)["ann"] == {"team": "north"}


def test_a_header_that_does_not_say_who(sqlite_ledger: Ledger, write: Callable[..., Path]) -> None:
    sqlite_ledger.projects.create("p")
    cases: list[tuple[str, list[str], str]] = [
        ("who,team", [], "no column for the annotator"),
        ("annotator,team,team", [], "several columns named 'team'"),
        ("who,team", ["annotator=whom"], "no column 'whom'"),
        ("annotator,user,team", ["kind=sort"], "no column 'sort'"),
    ]
    for header, mapped, reason in cases:
        with pytest.raises(Refused, match=reason):
            sqlite_ledger.import_annotators(write(f"{header}\na,b,c\n"), "p", columns=mapped)
    sqlite_ledger.import_annotators(
        write("who,sort,team\nann,model,north\n"), "p", columns=["annotator=who", "kind=sort"]
    )
    sqlite_ledger.import_annotators(write("Name,team\nbob,south\n"), "p")
    assert told(sqlite_ledger) == {"ann": {"team": "north"}, "bob": {"team": "south"}}
    with pytest.raises(InvalidOption, match="a list of annotators has no item"):
        sqlite_ledger.import_annotators(write("a,b\nc,d\n"), "p", columns=["item=a"])
