"""Label Studio's tasks: who answered how often, and what is no answer."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.formats.label_studio import ROWS, by, choice, read, region, task
from tests.formats.reading import found_in, write_zip
from tracker.core.errors import Refused
from tracker.formats.batch import Rejections
from tracker.formats.column_roles import parse_column_roles
from tracker.formats.reader import Reading
from tracker.formats.registry import opened_sources, read_batches
from tracker.ledger import Ledger


def test_an_annotation_answers_every_control_also_those_that_later_tasks_are_the_first_to_show(
    tmp_path: Path,
) -> None:
    found = read(
        tmp_path,
        task(1, by(1), by(2, choice("x"))),
        task(2, by(1, choice("y"), choice("a", "b", control="topic"))),
        task(3, by(1)),
    )
    assert found.rows(*ROWS) == [
        ("1", "1", "tone", ""),
        ("1", "1", "topic", ""),
        ("1", "2", "tone", "x"),
        ("1", "2", "topic", ""),
        ("2", "1", "tone", "y"),
        ("2", "1", "topic", "a"),
        ("2", "1", "topic", "b"),
        ("3", "1", "tone", ""),
        ("3", "1", "topic", ""),
    ]
    assert found.asked == {"tone": "one", "topic": "several"}


@pytest.mark.parametrize("packed", [False, True])
def test_what_comes_before_a_control_is_found_in_streams_too(tmp_path: Path, packed: bool) -> None:
    text = json.dumps([task(1, by(1)), task(2, by(1, choice("x")))]).encode()
    path = tmp_path / "tasks.json.gz"
    path.write_bytes(gzip.compress(text))
    if packed:
        path = write_zip(tmp_path / "tasks.zip", {"tasks.json": text})
    assert found_in(path).rows("item", "category") == [("1", ""), ("2", "x")]


def test_an_export_without_a_result_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="holds no answer; left out: 2 annotations without a result"):
        read(tmp_path, task(1, by(1)), task(2, by(2)))


def test_the_same_annotator_again_is_a_pass_by_the_time_or_a_revision(tmp_path: Path) -> None:
    tasks = [task(1, by(1, choice("late"), day=3), by(1, choice("early")), by(2, choice("x")))]
    roles = ("annotator", "category", "pass")
    assert read(tmp_path, *tasks).rows(*roles) == [
        ("1", "early", ""), ("1", "late", "2"), ("2", "x", ""),
    ]  # fmt: skip
    assert read(tmp_path, *tasks, repeat="revision").rows(*roles) == [
        ("1", "early", ""), ("1", "late", ""), ("2", "x", ""),
    ]  # fmt: skip


def test_what_someone_made_from_their_own_annotation_revises_it(tmp_path: Path) -> None:
    own = by(1, choice("y"), day=2, id=8, parent_annotation=7)
    other = by(2, choice("z"), day=3, id=9, parent_annotation=7)
    found = read(tmp_path, task(1, by(1, choice("x"), id=7), own, other))
    assert found.rows("annotator", "category", "pass") == [
        ("1", "x", ""), ("1", "y", ""), ("2", "z", ""),
    ]  # fmt: skip


def test_annotators_are_numbers_or_their_e_mails(tmp_path: Path) -> None:
    ada = {"id": 5, "email": "ada@example.org"}
    found = read(tmp_path, task(1, by(3, choice("x")), by(ada, choice("x")), by({"id": 6})))
    assert {row[0] for row in found.rows("annotator")} == {"3", "6", "ada@example.org"}


def test_ground_truth_is_the_authors_answer_and_gold(tmp_path: Path) -> None:
    found = read(tmp_path, task(1, by(1, choice("x"), ground_truth=True, lead_time=3)))
    assert found.rows("annotator", "kind", "category", "seconds") == [
        ("1", "", "x", "3"),
        ("gold", "reference", "x", ""),
    ]


def test_predictions_are_answers_of_models(tmp_path: Path) -> None:
    def predicted(version: Any, score: Any) -> dict[str, Any]:
        return {"model_version": version, "score": score, "result": [choice("x")]}

    predictions = [predicted("m-1", 0.5), predicted("2", 7), predicted(None, None), 12]
    found = read(tmp_path, task(1, by(2, choice("y")), predictions=predictions))
    assert found.rows("annotator", "kind", "confidence") == [
        ("2", "", ""),
        ("m-1", "model", "0.5"),
        ("model 2", "model", ""),
        ("prediction", "model", ""),
    ]
    assert found.left_out == {
        "score that is not from 0 to 1": 1,
        "prediction without its result": 1,
    }


def test_what_is_no_answer_is_counted(tmp_path: Path) -> None:
    relation = {"type": "relation", "from_id": "a", "to_id": "b", "direction": "right"}
    found = read(
        tmp_path,
        task(1, by(1, choice("x"), relation, reviews=[{"accepted": True}], lead_time=-1)),
        task(2, by(1, choice("x"), was_cancelled=True), drafts=[{"result": []}, {}]),
        task(3, by(None, choice("x"))),
        task(4),
        task(5, by(1, choice("y"), region("why", "textarea", text=["because"]))),
    )
    assert found.rows("item", "category") == [("1", "x"), ("5", "y")]
    assert found.left_out == {
        "relation": 1,
        "review": 1,
        "lead_time that is no time spent": 1,
        "cancelled annotation": 1,
        "draft": 2,
        "annotation without an annotator": 1,
        "task without an annotation": 1,
        "region of type 'textarea'": 1,
    }


def test_times_are_those_of_creation(tmp_path: Path) -> None:
    found = read(tmp_path, task(1, by(1, choice("x"), updated_at="2026-03-01T00:00:00Z")))
    assert found.rows("labeled_at") == [("2026-02-01T10:00:00Z",)]


def test_this_weeks_export_after_last_weeks_adds_and_revises(
    ledger: Ledger, tmp_path: Path
) -> None:
    last = [task(1, by(1, choice("x")), by(2, choice("x"))), task(2, by(1, choice("x")))]
    corrected = by(1, choice("y"), updated_at="2026-02-09T10:00:00Z")
    this = [
        task(1, corrected, by(2, choice("x")), by(2, choice("z"), day=8)),
        task(2, by(1, choice("x")), by(2, choice("y"), day=8)),
        task(3, by(1, choice("x"), day=8)),
    ]
    first, second = tmp_path / "last.json", tmp_path / "this.json"
    first.write_text(json.dumps(last))
    second.write_text(json.dumps(this))
    assert ledger.import_file(first, "p").inserted == 3
    after = ledger.import_file(second, "p")
    assert (after.inserted, after.changed, after.unchanged) == (3, 1, 2)
    again = ledger.import_file(second, "p")
    assert (again.rows, again.unchanged) == (6, 6)
    stands = ledger.export_frame("p")
    assert sorted(
        zip(stands["item"], stands["annotator"], stands["pass"], stands["category"], strict=True)
    ) == [
        ("1", "1", 1, "y"), ("1", "2", 1, "x"), ("1", "2", 2, "z"),
        ("2", "1", 1, "x"), ("2", "2", 1, "y"), ("3", "1", 1, "x"),
    ]  # fmt: skip


def test_items_with_long_texts_come_few_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "long.json"
    path.write_text(
        json.dumps([task(n, by(1, choice("x")), data={"text": "t" * 10**6}) for n in range(20)])
    )
    reading = Reading(parse_column_roles(()), Rejections(), "one")
    with opened_sources([path]) as (source,):
        sizes = [len(batch.lines) for batch in read_batches(source, reading)]
    assert sum(sizes) == 20
    assert max(sizes) < 10
