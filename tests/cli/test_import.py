"""``tracker import``: what it prints, what it stores, what it refuses."""

from __future__ import annotations

import gzip
import tomllib
from pathlib import Path

import pytest

from tests.cli.conftest import Run

HEADER = "item,annotator,category\n"


def test_json_of_an_import(run: Run, answers: Path) -> None:
    told = run("import", answers, "-p", "p", "--json").json()
    assert [one["left_out"] for one in told.pop("columns")] == [[]]
    assert told == {
        "import": 1,
        "project": "p",
        "rows": 6,
        "inserted": 6,
        "changed": 0,
        "unchanged": 0,
        "older": 0,
        "rejected": 0,
        "rejections": [],
        "read": {
            "format": "csv",
            "header_row": 1,
            "encoding": "utf-8",
            "date_format": None,
            "delimiter": ",",
            "columns": {"item": "item", "annotator": "annotator", "category": "category"},
        },
        "left_out": {},
    }
    kept = run("imports", "show", "1", "--json").json()
    assert {key: kept[key] for key in ("read", "left_out")} == {
        key: told[key] for key in ("read", "left_out")
    }


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


def test_json_of_a_refused_import_names_file_and_line(run: Run, folder: Path) -> None:
    Path("bad.csv").write_text(HEADER + "1,A,x\n,B,y\n3,,x\n1,A,y\n")
    failed = run("import", "bad.csv", "-p", "p", "--json", code=3)
    told = failed.json()
    assert told["import"] is None
    assert told["rejected"] == len(told["rejections"])
    assert {one["source"] for one in told["rejections"]} == {"bad.csv"}
    assert {3, 4} <= {one["line"] for one in told["rejections"]}
    assert all(one["reason"] for one in told["rejections"])
    assert "--skip-invalid" in failed.err
    assert "bad.csv" in failed.err
    run("project", "show", "p", code=4)


def test_a_refused_import_names_the_rows_to_people(run: Run, folder: Path) -> None:
    Path("bad.csv").write_text(HEADER + ",B,y\n" * 50)
    failed = run("import", "bad.csv", "-p", "p", code=3)
    assert failed.out == ""
    assert "bad.csv, line 2" in failed.err
    assert "50 rows, such as" in failed.err
    assert len(failed.err.splitlines()) == 3


def test_bad_rows_can_be_left_out(run: Run, folder: Path) -> None:
    Path("bad.csv").write_text(HEADER + "1,A,x\n,B,y\n")
    done = run("import", "bad.csv", "-p", "p", "--skip-invalid")
    assert done.out == "import 1: 2 rows into p: 1 inserted, 1 rejected\n"
    assert "bad.csv, line 3" in done.err


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


def test_a_dry_run_refuses_what_the_import_would(run: Run, folder: Path) -> None:
    run("import", "-", "-p", "p", "--dry-run", stdin=HEADER + ",A,x\n", code=3)
    run("import", "nowhere.csv", "-p", "p", "--dry-run", code=3)


def test_standard_input(run: Run, answers: Path) -> None:
    done = run("import", "-", "-p", "p", stdin=answers.read_bytes())
    assert "6 inserted" in done.out
    failed = run("import", "-", "-p", "p", stdin=HEADER + ",A,x\n", code=3)
    assert "standard input, line 2" in failed.err
    assert "once" in run("import", "-", "-", "-p", "p", code=2).err


@pytest.mark.parametrize("command", [("import",), ("item", "import")])
def test_standard_input_is_named_once(run: Run, folder: Path, command: tuple[str, ...]) -> None:
    failed = run(*command, "-", "-", "-p", "p", stdin=HEADER + "1,A,x\n", code=2)
    assert failed.err.splitlines()[0] == "tracker: standard input can be read only once"


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


def test_wide_and_mapped_columns(run: Run, folder: Path) -> None:
    Path("wide.csv").write_text("doc,ann,bea,site\n1,x,x,here\n2,x,y,there\n")
    done = run(
        "import", "wide.csv", "-p", "p", "--map", "item=doc", "--map", "annotators=ann,bea",
        "--keep", "site",
    )  # fmt: skip
    assert "4 inserted" in done.out
    names = [row["annotator"] for row in run("annotator", "list", "--json").json()["annotators"]]
    assert names == ["ann", "bea"]
    assert run("item", "show", "1", "--json").json()["attributes"] == {"site": "here"}


def test_columns_that_are_not_known_are_named_with_the_option_to_type(
    run: Run, folder: Path
) -> None:
    Path("odd.csv").write_text("item,annotator,colour\n1,A,red\n")
    failed = run("import", "odd.csv", "-p", "p", code=3)
    assert "colour" in failed.err
    assert "--map category=" in failed.err


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


ODD = "Doc,Worker,Label,Datum,Batch\nd1,ann,x,2025-01-01,hm\nd1,bob,x,2025-01-01,\n"


def test_what_each_column_was_read_as_and_what_was_left_out(run: Run, folder: Path) -> None:
    (folder / "odd.csv").write_text(ODD)
    done = run("import", "odd.csv", "-p", "p")
    assert done.err.splitlines()[0] == (
        "columns: item=Doc, annotator=Worker, category=Label; left out: Datum, Batch "
        "(to use one: --map labeled_at=Datum or --keep Datum)"
    )
    assert "columns" not in done.out
    run("import", "odd.csv", "-p", "q", "--map", "labeled_at=Datum", "--keep", "Batch")
    told = run("import", "odd.csv", "-p", "p", "--map", "labeled_at=Datum", "--json").json()
    assert told["columns"] == [
        {
            "source": "odd.csv",
            "read": {"labeled_at": "Datum", "item": "Doc", "annotator": "Worker"}
            | {"category": "Label"},
            "annotators": [],
            "kept": [],
            "left_out": ["Batch"],
        }
    ]


def test_columns_with_the_names_of_their_roles_need_few_words(run: Run, answers: Path) -> None:
    first, _ = run("import", answers, "-p", "p").err.splitlines()
    assert first == "columns: item, annotator, category"


def test_a_wide_file_says_whom_it_took_for_annotators(run: Run, folder: Path) -> None:
    (folder / "wide.csv").write_text("item,ann,bea,cy\n1,x,x,y\n2,x,y,y\n")
    done = run("import", "wide.csv", "-p", "p", "--wide", "--dry-run")
    assert "columns: item=item; one per annotator: ann, bea, cy\n" in done.err


def test_a_list_of_items_says_what_it_left_out(run: Run, folder: Path) -> None:
    (folder / "odd.csv").write_text(ODD)
    first, second = run("item", "import", "odd.csv", "-p", "p", "--keep", "Label").err.splitlines()
    assert first == (
        "columns: item=Doc; kept: Label; left out: Worker, Datum, Batch (to keep one: "
        "--keep Worker)"
    )
    assert second == "next: tracker status p"


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
