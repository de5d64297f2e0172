"""LeWiDi's files, and files of formats that are not read."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import fates, standing, stored
from tracker.core.errors import Refused
from tracker.ledger import Ledger

Write = Callable[..., Path]

ITEMS: dict[str, Any] = {
    "7": {"text": "one", "annotators": "Ann1,Ann2", "annotations": {"Ann1": "2", "Ann2": "0"},
          "number of annotations": 2, "soft_label": {"0": 0.5, "2": 0.5}, "split": "train"},
    "8": {"text": "two", "annotators": "Ann2", "annotations": "1", "split": "dev"},
}  # fmt: skip


def test_each_annotation_is_an_answer(ledger: Ledger, write: Write) -> None:
    file = write(json.dumps(ITEMS).encode(), "dev.json")
    result = ledger.import_file(file, "p", keep=["split"])
    assert fates(result) == {"inserted": 3}
    assert standing(ledger) == [("7", "Ann1", "2"), ("7", "Ann2", "0"), ("8", "Ann2", "1")]
    assert result.columns[0]["format"] == "lewidi"
    assert result.columns[0]["left_out"] == ["1 soft_label"]
    assert fates(ledger.import_file(file, "p", format="lewidi")) == {"unchanged": 3}


@pytest.mark.parametrize(
    ("item", "sign"),
    [
        ({"annotators": "A,B", "annotations": "1"}, "2 annotators and 1 annotations"),
        ({"annotators": None, "annotations": None}, "0 annotators and 0 annotations"),
    ],
)
def test_annotations_of_nobody_are_refused(
    sqlite_ledger: Ledger, write: Write, item: dict[str, Any], sign: str
) -> None:
    file = write(json.dumps({"7": item}).encode(), "a.json")
    with pytest.raises(Refused, match=f"item 1: there are {sign}"):
        sqlite_ledger.import_file(file, "p")


def zipped(member: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr(member, "x")
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "an old Office file"),
        (b"%PDF-1.7\n%\xe2\xe3", "a PDF"),
        (b"\x89PNG\r\n\x1a\n" + bytes(9), "an image"),
        (b"\xff\xd8\xff\xe0" + bytes(9), "an image"),
        (zipped("word/document.xml"), "a Word document"),
        (zipped("META-INF/manifest.xml"), "an OpenDocument file"),
        (zipped("Index/Document.iwa"), "a file of Numbers"),
    ],
)
def test_what_is_no_table_is_named(
    sqlite_ledger: Ledger, write: Write, content: bytes, what: str
) -> None:
    with pytest.raises(Refused, match=f"answers.csv is {what}"):
        sqlite_ledger.import_file(write(content, "answers.csv"), "p")
    assert stored(sqlite_ledger) == {}
