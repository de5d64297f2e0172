"""``tracker import``: what it prints, what it stores, what it refuses."""

from __future__ import annotations

import gzip
import tomllib
from pathlib import Path

from tests.cli.conftest import Run

HEADER = "item,annotator,category\n"


def test_an_import_shows_how_its_files_were_read(run: Run, folder: Path) -> None:
    table = "Survey\n\nDoc;Coder;Label;Note\n1;a;x;n\n1;b;y;n\nTotal;;;2\n"
    (folder / "a.csv").write_text(table, "utf-8")
    run("import", "a.csv", "-p", "p", "--map", "item=Doc")
    lines = [" ".join(line.split()) for line in run("imports", "show", 1).out.splitlines()]
    assert "read format csv; header row 3; encoding utf-8; delimiter ;" in lines
    assert "columns item=Doc, annotator=Coder, category=Label" in lines
    assert "left out rows of totals: 1, columns: 1" in lines


def test_the_same_again_changes_nothing(run: Run, answers: Path) -> None:
    run("import", answers, "-p", "p")
    again = run("import", answers, "-p", "p", "--json").json()
    assert (again["rows"], again["unchanged"], again["inserted"]) == (6, 6, 0)


def test_a_correction_is_a_change(run: Run, answers: Path) -> None:
    run("import", answers, "-p", "p")
    answers.write_text(answers.read_text().replace("2,B,y", "2,B,x"))
    done = run("import", answers, "-p", "p")
    assert done.out == "import 2: 6 rows into p: 1 changed, 5 unchanged\n"
    shown = run("item", "show", "2").out
    assert "superseded" in shown


def test_a_dry_run_stores_nothing_and_makes_no_file(run: Run, answers: Path) -> None:
    done = run("import", answers, "-p", "p", "--dry-run")
    assert "6 rows into p: 6 inserted" in done.out
    assert "would" in done.out
    assert not Path("tracker.db").exists()
    run("import", answers, "-p", "p")
    answers.write_text(HEADER + "9,A,x\n")
    before = run("item", "list", "--json").json()
    assert run("import", answers, "-p", "p", "--dry-run", "--json").json()["inserted"] == 1
    assert run("item", "list", "--json").json() == before
    assert len(run("imports", "list", "--json").json()["imports"]) == 1


def test_rejections_that_are_alike_are_told_once(run: Run, folder: Path) -> None:
    rows = [f"i{n},A,x,{n}th of May\n" for n in range(1500)] + ["j,,x,2024-01-01\n"]
    text = "item,annotator,category,labeled_at\n" + "".join(rows)
    (folder / "bad.csv").write_text(text, encoding="utf-8")
    failed = run("import", "bad.csv", "-p", "p", code=3)
    first, second, error, *_ = failed.err.splitlines()
    assert first.startswith("1,500 rows, such as bad.csv, line 2: '0th of May' is neither")
    assert second == "bad.csv, line 1502: the annotator is empty"
    assert "1,501 rows are invalid" in error
    assert failed.err.count("bad.csv") == 2
    told = run("import", "bad.csv", "-p", "p", "--json", code=3).json()
    assert (told["rejected"], len(told["rejections"])) == (1501, 1000)
    done = run("import", "bad.csv", "-p", "p", "--skip-invalid", code=0)
    assert "1,500 rows, such as" in done.err


def test_standard_input(run: Run, answers: Path) -> None:
    done = run("import", "-", "-p", "p", stdin=answers.read_bytes())
    assert "6 inserted" in done.out
    failed = run("import", "-", "-p", "p", stdin=HEADER + ",A,x\n", code=3)
    assert "standard input, line 2" in failed.err
    assert "once" in run("import", "-", "-", "-p", "p", code=2).err


