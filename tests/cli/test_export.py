"""``tracker export``: labels and figures in every form; what is imported again is as it was."""

from __future__ import annotations

import csv
import gc
import json
import shlex
from pathlib import Path
from typing import Any

import krippendorff
import pandas as pd
import pytest

from tests.cli.conftest import Run
from tracker.cli.workbook import write_workbook_rows

SEVERAL = "item,annotator,category\n1,A,x\n1,A,y\n1,B,\n2,A,\n"
SPANS = "item,annotator,category,start,end,n_tokens\nd,A,x,0,3,9\nd,B,x,0,2,9\nd,C,,,,9\n"
DATED = (
    "item,annotator,category,labeled_at,seconds\n1,A,x,2026-03-01T10:00,2.5\n1,B,y,2026-03-02,\n"
)
OTHER = ["--database", "sqlite:///other.db"]


@pytest.fixture
def dated(folder: Path, run: Run) -> None:
    """A small project whose answers have times."""
    run("import", "-", "-p", "dated", stdin=DATED)


def rows_in(path: str) -> list[dict[str, Any]]:
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def follow_hint(run: Run, hint: str, name: str, *at: str) -> None:
    """Run the command that an export proposes, for a project of this name."""
    words = shlex.split(hint.partition(": tracker ")[2])
    run(*at, *[name if word == "NAME" else word for word in words])


# -- labels --------------------------------------------------------------------------------

RUBRIC = """item,annotator,kind,tone,topics,score,confidence,comment,date,seconds,pass
i,A,human,good,a|b,low,0.5,"why, so",2026-03-01T10:00,2.5,1
i,A,human,bad,a,mid,,,2026-03-02T10:00,,2
i,B,model,bad,a,high,1,,,,1
j,A,human,good,,mid,,,,,1
j,B,model,,b,mid,0.25,,,,1
j,truth,reference,good,b,mid,,,,,1
"""
ASKED = ("-q", "tone=tone", "-q", "topics=topics:several", "-q", "score=score:low<mid<high",
         "--separator", "|", "--map", "labeled_at=date")  # fmt: skip


@pytest.mark.parametrize(
    ("questions", "names"),
    [
        (ASKED, ("tone", "topics", "score")),
        (("-q", "tone=tone", "-q", "score=score", "--map", "labeled_at=date"), ("tone", "score")),
    ],
    ids=["settings", "nominal"],
)
def test_labels_of_several_questions_are_imported_elsewhere(
    run: Run, folder: Path, questions: tuple[str, ...], names: tuple[str, ...]
) -> None:
    run("import", "-", "-p", "rubric", *questions, stdin=RUBRIC)
    hint = run("export", "labels", "rubric", "-o", "x.csv").err.splitlines()[-1]
    if questions == ASKED:
        follow_hint(run, hint, "rubric", *OTHER)
        hint = run("export", "labels", "rubric", "-o", "tone.csv", "-q", "tone").err
        assert hint.endswith("tone.csv -p NAME --map question=question --question tone\n")
    else:  # as they are
        assert "question=question" in run(*OTHER, "import", "x.csv", "-p", "rubric").err
    for name in names:
        pages = [run(*at, "agreement", "rubric", "-q", name, "--json").json() for at in ([], OTHER)]
        assert pages[0] == pages[1]
    run(*OTHER, "export", "labels", "rubric", "-o", "y.csv")
    assert sorted(map(str, rows_in("x.csv"))) == sorted(map(str, rows_in("y.csv")))
    chosen = run("export", "labels", "rubric", "-o", "-", "-q", "tone").out
    assert {row["question"] for row in csv.DictReader(chosen.splitlines())} == {"tone"}


def test_labels_of_a_scale_are_imported_elsewhere_by_hint_or_mapping(
    run: Run, folder: Path
) -> None:
    table = "item,annotator,category\n1,A,low\n1,B,high\n2,A,mid\n2,B,mid\n"
    scale = ["--scale", "ordinal", "--categories", "low,mid,high"]
    run("import", "-", "-p", "ranked", *scale, stdin=table)
    hint = run("export", "labels", "ranked", "-o", "x.csv").err.splitlines()[-1]
    follow_hint(run, hint, "copied")
    made = run("export", "labels", "ranked", "-o", "m.parquet", "--save-mapping", "m.toml")
    assert "tracker import m.parquet -p NAME --mapping m.toml" in made.err
    run("import", "m.parquet", "-p", "again", "--mapping", "m.toml")
    pages = [run("agreement", name, "--json").json() for name in ("ranked", "copied", "again")]
    assert [page["measures"] for page in pages] == [pages[0]["measures"]] * 3
    assert {page["scale"] for page in pages} == {"ordinal"}


