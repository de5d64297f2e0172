"""Files that name nobody: who answered is said beside them, or is the name of what they lie in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook

from tests.formats.reading import found_in, write_json_lines, write_zip
from tracker.core.errors import InvalidOption, Refused
from tracker.ledger import Ledger

ROWS = ("item", "annotator", "category")
TABLE = "item,label\ni,x\nj,y\n"
OF_ADA = [("i", "ada", "x"), ("j", "ada", "y")]
TASK = {"_input_hash": 1, "_task_hash": 2, "answer": "accept", "accept": ["x"], "text": "Soup",
        "_session_id": "soups-2026-02-01_10-00-00"}  # fmt: skip
OLD_TASK = {"id": 1, "data": {"text": "Soup"}, "completions": [
    {"id": 4, "result": [{"from_name": "tone", "to_name": "t", "type": "choices",
                          "value": {"choices": ["x"]}}]}]}  # fmt: skip
WEBANNO = (
    "#FORMAT=WebAnno TSV 3.3\n#T_SP=custom.Span|value\n\n\n#Text=Ada likes Oslo.\n"
    "1-1\t0-3\tAda\tPER\t\n1-2\t4-9\tlikes\t_\t\n1-3\t10-14\tOslo\tLOC\t\n1-4\t14-15\t.\t_\t\n"
)
FILES: dict[str, Any] = {
    "ada.csv": TABLE,
    "ada.jsonl": '{"item": "i", "label": "x"}\n{"item": "j", "label": "y"}\n',
    "prodigy.jsonl": [TASK],
    "old.json": [OLD_TASK],
    "doc.tsv": WEBANNO,
    "doc.ann": "T1\tPER 0 3\tAda\n",
    "doc.conll": "Ada B-PER\nlikes O\n",
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_names_nobody_is_read_if_the_user_does(tmp_path: Path, name: str) -> None:
    content, path = FILES[name], tmp_path / name
    path.write_text(content) if isinstance(content, str) else write_json_lines(path, content)
    with pytest.raises(Refused, match="--annotator NAME"):
        found_in(path)
    found = found_in(path, annotator="ada")
    assert {row[1] for row in found.rows(*ROWS)} == {"ada"}
    assert {one[1] for one in found_in(path, annotator_from="file").rows(*ROWS)} == {path.stem}
    folder = found_in(path, annotator_from="folder")
    assert {one[1] for one in folder.rows(*ROWS)} == {tmp_path.name}


@pytest.mark.parametrize(
    ("files", "way", "people"),
    [
        ({"all/ada.csv": TABLE, "all/bo.csv": TABLE}, "file", {"ada", "bo"}),
        ({"ada/1.csv": TABLE, "bo/x/1.csv": TABLE}, "folder", {"ada", "bo"}),
        ({"ada/doc.tsv": WEBANNO, "bo/doc.tsv": WEBANNO}, "folder", {"ada", "bo"}),
        ({"doc/ada.tsv": WEBANNO, "doc/bo.tsv": WEBANNO}, "folder", {"doc"}),
    ],
)
def test_files_of_a_folder_are_of_whom_they_are_named_after(
    tmp_path: Path, files: dict[str, str], way: str, people: set[str]
) -> None:
    for name, content in files.items():
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "in" / name).write_text(content)
    for path in (tmp_path / "in", write_zip(tmp_path / "in.zip", files)):
        found = found_in(path, annotator_from=way)
        assert {one[0] for one in found.rows("annotator")} == people
        assert {one[0] for one in found_in(path, annotator="cy").rows("annotator")} == {"cy"}
        with pytest.raises(Refused, match="--annotator"):
            found_in(path)


def test_folders_may_be_documents(tmp_path: Path) -> None:
    files = {"d1/ada.ann": "T1\tP 0 3\tAda\n", "d2/ada.ann": "", "d2/bo.ann": ""}
    found = found_in(write_zip(tmp_path / "x.zip", files), annotator_from="file")
    assert found.rows(*ROWS) == [("d1", "ada", "P"), ("d2", "ada", ""), ("d2", "bo", "")]


def test_documents_of_one_annotator_are_items(tmp_path: Path) -> None:
    folder = tmp_path / "letters" / "ada"
    folder.mkdir(parents=True)
    (folder / "d1.conll").write_text("Ada B-PER\nslept O\n")
    (folder / "d2.conll").write_text("Oslo B-LOC\n\nMore O\n")
    found = found_in(folder.parent)
    assert found.rows("item", "annotator", "category") == [("d1", "ada", "PER"),
                                                           ("d2", "ada", "LOC")]  # fmt: skip
    assert found.notes == ["the files of ada differ in their tokens: each is a document"]
    with pytest.raises(Refused, match="documents of one annotator: --annotator NAME"):
        found_in(folder)
    for said in ({"annotator": "ada"}, {"annotator_from": "folder"}):
        assert found_in(folder, **said).rows(*ROWS) == found.rows(*ROWS)


def test_a_workbook_may_have_a_sheet_for_each_annotator(ledger: Ledger, tmp_path: Path) -> None:
    book = Workbook()
    for name, rows in {"ada": ["xy"], "bo": ["yx", "xx"], "notes": []}.items():
        sheet = book.create_sheet(name)
        sheet.append(["item", "label"] if rows else ["remarks"])
        for row in rows:
            sheet.append(list(row))
    del book["Sheet"]
    book.save(path := tmp_path / "x.xlsx")
    result = ledger.import_file(path, "p", annotator_from="sheet")
    frame = ledger.export_frame("p")
    assert sorted(zip(frame["item"], frame["annotator"], frame["category"], strict=True)) == [
        ("x", "ada", "y"), ("x", "bo", "x"), ("y", "bo", "x"),
    ]  # fmt: skip
    assert [one["annotator"] for one in result.columns] == ["ada", "bo"]
    with pytest.raises(Refused, match="has no sheets"):
        ledger.import_file(_written(tmp_path / "a.csv", TABLE), "p", annotator_from="sheet")


def _written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_who_answered_is_said_once(ledger: Ledger, tmp_path: Path) -> None:
    named = _written(tmp_path / "a.csv", "item,user,label,gold\ni,ada,x,x\nj,,y,\n")
    with pytest.raises(Refused, match=r"line 2: 'ada' answered in the file, and 'bo' (?s:.)*user"):
        ledger.import_file(named, "p", annotator="bo")
    ledger.import_file(named, "p", annotator="ada")
    frame = ledger.export_frame("p")
    assert sorted(frame["annotator"]) == ["ada", "ada", "gold"]
    assert ledger.import_file(named, "q", annotator="bo", ignore=["user"]).inserted == 2
    for said in ({"wide": True}, {"columns": ["annotator=user"]}, {"annotator_from": "file"},
                 {"annotator": " "}):  # fmt: skip
        with pytest.raises(InvalidOption, match="--annotator"):
            ledger.import_file(named, "p", **{"annotator": "bo", **said})  # type: ignore[arg-type]


def test_several_files_are_one_import(ledger: Ledger, tmp_path: Path) -> None:
    files = [_written(tmp_path / name, TABLE) for name in ("ada.csv", "bo.csv")]
    result = ledger.import_file(files, "p", annotator_from="file")
    assert [one["annotator"] for one in result.columns] == ["ada", "bo"]
    assert sorted(ledger.export_frame("p")["annotator"]) == ["ada", "ada", "bo", "bo"]
