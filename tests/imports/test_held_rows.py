"""Rows of an import that are too many for memory: in files, and put in order from there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import csv_text, fates, standing
from tests.profiles import both, examples
from tracker.core.errors import Refused
from tracker.formats.batch import text_array
from tracker.imports import held_rows, item_lookup
from tracker.imports.held_rows import Held
from tracker.ledger import Ledger

Write = Callable[..., Path]
DEFAULTS = {"question_id": 1, "pass": 1, "source": 1, "given_as": 0}
COLUMNS = ("question_id", "item_id", "annotator_id", "category_id", "line")

row = st.tuples(st.integers(1, 2), st.integers(1, 9), st.integers(1, 3), st.integers(-1, 3))


def held(parts: list[list[tuple[int, ...]]]) -> Held:
    rows, line = Held(DEFAULTS), 0
    for part in parts:
        if part:
            numbered = [(*own, line + n) for n, own in enumerate(part)]
            line += len(part)
            rows.add(dict(zip(COLUMNS, np.array(numbered).T, strict=True)))
    return rows


def tuples(columns: dict[str, Any]) -> list[tuple[int, ...]]:
    number = len(columns["line"])
    cells = [np.broadcast_to(columns[name], number).tolist() for name in COLUMNS]
    return [*zip(*cells, strict=True)]


@examples(100)
@given(st.lists(st.lists(row, max_size=9), max_size=6), st.integers(1, 12))
def test_rows_in_files_come_in_the_order_of_rows_in_memory(
    parts: list[list[tuple[int, ...]]], most: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(held_rows, "_SAMPLE", 2)
        whole = [held(parts)]
        patch.setattr(held_rows, "MOST_HELD", most)
        cut = held(parts)
        for rows in (whole[0], cut):
            rows.replace_category(2, 3, 1)
        [*expected] = [own for columns in whole[0].in_order() for own in tuples(columns)]
        for _ in range(2):  # they are read again
            told = [tuples(columns) for columns in cut.in_order()]
            assert sorted(own for part in told for own in part) == expected
            # Of rows alike but for their lines any may be the first.
            assert [own[:-1] for part in told for own in part] == [own[:-1] for own in expected]
            items = Counter(item for part in told for item in {own[:2] for own in part})
            assert set(items.values()) <= {1}
        cut.clear()
        assert [*cut.in_order()] == []


def rows(number: int, *, again: bool) -> str:
    answers = [(f"i{n % 97}", "abcd"[n % 4], "xyz"[n % 3]) for n in range(number)]
    if not again:
        answers = [*dict.fromkeys(answers)]
        answers = [*{(item, who): (item, who, label) for item, who, label in answers}.values()]
    return csv_text([("item", "annotator", "category"), *answers, ("", "a", "x")])


@both
@pytest.mark.parametrize("again", [False, True], ids=["each once", "some again"])
def test_an_import_that_memory_does_not_hold_is_the_same(
    ledger: Ledger, write: Write, monkeypatch: pytest.MonkeyPatch, *, again: bool
) -> None:
    """The seals of both say so, too."""
    file = write(rows(900, again=again))
    told = fates(ledger.import_file(file, "p", skip_invalid=True))
    monkeypatch.setattr(held_rows, "MOST_HELD", 50)
    monkeypatch.setattr(held_rows, "_SAMPLE", 10)
    assert fates(ledger.import_file(file, "q", skip_invalid=True)) == told
    assert standing(ledger, "q") == standing(ledger, "p")
    assert ledger.database.check() == []


def test_a_full_disk_is_told_of_and_nothing_is_stored(
    ledger: Ledger, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(held_rows, "MOST_HELD", 50)
    with Path("/dev/full").open("r+b", buffering=0) as full:
        monkeypatch.setattr(held_rows, "TemporaryFile", lambda: full)
        with pytest.raises(Refused, match="temporary files cannot be written"):
            ledger.import_file(write(rows(9_000, again=True)), "p", skip_invalid=True)
    assert ledger.projects.list() == []


@examples(50)
@given(parts=st.lists(st.lists(st.text(max_size=3), max_size=5)), alike=st.booleans())
def test_names_are_found_where_they_were_met(*, parts: list[list[str]], alike: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if alike:
            patch.setattr(item_lookup, "_hashes", lambda names: np.zeros(len(names), np.int64))
        names, met = item_lookup._Names(), dict[str, int]()
        for part in parts:
            fresh = [*dict.fromkeys(name for name in part if name not in met)]
            met |= {name: len(met) + n for n, name in enumerate(fresh)}
            names.add(text_array(fresh))
            asked = [*part, "unmet", *met]
            assert names.places(text_array(asked)).tolist() == [met.get(n, -1) for n in asked]
