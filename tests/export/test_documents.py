"""Documents that other programs read: predictions, soft labels, tags; our own readers read them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import SEVERAL, SPANS, Write, standing
from tracker.core.errors import InvalidOption
from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions

ANSWERS = [
    ("item", "annotator", "category", "text", "topic"),
    ("7", "ada", "good", "a fine day", "sun"), ("7", "bo", "good", "", ""),
    ("7", "cy", "bad, so", "", ""), ("k", "ada", "good", "", ""), ("k", "bo", "bad, so", "", ""),
]  # fmt: skip
MARKED = [
    ("item", "annotator", "category", "start", "end", "text"),
    ("d", "ada", "PER", 0, 3, "Ann met Bo."), ("d", "bo", "PER", 0, 3, "Ann met Bo."),
    ("d", "ada", "LOC", 8, 9, "Ann met Bo."), ("d", "bo", "LOC", 8, 9, "Ann met Bo."),
    ("e", "ada", "", "", "", "None"), ("e", "bo", "", "", "", "None"),
    ("f", "ada", "PER", 0, 4, ""), ("f", "bo", "PER", 0, 4, ""),
]  # fmt: skip


def text(ledger: Ledger, reader: str, project: str = "p", **how: Any) -> tuple[str, dict[str, int]]:
    with ledger.document(project, reader, **how) as document:
        return "".join(document.parts), dict(document.left_out)


def test_predictions_are_what_label_studio_takes(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write(ANSWERS), "p", keep=["topic"])
    written, left_out = text(ledger, "label-studio", control="tone", on="body")
    first, second = json.loads(written)
    assert first == {
        "id": 7,
        "data": {"topic": "sun", "item": "7", "body": "a fine day"},
        "annotations": [],
        "predictions": [{
            "model_version": "consensus-majority",
            "score": pytest.approx(2 / 3),
            "result": [{"id": "tone-1", "from_name": "tone", "to_name": "body", "type": "choices",
                        "value": {"choices": ["good"]}}],
        }],
    }  # fmt: skip
    assert (second["id"], second["predictions"]) == ("k", [])
    assert left_out == {
        "a consensus, because of a tie": 1,
        "the text of an item, which is not known": 1,
    }
    ledger.import_file(write(written, "predictions.json"), "back")
    columns = ("item", "annotator", "category", "kind", "confidence")
    assert standing(ledger, "back", *columns) == [
        ("7", "consensus-majority", "good", "model", pytest.approx(2 / 3))
    ]


def test_numbers_are_ratings(sqlite_ledger: Ledger, write: Write) -> None:
    rows = [("item", "annotator", "category"), ("1", "a", "4"), ("1", "b", "4")]
    for scale, kind in (("ordinal", "rating"), ("interval", "number")):
        sqlite_ledger.import_file(write(rows), scale, options=QuestionOptions(scale=scale))
        (task,) = json.loads(text(sqlite_ledger, "label-studio", scale)[0])
        (region,) = task["predictions"][0]["result"]
        assert (region["type"], region["value"]) == (kind, {kind: 4})
        assert region["from_name"] == "label"


def test_spans_are_labels(ledger: Ledger, write: Write, tmp_path: Path) -> None:
    ledger.import_file(write(MARKED), "p", options=SPANS)
    written, _ = text(ledger, "label-studio", control="mark")
    first, second, third = json.loads(written)
    assert [one["value"] for one in first["predictions"][0]["result"]] == [
        {"start": 0, "end": 3, "text": "Ann", "labels": ["PER"]},
        {"start": 8, "end": 9, "text": "B", "labels": ["LOC"]},
    ]
    assert second["predictions"][0]["result"] == []
    assert "text" not in third["predictions"][0]["result"][0]["value"]
    path = tmp_path / "predictions.json"
    path.write_text(written, "utf-8")
    ledger.import_file(path, "back")
    assert standing(ledger, "back", "item", "category", "start", "end", "kind") == [
        ("d", "LOC", 8, 9, "model"), ("d", "PER", 0, 3, "model"), ("e", None, None, None, "model"),
        ("f", "PER", 0, 4, "model"),
    ]  # fmt: skip


def test_soft_labels_are_read_back(ledger: Ledger, write: Write, tmp_path: Path) -> None:
    ledger.import_file(write(ANSWERS), "p", keep=["topic"])
    written, _ = text(ledger, "lewidi")
    told = json.loads(written)
    assert told["7"] == {
        "text": "a fine day",
        "annotators": "ada,bo,cy",
        "annotations": {"ada": "good", "bo": "good", "cy": ["bad, so"]},
        "number of annotations": 3,
        "soft_label": {"bad, so": pytest.approx(1 / 3), "good": pytest.approx(2 / 3)},
        "topic": "sun",
    }
    path = tmp_path / "soft.json"
    path.write_text(written, "utf-8")
    ledger.import_file(path, "back")
    assert standing(ledger, "back") == standing(ledger)
    rows = [("item", "annotator", "category"), (1, "a", "x"), (1, "a", "y"), (1, "b", "y")]
    ledger.import_file(write(rows), "sets", options=SEVERAL)
    told = json.loads(text(ledger, "lewidi", "sets")[0])["1"]
    assert told["annotations"] == {"a": ["x", "y"], "b": "y"}
    assert told["soft_label"] == {"x": {"0": 0.5, "1": 0.5}, "y": {"0": 0.0, "1": 1.0}}


def test_tags_of_characters_are_widened_to_tokens(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write(MARKED), "p", options=SPANS)
    written, left_out = text(ledger, "conll")
    assert written == (
        "# sent_id = d\nAnn\tB-PER\nmet\tO\nBo\tB-LOC\n.\tO\n\n# sent_id = e\nNone\tO\n\n"
    )
    assert left_out == {
        "an edge of a span within a token: it was widened": 1,
        "an item whose tokens are not known": 1,
    }


def test_tags_are_read_back(ledger: Ledger, write: Write, tmp_path: Path) -> None:
    rows = [
        ("item", "annotator", "category", "start", "end", "n_tokens", "text"),
        ("s", "ada", "PER", 0, 2, 4, "Ann Lee met Bo"), ("s", "ada", "LOC", 1, 3, 4, ""),
        ("s", "ada", "PER", 3, 4, 4, ""), ("t", "ada", "", "", "", 2, ""),
    ]  # fmt: skip
    ledger.import_file(write(rows), "p", options=QuestionOptions(answers="spans", offsets="tokens"))
    written, left_out = text(ledger, "conll", annotators=["ada"])
    assert left_out == {"a span that overlaps another": 1}
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "ada.conll").write_text(written, "utf-8")
    ledger.import_file(tmp_path / "out", "back")
    assert standing(ledger, "back", "item", "annotator", "category", "start", "end") == [
        ("s", "ada", "PER", 0, 2), ("s", "ada", "PER", 3, 4), ("t", "ada", None, None, None),
    ]  # fmt: skip


def test_kinds_that_a_reader_cannot_hold_are_refused(sqlite_ledger: Ledger, write: Write) -> None:
    rows = [("item", "annotator", "category", "start", "end"), ("d", "a", "x", 0, 3)]
    options = QuestionOptions(answers="spans", offsets="tokens")
    sqlite_ledger.import_file(write(rows), "p", options=options)
    sqlite_ledger.import_file(write(ANSWERS), "labels")
    for reader, project, message in (
        ("lewidi", "p", "soft labels"),
        ("label-studio", "p", "counts characters"),
        ("conll", "labels", "has no spans"),
    ):
        with pytest.raises(InvalidOption, match=message):
            text(sqlite_ledger, reader, project)
