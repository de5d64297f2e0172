"""Frames and Parquet files of rows have the types of pandas, however many batches they are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from tests.helpers import csv_text
from tracker.cli.import_options import Target
from tracker.export import files as arrow_rows
from tracker.ledger import Ledger

ROWS = [
    ("item", "annotator", "category", "labeled_at", "seconds", "pass"),
    ("1", "ada", "x", "2026-03-01T10:00:00.5+01:00", "2.5", 1),
    ("1", "bo", "", "", "", 1),
    ("2", "ada", "y", "2026-03-02", "", 2),
]


@pytest.fixture
def filled(sqlite_ledger: Ledger, write: Callable[..., Path]) -> Ledger:
    sqlite_ledger.import_file(write(csv_text(ROWS)), "p")
    return sqlite_ledger


def check(frame: pd.DataFrame) -> None:
    kinds = {name: str(kind) for name, kind in frame.dtypes.items()}
    assert {kinds[name] for name in ("annotator", "category", "kind")} == {"category"}
    assert {kinds[name] for name in ("pass", "start", "end")} == {"Int64"}
    assert kinds["labeled_at"] == "datetime64[us, UTC]"
    assert kinds["seconds"] == "float64"
    assert frame["labeled_at"].iloc[0] == pd.Timestamp("2026-03-01T09:00:00.5Z")
    assert frame["labeled_at"].isna().tolist() == [False, True, False]
    assert frame["category"].astype(object).where(frame["category"].notna(), None).tolist() == [
        "x", None, "y",
    ]  # fmt: skip
    assert frame["category"].cat.categories.tolist() == ["x", "y"]
    assert frame["pass"].tolist() == [1, 1, 2]


@pytest.mark.parametrize("at_once", [1, 50_000])
def test_a_frame_and_a_parquet_file_have_types(
    filled: Ledger, tmp_path: Path, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrow_rows, "_AT_ONCE", at_once)
    check(filled.export_frame("p"))
    with filled.labels("p") as found:
        assert Target(tmp_path / "p.parquet", ".parquet").write_rows(*found, found.types) == 3
    check(pd.read_parquet(tmp_path / "p.parquet"))


def test_a_consensus_as_a_frame_has_types(filled: Ledger) -> None:
    with filled.consensus("p") as found:
        frame = filled.rows_frame(found)
    assert str(frame["confidence"].dtype) == "float64"
    assert str(frame["category"].dtype) == "category"


def test_a_frame_comes_back_as_it_was(filled: Ledger) -> None:
    frame = filled.export_frame("p")
    filled.import_frame(frame, "q")
    pd.testing.assert_frame_equal(filled.export_frame("q"), frame)


def test_what_has_no_rows_has_types_too(filled: Ledger) -> None:
    frame = filled.export_frame("p", since="2027-01-01")
    assert len(frame) == 0
    assert str(frame["labeled_at"].dtype) == "datetime64[us, UTC]"
