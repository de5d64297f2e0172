"""Potato: each schema is a question; its server's folder says when."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.formats.reading import found_in, write_json_lines
from tests.formats.test_exports import EXPORTS
from tracker.core.errors import Refused

ROWS = ("item", "annotator", "question", "category")
FOLDER = EXPORTS / "potato" / "diary.annotation_output"


def record(labels: dict[str, Any], spans: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"instance_id": "d1", "user_id": "ada", "labels": labels, "spans": spans or {},
            "links": {}}  # fmt: skip


def test_the_folder_says_when_an_answer_was_last_changed() -> None:
    found = found_in(FOLDER)
    assert ("d1", "ada@example.org", "2026-11-20T23:33:10.022025") in found.rows(
        "item", "annotator", "labeled_at"
    )


def test_the_folder_is_read_without_its_histories_and_as_a_zip_file(tmp_path: Path) -> None:
    copy = tmp_path / "annotation_output"
    shutil.copytree(FOLDER, copy)
    packed = shutil.make_archive(str(tmp_path / "x"), "zip", tmp_path, "annotation_output")
    assert found_in(Path(packed)).records == found_in(FOLDER).records
    for history in copy.rglob("annotation_history.jsonl"):
        history.unlink()
    found = found_in(copy)
    assert found.rows(*ROWS) == found_in(FOLDER).rows(*ROWS)
    assert found.rows("labeled_at") == [("",)] * 6


def test_each_schema_is_a_question_of_its_kind(tmp_path: Path) -> None:
    labels = {"mood": {"glad": "glad"}, "topics": {"rain": True, "sun": "sun", "wind": False},
              "scale": {"slider": "7"}, "land": {"select-one": "NO"}, "why": {"text_box": "so"},
              "table": {"ease": "3", "speed": "4"}}  # fmt: skip
    spans = {"names": [{"schema": "names", "name": "PER", "start": 0, "end": 4}]}
    path = write_json_lines(tmp_path / "x.jsonl", [record(labels, spans)])
    found = found_in(path)
    assert found.rows("question", "category", "start", "end") == [
        ("land", "NO", "", ""),
        ("mood", "glad", "", ""),
        ("names", "PER", "0", "4"),
        ("scale", "7", "", ""),
        ("table: ease", "3", "", ""),
        ("table: speed", "4", "", ""),
        ("topics", "rain", "", ""),
        ("topics", "sun", "", ""),
    ]
    assert found.left_out == {"free text": 1}
    assert (found.asked["topics"], found.asked["names"]) == ("several", "spans")


def test_a_table_holds_spans_as_json_and_the_last_of_several_choices(tmp_path: Path) -> None:
    span = json.dumps([{"name": "PER", "start": 0, "end": 4}]).replace('"', '""')
    path = tmp_path / "x.csv"
    path.write_text(
        f'instance_id,user_id,mood.glad,mood,mood.sad,n._spans\nd1,ada,glad,sad,sad,"{span}"\n'
    )
    found = found_in(path)
    assert found.format == "potato"
    assert found.rows("question", "category", "end") == [("mood", "sad", ""), ("n", "PER", "4")]


def test_what_is_no_answer_is_refused_with_the_place(tmp_path: Path) -> None:
    path = write_json_lines(tmp_path / "x.jsonl", [record({"mood": {"glad": "glad"}}), record(
        {}, {"names": [{"name": "PER", "start": "0", "end": 4}]})])  # fmt: skip
    with pytest.raises(Refused, match=r"x\.jsonl, line 2: a span starts at 0 and ends at 4"):
        found_in(path)