def test_compressed(run: Run, answers: Path) -> None:
    packed = answers.with_suffix(".csv.gz")
    packed.write_bytes(gzip.compress(answers.read_bytes()))
    assert "6 inserted" in run("import", packed, "-p", "p").out
    assert "6 unchanged" in run("import", "-", "-p", "p", stdin=packed.read_bytes()).out


def test_several_files_are_one_unit(run: Run, answers: Path) -> None:
    other = answers.with_name("more.tsv")
    other.write_text("item\tworker\tlabel\n4\tA\tx\n4\tB\tx\n")
    assert run("import", answers, other, "-p", "p").out.startswith("import 1: 8 rows")
    told = run("imports", "show", 1, "--json").json()
    assert [Path(one["name"]).name for one in told["sources"]] == ["answers.csv", "more.tsv"]
    assert "import 1 is undone" in run("imports", "undo", 1, "--yes").out
    assert run("status", "p", "--json").json()["answers"] == 0
    assert run("imports", "list", "--json").json()["imports"][0]["undone_at"].endswith("Z")


def test_the_project_is_made_as_the_options_say(run: Run, answers: Path) -> None:
    run("import", answers, "-p", "p", "--categories", "y,x", "--scale", "ordinal", "--wanted", 3)
    told = run("project", "show", "p", "--json").json()
    assert (told["scale"], told["wanted"], told["categories"]) == ("ordinal", 3, ["y", "x"])
    assert run("status", "p", "--json").json()["answers_missing"] == 3
    failed = run("import", answers, "-p", "p", "--scale", "nominal", code=2)
    assert "ordinal" in failed.err
    answers.write_text(HEADER + "1,C,z\n")
    assert "'z'" in run("import", answers, "-p", "p", code=3).err


def test_the_environment_names_the_database_and_the_option_wins(
    run: Run, answers: Path, folder: Path
) -> None:
    here, there = folder / "here.db", folder / "there.db"
    env = {"TRACKER_DATABASE_URL": f"sqlite:///{here}"}
    run("import", answers, "-p", "p", env=env)
    run("--database", f"sqlite:///{there}", "import", answers, "-p", "q", env=env)
    assert sorted(path.name for path in folder.glob("*.db")) == ["here.db", "there.db"]
    assert [one["project"] for one in run("status", "--json", env=env).json()["projects"]] == ["p"]
    run("import", answers, "-p", "p", env={"TRACKER_DATABASE_URL": ""})
    assert (folder / "tracker.db").exists()


def test_the_next_command_that_is_proposed_can_be_pasted(run: Run, answers: Path) -> None:
    *_, hint = run("import", answers, "-p", "two words").err.splitlines()
    assert hint == "next: tracker agreement 'two words'"
    run("agreement", "two words")


def test_a_saved_mapping_holds_what_was_decided(run: Run, folder: Path) -> None:
    header = "Woche 1\n\nDoc;Wer;category;labeled_at\n"
    rows = f"{header}1;ann;gr\xfcn;01/02/2026\n1;bob;rot;13/02/2026\n"
    (folder / "a.csv").write_bytes(rows.encode("cp1252"))
    says = ("--map", "item=Doc", "--map", "annotator=Wer")
    run("import", "a.csv", "-p", "p", *says, "--save-mapping", "m.toml")
    saved = tomllib.loads((folder / "m.toml").read_text())
    assert saved == {
        "map": ["item=Doc", "annotator=Wer", "category=category", "labeled_at=labeled_at"],
        "format": "csv",
        "encoding": "windows-1252",
        "date-format": "%d/%m/%Y",
        "header-row": 3,
    }
    # Days under 13 alone do not say in which order they are written; the mapping does.
    (folder / "b.csv").write_text(f"{header}2;ann;rot;03/04/2026\n")
    assert "--date-format" in run("import", "b.csv", "-p", "p", *says, code=3).err
    run("import", "b.csv", "-p", "p", "--mapping", "m.toml")
    assert "2026-04-03" in run("item", "show", "2", "-p", "p", "--json").out
