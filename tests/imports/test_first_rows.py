"""A preview: the first rows as the ledger would hold them, and nothing is stored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import csv_text, stored, write_file
from tests.profiles import examples
from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions

HEADER = ["item", "annotator", "category", "pass", "labeled_at", "seconds", "confidence", "comment"]


def preview(ledger: Ledger, path: Path, **how: Any) -> tuple[dict[str, Any], ...]:
    before = stored(ledger)
    told = ledger.import_file(path, "p", preview=True, **how)
    assert stored(ledger) == before
    assert told.id is None
    assert told.preview is not None
    assert told.to_dict()["preview"] == list(told.preview)
    return told.preview


def test_rows_are_shown_as_they_would_be_stored(ledger: Ledger, tmp_path: Path) -> None:
    path = write_file(tmp_path / "a.csv", [
        HEADER,
        [" 1 ", "ann", "5 stars", "", "2026-01-02T10:00", "2.5", "0.75", "why"],
        ["1", "bob", "", "2", "1767348000", "", "", ""],
    ])  # fmt: skip
    first, second = preview(ledger, path, values=["5 stars=5"])
    assert first == {
        "line": 2, "item": "1", "annotator": "ann", "kind": "human", "question": "label",
        "category": "5", "start": None, "end": None, "pass": 1,
        "labeled_at": "2026-01-02T10:00:00Z", "seconds": 2.5, "confidence": 0.75, "comment": "why",
    }  # fmt: skip
    assert (second["category"], second["pass"]) == (None, 2)
    assert second["labeled_at"] == "2026-01-02T10:00:00Z"


def test_what_a_preview_shows_is_what_is_stored(ledger: Ledger, tmp_path: Path) -> None:
    path = write_file(tmp_path / "wide.csv", [
        ["item", "annotator", "Tone", "Fair", "gold"],
        *([n, who, "good", "4", "good"] for n in range(20) for who in ("ann", "bob")),
    ])  # fmt: skip
    how: Any = {"questions": ["tone=Tone", "fair=Fair:ordinal"], "columns": ["gold="]}
    shown = preview(ledger, path, **how)
    assert [(row["line"], row["question"]) for row in shown] == [
        (line, name) for line in range(2, 7) for name in ("tone", "fair")
    ]
    ledger.import_file(path, "p", **how)
    frame = ledger.export_frame("p").astype(object)
    held = {tuple(row) for row in frame[["item", "annotator", "question", "category"]].to_numpy()}
    for row in shown:
        assert tuple(row[name] for name in ("item", "annotator", "question", "category")) in held


def test_the_truth_and_spans_are_among_the_rows(ledger: Ledger, tmp_path: Path) -> None:
    gold = write_file(tmp_path / "g.csv", "item,annotator,category,gold\n1,a,x,y\n")
    assert [(row["annotator"], row["kind"], row["category"]) for row in preview(ledger, gold)] == [
        ("gold", "reference", "y"), ("a", "human", "x"),
    ]  # fmt: skip
    spans = write_file(tmp_path / "s.csv", "item,annotator,category,start,end\n1,a,x,0,3\n1,b,,,\n")
    shown = preview(ledger, spans, options=QuestionOptions(answers="spans"))
    assert [(row["category"], row["start"], row["end"]) for row in shown] == [
        ("x", 0, 3), (None, None, None),
    ]  # fmt: skip


_names = st.text("ab", min_size=1, max_size=2)


@examples(8)
@given(st.lists(st.tuples(_names, _names), min_size=1, max_size=25, unique=True))
def test_the_first_ten_good_rows_are_shown(
    sqlite_ledger: Ledger, tmp_path: Path, pairs: list[tuple[str, str]]
) -> None:
    text = csv_text([["item", "annotator", "category"], *((*pair, "x") for pair in pairs)])
    path = tmp_path / "rows.csv"
    path.write_text(text)
    shown = preview(sqlite_ledger, path)
    assert [(row["item"], row["annotator"]) for row in shown] == pairs[:10]
