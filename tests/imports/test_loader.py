"""Items without answers, records of an import, rows in files, and what Postgres plans after it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import fates, standing, undo
from tests.imports.tables import HEADER
from tests.profiles import both, examples
from tracker.core.errors import InvalidOption, Refused
from tracker.formats.batch import text_array
from tracker.imports import held_rows, item_lookup
from tracker.imports.loader import Rejected
from tracker.imports.validate import validate_staged_references
from tracker.ledger import Ledger
from tracker.projects.items import list_items
from tracker.projects.questions import QuestionOptions


def listed(ledger: Ledger) -> dict[str, int]:
    with ledger.reading("p") as (connection, project):
        return {item.name: item.annotators for item in list_items(connection, project)}


def test_items_are_registered_once_and_count(ledger, write):
    answers = write(HEADER + "i1,A,x\n i1,B,x\n i2,A,x\n i2,B,y\n i3,A,x")
    ledger.import_file(answers, "p", options=QuestionOptions(wanted=2))
    before = ledger.status("p").to_dict()
    assert (before["items"], before["coverage"]) == (3, 2 / 3)
    rows = "item_id,text,source,label\n" + "".join(f"i{n},text {n},mail,x\n" for n in range(1, 6))
    keep = ["source"]
    done = ledger.import_items(write(rows), "p", keep=keep)
    assert fates(done) == {"inserted": 2, "changed": 3}  # the texts of the first three are new
    assert listed(ledger) == {"i1": 2, "i2": 2, "i3": 1, "i4": 0, "i5": 0}
    status = ledger.status("p").to_dict()
    assert (status["items"], status["items_unanswered"], status["answers"]) == (5, 2, 5)
    assert (status["coverage"], status["answers_missing"]) == (2 / 5, 5)
    again = ledger.import_items(write(rows + "\n\n"), "p", keep=keep)
    assert fates(again) == {"unchanged": 5}
    fewer = ledger.import_items(write("item,text\n i5,other\n i5,ignored\n i9,"), "p")
    assert fates(fewer) == {"inserted": 1, "changed": 1, "unchanged": 1}
    for number in (done.id, fewer.id):
        undo(ledger, number)
    assert set(listed(ledger)) == {"i1", "i2", "i3", "i4", "i5"}
    assert ledger.items.show("p", "i5").text == "text 5"
    undo(ledger, again.id)
    after = ledger.status("p").to_dict()
    assert {**after, "last_import": None} == {**before, "last_import": None}
    assert ledger.database.check() == []


def test_bad_lists_of_items_are_refused(ledger, write):
    with pytest.raises(InvalidOption, match="a list of items has no category"):
        ledger.import_items(write("item\n a"), "p", columns=["category=x"])
    file = write("item,text\n a,b\n ,c")
    with pytest.raises(Rejected, match="line 3: the item is empty"):
        ledger.import_items(file, "p")
    done = ledger.import_items(file, "p", skip_invalid=True)
    assert fates(done) == {"inserted": 1, "rejected": 1}


def test_a_number_that_refers_to_nothing_is_a_fault_of_the_program(ledger, write):
    """SQLite does not look up the references of staged rows."""
    ledger.import_file(write("item,annotator,label\ni,A,x\ni,B,y\nj,C,x\n"), "p")
    with ledger.asking("p") as (connection, question):
        sound = {"item_id": (1, 2), "annotator_id": (1, 3), "category_id": (-1, 2)}
        validate_staged_references(connection, sound, question.key)
        for column, extremes in (
            ("item_id", (1, 3)), ("item_id", (0, 2)), ("annotator_id", (1, 4)),
            ("given_as", (4, 4)), ("category_id", (-2, 1)), ("category_id", (1, 3)),
        ):  # fmt: skip
            with pytest.raises(RuntimeError, match="there are but"):
                validate_staged_references(connection, {column: extremes}, question.key)


@pytest.mark.parametrize(
    "twice", [False, pytest.param(True, marks=both)], ids=["each once", "some twice"]
)
def test_an_import_that_memory_does_not_hold_is_the_same(ledger, write, monkeypatch, *, twice):
    answers = [(f"i{n % 97}", "abcd"[n % 4], "xyz"[n % 3]) for n in range(600)]
    if not twice:
        answers = [*{row[:2]: row for row in answers}.values()]
    file = write([HEADER.strip().split(","), *answers, ("", "a", "x")])
    expected = fates(ledger.import_file(file, "p", skip_invalid=True))
    monkeypatch.setattr(held_rows, "MOST_HELD", 50)
    monkeypatch.setattr(held_rows, "_SAMPLE", 10)
    assert fates(ledger.import_file(file, "q", skip_invalid=True)) == expected
    assert standing(ledger, "q") == standing(ledger, "p")
    assert ledger.database.check() == []
    if twice:
        with Path("/dev/full").open("r+b", buffering=0) as full:
            monkeypatch.setattr(held_rows, "TemporaryFile", lambda: full)
            with pytest.raises(Refused, match="temporary files cannot be written"):
                ledger.import_file(write([*[HEADER.strip().split(",")], *answers * 10]), "r")
        assert len(ledger.projects.list()) == 2


@examples(15)
@given(parts=st.lists(st.lists(st.text(max_size=3), max_size=5)), alike=st.booleans())
def test_names_are_found_where_they_were_met(*, parts, alike):
    with pytest.MonkeyPatch.context() as patch:
        if alike:
            patch.setattr(item_lookup, "_hashes", lambda names: np.zeros(len(names), np.int64))
        names, places = item_lookup._Names(), dict[str, int]()
        for part in parts:
            fresh = [*dict.fromkeys(name for name in part if name not in places)]
            places |= {name: len(places) + n for n, name in enumerate(fresh)}
            names.add(text_array(fresh))
            wanted = [*part, "unmet", *places]
            expected = [places.get(name, -1) for name in wanted]
            assert names.places(text_array(wanted)).tolist() == expected


def add(ledger: Ledger, number: int, project: str = "p", first: int = 0, **columns: str) -> int:
    """Import answers about some items."""
    items = [f"i{n}" for n in range(first, first + number)]
    frame = pd.DataFrame({"item": items, "annotator": "A", "category": "x"}).assign(**columns)
    return ledger.import_frame(frame, project).id or 0


def scalar(ledger: Ledger, statement: str) -> object:
    with ledger.database.read() as connection:
        return connection.exec_driver_sql(statement).scalar_one()


def test_statistics_are_renewed_when_labels_multiply(postgres_url):
    ledger, known, total = Ledger(postgres_url), [], 0
    for number in (20, 600, 6400, 600, 800):
        add(ledger, number, first=total)
        total += number
        counted = "SELECT reltuples FROM pg_class WHERE oid = to_regclass('labels')"
        known.append(scalar(ledger, counted))
        if number == 600 and len(known) == 2:
            # Of as many rows as it looks at, all, it would find -1.
            distinct = "SELECT n_distinct FROM pg_stats WHERE tablename = 'labels'"
            told = scalar(ledger, f"{distinct} AND attname = 'item_id'")
            assert told == pytest.approx(-0.2)
    # Not for 20, which are few, nor for 600 of 7620, which would take longer than it saves.
    assert known == [-1, 620, 7020, 7020, 8420]
