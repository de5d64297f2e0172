"""Checks of the level of agreement now, and of its fall, in a project that collapsed."""

from __future__ import annotations

import pytest

from tests.agreement.test_changes import mixed
from tests.agreement.test_recent import collapse, year
from tests.gate.conftest import Gate
from tracker.core.errors import Refused
from tracker.ledger import Ledger

ALPHA = '[[check]]\nmeasure = "alpha"\n'


@pytest.fixture
def ledger(sqlite_ledger: Ledger) -> Ledger:
    """The project p collapsed; s is steady."""
    sqlite_ledger.import_frame(year(collapse), "p")
    sqlite_ledger.import_frame(year(lambda *_: 0.93), "s")
    return sqlite_ledger


def test_the_recent_level_is_held_to_a_threshold(ledger: Ledger, gate: Gate) -> None:
    text = f"{ALPHA}at_least = 0.6\n{ALPHA}at_least = 0.6\nrecent = true\n"
    whole, recent = gate(text).checks
    assert whole.passed
    assert not recent.passed
    level = ledger.agreement("p").recent
    assert level is not None
    assert recent.value == level.now.value
    assert recent.why.startswith(f"Krippendorff's alpha since {level.day} is ")
    whole, recent = gate(text, "s").checks
    assert whole.passed
    assert recent.value == whole.value


def test_a_fall_of_the_level_fails_with_no_snapshot_before_it(ledger: Ledger, gate: Gate) -> None:
    ledger.snapshot("p")
    ledger.snapshot("s")
    text = f"{ALPHA}max_drop = 0.05\n{ALPHA}max_drop = 0.05\nrecent = true\n"
    for check in gate(text).checks:
        assert not check.passed
        level = ledger.agreement("p").recent
        assert level is not None
        assert level.now.value is not None
        assert check.value == pytest.approx(level.before - level.now.value)
        assert check.details["level_since"] == level.day
    assert [check.passed for check in gate(text, "s").checks] == [True, True]
    assert "its level is steady" in gate(text, "s").checks[1].why


def test_a_category_of_the_recent_level(ledger: Ledger, gate: Gate) -> None:
    rates = '[[check]]\ncategory = "*"\nat_least = 0.6\nrecent = true\n'
    assert [check.passed for check in gate(rates).checks] == [False, False, False]
    assert [check.passed for check in gate(rates, "s").checks] == [True, True, True]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("at_least = 0.6\nrecent = 1", "recent is neither true nor false"),
        ("max_drop = 0.1\nrecent = true\nsince = 1", "'since' does not go with recent"),
        ("at_least = 0.6\nrecent = true\nmodel = 'm'", "'model' does not go with recent"),
    ],
)
def test_what_does_not_go_with_recent(gate: Gate, lines: str, message: str) -> None:
    with pytest.raises(Refused, match=message):
        gate(f'[[check]]\ncategory = "x"\n{lines}\n')


def test_a_measure_of_pairs_has_no_level(gate: Gate) -> None:
    with pytest.raises(Refused, match="is not computed of a part of the items"):
        gate('[[check]]\nmeasure = "light_kappa"\nat_least = 0.1\nrecent = true\n')


def test_a_gate_to_start_with_looks_at_the_level(ledger: Ledger) -> None:
    for project, commented in (("p", True), ("s", False)):
        text = ledger.gate_config(project)
        assert ("# recent = true" in text) == commented
        assert "recent = true" in text


def test_a_category_is_held_to_the_level_of_its_own_change(ledger: Ledger, gate: Gate) -> None:
    ledger.import_frame(mixed(year(lambda *_: 0.93, items=40), "xy"), "m")
    own = {one.name: one for one in ledger.agreement("m").changes}
    text = '[[check]]\ncategory = "x"\nat_least = 0.6\nrecent = true\n'
    text += '[[check]]\ncategory = "x"\nmax_drop = 0.1\nrecent = true\n'
    least, drop = gate(text, "m").checks
    assert not least.passed
    assert least.value == pytest.approx(own["x"].value)
    assert f"since {own['x'].day} is" in least.why
    assert not drop.passed
    assert drop.value == pytest.approx(own["x"].before - own["x"].value)
    assert drop.details["level_since"] == own["x"].day