def test_settings_of_each_question_go_with_the_exported_rows(run: Run, folder: Path) -> None:
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


@pytest.mark.parametrize(
    ("answers", "text"), [("one", DATED), ("several", SEVERAL), ("spans", SPANS)]
)
def test_exported_labels_can_be_imported(run: Run, folder: Path, answers: str, text: str) -> None:
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


@pytest.mark.usefixtures("dated")
def test_exported_labels_are_chosen(run: Run) -> None:
    for words, annotators in {
        "--annotator A": "A", "--exclude-annotator A": "B", "--since 2026-03-02": "B",
        "--until 2026-03-01": "A", "--as-of 2026-03-01": "A", "--known-at 2026-03-01": "",
    }.items():  # fmt: skip
        run("export", "labels", "dated", "-o", "labels.csv", "--force", *words.split())
        assert [row["annotator"] for row in rows_in("labels.csv")] == [*annotators], words


def test_lengths_of_documents_and_attributes_go_along(run: Run, folder: Path) -> None:
    spans = "item,annotator,category,start,end,n_tokens,topic\nd,A,x,0,3,9,sport\nd,B,x,0,2,9,a\n"
    run("import", "-", "-p", "p", "--answers", "spans", "--keep", "topic", stdin=spans)
    run("import", "-", "-p", "p", stdin="item,annotator,category,start,end\ne,A,x,1,3\ne,B,x,1,3\n")
    told = run("export", "labels", "p", "-o", "labels.csv").err
    header = (folder / "labels.csv").read_text().splitlines()[0]
    assert header.endswith(",kind,n_tokens,attribute:topic")
    follow_hint(run, told.splitlines()[-1], "q")
    measures = [run("agreement", name, "--json").json()["measures"] for name in ("p", "q")]
    assert measures[0] == measures[1]
    shown = [run("export", "labels", name, "-o", "-").out for name in ("p", "q")]
    assert shown[0] == shown[1]
    assert "\ne,A,x,1,1,3,,,human,,\n" in shown[1]


# -- figures -------------------------------------------------------------------------------


