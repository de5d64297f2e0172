"""``tracker demo``: published figures, a page and commands that run; it overwrites nothing.

What the year's figures show is in `tests/simulate/test_demo_year.py`.
"""

from __future__ import annotations

import re
import shlex
import shutil
from contextlib import chdir
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.cli.commands import parse
from tests.cli.conftest import SPEAKING, Run
from tests.profiles import exhaustive
from tests.report.pages import read_page
from tracker.cli.app import app
from tracker.ledger import Ledger


@pytest.fixture(scope="module", params=[20, pytest.param(51, marks=exhaustive)])
def tour(
    request: pytest.FixtureRequest,
    furnished_template: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("tour")
    shutil.copy(furnished_template, folder / "tracker.db")
    (folder / "tracker.html").write_text("precious")
    with chdir(folder), pytest.MonkeyPatch.context() as patch:
        for name in SPEAKING:
            patch.delenv(name, raising=False)
        patch.setenv("COLUMNS", "140")
        patch.setattr("tracker.simulate.demo.year._WEEKS", request.param)
        result = CliRunner().invoke(app, ["demo", "-o", "tracker.db", "--force"])
    assert result.exit_code == 0, result.output
    return folder, result.stdout


def commands(shown: str) -> tuple[list[str], list[str]]:
    events = re.findall(r"  tracker (\w.*year.*)", shown.split("All that went wrong")[1])
    return events, re.findall(r"^  tracker --database tracker.db (.*)", shown, re.MULTILINE)


def test_tour_prints_published_figures_and_writes_a_page(tour: tuple[Path, str]) -> None:
    folder, shown = tour
    for words in (
        "Weakest category: 0  0.727",
        "which is the sum of the shares:",
        "450        600",
        "Cohen's kappa 0.467, moderate",
        "73.3% right, 50.0% expected by chance",
        "rebuilt to be consistent with every published figure",
        "insufficient constant_category  Q gave",
        "insufficient constant_category  J gave",
        "counted again from the labels as they were known: 0 faults.",
    ):
        assert words in shown
    assert "flagged      Q" not in shown
    assert (folder / "tracker.html").read_text() == "precious"
    assert "open it: tracker-2.html" in shown
    assert "ann" in read_page((folder / "tracker-2.html").read_bytes()).text
    events, following = commands(shown)
    assert len(events) > 7
    assert len(following) > 4
    assert {parse(f"tracker {command}") for command in (*events, *following)} > {"status", "audit"}
    ledger = Ledger(f"sqlite:///{folder}/tracker.db")
    assert [snapshot.name for snapshot in ledger.history("sandwich").snapshots] == ["as published"]
    turk = ledger.agreement("turk").to_dict()["gold"]
    assert (turk["answers"], turk["observed"], turk["expected"]) == (30, 22 / 30, 0.5)
    assert turk["cohen_kappa"] == pytest.approx(7 / 15)
    (pair,) = [row.to_dict() for row in ledger.by_pair("turk").pairs.of("P", "Q")
               if {*row.annotators} == {"P", "Q"}]  # fmt: skip
    assert (pair["items"], pair["observed"], pair["expected"]) == (4, 0.25, 0.25)
    assert pair["cohen_kappa"] == 0


def test_commands_of_the_tour_run(
    request: pytest.FixtureRequest, run: Run, tour: tuple[Path, str], folder: Path
) -> None:
    is_whole = request.node.callspec.params["tour"] == 51  # some join late in the year
    for command in {*commands(tour[1])[0], *commands(tour[1])[1]}:
        if is_whole or command.startswith(("status", "flags list", "item show")):
            run("--database", f"sqlite:///{tour[0]}/tracker.db", *shlex.split(command))


@exhaustive
def test_tour_on_a_server_has_the_same_record(
    run: Run, folder: Path, empty_postgres_url: str
) -> None:
    at = ("--database", empty_postgres_url)
    assert "0 faults.\nThe digest of the last" in run(*at, "demo").out
    assert [path.name for path in folder.iterdir()] == ["tracker-demo.html"]
    refused = run(*at, "demo", code=2).err.splitlines()
    assert refused[0].endswith(" holds projects already")


def test_tour_overwrites_nothing(run: Run, furnished: Path) -> None:
    before = furnished.read_bytes()
    refused = run("demo", "-o", "tracker.db", code=2)
    assert refused.err.splitlines()[0] == "tracker: tracker.db is a database already"
    refused = run("--database", "tracker.db", "demo", code=2)
    assert refused.err.splitlines()[0].endswith(" holds projects already")
    assert furnished.read_bytes() == before
    assert "nowhere" in run("demo", "-o", "nowhere/x.db", code=5).err
    Path("mine.csv").write_text("precious")
    run("demo", "-o", "mine.csv", code=5)
    assert Path("mine.csv").read_text() == "precious"
    run("--database", "sqlite://", "demo", code=5)
