"""``tracker export``: labels and figures as CSV, JSONL and Parquet."""

from __future__ import annotations

import csv
import json
import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.cli.conftest import Run

SEVERAL = "item,annotator,category\n1,A,x\n1,A,y\n1,B,\n2,A,\n"
SPANS = "item,annotator,category,start,end,n_tokens\nd,A,x,0,3,9\nd,B,x,0,2,9\nd,C,,,,9\n"
DATED = (
    "item,annotator,category,labeled_at,seconds\n1,A,x,2026-03-01T10:00,2.5\n1,B,y,2026-03-02,\n"
)


@pytest.fixture(autouse=True)
def projects(furnished: Path, run: Run) -> None:
    """Besides `reviews` a small project whose answers have times."""
    run("import", "-", "-p", "dated", stdin=DATED)


def rows_in(path: str) -> list[dict[str, Any]]:
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# -- labels --------------------------------------------------------------------------------


RUBRIC = """item,annotator,kind,tone,topics,score,confidence,comment,date,seconds,pass
i,A,human,good,a|b,low,0.5,"why, so",2026-03-01T10:00,2.5,1
i,A,human,bad,a,mid,,,2026-03-02T10:00,,2
i,B,model,bad,a,high,1,,,,1
j,A,human,good,,mid,,,,,1
j,B,model,,b,mid,0.25,,,,1
j,truth,reference,good,b,mid,,,,,1
"""
ASKED = ("-q", "tone=tone", "-q", "topics=topics:several", "-q", "score=score:low<mid<high")
SPLIT = ("--separator", "|", "--map", "labeled_at=date")


def test_labels_of_several_questions_are_imported_elsewhere_as_the_hint_says(run: Run) -> None:
    run("import", "-", "-p", "rubric", *ASKED, *SPLIT, stdin=RUBRIC)
    said = run("export", "labels", "rubric", "-o", "x.csv").err.splitlines()[-1]
    command = shlex.split(said.removeprefix("to import them elsewhere: tracker "))
    other = ["--database", "sqlite:///other.db"]
    run(*other, *["rubric" if part == "NAME" else part for part in command])
    for question in ("tone", "topics", "score"):
        pages = [
            run(*at, "agreement", "rubric", "-q", question, "--json").json() for at in ([], other)
        ]
        assert pages[0] == pages[1]
    said = run("export", "labels", "rubric", "-o", "tone.csv", "-q", "tone").err
    assert said.endswith("tone.csv -p NAME --map question=question --question tone\n")
    run(*other, "export", "labels", "rubric", "-o", "y.csv")
    assert sorted(map(str, rows_in("x.csv"))) == sorted(map(str, rows_in("y.csv")))


def test_labels_of_nominal_questions_are_imported_elsewhere_as_they_are(run: Run) -> None:
    asked = ("-q", "tone=tone", "-q", "score=score", "--map", "labeled_at=date")
    run("import", "-", "-p", "rubric", *asked, stdin=RUBRIC)
    run("export", "labels", "rubric", "-o", "x.csv")
    other = ["--database", "sqlite:///other.db"]
    assert "question=question" in run(*other, "import", "x.csv", "-p", "rubric").err
    for question in ("tone", "score"):
        pages = [
            run(*at, "agreement", "rubric", "-q", question, "--json").json() for at in ([], other)
        ]
        assert pages[0] == pages[1]


def test_labels_of_a_question_are_imported_elsewhere_as_the_hint_says(run: Run) -> None:
    table = "item,annotator,category\n1,A,low\n1,B,high\n2,A,mid\n2,B,mid\n"
    how = ["--scale", "ordinal", "--categories", "low,mid,high"]
    run("import", "-", "-p", "ranked", *how, stdin=table)
    said = run("export", "labels", "ranked", "-o", "x.csv").err.splitlines()[-1]
    command = shlex.split(said.removeprefix("to import them elsewhere: tracker "))
    run(*["copied" if part == "NAME" else part for part in command])
    pages = [run("agreement", name, "--json").json() for name in ("ranked", "copied")]
    assert [page["measures"] for page in pages] == [pages[0]["measures"]] * 2