def test_history_has_a_row_for_each_snapshot_and_measure(run: Run, furnished: Path) -> None:
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
    words = ("export", "history", "reviews", "--measure", "gwet_ac1")
    for name in ("h.csv", "h.jsonl", "h.parquet"):
        assert run(*words, "-o", name).err == f"2 rows: {name}\n"
    values = [float(row["value"]) for row in rows_in("h.csv")]
    lines = Path("h.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["value"] for line in lines] == values
    assert pd.read_parquet("h.parquet")["value"].to_list() == values
    assert f",{values[0]!r}," in run(*words, "-o", "-").out
    # The audit has a row for each test.
    run("export", "audit", "reviews", "-o", "a.parquet")
    told = run("audit", "reviews", "--all", "--json").json()["annotators"]
    frame = pd.read_parquet("a.parquet")
    flags = [(one["annotator"], flag["kind"]) for one in told for flag in one["flags"]]
    assert list(zip(frame["annotator"], frame["kind"], strict=True)) == flags


def test_matrix_gives_krippendorffs_program_the_same_figure(run: Run, furnished: Path) -> None:
    run("export", "matrix", "reviews", "-o", "k.parquet", "--for", "krippendorff")
    frame = pd.read_parquet("k.parquet").set_index("annotator")
    codes = {name: n for n, name in enumerate(pd.unique(frame.stack().dropna()))}
    data = [[codes.get(cell, float("nan")) for cell in row] for row in frame.to_numpy()]
    value = krippendorff.alpha(data, level_of_measurement="nominal")
    (alpha,) = run("agreement", "reviews", "--measure", "alpha", "--json").json()["measures"]
    assert alpha["value"] == pytest.approx(value)


@pytest.mark.usefixtures("dated")
def test_consensus_matrix_and_tallies_are_written_in_every_form(run: Run) -> None:
    for suffix in ("csv", "jsonl", "parquet", "xlsx"):
        assert (
            run("export", "consensus", "dated", "-o", f"c.{suffix}").err == f"1 row: c.{suffix}\n"
        )
        for name in ("matrix", "tallies"):
            run("export", name, "dated", "-o", f"{name}.{suffix}")
    assert Path("c.csv").read_text().splitlines()[1] == "1,label,,0.5,majority,1.0,x|y"
    assert Path("matrix.csv").read_text() == "item,A,B\n1,x,y\n"
    matrix = pd.read_parquet("matrix.parquet").to_dict("list")
    assert matrix == {"item": ["1"], "A": ["x"], "B": ["y"]}
    assert len(pd.read_parquet("tallies.parquet")) == 5


def test_documents_are_read_by_other_programs(run: Run, answers: Path) -> None:
    run("import", answers, "-p", "p")
    words = ("export", "consensus", "p", "--for")
    done = run(*words, "label-studio", "-o", "p.json", "--control", "tone", "--object", "body")
    assert "tasks: p.json" in done.err
    tasks = json.loads(Path("p.json").read_text())
    (region,) = next(one["predictions"][0]["result"] for one in tasks if one["predictions"])
    assert (region["from_name"], region["to_name"]) == ("tone", "body")
    run("export", "matrix", "p", "--for", "lewidi", "-o", "soft.json")
    assert json.loads(Path("soft.json").read_text()).keys() == {str(one["id"]) for one in tasks}
    assert json.loads(run(*words, "label-studio", "-o", "-").out)
    for wrong, message in (
        ((*words, "label-studio", "-o", "p.csv"), "end it in one of: .json"),
        ((*words, "prodigy", "-o", "p.json"), "one of: label-studio, conll"),
        ((*words, "conll", "-o", "p.conll"), "has no spans"),
        (("export", "consensus", "p", "-o", "p.csv", "--control", "x"), "--for label-studio"),
    ):
        assert message in run(*wrong, code=2).err


# -- texts ---------------------------------------------------------------------------------


def test_workbook_holds_texts_as_texts_and_not_too_many(run: Run, folder: Path) -> None:
    text = 'item,annotator,category,seconds\n001,ann,"=1+1",2.5\n2,@bob,http://x.example,\n'
    run("import", "-", "-p", "x", stdin=text)
    assert run("export", "labels", "x", "-o", "x.xlsx").err.startswith("2 labels: x.xlsx")
    run("import", "x.xlsx", "-p", "y")
    shown = [run("export", "labels", name, "-o", "-").out for name in ("x", "y")]
    assert shown[0] == shown[1]
    assert "\n001,ann,=1+1," in shown[1]
    run("import", "-", "-p", "z", stdin=f"item,annotator,category,text\n1,a,x,{'t' * 40_000}\n")
    failed = run("export", "labels", "z", "-o", "z.xlsx", code=3)
    assert "row 1, text: a cell holds 32,767 characters" in failed.err
    rows = "".join(f"{n},a,x\n" for n in range(16_384))
    run("import", "-", "-p", "wide", stdin=f"item,annotator,category\n{rows}")
    failed = run("export", "matrix", "wide", "--for", "krippendorff", "-o", "z.xlsx", code=3)
    assert "a sheet holds 16,384 columns" in failed.err
    assert not Path("z.xlsx").exists()


def test_tables_are_defused_and_exports_are_not(run: Run, folder: Path) -> None:
    text = 'item,annotator,category\n1,=1+1,-2\n1,@bob,+x\n1,"\t=2",y\n2,-5,y\n'
    run("import", "-", "-p", "x", stdin=text)
    listed = run("annotator", "list", "x", "--csv").out
    names = {line.split(",")[0] for line in listed.splitlines()[1:]}
    assert names == {"'=1+1", "'=2", "'@bob", "-5"}
    assert "'" not in run("annotator", "list", "x", "--json").out
    assert "\n1,=1+1,-2," in run("export", "labels", "x", "-o", "-").out
    shown = run("category", "list", "x", "--format", "csv").out
    assert "\n-2," in shown
    assert "\n'+x," in shown


LISTED = {
    "items": "item,attribute:of\n1,\n2,north\n3,\n",
    "annotators": "annotator,kind,attribute:team\nA,human,\nB,human,\nC,human,red\n",
}


@pytest.mark.usefixtures("dated")
@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_items_and_annotators_are_imported_elsewhere_as_the_hint_says(
    run: Run, suffix: str
) -> None:
    run("item", "import", "-", "-p", "dated", "--keep", "of", stdin="item,of\n2,north\n3,\n")
    run("annotator", "import", "-", "-p", "dated", stdin="annotator,team\nC,red\n")
    for name, wanted in LISTED.items():
        lines = run("export", name, "dated", "-o", f"{name} here.{suffix}").err.splitlines()
        assert lines[0] == f"3 rows: {name} here.{suffix}"
        follow_hint(run, lines[1], "copy")
        shown = [run("export", name, project, "-o", "-") for project in ("dated", "copy")]
        assert shown[0].out == shown[1].out
        assert shown[0].err == "3 rows: -\n"
        assert shown[0].out == wanted


def test_full_disk_is_reported_once() -> None:
    rows = [["x" * 100]] * 50
    with (
        pytest.raises(OSError, match="No space left"),
        Path("/dev/full").open("wb", buffering=0) as file,
    ):
        write_workbook_rows(file, ["a"], rows)
    gc.collect()  # what is left behind says nothing
