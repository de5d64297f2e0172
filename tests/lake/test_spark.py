"""Spark over Parquet counts what DuckDB does, to the last digit. One session serves all tests."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from tests.counts.counted import everything
from tests.lake.lakes import CATEGORIES, some_rows, touch, write_parquet
from tracker.audit.slices_sql import count_patterns_by_slice
from tracker.cli.app import app
from tracker.core.errors import Refused
from tracker.counts import import_tallies
from tracker.counts.filter import AnswerFilter, select_answers
from tracker.lake import recorded
from tracker.lake.choose import check_file_engine, is_master
from tracker.ledger import Ledger

MISSING = [name for name in ("pyspark", "sqlglot") if find_spec(name) is None]
MISSING += [] if shutil.which("java") else ["Java"]
_needed = pytest.mark.skipif(
    bool(MISSING),
    reason=f"Spark is NOT tested: no {', no '.join(MISSING)}; pip install -e '.[spark]', and Java",
)


def needs_spark(test: Callable[..., None]) -> Callable[..., None]:
    return pytest.mark.spark(_needed(test))


MASTER = "local[2]"


@pytest.fixture
def lakes(sqlite_ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same files for two projects: d counts in DuckDB, s in Spark."""
    monkeypatch.setattr(recorded, "PART", 1)
    monkeypatch.setattr(import_tallies, "LEAST_ROWS", 1)
    folder = tmp_path / "a lake+ü%"
    write_parquet(folder / "0 of 2.parquet", some_rows())
    write_parquet(folder / "1 of 2.parquet", some_rows(20, 40, 2))
    for name, engine in (("d", "duckdb"), ("s", MASTER)):
        sqlite_ledger.projects.create(
            name, labels_at=str(folder), engine=engine, categories=CATEGORIES
        )
    return folder


def counted(ledger: Ledger, project: str, choice: AnswerFilter) -> dict[str, Any]:
    with ledger.asking(project) as (connection, question):
        selection = select_answers(connection, question, choice)
        counts = everything(connection, selection)
        drawn = count_patterns_by_slice(connection, selection, 0.3)
    files = [(who, file.number, own) for who, file, own in counts.pop("files") or ()]
    return counts | {"files": files, "drawn": drawn}


def told(ledger: Ledger, project: str) -> list[str]:
    figures: list[Any] = [
        ledger.agreement(project),
        ledger.audit(project),
        [*ledger.by_pair(project).pairs],
        ledger.agreement(project, as_of="2026-01-20"),
        ledger.compare(project, "2026-01-01..2026-01-20", "2026-01-21..2026-02-20"),
        ledger.history(project, every="week"),
    ]
    return [str(figure).replace(f"'{project}'", "'p'") for figure in figures]


@needs_spark
def test_spark_counts_what_duckdb_counts(sqlite_ledger: Ledger, lakes: Path) -> None:
    for choice in (AnswerFilter(), AnswerFilter(excluded=("A",))):
        assert counted(sqlite_ledger, "s", choice) == counted(sqlite_ledger, "d", choice)
    assert told(sqlite_ledger, "s") == told(sqlite_ledger, "d")
    table = pq.read_table(lakes / "0 of 2.parquet")
    pq.write_table(table.append_column("file", [["f"] * len(table)]), lakes / "0 of 2.parquet")
    touch(lakes / "0 of 2.parquet", 3)
    files = (("2 of 2.parquet", some_rows(9, 60, 3)), ("1 of 2.parquet", some_rows(20, 40, 5)))
    for name, rows in files:
        write_parquet(lakes / name, rows, {"seconds": None})
        touch(lakes / name, 5)
        read = [sqlite_ledger.projects.read_labels(project) for project in "sd"]
        assert read[0].manifest == read[1].manifest
        assert told(sqlite_ledger, "s")[0] == told(sqlite_ledger, "d")[0]


def test_a_cluster_is_named_by_its_master() -> None:
    names = ("spark://host:7077", "local[2]", "local[*]", "local-cluster[2,1,1024]", "yarn",
             "local", "k8s://https://host:443")  # fmt: skip
    assert all(map(is_master, names))
    assert not any(map(is_master, ("spark", "duckdb", "native", "auto", "spark:host", "")))


def test_an_engine_that_is_not_installed_is_told_of(
    sqlite_ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tracker.lake.choose.find_spec", lambda _: None)
    for name, extra in (("duckdb", "duckdb"), (MASTER, "spark")):
        with pytest.raises(Refused, match="is not installed") as caught:
            check_file_engine(name)
        assert f"annotation-tracker[{extra}]" in str(caught.value)
    url = f"sqlite:///{sqlite_ledger.database.file}"
    run = CliRunner().invoke(app, ["--database", url, "--engine", MASTER, "project", "list"])
    assert isinstance(run.exception, Refused)
