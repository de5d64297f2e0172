"""Label Studio: tasks with annotations, and the same as rows of JSON-MIN, CSV and TSV."""

from __future__ import annotations

from typing import Any

import pytest

from tests.formats.reading import EXPORTS, csv_table
from tracker.core.errors import Refused
from tracker.formats.batch import Rejections
from tracker.formats.mappings import parse_column_roles
from tracker.formats.reader import Reading
from tracker.readers.registry import opened_sources, read_batches

OURS = EXPORTS / "label-studio"
ROWS = "item annotator question category"
SPANS = "category start end"


def region(control: str, kind: str, **value: Any) -> dict[str, Any]:
    return {"from_name": control, "to_name": "text", "type": kind, "value": value}


def choice(*categories: str, control: str = "tone") -> dict[str, Any]:
    return region(control, "choices", choices=list(categories))


def by(annotator: Any, *result: dict[str, Any], day: int = 1, **fields: Any) -> dict[str, Any]:
    created = f"2026-02-{day:02}T10:00:00Z"
    return {"completed_by": annotator, "result": list(result), "created_at": created, **fields}


def task(number: int, *annotations: Any, data: Any = None, **fields: Any) -> dict[str, Any]:
    data = data or {"text": "t"}
    return {"id": number, "annotations": list(annotations), "data": data, **fields}


def record(item: int, annotator: Any, day: int = 1, **fields: Any) -> dict[str, Any]:
    fixed = {"id": item, "annotator": annotator, "annotation_id": 7, "lead_time": 1.5}
    return fixed | {"created_at": f"2026-02-{day:02}T10:00:00Z", "updated_at": ""} | fields


def test_an_annotation_answers_every_control_including_those_of_later_tasks(read):
    both = by(1, choice("y"), choice("a", "b", control="topic"))
    found = read((task(1, by(1), by(2, choice("x"))), task(2, both), task(3, by(1))))
    assert found.table(ROWS) == (
        "1 1 tone -; 1 1 topic -; 1 2 tone x; 1 2 topic -; 2 1 tone y; 2 1 topic a; 2 1 topic b; "
        "3 1 tone -; 3 1 topic -"
    )
    assert found.asked == {"tone": "one", "topic": "several"}


def test_another_answer_of_an_annotator_is_a_pass_by_time_or_a_revision(read):
    answers = by(1, choice("late"), day=3), by(1, choice("early")), by(2, choice("x"))
    roles = "annotator category pass"
    assert read((task(1, *answers),)).table(roles) == "1 early -; 1 late 2; 2 x -"
    revised = read((task(1, *answers),), repeat="revision")
    assert revised.table(roles) == "1 early -; 1 late -; 2 x -"
    own = by(1, choice("y"), day=2, id=8, parent_annotation=7)
    other = by(2, choice("z"), day=3, id=9, parent_annotation=7)
    found = read((task(1, by(1, choice("x"), id=7), own, other),))
    assert found.table(roles) == "1 x -; 1 y -; 2 z -"


def test_annotators_are_numbers_e_mail_addresses_models_or_gold(read):
    ada = {"id": 5, "email": "ada@example.org"}
    found = read((task(1, by(3, choice("x")), by(ada, choice("x")), by({"id": 6})),))
    assert found.table("annotator") == "3; 6; ada@example.org"
    times = {"lead_time": 3, "updated_at": "2026-03-01T00:00:00Z"}
    found = read((task(1, by(1, choice("x"), ground_truth=True, **times)),))
    created = "2026-02-01T10:00:00Z"
    assert found.table("annotator kind category seconds labeled_at") == (
        f"1 - x 3 {created}; gold reference x - {created}"
    )
    predictions = [
        {"model_version": version, "score": score, "result": [choice("x")]}
        for version, score in (("m-1", 0.5), ("2", 7), (None, None))
    ]
    found = read((task(1, by(2, choice("y")), predictions=[*predictions, 12]),))
    assert found.table("annotator kind confidence") == (
        "2 - -; m-1 model 0.5; model 2 model -; prediction model -"
    )
    assert found.left_out == {
        "score that is not from 0 to 1": 1, "prediction without its result": 1,
    }  # fmt: skip


