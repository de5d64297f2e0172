"""``tracker import``, ``item`` and ``annotator`` commands that say who and what is the same."""

from __future__ import annotations

import gzip
import sqlite3
import tomllib
from contextlib import closing
from pathlib import Path

from sqlalchemy import create_engine, make_url, text

from tests.cli.conftest import Run

HEADER = "item,annotator,category\n"


def test_packed_file_and_packed_standard_input_are_read(run: Run, answers: Path) -> None:
    packed = answers.with_suffix(".csv.gz")
    packed.write_bytes(gzip.compress(answers.read_bytes()))
    run("import", packed, "-p", "p")
    assert "6 unchanged" in run("import", "-", "-p", "p", stdin=packed.read_bytes()).out
    failed = run("import", "-", "-p", "p", stdin=HEADER + ",A,x\n", code=3)
    assert "standard input, line 2" in failed.err


def test_rejections_that_are_alike_are_told_once(run: Run, folder: Path) -> None:
    rows = [f"i{n},A,x,{n}th of May\n" for n in range(1500)] + ["j,,x,2024-01-01\n"]
    content = "item,annotator,category,labeled_at\n" + "".join(rows)
    (folder / "bad.csv").write_text(content, encoding="utf-8")
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


def test_saved_mapping_makes_the_next_import_one_word(run: Run, folder: Path) -> None:
    header = "Woche 1\n\nDoc;Wer;category;labeled_at;sex\n"
    rows = f"{header}1;ann;gr\xfcn;01/02/2026;f\n1;bob;rot;13/02/2026;m\n"
    (folder / "a.csv").write_bytes(rows.encode("cp1252"))
    says = ("--map", "item=Doc", "--map", "annotator=Wer", "--keep", "sex")
    run("import", "a.csv", "-p", "p", *says, "--save-mapping", "m.toml")
    saved = tomllib.loads((folder / "m.toml").read_text())
    told = [saved[name] for name in ("keep", "encoding", "date-format", "header-row")]
    assert told == [["sex"], "windows-1252", "day/month/year", 3]
    # Days under 13 alone do not say in which order they are written; the mapping does.
    (folder / "b.csv").write_text(f"{header}2;ann;rot;03/04/2026;f\n")
    failed = run("import", "b.csv", "-p", "p", *says, "--save-mapping", "n.toml", code=3)
    assert "--date-format" in failed.err
    assert not Path("n.toml").exists()
    run("import", "b.csv", "-p", "p", "--mapping", "m.toml")
    assert "2026-04-03" in run("item", "show", "2", "-p", "p", "--json").out


def test_password_of_a_queried_database_is_stored_nowhere(
    run: Run, empty_postgres_url: str
) -> None:
    url = make_url(empty_postgres_url)
    engine = create_engine(url.set(drivername="postgresql+psycopg"))
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE votes (item integer, annotator text, category text)"))
        connection.execute(text("INSERT INTO votes VALUES (1, 'Ann', 'x'), (1, 'Bo', 'y')"))
    engine.dispose()
    shown = url.set(password="s3cret").render_as_string(hide_password=False)
    words = ("import", "-p", "p", "--from-sql", shown, "--query", "SELECT * FROM votes", "--json")
    done = run(*words)
    assert done.json()["inserted"] == 2
    assert "s3cret" not in done.out + done.err
    with closing(sqlite3.connect("tracker.db")) as ledger:
        assert not any("s3cret" in line for line in ledger.iterdump())


def test_impossible_query_is_refused_without_a_password(run: Run, folder: Path) -> None:
    for words, code, message in (
        ("--from-sql sqlite:///x.db", 2, "name files, or a database and a query"),
        ("--query x", 2, "name files, or a database and a query"),
        ("--from-sql mysql://x/y --query x", None, "not supported"),
        ("--from-sql postgresql://reader:s3cret%20word@127.0.0.1:1/app --query x", 5, "127.0.0.1"),
    ):
        done = run("import", "-p", "p", *words.split(), code=code)
        assert done.code
        assert message in done.err
        assert "s3cret" not in done.out + done.err
    assert list(folder.iterdir()) == []


PEOPLE = f"{HEADER}1,ada,x\n1,Ada,y\n2,Ada,x\n2,bob,x\n"


def test_pairs_are_merged_all_or_none(run: Run, folder: Path) -> None:
    run("import", "-", "-p", "p", stdin=PEOPLE)
    for lines, reason in (
        ("ada,Ada\nzed,ada", "pairs.csv, line 3: there is no annotator 'zed' in 'p'"),
        ("ada,Ada\nAda,ada", "pairs.csv, line 3: 'Ada' and 'ada' are already one annotator"),
        ("ada,Ada\nada,bob", "pairs.csv, line 3: 'ada' is merged on line 2 already"),
    ):
        (folder / "pairs.csv").write_text(f"annotator,into\n{lines}\n", "utf-8")
        refused = run("annotator", "merge", "p", "--from", "pairs.csv", "--yes", code=3)
        assert reason in refused.err
    people = run("annotator", "list", "p", "--json").json()["annotators"]
    assert sorted(one["annotator"] for one in people) == ["Ada", "ada", "bob"]


def test_merges_of_a_file_build_on_each_other(run: Run, folder: Path) -> None:
    run("import", "-", "-p", "p", stdin=PEOPLE)
    (folder / "pairs.csv").write_text("Ada,bob\nada,Ada\n", "utf-8")
    run("annotator", "merge", "p", "--from", "pairs.csv", "--yes")
    (person,) = run("annotator", "list", "p", "--json").json()["annotators"]
    assert (person["annotator"], sorted(person["aliases"])) == ("bob", ["Ada", "ada"])


def test_what_files_have_in_common_is_told_once_and_names_of_models_are(run: Run) -> None:
    for n in range(3):
        Path(f"{n}.csv").write_text(f"item,gpt,claude 3,Claudette\na{n},x,x,x\nTotal,1,1,1\n")
    told = run("import", *(f"{n}.csv" for n in range(3)), "-p", "p", "--wide").err
    assert "rows left out: 3 rows of totals" in told
    assert "people with names of models: claude 3 and gpt; to change that: tracker" in told
    assert "names of models" not in run("import", "0.csv", "-p", "p", "--wide").err
    assert run("judge", "p", code=4).err.startswith("tracker: no annotator of 'p' is a model")
    run("snapshot", "p", "--name", "baseline")
    assert run("compare", "p", "baseline", "now").out.startswith("p  A: snapshot 1 'baseline'")


def test_agreement_is_printed_for_what_it_is(run: Run) -> None:
    rows = (f"i{n},{who},{n * n + place}\n" for n in range(30) for place, who in enumerate("ab"))
    Path("n.csv").write_text("item,annotator,label\n" + "".join(rows) + "i0,c,5\n")
    run("import", "n.csv", "-p", "n", "--scale", "interval")
    told = run("agreement", "n").out
    assert "Weakest category" not in told
    assert "different numbers; the rate of each: --by category" in told
    assert "not every annotator answered every item" in told
    assert "does not apply to this project" not in told
    pairs = run("agreement", "n", "--by", "pair", "--weights", "linear", "--format", "markdown").out
    assert "| weighted kappa (linear) |" in pairs
    latex = run("agreement", "n", "--methods", "--format", "latex").out
    assert r"\cite{krippendorff2011}" in latex
    assert r"95\% confidence" in latex
