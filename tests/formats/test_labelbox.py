"""Labelbox: classifications are questions, entities end with their last character."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.formats.reading import found_in, write_json_lines
from tests.formats.test_exports import EXPORTS
from tracker.core.errors import Refused
from tracker.ledger import Ledger

EXPORT = EXPORTS / "hand-written" / "labelbox.ndjson"


def changed(tmp_path: Path, **more: Any) -> Path:
    """The first data row of the sample; each label has these fields as well."""
    row = json.loads(EXPORT.read_text().splitlines()[0])
    for label in row["projects"]["p1"]["labels"]:
        for name, fields in more.items():
            label[name] |= fields
    return write_json_lines(tmp_path / "x.ndjson", [row])


def test_a_data_row_has_its_text_and_its_keys() -> None:
    found = found_in(EXPORT, "item=global_key", keep=["media_attributes.mime_type"])
    assert found.rows("item", "text", "keep:media_attributes.mime_type")[0] == (
        "key-r1",
        "Ada likes Oslo.",
        "text/plain",
    )
    assert found.asked == {"objects": "spans", "Tone": "one", "Topics": "several"}


def test_skipped_labels_are_none_and_reviews_are_counted(tmp_path: Path) -> None:
    review = {"reviews": [{"reviewed_by": "x"}]}
    path = changed(tmp_path, performance_details={"skipped": True}, label_details=review)
    with pytest.raises(Refused, match="holds no answer; left out: 2 reviews, 2 skipped labels"):
        found_in(path)


def test_benchmarks_are_references_too(tmp_path: Path) -> None:
    found = found_in(changed(tmp_path, label_details={"is_benchmark_reference": True}))
    gold = [one for one in found.records if one.get("kind") == "reference"]
    assert {one["annotator"] for one in gold} == {"gold"}
    assert len(gold) * 2 == len(found.records)


def test_the_same_person_twice_makes_passes_by_time(tmp_path: Path) -> None:
    path = changed(tmp_path, label_details={"created_by": "ada"})
    found = found_in(path, questions=["Tone=Tone"])
    assert found.rows("category", "pass") == [("Bad", "2"), ("Good", "")]
    found = found_in(path, questions=["Tone=Tone"], repeat="revision")
    assert found.rows("category", "pass") == [("Bad", ""), ("Good", "")]


def test_what_was_asked_about_a_choice_is_a_question(tmp_path: Path) -> None:
    further = [{"name": "Why", "radio_answer": {"name": "Late"}},
               {"name": "Note", "text_answer": {"content": "x"}}]  # fmt: skip
    answer = {"name": "Bad", "classifications": further}
    path = changed(tmp_path, annotations={
        "objects": [{"name": "BOX", "annotation_kind": "ImageBoundingBox"}],
        "classifications": [{"name": "Tone", "radio_answer": answer}]})  # fmt: skip
    found = found_in(path)
    assert set(found.rows("question", "category")) == {("Tone", "Bad"), ("Why", "Late")}
    assert found.left_out == {"object of kind 'ImageBoundingBox'": 2, "free text": 2}


def test_an_answer_without_a_name_is_refused_with_its_line(tmp_path: Path) -> None:
    path = changed(
        tmp_path, annotations={"classifications": [{"name": "Tone", "radio_answer": {}}]}
    )
    with pytest.raises(Refused, match=r"x\.ndjson, line 1: the answer to 'Tone' is no text"):
        found_in(path)


@pytest.mark.parametrize("details", [None, {}])
def test_labels_that_name_nobody_are_refused_with_the_option_that_names_them(
    ledger: Ledger, tmp_path: Path, details: dict[str, str] | None
) -> None:
    rows = [json.loads(line) for line in EXPORT.read_text().splitlines()]
    for row in rows:
        for label in row["projects"]["p1"]["labels"]:
            label["label_details"] = details
    path = write_json_lines(tmp_path / "x.ndjson", rows)
    with pytest.raises(
        Refused, match="line 1: a label has no label_details, which say who"
    ) as refused:
        ledger.import_file(path, "p", skip_invalid=True)
    assert "'label_details': True" in (refused.value.mend or "")
