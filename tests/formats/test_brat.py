"""brat: folders of annotators, spans in pieces, what is no span."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.formats.reading import found_in, write_zip
from tests.formats.test_exports import EXPORTS
from tracker.core.errors import Refused
from tracker.imports.loader import Rejected
from tracker.ledger import Ledger

ROWS = ("item", "annotator", "category", "start", "end")


def test_a_zip_file_with_a_folder_around_the_annotators_is_read(tmp_path: Path) -> None:
    files = {
        "work/ada/a/x.ann": "T1\tPER 0 4\tMara\r\n",
        "work/ada/a/x.txt": "Mara 😀 Lind",
        "work/bo/a/x.ann": "T1\tPER 7 11\tLind\nT2\tPER 7 11\tLind\n",
        "work/bo/annotation.conf": "[entities]\n",
    }
    found = found_in(write_zip(tmp_path / "x.zip", files))
    assert found.format == "brat"
    assert found.rows(*ROWS) == [("a/x", "ada", "PER", "0", "4"), ("a/x", "bo", "PER", "7", "11")]
    assert found.rows("annotator", "text", "n_tokens") == [
        ("ada", "Mara 😀 Lind", "11"), ("bo", "", ""),
    ]  # fmt: skip
    assert found.asked == {"spans": "spans"}


def test_what_is_no_span_is_left_out_and_counted(tmp_path: Path) -> None:
    lines = (
        "T1\tPER 0 4\tMara", "T2\tMove 5 9;10 12;20 24\tleft", "E1\tMove:T2 Who:T1",
        "R1\tOf Arg1:T1 Arg2:T2", "*\tAlias T1 T2", "A1\tSure T1", "M1\tSure T2",
        "N1\tReference T1 Wikipedia:1\tMara", "#1\tAnnotatorNotes T1\tsure?", "",
    )  # fmt: skip
    files = {"ada/x.ann": "\n".join(lines), "ada/y.txt": "not opened"}
    found = found_in(write_zip(tmp_path / "x.zip", files))
    assert found.rows(*ROWS) == [("x", "ada", "Move", "5", "24"), ("x", "ada", "PER", "0", "4")]
    assert found.left_out == {
        "gap in a span of several parts": 2, "event": 1, "relation": 2, "attribute": 2,
        "normalization": 1, "note": 1, "text without annotations": 1,
    }  # fmt: skip


def test_a_project_in_which_nobody_marked_anything_is_imported(
    ledger: Ledger, tmp_path: Path
) -> None:
    (tmp_path / "work" / "ada").mkdir(parents=True)
    (tmp_path / "work" / "ada" / "x.ann").touch()
    (tmp_path / "work" / "bo").mkdir()
    (tmp_path / "work" / "bo" / "x.ann").touch()
    assert ledger.import_file(tmp_path / "work", "p").rows == 2
    assert ledger.export_frame("p")["category"].isna().tolist() == [True, True]


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"x.ann": ""}, r"(?s)x\.ann lies in no folder that says who.*folder of their name"),
        ({"ada/x.ann": "T1\tPER 0 4\tx\nT2 PER"}, r"x\.zip/ada/x\.ann, line 2: this is no annot"),
        ({"ada/x.ann": "T1\tPER 0 9\tx", "ada/x.txt": "short"}, "ends at 9, and the text has 5"),
        ({"ada/x.ann": b"T1\tP\xe9R 0 9\tx"}, r"ada/x\.ann, line 1: the byte 0xe9 is not UTF-8"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(
    tmp_path: Path, files: dict[str, str | bytes], reason: str
) -> None:
    with pytest.raises(Refused, match=reason):
        found_in(write_zip(tmp_path / "x.zip", files))


def test_a_single_file_is_refused() -> None:
    with pytest.raises(Refused, match=r"does not say who annotated it"):
        found_in(EXPORTS / "brat" / "notices" / "ada" / "notice-1.ann")


def test_an_encoding_that_is_named_is_heard(tmp_path: Path) -> None:
    files = {"ada/x.ann": b"T1\tPER 0 3\tZo\xeb\n", "ada/x.txt": "Zo\u00eb".encode("cp1252")}
    found = found_in(write_zip(tmp_path / "x.zip", files), encoding="cp1252")
    assert found.rows("text", "n_tokens") == [("Zo\u00eb", "3")]


def test_a_label_that_cannot_be_one_is_rejected_with_its_file_and_line(
    ledger: Ledger, tmp_path: Path
) -> None:
    files = {
        "ada/x.ann": "T1\tPER 0 3\tAda\n",
        "bo/x.ann": f"T1\tPER 0 3\tAda\n#1\tnote T1\t?\nT2\t{'P' * 501} 0 3\tAda\n",
        f"bo/{'y' * 501}.ann": "T1\tPER 0 3\tAda\n",
    }
    path = write_zip(tmp_path / "x.zip", files)
    with pytest.raises(Rejected) as refused:
        ledger.import_file(path, "p")
    said = [str(one).rpartition("x.zip/")[2] for one in refused.value.result.rejections]
    assert said[0].startswith("bo/x.ann, line 3: ")
    assert said[1].startswith(f"bo/{'y' * 501}.ann, line 1: ")
    assert len(said) == 2


def test_folders_that_share_no_document_are_said_to_be_annotators(tmp_path: Path) -> None:
    one = found_in(write_zip(tmp_path / "x.zip", {"ada/part1/x.ann": "", "ada/part2/y.ann": ""}))
    assert one.rows("item", "annotator") == [("x", "part1"), ("y", "part2")]
    (note,) = one.notes
    assert note.startswith("no document is in two of the folders part1, part2: they are taken for")
    two = found_in(
        write_zip(tmp_path / "y.zip", {"ada/p/x.ann": "", "bo/p/x.ann": "", "bo/y.ann": ""})
    )
    assert two.rows("item", "annotator") == [("p/x", "ada"), ("p/x", "bo"), ("y", "bo")]
    assert two.notes == []
