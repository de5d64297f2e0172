"""Prodigy: what was accepted, by whom, and sessions that name nobody."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.formats.reading import found_in, write_json_lines
from tests.formats.test_exports import EXPORTS
from tracker.core.errors import Refused
from tracker.ledger import Ledger


def task(number: int, who: str = "ada", answer: str = "accept", **more: Any) -> dict[str, Any]:
    return {"text": "Oslo", "_input_hash": number, "_task_hash": -number, "answer": answer,
            "_timestamp": 1759996800, "_annotator_id": who, "_session_id": who, **more}  # fmt: skip


def test_ignored_and_rejected_tasks_are_no_answers(tmp_path: Path) -> None:
    found = found_in(EXPORTS / "hand-written" / "prodigy-choice.jsonl")
    assert found.left_out == {"task with the answer 'ignore'": 1}
    tasks = [task(1, accept=["a"]), task(2, "ada", "reject", accept=["a"]), task(3, accept=[])]
    path = write_json_lines(tmp_path / "x.jsonl", tasks)
    found = found_in(path)
    assert found.rows("item", "category") == [("1", "a"), ("3", "")]
    assert found.left_out == {"task with the answer 'reject'": 1}


def test_a_choice_of_several_is_one_even_if_nobody_chose_two(tmp_path: Path) -> None:
    several = {"choice_style": "multiple"}
    path = write_json_lines(tmp_path / "x.jsonl", [task(1, accept=["a"], config=several)])
    assert found_in(path).asked == {"accept": "several"}
    path = write_json_lines(tmp_path / "y.jsonl", [task(1, accept=["a", 2], config={})])
    found = found_in(path)
    assert (found.asked, found.rows("category")) == ({"accept": "several"}, [("2",), ("a",)])


def test_a_single_label_is_a_question_that_is_accepted_or_rejected(tmp_path: Path) -> None:
    path = write_json_lines(tmp_path / "x.jsonl", [
        task(1, label="SPAM", spans=[]), task(1, label="RUDE", answer="reject")])  # fmt: skip
    found = found_in(path)
    assert found.rows("item", "question", "category") == [
        ("1", "RUDE", "reject"),
        ("1", "SPAM", "accept"),
    ]


def test_a_suggested_span_is_an_item_of_its_own(tmp_path: Path) -> None:
    span = {"start": 0, "end": 4, "label": "PER"}
    path = write_json_lines(
        tmp_path / "x.jsonl", [task(7, answer="reject", spans=[span], _view_id="ner")]
    )
    assert found_in(path).rows("item", "question", "category") == [("-7", "PER", "reject")]


def test_a_page_with_options_and_spans_has_two_questions(tmp_path: Path) -> None:
    span = {"start": 0, "end": 4, "label": "PER"}
    path = write_json_lines(tmp_path / "x.jsonl", [task(1, accept=["a"], spans=[span])])
    found = found_in(path)
    assert found.asked == {"accept": "one", "spans": "spans"}
    assert found.rows("question", "category", "end") == [("accept", "a", ""), ("spans", "PER", "4")]


def test_regions_of_images_and_sounds_are_counted(tmp_path: Path) -> None:
    box = {"label": "CAT", "points": [[0, 0]]}
    path = write_json_lines(
        tmp_path / "x.jsonl", [task(1, accept=["a"], spans=[box, box], audio_spans=[{}])]
    )
    assert found_in(path).left_out == {"region of an image": 2, "region of a sound": 1}


@pytest.mark.parametrize("session", ["2026-11-20_12-33-44", "tickets-2026-11-20_12-33-44", None])
def test_a_session_that_is_only_a_time_names_nobody(tmp_path: Path, session: str | None) -> None:
    path = write_json_lines(tmp_path / "x.jsonl", [task(1, session, accept=["a"], coder="ada")])  # type: ignore[arg-type]
    with pytest.raises(Refused, match=r"line 1 does not say who answered(?s:.*)\?session=NAME"):
        found_in(path)
    assert found_in(path, "annotator=coder").rows("annotator") == [("ada",)]
    if session:
        assert found_in(path, "annotator=_session_id").rows("annotator") == [(session,)]


def test_fields_of_the_task_are_kept(tmp_path: Path) -> None:
    path = write_json_lines(tmp_path / "x.jsonl", [task(1, accept=["a"], meta={"topic": "rain"})])
    found = found_in(path, "item=meta.topic", keep=["meta.topic"])
    assert found.rows("item", "text", "keep:meta.topic") == [("rain", "Oslo", "rain")]


def test_a_span_behind_the_end_of_the_text_is_rejected_with_its_line(
    ledger: Ledger, tmp_path: Path
) -> None:
    spans = [{"start": 0, "end": 4, "label": "PER"}, {"start": 0, "end": 50, "label": "PER"}]
    tasks = [task(n, spans=[one]) for n, one in enumerate(spans, 1)]
    path = write_json_lines(tmp_path / "x.jsonl", tasks)
    said = r"x\.jsonl, line 2: a span ends at 50, and the text has 4 characters"
    with pytest.raises(Refused, match=said):
        ledger.import_file(path, "p")
    assert ledger.import_file(path, "p", skip_invalid=True).inserted == 1
