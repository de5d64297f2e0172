"""CrowdFlower, Mechanical Turk, SageMaker and Toloka: assignments of workers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.formats.reading import EXPORTS, csv_table, write_folder

ROWS = "item annotator question category"


def test_crowdflower_truths_are_reference_and_tainted_judgments_left_out(read):
    export = EXPORTS / "crowdflower" / "full.csv"
    found = read(export)
    gold = [record for record in found.records if record.get("kind") == "reference"]
    assert [(record["annotator"], record["category"]) for record in gold] == [("gold", "good")]
    workers = {who for (who,) in found.rows("annotator")}
    tainted = {who for (who,) in read(export, ignore=("_tainted",)).rows("annotator")}
    assert tainted == workers | {"33"}


def test_crowdflower_questions_vary_within_a_unit_or_have_truths(read, refuse):
    table = '_unit_id,_worker_id,tone,shown,tone_gold\n1,w,a,x,\n1,v,b,x,\n2,w,a,y,"a\nb"\n'
    found = read(table)
    assert found.asked == {"tone": "one"}
    assert found.left_out == {"truth of 'tone' with several right answers": 1}
    constant = "_unit_id,_worker_id,tone\n1,w,a\n2,v,b\n"
    refuse(constant, r"which columns hold the answers(?s:.*)--question")
    assert read(constant, questions=["t=tone"]).table("question") == "t; t"
    report = "_unit_id,_unit_state,_trusted_judgments,tone,tone:confidence\n1,f,3,a,1\n"
    refuse(report, "names no worker\ndownload the full report")


FIXED = {
    "HITId": "h", "AssignmentId": "1", "WorkerId": "W", "AssignmentStatus": "Approved",
    "AcceptTime": "Thu Oct 09 07:30:20 PDT 2025", "SubmitTime": "Thu Oct 09 07:30:52 PDT 2025",
    "WorkTimeInSeconds": "32", "Input.text": "Fine 😀 place in Oslo",
}  # fmt: skip


def results(*rows: dict[str, str]) -> str:
    """Assignments, each with what differs from the usual one."""
    return csv_table(*(FIXED | row for row in rows))


def test_a_second_assignment_on_an_item_is_a_pass_on_request(read):
    table = results(*(
        {"Answer.tone": tone, "Input.id": item, "HITId": hit}
        for tone, item, hit in (("good", "7", "h"), ("bad", "7", "other"), ("bad", "8", "third"))
    ))  # fmt: skip
    by_id, roles = "item=Input.id", "item pass category"
    assert read(table, by_id).table(roles) == "7 - bad; 7 - good; 8 - bad"
    assert read(table, by_id, repeat="pass").table(roles) == "7 - good; 7 2 bad; 8 - bad"
    assert read(table, repeat="pass").table("pass") == "-; -; -"


def test_rows_of_mechanical_turk_may_end_before_empty_columns(read, refuse):
    table = (
        "HITId,AssignmentId,WorkerId,AssignmentStatus,Answer.startTime,Answer.submit,Answer.tone,"
        "Approve,Reject\nh,1,W,Submitted,1760000000,Submit,good\nh,2,V,Submitted,,,bad,x\n"
        "h,3,U,Submitted,,,bad,,too fast\nh,4,T,Rejected,,,bad\n"
    )
    found = read(table)
    assert found.table(ROWS) == "h V tone bad; h W tone good"
    assert found.left_out == {
        "rejected assignment": 2,
        "value of 'startTime' (a time or button of the form)": 1,
        "value of 'submit' (a time or button of the form)": 1,
    }
    short = table.replace(",Submit,good", ",good")
    refuse(short, "line 2: 6 cells where the header has 9")


def test_times_of_the_pacific_coast_are_moments(read):
    winter = {"WorkerId": "V", "AcceptTime": "Thu Jan 01 23:59:00 PST 2026",
              "SubmitTime": "Fri Jan 02 00:00:30 PST 2026", "WorkTimeInSeconds": ""}  # fmt: skip
    found = read(results({"Answer.tone": "good"}, {"Answer.tone": "good"} | winter))
    assert found.table("labeled_at seconds") == (
        "2025-10-09T14:30:52+00:00 32; 2026-01-02T08:00:30+00:00 90"
    )


def test_answer_columns_of_mechanical_turk_are_questions(read):
    table = results({"Answer.tone.label": "good", "Answer.topics": "food|place",
        "Answer.comment": "why", "Input.day": "Monday", "Answer.blank": ""})  # fmt: skip
    found = read(table, keep=["Input.day"])
    assert found.asked == {"tone": "one", "topics": "several", "blank": "one"}
    assert found.table("question category") == "blank -; tone good; topics food; topics place"
    same = set(found.rows("item", "annotator", "comment", "keep:Input.day", "text"))
    assert same == {("h", "W", "why", "Monday", FIXED["Input.text"])}
    assert read(table, questions=["mood=tone"]).table("question") == "mood"
    boxes = read(results({
        "Answer.tone": '{"pos":true,"neg":false}', "Answer.sure.on": "false",
        "Answer.topic.food": "true", "Answer.topic.place": "false", "Answer.topic.price": "true",
    }))  # fmt: skip
    assert boxes.table("question category") == "sure false; tone pos; topic food; topic price"
    assert boxes.asked == {"tone": "one", "topic": "several", "sure": "one"}


def test_a_form_of_mechanical_turk_as_json_is_decoded(read):
    form = (
        '[{"tone": {"label": "good"}, "topics": {"labels": ["food", "place"]}, "stars": 4,'
        '"sure": {"yes": {"on": true}, "no": {"on": false}}, "comment": "why",'
        '"towns": {"entities": [{"startOffset": 17, "endOffset": 21, "label": "TOWN"}]},'
        '"box": {"boundingBoxes": [{"height": 1}]}}]'
    )
    found = read(results({"Answer.taskAnswers": form}))
    assert found.table("question category start end") == (
        "stars 4 - -; sure yes - -; tone good - -; topics food - -; topics place - -; "
        "towns TOWN 16 20"
    ), "a browser counts the smiley twice"
    assert found.left_out == {"answer to 'box' that is no category": 1}
    assert found.rows("comment")[0] == ("why",)


def answered(folder: Path, content: dict[str, Any], **fields: Any) -> Path:
    answers = {"answers": [{"workerId": "w", "answerContent": content}], **fields}
    return write_folder(folder, {"7/x.json": json.dumps(answers)}) / "7" / "x.json"


def test_elements_of_sagemaker_forms_are_questions(read, refuse, tmp_path):
    found = read(answered(tmp_path, {
        "tone": {"label": "good"}, "pick": {"pos": True, "neg": False}, "stars": 4,
        "names": {"entities": [{"label": "PER", "startOffset": 0, "endOffset": 4}]},
        "box": {"boundingBoxes": [{}]}}))  # fmt: skip
    assert found.table(f"{ROWS} end") == (
        "7 w names PER 4; 7 w pick pos -; 7 w stars 4 -; 7 w tone good -"
    )
    assert found.left_out == {"shape in an image": 1}
    loop = answered(tmp_path, {"tone": {"label": "good"}}, humanLoopName="loop-1")
    assert read(loop).table("item") == "loop-1"
    bad = answered(tmp_path, {"tone": {"x": [1]}})
    refuse(bad, r"x\.json, line 1: 'tone' is no form that is known")
    manifest = '{"source": "t", "tone": 0, "tone-metadata": {"human-annotated": "yes"}}\n'
    refuse(manifest, r"(?s)does not say who answered.*worker-response", name="output.manifest")


HEADER = (
    "INPUT:text\tOUTPUT:tone\tOUTPUT:topics\tGOLDEN:tone\tHINT:text\tASSIGNMENT:task_id\t"
    "ASSIGNMENT:worker_id\tASSIGNMENT:status\tASSIGNMENT:submitted\n"
)


def pool(*rows: str) -> str:
    return HEADER + "".join(f"{row}\n" for row in rows).replace("|", "\t")


def test_golden_values_of_toloka_are_reference_answers_once(read):
    table = pool(
        'Soup|good|["food","price"]|bad|Taste|t1|w1|APPROVED|2025-10-09T07:31:02.5',
        "",
        "Soup|bad|[]|bad|Taste|t1|w2|SUBMITTED|2025-10-09T07:32:02.5",
    )
    found = read(table, keep=["INPUT:text", "HINT:text"])
    assert found.format == "toloka"
    assert found.table(f"{ROWS} kind keep:HINT:text") == (
        "t1 gold tone bad reference Taste; t1 w1 tone good - Taste; t1 w1 topics food - Taste; "
        "t1 w1 topics price - Taste; t1 w2 tone bad - Taste; t1 w2 topics - - Taste"
    )
    assert found.asked == {"tone": "one", "topics": "several"}
    assert found.rows("annotator", "labeled_at")[0] == ("gold", "")
    escaped = pool(r'Soup||["food"\,"a\\\\\, b"]|||t1|w1|APPROVED|')
    assert read(escaped, questions=["topics=topics"]).table("category") == r"a\\, b; food"


def test_toloka_assignments_that_were_not_submitted_are_counted(read):
    table = pool(
        "Soup|good||||t1|w1|APPROVED|2025-10-09T07:31:02.5",
        "Soup|||||t1|w2|SKIPPED|",
        "Soup|bad||||t1|w3|REJECTED|2025-10-09T07:31:02.5",
        "Soup|||bad||t1|w4|EXPIRED|",
    )
    found = read(table, questions=["tone=tone"])
    assert found.table("annotator category") == "gold bad; w1 good"
    assert {what: n for what, n in found.left_out.items() if "task" in what} == {
        f"task of an assignment that is {state}": 1 for state in ("skipped", "rejected", "expired")
    }


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (results({"Answer.tone": '{"label":'}), "the cell of 'Answer.tone' looks like JSON and is"),
        (results({"Answer.tone": "x", "AssignmentStatus": "Lost"}), "the AssignmentStatus 'Lost'"),
        (results({"Answer.taskAnswers": "[1]"}), "Answer.taskAnswers holds no form"),
        (pool("Soup|good||||t1|w1|LOST|"), "the status 'LOST' is none of an assignment"),
        (pool("Soup|[1||||t1|w1|APPROVED|"), "the cell of 'OUTPUT:tone' looks like JSON"),
        (pool("Soup|good||||t1|w1|APPROVED"), "8 cells where the header has 9"),
    ],
    ids=lambda value: None if "\n" in value else value,
)
def test_damaged_results_are_refused_with_their_line(refuse, table, reason):
    refuse(table, f"line 2: {reason}")
    refuse(results({}), "holds no answer")