def test_labels_as_parquet(run: Run) -> None:
    run("export", "labels", "reviews", "-o", "labels.PARQUET")
    frame = pd.read_parquet("labels.PARQUET")
    run("export", "labels", "reviews", "-o", "labels.csv")
    rows = rows_in("labels.csv")
    assert list(frame.columns) == list(rows[0])
    assert frame["category"].to_list() == [row["category"] for row in rows]
    assert frame["pass"].to_list() == [int(row["pass"]) for row in rows]


@pytest.mark.parametrize(
    ("answers", "text"), [("one", DATED), ("several", SEVERAL), ("spans", SPANS)]
)
def test_what_is_exported_can_be_imported(run: Run, answers: str, text: str) -> None:
    run("import", "-", "-p", "here", "--answers", answers, stdin=text)
    run("export", "labels", "here", "-o", "labels.csv")
    run("import", "labels.csv", "-p", "there", "--answers", answers)
    run("export", "labels", "there", "-o", "again.csv")
    assert Path("again.csv").read_text() == Path("labels.csv").read_text()
    here, there = (run("agreement", name, "--json").json() for name in ("here", "there"))
    assert here["counts"] == there["counts"]
    # A document's length is none of its labels', and what is unmarked depends on it.
    values = [
        {m["measure"]: m["value"] for m in told["measures"] if m["measure"] != "unitizing_alpha"}
        for told in (here, there)
    ]
    assert values[0] == values[1]


def test_labels_are_chosen(run: Run) -> None:
    for words, annotators in {
        "--annotator A": "A", "--exclude-annotator A": "B", "--since 2026-03-02": "B",
        "--until 2026-03-01": "A", "--as-of 2026-03-01": "A", "--known-at 2026-03-01": "",
    }.items():  # fmt: skip
        run("export", "labels", "dated", "-o", "labels.parquet", "--force", *words.split())
        frame = pd.read_parquet("labels.parquet")
        assert frame["annotator"].to_list() == list(annotators), words


def test_lengths_of_documents_and_what_only_some_items_have_go_along(
    run: Run, folder: Path
) -> None:
    spans = "item,annotator,category,start,end,n_tokens,topic\nd,A,x,0,3,9,sport\nd,B,x,0,2,9,a\n"
    run("import", "-", "-p", "p", "--answers", "spans", "--keep", "topic", stdin=spans)
    run("import", "-", "-p", "p", stdin="item,annotator,category,start,end\ne,A,x,1,3\ne,B,x,1,3\n")
    told = run("export", "labels", "p", "-o", "labels.csv").err
    header = (folder / "labels.csv").read_text().splitlines()[0]
    assert header.endswith(",kind,n_tokens,attribute:topic")
    command = told.splitlines()[-1].partition("tracker ")[2].replace("NAME", "q")
    run(*shlex.split(command))
    measures = [run("agreement", name, "--json").json()["measures"] for name in ("p", "q")]
    assert measures[0] == measures[1]
    shown = [run("export", "labels", name, "-o", "-").out for name in ("p", "q")]
    assert shown[0] == shown[1]
    assert "\ne,A,x,1,1,3,,,human,,\n" in shown[1]


# -- history -------------------------------------------------------------------------------


def test_the_history_has_a_row_for_each_snapshot_and_measure(run: Run) -> None:
    run("snapshot", "reviews", "--exclude-annotator", "constant 1")
    told = run("history", "reviews", "--json").json()["snapshots"]
    assert run("export", "history", "reviews", "-o", "history.csv").err.endswith("history.csv\n")
    rows = rows_in("history.csv")
    assert [(row["snapshot"], row["measure"]) for row in rows] == [
        (str(one["snapshot"]), measure["measure"]) for one in told for measure in one["measures"]
    ]
    values = [m["value"] for one in told for m in one["measures"]]
    assert [float(row["value"]) if row["value"] else None for row in rows] == values
    assert {row["selection"] == "" for row in rows if row["snapshot"] == "1"} == {True}
    assert json.loads(rows[-1]["selection"])["excluded"] == ["constant 1"]
    assert "readings" not in rows[0]


