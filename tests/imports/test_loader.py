"""Items without answers, checks of staged rows, rows in files, and names by their place."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.helpers import fates, standing, undo
from tests.imports.tables import HEADER
from tests.profiles import both, examples
from tracker.core.errors import InvalidOption, Refused
from tracker.formats.batch import text_array
from tracker.imports import item_lookup, staging
from tracker.imports.loader import Rejected
from tracker.imports.staging import Held
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


DEFAULTS = {"question_id": 1, "pass": 1, "source": 1, "given_as": 0}
NUMBERS = ("question_id", "item_id", "annotator_id", "category_id", "line")


def held(parts: list[list[tuple[int, ...]]]) -> Held:
    rows, line = Held(DEFAULTS), 0
    for part in parts:
        if part:
            numbered = [(*row, line + n) for n, row in enumerate(part)]
            line += len(part)
            rows.add(dict(zip(NUMBERS, np.array(numbered).T, strict=True)))
    return rows


def tuples(columns: dict[str, Any]) -> list[tuple[int, ...]]:
    number = len(columns["line"])
    cells = [np.broadcast_to(columns[name], number).tolist() for name in NUMBERS]
    return [*zip(*cells, strict=True)]


ROW = st.tuples(st.integers(1, 2), st.integers(1, 9), st.integers(1, 3), st.integers(-1, 3))


@examples(100)
@example([[(1, 1, 1, 1)] * 3, [(1, 2, 1, 1)]], 2)  # of which some are in a file
@given(st.lists(st.lists(ROW, max_size=9), max_size=6), st.integers(1, 12))
def test_rows_in_files_come_in_the_order_of_rows_in_memory(parts, most):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(staging, "_SAMPLE", 2)
        whole = held(parts)
        patch.setattr(staging, "MOST_HELD", most)
        cut = held(parts)
        for rows in (whole, cut):
            rows.replace_category(2, 3, 1)
        expected = [row for columns in whole.in_order() for row in tuples(columns)]
        for _ in range(2):  # they are read again
            read = [tuples(columns) for columns in cut.in_order()]
            assert sorted(row for part in read for row in part) == expected
            # Of rows alike but for their lines any may be the first.
            assert [row[:-1] for part in read for row in part] == [row[:-1] for row in expected]
            items = Counter(item for part in read for item in {row[:2] for row in part})
            assert set(items.values()) <= {1}
        cut.clear()
        assert [*cut.in_order()] == []


@both
def test_an_import_that_memory_does_not_hold_is_the_same(ledger, write, monkeypatch):
    answers = [(f"i{n % 97}", "abcd"[n % 4], "xyz"[n % 3]) for n in range(600)]
    file = write([HEADER.strip().split(","), *answers, ("", "a", "x")])
    expected = fates(ledger.import_file(file, "p", skip_invalid=True))
    monkeypatch.setattr(staging, "MOST_HELD", 50)
    monkeypatch.setattr(staging, "_SAMPLE", 10)
    assert fates(ledger.import_file(file, "q", skip_invalid=True)) == expected
    assert standing(ledger, "q") == standing(ledger, "p")
    assert ledger.database.check() == []
    with Path("/dev/full").open("r+b", buffering=0) as full:
        monkeypatch.setattr(staging, "TemporaryFile", lambda: full)
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
