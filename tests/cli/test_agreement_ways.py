"""Every way to ask about agreement, and what cannot be asked.

What each way says to people, and as JSON, is in the goldens: as those of `GOOD`, of each two of
`WAYS` at once, and of what spans do not have.
"""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import shutil
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest

from tests.cli.commands import leaves, options
from tests.cli.conftest import Run
from tests.cli.projects import LITTLE, furnish
from tests.cli.ways import ASKED, BAD, GOOD, WAYS, Good
from tests.golden.commands import GROUPS

goods = pytest.mark.parametrize("asked", GOOD, ids=lambda asked: " ".join(asked.words))
FIGURE = re.compile(r"-?\d+\.\d{3,}|\d+\.\d%")

NOT_OF_SPANS = [
    ["--influence", "item"], ["--merge", "x+y"], ["--best-merges"], ["--self"], ["--gold"],
    ["--against", "main"], ["--against", "annotator=ann"], ["--bootstrap", "9"],
    ["--cluster", "doc"], ["--resample", "annotators"], ["--by", "attribute:doc"],
    ["--measure", "fleiss_kappa"],
]  # fmt: skip


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ways") / "tracker.db"
    furnish(f"sqlite:///{path}")
    return path


@pytest.fixture
def small(template: Path, folder: Path) -> Path:
    return Path(shutil.copy(template, folder / "tracker.db"))


# -- good ----------------------------------------------------------------------------------


def test_every_option_is_used_well_and_badly() -> None:
    """Those that choose answers, or need more of answers, have tests of their own."""
    chosen = {
        "--annotator",
        "--exclude-annotator",
        "--exclude-flagged",
        "--since",
        "--until",
        "--where",
        "--guideline",
        "--question",
        "-q",
        "--calibration",
        "--as-of",
        "--known-at",
        "--project",
        "-p",
    }
    printed = {"--format", "--json", "--csv", "--help", "-h"}
    every = options(dict(leaves())["agreement"]) - chosen - printed
    well = {word for asked in GOOD for word in asked.words if word in every}
    badly = {word.rstrip("=") for words, *_ in BAD for word in words}
    badly |= {way[0] for way in WAYS}
    assert well == every
    assert badly >= every


@goods
def test_csv(run: Run, small: Path, asked: Good) -> None:
    header, *rows = csv.reader(io.StringIO(run("agreement", *asked.words, "--csv").out))
    assert asked.columns <= set(header)
    assert len(set(header)) == len(header)
    assert rows
    assert {len(row) for row in rows} == {len(header)}
    assert not {cell for row in rows for cell in row} & {"None", "nan"}


@goods
def test_a_narrow_terminal_loses_no_number(run: Run, small: Path, asked: Good) -> None:
    """A number that is cut off would be another number; columns follow below instead."""
    wide = run("agreement", *asked.words, env={"COLUMNS": "400"}).out
    narrow = run("agreement", *asked.words, env={"COLUMNS": "40"}).out
    assert Counter(FIGURE.findall(narrow)) >= Counter(FIGURE.findall(wide))


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


def test_each_way_is_in_the_goldens() -> None:
    typed = [asked.words for asked in GOOD] + [["main", *words] for words, *_ in BAD]
    typed += [["main", *other, *one] for one, other in combinations(WAYS, 2)]
    typed += [
        [project, *words] for project in ("spans", "nothing marked") for words in NOT_OF_SPANS
    ]
    kept = [shlex.split(call) for name, group in GROUPS.items()
            if name.startswith("agreement") for call in group.calls]  # fmt: skip
    assert [words for words in typed if ["agreement", *words] not in kept] == []
    assert GROUPS["agreement"].forms == ["json"]


# -- bad -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "code", "wrong", "mend"),
    BAD,
    ids=lambda it: " ".join(it) if isinstance(it, list) else "",
)
def test_what_cannot_be_asked(
    run: Run, small: Path, words: list[str], code: int, wrong: str, mend: str
) -> None:
    """Without --json the goldens have it."""
    failed = run("agreement", "main", *words, "--json", code=code)
    assert failed.out == ""
    first, *rest = failed.err.splitlines()
    assert first.startswith("tracker: ")
    assert wrong in first
    assert len(rest) <= 1
    assert mend in "".join(rest)
    assert rest or not mend


# -- little or nothing ---------------------------------------------------------------------


@pytest.mark.parametrize("project", LITTLE)
def test_little_is_no_mistake_of_the_program(run: Run, small: Path, project: str) -> None:
    """An answer, or two lines that say what to do; whichever way is asked."""
    done = 0
    for number, words in enumerate(ASKED):
        codes = set()
        for form in (["--json"], ["--csv"] if number % 2 else []):
            found = run("agreement", project, *words, *form, code=None)
            codes.add(found.code)
            if found.code:
                assert found.code in {2, 4}, words
                assert found.out == ""
                assert found.err.startswith("tracker: ")
                assert len(found.err.splitlines()) <= 2
            elif form == ["--json"]:
                json.loads(found.out, parse_constant=pytest.fail)
        assert len(codes) == 1, words
        done += codes == {0}
    assert done >= 3


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


# -- names and limits -----------------------------------------------------------------------


def test_short_names_of_measures(run: Run, small: Path) -> None:
    words = ["--measure", "alpha", "--measure", "AC1", "--measure", "percent"]
    told = run("agreement", "main", *words, "--json").json()
    assert [one["measure"] for one in told["measures"]] == [
        "krippendorff_alpha",
        "gwet_ac1",
        "percent_agreement",
    ]
    assert run("agreement", "main", "--explain", "fleiss", "--json").json()["measure"] == (
        "fleiss_kappa"
    )
    curve = run("history", "main", "--every", "month", "--measure", "pi", "--json").json()
    assert {one["measure"] for snap in curve["snapshots"] for one in snap["measures"]} == {
        "scott_pi"
    }


def test_items_are_limited_for_people_and_whole_for_programs(run: Run, small: Path) -> None:
    every = run("agreement", "main", "--by", "item", "--json").json()["items"]
    two = run("agreement", "main", "--by", "item", "--limit", "2", "--json")
    told = two.json()["items"]
    assert len(told) == 2
    assert [one["entropy"] for one in told] == sorted(
        (one["entropy"] or 0 for one in every), reverse=True
    )[:2]
    assert f"the 2 most disputed of {len(every)} items; for all: --limit 0" in two.err
    assert run("agreement", "main", "--by", "item", "--limit", "0", "--json").json() == {
        "project": "main",
        "items": every,
    }


def test_one_annotator_alone_is_told_to_name_others(run: Run, small: Path) -> None:
    shown = run("agreement", "main", "--annotator", "cat lee")
    assert "a single annotator cannot be compared" in shown.err
    assert "--annotator NAME" in shown.err
