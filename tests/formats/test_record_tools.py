"""Argilla, Labelbox, LeWiDi, Potato and Prodigy: each record says who answered what."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.formats.reading import EXPORTS, found_in
from tests.helpers import fates, standing
from tracker.core.errors import Refused

HAND_WRITTEN = EXPORTS / "hand-written"
ROWS = "item annotator question category"
PER = {"label": "PER", "start": 0, "end": 4}

FLAT = HAND_WRITTEN / "argilla-flat.json"


def flat(**keys: Any) -> tuple[dict[str, Any]]:
    """A record of version 2."""
    named = {name.replace("__", "."): value for name, value in keys.items()}
    return ({"id": "r1", "text": "t", **named},)


@pytest.mark.parametrize("name", ["argilla-flat.json", "argilla-nested.json", "argilla-1.jsonl"])
def test_argilla_suggestions_are_of_models_and_drafts_are_left_out(name):
    found = found_in(FLAT.with_name(name))
    assert found.format == "argilla"
    models = {row[1:] for row in found.rows("kind", "item", "annotator", "category") if row[0]}
    assert models == {("r1", "tone-model-v2", "bad"), ("r2", "tone-model-v2", "good")}
    assert {record["kind"] for record in found.records if "kind" in record} == {"model"}
    assert found.left_out == {
        "response with the status 'draft'": 2, "response with the status 'discarded'": 2,
    }  # fmt: skip
    assert found.asked == {"tone": "one", "topics": "several"}


def test_argilla_confidence_text_and_fields_are_kept(read):
    rows = read(FLAT, keep=["topic"]).rows("item", "confidence", "text", "keep:topic")
    assert [row for row in rows if row[0] == "r1" and row[1]] == [
        ("r1", "0.8", "The tram was late.", "news")
    ]


def test_argilla_spans_and_ratings_are_read_and_rankings_counted(read):
    answers = {"n": [PER], "r": 4, "k": [{"value": "a", "rank": 1}]}
    roles = "annotator question category end"
    found = read(flat(
        **{f"{name}__responses": [answer] for name, answer in answers.items()},
        **{f"{name}__responses__users": ["u"] for name in answers},
        **{f"{name}__responses__status": ["submitted"] for name in answers},
        n__suggestion=[PER], n__suggestion__score=[0.5], n__suggestion__agent=None))  # fmt: skip
    assert found.table(roles) == "suggestion n PER 4; u n PER 4; u r 4 -"
    assert found.left_out == {"ranking": 1}


def test_argilla_responses_of_version_1_are_columns_or_those_of_each_user(read):
    columns = {"user_id": ["u"], "value": ["bad"], "status": ["submitted"]}
    found = read(({"text": "t", "external_id": "r1", "tone": columns, "tone-suggestion": None,
                   "tone-suggestion-metadata": None},))  # fmt: skip
    assert found.table(ROWS) == "r1 u tone bad"
    response = {"user_id": "u", "values": {"tone": {"value": "bad"}}, "status": "submitted"}
    found = read(({"external_id": "r1", "fields": {"text": "t"}, "responses": [response],
        "suggestions": [{"question_name": "tone", "value": "bad", "agent": "m", "score": 1}],
    },))  # fmt: skip
    assert found.table(ROWS) == "r1 m tone bad; r1 u tone bad"


def test_argilla_data_sets_have_the_names_of_suggestions_if_the_file_has_them(read):
    found = read(EXPORTS / "argilla" / "data-set.parquet")
    models = [record for record in found.records if record.get("kind") == "model"]
    assert [(record["annotator"], record["category"]) for record in models] == [
        ("gpt-4o", "good"), ("gpt-4o", "food"),
    ]  # fmt: skip
    assert found.left_out == {
        "response with the status 'discarded'": 1, "response with the status 'draft'": 1,
    }  # fmt: skip
    found = read(EXPORTS / "argilla" / "data-set.jsonl")
    assert found.left_out["suggestion as a number without its name"] == 3
    models = [record for record in found.records if record.get("kind") == "model"]
    assert {record["category"] for record in models} == {"food"}
    found = read(EXPORTS / "argilla" / "records-nested.json")
    assert found.left_out == {"status of a response, which may be a draft": 11}


def test_an_argilla_question_may_be_named_by_its_control(ledger):
    result = ledger.import_file(FLAT, "p", questions=["mood=tone"])
    assert result.inserted == result.rows == 6


def test_damaged_argilla_data_sets_are_refused(refuse, tmp_path):
    record = flat(t__responses=["a"], t__responses__users=["u", "v"])
    refuse(record, r"record 1: 't' has 1 responses, and 2 users")
    row = {"id": "1", "tone.responses": ["a"], "tone.responses.users": ["x", "y"]}
    pd.DataFrame([row]).to_parquet(tmp_path / "x.parquet")
    refuse(tmp_path / "x.parquet", "row 1: 'tone' has 1 responses, and 2 users")
    table = "id,tone.responses,tone.responses.users\n1,['a' 'b'],['x' 'y']\n"
    refuse(table, r"as CSV.*\n.*to_parquet")


LABELBOX = HAND_WRITTEN / "labelbox.ndjson"


def data_row(**fields: Any) -> list[dict[str, Any]]:
    """The first data row of the sample; each label has these fields as well."""
    row: dict[str, Any] = json.loads(LABELBOX.read_text().splitlines()[0])
    for label in row["projects"]["p1"]["labels"]:
        for name, value in fields.items():
            label[name] = value if not value else label[name] | value
    return [row]


def test_a_labelbox_data_row_has_its_text_and_its_keys(read):
    found = read(LABELBOX, "item=global_key", keep=["media_attributes.mime_type"])
    assert found.rows("item", "text", "keep:media_attributes.mime_type")[0] == (
        "key-r1", "Ada likes Oslo.", "text/plain",
    )  # fmt: skip
    assert found.asked == {"objects": "spans", "Tone": "one", "Topics": "several"}


def test_labelbox_benchmarks_are_references_too(read):
    found = read(data_row(label_details={"is_benchmark_reference": True}))
    gold = [record for record in found.records if record.get("kind") == "reference"]
    assert {record["annotator"] for record in gold} == {"gold"}
    assert len(gold) * 2 == len(found.records)


def test_second_labelbox_labels_of_an_annotator_are_passes_by_time(read):
    rows = data_row(label_details={"created_by": "ada"})
    tone = {"questions": ["Tone=Tone"]}
    assert read(rows, **tone).table("category pass") == "Bad 2; Good -"
    assert read(rows, **tone, repeat="revision").table("category pass") == "Bad -; Good -"


def test_labelbox_classifications_of_a_choice_are_questions(read):
    further = [{"name": "Why", "radio_answer": {"name": "Late"}},
               {"name": "Note", "text_answer": {"content": "x"}}]  # fmt: skip
    answer = {"name": "Bad", "classifications": further}
    found = read(data_row(annotations={
        "objects": [{"name": "BOX", "annotation_kind": "ImageBoundingBox"}],
        "classifications": [{"name": "Tone", "radio_answer": answer}]}))  # fmt: skip
    assert set(found.rows("question", "category")) == {("Tone", "Bad"), ("Why", "Late")}
    assert found.left_out == {"object of kind 'ImageBoundingBox'": 2, "free text": 2}


def test_labelbox_labels_without_answers_or_annotators_are_refused(refuse):
    reviewed = {"performance_details": {"skipped": True},
                "label_details": {"reviews": [{"reviewed_by": "x"}]}}  # fmt: skip
    refuse(data_row(**reviewed), "holds no answer; left out: 2 reviews, 2 skipped labels")
    unnamed = {"classifications": [{"name": "Tone", "radio_answer": {}}]}
    refuse(data_row(annotations=unnamed), r"x\.jsonl, line 1: the answer to 'Tone' is no text")
    for details in (None, {}):
        refuse(data_row(label_details=details),
               "line 1: a label has no label_details, which say who"
               r"(?s:.*)'label_details': True")  # fmt: skip


LEWIDI: dict[str, Any] = {
    "7": {"text": "one", "annotators": "Ann1,Ann2", "annotations": {"Ann1": "2", "Ann2": "0"},
          "number of annotations": 2, "soft_label": {"0": 0.5, "2": 0.5}, "split": "train"},
    "8": {"text": "two", "annotators": "Ann2", "annotations": "1", "split": "dev"},
}  # fmt: skip


def test_each_lewidi_annotation_is_an_answer(ledger, save, refuse):
    file = save(json.dumps(LEWIDI), "dev.json")
    result = ledger.import_file(file, "p", keep=["split"])
    assert fates(result) == {"inserted": 3}
    assert standing(ledger) == [("7", "Ann1", "2"), ("7", "Ann2", "0"), ("8", "Ann2", "1")]
    assert result.columns[0]["format"] == "lewidi"
    assert result.columns[0]["left_out"] == ["1 soft_label"]
    assert fates(ledger.import_file(file, "p", format="lewidi")) == {"unchanged": 3}
    for people, answers, numbers in (("A,B", "1", (2, 1)), (None, None, (0, 0))):
        item = json.dumps({"7": {"annotators": people, "annotations": answers}})
        sign = "item 1: there are {} annotators and {} annotations".format(*numbers)
        refuse(item, sign, name="a.json")


DIARY = EXPORTS / "potato" / "diary.annotation_output"


def instance(labels: dict[str, Any], spans: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"instance_id": "d1", "user_id": "ada", "labels": labels, "spans": spans or {},
            "links": {}}  # fmt: skip


def test_the_folder_of_potato_says_when_an_answer_was_last_changed(tmp_path):
    found = found_in(DIARY)
    changed = ("d1", "ada@example.org", "2026-11-20T23:33:10.022025")
    assert changed in found.rows("item", "annotator", "labeled_at")
    copy = tmp_path / "annotation_output"
    shutil.copytree(DIARY, copy)
    packed = shutil.make_archive(str(tmp_path / "x"), "zip", tmp_path, "annotation_output")
    assert found_in(Path(packed)).records == found.records
    for history in copy.rglob("annotation_history.jsonl"):
        history.unlink()
    without = found_in(copy)
    assert without.table(ROWS) == found.table(ROWS)
    assert without.rows("labeled_at") == [("",)] * 6


def test_each_potato_schema_is_a_question_of_its_kind(read, refuse):
    labels = {"mood": {"glad": "glad"}, "topics": {"rain": True, "sun": "sun", "wind": False},
              "scale": {"slider": "7"}, "land": {"select-one": "NO"}, "why": {"text_box": "so"},
              "table": {"ease": "3", "speed": "4"}}  # fmt: skip
    spans = {"names": [{"schema": "names", "name": "PER", "start": 0, "end": 4}]}
    found = read([instance(labels, spans)])
    assert found.table("question category start end") == (
        "land NO - -; mood glad - -; names PER 0 4; scale 7 - -; table: ease 3 - -; "
        "table: speed 4 - -; topics rain - -; topics sun - -"
    )
    assert found.left_out == {"free text": 1}
    assert (found.asked["topics"], found.asked["names"]) == ("several", "spans")
    spans["names"][0]["start"] = "0"
    bad = [instance({"mood": {"glad": "glad"}}), instance({}, spans)]
    refuse(bad, r"x\d?\.jsonl, line 2: a span starts at 0 and ends at 4")
    cell = json.dumps([{"name": "PER", "start": 0, "end": 4}]).replace('"', '""')
    header = "instance_id,user_id,mood.glad,mood,mood.sad,n._spans"
    table = read(f'{header}\nd1,ada,glad,sad,sad,"{cell}"\n')
    assert table.format == "potato"
    assert table.table("question category end") == "mood sad -; n PER 4"


def task(number: int, who: Any = "ada", answer: str = "accept", **fields: Any) -> dict[str, Any]:
    session = {"_timestamp": 1759996800, "_annotator_id": who, "_session_id": who}
    hashes = {"_input_hash": number, "_task_hash": -number}
    return {"text": "Oslo", "answer": answer, **hashes, **session, **fields}


BOX = {"label": "CAT", "points": [[0, 0]]}
PRODIGY = {
    "rejected": ([task(1, accept=["a"]), task(2, "bo", "reject", accept=["a"]), task(3, accept=[])],
                 "1 accept a -; 3 accept - -", {"accept": "one"},
                 {"task with the answer 'reject'": 1}),
    "multiple": ([task(1, accept=["a"], config={"choice_style": "multiple"})],
                 "1 accept a -", {"accept": "several"}, {}),
    "two chosen": ([task(1, accept=["a", 2], config={})],
                   "1 accept 2 -; 1 accept a -", {"accept": "several"}, {}),
    "label": ([task(1, label="SPAM", spans=[]), task(1, label="RUDE", answer="reject")],
              "1 RUDE reject -; 1 SPAM accept -", {"SPAM": "one", "RUDE": "one"}, {}),
    "suggested span": ([task(7, answer="reject", spans=[PER], _view_id="ner")],
                       "-7 PER reject -", {"PER": "one"}, {}),
    "options and spans": ([task(1, accept=["a"], spans=[PER])],
                          "1 accept a -; 1 spans PER 4", {"accept": "one", "spans": "spans"}, {}),
    "regions": ([task(1, accept=["a"], spans=[BOX, BOX], audio_spans=[{}])], "1 accept a -",
                {"accept": "one"}, {"region of an image": 2, "region of a sound": 1}),
}  # fmt: skip


@pytest.mark.parametrize(("tasks", "rows", "asked", "left_out"), PRODIGY.values(), ids=PRODIGY)
def test_prodigy_tasks(read, tasks, rows, asked, left_out):
    found = read(tasks)
    assert found.table("item question category end") == rows
    assert (found.asked, found.left_out) == (asked, left_out)


def test_ignored_prodigy_tasks_are_counted_and_fields_kept(read):
    found = read(HAND_WRITTEN / "prodigy-choice.jsonl")
    assert found.left_out == {"task with the answer 'ignore'": 1}
    tasks = [task(1, accept=["a"], meta={"topic": "rain"})]
    found = read(tasks, "item=meta.topic", keep=["meta.topic"])
    assert found.table("item text keep:meta.topic") == "rain Oslo rain"


@pytest.mark.parametrize("session", ["2026-11-20_12-33-44", "tickets-2026-11-20_12-33-44", None])
def test_a_prodigy_session_that_is_only_a_time_names_no_annotator(read, refuse, session):
    tasks = [task(1, session, accept=["a"], coder="ada")]
    refuse(tasks, r"line 1 does not say who answered(?s:.*)\?session=NAME")
    assert read(tasks, "annotator=coder").table("annotator") == "ada"
    if session:
        assert read(tasks, "annotator=_session_id").table("annotator") == session


def test_a_prodigy_span_past_the_text_is_rejected_with_its_line(ledger, save):
    path = save([task(1, spans=[PER]), task(2, spans=[PER | {"end": 50}])])
    reason = r"x\.jsonl, line 2: a span ends at 50, and the text has 4 characters"
    with pytest.raises(Refused, match=reason):
        ledger.import_file(path, "p")
    assert ledger.import_file(path, "p", skip_invalid=True).inserted == 1
