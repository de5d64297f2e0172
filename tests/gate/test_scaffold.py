"""The file to start from: it says what holds, and the project passes it."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.agreement.test_recent import BEGIN, year
from tests.cli.projects import LITTLE, furnish
from tests.gate.conftest import Gate
from tests.helpers import give
from tracker.core.errors import InvalidOption
from tracker.counts.filter import make_answer_filter
from tracker.gate.config import parse_gate_config
from tracker.gate.evaluate import judge_gate
from tracker.gate.scaffold import _rounded_down, _two_digits, starting_gate_config
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
    alpha = ledger.agreement("p").measure("krippendorff_alpha")
    least = re.search(r'\nmeasure = .*\nat_least = (.*)\non = "ci_high"\n', text)
    assert 1.4 < (alpha.value - float(least[1])) / alpha.standard_error < 2.1
    assert "\nconfidence = 0.999\n" in text
    assert "in 100 fail once or more in a\n# year of weekly looks" in text
    lowest = ledger.agreement("p").to_dict()["summary"]["lowest"]["category"]
    assert f'\ncategory = "{lowest}"\n' in text
    assert "\n# max_drop = 0.17\n" in text
    assert "There is no snapshot of all answers" in text
    assert '\n# flags = ["constant_category"]\n' in text
    assert "1 annotator is flagged." in text
    assert "constant 1" not in text
    assert "\nitems_at_least = 60\n" in text
    ledger.snapshot("p")
    assert "\nmax_drop = 0.17\n" in started(ledger)
    assert gate(text).passed
    with ledger.asking("p") as (connection, question):
        chosen = make_answer_filter(exclude_annotators="constant 1")
        text = starting_gate_config(connection, [question], chosen)
    assert '\nflags = ["constant_category"]\n' in text
    assert '\nflags = ["random_answers"]\n' in text


def test_names_are_written_so_that_they_are_read_back(ledger: Ledger) -> None:
    for project, name in enumerate(('say "a"', "a\\b", "a\x7fb\x01")):
        give(ledger, [(n, who, name if who == "ada" else "x") for n in range(5) for who in
                      ("ada", "bo")], f"{project}")  # fmt: skip
        config = parse_gate_config(started(ledger, f"{project}"), "f")
        figures = [getattr(check, "figure", None) for check in config.checks]
        assert {name, "x"} & {figure.category for figure in figures if figure is not None}


def test_steady_weeks_pass_and_a_bad_one_fails(ledger: Ledger) -> None:
    """Of the file of all answers, too, though a week's figures are far more uncertain."""
    answers = year(lambda week, _: 0.93 if week < 13 else 0.5, weeks=14, items=40)
    ledger.import_frame(answers[:720], "p")
    files = ledger.gate_config("p"), ledger.gate_config("p", since=BEGIN + timedelta(weeks=5))
    ledger.import_frame(answers[720:], "p")
    for text, items in zip(files, (240, 6), strict=True):
        assert f"\nitems_at_least = {items}\n" in text
        for week in range(6, 14):
            since = BEGIN + timedelta(weeks=week)
            told = ledger.gate_text("p", text, since=since, until=since + timedelta(days=6)).checks
            assert [one.passed for one in told if one.kind == "at_least"] == [week < 13] * 2


def test_model_is_held_to_what_it_agrees_now(ledger: Ledger) -> None:
    answers = {"ada": "xxxxyyyy" * 5, "bo": "xxxyyyyy" * 5, "gpt": "xxxyyyxy" * 5}
    give(ledger, [(n, who, one) for who, each in answers.items() for n, one in enumerate(each)])
    ledger.annotators.kind("p", "gpt", "model")
    assert '\nmodel = "gpt"\nmeasure = "cohen_kappa"\nat_least = 0.' in started(ledger)


@given(st.floats(0, 1), st.integers(1, 10**9))
def test_a_number_is_rounded_down(value: float, number: int) -> None:
    assert 0 <= value - float(_rounded_down(value)) < 0.0101
    short = _two_digits(number)
    assert number * 0.9 < short <= number
    assert str(short)[2:].strip("0") == ""
