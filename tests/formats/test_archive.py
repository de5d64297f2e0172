"""Folders and zip files are read file by file, and refused if they would fill a machine."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tests.formats.reading import found_in, write_zip
from tracker.core.errors import Refused
from tracker.formats import source as archive
from tracker.ledger import Ledger

ROWS = "item,annotator,category\ni{0},A,x\ni{0},B,y\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two files of answers, one in a folder, beside what no reader reads."""
    root = tmp_path / "answers"
    (root / "late").mkdir(parents=True)
    (root / "one.csv").write_text(ROWS.format(1), "utf-8")
    (root / "late" / "two.csv").write_text(ROWS.format(2), "utf-8")
    (root / ".DS_Store").write_bytes(b"\0\0")
    return root


def zipped(folder: Path) -> Path:
    path = folder.with_suffix(".zip")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in sorted(folder.rglob("*")):
            packed.write(file, file.relative_to(folder))
    return path


def test_a_folder_and_its_zip_file_hold_the_same(ledger: Ledger, folder: Path) -> None:
    of_folder = ledger.import_file(folder, "p")
    assert (of_folder.rows, of_folder.inserted) == (4, 4)
    assert [one["source"] for one in of_folder.columns] == [
        f"{folder}/late/two.csv", f"{folder}/one.csv"
    ]  # fmt: skip
    assert ledger.import_file(zipped(folder), "p").unchanged == 4


def test_a_bad_row_is_named_with_its_file(ledger: Ledger, folder: Path) -> None:
    (folder / "late" / "two.csv").write_text("item,annotator,category\n,A,x\n", "utf-8")
    with pytest.raises(Refused, match=r"answers\.zip/late/two\.csv, line 2: the item is empty"):
        ledger.import_file(zipped(folder), "p")


def test_a_zip_file_that_would_fill_the_machine_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "_SMALL", 100_000)
    (folder / "bomb.csv").write_bytes(b"x" * 10_000_000)
    with pytest.raises(Refused, match="would unpack to 10,000,"):
        found_in(zipped(folder))


def test_a_damaged_zip_file_is_refused(folder: Path) -> None:
    (folder / "one.csv").write_text(ROWS.format(1) * 1000, "utf-8")
    path = zipped(folder)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 255
    path.write_bytes(content)
    with pytest.raises(Refused, match=r"damaged|cannot be read|NUL|UTF-8"):
        found_in(path)
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(Refused, match="is damaged: it does not unpack"):
        found_in(path)


def test_files_of_an_archive_may_be_alike_line_by_line(ledger: Ledger, folder: Path) -> None:
    rows = "item,annotator,category,confidence,comment\ni{0},A,x,.5,of {0}\ni{0},B,y,,\n"
    for n, name in enumerate(("one.csv", "late/two.csv"), 1):
        (folder / name).write_text(rows.format(n), "utf-8")
    assert ledger.import_file(folder, "p").inserted == 4
    found = ledger.export_frame("p").dropna(subset=["comment"])
    assert dict(zip(found["item"], found["comment"], strict=True)) == {"i1": "of 1", "i2": "of 2"}
    (folder / "late" / "two.csv").write_text(rows.format(1), "utf-8")  # a copy of the other
    assert ledger.import_file(zipped(folder), "q").rows == 4


@pytest.mark.parametrize("content", ["{}", "[]", "[{}]", "[{}, {}]"])
def test_json_without_a_field_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "empty.json"
    path.write_text(content, "utf-8")
    with pytest.raises(Refused, match=r"empty\.json"):
        found_in(path)


def test_last_weeks_folder_makes_nothing_newer_than_this_weeks(
    ledger: Ledger, folder: Path, tmp_path: Path
) -> None:
    ledger.import_file(folder, "p")
    for n in (1, 2):
        revised = tmp_path / f"revised{n}.csv"
        revised.write_text(ROWS.format(n).replace("A,x", "A,z"), "utf-8")
        assert ledger.import_file(revised, "p").changed == 1
    again = ledger.import_file(folder, "p")
    assert (again.rows, again.older) == (4, 4)
    both = ledger.import_file([tmp_path / "revised1.csv", folder], "p")
    assert (both.rows, both.inserted, both.changed) == (6, 0, 0)


def test_names_that_lead_out_of_a_zip_file_are_told_of(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "x.zip", {"../evil.csv": ROWS.format(1)})
    with pytest.raises(Refused, match=r"(?s)holds no file.*lead out of the archive"):
        found_in(path)
    path = write_zip(path, {"../evil.csv": ROWS.format(1), "good.csv": ROWS.format(2)})
    found = found_in(path)
    assert found.rows("item") == [("i2",), ("i2",)]
    assert found.left_out == {"file whose name leads out of the archive": 1}


def test_a_zip_file_inside_a_zip_file_is_refused(tmp_path: Path) -> None:
    inner = write_zip(tmp_path / "inner.zip", {"a.csv": ROWS.format(1)})
    outer = write_zip(tmp_path / "outer.zip", {"inner.zip": inner.read_bytes()})
    with pytest.raises(Refused, match=r"inner\.zip is a zip file inside a zip file\nunpack it"):
        found_in(outer)


def test_more_files_than_can_be_numbered_are_refused(
    sqlite_ledger: Ledger, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tracker.imports.parts.Parts.MOST", 2)
    with pytest.raises(Refused, match=r"more than 2 files with answers\nimport them in several"):
        sqlite_ledger.import_file(folder, "p")
    assert sqlite_ledger.projects.list() == []
