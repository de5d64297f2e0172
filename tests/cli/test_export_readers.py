"""``tracker export``: what is found from labels, in every form, and what other programs read."""

from __future__ import annotations

import gc
import json
import shlex
from pathlib import Path

import pandas as pd
import pytest

from tests.cli.conftest import Run
from tracker.cli.workbook import write_workbook_rows

DATED = (
    "item,annotator,category,labeled_at,seconds\n1,A,x,2026-03-01T10:00,2.5\n1,B,y,2026-03-02,\n"
)


@pytest.fixture(autouse=True)
def projects(furnished: Path, run: Run) -> None:
    """Besides `reviews` a small project whose answers have times."""
    run("import", "-", "-p", "dated", stdin=DATED)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_consensus_and_the_matrix_in_every_form(run: Run, suffix: str) -> None:
    done = run("export", "consensus", "dated", "-o", f"c.{suffix}")
    assert done.err == f"1 row: c.{suffix}\n"
    run("export", "consensus", "reviews", "-o", f"d.{suffix}", "--method", "dawid-skene")
    run("export", "matrix", "dated", "-o", f"m.{suffix}")
    if suffix == "csv":
        assert Path("c.csv").read_text() == (
            "item,question,category,confidence,method,entropy,tied\n1,label,,0.5,majority,1.0,x|y\n"
        )
        assert Path("m.csv").read_text() == "item,A,B\n1,x,y\n"
    else:
        assert Path(f"m.{suffix}").stat().st_size > 0


def test_what_krippendorffs_program_reads_gives_the_same_figure(run: Run) -> None:
    import krippendorff

    run("export", "matrix", "reviews", "-o", "k.parquet", "--for", "krippendorff")
    frame = pd.read_parquet("k.parquet").set_index("annotator")
    codes = {name: n for n, name in enumerate(pd.unique(frame.stack().dropna()))}
    data = [[codes.get(cell, float("nan")) for cell in row] for row in frame.to_numpy()]
    value = krippendorff.alpha(data, level_of_measurement="nominal")
    (alpha,) = run("agreement", "reviews", "--measure", "alpha", "--json").json()["measures"]
    assert alpha["value"] == pytest.approx(value)


def test_the_audit_has_a_row_for_each_test(run: Run) -> None:
    run("export", "audit", "reviews", "-o", "a.parquet")
    told = run("audit", "reviews", "--all", "--json").json()["annotators"]
    frame = pd.read_parquet("a.parquet")
    wanted = [(one["annotator"], flag["kind"]) for one in told for flag in one["flags"]]
    assert list(zip(frame["annotator"], frame["kind"], strict=True)) == wanted


def test_a_workbook_holds_texts_as_texts(run: Run) -> None:
    text = 'item,annotator,category,seconds\n001,ann,"=1+1",2.5\n2,@bob,http://x.example,\n'
    run("import", "-", "-p", "x", stdin=text)
    assert run("export", "labels", "x", "-o", "x.xlsx").err.startswith("2 labels: x.xlsx")
    run("import", "x.xlsx", "-p", "y")
    shown = [run("export", "labels", name, "-o", "-").out for name in ("x", "y")]
    assert shown[0] == shown[1]
    assert "\n001,ann,=1+1," in shown[1]
    run("export", "matrix", "x", "-o", "m.xlsx")


def test_what_a_sheet_cannot_hold_is_refused(run: Run) -> None:
    run("import", "-", "-p", "x", stdin=f"item,annotator,category,text\n1,a,x,{'t' * 40_000}\n")
    failed = run("export", "labels", "x", "-o", "x.xlsx", code=3)
    assert "row 1, text: a cell holds 32,767 characters" in failed.err
    assert not Path("x.xlsx").exists()


def test_a_sheet_of_too_many_columns_is_refused(run: Run) -> None:
    rows = "".join(f"{n},a,x\n" for n in range(16_384))
    run("import", "-", "-p", "x", stdin=f"item,annotator,category\n{rows}")
    words = ("export", "matrix", "x", "--for", "krippendorff", "-o")
    assert "a sheet holds 16,384 columns" in run(*words, "m.xlsx", code=3).err
    assert not Path("m.xlsx").exists()


def test_documents_that_other_programs_read(run: Run) -> None:
    words = ("export", "consensus", "reviews", "--for")
    said = run(*words, "label-studio", "-o", "p.json", "--control", "tone", "--object", "body").err
    assert "tasks: p.json" in said
    tasks = json.loads(Path("p.json").read_text())
    (region,) = next(one["predictions"][0]["result"] for one in tasks if one["predictions"])
    assert (region["from_name"], region["to_name"]) == ("tone", "body")
    run("export", "matrix", "reviews", "--for", "lewidi", "-o", "soft.json")
    assert json.loads(Path("soft.json").read_text()).keys() == {str(one["id"]) for one in tasks}
    assert json.loads(run(*words, "label-studio", "-o", "-").out)
    for wrong, told in (
        ((*words, "label-studio", "-o", "p.csv"), "end it in one of: .json"),
        ((*words, "prodigy", "-o", "p.json"), "one of: label-studio, conll"),
        ((*words, "conll", "-o", "p.conll"), "has no spans"),
        (("export", "consensus", "reviews", "-o", "p.csv", "--control", "x"), "--for label-studio"),
    ):
        assert told in run(*wrong, code=2).err


def test_tallies_in_every_form(run: Run) -> None:
    for suffix in ("csv", "jsonl", "parquet", "xlsx"):
        run("export", "tallies", "dated", "-o", f"t.{suffix}")
        assert Path(f"t.{suffix}").stat().st_size > 0
    assert run("export", "tallies", "dated", "-o", "-").out == (
        "question,tally,pattern,annotator,category,other_annotator,other_category,answers,items\n"
        "label,pattern,1,,x,,,1,1\nlabel,pattern,1,,y,,,1,1\n"
        "label,annotator,,A,x,,,,1\nlabel,annotator,,B,y,,,,1\nlabel,pair,,A,x,B,y,,1\n"
    )


def test_tables_are_defused_and_exports_are_not(run: Run) -> None:
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


@pytest.mark.parametrize("suffix", ["csv", "xlsx"])
def test_items_and_annotators_are_imported_elsewhere_as_the_hint_says(
    run: Run, suffix: str
) -> None:
    run("item", "import", "-", "-p", "dated", "--keep", "of", stdin="item,of\n2,north\n3,\n")
    run("annotator", "import", "-", "-p", "dated", stdin="annotator,team\nC,red\n")
    for what, wanted in LISTED.items():
        said = run("export", what, "dated", "-o", f"{what} here.{suffix}").err.splitlines()
        assert said[0] == f"3 rows: {what} here.{suffix}"
        run(*shlex.split(said[1].partition(": tracker ")[2].replace("NAME", "copy")))
        shown = [run("export", what, project, "-o", "-") for project in ("dated", "copy")]
        assert shown[0].out == shown[1].out
        assert shown[0].err == "3 rows: -\n"
        assert shown[0].out == wanted


def test_a_full_disk_is_told_once() -> None:
    rows = [["x" * 100]] * 50
    with (
        pytest.raises(OSError, match="No space left"),
        Path("/dev/full").open("wb", buffering=0) as file,
    ):
        write_workbook_rows(file, ["a"], rows)
    gc.collect()  # what is left behind says nothing
