"""Every way to ask about agreement, and what cannot be asked.

What each way says to people, and as JSON, is in the goldens: whatever the options, of each two
questions at once, of spans, and of projects that have little or nothing.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests.cli.commands import leaves, options
from tests.cli.conftest import Run
from tests.cli.projects import furnish
from tests.golden.commands import GROUPS

FIGURE = re.compile(r"-?\d+\.\d{3,}|\d+\.\d%")
CHOSEN = {
    "--annotator", "--exclude-annotator", "--exclude-flagged", "--since", "--until", "--where",
    "--guideline", "--question", "-q", "--calibration", "--as-of", "--known-at", "--project", "-p",
}  # fmt: skip
"""What chooses answers, or needs more of them, has tests of its own."""
PRINTED = {"--format", "--json", "--csv", "--help", "-h"}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ways") / "tracker.db"
    furnish(f"sqlite:///{path}")
    return path


@pytest.fixture
def small(template: Path, folder: Path) -> Path:
    return Path(shutil.copy(template, folder / "tracker.db"))


def kept(name: str, every: int = 1) -> list[list[str]]:
    """The words of the calls of a golden that ask in the format for people, or a part of them."""
    calls = (shlex.split(call) for call in GROUPS[name].calls)
    return [words for words in calls if words[0] == "agreement" and not PRINTED & {*words}][::every]


def test_the_goldens_use_every_option_well_and_badly() -> None:
    asked = options(dict(leaves())["agreement"]) - CHOSEN - PRINTED
    for names in (("agreement", "preferences"), ("agreement_mistakes",)):
        calls = [words for name in names for words in kept(name)]
        assert asked <= {word.partition("=")[0] for words in calls for word in words}, names


def test_a_narrow_terminal_loses_no_number(run: Run, small: Path) -> None:
    """A number that is cut off would be another number; columns follow below instead."""
    for words in kept("agreement", 5):
        wide = run(*words, env={"COLUMNS": "400"}, code=None).out
        narrow = run(*words, env={"COLUMNS": "40"}, code=None).out
        assert Counter(FIGURE.findall(narrow)) >= Counter(FIGURE.findall(wide)), words


def test_names_are_there_at_80_columns(run: Run, small: Path) -> None:
    for words, names in (
        (["marks"], ["0", "2.5", "10", "Percent", "Light's"]),
        (["marks", "--by", "pair"], ["ann", "bob"]),
        (["spans", "--by", "pair"], ["ann", "bob"]),
        (["main", "--by", "annotator"], ["ann", "bob", "cat lee"]),
        (["main", "--against", "pilot"], ["Percent", "Light's", "agreement"]),
        (["main", "--self"], ["all", "ann", "cat lee"]),
    ):
        shown = run("agreement", *words, env={"COLUMNS": "80"}).out
        for name in names:
            assert re.search(rf"^ ?{re.escape(name)}\b", shown, re.MULTILINE), (words, name, shown)


def test_an_ordinary_table_fits(run: Run, small: Path) -> None:
    for words in (
        ["main"],
        ["marks"],
        ["sets"],
        ["main", "--against", "pilot"],
        ["main", "--gold"],
    ):
        shown = run("agreement", *words, env={"COLUMNS": "80"}).out
        assert max(map(len, shown.splitlines())) <= 80, words


def test_what_cannot_be_asked_is_no_json_either(run: Run, small: Path) -> None:
    """Nor is what little or nothing does not have; else it is one document."""
    for words in (*kept("agreement_mistakes", 7), *kept("agreement_of_little", 9)):
        said = run(*words, "--json", code=None)
        if said.code:
            assert said.code in {2, 4}, words
            assert said.out == ""
            assert said.err.startswith("tracker: ")
            assert len(said.err.splitlines()) <= 2, words
        else:
            json.loads(said.out, parse_constant=pytest.fail)


def test_strange_names_are_found(run: Run, small: Path) -> None:
    for merge, names in (
        ("a+a+b", {"a", "a+b"}),
        ("=+|", {"=", "|"}),
        ("ä+名+1e3", {"ä", "名", "1e3"}),
    ):
        told = run("agreement", "strange", "--merge", merge, "--json").json()
        categories = {row["category"] for row in told["categories"]}
        assert "+".join(sorted(names, key=merge.index)) in categories or merge in categories
        assert not (names - {merge}) & categories
    told = run("agreement", "strange", "--influence", "category", "--json").json()
    assert {row["category"] for row in told["categories"]} >= {"nan", "inf", "a+b", "[b]"}
    assert "[b]" in run("agreement", "strange", "--influence", "category").out
    told = run("agreement", "strange", "--against", "annotator==", code=None)
    assert told.code == 0


def test_a_project_may_be_called_like_a_choice(run: Run, small: Path) -> None:
    run("project", "rename", "pilot", "until=2020")
    told = run("agreement", "main", "--against", "until=2020", "--json").json()
    assert told["shared_items"] == 12