def test_contents_of_tasks_that_are_not_answers_are_counted(read, refuse):
    relation = {"type": "relation", "from_id": "a", "to_id": "b", "direction": "right"}
    found = read((
        task(1, by(1, choice("x"), relation, reviews=[{"accepted": True}], lead_time=-1)),
        task(2, by(1, choice("x"), was_cancelled=True), drafts=[{"result": []}, {}]),
        task(3, by(None, choice("x"))),
        task(4),
        task(5, by(1, choice("y"), region("why", "textarea", text=["because"]))),
    ))  # fmt: skip
    assert found.table("item category") == "1 x; 5 y"
    assert found.left_out == {
        "relation": 1, "review": 1, "lead_time that is no time spent": 1, "draft": 2,
        "cancelled annotation": 1, "annotation without an annotator": 1,
        "task without an annotation": 1, "region of type 'textarea'": 1,
    }  # fmt: skip
    empty = (task(1, by(1)), task(2, by(2)))
    refuse(empty, "holds no answer; left out: 2 annotations without a result")


def test_items_with_long_texts_come_few_at_a_time(save):
    long = save(tuple(task(n, by(1, choice("x")), data={"text": "t" * 10**6}) for n in range(20)))
    reading = Reading(parse_column_roles(()), Rejections(), "one")
    with opened_sources([long]) as (source,):
        sizes = [len(batch.lines) for batch in read_batches(source, reading)]
    assert sum(sizes) == 20
    assert max(sizes) < 10


CONTROLS = [
    (choice("x"), "x -", "one"),
    (choice("x", "y"), "x -; y -", "several"),
    (region("c", "rating", rating=4), "4 -", "one"),
    (region("c", "number", number=2.5), "2.5 -", "one"),
    (region("c", "pairwise", selected="left"), "left -", "one"),
    (region("c", "taxonomy", taxonomy=[["a", "b"], ["c"]]), "a / b -; c -", "several"),
    (region("c", "rectanglelabels", x=1, y=2, rectanglelabels=["car"]), "car -", "several"),
    (region("c", "labels", start=0.5, end=2, channel=0, labels=["talk"]), "talk -", "several"),
]


@pytest.mark.parametrize(("result", "categories", "answers"), CONTROLS)
def test_controls_have_categories(read, result, categories, answers):
    found = read((task(1, by(1, result)),))
    assert found.table("category start") == categories
    assert list(found.asked.values()) == [answers]
    kind = result["type"]
    places = {f"place of a region of type {kind!r}": 1} if kind.endswith("labels") else {}
    assert found.left_out == places


def test_ratings_are_ordinal_and_numbers_interval(ledger, save):
    stars, size = region("stars", "rating", rating=4), region("size", "number", number=2)
    ledger.import_file(save((task(1, by(1, stars, size)),)), "p")
    scales = {question.name: question.scale for question in ledger.questions.list("p")}
    assert scales == {"stars": "ordinal", "size": "interval"}


DIALOGUE = [{"author": "a", "text": "Hello there"}, {"author": "b", "text": "Oslo, hi"}]
MARKS = [
    (region("c", "labels", start=0, end=4, text="Oslo", labels=["LOC", "ORG"]),
     {"text": "Oslo"}, "LOC 0 4; ORG 0 4"),
    (region("c", "choices", start=0, end=4, text="Oslo", choices=["sure"]),
     {"text": "Oslo"}, "sure 0 4"),
    (region("c", "hypertextlabels", start="/p[1]/text()[1]", end="/p[1]/text()[1]",
            startOffset=1, endOffset=3, globalOffsets={"start": 5, "end": 7},
            hypertextlabels=["X"]), {"html": "<p>…</p>"}, "X 5 7"),
    (region("c", "paragraphlabels", start="1", end="1", startOffset=0, endOffset=4,
            paragraphlabels=["LOC"]), {"chat": DIALOGUE}, "LOC 11 15"),
]  # fmt: skip


