"""How commands are told their project: first of the words, by ``-p``, or the only one there is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run


@pytest.fixture
def one(run: Run, answers: Path) -> Path:
    """A database with one project, its name a number, and two snapshots."""
    run("import", answers, "-p", "7")
    run("snapshot", "7", "--name", "first")
    run("snapshot", "7", "--name", "second")
    return answers.parent / "tracker.db"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["agreement"], ["--json"]),
        (["item", "show"], ["2", "--json"]),
        (["compare"], ["first", "second", "--json"]),
        (["export", "labels"], ["-o", "-"]),
        (["flags", "list"], ["--json"]),
    ],
    ids=" ".join,
)
def test_a_project_is_named_in_either_way_or_is_the_only_one(
    run: Run, one: Path, before: list[str], after: list[str]
) -> None:
    named = run(*before, "7", *after)
    assert "only one" not in named.err
    assert run(*before, *after, "-p", "7").out == named.out
    assert run(*before, "--project=7", *after).out == named.out
    guessed = run(*before, *after)
    assert guessed.out == named.out
    assert "project: 7 (the only one)" in guessed.err.splitlines()


def test_one_of_several_projects_is_never_guessed(run: Run, furnished: Path) -> None:
    for words in (["agreement"], ["item", "show", "1"], ["compare", "first", "first"]):
        refused = run(*words, code=2)
        assert refused.out == ""
        assert "name one of: reviews, sandwich" in refused.err
    assert "'reviews' and 'sandwich'" in run("agreement", "reviews", "-p", "sandwich", code=2).err


def test_what_cannot_be_undone_never_guesses(run: Run, one: Path) -> None:
    for words in (
        ["project", "delete", "--yes"],
        ["annotator", "erase", "A", "--yes"],
        ["snapshots", "prune", "--keep", "last:1", "--yes"],
    ):
        assert "-p PROJECT" in run(*words, code=2).err
    assert run("annotator", "list", "7", "--json").json()["annotators"]
    assert len(run("history", "7", "--json").json()["snapshots"]) == 2
    run("annotator", "erase", "A", "--yes", "-p", "7")
    run("project", "delete", "7", "--yes")
    run("agreement", code=4)


def test_numbers_of_flags_are_no_project(run: Run, furnished: Path) -> None:
    run("flags", "acknowledge", "reviews", "1", "--by", "me")
    run("flags", "resolve", "1", "-p", "reviews", "--by", "me")
    for words in (["history", "1", "-p", "reviews"], ["history", "reviews", "1"]):
        told = run("flags", *words, "--json").json()
        assert [one["action"] for one in told["changes"]] == ["found", "acknowledged", "resolved"]
    run("project", "delete", "sandwich", "--yes")
    assert run("flags", "show", "1", "--json").json()["flag"] == 1
    assert run("flags", "history", "1", "--json").json()["changes"]


def test_a_missing_word_is_named(run: Run, one: Path) -> None:
    assert "ITEM" in run("item", "show", code=2).err
    assert "a word is missing" in run("project", "note", "7", code=2).err
    assert "'B'" in run("compare", "-p", "7", "first", code=2).err
