"""Commands on a project that asks several questions."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from datetime import UTC, datetime
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


def test_the_command_prints_a_table_or_a_page(run: Run, rubric: Ledger) -> None:
    table = run("agreement", "p")
    assert "3 questions, weakest first" in table.out
    assert "next: tracker agreement p --question tone" in table.err
    told = run("agreement", "p", "--json").json()
    assert told == rubric.agreement_by_question("p").to_dict()
    page = run("agreement", "p", "-q", "tone", "--json").json()
    assert page == rubric.agreement("p", question="tone").to_dict()
    two = run("agreement", "p", "-q", "tone", "-q", "where", "--csv").out.splitlines()
    assert [line.partition(",")[0] for line in two] == ["question", "tone", "where"]
    refused = run("agreement", "p", "--by", "pair", code=2)
    assert "name one: --question label" in refused.err


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


def test_calibration_and_groups_have_rows_for_each_question(
    run: Run, rubric: Ledger, write: Callable[..., Path]
) -> None:
    rows = [
        f"{n},{who},{n % 2 + (who == 'c')},0.{n % 9}"
        for n in range(9)
        for who in ("ada", "bo", "c")
    ]
    path = write("\n".join(["item,annotator,category,confidence", *rows]))
    for name in ("label", "tone"):
        run("import", str(path), "-p", "p", "--question", name)
    shown = run("agreement", "p", "--calibration")
    assert "worst annotator" in shown.out
    assert "where: undefined: spans have no calibration" in shown.out
    told = run("agreement", "p", "--calibration", "--json").json()
    weakest = told["questions"][0]["question"]
    assert f"next: tracker agreement p --calibration --question {weakest}" in shown.err
    people = write("annotator,team\nada,north\nbo,south\nc,south")
    run("annotator", "import", str(people), "-p", "p")
    words = ["agreement", "p", "--calibration"]
    rows = list(csv.DictReader(io.StringIO(run(*words, "--csv").out)))
    assert {row["question"] for row in rows} == {"label", "tone", "where"}
    groups = ["agreement", "p", "--by", "annotator-attribute:team"]
    assert "asks 3 questions" in run(*groups, code=2).err
    for more in (words, groups):
        assert run(*more, "-q", "tone").out.startswith("Question: tone\n")


def test_status_has_a_row_for_each_question(run: Run, rubric: Ledger) -> None:
    told = run("status", "p", "--json").json()
    assert [one["question"] for one in told["questions"]] == ["label", "tone", "where"]
    assert told["questions"][1] == {
        "question": "tone",
        **rubric.status("p", question="tone").to_dict(),
    }
    assert [one["items_unanswered"] for one in told["questions"]] == [1, 1, 2]
    only = run("status", "p", "-q", "tone", "--json").json()
    assert only == rubric.status("p", question="tone").to_dict() | {
        "verdict": [],
        "detectable_gap": None,
    }
    rows = list(csv.DictReader(io.StringIO(run("status", "--csv").out)))
    assert [(row["project"], row["question"]) for row in rows] == [
        ("p", "label"),
        ("p", "tone"),
        ("p", "where"),
    ]
    assert "tone" in run("status").out
    assert "name it" in run("status", "-q", "tone", code=2).err


def test_exported_labels_name_their_question_if_there_are_several(run: Run, rubric: Ledger) -> None:
    rows = list(csv.DictReader(io.StringIO(run("export", "labels", "p", "-o", "-").out)))
    assert len(rows) == 16
    assert rows[0]["question"] == "label"
    tone = run("export", "labels", "p", "-o", "-", "-q", "tone", "-q", "where").out
    named = [row["question"] for row in csv.DictReader(io.StringIO(tone))]
    assert named == ["tone"] * 6 + ["where"] * 4
    frame = rubric.export_frame("p", question="tone")
    assert list(frame["category"]) == ["1", "2", "3", "1", "2", "2"]


def test_an_item_shows_the_question_of_each_label(run: Run, rubric: Ledger) -> None:
    told = run("item", "show", "p", "1", "--json").json()
    said = [(one["question"], one["annotator"], one["category"]) for one in told["labels"]]
    assert said[:4] == [
        ("label", "ada", "x"),
        ("label", "bo", "x"),
        ("tone", "ada", "1"),
        ("tone", "bo", "2"),
    ]
    assert "where" in run("item", "show", "p", "1").out


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


def test_compare_is_of_one_question(run: Run, rubric: Ledger) -> None:
    today = datetime.now(UTC).date().isoformat()
    told = run("compare", "p", "2000-01-01", today, "-q", "tone", "--json").json()
    alone = rubric.agreement("p", question="tone").measure("krippendorff_alpha")
    values = {one["measure"]: one["b"] for one in told["measures"]}
    assert values["krippendorff_alpha"] == alone.value
    assert "name one" in run("compare", "p", "2000-01-01", today, code=2).err


def test_answers_are_compared_with_the_question_of_the_same_name(rubric: Ledger) -> None:
    found = rubric.against("p", "p", question="tone")
    assert {one.comparison.difference for one in found.measures} <= {0.0, None}
