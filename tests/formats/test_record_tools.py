"""Tools whose records say who answered what; stores of judgments, logs of evaluations."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.formats.reading import EXPORTS, found_in, table_text
from tests.helpers import fates, standing
from tracker.core.errors import Refused

HAND_WRITTEN = EXPORTS / "hand-written"
ROWS = "item annotator question category"
PER = {"label": "PER", "start": 0, "end": 4}


def flat(**keys: Any) -> tuple[dict[str, Any]]:
    named = {name.replace("__", "."): value for name, value in keys.items()}
    return ({"id": "r1", "text": "t", **named},)


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
    assert ("gpt-4o", "model", "good") in found.rows("annotator", "kind", "category")
    assert found.left_out == {
        "response with the status 'discarded'": 1, "response with the status 'draft'": 1,
    }  # fmt: skip
    found = read(EXPORTS / "argilla" / "data-set.jsonl")
    assert found.left_out["suggestion as a number without its name"] == 3
    found = read(EXPORTS / "argilla" / "records-nested.json")
    assert found.left_out == {"status of a response, which may be a draft": 11}


def test_damaged_argilla_data_sets_are_refused(refuse):
    record = flat(t__responses=["a"], t__responses__users=["u", "v"])
    refuse(record, r"record 1: 't' has 1 responses, and 2 users")
    table = "id,tone.responses,tone.responses.users\n1,['a' 'b'],['x' 'y']\n"
    refuse(table, r"as CSV.*\n.*to_parquet")


LABELBOX = HAND_WRITTEN / "labelbox.ndjson"


def data_row(**fields: Any) -> list[dict[str, Any]]:
    row: dict[str, Any] = json.loads(LABELBOX.read_text().splitlines()[0])
    for label in row["projects"]["p1"]["labels"]:
        for name, value in fields.items():
            label[name] = value if not value else label[name] | value
    return [row]


def test_labelbox_benchmarks_are_references_too(read):
    found = read(data_row(label_details={"is_benchmark_reference": True}))
    gold = [record for record in found.records if record.get("kind") == "reference"]
    assert {record["annotator"] for record in gold} == {"gold"}
    assert len(gold) * 2 == len(found.records)


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
    assert result.columns[0]["left_out"] == ["1 soft_label"]
    for people, answers, numbers in (("A,B", "1", (2, 1)), (None, None, (0, 0))):
        item = json.dumps({"7": {"annotators": people, "annotations": answers}})
        sign = "item 1: there are {} annotators and {} annotations".format(*numbers)
        refuse(item, sign, name="a.json")


def instance(labels: dict[str, Any], spans: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"instance_id": "d1", "user_id": "ada", "labels": labels, "spans": spans or {},
            "links": {}}  # fmt: skip


def test_the_folder_of_potato_says_when_an_answer_was_last_changed():
    found = found_in(EXPORTS / "potato" / "diary.annotation_output")
    changed = ("d1", "ada@example.org", "2026-11-20T23:33:10.022025")
    assert changed in found.rows("item", "annotator", "labeled_at")


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


@pytest.mark.parametrize("session", ["tickets-2026-11-20_12-33-44", None])
def test_a_prodigy_session_that_is_only_a_time_names_no_annotator(read, refuse, session):
    tasks = [task(1, session, accept=["a"], coder="ada")]
    refuse(tasks, r"line 1 does not say who answered(?s:.*)\?session=NAME")
    assert read(tasks, "annotator=coder").table("annotator") == "ada"
    if session:
        assert read(tasks, "annotator=_session_id").table("annotator") == session


FILES = EXPORTS / "hand-written"
JUDGMENTS = "item annotator kind question category pass comment"


@pytest.mark.parametrize(
    ("header", "row", "pairs", "judge"),
    [
        ("item,judge,verdict", "i,Ann,x", (), "Ann -"),
        ("item,judge,verdict,prompt_version", "i,Ann,x,3", (), "Ann -"),
        ("item,judge,verdict,prompt_version", "i,gpt-4o,x,3", (), "gpt-4o@3 model"),
        ("item,judge,verdict,kind,judge_version", "i,Ann,x,human,3", (), "Ann human"),
        ("item,judge,verdict,kind,version", "i,m,x,model,3", (), "m@3 model"),
        ("item,judge,verdict,judge_version", "i,Ann,x,3", ("kind=",), "Ann -"),
        ("item,model,label", "i,m,x", ("annotator=model",), "m model"),
        ("item,worker,label,run", "i,bot,x,7", ("version=run",), "bot@7 model"),
        ("item,judge_model,score,version", "i,m@7,4,7", (), "m@7 model"),
        ("item,annotator,label", "i,gpt-4o,x", (), "gpt-4o -"),
    ],
)
def test_judges_are_models_or_people(read, header, row, pairs, judge):
    assert read(f"{header}\n{row}\n", *pairs).table("annotator kind") == judge


def test_a_person_of_the_project_is_not_made_a_model(ledger, save):
    ledger.import_file(save("item,annotator,category,kind\ni,gpt-4o,x,human\n"), "p")
    table = save("item,judge,verdict\ni,gpt-4o,x\n")
    with pytest.raises(Refused, match="is a model here, and a human in 'p'"):
        ledger.import_file(table, "p")
    assert ledger.import_file(table, "p", columns=["kind="]).unchanged == 1


def trace(*assessments: dict[str, Any], **info: Any) -> list[dict[str, Any]]:
    return [{"info": {"trace_id": "t1", "assessments": list(assessments), **info}}]


def assessed(value: Any, who: str = "ada", kind: str = "HUMAN", **fields: Any) -> dict[str, Any]:
    source = {"source_type": kind, "source_id": who}
    return {"name": "polite", "source": source, "feedback": {"value": value}} | fields


def test_mlflow_traces(read, refuse):
    times = {"create_time": "2026-01-01T00:00:00Z", "last_update_time": "2026-01-02T00:00:00Z"}
    assert read(trace(assessed("no", **times))).table("labeled_at") == "2026-01-02T00:00:00Z"
    keyed = trace(assessed(1), tags={"case": "c7"}, client_request_id="r1")
    assert read(keyed).table("item") == "r1"
    assert read(keyed, "item=tags.case").table("item") == "c7"
    serialized = {"serialized_value": {"serialization_format": "JSON", "value": "x" * 500}}
    expected = [
        {"name": name, "source": {}, "expectation": value}
        for name, value in (("polite", {"value": True}), ("answer", serialized))
    ]
    found = read(trace(*expected, span_id="s"))
    assert found.table(JUDGMENTS) == "t1 gold reference polite true - -"
    assert found.left_out == {"judgment that is no category": 1}
    found = read(({"trace_id": "t1", "request": "q", "assessments": [assessed([1, 2])]},))
    assert found.table("item text category") == "t1 q 1; t1 q 2"
    assert found.asked == {"polite": "several"}
    unsigned = trace(assessed(1, "default"))
    refuse(unsigned, "holds no answer; left out: 1 judgment without an author")


JUDGES = {
    "../mlflow/mlflow-traces.json": "openai:/gpt-4o@3", "langfuse-scores.json": "gpt-4o@2",
    "langsmith-feedback.jsonl": "gpt-4o", "phoenix-annotations.json": "gpt-4o@2",
}  # fmt: skip


def test_judges_of_stores_are_models_with_their_version():
    for name, judge in JUDGES.items():
        assert (judge, "model") in found_in(FILES / name).rows("annotator", "kind"), name


def test_langfuse_scores(read):
    score = {"traceId": "t", "name": "n", "value": 1, "source": "API", "metadata": {"bot": "b"}}
    assert read([score]).table("annotator kind") == "api model"
    assert read([score], "annotator=metadata.bot").table("annotator") == "b"
    scores = [score | {"traceId": f"t{n}", "comment": "x" * 1000} for n in range(1200)]
    found = read(json.dumps({"data": scores}), name="x.json")  # of more than is looked at
    assert (found.format, len(found.records)) == ("langfuse", 1200)


def test_promptfoo_assertions_that_a_model_judges_are_its_answers(read, tmp_path):
    export = FILES / "promptfoo-results.json"
    found = read(export, keep=["question"])
    judge = "short | openai:gpt-4o-mini openai:gpt-4o model polite"
    assert found.table(JUDGMENTS) == (
        f"case-1 | {judge} pass - It says please.; case-2 | {judge} fail - It is curt."
    )
    assert found.left_out == {"judgment that is no category": 1, "judgment without an author": 1}
    assert ("There, please.", "Where?") in found.rows("text", "keep:question")
    results = json.loads(export.read_text())["results"]["results"]
    for result in results:  # without a name, a test is known by its variables
        del result["testCase"]["metadata"]
    items = read(results).table("item")
    for n, result in enumerate(results):
        result["testIdx"] = 7 - n
    assert read(results[::-1]).table("item") == items


LOGS = [EXPORTS / "inspect" / f"inspect-log.{form}" for form in ("json", "eval")]


@pytest.mark.parametrize("log", LOGS, ids=lambda path: path.name)
def test_inspect_scores_and_their_edits(log):
    found = found_in(log)
    assert found.format == "inspect"
    rows = found.rows(*JUDGMENTS.split())
    graded = [row for row in rows if row[3] == "model_graded_qa"]
    assert {row[1:3] for row in graded} == {("mockllm/grader", "model")}
    assert table_text((row[0], *row[4:]) for row in graded) == "; ".join(
        f"manners/mockllm/model/{item} {grade} {number} Reason {reason}. GRADE: {grade}"
        for item, grade, number, reason in ("2C-1", "2C23", "aI-0", "aI22")
    )
    models = {row[1] for row in rows if row[2] == "model"}
    assert models == {"mockllm/grader", "mockllm/checker", "includes", "parts"}
    assert found.left_out == {"judgment without a value": 4}, "scores that are no number"
    edited = [row for row in rows if row[0][-1] == "a" and row[5] == "2" and row[3] == "includes"]
    assert table_text(row[1:] for row in edited) == (
        "ada human includes C 2 It is polite after all.; bo human includes I 2 No; "
        "includes model includes I 2 no"
    )


def test_an_inspect_scorer_is_named_after_the_model_that_it_asks(read):
    for scorer, roles, judge in (
        ({"options": {"model": "openai/gpt-4o"}}, {}, "openai/gpt-4o"),
        ({"args": {"model": {"model": "openai/o3"}}}, {}, "openai/o3"),
        ({"options": {}}, {"grader": {"model": "openai/o3"}}, "openai/o3"),
        ({"options": {"model_role": "x"}}, {"grader": {"model": "a"}}, "model_graded_qa"),
    ):
        scorers = [{"name": "inspect_ai/model_graded_qa", **scorer}]
        spec = {"task": "t", "model": "m", "model_roles": roles, "scorers": scorers}
        sample = {"id": 1, "epoch": 1, "scores": {"model_graded_qa": {"value": "C"}}}
        log = {"version": 2, "status": "success", "eval": spec, "samples": [sample]}
        assert read([log], name="x.json").table("annotator category") == f"{judge} C"


def test_openai_evals_and_output_items_of_the_service(read):
    export = FILES / "openai-evals.jsonl"
    found = read(export)
    assert (
        found.table("item category pass comment") == "manners.dev.0 Yes - -; manners.dev.1 No - -"
    )
    answers = {("gpt-4o", "model", "manners")}
    assert set(found.rows("annotator", "kind", "question")) == answers, "of the last model"
    item = {
        "object": "eval.run.output_item", "datasource_item_id": 4, "created_at": 1760000000,
        "datasource_item": {"q": "x"}, "results": [{"name": "polite", "passed": False}],
    }  # fmt: skip
    answer = json.dumps({"object": "list", "data": [item], "has_more": False})
    found = read(answer, name="x.json", keep=["q"])
    assert found.table("item annotator category keep:q") == "4 polite fail x"
    assert found.format == "openai-evals"
