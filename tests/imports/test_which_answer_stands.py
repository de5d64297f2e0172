"""Of several answers of one annotator to one item: which stands, and what becomes of the rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import SEVERAL, fates, standing, stored, undo
from tracker.core.errors import Refused
from tracker.ledger import Ledger
from tracker.storage.schema import PastLabel

Write = Callable[..., Path]

TIMED = "item,annotator,category,labeled_at\n"
WEEK_1 = TIMED + "i,A,x,2024-03-01T10:00Z\n j,A,y,2024-03-01T11:00Z\n i,B,x,2024-03-01"
WEEK_2 = TIMED + "i,A,z,2024-03-08T10:00Z\n j,A,y,2024-03-01T11:00Z\n i,B,x,2024-03-01\n k,B,x,"


def test_a_first_import_inserts_every_row(ledger: Ledger, write: Write) -> None:
    result = ledger.import_file(write("item,annotator,category\n i,A,x\n i,B,y\n j,A,x"), "p")
    told = result.to_dict()
    roles = ("item", "annotator", "category")
    assert [one["read"] for one in told.pop("columns")] == [dict(zip(roles, roles, strict=True))]
    assert told.pop("read")["columns"] == dict(zip(roles, roles, strict=True))
    assert told == {
        "import": 1,
        "project": "p",
        "rows": 3,
        "inserted": 3,
        "changed": 0,
        "unchanged": 0,
        "older": 0,
        "rejected": 0,
        "rejections": [],
        "left_out": {},
    }
    assert standing(ledger) == [("i", "A", "x"), ("i", "B", "y"), ("j", "A", "x")]
    assert ledger.database.check() == []


@pytest.mark.parametrize("text", [WEEK_1, "item,annotator,category\n i,A,x\n j,A,y\n i,B,x"])
def test_the_same_file_again_changes_nothing(ledger: Ledger, write: Write, text: str) -> None:
    file = write(text)
    assert fates(ledger.import_file(file, "p")) == {"inserted": 3}
    before = ledger.export_frame("p")
    assert fates(ledger.import_file(file, "p")) == {"unchanged": 3}
    assert fates(ledger.import_file([file, file], "p")) == {"unchanged": 6}
    assert ledger.export_frame("p").equals(before)


def test_the_same_answers_in_another_file_change_nothing(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write("item,annotator,category\n i,A,x\n j,A,y"), "p")
    result = ledger.import_file(write("worker;question;label\n A;j;y\n A;i;x"), "p")
    assert fates(result) == {"unchanged": 2}
    assert standing(ledger) == [("i", "A", "x"), ("j", "A", "y")]


def test_a_later_answer_supersedes(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write(WEEK_1), "p")
    result = ledger.import_file(write(WEEK_2), "p")
    assert fates(result) == {"changed": 1, "unchanged": 2, "inserted": 1}
    assert standing(ledger) == [("i", "A", "z"), ("i", "B", "x"), ("j", "A", "y"), ("k", "B", "x")]


def test_last_weeks_export_after_this_weeks_overturns_nothing(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write(WEEK_2), "p")
    before = standing(ledger)
    result = ledger.import_file(write(WEEK_1), "p")
    assert fates(result) == {"older": 1, "unchanged": 2}
    assert standing(ledger) == before
    assert stored(ledger)["past_labels"] == 3  # kept in the record


def test_last_weeks_export_without_times_overturns_nothing(ledger: Ledger, write: Write) -> None:
    last = write("item,annotator,category\n i,A,x\n j,A,y")
    this = write("item,annotator,category\n i,A,z\n j,A,y\n k,A,x")
    ledger.import_file(last, "p")
    ledger.import_file(this, "p")
    result = ledger.import_file(last, "p")
    assert fates(result) == {"older": 2} or fates(result) == {"older": 1, "unchanged": 1}
    assert standing(ledger) == [("i", "A", "z"), ("j", "A", "y"), ("k", "A", "x")]


def test_last_weeks_export_again_yields_to_a_correction_of_the_same_time(
    ledger: Ledger, write: Write
) -> None:
    last = write(TIMED + "i,A,x,2024-03-01\n j,A,y,2024-03-01")
    this = write(TIMED + "i,A,z,2024-03-01\n j,A,y,2024-03-01")
    ledger.import_file(last, "p")
    assert fates(ledger.import_file(this, "p")) == {"changed": 1, "unchanged": 1}
    assert fates(ledger.import_file(last, "p")) == {"older": 1, "unchanged": 1}
    assert fates(ledger.import_file([this, last], "p")) == {"unchanged": 3, "older": 1}
    assert standing(ledger) == [("i", "A", "z"), ("j", "A", "y")]
    assert ledger.database.check() == []
    undo(ledger, 2)
    assert standing(ledger) == [("i", "A", "z"), ("j", "A", "y")]  # the fourth import said so, too


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


def test_files_without_times_are_labelled_when_recorded(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write(TIMED + "i,A,x,2024-03-01"), "p")
    ledger.import_file(write("item,annotator,category\n i,A,y"), "p")
    assert standing(ledger) == [("i", "A", "y")]
    # A time of its own, however late, lies before the recording of one without.
    result = ledger.import_file(write(TIMED + "i,A,z,2024-03-02"), "p")
    assert fates(result) == {"older": 1}
    assert standing(ledger, "p", "category", "labeled_at") == [("y", None)]


def test_of_the_same_moment_the_one_recorded_last_stands(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write(TIMED + "i,A,x,2024-03-01"), "p")
    assert fates(ledger.import_file(write(TIMED + "i,A,y,2024-03-01T00:00Z"), "p")) == {
        "changed": 1
    }
    assert standing(ledger) == [("i", "A", "y")]


def test_revisions_within_one_file(ledger: Ledger, write: Write) -> None:
    file = write(
        TIMED + "i,A,z,2024-03-03\n i,A,x,2024-03-01\n i,A,y,2024-03-02\n i,A,y,2024-03-02"
    )
    assert fates(ledger.import_file(file, "p")) == {"inserted": 1, "changed": 2, "unchanged": 1}
    assert standing(ledger) == [("i", "A", "z")]
    assert fates(ledger.import_file(file, "p")).get("changed") is None
    assert standing(ledger) == [("i", "A", "z")]


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
    assert stored(ledger)["imports"] == 1
    assert stored(ledger)["sources"] == 2
    ledger.import_file([first, second], "p")
    assert standing(ledger) == [("i", "A", "y"), ("j", "A", "x"), ("k", "A", "x")]


def test_several_files_are_refused_together(ledger: Ledger, write: Write) -> None:
    good = write("item,annotator,category\n i,A,x")
    bad = write("item,annotator,category\n ,A,x", "bad.csv")
    with pytest.raises(Refused, match=r"bad\.csv, line 2: the item is empty"):
        ledger.import_file([good, bad], "p")
    assert stored(ledger) == {}


def test_passes_are_answers_of_their_own(ledger: Ledger, write: Write) -> None:
    header = "item,annotator,category,pass\n"
    ledger.import_file(write(header + "i,A,x,1\n i,A,y,2\n i,A,x,7\n j,A,x,"), "p")
    result = ledger.import_file(write(header + "i,A,z,2"), "p")
    assert fates(result) == {"changed": 1}
    assert standing(ledger, "p", "item", "category", "pass") == [
        ("i", "x", 1),
        ("i", "x", 7),
        ("i", "z", 2),
        ("j", "x", 1),
    ]


def test_an_empty_category_is_a_skipped_answer(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write("item,annotator,category\n i,A,\n i,B,x\n i,C, "), "p")
    assert standing(ledger) == [("i", "A", None), ("i", "B", "x"), ("i", "C", None)]
    counts = ledger.agreement("p").counts
    assert (counts.items, counts.items_compared, counts.answers, counts.labels) == (1, 0, 1, 1)
    result = ledger.import_file(write("item,annotator,category\n i,A,y\n i,B,"), "p")
    assert fates(result) == {"changed": 2}
    assert standing(ledger)[:2] == [("i", "A", "y"), ("i", "B", None)]


def test_it_is_the_whole_answer_of_several_that_is_revised(ledger: Ledger, write: Write) -> None:
    header = "item,annotator,category\n"
    first = ledger.import_file(write(header + "i,A,x\n i,A,y\n j,A,x"), "p", options=SEVERAL)
    assert fates(first) == {"inserted": 3}
    again = ledger.import_file(write(header + "i,A,y\n i,A,x\n i,A,x"), "p")
    assert fates(again) == {"unchanged": 3}
    fewer = ledger.import_file(write(header + "i,A,y"), "p")
    assert fates(fewer) == {"changed": 1}
    assert standing(ledger) == [("i", "A", "y"), ("j", "A", "x")]
    more = ledger.import_file(write(header + "i,A,y\n i,A,z"), "p")
    assert fates(more) == {"changed": 2}
    none = ledger.import_file(write(header + "i,A,\n k,B,"), "p")
    assert fates(none) == {"changed": 1, "inserted": 1}
    assert standing(ledger) == [("i", "A", None), ("j", "A", "x"), ("k", "B", None)]
    assert ledger.agreement("p").counts.answers == 3  # none applies is an answer


def test_fewer_labels_are_another_answer(ledger: Ledger, write: Write) -> None:
    # Whatever the other rows of the file say, and also where the moment is the same.
    file = write(TIMED + "i,A,x,2024-03-01\n i,A,y,2024-03-01\n j,A,y,2024-03-01")
    ledger.import_file(file, "p", options=SEVERAL)
    fewer = write(TIMED + "i,A,x,2024-03-01\n j,A,y,2024-03-01\n k,A,y,2024-03-01")
    assert fates(ledger.import_file(fewer, "p")) == {"inserted": 1, "changed": 1, "unchanged": 1}
    assert standing(ledger) == [("i", "A", "x"), ("j", "A", "y"), ("k", "A", "y")]


def test_none_applies_beside_a_label_is_a_contradiction(ledger: Ledger, write: Write) -> None:
    file = write("item,annotator,category\n i,A,x\n i,A,\n i,A,y\n j,A,x")
    with pytest.raises(Refused, match=r"line 2: 'A' .* item 'i': 'x' here, nothing on line 3"):
        ledger.import_file(file, "p", options=SEVERAL)
    result = ledger.import_file(file, "p", options=SEVERAL, skip_invalid=True)
    assert fates(result) == {"inserted": 1, "rejected": 3}
    assert [rejection.line for rejection in result.rejections] == [2, 3, 4]


def test_older_answers_of_several_are_kept_whole(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write(TIMED + "i,A,x,2024-03-02"), "p", options=SEVERAL)
    older = ledger.import_file(write(TIMED + "i,A,x,2024-03-01\n i,A,y,2024-03-01"), "p")
    assert fates(older) == {"older": 2}
    assert standing(ledger) == [("i", "A", "x")]
    assert stored(ledger)[PastLabel.__tablename__] == 2


def test_a_dry_run_tells_and_keeps_nothing(ledger: Ledger, write: Write) -> None:
    file = write("item,annotator,category\n i,A,x\n j,A,x")
    assert fates(ledger.import_file(file, "p", dry_run=True)) == {"inserted": 2}
    assert stored(ledger) == {}
    ledger.import_file(file, "p")
    before = stored(ledger)
    ledger.import_file(write("item,annotator,category\n i,A,y"), "p", dry_run=True)
    assert stored(ledger) == before
    assert standing(ledger) == [("i", "A", "x"), ("j", "A", "x")]


def test_export_can_be_imported_again(ledger: Ledger, write: Write) -> None:
    ledger.import_file(
        write(
            "item,annotator,category,pass,seconds,labeled_at\n"
            "i,A,x,1,1.25,2024-03-01T10:00:00.5Z\n i,A,,2,,\n j,B,y,1,,1700000000"
        ),
        "p",
    )
    frame = ledger.export_frame("p")
    result = ledger.import_frame(frame, "copy")
    assert fates(result) == {"inserted": 3}
    assert ledger.export_frame("copy").equals(frame)


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
