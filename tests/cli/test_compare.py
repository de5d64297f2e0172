"""``tracker compare`` as it is typed: JSON, rows, the page, and what cannot be compared."""

from __future__ import annotations

import csv
import io
import math
import shlex
import shutil
from pathlib import Path

import pytest

from tests.cli.commands import parse
from tests.cli.conftest import Run
from tests.compare.stories import day, note, on, tell
from tracker.ledger import Ledger

PARTS = {"new_items", "new_answers", "revised_answers", "removed_answers"}


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("compared") / "tracker.db"
    ledger = Ledger(f"sqlite:///{path}")
    first = [
        f"i{n} {who} {'xyz'[n * place % 3]}" for n in range(9) for place, who in enumerate("AB")
    ]
    tell(ledger, on(1, *first), project="reviews")
    ledger.snapshot("reviews", name="baseline")
    tell(
        ledger,
        on(3, "i1 B x", "i2 C z", "m A x", "m B x", "m C y"),
        project="reviews",
    )
    ledger.snapshot("reviews", name="second")
    ledger.snapshot("reviews", name="wide", confidence=0.5)
    note(ledger, "guideline v2", 3, "reviews")
    tell(ledger, on(1, "1 A x", "1 Z y", "2 A y", "2 Z y"), project="pilot")
    return path


@pytest.fixture(autouse=True)
def compared(template: Path, folder: Path) -> Path:
    return Path(shutil.copy(template, folder / "tracker.db"))


def test_as_json(run: Run) -> None:
    told = run("compare", "reviews", "baseline", "second", "--json").json()
    assert list(told) == [
        "project", "a", "b", "shared_items", "changes", "periods", "measures", "categories",
        "because", "notes", "families", "items", "annotators",
    ]  # fmt: skip
    for side, number in (("a", 1), ("b", 2)):
        assert told[side].keys() == {"project", "asked", "snapshot", "name", "as_of", "since"}
        assert told[side]["snapshot"] == number
    assert told["shared_items"] == 9
    assert told["changes"] == {
        "new_items": 1, "new_answers": 1, "revised_answers": 1, "removed_answers": 0,
    }  # fmt: skip
    columns = {"a", "b", "difference", "ci_low", "ci_high", "p_value", "test", "undefined"}
    for key in ("measures", "categories"):
        for one in told[key]:
            assert one.keys() >= columns | {key[:-1] if key == "measures" else "category"}
            if one["difference"] is not None:
                assert one["difference"] == pytest.approx(one["b"] - one["a"], abs=1e-9)
    because = told["because"]
    assert because.keys() == PARTS | {"measure", "annotators", "categories", "undefined"}
    (lead,) = (one for one in told["measures"] if one["measure"] == because["measure"])
    for parts in (
        [because[kind] for kind in PARTS],
        [one["contribution"] for one in because["annotators"]],
        [one["contribution"] for one in because["categories"]],
        lead["because"].values(),
    ):
        assert math.fsum(parts) == pytest.approx(lead["difference"], abs=1e-9)
    assert told["notes"] == []


def test_moments_and_periods(run: Run) -> None:
    told = run("compare", "reviews", day(2), day(4), "--json").json()
    assert (told["a"]["snapshot"], told["a"]["as_of"]) == (None, "2024-01-02T23:59:59.999999Z")
    assert [one["text"] for one in told["notes"]] == ["guideline v2"]
    told = run("compare", "reviews", "..guideline v2", "guideline v2..", "--json").json()
    assert told["a"]["as_of"] == "2024-01-02T23:59:59.999999Z"
    assert (told["b"]["since"], told["b"]["as_of"]) == ("2024-01-03T00:00:00Z", None)


def test_options_are_for_states_that_were_not_recorded(run: Run) -> None:
    told = run("compare", "reviews", day(2), day(4), "--confidence", ".5", "--json").json()
    assert {one["confidence"] for one in told["measures"]} == {0.5}
    told = run("compare", "reviews", "..", "wide", "--confidence", ".5", "--json").json()
    assert told["b"]["name"] == "wide"


def test_as_rows(run: Run) -> None:
    rows = list(csv.DictReader(io.StringIO(run("compare", "reviews", "1", "2", "--csv").out)))
    told = run("compare", "reviews", "1", "2", "--json").json()
    assert len(rows) == len(told["measures"]) + len(told["categories"])
    assert [row["measure"] for row in rows if row["measure"]] == [
        one["measure"] for one in told["measures"]
    ]
    assert [row["category"] for row in rows if row["category"]] == ["x", "y", "z"]
    assert "because" not in rows[0]
    for row, one in zip(rows, [*told["measures"], *told["categories"]], strict=True):
        assert (row["difference"] or None) == (
            None if one["difference"] is None else str(one["difference"])
        )


