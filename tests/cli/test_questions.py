"""Commands on a project that asks several questions."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.questions import fill_rubric
from tracker.ledger import Ledger


@pytest.fixture
def rubric(folder: Path, write: Callable[..., Path]) -> Ledger:
    """The ledger that the commands find, with a project p of three questions."""
    ledger = Ledger(f"sqlite:///{folder}/tracker.db")
    ledger.database.upgrade()
    fill_rubric(ledger, write)
    return ledger


def test_a_page_of_one_question_names_it_if_there_are_several(
    run: Run, rubric: Ledger, write: Callable[..., Path]
) -> None:
    run("snapshot", "p")
    for words in (
        ["agreement", "p"],
        ["agreement", "p", "--by", "pair"],
        ["agreement", "p", "--explain", "alpha"],
        ["history", "p"],
        ["history", "p", "--every", "week"],
        ["compare", "p", "last", "last"],
    ):
        assert run(*words, "-q", " tone").out.startswith("Question: tone\n"), words
    assert run("agreement", "p", "-q", "tone", "--json").json().keys().isdisjoint({"question"})
    run("import", str(write("item,annotator,category\n1,ada,x\n1,bo,x")), "-p", "alone")
    assert "Question" not in run("agreement", "alone", "-q", "label").out


def test_questions_that_do_not_fit_stand_below_the_table(run: Run, rubric: Ledger) -> None:
    for words in (
        ["agreement", "p", "--measure", "fleiss"],
        ["history", "p", "--every", "week"],
    ):
        assert "\nwhere: undefined: " in run(*words).out
        rows = list(csv.DictReader(io.StringIO(run(*words, "--csv").out)))
        assert (rows[-1]["question"], rows[-1]["undefined"]) == ("where", "not_applicable")
        assert "where" in rows[-1]["why"]


def test_exported_labels_name_their_question_if_there_are_several(run: Run, rubric: Ledger) -> None:
    rows = list(csv.DictReader(io.StringIO(run("export", "labels", "p", "-o", "-").out)))
    assert len(rows) == 16
    assert rows[0]["question"] == "label"
    tone = run("export", "labels", "p", "-o", "-", "-q", "tone", "-q", "where").out
    named = [row["question"] for row in csv.DictReader(io.StringIO(tone))]
    assert named == ["tone"] * 6 + ["where"] * 4
    frame = rubric.export_frame("p", question="tone")
    assert list(frame["category"]) == ["1", "2", "3", "1", "2", "2"]


def test_history_has_a_column_for_each_question(run: Run, rubric: Ledger) -> None:
    empty = run("history", "p", "--json").json()
    assert [(one["question"], one["snapshots"]) for one in empty["questions"]] == [
        ("label", []),
        ("tone", []),
        ("where", []),
    ]
    asked = ("history", "p", "--every", "day", "-q", "label", "-q", "tone")
    told = run(*asked, "--json").json()
    for one in told["questions"]:
        alone = run("history", "p", "--every", "day", "-q", one["question"], "--json").json()
        (point,), (same,) = one["snapshots"], alone["snapshots"]
        assert (point["measures"], point["counts"]) == (same["measures"], same["counts"])
        assert one.keys() - {"question"} == alone.keys()
    table = run(*asked).out
    assert "tone: Krippendorff's alpha" in table
    assert len([line for line in table.splitlines() if line.strip(" │").startswith("20")]) == 1
    rows = run(*asked, "--csv").out
    assert [row["question"] for row in csv.DictReader(io.StringIO(rows))] == ["label", "tone"]
    assert "name one" in run("history", "p", "--trend", code=2).err
    exported = run("export", "history", "p", "-o", "-", *asked[2:]).out
    rows = [row["question"] for row in csv.DictReader(io.StringIO(exported))]
    assert rows == sorted(rows)
    assert {*rows} == {"label", "tone"}
    assert run("export", "history", "p", "-o", "-").out.startswith("question,snapshot")


def test_answers_are_compared_with_the_question_of_the_same_name(rubric: Ledger) -> None:
    found = rubric.against("p", "p", question="tone")
    assert {one.comparison.difference for one in found.measures} <= {0.0, None}


def test_a_question_that_no_row_answers_is_said_plainly(run: Run, folder: Path) -> None:
    Path("one.csv").write_text("item,annotator,Tone,Fair\ni,A,good,\n")
    done = run("import", "one.csv", "-p", "p", "-q", "a\nb=Tone", "-q", "fair=Fair")
    assert len(done.out.splitlines()) == 3, "a name of two lines takes one"
    assert ": 1 answer; 1 inserted\n" in done.out
    assert "  fair: 1 answer, of them 1 says nothing; 1 inserted\n" in done.out
