"""``tracker formats``, and the options that say how a file's cells are written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.formats.reading import write_zip
from tracker.formats.reader import HOLDS
from tracker.formats.registry import READERS
from tracker.ledger import Ledger


def test_every_format_is_listed_with_what_it_can_hold(run: Run) -> None:
    told = run("formats", "--json").json()["formats"]
    assert [one["format"] for one in told] == sorted(READERS)
    for one in told:
        assert one["title"], one
        assert one["title"] != one["format"], one
        assert set(one["holds"]) <= {*HOLDS}, one
    shown = run("formats").out
    assert all(name in shown for name in READERS)
    assert "\n  " not in run("formats", "--csv").out
    assert not Path("tracker.db").exists()


def test_the_shell_completes_formats(run: Run) -> None:
    line = "tracker import x.json -p p --format "
    env = {"_TRACKER_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": "6"}
    assert set(run(env=env).out.split()) == {*READERS}


@pytest.mark.parametrize(
    ("repeat", "numbers"), [(None, [1, 2]), ("pass", [1, 2]), ("revision", [1])]
)
def test_a_second_annotation_is_what_the_user_says(
    run: Run, folder: Path, repeat: str | None, numbers: list[int]
) -> None:
    given = [
        {"id": n, "completed_by": 7, "created_at": f"2026-01-0{n}T00:00:00Z", "result": [
            {"type": "choices", "from_name": "tone", "value": {"choices": [word]}}]}
        for n, word in ((1, "good"), (2, "bad"))
    ]  # fmt: skip
    (folder / "tasks.json").write_text(json.dumps([{"id": 1, "annotations": given}]))
    run("import", "tasks.json", "-p", "p", *(["--repeat", repeat] if repeat else []))
    frame = Ledger("sqlite:///tracker.db").export_frame("p")
    assert frame["pass"].to_list() == numbers
    assert frame["category"].to_list()[-1] == "bad"


def test_a_word_that_is_no_kind_of_repeat_is_2(run: Run, answers: Path) -> None:
    failed = run("import", answers, "-p", "p", "--repeat", "often", code=2)
    assert failed.err.startswith("tracker: --repeat is revision or pass, not 'often'")


def test_what_a_reader_concluded_is_said(run: Run, folder: Path) -> None:
    write_zip(folder / "x.zip", {"ada.conll": "Ada I-PER\n", "bo.conll": "Ada O\n"})
    said = "ada.conll: IOB1, where a span begins with I-"
    assert said in run("import", "x.zip", "-p", "p", "--preview").out
    assert said in run("import", "x.zip", "-p", "p").err
