"""Label Studio's JSON-MIN, CSV and TSV: which columns are controls, and whose."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest

from tests.formats.label_studio import OURS, ROWS, record, table
from tests.formats.reading import found_in
from tracker.core.errors import Refused
from tracker.ledger import Ledger


def test_columns_that_differ_within_a_task_are_controls(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(table([
        record(1, 1, tone="good", why="so it is", text="=1+1", split="train", spans=""),
        record(1, 2, tone="bad", why="I think", text="=1+1", split="train",
               spans='[{"start":0,"end":2,"text":"=1","labels":["A","B"]}]'),
        record(2, 1, tone="good", why="", text="no", split="train", spans=""),
        *(record(2, 3 + n, tone="good", why=f"reason {n}", text="no", split="train", spans="")
          for n in range(5)),
    ]))  # fmt: skip
    found = found_in(path)
    assert found.format == "label-studio"
    assert found.rows(*ROWS, "start")[:7] == [
        ("1", "1", "spans", "", ""),
        ("1", "1", "tone", "good", ""),
        ("1", "2", "spans", "A", "0"),
        ("1", "2", "spans", "B", "0"),
        ("1", "2", "tone", "bad", ""),
        ("2", "1", "spans", "", ""),
        ("2", "1", "tone", "good", ""),
    ]
    assert found.asked == {"tone": "one", "spans": "spans"}
    assert any("'why' of free texts" in what for what in found.left_out)
    assert any("--question split=split" in what for what in found.left_out)
    assert found_in(path, keep=["split"]).rows("text", "keep:split")[0] == ("=1+1", "train")
    assert found_in(path, questions=["set=split"]).rows("question", "category") == [
        ("set", "train")
    ] * 8  # fmt: skip


def test_a_file_that_does_not_show_its_controls_is_refused(tmp_path: Path) -> None:
    rows = [record(n, 1, tone="xy"[n % 2], split="ab"[n % 2], text=f"t{n}") for n in range(8)]
    path = tmp_path / "x.csv"
    path.write_bytes(table(rows))
    with pytest.raises(Refused, match=r"which columns hold the answers\n.*--question NAME=COLUMN"):
        found_in(path)
    assert len(found_in(path, questions=["tone=tone"]).records) == 8
    path.write_bytes(table([{k: v for k, v in row.items() if k != "split"} for row in rows]))
    assert found_in(path).asked == {"tone": "one"}


@pytest.mark.parametrize("form", ["csv", "json"])
def test_records_of_one_annotator_are_passes_in_whatever_order(tmp_path: Path, form: str) -> None:
    rows = [
        record(1, 1, day=5, tone="x"),
        record(2, 1, tone="y"),
        record(1, 2, day=3, tone="y"),
        record(1, 1, day=2, tone="y"),
        record(1, 1, day=4, tone="y"),
    ]
    path = tmp_path / "some"
    path.write_bytes(table(rows) if form == "csv" else json.dumps(rows).encode())
    found = found_in(path, questions=["tone=tone"])
    assert [(one["labeled_at"][8:10], one.get("pass")) for one in found.records] == [
        ("05", "3"), ("01", None), ("03", None), ("02", None), ("04", "2"),
    ]  # fmt: skip
    again = found_in(path, questions=["tone=tone"], repeat="revision")
    assert not any("pass" in one for one in again.records)


def test_records_without_an_annotation_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(table([
        record(1, 1, stars='[{"rating":5}]'),
        record(2, "", annotation_id="", stars=""),
        record(3, "None", stars='[{"rating":5}]'),
    ]))  # fmt: skip
    found = found_in(path)
    assert found.rows("item", "category") == [("1", "5")]
    assert found.left_out == {
        "task without an annotation": 1,
        "annotation without an annotator": 1,
    }


def test_json_in_a_cell_is_never_a_category(ledger: Ledger, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    rows = [record(1, 1, topic='{"choices":["a","b"]}'), record(1, 2, topic='{"choices":["a"')]
    path.write_bytes(table(rows))
    with pytest.raises(Refused, match=r"x\.csv, line 3: the cell of 'topic' is no whole JSON"):
        ledger.import_file(path, "p")


def test_a_file_for_conll_is_refused_with_the_export_to_choose() -> None:
    with pytest.raises(Refused, match=r"does not say who answered.*\nexport as JSON"):
        found_in(OURS / "notices-spans.conll")


@pytest.mark.parametrize("name", ["parcels-choice.json", "parcels-choice.tsv"])
def test_exports_are_recognized_by_what_they_hold(tmp_path: Path, name: str) -> None:
    copy = tmp_path / "export.txt"
    shutil.copy(OURS / name, copy)
    whole = found_in(OURS / name)
    assert found_in(copy).records == whole.records
    assert found_in(copy, format="label-studio").records == whole.records
    copy.write_bytes(gzip.compress(copy.read_bytes()))
    assert found_in(copy).records == whole.records


def test_all_exports_of_a_project_hold_the_same_answers() -> None:
    roles = (*ROWS, "start", "end", "labeled_at", "pass")
    for project in ("parcels-choice", "notices-spans"):
        wanted = found_in(OURS / f"{project}.json")
        people = sorted(
            tuple(one.get(role, "") for role in roles)
            for one in wanted.records if not one.get("kind")
        )  # fmt: skip
        for form in ("min.json", "csv"):
            assert found_in(OURS / f"{project}.{form}").rows(*roles) == people, (project, form)


@pytest.mark.parametrize("own_id", [False, True])
def test_json_has_the_controls_behind_the_number_of_the_task(tmp_path: Path, own_id: bool) -> None:
    rows = []
    for n in range(12):
        data = {"split": "ab"[n % 2], "ref": f"r{n}", "text": f"a text of its own: {n}"}
        data = {"id": n, **data} if own_id else {**data, "id": n}
        rows.append({"lot": "x", **data, "tone": "xy"[n % 2], **record(n, 1)})
    path = tmp_path / "x.json"
    path.write_text(json.dumps(rows))
    if own_id:
        with pytest.raises(Refused, match="does not show which columns"):
            found_in(path)
    else:
        found = found_in(path)
        assert found.asked == {"tone": "one"}
        assert len(found.records) == 12


@pytest.mark.parametrize(
    ("column", "good", "bad", "reason"),
    [
        ("stars", '[{"rating":5}]', "=1+1", "'stars' is answered with numbers, and with =1"),
        ("marks", '[{"start":0,"end":1,"labels":["A"]}]',
         '[{"start":0,"end":1,"labels":["A"]}, "A"]', "'marks' is answered with spans, and with"),
    ],
)  # fmt: skip
def test_a_cell_that_does_not_fit_its_control_is_rejected_with_its_line(
    ledger: Ledger, tmp_path: Path, column: str, good: str, bad: str, reason: str
) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(table([record(1, 1, **{column: good}), record(1, 2, **{column: bad})]))
    with pytest.raises(Refused, match=rf"x\.csv, line 3: {reason}"):
        ledger.import_file(path, "p")
    assert ledger.import_file(path, "p", skip_invalid=True).inserted == 1


def test_a_control_that_nobody_used_before_asks_for_what_its_first_answer_holds(
    ledger: Ledger, tmp_path: Path
) -> None:
    rows = [record(n, 1, tone=f'{{"choices":["x","{n % 3}"]}}', marks="") for n in range(12_000)]
    rows.append(record(0, 2, tone="", marks='[{"start":0,"end":1,"labels":["A"]}]'))
    path = tmp_path / "x.csv"
    path.write_bytes(table(rows))
    ledger.import_file(path, "p")
    kinds = {one.name: one.answers for one in ledger.questions.list("p")}
    assert kinds == {"tone": "several", "marks": "spans"}
