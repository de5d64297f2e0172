"""The file to start from: it says what holds, and the project passes it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.projects import LITTLE, furnish
from tests.gate.conftest import Gate, load
from tracker.core.errors import InvalidOption
from tracker.counts.filter import make_answer_filter
from tracker.gate.config import parse_gate_config
from tracker.gate.evaluate import judge_gate
from tracker.gate.scaffold import _below, _two_digits, starting_gate_config
from tracker.ledger import Ledger
from tracker.simulate.crowds import Group, simulate_crowd


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Ledger:
    """Projects of every kind, and with little or nothing in them."""
    path = tmp_path_factory.mktemp("starting") / "ledger.db"
    path.write_bytes(sqlite_template.read_bytes())
    furnish(f"sqlite:///{path}")
    return Ledger(f"sqlite:///{path}")


def started(ledger: Ledger, project: str = "p") -> str:
    """The file to start from, which the project passes."""
    with ledger.asking(project) as (connection, question):
        text = starting_gate_config(connection, [question])
        told = judge_gate(connection, [question], parse_gate_config(text, "gate.toml"))
    assert told.passed, [check.why for check in (*told.failed, *told.unknown)]
    assert all(line.startswith(("#", "[[check]]")) or not line or " = " in line
               for line in text.split("\n"))  # fmt: skip
    return text


NONE = {"empty", "alone", "skipped"}  # no item has two answers


def test_project_of_any_kind_passes_or_has_no_figure(furnished: Ledger) -> None:
    for project in ("main", "marks", "ranks", "sets", "spans", *sorted({*LITTLE} - NONE)):
        text = started(furnished, project)
        assert "\nitems_at_least = " in text
        assert "\noverlap_at_least = " in text
    for project in sorted(NONE):
        with pytest.raises(InvalidOption, match="has two answers") as caught:
            started(furnished, project)
        assert "import answers first" in str(caught.value.mend)


def test_what_it_holds_to(ledger: Ledger, gate: Gate) -> None:
    ledger.import_rows(simulate_crowd(60, 7, [Group("honest", 5), Group("constant", 1)]), "p")
    text = started(ledger)
    low = ledger.agreement("p").measure("krippendorff_alpha").ci_low
    least = re.search(r'\nmeasure = .*\nat_least = (.*)\non = "ci_low"\n', text)
    assert 0.004 < low - float(least[1]) < 0.016
    lowest = ledger.agreement("p").to_dict()["summary"]["lowest"]["category"]
    assert f'\ncategory = "{lowest}"\n' in text
    assert "\n# max_drop = 0.05\n" in text
    assert "There is no snapshot of all answers" in text
    assert '\n# flags = ["constant_category"]\n' in text
    assert "1 annotator is flagged." in text
    assert "constant 1" not in text
    assert "\nitems_at_least = 60\n" in text
    ledger.snapshot("p")
    assert "\nmax_drop = 0.05\n" in started(ledger)
    assert gate(text).passed
    with ledger.asking("p") as (connection, question):
        chosen = make_answer_filter(exclude_annotators="constant 1")
        text = starting_gate_config(connection, [question], chosen)
    assert '\nflags = ["constant_category"]\n' in text
    assert '\nflags = ["random_answers"]\n' in text


def test_names_are_written_so_that_they_are_read_back(ledger: Ledger) -> None:
    for project, name in enumerate(('say "a"', "a\\b", "a\x7fb\x01")):
        load(ledger, [(n, who, name if who == "ada" else "x") for n in range(5) for who in
                      ("ada", "bo")], f"{project}")  # fmt: skip
        config = parse_gate_config(started(ledger, f"{project}"), "f")
        figures = [getattr(check, "figure", None) for check in config.checks]
        assert {name, "x"} & {figure.category for figure in figures if figure is not None}


@given(st.floats(0, 1), st.integers(1, 10**9))
def test_threshold_is_a_little_below_and_a_number_has_two_digits(value: float, number: int) -> None:
    least = float(_below(value, 0.0))
    assert least <= value
    assert least == 0 or 0.0049 < value - least < 0.0151
    short = _two_digits(number)
    assert number * 0.9 < short <= number
    assert str(short)[2:].strip("0") == ""