@pytest.mark.parametrize(("result", "data", "spans"), MARKS)
def test_controls_mark_spans(read, result, data, spans):
    found = read((task(1, by(1, result, result), by(2), data=data),))
    assert found.table(SPANS) == f"- - -; {spans}"
    assert found.asked == {"c": "spans"}
    assert not found.left_out


@pytest.mark.parametrize("start", [7, 8], ids=["in characters", "in UTF-16"])
def test_spans_after_an_emoji_are_counted_in_characters(read, start):
    result = region("c", "labels", start=start, end=start + 4, text="Oslo", labels=["LOC"])
    data = {"id": 3, "text": "\U0001f4a9 é in Oslo"}
    assert read((task(1, by(1, result), data=data),)).table(SPANS) == "LOC 7 11"


def far(data: dict[str, Any], end: int = 50) -> dict[str, Any]:
    return task(2, by(1, region("c", "labels", start=0, end=end, text="abc", labels=["X"])),
                data=data)  # fmt: skip


@pytest.mark.parametrize(
    ("data", "end"),
    [
        ({"title": "abc", "body": "abc" * 20}, 50),
        ({"text": "https://example.org/a.txt"}, 50),
        ({"meta": {"text": "abc" * 20}}, 50),
        ({"text": "\U0001f4a9" * 3}, 6),
        ({"id": 3}, 50),
    ],
)
def test_a_span_is_read_if_its_text_may_be_long_enough(read, data, end):
    assert read((far(data, end),)).table(SPANS) == f"X 0 {end}"


SPAN = region("c", "labels", start=0, end=4, labels=["X"])
WHOLE = region("c", "labels", x=1, y=1, labels=["X"])
X = task(1, by(1, choice("x")))
NO_TASKS: list[tuple[Any, str]] = [
    ({"id": 2, "annotations": {}}, "'annotations' is no list"),
    ({"id": 2}, "this is no task with its annotations"),
    (task(2, "x"), "an annotation is no object"),
    (task(2, by(1, {"type": "choices", "from_name": "c"})), "has no value"),
    (task(2, {"completed_by": 1, "result": "x"}), "the result of an annotation is no list"),
    (task(2, by(1, {"type": "choices", "value": {}})), "does not name its control"),
    (task(2, by(1, region("r", "rating", rating="x"))), "a rating is no number: x"),
    (task(2, by(1, region("tone", "choices", choices=[None]))), "is no text or number"),
    ({"id": 2, "annotations": [], "data": "x"}, "'data' is no object"),
]


@pytest.mark.parametrize(
    ("tasks", "reasons"),
    [
        ([X, *(bad for bad, _ in NO_TASKS)], [reason for _, reason in NO_TASKS]),
        ([task(1, by(1, SPAN), data={"a": "Oslo"}), task(2, by(1, WHOLE))],
         ["'c' is answered with spans, and with"]),
        ([X, far({"id": 3, "text": "abc"})],
         ["a span ends at 50, and the text has 3 characters"]),
    ],
    ids=["no task", "spans and none", "span past the text"],
)  # fmt: skip
def test_tasks_that_cannot_be_read_are_rejected_with_their_number(ledger, save, tasks, reasons):
    path = save(tuple(tasks))
    with pytest.raises(Refused, match=r"x\.json, task 2: "):
        ledger.import_file(path, "p")
    result = ledger.import_file(path, "p", skip_invalid=True)
    for number, (rejection, reason) in enumerate(zip(result.rejections, reasons, strict=True), 2):
        assert f"x.json, task {number}: " in str(rejection), reason
        assert reason in str(rejection)
    assert result.inserted >= 1


