"""Toloka: tasks of assignments, golden tasks, and assignments that were not given."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.formats.reading import found_in
from tracker.core.errors import Refused
from tracker.ledger import Ledger

ROWS = ("item", "annotator", "question", "category", "kind")
HEADER = (
    "INPUT:text\tOUTPUT:tone\tOUTPUT:topics\tGOLDEN:tone\tHINT:text\tASSIGNMENT:task_id\t"
    "ASSIGNMENT:worker_id\tASSIGNMENT:status\tASSIGNMENT:submitted\n"
)


def pool(path: Path, *rows: str) -> Path:
    path.write_text(HEADER + "".join(f"{row}\n" for row in rows).replace("|", "\t"), "utf-8")
    return path


def test_golden_values_are_reference_answers_once(tmp_path: Path) -> None:
    path = pool(
        tmp_path / "x.tsv",
        'Soup|good|["food","price"]|bad||t1|w1|APPROVED|2025-10-09T07:31:02.5',
        "",
        "Soup|bad|[]|bad||t1|w2|SUBMITTED|2025-10-09T07:32:02.5",
    )
    found = found_in(path, keep=["INPUT:text"])
    assert found.format == "toloka"
    assert found.rows(*ROWS) == [
        ("t1", "gold", "tone", "bad", "reference"),
        ("t1", "w1", "tone", "good", ""),
        ("t1", "w1", "topics", "food", ""),
        ("t1", "w1", "topics", "price", ""),
        ("t1", "w2", "tone", "bad", ""),
        ("t1", "w2", "topics", "", ""),
    ]
    assert found.asked == {"tone": "one", "topics": "several"}
    assert {one["text"] for one in found.records} == {"Soup"}
    assert found.rows("annotator", "labeled_at")[0] == ("gold", "")


def test_assignments_that_were_not_given_are_counted(tmp_path: Path) -> None:
    path = pool(
        tmp_path / "x.tsv",
        "Soup|good||||t1|w1|APPROVED|2025-10-09T07:31:02.5",
        "Soup|||||t1|w2|SKIPPED|",
        "Soup|bad||||t1|w3|REJECTED|2025-10-09T07:31:02.5",
        "Soup|||bad||t1|w4|EXPIRED|",
    )
    found = found_in(path, questions=["tone=tone"])
    assert found.rows("annotator", "category") == [("gold", "bad"), ("w1", "good")]
    assert {what: n for what, n in found.left_out.items() if "task" in what} == {
        "task of an assignment that is skipped": 1,
        "task of an assignment that is rejected": 1,
        "task of an assignment that is expired": 1,
    }


def test_a_second_assignment_is_a_revision_or_a_pass(ledger: Ledger, tmp_path: Path) -> None:
    path = pool(
        tmp_path / "x.tsv",
        "Soup|good||||t1|w1|APPROVED|2025-10-09T07:31:02",
        "Soup|fine||||t1|w2|APPROVED|2025-10-09T07:31:02",
        "Soup|bad||||t1|w1|APPROVED|2025-10-09T07:35:02",
    )
    tone = ["tone=tone"]
    assert set(found_in(path, questions=tone).rows("pass")) == {("",)}
    found = found_in(path, questions=tone, repeat="pass")
    assert found.rows("annotator", "pass", "category") == [
        ("w1", "", "good"), ("w1", "2", "bad"), ("w2", "", "fine"),
    ]  # fmt: skip
    ledger.import_file(path, "p", questions=tone)
    assert sorted(ledger.export_frame("p")["category"]) == ["bad", "fine"]
    ledger.import_file(path, "q", questions=tone, repeat="pass")
    assert sorted(ledger.export_frame("q")["category"]) == ["bad", "fine", "good"]


def test_commas_of_a_list_may_have_a_backslash(tmp_path: Path) -> None:
    path = pool(tmp_path / "x.tsv", r'Soup||["food"\,"a\\\\\, b"]|||t1|w1|APPROVED|')
    found = found_in(path, questions=["topics=topics"])
    assert found.rows("category") == [("a\\\\, b",), ("food",)]


def test_answers_of_a_training_can_be_told_by_their_hint(tmp_path: Path) -> None:
    path = pool(tmp_path / "x.tsv", "Soup|good||bad|Taste it|t1|w1|APPROVED|2025-10-09T07:31:02")
    found = found_in(path, keep=["HINT:text"])
    assert ("w1", "Taste it") in found.rows("annotator", "keep:HINT:text")


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("Soup|good||||t1|w1|LOST|", "line 2: the status 'LOST' is none of an assignment"),
        (
            "Soup|[1||||t1|w1|APPROVED|",
            "line 2: the cell of 'OUTPUT:tone' looks like JSON",
        ),
        ("Soup|good||||t1|w1|APPROVED", "line 2: 8 cells where the header has 9"),
    ],
)
def test_what_is_no_assignment_is_refused_with_its_line(
    tmp_path: Path, row: str, reason: str
) -> None:
    with pytest.raises(Refused, match=reason):
        found_in(pool(tmp_path / "x.tsv", row))
