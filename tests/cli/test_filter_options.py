"""Choosing answers on the command line.

What is told of a choice, and what cannot be chosen, is in the goldens.
"""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.counts.test_selections import load
from tests.filled import FillOnce
from tracker.ledger import Ledger


@pytest.fixture
def chosen(folder: Path, sqlite_ledger: Ledger, fill_once: FillOnce) -> None:
    """A project whose items have a language; one annotator has a recorded finding or none."""
    made = fill_once(sqlite_ledger, load).database.url.database
    shutil.copy(str(made), folder / "tracker.db")


@pytest.mark.parametrize("by", ["category", "annotator", "pair", "item"])
def test_every_row_is_of_the_answers_chosen(run: Run, chosen: None, by: str) -> None:
    words = ("agreement", "p", "--by", by, "--annotator", "ann", "--annotator", "bob")
    told = run(*words, "--where", "lang=nl", "--json").json()
    if by == "category":
        assert told["counts"]["answers"] == 8
    if by == "annotator":
        assert [row["annotator"] for row in told["annotators"]] == ["ann", "bob"]
        assert {row["answers"] for row in told["annotators"]} == {4}
    if by == "pair":
        assert [(row["annotators"], row["items"]) for row in told["pairs"]] == [(["ann", "bob"], 4)]
    if by == "item":
        assert [sum(row["votes"].values()) for row in told["items"]] == [2] * 4


def test_the_record_says_which_answers_it_rests_on(run: Run, chosen: None) -> None:
    for words in ([], ["--annotator", "ann", "--annotator", "cat"], []):
        run("snapshot", "p", *words)
    told = run("history", "p", "--json").json()["snapshots"]
    assert [one["selection"] is None for one in told] == [True, False, True]
    rows = list(csv.DictReader(io.StringIO(run("history", "p", "--csv").out)))
    assert [row["selection"] for row in rows][::2] == ["", ""]
    assert json.loads(rows[1]["selection"]) == told[1]["selection"]
    shown = " ".join(run("history", "p").out.split())
    assert "only answers" in shown
    assert "of ann, cat" in shown
    alpha = next(line for line in run("history", "p").out.splitlines() if "→" in line)
    assert "1.000" not in alpha, "a curve is of the same answers"
