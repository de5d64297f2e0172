"""Data frames: what their cells mean, whatever type pandas gave a column."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.helpers import SEVERAL, fates, standing, stored
from tracker.core.errors import Refused
from tracker.ledger import Ledger

Write = Callable[..., Path]

GAP = [1, 2, None]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (pd.Series(GAP), ["1", "2", None]),
        (pd.Series(GAP, dtype="Int64"), ["1", "2", None]),
        (pd.Series(GAP, dtype="object"), ["1", "2", None]),
        (pd.Series(GAP, dtype="category"), ["1", "2", None]),
        (pd.Series([1.0, None, 2.0], dtype="object"), ["1", "2", None]),
        (pd.Series([1.0, 2.5, 1e300]), ["1.0", "2.5", "1e+300"]),
        (pd.Series([1, 2, 2]), ["1", "2", "2"]),
        (pd.Series([True, False, True]), ["false", "true", "true"]),
        (pd.Series([True, None, False], dtype="boolean"), ["false", "true", None]),
        (pd.Series(["a", pd.NA, "b"], dtype="string"), ["a", "b", None]),
        (pd.Categorical(["b", None, "a"], categories=["z", "b", "a"]), ["a", "b", None]),
        (pd.Series([1, True, "1"], dtype="object"), ["1", "1", "true"]),
    ],
    ids=lambda value: str(getattr(value, "dtype", "")),
)
def test_what_a_cell_means(sqlite_ledger: Ledger, cells: Any, expected: list[str | None]) -> None:
    frame = pd.DataFrame({"item": ["i", "j", "k"], "annotator": "A", "category": cells})
    result = sqlite_ledger.import_frame(frame, "p")
    assert fates(result) == {"inserted": 3}
    found = [row[0] for row in standing(sqlite_ledger, "p", "category")]
    assert found == sorted(expected, key=lambda cell: (cell is not None, str(cell)))


def test_a_frame_with_a_gap_is_the_file_without_it(ledger: Ledger, write: Write) -> None:
    ledger.import_file(write("item,annotator,category\n 1,7,1\n 2,7,2"), "p")
    columns = {"item": [1, 2, 3], "annotator": [7, 7, None], "category": [1, 2, None]}
    result = ledger.import_frame(pd.DataFrame(columns), "p", skip_invalid=True)
    assert fates(result) == {"unchanged": 2, "rejected": 1}
    assert standing(ledger) == [("1", "7", "1"), ("2", "7", "2")]


@pytest.mark.parametrize(
    "cell",
    [pd.Timestamp("2024-03-01 10:00"), pd.Timestamp("2024-03-01 12:00+02:00"), "2024-03-01T10:00Z"],
)
def test_moments_in_frames(sqlite_ledger: Ledger, cell: Any) -> None:
    frame = pd.DataFrame({"item": ["i", "j"], "annotator": "A", "category": "x"})
    frame["labeled_at"] = pd.Series([cell, None])
    sqlite_ledger.import_frame(frame, "p")
    assert standing(sqlite_ledger, "p", "item", "labeled_at") == [
        ("i", "2024-03-01T10:00:00Z"),
        ("j", None),
    ]


def test_days_in_frames(sqlite_ledger: Ledger) -> None:
    frame = pd.DataFrame({"item": ["i"], "annotator": "A", "category": "x"})
    frame["labeled_at"] = pd.Series([date(2024, 3, 1)], dtype="object")
    sqlite_ledger.import_frame(frame, "p")
    assert standing(sqlite_ledger, "p", "labeled_at") == [("2024-03-01T00:00:00Z",)]


def test_a_list_in_a_cell_is_several_categories(ledger: Ledger) -> None:
    lists = [["a", "b"], [], ("b",), {"a"}, "c", None]
    frame = pd.DataFrame({"item": list("ijklmn"), "annotator": "A", "category": lists})
    result = ledger.import_frame(frame, "p", options=SEVERAL)
    assert fates(result) == {"inserted": 7}
    assert [(item, category) for item, _, category in standing(ledger)] == [
        ("i", "a"),
        ("i", "b"),
        ("j", None),
        ("k", "b"),
        ("l", "a"),
        ("m", "c"),
        ("n", None),
    ]
    wide = pd.DataFrame({"item": ["i", "j"], "A": [["a"], ["b", "c"]], "B": [None, ["a"]]})
    assert fates(ledger.import_frame(wide, "q", options=SEVERAL, wide=True)) == {"inserted": 4}


@pytest.mark.parametrize(
    ("column", "cell", "options", "sign"),
    [
        ("category", ["a", "b"], {}, "line 3: the category is a list, ['a', 'b'], not a single"),
        ("category", {"a": 1}, {"options": SEVERAL}, "line 3: the category is an object, {'a': 1}"),
        ("category", [["a"]], {"options": SEVERAL}, "line 3: the category is a list, [['a']]"),
        ("item", ["a"], {"options": SEVERAL}, "line 3: the item is a list, ['a']"),
        ("annotator", ("a",), {}, "line 3: the annotator is a list, ('a',)"),
        ("category", "\ud800", {}, "half a character"),
    ],
)
def test_cells_of_frames_that_cannot_be(
    sqlite_ledger: Ledger, column: str, cell: Any, options: dict[str, Any], sign: str
) -> None:
    columns = {"item": ["i", "j"], "annotator": ["A", "A"], "category": ["x", "x"]}
    columns[column] = ["x", cell]
    with pytest.raises(Refused) as caught:
        sqlite_ledger.import_frame(pd.DataFrame(columns, dtype="object"), "p", **options)
    assert sign in str(caught.value)
    assert len(str(caught.value).splitlines()) <= 2
    assert stored(sqlite_ledger) == {}


def test_an_empty_frame(sqlite_ledger: Ledger) -> None:
    frame = pd.DataFrame({"item": [], "annotator": [], "category": []})
    with pytest.raises(Refused, match="frame holds no row"):
        sqlite_ledger.import_frame(frame, "p")


def test_a_list_in_a_column_of_a_question_is_an_answer_of_several(ledger: Ledger) -> None:
    topics = [["a", "b"], [], ("b", "b"), {"a"}, "c|d", None]
    frame = pd.DataFrame(
        {"item": list("ijklmn"), "annotator": "A", "tone": list("xyxyxy"), "topics": topics}
    )
    asked = ["tone=tone", "topics=topics:several"]
    result = ledger.import_frame(frame, "p", questions=asked, separator="|")
    assert [(one["answers"], one["skipped"]) for one in result.questions] == [(6, 0), (8, 2)]
    labels = ledger.export_frame("p", question="topics")[["item", "category"]].astype(object)
    expected = [("i", "a"), ("i", "b"), ("j", ""), ("k", "b"), ("l", "a"), ("m", "c"), ("m", "d")]
    found = labels.fillna("").itertuples(index=False, name=None)
    assert sorted(found) == [*expected, ("n", "")]
    again = ledger.import_frame(frame, "p", questions=asked, separator="|")
    assert (again.rows, again.unchanged) == (14, 14)


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        (
            {"tone": ["x"], "topics": "a"},
            "tone: the category is a list, ['x'], not a",
        ),
        ({"tone": "x", "topics": {"a": 1}}, "topics: the category is an object, {'a': 1}, not a"),
        (
            {"tone": "x", "topics": [["a"]]},
            "topics: the category is a list, [['a']], a list of lists",
        ),
    ],
)
def test_each_question_takes_the_lists_that_it_allows(
    sqlite_ledger: Ledger, cells: dict[str, Any], reason: str
) -> None:
    good = {"item": "i", "annotator": "A", "tone": "x", "topics": ["a"]}
    frame = pd.DataFrame([good, {"item": "j", "annotator": "A", **cells}])
    asked = ["tone=tone", "topics=topics:several"]
    result = sqlite_ledger.import_frame(frame, "p", questions=asked, skip_invalid=True)
    assert (result.rows, result.inserted, result.rejected) == (3, 2, 1)
    assert f"line 3: {reason}" in str(result.rejections[0])
    for question, names in (("tone", ["x"]), ("topics", ["a"])):
        assert list(sqlite_ledger.categories.list("p", question=question).labels) == names
