"""One answer for each item, by votes, by competence and by a model; and who answered what."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers import SEVERAL, SPANS, csv_text, write_file
from tests.profiles import both, examples
from tracker.core.errors import InvalidOption
from tracker.ledger import Ledger

Write = Callable[..., Path]
CROWD_KIT = Path(__file__).parents[1] / "data" / "dawid_skene" / "crowd_kit.json"
_numbers = count(1)


def consensus(ledger: Ledger, project: str = "p", method: str = "majority") -> list[dict[str, Any]]:
    with ledger.consensus(project, method) as (columns, rows):
        return [dict(zip(columns, row, strict=True)) for row in rows]


def decided(ledger: Ledger, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in names) for row in consensus(ledger)]


def fill(ledger: Ledger, write: Write, rows: Sequence[Sequence[Any]], **how: Any) -> None:
    head = ("item", "annotator", "category", "start", "end")[: len(rows[0])]
    ledger.import_file(write(csv_text([head, *rows])), "p", **how)


def test_the_majority_and_what_is_tied(ledger: Ledger, write: Write) -> None:
    fill(ledger, write, [
        (1, "a", "x"), (1, "b", "x"), (1, "c", "y"), (2, "a", "y"), (2, "b", "x"),
        (3, "a", ""), (4, "a", ""), (4, "b", "y"),
    ])  # fmt: skip
    names = ("item", "category", "confidence", "tied")
    assert decided(ledger, *names) == [
        ("1", "x", 2 / 3, None), ("2", None, 0.5, "x|y"), ("4", "y", 1.0, None),
    ]  # fmt: skip
    first, second, *_ = consensus(ledger)
    assert (first["question"], first["method"]) == ("label", "majority")
    assert first["entropy"] == pytest.approx(math.log2(3) - 2 / 3)
    assert second["entropy"] == 1.0


def test_models_and_references_have_no_vote(ledger: Ledger, write: Write) -> None:
    fill(ledger, write, [(1, "a", "x"), (1, "m", "y"), (1, "n", "y")])
    ledger.annotators.kind("p", "m", "model")
    ledger.annotators.kind("p", "n", "reference")
    assert decided(ledger, "item", "category") == [("1", "x")]


def test_of_several_categories_each_has_its_own_majority(ledger: Ledger, write: Write) -> None:
    rows = [(1, "a", "x"), (1, "a", "y"), (1, "b", "y"), (1, "b", "x"), (1, "c", "z"),
            (2, "a", "x"), (2, "b", ""), (3, "a", ""), (3, "b", "")]  # fmt: skip
    fill(ledger, write, rows, options=SEVERAL)
    told = decided(ledger, "item", "category", "confidence", "tied")
    assert told == [
        ("1", "x", pytest.approx(2 / 3), None), ("1", "y", pytest.approx(2 / 3), None),
        ("2", None, 0.5, "x"), ("3", None, 1.0, None),
    ]  # fmt: skip


def test_spans_that_most_marked_alike(ledger: Ledger, write: Write) -> None:
    rows = [("d", "a", "x", 0, 3), ("d", "b", "x", 0, 3), ("d", "c", "x", 0, 2),
            ("e", "a", "x", 1, 2), ("e", "b", "", "", "")]  # fmt: skip
    fill(ledger, write, rows, options=SPANS)
    assert decided(ledger, "item", "category", "start", "end", "confidence", "tied") == [
        ("d", "x", 0, 3, 2 / 3, None), ("e", None, None, None, 0.5, "x 1-2"),
    ]  # fmt: skip
    with pytest.raises(InvalidOption, match="has no weighted consensus"):
        consensus(ledger, method="weighted")
    with pytest.raises(InvalidOption, match="has no matrix"), ledger.matrix("p"):
        pass


@pytest.mark.parametrize("method", ["weighted", "dawid-skene"])
def test_who_is_right_more_often_counts_more(ledger: Ledger, write: Write, method: str) -> None:
    crowd = json.loads(CROWD_KIT.read_text())["rows"]
    fill(ledger, write, crowd)
    competence = {
        name: ledger.annotator("p", name, competence=True)["competence"]
        for name in {str(who) for _, who, _ in crowd if method == "weighted"}
    }
    for row in consensus(ledger, method=method):
        given = [(str(who), label) for item, who, label in crowd if str(item) == row["item"]]
        assert 0 < row["confidence"] <= 1
        if method == "weighted":
            votes: Counter[str] = Counter()
            for who, label in given:
                votes[str(label)] += competence[who]
            share = max(votes.values()) / votes.total()
            assert row["confidence"] == pytest.approx(share)
            assert votes[row["category"]] == max(votes.values())


def test_a_method_that_there_is_not(sqlite_ledger: Ledger, write: Write) -> None:
    fill(sqlite_ledger, write, [(1, "a", "x")])
    with pytest.raises(InvalidOption, match="no method 'magic'"):
        consensus(sqlite_ledger, method="magic")


_keys = st.tuples(st.integers(0, 5), st.sampled_from("abcd"))


@both
@examples(6)
@given(st.dictionaries(_keys, st.sampled_from("xyz"), min_size=1))
def test_votes_are_counted_and_the_matrix_holds_them(
    ledger: Ledger, tmp_path: Path, answers: dict[tuple[int, str], str]
) -> None:
    project = f"p{next(_numbers)}"
    rows = [(item, who, category) for (item, who), category in answers.items()]
    path = write_file(tmp_path / "a.csv", [("item", "annotator", "category"), *rows])
    ledger.import_file(path, project)
    found = {row["item"]: row for row in consensus(ledger, project)}
    for item in {item for item, _ in answers}:
        votes = Counter(category for (of, _), category in answers.items() if of == item)
        best = sorted(name for name, n in votes.items() if n == max(votes.values()))
        row = found.pop(str(item))
        assert row["category"] == (best[0] if len(best) == 1 else None)
        assert row["tied"] == ("|".join(best) if len(best) > 1 else None)
        assert row["confidence"] == pytest.approx(max(votes.values()) / votes.total())
    assert not found
    with ledger.matrix(project) as (columns, cells):
        held = {
            (int(item), who): category
            for item, *given in cells
            for who, category in zip(columns[1:], given, strict=True)
            if category is not None
        }
    assert held == answers


# -- Soft labels ---------------------------------------------------------------------------


def soft(ledger: Ledger, project: str = "p", **more: Any) -> list[dict[str, Any]]:
    with ledger.consensus(project, soft=True, **more) as (columns, rows):
        return [dict(zip(columns, row, strict=True)) for row in rows]


@both
def test_soft_labels_are_the_shares_of_those_who_answered(ledger: Ledger, write: Write) -> None:
    fill(ledger, write, [
        (1, "a", "x"), (1, "b", "x"), (1, "c", "y"), (1, "d", ""), (2, "a", "y"), (2, "b", "x"),
        (3, "a", ""),
    ])  # fmt: skip
    assert soft(ledger) == [
        {"item": "1", "question": "label", "category": "x", "confidence": 2 / 3,
         "method": "majority", "people": 3, "skipped": 1, "share:x": 2 / 3, "share:y": 1 / 3},
        {"item": "2", "question": "label", "category": None, "confidence": 0.5,
         "method": "majority", "people": 2, "skipped": 0, "share:x": 0.5, "share:y": 0.5},
    ]  # fmt: skip
    assert soft(ledger, method="weighted")[0]["share:x"] == 2 / 3  # as they were given


def test_soft_labels_of_several_categories_are_how_many_gave_each(
    ledger: Ledger, write: Write
) -> None:
    fill(ledger, write, [
        (1, "a", "x"), (1, "a", "y"), (1, "b", "x"), (1, "c", "x"), (1, "c", "y"), (1, "c", "z"),
    ], options=SEVERAL)  # fmt: skip
    (row,) = soft(ledger)
    assert (row["category"], row["confidence"]) == ("x|y", pytest.approx(2 / 3))
    assert [row[f"share:{name}"] for name in "xyz"] == pytest.approx([1, 2 / 3, 1 / 3])


def test_soft_labels_of_numbers_are_mean_and_deviation(ledger: Ledger, write: Write) -> None:
    fill(ledger, write, [(1, "a", "1"), (1, "b", "4"), (2, "a", "3")])
    ledger.questions.set("p", "label", scale="interval")
    first, second = soft(ledger)
    assert (first["mean"], first["sd"]) == (2.5, pytest.approx(math.sqrt(4.5)))
    assert (second["mean"], second["sd"]) == (3.0, None)
    assert "share:1" not in first


def test_spans_have_no_soft_labels(ledger: Ledger, write: Write) -> None:
    fill(ledger, write, [(1, "a", "x", 0, 3)], options=SPANS)
    with pytest.raises(InvalidOption, match="has no shares"):
        soft(ledger)


@given(
    votes=st.dictionaries(
        st.tuples(st.integers(0, 5), st.sampled_from("abcdefg")), st.sampled_from("xyz"), min_size=1
    )
)
@examples(20)
def test_soft_labels_are_read_back_equal(
    ledger: Ledger, tmp_path_factory: pytest.TempPathFactory, votes: dict[tuple[int, str], str]
) -> None:
    project = f"q{next(_numbers)}"
    rows = [(f"i{n}", who, category) for (n, who), category in votes.items()]
    ledger.import_frame(pd.DataFrame(rows, columns=["item", "annotator", "category"]), project)
    written = soft(ledger, project)
    file = tmp_path_factory.mktemp("soft") / "soft.csv"
    file.write_text(csv_text([written[0], *(row.values() for row in written)]))
    read = pd.read_csv(file)
    for row, of_file in zip(written, read.to_dict("records"), strict=True):
        shares = {name: share for name, share in row.items() if name.startswith("share:")}
        assert {name: of_file[name] for name in shares} == shares
        assert sum(shares.values()) == pytest.approx(1)
