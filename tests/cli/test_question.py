"""``tracker question``, and imports that answer several questions, as commands."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run

WIDE = "item,annotator,Tone,Topics\ni,A,good,a|b\ni,B,bad,\nj,A,good,a\n"


def test_a_wide_file_goes_in_with_one_command(run: Run, folder: Path) -> None:
    Path("wide.csv").write_text(WIDE)
    asked = ("-q", "tone=Tone", "-q", "topics=Topics:several", "--separator", "|")
    done = run("import", "wide.csv", "-p", "p", *asked)
    assert done.out == (
        "import 1: 7 labels into p: 7 inserted\n"
        "  tone: 3 answers; 3 inserted\n"
        "  topics: 3 labels and 1 answer that says nothing; 4 inserted\n"
    )
    assert "questions: tone=Tone, topics=Topics" in done.err
    told = run("import", "wide.csv", "-p", "p", *asked, "--json").json()
    assert told["questions"][0] == {
        "question": "tone",
        "answers": 3,
        "skipped": 0,
        "inserted": 0,
        "changed": 0,
        "unchanged": 3,
        "older": 0,
        "unit": "answer",
    }


def test_a_question_that_no_row_answers_is_said_plainly(run: Run, folder: Path) -> None:
    Path("one.csv").write_text("item,annotator,Tone,Fair\ni,A,good,\n")
    done = run("import", "one.csv", "-p", "p", "-q", "tone=Tone", "-q", "fair=Fair")
    assert "  tone: 1 answer; 1 inserted\n" in done.out
    assert "  fair: 1 answer, of them 1 says nothing; 1 inserted\n" in done.out


def test_columns_named_as_questions_need_to_be_said(run: Run, folder: Path) -> None:
    Path("two.csv").write_text("item,annotator,tone,fair\ni,A,good,no\n")
    refused = run("import", "two.csv", "-p", "p", code=3)
    assert "--question NAME=COLUMN for each column of answers" in refused.err


def test_a_name_of_two_lines_takes_one(run: Run, folder: Path) -> None:
    Path("two.csv").write_text("item,annotator,tone,fair\ni,A,good,no\n")
    done = run("import", "two.csv", "-p", "p", "-q", "a\nb=tone", "-q", "c=fair")
    assert len(done.out.splitlines()) == 3


def test_questions_are_managed(run: Run, folder: Path) -> None:
    run("project", "create", "p")
    made = run("question", "add", "p", "tone", "--scale", "ordinal")
    assert "tracker question set p tone --categories" in made.err
    run("question", "set", "p", "tone", "--categories", "low,high", "--wanted", "2")
    run("question", "rename", "p", "label", "fair")
    listed = run("question", "list", "p", "--json").json()
    assert [(one["question"], one["wanted"]) for one in listed["questions"]] == [
        ("fair", None),
        ("tone", 2),
    ]
    shown = run("question", "show", "p", "tone").out
    assert "low, high" in shown
    assert "tone" in run("project", "show", "p").out
    assert "tone" in run("project", "list").out
    refused = run("project", "set", "p", "--wanted", "2", code=2)
    assert "--question" in refused.err
    run("project", "set", "p", "--question", "fair", "--wanted", "1")
    told = run("project", "list", "--json").json()["projects"]
    assert [one["wanted"] for one in told[0]["questions"]] == [1, 2]


def test_an_ordinal_project_without_an_order_is_told_so(run: Run, folder: Path) -> None:
    made = run("project", "create", "p", "--scale", "ordinal")
    assert "tracker project set p --categories low,middle,high" in made.err
    run("project", "create", "q", "--scale", "ordinal", "--categories", "a,b")