def test_the_history_in_every_form(run: Run) -> None:
    words = ("export", "history", "reviews", "--measure", "gwet_ac1")
    for name in ("h.csv", "h.jsonl", "h.parquet"):
        assert run(*words, "-o", name).err == f"1 row: {name}\n"
    (line,) = Path("h.jsonl").read_text(encoding="utf-8").splitlines()
    value = json.loads(line)["value"]
    assert float(rows_in("h.csv")[0]["value"]) == value
    assert pd.read_parquet("h.parquet")["value"].to_list() == [value]
    assert f",{value!r}," in run(*words, "-o", "-").out


# -- files ---------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_a_file_that_cannot_be_written_is_3(run: Run, suffix: str) -> None:
    failed = run("export", "labels", "dated", "-o", f"nowhere/x.{suffix}", code=3)
    assert f"nowhere/x.{suffix} cannot be written: " in failed.err
    assert "No such file or directory" in failed.err or "non-existent directory" in failed.err
    Path("folder.csv").mkdir()
    failed = run("export", "labels", "dated", "-o", "folder.csv", "--force", code=3)
    assert "folder.csv cannot be written" in failed.err
    assert list(Path("folder.csv").iterdir()) == []


@pytest.mark.parametrize("what", ["labels", "history"])
def test_a_file_that_is_there_is_replaced_only_on_request(run: Run, what: str) -> None:
    Path("dear.csv").write_text("dear to somebody")
    failed = run("export", what, "reviews", "-o", "dear.csv", code=2)
    assert failed.err == "tracker: dear.csv already exists\nname another file, or add --force\n"
    for name in ("labels", "labels.xls", "labels.csv.gz", "", ".csv"):
        failed = run("export", what, "reviews", "-o", name, code=2)
        assert "end it in one of: .csv, .jsonl, .parquet, .xlsx" in failed.err
    assert Path("dear.csv").read_text() == "dear to somebody"
    run("export", what, "reviews", "-o", "dear.csv", "--force")
    assert len(rows_in("dear.csv")) > 1
    assert sorted(path.name for path in Path().iterdir()) == ["dear.csv", "tracker.db"]


def test_half_a_file_replaces_none(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object, **__: object) -> Iterator[tuple[str, ...]]:
        yield ("half",)
        raise OSError(28, os.strerror(28))

    Path("whole.csv").write_text("whole")
    monkeypatch.setattr("tracker.export.labels.exported_labels", failing)
    failed = run("export", "labels", "dated", "-o", "whole.csv", "--force", code=3)
    assert "whole.csv cannot be written: No space left" in failed.err
    assert Path("whole.csv").read_text() == "whole"
    assert sorted(path.name for path in Path().iterdir()) == ["tracker.db", "whole.csv"]


def test_a_scale_goes_with_the_exported_rows(furnished: Path, folder: Path, run: Run) -> None:
    rows = "".join(f"{n},{who},{(n + (n % 5 == who)) % 4}\n" for n in range(20) for who in (1, 2))
    run(
        "import", "-", "-p", "marks", "--scale", "ordinal", stdin="item,annotator,category\n" + rows
    )
    made = run("export", "labels", "marks", "-o", "m.parquet", "--save-mapping", "m.toml")
    assert "tracker import m.parquet -p NAME --mapping m.toml" in made.err
    run("import", "m.parquet", "-p", "again", "--mapping", "m.toml")
    told = [run("agreement", name, "--json").json() for name in ("marks", "again")]
    assert told[0]["scale"] == told[1]["scale"] == "ordinal"
    assert told[0]["measures"] == told[1]["measures"]


def test_the_settings_of_each_question_go_with_the_exported_rows(
    furnished: Path, folder: Path, run: Run
) -> None:
    rows = "item,annotator,tone,tags\n1,a,low,x|y\n1,b,high,x\n2,a,mid,\n2,b,mid,y\n"
    questions = ("-q", "tone=tone:low<mid<high", "-q", "tags=tags:several", "--separator", "|")
    run("import", "-", "-p", "both", *questions, stdin=rows)
    run("export", "labels", "both", "-o", "b.csv", "--save-mapping", "b.toml")
    run("import", "b.csv", "-p", "again", "--mapping", "b.toml")
    told = [run("question", "list", name, "--json").json() for name in ("both", "again")]
    assert told[0]["questions"] == told[1]["questions"]
    refused = run("export", "labels", "both", "-o", "c.csv", "--save-mapping", "b.toml", code=2)
    assert "b.toml already exists" in refused.err
    assert not (folder / "c.csv").exists()