def test_the_page(run: Run) -> None:
    done = run("compare", "reviews", day(2), "second")
    shown = [" ".join(line.split()) for line in done.out.splitlines() if line.strip()]
    assert shown[0].startswith("reviews A: as of 2024-01-02 23:59 B: snapshot 2 'second' of")
    assert shown[1] == "9 items have answers in both."
    assert "2024-01-03 guideline v2" in shown
    told = run("compare", "reviews", day(2), "second", "--json").json()
    lead = next(one for one in told["measures"] if one["measure"] == "krippendorff_alpha")
    by = f"{lead['difference']:+.3f}"
    assert f"Why Krippendorff's alpha changed by {by}, which is the sum of the shares:" in shown
    assert any(line.startswith("Krippendorff's alpha ") for line in shown)
    assert "_" not in done.out.partition("agreement on")[0]
    for words, kind in (
        ("new items", "new_items"),
        ("further answers to earlier items", "new_answers"),
        ("revised answers", "revised_answers"),
    ):
        (line,) = (line for line in shown if line.startswith(f"{words} 1 "))
        assert line.endswith(f" {told['because'][kind]:+.3f}")
    assert "removed answers" not in done.out
    for one in told["because"]["annotators"]:
        assert any(
            line.startswith(f"{one['annotator']} {one['contribution']:+.3f}") for line in shown
        )
    assert "nan" not in done.out.lower().split()
    assert "None" not in done.out


def test_the_page_of_two_periods_that_do_not_overlap(run: Run) -> None:
    words = ("compare", "reviews", "..guideline v2", "guideline v2..")
    shown = [" ".join(line.split()) for line in run(*words).out.splitlines()]
    assert (
        "Two periods that do not overlap: no answer is in both. "
        "7 items in A alone, 1 in B alone, 2 in both."
    ) in " ".join(shown)
    because = run(*words, "--json").json()["because"]
    for line in (
        f"other items 7 in A, 1 in B {because['other_items']:+.3f}",
        f"the same items, answered again 2 items {because['same_items']:+.3f}",
    ):
        assert line in shown
    assert not any("taken away" in line for line in shown)


def test_what_to_do_next_is_a_command(run: Run) -> None:
    done = run("compare", "reviews", "1", "2")
    told = run("compare", "reviews", "1", "2", "--json").json()
    (line,) = (line for line in done.err.splitlines() if line.startswith("next: "))
    name = told["because"]["annotators"][0]["annotator"]
    assert line == f"next: tracker annotator show {shlex.quote(name)} -p reviews"
    assert parse(line.removeprefix("next: ")) == "annotator show"


def test_the_same_answers_have_nothing_to_explain(run: Run) -> None:
    told = run("compare", "reviews", "second", "wide", "--anyway")
    assert told.out.endswith("Both hold the same answers.\n")
    assert told.err == "next: tracker status reviews\n"
    assert run("compare", "reviews", "second", "wide", "--anyway", "--json").json()["because"]


def test_another_project(run: Run) -> None:
    told = run("compare", "pilot", "..", "last", "--with", "reviews", "--anyway", "--json").json()
    assert (told["shared_items"], told["changes"]) == (0, None)
    assert told["because"]["undefined"] == "not_applicable"
    shown = run("compare", "pilot", "..", "..", "--with", "reviews").out
    assert "The difference cannot be divided by kind of change." in shown
    assert "all answers" in shown


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("reviews", "bseline", "last"), 4, "did you mean 'baseline'"),
        (("reviews", "last", "..guideline"), 4, "did you mean 'guideline v2'"),
        (("reviews", "last~9", "last"), 4, "tracker snapshots list reviews"),
        (("revews", "last", "last"), 4, "reviews"),
        (("reviews", "last", "last", "--with", "pilt"), 4, "pilot"),
        (("reviews", "baseline", "wide"), 2, "differ in their settings: confidence"),
        (("reviews", "baseline", "wide"), 2, "--anyway"),
        (("reviews", "last", "9999-01-01"), 2, "lies in the future"),
        (("reviews", f"{day(3)}..{day(1)}", "last"), 2, "ends before it begins"),
        (("reviews", day(1), day(2), "--confidence", "2"), 2, "confidence"),
        (("reviews", day(1), day(2), "--scale", "ratio"), 2, "numbers"),
        (("-p", "reviews", day(1)), 2, "Missing argument"),
        (("reviews", "1", "2", "--json", "--csv"), 2, "cannot be combined"),
    ],
)
def test_what_cannot_be_compared(run: Run, words: tuple[str, ...], code: int, told: str) -> None:
    done = run("compare", *words, code=code)
    assert done.out == ""
    assert told in " ".join(done.err.replace("│", " ").split())


def test_anyway(run: Run) -> None:
    told = run("compare", "reviews", "baseline", "wide", "--anyway", "--json").json()
    assert (told["a"]["name"], told["b"]["name"]) == ("baseline", "wide")
