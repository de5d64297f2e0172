"""Mechanical Turk: assignments, forms of several questions, times of the Pacific coast."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from tests.formats.reading import found_in
from tracker.core.errors import Refused

ROWS = ("item", "annotator", "question", "category")
FIXED = {
    "HITId": "h", "AssignmentId": "1", "WorkerId": "W", "AssignmentStatus": "Approved",
    "AcceptTime": "Thu Oct 09 07:30:20 PDT 2025", "SubmitTime": "Thu Oct 09 07:30:52 PDT 2025",
    "WorkTimeInSeconds": "32", "Input.text": "Fine 😀 place in Oslo",
}  # fmt: skip


def results(path: Path, *rows: dict[str, str]) -> Path:
    """Write assignments, each with what differs from the usual one."""
    names = list(dict.fromkeys(name for row in rows for name in FIXED | row))
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, names, restval="", quoting=csv.QUOTE_ALL)
        table.writeheader()
        table.writerows(FIXED | row for row in rows)
    return path


def test_rejected_assignments_are_left_out_and_counted(tmp_path: Path) -> None:
    found = found_in(results(
        tmp_path / "x.csv",
        {"Answer.tone": "good"},
        {"Answer.tone": "bad", "WorkerId": "V", "AssignmentStatus": "Submitted"},
        {"Answer.tone": "bad", "WorkerId": "U", "AssignmentStatus": "Rejected"},
        {"Answer.tone": "bad", "WorkerId": "T", "Reject": "too fast"},
    ))  # fmt: skip
    assert found.format == "mechanical-turk"
    assert found.rows(*ROWS) == [("h", "V", "tone", "bad"), ("h", "W", "tone", "good")]
    assert found.left_out == {"rejected assignment": 2}


def test_a_second_assignment_on_an_item_is_a_pass_if_the_user_says_so(tmp_path: Path) -> None:
    path = results(
        tmp_path / "x.csv",
        {"Answer.tone": "good", "Input.id": "7"},
        {"Answer.tone": "bad", "Input.id": "7", "HITId": "other"},
        {"Answer.tone": "bad", "Input.id": "8", "HITId": "third"},
    )
    by_id, roles = "item=Input.id", ("item", "pass", "category")
    assert found_in(path, by_id).rows(*roles) == [("7", "", "bad"), ("7", "", "good"),
                                                  ("8", "", "bad")]  # fmt: skip
    assert found_in(path, by_id, repeat="pass").rows(*roles) == [
        ("7", "", "good"), ("7", "2", "bad"), ("8", "", "bad"),
    ]  # fmt: skip
    assert set(found_in(path, repeat="pass").rows("pass")) == {("",)}


def test_rows_end_before_the_columns_that_the_tool_does_not_fill(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(
        "HITId,AssignmentId,WorkerId,AssignmentStatus,Answer.startTime,Answer.submit,Answer.tone,"
        "Approve,Reject\nh,1,W,Submitted,1760000000,Submit,good\nh,2,V,Submitted,,,bad,x\n"
        "h,3,U,Submitted,,,bad,,too fast\n"
    )
    found = found_in(path)
    assert found.rows(*ROWS) == [("h", "V", "tone", "bad"), ("h", "W", "tone", "good")]
    assert found.left_out == {
        "rejected assignment": 1,
        "value of 'startTime' (a time or button of the form)": 1,
        "value of 'submit' (a time or button of the form)": 1,
    }
    assert {one[2] for one in found_in(path, questions=["x=submit"]).rows(*ROWS)} == {"x"}
    path.write_text(path.read_text().replace(",Submit,good", ",good"))
    with pytest.raises(Refused, match="line 2: 6 cells where the header has 9"):
        found_in(path)


def test_times_of_the_pacific_coast_are_moments(tmp_path: Path) -> None:
    winter = {"WorkerId": "V", "AcceptTime": "Thu Jan 01 23:59:00 PST 2026",
              "SubmitTime": "Fri Jan 02 00:00:30 PST 2026", "WorkTimeInSeconds": ""}  # fmt: skip
    rows = ({"Answer.tone": "good"}, {"Answer.tone": "good"} | winter)
    found = found_in(results(tmp_path / "x.csv", *rows))
    assert found.rows("labeled_at", "seconds") == [
        ("2025-10-09T14:30:52+00:00", "32"),
        ("2026-01-02T08:00:30+00:00", "90"),
    ]


def test_columns_of_answers_are_questions_and_a_comment_is_none(tmp_path: Path) -> None:
    row = {"Answer.tone.label": "good", "Answer.topics": "food|place", "Answer.comment": "why",
           "Input.day": "Monday", "Answer.blank": ""}  # fmt: skip
    path = results(tmp_path / "x.csv", row)
    found = found_in(path, keep=["Input.day"])
    assert found.asked == {"tone": "one", "topics": "several", "blank": "one"}
    assert found.rows(*ROWS, "comment", "keep:Input.day", "text") == [
        ("h", "W", question, category, "why", "Monday", FIXED["Input.text"])
        for question, category in (("blank", ""), ("tone", "good"), ("topics", "food"),
                                   ("topics", "place"))
    ]  # fmt: skip
    assert found_in(path, questions=["mood=tone"]).rows("question") == [("mood",)]


def test_boxes_are_categories_if_they_are_ticked(tmp_path: Path) -> None:
    found = found_in(results(tmp_path / "x.csv", {
        "Answer.tone": '{"pos":true,"neg":false}',
        "Answer.topic.food": "true", "Answer.topic.place": "false", "Answer.topic.price": "true",
        "Answer.sure.on": "false",
    }))  # fmt: skip
    assert found.rows("question", "category") == [
        ("sure", "false"), ("tone", "pos"), ("topic", "food"), ("topic", "price"),
    ]  # fmt: skip
    assert found.asked == {"tone": "one", "topic": "several", "sure": "one"}


def test_a_whole_form_as_json_is_decoded(tmp_path: Path) -> None:
    form = (
        '[{"tone": {"label": "good"}, "topics": {"labels": ["food", "place"]}, "stars": 4,'
        '"sure": {"yes": {"on": true}, "no": {"on": false}}, "comment": "why",'
        '"towns": {"entities": [{"startOffset": 17, "endOffset": 21, "label": "TOWN"}]},'
        '"box": {"boundingBoxes": [{"height": 1}]}}]'
    )
    found = found_in(results(tmp_path / "x.csv", {"Answer.taskAnswers": form}))
    assert found.rows("question", "category", "start", "end") == [
        ("stars", "4", "", ""), ("sure", "yes", "", ""), ("tone", "good", "", ""),
        ("topics", "food", "", ""), ("topics", "place", "", ""), ("towns", "TOWN", "16", "20"),
    ], "a browser counts the smiley twice"  # fmt: skip
    assert found.left_out == {"answer to 'box' that is no category": 1}
    assert found.rows("comment")[0] == ("why",)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"Answer.tone": '{"label":'}, "line 2: the cell of 'Answer.tone' looks like JSON and is"),
        ({"Answer.tone": "x", "AssignmentStatus": "Lost"}, "line 2: the AssignmentStatus 'Lost'"),
        ({"Answer.taskAnswers": "[1]"}, "line 2: Answer.taskAnswers holds no form"),
        ({}, "holds no answer"),
    ],
)
def test_what_is_no_result_is_refused_with_its_line(
    tmp_path: Path, row: dict[str, str], reason: str
) -> None:
    with pytest.raises(Refused, match=reason):
        found_in(results(tmp_path / "x.csv", row))
