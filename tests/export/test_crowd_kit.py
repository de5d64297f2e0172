"""MACE and GLAD of crowd-kit: refused with the line that installs it, else asked item by item."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import csv_text
from tracker.core.errors import InvalidOption
from tracker.ledger import Ledger

ROWS = [
    ("item", "annotator", "category"),
    *((n, who, "xy"[(n + (who == "cy" and n % 3 == 0)) % 2])
      for n in range(30) for who in ("ada", "bo", "cy", "di")),
]  # fmt: skip


@pytest.fixture
def filled(sqlite_ledger: Ledger, write: Callable[..., Path]) -> Ledger:
    sqlite_ledger.import_file(write(csv_text(ROWS)), "p")
    return sqlite_ledger


@pytest.mark.parametrize("method", ["mace", "glad"])
def test_without_it_the_line_that_installs_it_is_told(
    filled: Ledger, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "crowdkit.aggregation", None)
    with (
        pytest.raises(InvalidOption, match="not installed") as raised,
        filled.consensus("p", method) as (_, rows),
    ):
        next(rows)
    assert raised.value.mend == "pip install 'annotation-tracker[crowd-kit]'"


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("method", ["mace", "glad"])
def test_with_it_the_items_have_its_probabilities(filled: Ledger, method: str) -> None:
    pytest.importorskip("crowdkit.aggregation", reason="install the extra crowd-kit")
    with filled.consensus("p", method) as (columns, rows):
        found = [dict(zip(columns, row, strict=True)) for row in rows]
    assert [row["category"] for row in found] == ["xy"[n % 2] for n in range(30)]
    assert all(0.5 < row["confidence"] <= 1 for row in found)
