"""Of several answers of one annotator to one item: what the plain ledger does not ask."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import SEVERAL, fates, standing, stored
from tracker.core.errors import Refused
from tracker.ledger import Ledger

Write = Callable[..., Path]

TIMED = "item,annotator,category,labeled_at\n"


def test_last_weeks_export_again_does_not_bring_back_its_seconds(
    ledger: Ledger, write: Write
) -> None:
    last, this = (
        write(f"item,annotator,category,labeled_at,seconds\n i,A,x,2024-03-01,{seconds}")
        for seconds in (5, 7)
    )
    for file in (last, this, last):
        ledger.import_file(file, "p")
    assert standing(ledger, "p", "category", "seconds") == [("x", 7)]


def test_a_row_twice_is_one_answer(ledger: Ledger, write: Write) -> None:
    file = write("item,annotator,category\n i,A,x\n i,A,x\n i, A ,x ")
    assert fates(ledger.import_file(file, "p")) == {"inserted": 1, "unchanged": 2}
    assert standing(ledger) == [("i", "A", "x")]


def test_contradictory_rows_name_both_lines(ledger: Ledger, write: Write) -> None:
    file = write("item,annotator,category\n j,A,x\n i,A,x\n j,B,x\n i,A,y")
    with pytest.raises(Refused) as caught:
        ledger.import_file(file, "p")
    assert "line 3: 'A' has two different answers for item 'i': 'x' here, 'y' on line 5" in str(
        caught.value
    )
    assert "--skip-invalid" in str(caught.value)
    assert stored(ledger) == {}

    result = ledger.import_file(file, "p", skip_invalid=True)
    assert fates(result) == {"inserted": 2, "rejected": 2}
    assert [(one.line, one.reason) for one in result.rejections] == [
        (3, "'A' has two different answers for item 'i': 'x' here, 'y' on line 5"),
        (5, "'A' has two different answers for item 'i': 'y' here, 'x' on line 3"),
    ]
    assert standing(ledger) == [("j", "A", "x"), ("j", "B", "x")]


def test_contradiction_needs_the_same_time_and_pass(ledger: Ledger, write: Write) -> None:
    header = "item,annotator,category,pass,labeled_at\n"
    ledger.import_file(write(header + "i,A,x,1,2024-03-01\n i,A,y,2,2024-03-01"), "p")
    assert standing(ledger, "p", "category", "pass") == [("x", 1), ("y", 2)]
    same = header + "i,A,x,2,2024-03-01\n i,A,,2,2024-03-01T00:00:00+00:00"
    with pytest.raises(Refused, match="for item 'i': 'x' here, nothing on line 3"):
        ledger.import_file(write(same), "p")


def test_several_files_are_one_import_and_the_later_revises(ledger: Ledger, write: Write) -> None:
    first = write("item,annotator,category\n i,A,x\n j,A,x")
    second = write("item\tannotator\tcategory\n i\tA\ty\n k\tA\tx")
    result = ledger.import_file([first, second], "p")
    assert fates(result) == {"inserted": 3, "changed": 1}
    assert standing(ledger) == [("i", "A", "y"), ("j", "A", "x"), ("k", "A", "x")]
    assert (stored(ledger)["imports"], stored(ledger)["sources"]) == (1, 2)


def test_several_files_are_refused_together(ledger: Ledger, write: Write) -> None:
    good = write("item,annotator,category\n i,A,x")
    bad = write("item,annotator,category\n ,A,x", "bad.csv")
    with pytest.raises(Refused, match=r"bad\.csv, line 2: the item is empty"):
        ledger.import_file([good, bad], "p")
    assert stored(ledger) == {}


def test_an_empty_category_is_a_skipped_answer(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write("item,annotator,category\n i,A,\n i,B,x\n i,C, "), "p")
    assert standing(ledger) == [("i", "A", None), ("i", "B", "x"), ("i", "C", None)]
    counts = ledger.agreement("p").counts
    assert (counts.items, counts.items_compared, counts.answers, counts.labels) == (1, 0, 1, 1)
    result = ledger.import_file(write("item,annotator,category\n i,A,y\n i,B,"), "p")
    assert fates(result) == {"changed": 2}
    assert standing(ledger)[:2] == [("i", "A", "y"), ("i", "B", None)]


def test_none_applies_beside_a_label_is_a_contradiction(ledger: Ledger, write: Write) -> None:
    file = write("item,annotator,category\n i,A,x\n i,A,\n i,A,y\n j,A,x")
    with pytest.raises(Refused, match=r"line 2: 'A' .* item 'i': 'x' here, nothing on line 3"):
        ledger.import_file(file, "p", options=SEVERAL)
    result = ledger.import_file(file, "p", options=SEVERAL, skip_invalid=True)
    assert fates(result) == {"inserted": 1, "rejected": 3}
    assert [rejection.line for rejection in result.rejections] == [2, 3, 4]


def test_a_dry_run_tells_and_keeps_nothing(ledger: Ledger, write: Write) -> None:
    file = write("item,annotator,category\n i,A,x\n j,A,x")
    assert fates(ledger.import_file(file, "p", dry_run=True)) == {"inserted": 2}
    assert stored(ledger) == {}
    ledger.import_file(file, "p")
    before = stored(ledger)
    ledger.import_file(write("item,annotator,category\n i,A,y"), "p", dry_run=True)
    assert stored(ledger) == before
    assert standing(ledger) == [("i", "A", "x"), ("j", "A", "x")]


def test_rows_of_a_table_that_repeat_an_answer_are_what_the_user_says(
    ledger: Ledger, write: Write
) -> None:
    file = write("item,annotator,category\ni,A,x\ni,B,x\ni,A,y\ni,A,y\nj,A,x")
    with pytest.raises(Refused, match="two different answers"):
        ledger.import_file(file, "p")
    assert ledger.import_file(file, "passes", repeat="pass").inserted == 5
    assert standing(ledger, "passes", "item", "annotator", "pass", "category") == [
        ("i", "A", 1, "x"), ("i", "A", 2, "y"), ("i", "A", 3, "y"), ("i", "B", 1, "x"),
        ("j", "A", 1, "x"),
    ]  # fmt: skip
    ledger.import_file(file, "revisions", repeat="revision")
    assert standing(ledger, "revisions") == [("i", "A", "y"), ("i", "B", "x"), ("j", "A", "x")]
    for name, repeat in {"passes": "pass", "revisions": "revision"}.items():
        again = ledger.import_file(file, name, repeat=repeat)
        assert (again.inserted, again.changed) == (0, 0), name
    timed = write("item,annotator,category,labeled_at\ni,A,x,2024-01-01\ni,A,y,2024-01-01")
    with pytest.raises(Refused, match="two different answers"):
        ledger.import_file(timed, "p", repeat="revision")