def test_columns_that_differ_within_a_task_are_controls(read):
    table = csv_table(
        record(1, 1, tone="good", why="so it is", text="=1+1", split="train", spans=""),
        record(1, 2, tone="bad", why="I think", text="=1+1", split="train",
               spans='[{"start":0,"end":2,"text":"=1","labels":["A","B"]}]'),
        record(2, 1, tone="good", why="", text="no", split="train", spans=""),
        *(record(2, 3 + n, tone="good", why=f"reason {n}", text="no", split="train", spans="")
          for n in range(5)),
    )  # fmt: skip
    found = read(table)
    assert found.format == "label-studio"
    assert found.table(f"{ROWS} start").startswith(
        "1 1 spans - -; 1 1 tone good -; 1 2 spans A 0; 1 2 spans B 0; 1 2 tone bad -; "
        "2 1 spans - -; 2 1 tone good -; "
    )
    assert found.asked == {"tone": "one", "spans": "spans"}
    assert any("'why' of free texts" in name for name in found.left_out)
    assert any("--question split=split" in name for name in found.left_out)
    assert read(table, keep=["split"]).rows("text", "keep:split")[0] == ("=1+1", "train")
    chosen = read(table, questions=["set=split"])
    assert chosen.rows("question", "category") == [("set", "train")] * 8


def test_controls_follow_the_number_of_the_task(read):
    rows = tuple(
        {"split": "ab"[n % 2], "text": f"a text of its own: {n}", "id": n, "tone": "xy"[n % 2]}
        | record(n, 1)
        for n in range(12)
    )
    assert read(rows).asked == {"tone": "one"}


def test_a_file_that_does_not_show_its_controls_is_refused(read, refuse):
    rows = [record(n, 1, tone="xy"[n % 2], split="ab"[n % 2], text=f"t{n}") for n in range(8)]
    refuse(csv_table(*rows), r"which columns hold the answers\n.*--question NAME=COLUMN")
    assert len(read(csv_table(*rows), questions=["tone=tone"]).records) == 8
    refuse(OURS / "notices-spans.conll", r"does not say who answered.*\nexport as JSON")


def test_records_of_one_annotator_are_passes_in_any_order(read):
    answers = [(1, 1, 5, "x"), (2, 1, 1, "y"), (1, 2, 3, "y"), (1, 1, 2, "y"), (1, 1, 4, "y")]
    rows = [record(item, who, day=day, tone=tone) for item, who, day, tone in answers]
    found = read(csv_table(*rows), questions=["tone=tone"])
    assert [(cells["labeled_at"][8:10], cells.get("pass")) for cells in found.records] == [
        ("05", "3"), ("01", None), ("03", None), ("02", None), ("04", "2"),
    ]  # fmt: skip


def test_records_without_an_annotation_are_counted(read):
    stars = '[{"rating":5}]'
    found = read(csv_table(record(1, 1, stars=stars), record(2, "", annotation_id="", stars=""),
                           record(3, "None", stars=stars)))  # fmt: skip
    assert found.table("item category") == "1 5"
    assert found.left_out == {"task without an annotation": 1, "annotation without an annotator": 1}


@pytest.mark.parametrize(
    ("column", "good", "bad", "reason"),
    [
        ("stars", '[{"rating":5}]', "=1+1", "'stars' is answered with numbers, and with =1"),
        ("marks", '[{"start":0,"end":1,"labels":["A"]}]',
         '[{"start":0,"end":1,"labels":["A"]}, "A"]', "'marks' is answered with spans, and with"),
        ("topic", '{"choices":["a"]}', '{"choices":["a"', "the cell of 'topic' is no whole JSON"),
    ],
)  # fmt: skip
def test_a_cell_that_does_not_fit_its_control_is_rejected_with_its_line(
    ledger, save, column, good, bad, reason
):
    path = save(csv_table(record(1, 1, **{column: good}), record(1, 2, **{column: bad})))
    with pytest.raises(Refused, match=rf"x\.csv, line 3: {reason}"):
        ledger.import_file(path, "p")
    assert ledger.import_file(path, "p", skip_invalid=True).inserted == 1


def test_the_first_answer_to_a_control_says_its_kind_however_late(ledger, save, monkeypatch):
    monkeypatch.setattr("tracker.formats.answers._AT_ONCE", 20)
    rows = [record(n, 1, tone=f'{{"choices":["x","{n % 3}"]}}', marks="") for n in range(50)]
    rows.append(record(0, 2, tone="", marks='[{"start":0,"end":1,"labels":["A"]}]'))
    ledger.import_file(save(csv_table(*rows)), "p")
    kinds = {question.name: question.answers for question in ledger.questions.list("p")}
    assert kinds == {"tone": "several", "marks": "spans"}
