"""Label Studio's controls: their categories, and their places in texts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.formats.label_studio import SPANS, by, choice, read, region, task
from tracker.core.errors import Refused
from tracker.ledger import Ledger


@pytest.mark.parametrize(
    ("given", "categories", "answers"),
    [
        (choice("x"), ["x"], "one"),
        (choice("x", "y"), ["x", "y"], "several"),
        (region("c", "rating", rating=4), ["4"], "one"),
        (region("c", "number", number=2.5), ["2.5"], "one"),
        (region("c", "pairwise", selected="left"), ["left"], "one"),
        (region("c", "taxonomy", taxonomy=[["a", "b"], ["c"]]), ["a / b", "c"], "several"),
        (region("c", "rectanglelabels", x=1, y=2, rectanglelabels=["car"]), ["car"], "several"),
        (region("c", "brushlabels", format="rle", rle=[], brushlabels=["car"]), ["car"], "several"),
        (region("c", "labels", start=0.5, end=2, channel=0, labels=["talk"]), ["talk"], "several"),
        (region("c", "timeserieslabels", start=1, end=2, timeserieslabels=["up"]), ["up"],
         "several"),
    ],
)  # fmt: skip
def test_controls_have_categories(
    tmp_path: Path, given: dict[str, Any], categories: list[str], answers: str
) -> None:
    found = read(tmp_path, task(1, by(1, given)))
    assert found.rows("category", "start") == [(one, "") for one in categories]
    assert list(found.asked.values()) == [answers]
    kind = given["type"]
    places = {f"place of a region of type {kind!r}": 1} if kind.endswith("labels") else {}
    assert found.left_out == places


def test_scales_of_ratings_and_numbers(ledger: Ledger, tmp_path: Path) -> None:
    stars, size = region("stars", "rating", rating=4), region("size", "number", number=2)
    path = tmp_path / "x.json"
    path.write_text(json.dumps([task(1, by(1, stars, size))]))
    ledger.import_file(path, "p")
    scales = {one.name: one.scale for one in ledger.questions.list("p")}
    assert scales == {"stars": "ordinal", "size": "interval"}


DIALOGUE = [{"author": "a", "text": "Hello there"}, {"author": "b", "text": "Oslo, hi"}]


@pytest.mark.parametrize(
    ("given", "data", "spans"),
    [
        (region("c", "labels", start=0, end=4, text="Oslo", labels=["LOC", "ORG"]),
         {"text": "Oslo"}, [("LOC", "0", "4"), ("ORG", "0", "4")]),
        (region("c", "choices", start=0, end=4, text="Oslo", choices=["sure"]),
         {"text": "Oslo"}, [("sure", "0", "4")]),
        (region("c", "hypertextlabels", start="/p[1]/text()[1]", end="/p[1]/text()[1]",
                startOffset=1, endOffset=3, globalOffsets={"start": 5, "end": 7},
                hypertextlabels=["X"]), {"html": "<p>…</p>"}, [("X", "5", "7")]),
        (region("c", "paragraphlabels", start="1", end="1", startOffset=0, endOffset=4,
                paragraphlabels=["LOC"]), {"chat": DIALOGUE}, [("LOC", "11", "15")]),
    ],
)  # fmt: skip
def test_controls_mark_spans(
    tmp_path: Path, given: dict[str, Any], data: dict[str, Any], spans: list[tuple[str, ...]]
) -> None:
    found = read(tmp_path, task(1, by(1, given, given), by(2), data=data))
    assert found.rows(*SPANS) == [("", "", ""), *spans]
    assert found.asked == {"c": "spans"}
    assert not found.left_out


@pytest.mark.parametrize(("start", "end"), [(7, 11), (8, 12)])
def test_spans_behind_an_emoji_are_in_characters_whatever_the_tool_counted(
    tmp_path: Path, start: int, end: int
) -> None:
    text = "\U0001f4a9 é in Oslo"
    first = text.index("Oslo")
    assert first == 7
    given = region("c", "labels", start=start, end=end, text="Oslo", labels=["LOC"])
    found = read(tmp_path, task(1, by(1, given), data={"id": 3, "text": text}))
    assert found.rows(*SPANS) == [("LOC", "7", "11")]


def test_a_control_that_has_spans_and_none_is_rejected_with_the_task(
    ledger: Ledger, tmp_path: Path
) -> None:
    path = tmp_path / "x.json"
    span = region("c", "labels", start=0, end=4, labels=["X"])
    whole = region("c", "labels", x=1, y=1, labels=["X"])
    path.write_text(json.dumps([task(1, by(1, span), data={"a": "Oslo"}), task(2, by(1, whole))]))
    with pytest.raises(Refused, match=r"x\.json, task 2: 'c' is answered with spans, and with"):
        ledger.import_file(path, "p")
    assert ledger.import_file(path, "p", skip_invalid=True).rejected == 1


def far(data: dict[str, Any], end: int = 50) -> dict[str, Any]:
    """A task whose only span ends there."""
    given = region("c", "labels", start=0, end=end, text="abc", labels=["X"])
    return task(2, by(1, given), data=data)


def test_a_span_behind_the_end_of_each_text_is_rejected_with_the_task(
    ledger: Ledger, tmp_path: Path
) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps([task(1, by(1, choice("x"))), far({"id": 3, "text": "abc"})]))
    said = r"x\.json, task 2: a span ends at 50, and the text has 3 characters"
    with pytest.raises(Refused, match=said):
        ledger.import_file(path, "p")
    assert ledger.import_file(path, "p", skip_invalid=True).rejected == 1


@pytest.mark.parametrize(
    ("data", "end"),
    [
        ({"title": "abc", "body": "abc" * 20}, 50),
        ({"text": "https://example.org/a.txt"}, 50),
        ({"text": "/data/upload/a.txt"}, 50),
        ({"meta": {"text": "abc" * 20}}, 50),
        ({"text": "\U0001f4a9" * 3}, 6),
        ({"id": 3}, 50),
    ],
)
def test_a_span_is_read_if_its_text_may_be_long_enough(
    tmp_path: Path, data: dict[str, Any], end: int
) -> None:
    assert read(tmp_path, far(data, end)).rows(*SPANS) == [("X", "0", str(end))]


NO_TASKS: list[tuple[Any, str]] = [
    ({"id": 2, "annotations": {}}, "'annotations' is no list"),
    ({"id": 2}, "this is no task with its annotations"),
    (3, "this is no task with its annotations"),
    (task(2, "x"), "an annotation is no object"),
    (task(2, by(1, {"type": "choices", "from_name": "c"})), "has no value"),
    (task(2, {"completed_by": 1, "result": "x"}), "the result of an annotation is no list"),
    (task(2, by(1, {"type": "choices", "value": {}})), "does not name its control"),
    (task(2, by(1, region("r", "rating", rating="x"))), "a rating is no number: x"),
    (task(2, by(1, region("tone", "choices", choices=[None]))), "is no text or number"),
    ({"id": 2, "annotations": [], "data": "x"}, "'data' is no object"),
]


def test_what_is_no_task_is_rejected_with_its_place(sqlite_ledger: Ledger, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps([task(1, by(1, choice("x"))), *(bad for bad, _ in NO_TASKS)]))
    with pytest.raises(Refused, match=r"x\.json, task 2: "):
        sqlite_ledger.import_file(path, "p")
    result = sqlite_ledger.import_file(path, "p", skip_invalid=True)
    told = [str(one) for one in result.rejections]
    for place, (one, (_, reason)) in enumerate(zip(told, NO_TASKS, strict=True), 2):
        assert f"x.json, task {place}: " in one, reason
        assert reason in one
    assert result.inserted >= 1
