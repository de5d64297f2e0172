"""Judges: models with a version in tables, stores of judgments and logs of evaluations."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import pytest

from tests.formats.reading import EXPORTS, found_in, table_text
from tests.helpers import standing
from tracker.core.errors import Refused
from tracker.ledger import Ledger

FILES = EXPORTS / "hand-written"
ROWS = "item annotator kind question category pass comment"

TABLE = (
    "prompt_id,judge,verdict,rationale,confidence,judge_version\n"
    "p1,strict,pass,It is.,0.9,2\np2,strict,fail,,0.8,3\np1,Ann,pass,,,\np2,gpt-4o,pass,,,\n"
)


def judged(ledger: Ledger) -> str:
    return table_text(standing(ledger, "p", "item", "annotator", "kind", "category"))


def test_a_judge_with_a_version_or_the_name_of_a_model_is_a_model(ledger, save, tmp_path):
    result = ledger.import_file(save(TABLE), "p")
    assert judged(ledger) == (
        "p1 Ann human pass; p1 strict@2 model pass; p2 gpt-4o model pass; p2 strict@3 model fail"
    )
    assert result.columns[0]["models"] == ["strict@2", "strict@3", "gpt-4o"]
    assert set(ledger.export_frame("p")["comment"].dropna()) == {"It is."}
    assert ledger.import_file(save(TABLE), "p").unchanged == 4
    row = {"item": "i", "judge": "strict", "judge_version": 2, "verdict": "pass"}
    frame = pd.DataFrame([row])
    frame.to_parquet(tmp_path / "x.parquet")
    for path in (save([row]), tmp_path / "x.parquet"):
        assert found_in(path).table("annotator kind") == "strict@2 model"
    ledger.import_frame(frame, "p")
    assert judged(ledger).startswith("i strict@2 model pass; ")


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


@pytest.mark.parametrize(
    ("name", "form", "judge"),
    [
        ("../mlflow/mlflow-traces.json", "mlflow", "openai:/gpt-4o@3"),
        ("langfuse-scores.json", "langfuse", "gpt-4o@2"),
        ("langfuse-scores.csv", "langfuse", "eval"),
        ("langsmith-feedback.jsonl", "langsmith", "gpt-4o"),
        ("phoenix-annotations.json", "phoenix", "gpt-4o@2"),
        ("phoenix-annotations.csv", "phoenix", "LLM"),
    ],
)
def test_stores_have_judges_and_unsigned_judgments(name, form, judge):
    found = found_in(FILES / name)
    assert found.format == form
    assert (judge, "model") in found.rows("annotator", "kind")
    assert found.left_out["judgment without an author"] == 1
    assert any(record.get("comment") for record in found.records)


def trace(*assessments: dict[str, Any], **info: Any) -> list[dict[str, Any]]:
    return [{"info": {"trace_id": "t1", "assessments": list(assessments), **info}}]


def assessed(value: Any, who: str = "ada", kind: str = "HUMAN", **fields: Any) -> dict[str, Any]:
    source = {"source_type": kind, "source_id": who}
    return {"name": "polite", "source": source, "feedback": {"value": value}} | fields


def test_an_mlflow_override_by_the_author_is_a_revision_and_by_another_an_answer(ledger, save):
    traces = trace(
        assessed("yes", create_time_ms=1_760_000_000_000, valid=False, rationale="first"),
        assessed("no", create_time_ms=1_760_000_500_500, overrides="a", rationale="second"),
        assessed("yes", "m", "LLM_JUDGE", create_time_ms=1_759_000_000_000, valid=False),
        assessed("2", name="q2", rationale="another"),
    )
    assert ledger.import_file(save(traces), "p").inserted == 3
    columns = ("question", "annotator", "kind", "category", "comment")
    assert table_text(standing(ledger, "p", *columns)) == (
        "polite ada human no second; polite m model yes -; q2 ada human 2 another"
    )


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
    assert found.table(ROWS) == "t1 gold reference polite true - -"
    assert found.left_out == {"judgment that is no category": 1}
    found = read(({"trace_id": "t1", "request": "q", "assessments": [assessed([1, 2])]},))
    assert found.table("item text category") == "t1 q 1; t1 q 2"
    assert found.asked == {"polite": "several"}
    unsigned = trace(assessed(1, "default"))
    refuse(unsigned, "holds no answer; left out: 1 judgment without an author")


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
    assert found.table(ROWS) == (
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
    rows = found.rows(*ROWS.split())
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


@pytest.mark.parametrize(
    ("scorer", "roles", "judge"),
    [
        ({"options": {"model": "openai/gpt-4o"}}, {}, "openai/gpt-4o"),
        ({"args": {"model": {"model": "openai/o3"}}}, {}, "openai/o3"),
        ({"options": {}}, {"grader": {"model": "openai/gpt-4o"}}, "openai/gpt-4o"),
        ({"options": {"model_role": "x"}}, {"grader": {"model": "a"}}, "model_graded_qa"),
        ({}, {}, "model_graded_qa"),
    ],
)
def test_the_model_that_an_inspect_scorer_asks(read, scorer, roles, judge):
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
    events = [json.loads(line) for line in export.read_text().splitlines()]
    events[1]["type"] = ["sampling"]  # an odd type is a step
    assert len(read(events).records) == 2
    item = {
        "object": "eval.run.output_item", "datasource_item_id": 4, "created_at": 1760000000,
        "datasource_item": {"q": "x"}, "results": [{"name": "polite", "passed": False}],
    }  # fmt: skip
    answer = json.dumps({"object": "list", "data": [item], "has_more": False})
    found = read(answer, name="x.json", keep=["q"])
    assert found.table("item annotator category keep:q") == "4 polite fail x"
    assert found.format == "openai-evals"
