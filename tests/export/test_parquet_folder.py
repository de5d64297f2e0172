"""Labels as a folder of Parquet files, as what reads lakes takes them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from tests.helpers import standing
from tests.history.scripts import answers
from tracker.cli.app import app
from tracker.core.errors import InvalidOption
from tracker.export import files
from tracker.ledger import Ledger

Write = Callable[..., Path]


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "A_FILE", 10)


def export(ledger: Ledger, *words: str) -> Any:
    file = ledger.database.file
    asked = ["--database", f"sqlite:///{file}", "export", "labels", "p", *words]
    return CliRunner().invoke(app, asked)


@pytest.mark.usefixtures("cut")
def test_the_files_hold_whole_items_and_read_back_the_same(
    sqlite_ledger: Ledger, write: Write, tmp_path: Path
) -> None:
    sqlite_ledger.import_file(write(answers(30)), "p")
    told = export(sqlite_ledger, "--partitioned", str(tmp_path / "lake"))
    assert told.exit_code == 0, told.output
    made = sorted((tmp_path / "lake").iterdir())
    assert [file.name for file in made] == [f"part-{n:05}.parquet" for n in range(1, len(made) + 1)]
    tables = [pq.read_table(file) for file in made]
    assert [len(table) for table in tables] == [12] * 7 + [6]
    items = [{*table.column("item").to_pylist()} for table in tables]
    assert sum(map(len, items)) == len(set().union(*items)) == 30
    assert tables[0].schema.field("pass").type == pa.int64()
    assert tables[0].schema.field("labeled_at").type == pa.timestamp("us", "UTC")
    sqlite_ledger.import_file([*map(str, made)], "again")
    assert standing(sqlite_ledger, "again") == standing(sqlite_ledger, "p")


@pytest.mark.usefixtures("cut")
def test_nothing_is_left_of_a_folder_that_is_not_whole(tmp_path: Path) -> None:
    def rows() -> Any:
        yield from [(f"i{n}", "x") for n in range(25)]
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        files.write_parquet_folder(tmp_path / "lake", ("item", "category"), rows(), {})
    assert [*tmp_path.iterdir()] == []


def test_a_folder_with_something_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "lake").mkdir()
    files.write_parquet_folder(tmp_path / "lake", ("item",), iter([("i",)]), {})
    with pytest.raises(InvalidOption, match="is there and not empty"):
        files.write_parquet_folder(tmp_path / "lake", ("item",), iter([("j",)]), {})
    (tmp_path / "file").touch()
    with pytest.raises(InvalidOption, match="cannot be made"):
        files.write_parquet_folder(tmp_path / "file" / "lake", ("item",), iter([("j",)]), {})
    assert pq.read_table(tmp_path / "lake").to_pylist() == [{"item": "i"}]


@pytest.mark.parametrize("words", [[], ["-o", "a.csv", "--partitioned", "lake"]])
def test_one_place_is_needed(sqlite_ledger: Ledger, write: Write, words: list[str]) -> None:
    sqlite_ledger.import_file(write(answers(3)), "p")
    told = export(sqlite_ledger, *words)
    assert isinstance(told.exception, InvalidOption)
