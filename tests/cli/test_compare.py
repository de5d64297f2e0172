"""``tracker compare`` as it is typed: JSON, rows, the page, and what cannot be compared."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.compare.stories import day, note, on, tell
from tracker.ledger import Ledger

PARTS = {"new_items", "new_answers", "revised_answers", "removed_answers"}


@pytest.fixture(scope="module")
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
