"""Choosing answers on the command line, and figures by an attribute of the items."""

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


COMMANDS = ["agreement", "audit", "snapshot"]
GOOD = [
    (["--annotator", "ann", "--annotator", "bob"], {"annotators": ["ann", "bob"]}),
    (["--exclude-annotator", "dot"], {"excluded": ["dot"]}),
    (["--since", "2020-03-01"], {"since": "2020-03-01T00:00:00Z"}),
    (["--until", "2020-03-01"], {"until": "2020-03-01T23:59:59.999999Z"}),
    (["--since", "2020-03-01T10:00+02:00"], {"since": "2020-03-01T08:00:00Z"}),
    (["--where", "lang=nl", "--where", "lang=de"], {"where": {"lang": ["de", "nl"]}}),
    (["--where", " lang = nl "], {"where": {"lang": ["nl"]}}),
]
NOTHING = {
    "annotators": [],
    "excluded": [],
    "since": None,
    "until": None,
    "as_of": None,
    "known_at": None,
    "where": {},
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(("words", "said"), GOOD, ids=str)
def test_what_is_chosen_is_told(
    run: Run, chosen: None, command: str, words: list[str], said: dict[str, object]
) -> None:
    told = run(command, "p", *words, "--json").json()
    assert told["selection"] == NOTHING | said
    if command != "snapshot":
        assert "Only answers " in run(command, "p", *words).out


@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_chosen_is_null(run: Run, chosen: None, command: str) -> None:
    assert run(command, "p", "--json").json()["selection"] is None
    assert run(command, "p", "--exclude-flagged", "--json").json()["selection"] is None
    if command != "snapshot":
        assert "Only" not in run(command, "p").out


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--annotator", "an"], 4, "'ann'"),
        (["--exclude-annotator", "zoe"], 4, "annotator list"),
        (["--since", "yesterday"], 2, "3 weeks ago"),
        (["--until", "2020-13-01"], 2, "--until"),
        (["--since", "2020-03-02", "--until", "2020-03-01"], 2, "later than"),
        (["--where", "lang"], 2, "ATTRIBUTE=VALUE"),
        (["--where", "=nl"], 2, "ATTRIBUTE=VALUE"),
        (["--where", "lnag=nl"], 2, "its items have: lang"),
        (["--where", "lang=n"], 2, "did you mean"),
        (["--where", "lang="], 2, "its values are: 'de', 'en', 'nl'"),
    ],
    ids=str,
)
def test_what_cannot_be_chosen(
    run: Run, chosen: None, command: str, words: list[str], code: int, message: str
) -> None:
    failed = run(command, "p", *words, code=code)
    assert message in failed.err
    assert failed.out == ""


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


def test_the_flagged_are_left_out_once_they_are_recorded(run: Run, furnished: Path) -> None:
    told = run("agreement", "reviews", "--exclude-flagged", "--json").json()
    assert told["selection"] == NOTHING | {"excluded": ["constant 1"]}
    assert (
        "Only answers of all but constant 1."
        in run("agreement", "reviews", "--exclude-flagged").out
    )
    assert run("audit", "reviews", "--exclude-flagged", "--fail-on", "flagged").code == 0


def test_nothing_left_is_no_mistake(run: Run, chosen: None) -> None:
    for words in (["--until", "2000-01-01"], ["--annotator", "ann", "--exclude-annotator", "ann"]):
        told = run("agreement", "p", *words, "--json").json()
        assert {one["value"] for one in told["measures"]} == {None}
        assert told["counts"]["answers"] == 0
        assert "There are no answers among those chosen." in run("agreement", "p", *words).out
        run("audit", "p", *words)
        run("snapshot", "p", *words)
        groups = run("agreement", "p", "--by", "attribute:lang", *words, "--json").json()
        assert groups["groups"] == []


# -- by an attribute -----------------------------------------------------------------------


def test_groups(run: Run, chosen: None) -> None:
    words = ("agreement", "p", "--by", "attribute:lang", "--exclude-annotator", "dot")
    told = run(*words, "--json").json()
    assert (told["project"], told["attribute"]) == ("p", "lang")
    assert told["selection"] == NOTHING | {"excluded": ["dot"]}
    assert [group["value"] for group in told["groups"]] == ["de", "en", "nl"]
    for group in told["groups"]:
        assert set(group) >= {"value", "counts", "measures", "categories", "summary"}
        assert group["counts"]["items"] == 4
        assert group["counts"]["annotators"] == 3
    rows = list(csv.DictReader(io.StringIO(run(*words, "--csv").out)))
    assert [row["value"] for row in rows] == ["de", "en", "nl"]
    alphas = [
        one["value"]
        for group in told["groups"]
        for one in group["measures"]
        if one["measure"] == "krippendorff_alpha"
    ]
    assert [float(row["krippendorff_alpha"]) for row in rows] == alphas
    shown = run(*words).out
    assert "3 groups of items by lang" in shown
    assert "Krippendorff's alpha" in shown
    assert "Only answers of all but dot." in shown


@pytest.mark.parametrize("by", ["attribute:", "attribute", "language", "", "Category"])
def test_what_is_no_way_to_split(run: Run, chosen: None, by: str) -> None:
    if by:
        assert "attribute:NAME" in run("agreement", "p", "--by", by, code=2).err


def test_an_attribute_that_no_item_has(run: Run, chosen: None) -> None:
    failed = run("agreement", "p", "--by", "attribute:lnag", code=2)
    assert "its items have: lang" in failed.err
    run("import", "-", "-p", "q", stdin="item,annotator,category\n1,A,x\n")
    assert "--keep COLUMN" in run("agreement", "q", "--by", "attribute:lang", code=2).err


# -- the record ----------------------------------------------------------------------------


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


def test_without_a_choice_the_record_has_no_such_column(run: Run, chosen: None) -> None:
    run("snapshot", "p")
    assert "only answers" not in run("history", "p").out
