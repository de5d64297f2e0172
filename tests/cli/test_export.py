"""``tracker export``: labels and figures in every form; what is imported again is as it was."""

from __future__ import annotations

import gc
import shlex
from pathlib import Path

import krippendorff
import pandas as pd
import pytest

from tests.cli.conftest import Run
from tracker.cli.workbook import write_workbook_rows

OTHER = ["--database", "sqlite:///other.db"]


def follow_hint(run: Run, hint: str, name: str, *at: str) -> None:
    words = shlex.split(hint.partition(": tracker ")[2])
    run(*at, *[name if word == "NAME" else word for word in words])


RUBRIC = """item,annotator,kind,tone,topics,score,confidence,comment,date,seconds,pass
i,A,human,good,a|b,low,0.5,"why,\r so",2026-03-01T10:00,2.5,1
i,A,human,bad,a,mid,,,2026-03-02T10:00,,2
i,B,model,bad,a,high,1,,,,1
j,A,human,good,,mid,,,,,1
j,B,model,,b,mid,0.25,,,,1
j,truth,reference,good,b,mid,,,,,1
"""
ASKED = ("-q", "tone=tone", "-q", "topics=topics:several", "-q", "score=score:low<mid<high",
         "--separator", "|", "--map", "labeled_at=date")  # fmt: skip


def test_labels_of_several_questions_are_imported_elsewhere(run: Run, folder: Path) -> None:
    run("import", "-", "-p", "rubric", *ASKED, stdin=RUBRIC)
    hint = run("export", "labels", "rubric", "-o", "x.csv").err.splitlines()[-1]
    follow_hint(run, hint, "rubric", *OTHER)
    hint = run("export", "labels", "rubric", "-o", "tone.csv", "-q", "tone").err
    assert hint.endswith("tone.csv -p NAME --map question=question --question tone\n")
    for name in ("tone", "topics", "score"):
        pages = [run(*at, "agreement", "rubric", "-q", name, "--json").json() for at in ([], OTHER)]
        assert pages[0] == pages[1]
    run(*OTHER, "export", "labels", "rubric", "-o", "y.csv")
    rows = [sorted(Path(name).read_bytes().split(b"\n")) for name in ("x.csv", "y.csv")]
    assert rows[0] == rows[1]
    assert any(b'"why,\r so"' in row for row in rows[0]), "no line ends within a cell"


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


def test_matrix_gives_krippendorffs_program_the_same_figure(run: Run, furnished: Path) -> None:
    run("export", "matrix", "reviews", "-o", "k.parquet", "--for", "krippendorff")
    frame = pd.read_parquet("k.parquet").set_index("annotator")
    codes = {name: n for n, name in enumerate(pd.unique(frame.stack().dropna()))}
    data = [[codes.get(cell, float("nan")) for cell in row] for row in frame.to_numpy()]
    value = krippendorff.alpha(data, level_of_measurement="nominal")
    (alpha,) = run("agreement", "reviews", "--measure", "alpha", "--json").json()["measures"]
    assert alpha["value"] == pytest.approx(value)


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


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_items_and_annotators_are_imported_elsewhere_as_the_hint_says(
    run: Run, folder: Path, suffix: str
) -> None:
    run("item", "import", "-", "-p", "here", "--keep", "of", stdin="item,of\n2,north\n3,\n")
    run("annotator", "import", "-", "-p", "here", stdin="annotator,team\nC,red\nD,\n")
    for name in ("items", "annotators"):
        lines = run("export", name, "here", "-o", f"{name} here.{suffix}").err.splitlines()
        assert lines[0] == f"2 rows: {name} here.{suffix}"
        follow_hint(run, lines[1], "copy")
        shown = [run("export", name, project, "-o", "-").out for project in ("here", "copy")]
        assert shown[0] == shown[1]


def test_full_disk_is_reported_once() -> None:
    rows = [["x" * 100]] * 50
    with (
        pytest.raises(OSError, match="No space left"),
        Path("/dev/full").open("wb", buffering=0) as file,
    ):
        write_workbook_rows(file, ["a"], rows)
    gc.collect()  # what is left behind says nothing


def test_assignments_of_named_workers_are_rejected_with_the_reason(run: Run) -> None:
    run("import", "-", "-p", "p", stdin="item,annotator,category\n1,A,x\n1,B,x\n1,C,x\n1,D,x\n")
    head, status = "AssignmentId,WorkerId,AssignmentStatus", "Submitted"
    rows = [f"{n},{who},{status}" for n, who in enumerate("ABCDX")] + ["6,A,Approved", "7,A,,,no"]
    Path("in.csv").write_text("\n".join([f"{head},Approve,Reject", *rows]), encoding="utf-8")
    fill = ("export", "approvals", "p", "in.csv", "-o", "out.csv", "--reject")
    assert "names no reason" in run(*fill, "A", code=2).err
    assert "there is no annotator 'E'" in run(*fill, "E=no", code=4).err
    told = run(*fill, "A=never, ever read").err
    assert "7 assignments: 1 rejected, 3 approved, 1 of unknown workers, 2 settled before" in told
    filled = pd.read_csv("out.csv", dtype=str, keep_default_na=False)
    assert [*filled.Approve] == ["", "x", "x", "x", "", "", ""]
    assert [*filled.Reject] == ["never, ever read", "", "", "", "", "", "no"]
    Path("bad.csv").write_text("item,WorkerId\n1,A\n", encoding="utf-8")
    refused = run("export", "approvals", "p", "bad.csv", "-o", "-", code=3).err
    assert "bad.csv lacks AssignmentId" in refused
