"""Files, folders and archives: who answered, damaged ones, encodings, and values one at a time."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import Workbook

from tests.formats.reading import EXPORTS, found_in, write_folder, write_zip
from tests.helpers import fates, standing, stored
from tracker.core.errors import InvalidOption, Refused
from tracker.formats import source as archive
from tracker.formats.source import STDIN, SourceFile, zip_archive
from tracker.formats.streams import head_columns, head_value, json_records, table_rows
from tracker.projects.questions import QuestionOptions

ROWS = "item annotator category"

TWO = "item,annotator,category\ni{0},A,x\ni{0},B,y\n"


@pytest.fixture
def folder(tmp_path):
    """Two files of answers, one in a folder, and one that no reader reads."""
    files = {"one.csv": TWO.format(1), "late/two.csv": TWO.format(2), ".DS_Store": b"\0\0"}
    return write_folder(tmp_path / "answers", files)


def zipped(folder: Path) -> Path:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    contents = {str(path.relative_to(folder)): path.read_bytes() for path in files}
    return write_zip(folder.with_suffix(".zip"), contents)


def test_a_folder_and_its_zip_file_are_the_same(ledger, folder):
    result = ledger.import_file(folder, "p")
    assert (result.rows, result.inserted) == (4, 4)
    sources = [columns["source"] for columns in result.columns]
    assert sources == [f"{folder}/late/two.csv", f"{folder}/one.csv"]
    assert ledger.import_file(zipped(folder), "p").unchanged == 4
    (folder / "late" / "two.csv").write_text("item,annotator,category\n,A,x\n", "utf-8")
    with pytest.raises(Refused, match=r"answers\.zip/late/two\.csv, line 2: the item is empty"):
        ledger.import_file(zipped(folder), "p")


def test_archives_that_would_fill_the_machine_are_refused(
    sqlite_ledger, refuse, folder, monkeypatch
):
    monkeypatch.setattr("tracker.imports.parts.Parts.MOST", 2)
    with pytest.raises(Refused, match=r"more than 2 files with answers\nimport them in several"):
        sqlite_ledger.import_file(folder, "p")
    assert sqlite_ledger.projects.list() == []
    monkeypatch.setattr(archive, "_SMALL", 100_000)
    monkeypatch.setattr(archive, "_MOST_READ", 1)
    refuse(zipped(folder), "holds 2 files; 1 are the most")
    monkeypatch.setattr(archive, "_MOST_READ", 9)
    (folder / "bomb.csv").write_bytes(b"x" * 10_000_000)
    refuse(zipped(folder), "would unpack to 10,000,")


def test_damaged_and_odd_zip_files_are_refused(read, refuse, folder, tmp_path):
    (folder / "one.csv").write_text(TWO.format(1) * 1000, "utf-8")
    path = zipped(folder)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 255
    refuse(bytes(content), "damaged|cannot be read|NUL|UTF-8", name="x.zip")
    refuse(bytes(content[: len(content) // 2]), "is damaged: it does not unpack", name="x.zip")
    refuse({"../evil.csv": TWO.format(1)}, r"(?s)holds no file.*lead out of the archive")
    found = read({"../evil.csv": TWO.format(1), "good.csv": TWO.format(2)})
    assert found.table("item") == "i2; i2"
    assert found.left_out == {"file whose name leads out of the archive": 1}
    inner = write_zip(tmp_path / "inner.zip", {"a.csv": TWO.format(1)}).read_bytes()
    refuse({"inner.zip": inner}, r"inner\.zip is a zip file inside a zip file\nunpack it")


LOG = EXPORTS / "inspect" / "inspect-log.eval"
NAME = "header.json"
with zipfile.ZipFile(LOG) as packed:
    MEMBER = packed.getinfo(NAME)


def unpack(path: Path) -> None:
    with path.open("rb") as file, closing(zip_archive("x.eval", file).open(NAME)) as source:
        list(source.blocks())


@pytest.mark.parametrize("place", [*range(0, MEMBER.compress_size, 397), None])
def test_changed_bytes_and_sizes_of_packed_files_are_noticed(tmp_path, place):
    data = bytearray(LOG.read_bytes())
    if place is None:  # the file is longer than it says
        size = MEMBER.file_size.to_bytes(4, "little")
        at = data.rindex(size, 0, data.rindex(NAME.encode()))
        data[at : at + 4] = (MEMBER.file_size - 1).to_bytes(4, "little")
    else:
        data[MEMBER.header_offset + 30 + len(NAME) + len(MEMBER.extra) + place] ^= 255
    (tmp_path / "x.eval").write_bytes(data)
    with pytest.raises(Refused, match=NAME):
        unpack(tmp_path / "x.eval")


def zip_of(member: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        made.writestr(member, "x")
    return file.getvalue()


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "is an old Office file"),
        (b"%PDF-1.7\n%\xe2\xe3", "is a PDF"),
        (b"\xff\xd8\xff\xe0" + bytes(9), "is an image"),
        (zip_of("word/document.xml"), "is a Word document"),
        (zip_of("META-INF/manifest.xml"), "is an OpenDocument file"),
        (zip_of("Index/Document.iwa"), "is a file of Numbers"),
        *((json, "") for json in (b"{}", b"[{}, {}]")),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_files_other_than_tables_are_named(refuse, content, kind):
    refuse(content, rf"answers\.csv {kind}", name="answers.csv")


TABLE = "item,label\ni,x\nj,y\n"
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
    "ada.csv": TABLE, "ada.jsonl": [{"item": "i", "label": "x"}, {"item": "j", "label": "y"}],
    "prodigy.jsonl": [TASK], "old.json": [OLD_TASK], "doc.tsv": WEBANNO,
    "doc.ann": "T1\tPER 0 3\tAda\n", "doc.conll": "Ada B-PER\nlikes O\n",
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_of_the_annotator_that_the_user_names(save, refuse, name):
    path = save(FILES[name], name)
    refuse(path, "--annotator NAME")
    for options, who in (
        ({"annotator": "ada"}, "ada"),
        ({"annotator_from": "file"}, path.stem),
        ({"annotator_from": "folder"}, path.parent.name),
    ):
        assert {row[0] for row in found_in(path, **options).rows("annotator")} == {who}


@pytest.mark.parametrize(
    ("names", "content", "way", "people"),
    [
        ("all/ada.csv all/bo.csv", TABLE, "file", {"ada", "bo"}),
        ("ada/1.csv bo/x/1.csv", TABLE, "folder", {"ada", "bo"}),
        ("ada/doc.tsv bo/doc.tsv", WEBANNO, "folder", {"ada", "bo"}),
        ("doc/ada.tsv doc/bo.tsv", WEBANNO, "folder", {"doc"}),
    ],
)
def test_files_of_a_folder_are_of_the_annotators_in_their_paths(
    refuse, tmp_path, names, content, way, people
):
    files = dict.fromkeys(names.split(), content)
    for path in (write_folder(tmp_path / "in", files), write_zip(tmp_path / "in.zip", files)):
        assert {who for (who,) in found_in(path, annotator_from=way).rows("annotator")} == people
        assert {who for (who,) in found_in(path, annotator="cy").rows("annotator")} == {"cy"}
        refuse(path, "--annotator")


def test_folders_may_be_documents(read, refuse, tmp_path):
    files = {"d1/ada.ann": "T1\tP 0 3\tAda\n", "d2/ada.ann": "", "d2/bo.ann": ""}
    assert read(files, annotator_from="file").table(ROWS) == "d1 ada P; d2 ada -; d2 bo -"
    files = {"ada/d1.conll": "Ada B-PER\nslept O\n", "ada/d2.conll": "Oslo B-LOC\n\nMore O\n"}
    letters = write_folder(tmp_path / "letters", files)
    found = found_in(letters)
    assert found.table(ROWS) == "d1 ada PER; d2 ada LOC"
    assert found.notes == ["the files of ada differ in their tokens: each is a document"]
    refuse(letters / "ada", "documents of one annotator: --annotator NAME")
    for options in ({"annotator": "ada"}, {"annotator_from": "folder"}):
        assert found_in(letters / "ada", **options).table(ROWS) == found.table(ROWS)


def test_each_sheet_or_file_may_be_of_an_annotator(ledger, save, tmp_path):
    book = Workbook()
    for name, rows in {"ada": ["xy"], "bo": ["yx", "xx"], "notes": []}.items():
        sheet = book.create_sheet(name)
        sheet.append(["item", "label"] if rows else ["remarks"])
        for row in rows:
            sheet.append(list(row))
    del book["Sheet"]
    book.save(path := tmp_path / "x.xlsx")
    ledger.import_file(path, "p", annotator_from="sheet")
    assert standing(ledger) == [("x", "ada", "y"), ("x", "bo", "x"), ("y", "bo", "x")]
    files = [save(TABLE, name) for name in ("ada.csv", "bo.csv")]
    with pytest.raises(Refused, match="has no sheets"):
        ledger.import_file(files[0], "p", annotator_from="sheet")
    ledger.import_file(files, "q", annotator_from="file")
    assert [row[1] for row in standing(ledger, "q")] == ["ada", "bo"] * 2


def test_the_annotator_is_named_in_one_way_only(ledger, save):
    named = save("item,user,label,gold\ni,ada,x,x\nj,,y,\n")
    with pytest.raises(Refused, match=r"line 2: 'ada' answered in the file, and 'bo' (?s:.)*user"):
        ledger.import_file(named, "p", annotator="bo")
    ledger.import_file(named, "p", annotator="ada")
    assert sorted(row[1] for row in standing(ledger)) == ["ada", "ada", "gold"]
    assert ledger.import_file(named, "q", annotator="bo", ignore=["user"]).inserted == 2
    others: list[dict[str, Any]] = [
        {"wide": True}, {"columns": ["annotator=user"]}, {"annotator_from": "file"},
        {"annotator": " "},
    ]  # fmt: skip
    for other in others:
        with pytest.raises(InvalidOption, match="--annotator"):
            ledger.import_file(named, "p", **{"annotator": "bo", **other})


HEADER = "item;annotator;category\n"
ASCII = HEADER + "".join(f"{n:0400};Ann;x\n" for n in range(2700))  # more than a block


def test_windows_1252_is_recognized(sqlite_ledger, write):
    line = ASCII.count("\n") + 1
    text = ASCII + "j;Zoë – “né”;crème\nk;Zoë – “né”;plain\n"  # noqa: RUF001
    result = sqlite_ledger.import_file(write(text.encode("cp1252")), "p")
    assert ("j", "Zoë – “né”", "crème") in standing(sqlite_ledger)  # noqa: RUF001
    assert result.columns[0]["encoding"] == f"Windows-1252, as line {line} is not UTF-8"
    again = sqlite_ledger.import_file(write(text.encode()), "p")
    assert fates(again) == {"unchanged": result.rows}
    assert "encoding" not in again.columns[0]
    mixed = f"{ASCII}i;Zoë;x\n".encode() + "j;Zoë;x\n".encode("cp1252")  # it was UTF-8 before
    with pytest.raises(Refused, match=f"line {line + 1}: the byte 0xeb is not UTF-8") as caught:
        sqlite_ledger.import_file(write(mixed), "q")
    assert "--encoding NAME" in str(caught.value)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16-le", "utf-16-be"])
def test_files_with_a_mark_of_their_encoding(read, encoding):
    mark = "\ufeff" if encoding.endswith(("le", "be")) else ""
    text = f"{mark}item;annotator;category\r\ni;Zoë 😀;x\r\n"
    assert read(text.encode(encoding)).table(ROWS) == "i Zoë 😀 x"


def test_an_encoding_that_does_not_fit(refuse, save):
    refuse(HEADER.encode() + b"i;\xe9;x\nj;\x81;x\n", "line 3: the byte 0x81 is not WINDOWS-1252")
    file = save(f"{HEADER}i;A;x\nj;Zoë;x\n".encode("cp1252"))
    refuse(file, "line 3: the byte 0xeb is not UTF-8", encoding="utf-8")
    refuse(file, "is not ASCII", encoding="ascii")
    for wrong in ("utf-9", "base64", "a\0b"):
        with pytest.raises(InvalidOption, match="there is no encoding"):
            found_in(file, encoding=wrong)


def test_a_decimal_comma_in_files_with_semicolons(ledger, write):
    text = "item;annotator;category;seconds;confidence\ni;A;x;1,5;0,75\nj;A;x;2.5;1\n"
    ledger.import_file(write(text.encode()), "p")
    assert standing(ledger, "p", "seconds", "confidence") == [(1.5, 0.75), (2.5, 1.0)]
    with pytest.raises(Refused, match="the seconds '1,5' are not a number"):
        ledger.import_file(write(b'item,annotator,category,seconds\nk,A,x,"1,5"\n'), "p")
    file = write(b"item;annotator;category;gold\n i;A;3,5;4\n j;A;-1,25;3,5\n")
    ledger.import_file(file, "q", options=QuestionOptions(scale="interval"))
    assert standing(ledger, "q", "annotator", "category") == [
        ("A", "-1.25"), ("A", "3.5"), ("gold", "3.5"), ("gold", "4"),
    ]  # fmt: skip


@pytest.mark.parametrize("line", ['"sep=;"', "sep=;;;"])
def test_the_line_that_tells_excel_the_delimiter(sqlite_ledger, write, line):
    file = write(f"{line}\r\nitem;annotator;category\r\ni;A, B;x\r\n;B;y\r\n".encode())
    with pytest.raises(Refused, match="line 4: the item is empty"):
        sqlite_ledger.import_file(file, "p")
    assert stored(sqlite_ledger) == {}
    sqlite_ledger.import_file(file, "p", skip_invalid=True)
    assert standing(sqlite_ledger) == [("i", "A, B", "x")]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=5),
    lambda some: (
        st.lists(some, max_size=3) | st.dictionaries(st.text(max_size=3), some, max_size=3)
    ),
    max_leaves=8,
)


class Trickle(io.BytesIO):
    """A stream that gives few bytes at a time."""

    def read1(self, size: int | None = -1, /) -> bytes:
        return super().read1(min(7, size or 7))


def source(content: bytes | str) -> SourceFile:
    stream = Trickle(content) if isinstance(content, bytes) else io.BytesIO(content.encode())
    return SourceFile(STDIN, stream)


def values(content: bytes) -> list[Any]:
    return [record.value for record in json_records(source(content))]


@given(
    st.lists(VALUES, max_size=6), st.sampled_from([None, 2]), st.sampled_from(["utf-8", "utf-16"])
)
def test_a_list_is_read_value_by_value(records, indent, code):
    content = json.dumps(records, indent=indent, ensure_ascii=False).encode(code, "replace")
    whole = json.loads(content.decode(code))
    assert values(content) == whole
    places = [record.place for record in json_records(source(content))]
    assert places == [*range(1, len(whole) + 1)]


CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=5)


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=5), st.sampled_from(",;\t"))
def test_rows_are_read_as_they_were_written(rows, delimiter):
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerows([("a", "b", "c"), *rows])
    found = list(table_rows(source(text.getvalue())))
    assert [tuple(row.cells.values()) for row in found] == rows
    lines = text.getvalue().split("\n")
    assert all(lines[row.line - 1].startswith('"') for row in found)
    assert head_columns(source(text.getvalue())) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b"[1 2]", "'2' is between two values"),
        (b"[1]\n[2]", "line 2: there is something after the end"),
        (b'[1,\n{"a": tru}]', "line 2, value 2 of the list: no JSON"),
        (b"[" + b"[" * 100_000, "nested too deeply"),
        (b"[1" + b"0" * 5000 + b"]", "line 1, value 1 of the list: a number has too many digits"),
        (b'{"a": 1}\n{"a"', "line 2: the value does not end"),
        (b'["\xff"]', "the byte 0xff is not UTF-8"),
        ("a,b\n1\n", "line 2: 1 cells where the header has 2"),
        ('a,b\n1,2\n"x\n', "line 3: a quote is opened that never closes"),
        ('a,"b" c\n1,2\n', "line 1: a quoted cell goes on after"),
        ('a,"b', "line 1: a quote is opened"),
    ],
    ids=lambda value: repr(value[:20]),
)
def test_damaged_files_are_refused_with_the_place(content, reason):
    with pytest.raises(Refused, match=reason):
        values(content) if isinstance(content, bytes) else list(table_rows(source(content)))


@pytest.mark.parametrize(
    ("content", "first"),
    [
        (b'[{"a": 1, "b": [2]}, {"c"', {"a": 1, "b": [2]}),
        (b'\xef\xbb\xbf  {"a": 1}\n{"b": 2}', {"a": 1}),
        (b'[{"a": 1, "b": {"c', {"a": 1, "b": None}),
        (b"item,annotator\n1,2", None),
        (b'{"a": 1 2: 3}', {"a": 1}),
        (b"{1: 2}", None),
    ],
)
def test_the_head_of_a_file_has_its_first_value(content, first):
    assert head_value(SourceFile(STDIN, io.BytesIO(content))) == first
