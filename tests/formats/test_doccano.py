"""doccano: members are the names of files; what was never opened is no answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.formats.reading import found_in, write_json_lines, write_zip
from tests.formats.test_exports import EXPORTS
from tracker.core.errors import Refused
from tracker.ledger import Ledger

ROWS = ("item", "annotator", "question", "category")


def lines(*values: dict[str, Any]) -> str:
    return "".join(f"{json.dumps(one)}\n" for one in values)


def example(number: int, *labels: Any, **more: Any) -> dict[str, Any]:
    return {"id": number, "text": "t", "label": list(labels), "Comments": [], **more}


def test_examples_without_a_label_are_answers_only_if_they_were_approved(tmp_path: Path) -> None:
    files = {"ada.jsonl": lines(example(1, "x"), example(2)), "bo.jsonl": lines(example(1, "x"))}
    found = found_in(write_zip(tmp_path / "some.zip", files))
    assert ("2", "ada", "label", "") in found.rows(*ROWS), "bo's file lacks what bo did not approve"
    files["bo.jsonl"] = lines(example(1, "x"), example(2))
    found = found_in(write_zip(tmp_path / "all.zip", files))
    assert (len(found.records), found.left_out) == (2, {"example without a label": 2})
    found = found_in(write_zip(tmp_path / "topics-approved.zip", files))
    assert (len(found.records), found.left_out) == (4, {})


def test_files_of_members_who_did_nothing_may_be_empty(tmp_path: Path) -> None:
    files = {"ada.csv": "id,text,label,Comments\n1,t,a#b,why\n", "bo.csv": '""\n', "cy.csv": ""}
    found = found_in(write_zip(tmp_path / "x.zip", files))
    assert found.rows(*ROWS, "comment") == [
        ("1", "ada", "label", "a", "why"),
        ("1", "ada", "label", "b", "why"),
    ]
    assert found.asked == {"label": "several"}


def test_a_folder_of_the_files_is_read_as_their_zip_file(tmp_path: Path) -> None:
    write_json_lines(tmp_path / "ada.jsonl", [example(1, "x", topic="rain")])
    found = found_in(tmp_path, keep=["topic"])
    assert found.format == "doccano"
    assert found.rows("annotator", "text", "keep:topic") == [("ada", "t", "rain")]


def test_intents_are_a_question_and_entities_another(tmp_path: Path) -> None:
    record = {"id": 1, "text": "to Oslo", "cats": ["go"], "entities": [[3, 7, "TOWN"]],
              "Comments": []}  # fmt: skip
    found = found_in(write_zip(tmp_path / "x.zip", {"ada.jsonl": lines(record)}))
    assert found.asked == {"cats": "one", "entities": "spans"}
    assert found.rows("question", "category", "start", "end") == [
        ("cats", "go", "", ""),
        ("entities", "TOWN", "3", "7"),
    ]


def test_relations_and_boxes_are_counted(tmp_path: Path) -> None:
    entity = {"id": 7, "label": "TOWN", "start_offset": 0, "end_offset": 4}
    record = {"id": 1, "text": "Oslo", "entities": [entity], "relations": [{"id": 1}],
              "bbox": [{}, {}], "Comments": [{"id": 1, "comment": "why"}]}  # fmt: skip
    found = found_in(write_zip(tmp_path / "x.zip", {"ada.jsonl": lines(record)}))
    assert found.rows("category", "start", "end", "comment") == [("TOWN", "0", "4", "why")]
    assert found.left_out == {"relation": 1, "bounding box": 2}


def test_labels_that_members_share_are_refused(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "x.zip", {"all.jsonl": lines(example(1, "x"))})
    with pytest.raises(Refused, match=r"who answered: the members of the project share labels"):
        found_in(path)


def test_a_single_file_is_refused_unless_a_field_has_the_annotator(tmp_path: Path) -> None:
    path = write_json_lines(tmp_path / "ada.jsonl", [example(1, "x", coder="Ada")])
    with pytest.raises(Refused, match=r"(?s)ada.jsonl does not say who answered.*zip"):
        found_in(path)
    assert found_in(path, "annotator=coder").rows("annotator") == [("Ada",)]


def test_spans_that_are_none_are_refused_with_the_place(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "x.zip", {"ada.jsonl": lines(example(1, [0, "4", "PER"]))})
    with pytest.raises(Refused, match=r"x\.zip/ada\.jsonl, line 1: a span starts at 0 and ends"):
        found_in(path)


def test_spans_behind_the_end_of_the_text_are_rejected_with_the_place(
    ledger: Ledger, tmp_path: Path
) -> None:
    far, fits = [0, 99, "PER"], [0, 4, "PER"]
    texts = [example(1, fits, text="to Oslo!"), example(2, fits, far, text="to Oslo!")]
    path = write_zip(tmp_path / "x.zip", {"ada.jsonl": lines(*texts), "bo.jsonl": lines(texts[1])})
    with pytest.raises(Refused) as refused:
        ledger.import_file(path, "p")
    where = "ada.jsonl, line 2: a span ends at 99, and the text has 8 characters"
    assert where in f"{refused.value}"
    result = ledger.import_file(path, "p", skip_invalid=True)
    assert (result.rows, result.inserted, result.rejected) == (3, 1, 2)


def test_one_question_of_several_is_read(tmp_path: Path) -> None:
    export = EXPORTS / "doccano" / "doccano-spans.jsonl.zip"
    found = found_in(export, questions=["names=label"])
    assert {one["question"] for one in found.records} == {"names"}
    with pytest.raises(Refused, match="holds no answer"):
        found_in(export, questions=["names=other"])


def old(number: int, *labels: Any, **more: Any) -> dict[str, Any]:
    """An example as doccano 1.5 wrote it."""
    return {"id": number, "data": "Oslo", "label": list(labels), **more}


@pytest.mark.parametrize("text", ["data", "text"])
def test_the_zip_file_of_an_older_version_is_read(tmp_path: Path, text: str) -> None:
    some = {"id": 1, text: "Oslo", "label": [[0, 4, "TOWN"]]}
    files = {"ada.jsonl": lines(some), "bo.jsonl": lines({**some, "label": []})}
    found = found_in(write_zip(tmp_path / "x.zip", files))
    assert found.format == "doccano"
    assert found.rows(*ROWS, "text") == [("1", "ada", "label", "TOWN", "Oslo")]
    assert found.left_out == {"example without a label": 1}
    files = {"ada.csv": "id,data,label\n1,Oslo,a#b\n"}
    assert found_in(write_zip(tmp_path / "y.zip", files)).rows("annotator", "category") == [
        ("ada", "a"), ("ada", "b")
    ]  # fmt: skip
    far = lines(old(1, [0, 5, "TOWN"]), old(2, [0, 4, "TOWN"]))
    found = found_in(write_zip(tmp_path / "z.zip", {"ada.jsonl": far}))
    assert found.rows("item") == [("2",)]


def test_files_of_an_older_version_that_name_nobody_are_refused(tmp_path: Path) -> None:
    record = old(1, "x")
    path = write_json_lines(tmp_path / "all.jsonl", [record])
    with pytest.raises(Refused, match=r"who answered: the members of the project share labels"):
        found_in(write_zip(tmp_path / "x.zip", {"all.jsonl": lines(record)}))
    with pytest.raises(Refused, match=r"who answered: the members of the project share labels"):
        found_in(path)
    path = write_json_lines(tmp_path / "ada.jsonl", [old(1, [0, 4, "TOWN"])])
    with pytest.raises(Refused, match=r"(?s)ada.jsonl does not say who answered.*zip"):
        found_in(path)


def test_a_table_with_an_annotator_is_none_of_doccano(tmp_path: Path) -> None:
    records = [{"id": 1, "text": "t", "label": "x", "annotator": "Ada"}]
    found = found_in(write_json_lines(tmp_path / "x.jsonl", records), "item=id")
    assert (found.format, found.rows("annotator", "category")) == (None, [("Ada", "x")])
    files = {"one.csv": "id,text,label,annotator\n1,t,x,Ada\n"}
    found = found_in(write_zip(tmp_path / "x.zip", files), "item=id")
    assert found.rows("annotator") == [("Ada",)]
    records = [{"id": 1, "text": "t", "label": ["x"]}]  # truths, not answers
    found = found_in(write_json_lines(tmp_path / "y.jsonl", records), "item=id", "gold=label")
    assert found.format != "doccano"
