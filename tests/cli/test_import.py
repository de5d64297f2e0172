"""``tracker import``, ``item`` and ``annotator`` commands that say who and what is the same."""

from __future__ import annotations

import gzip
import json
import sqlite3
import tomllib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import URL, create_engine, make_url, text

from tests.cli.conftest import Run
from tests.formats.reading import write_zip
from tracker.imports.preview import columns_sentence
from tracker.ledger import Ledger

HEADER = "item,annotator,category\n"


# -- what is stored ------------------------------------------------------------------------


def test_same_file_changes_nothing_and_a_correction_is_a_change(run: Run, answers: Path) -> None:
    *_, hint = run("import", answers, "-p", "two words").err.splitlines()
    assert hint == "next: tracker agreement 'two words'"
    again = run("import", answers, "-p", "two words", "--json").json()
    assert (again["rows"], again["unchanged"], again["inserted"]) == (6, 6, 0)
    packed = answers.with_suffix(".csv.gz")
    packed.write_bytes(gzip.compress(answers.read_bytes()))
    for words, stdin in (([packed], b""), (["-"], packed.read_bytes())):
        done = run("import", *words, "-p", "two words", stdin=stdin)
        assert "6 unchanged" in done.out
    answers.write_text(answers.read_text().replace("2,B,y", "2,B,x"))
    done = run("import", answers, "-p", "two words")
    assert done.out == "import 5: 6 rows into two words: 1 changed, 5 unchanged\n"
    assert "superseded" in run("item", "show", "2").out
    failed = run("import", "-", "-p", "p", stdin=HEADER + ",A,x\n", code=3)
    assert "standard input, line 2" in failed.err


def test_dry_run_stores_nothing_and_makes_no_file(run: Run, answers: Path) -> None:
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


def test_several_files_are_one_import(run: Run, answers: Path) -> None:
    other = answers.with_name("more.tsv")
    other.write_text("item\tworker\tlabel\n4\tA\tx\n4\tB\tx\n")
    assert run("import", answers, other, "-p", "p").out.startswith("import 1: 8 rows")
    told = run("imports", "show", 1, "--json").json()
    assert [Path(one["name"]).name for one in told["sources"]] == ["answers.csv", "more.tsv"]
    assert "import 1 is undone" in run("imports", "undo", 1, "--yes").out
    assert run("status", "p", "--json").json()["answers"] == 0
    assert run("imports", "list", "--json").json()["imports"][0]["undone_at"].endswith("Z")


def test_environment_names_the_database_and_the_option_wins(run: Run, answers: Path) -> None:
    env = {"TRACKER_DATABASE_URL": f"sqlite:///{Path('here.db').absolute()}"}
    run("import", answers, "-p", "p", env=env)
    run("--database", "there.db", "import", answers, "-p", "q", env=env)
    assert sorted(path.name for path in Path().glob("*.db")) == ["here.db", "there.db"]
    assert [one["project"] for one in run("status", "--json", env=env).json()["projects"]] == ["p"]
    run("import", answers, "-p", "p", env={"TRACKER_DATABASE_URL": ""})
    assert Path("tracker.db").exists()


# -- how a file is read ----------------------------------------------------------------------


def test_import_shows_how_its_files_were_read(run: Run, folder: Path) -> None:
    table = "Survey\n\nDoc;Coder;Label;Note\n1;a;x;n\n1;b;y;n\nTotal;;;2\n"
    (folder / "a.csv").write_text(table, "utf-8")
    run("import", "a.csv", "-p", "p", "--map", "item=Doc")
    lines = [" ".join(line.split()) for line in run("imports", "show", 1).out.splitlines()]
    assert "read format csv; header row 3; encoding utf-8; delimiter ;" in lines
    assert "columns item=Doc, annotator=Coder, category=Label" in lines
    assert "left out rows of totals: 1, columns: 1" in lines
    write_zip(folder / "x.zip", {"ada.conll": "Ada I-PER\n", "bo.conll": "Ada O\n"})
    note = "ada.conll: IOB1, where a span begins with I-"
    assert note in run("import", "x.zip", "-p", "tags", "--preview").out
    assert note in run("import", "x.zip", "-p", "tags").err


def test_preview_says_all_that_the_import_says(run: Run) -> None:
    rows = "".join(f"d{n},Jörg,gut,{n}.01.2026 08:00,x\n" for n in range(10, 20))
    Path("a.csv").write_bytes(f"item,annotator,category,Datum,note\n{rows}".encode("cp1252"))
    words = ("import", "a.csv", "-p", "p", "--map", "labeled_at=Datum")
    lines = run(*words, "--preview").out.splitlines()
    (line,) = [line for line in run(*words).err.splitlines() if line.startswith("columns: ")]
    encoding = "text read as Windows-1252, as line 2 is not UTF-8"
    assert f"; labeled_at: day.month.year; {encoding}; left out: note" in line
    advice = "to use one: --map ROLE=note or --keep note"
    for told in ("labeled_at: Datum (day.month.year)", encoding, "left out: note", advice):
        assert f"  {told}" in lines
    assert f"({advice})" in line
    told = columns_sentence({
        "format": "label-studio", "read": {"item": "ref"}, "annotators": [], "kept": [],
        "questions": {"tone": "tone", "fair": "Fair"},
        "left_out": ["1 draft", "3 cancelled annotation", "2 region of type 'brush'", "2 reply"],
    })  # fmt: skip
    assert told == (
        "read as label-studio; questions: tone, fair=Fair; fields: item=ref; left out: 1 draft, "
        "3 cancelled annotations, 2 regions of type 'brush', 2 replies"
    )


def test_saved_mapping_makes_the_next_import_one_word(run: Run, folder: Path) -> None:
    header = "Woche 1\n\nDoc;Wer;category;labeled_at;sex\n"
    rows = f"{header}1;ann;gr\xfcn;01/02/2026;f\n1;bob;rot;13/02/2026;m\n"
    (folder / "a.csv").write_bytes(rows.encode("cp1252"))
    says = ("--map", "item=Doc", "--map", "annotator=Wer", "--keep", "sex")
    done = run("import", "a.csv", "-p", "p", *says, "--save-mapping", "m.toml")
    assert "next time: tracker import FILE -p p --mapping m.toml" in done.err
    assert tomllib.loads((folder / "m.toml").read_text()) == {
        "map": ["item=Doc", "annotator=Wer", "category=category", "labeled_at=labeled_at"],
        "keep": ["sex"],
        "format": "csv",
        "encoding": "windows-1252",
        "date-format": "%d/%m/%Y",
        "header-row": 3,
    }
    assert "2 unchanged" in run("import", "a.csv", "-p", "p", "--mapping", "m.toml").out
    failed = run("import", "a.csv", "-p", "p", *says, "--save-mapping", "m.toml", code=2)
    assert "m.toml already exists" in failed.err
    # Days under 13 alone do not say in which order they are written; the mapping does.
    (folder / "b.csv").write_text(f"{header}2;ann;rot;03/04/2026;f\n")
    failed = run("import", "b.csv", "-p", "p", *says, "--save-mapping", "n.toml", code=3)
    assert "--date-format" in failed.err
    assert not Path("n.toml").exists()
    run("import", "b.csv", "-p", "p", "--mapping", "m.toml")
    assert "2026-04-03" in run("item", "show", "2", "-p", "p", "--json").out


def test_question_without_answers_is_said_plainly(run: Run, folder: Path) -> None:
    Path("one.csv").write_text("item,annotator,Tone,Fair\ni,A,good,\n")
    done = run("import", "one.csv", "-p", "p", "-q", "a\nb=Tone", "-q", "fair=Fair")
    assert len(done.out.splitlines()) == 3, "a name of two lines takes one"
    assert ": 1 answer; 1 inserted\n" in done.out
    assert "  fair: 1 answer, of them 1 says nothing; 1 inserted\n" in done.out


@pytest.mark.parametrize(
    ("repeat", "numbers"), [(None, [1, 2]), ("pass", [1, 2]), ("revision", [1])]
)
def test_second_annotation_is_what_the_user_says(
    run: Run, folder: Path, repeat: str | None, numbers: list[int]
) -> None:
    annotations = [
        {"id": n, "completed_by": 7, "created_at": f"2026-01-0{n}T00:00:00Z", "result": [
            {"type": "choices", "from_name": "tone", "value": {"choices": [word]}}]}
        for n, word in ((1, "good"), (2, "bad"))
    ]  # fmt: skip
    (folder / "tasks.json").write_text(json.dumps([{"id": 1, "annotations": annotations}]))
    run("import", "tasks.json", "-p", "p", *(["--repeat", repeat] if repeat else []))
    frame = Ledger("sqlite:///tracker.db").export_frame("p")
    assert frame["pass"].to_list() == numbers
    assert frame["category"].to_list()[-1] == "bad"


# -- rows of a query -------------------------------------------------------------------------

QUERY = "SELECT task AS item, person AS annotator, verdict AS category FROM votes"


@pytest.fixture(params=["sqlite", "postgresql"])
def app(request: pytest.FixtureRequest, folder: Path) -> Iterator[str]:
    """The URL of another program's database, with a table of votes, which is only read."""
    if request.param == "sqlite":
        url = f"sqlite:///{folder / 'app 1.db'}"
    else:
        url = request.getfixturevalue("empty_postgres_url")
    engine = create_engine(_driven(url))
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE votes (task integer, person text, verdict text)"))
        connection.execute(text("INSERT INTO votes VALUES (1, 'Ann', 'x'), (1, 'Bo', 'y, \"z\"')"))
    yield url
    with engine.connect() as connection:
        assert connection.scalar(text("SELECT count(*) FROM votes")) == 2, "nothing is changed"
    engine.dispose()


def _driven(url: str) -> URL:
    parsed = make_url(url)
    return parsed.set(drivername="postgresql+psycopg") if url.startswith("postgres") else parsed


def test_rows_of_a_query_are_imported_and_nothing_else(run: Run, app: str) -> None:
    url = app
    if not app.startswith("sqlite"):  # a file has no password
        url = make_url(app).set(password="s3cret").render_as_string(hide_password=False)
    words = ("import", "-p", "p", "--from-sql", url, "--query")
    for query, message in (
        ("SELECT * FROM nothing", "nothing"),
        ("SELEKT 1", "SELEKT"),
        ("DELETE FROM votes", "quer"),
        ("UPDATE votes SET verdict = 'q' RETURNING task", "quer"),
        ("DROP TABLE votes", "quer"),
        ("INSERT INTO votes VALUES (3, 'x', 'y')", "quer"),
        ("SELECT 1 AS a", "no column for the item"),
        (f"{QUERY} WHERE task = 9", "no row"),
        ("", "quer"),
    ):
        done = run(*words, query, code=None)
        assert done.code in {2, 3}
        assert message in done.err
        assert 0 < len(done.err.strip().splitlines()) <= 6
        assert run("status", "p", code=None).code == 4, "there is no such project"
    assert run(*words, QUERY, "--json").json()["inserted"] == 2
    again = run(*words, QUERY, "--json")
    assert (again.json()["unchanged"], again.json()["inserted"]) == (2, 0)
    run("export", "labels", "p", "-o", "labels.csv")
    assert '"y, ""z"""' in Path("labels.csv").read_text()
    assert "s3cret" not in again.out + again.err + run("changes", "p", "--json", code=None).out
    with closing(sqlite3.connect("tracker.db")) as ledger:
        assert not any("s3cret" in line for line in ledger.iterdump())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--from-sql sqlite:///none.db --query x", "there is no such file"),
        ("--from-sql sqlite:///x.db", "name files, or a database and a query"),
        ("--query x", "name files, or a database and a query"),
        ("--from-sql mysql://x/y --query x", "not supported"),
        ("--from-sql nothing --query x", "nothing"),
        ("--from-sql postgresql://reader:s3cret%20word@127.0.0.1:1/app --query x", "127.0.0.1"),
    ],
)
def test_impossible_query_is_refused_without_a_password(
    run: Run, folder: Path, words: str, message: str
) -> None:
    done = run("import", "-p", "p", *words.split(), code=None)
    assert done.code in ({5} if "127" in message else {2, 3, 5})
    assert message in done.err
    assert "s3cret" not in done.out + done.err
    assert not any(b"s3cret" in path.read_bytes() for path in folder.iterdir())
    assert not (folder / "none.db").exists()


# -- items and annotators under several names ------------------------------------------------


def test_items_of_two_tools_are_compared_by_other_keys(run: Run, folder: Path) -> None:
    (folder / "keys.csv").write_text("item,alias\na1,b1\na2,b2\n")
    run("import", "-", "-p", "p", stdin=f"{HEADER}a1,ann,x\na2,ann,y\n")
    assert run("item", "alias", "-p", "p", "a1", "b1").out == "a1 is also known as b1\n"
    assert run("item", "alias", "--from", "keys.csv").out == "1 other key recorded\n"
    run("import", "-", "-p", "p", stdin=f"{HEADER}b1,bob,x\nb2,bob,x\n")
    assert run("agreement", "p", "--json").json()["counts"]["items_compared"] == 2
    assert run("item", "show", "p", "b2").out.startswith("a2\nalso known as b2\n")
    assert run("item", "show", "p", "b2", "--json").json()["aliases"] == ["b2"]
    assert "a1              2   b1" in run("item", "list", "p").out
    assert run("item", "list", "p", "--csv").out.splitlines()[1] == "a1,2,b1"
    run("import", "-", "-p", "p", stdin=f"{HEADER}c1,ann,x\n")
    for words, code in (
        ("alias a1", 2),
        ("alias a1 b1 --from keys.csv", 2),
        ("alias a9 d1", 4),
        ("alias a1 c1", 3),
        ("alias --from nothing.csv", 3),
        ("unalias", 2),
        ("unalias c1", 4),
    ):
        done = run("item", *words.split(), "-p", "p", code=code)
        assert 1 <= len(done.err.splitlines()) <= 2
    ended = run("item", "unalias", "b1", "b2", "-p", "p")
    assert ended.out == "2 other keys ended; answers imported so far stay where they are\n"
    assert "b1" not in run("item", "list", "p").out
    run("item", "unalias", "--from", "keys.csv", "-p", "p", code=3)


PEOPLE = f"{HEADER}1,ada,x\n1,Ada,y\n2,Ada,x\n2,bob,x\n"


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("ada,Ada\nzed,ada", "pairs.csv, line 3: there is no annotator 'zed' in 'p'"),
        ("ada,Ada\nAda,ada", "pairs.csv, line 3: 'Ada' and 'ada' are already one annotator"),
        ("ada,Ada\nada,bob", "pairs.csv, line 3: 'ada' is merged on line 2 already"),
        ("ada,Ada\nbob,bob", "pairs.csv, line 3: 'bob' and 'bob' are already one annotator"),
    ],
)
def test_pairs_are_merged_all_or_none(run: Run, folder: Path, lines: str, reason: str) -> None:
    run("import", "-", "-p", "p", stdin=PEOPLE)
    (folder / "pairs.csv").write_text(f"annotator,into\n{lines}\n", "utf-8")
    refused = run("annotator", "merge", "p", "--from", "pairs.csv", "--yes", code=3)
    assert reason in refused.err
    people = run("annotator", "list", "p", "--json").json()["annotators"]
    assert sorted(one["annotator"] for one in people) == ["Ada", "ada", "bob"]


@pytest.mark.parametrize(
    "content", ["into,annotator,note\nAda,ada,\nbob,Ada,odd\n", "Ada,bob\nada,Ada\n"]
)
def test_merges_build_on_each_other_with_a_header_or_without(
    run: Run, folder: Path, content: str
) -> None:
    run("import", "-", "-p", "p", stdin=PEOPLE)
    for words in ((), ("ada",), ("--into", "Ada"), ("p", "ada", "--into", "Ada", "--from", "f")):
        refused = run("annotator", "merge", *words, "--yes", code=2).err
        assert "name an annotator and --into another, or --from FILE" in refused, words
    (folder / "pairs.csv").write_text(content, "utf-8")
    run("annotator", "merge", "p", "--from", "pairs.csv", "--yes")
    (person,) = run("annotator", "list", "p", "--json").json()["annotators"]
    assert (person["annotator"], sorted(person["aliases"])) == ("bob", ["Ada", "ada"])
    run("import", "-", "-p", "q", stdin=PEOPLE)
    merged = run("annotator", "merge", "q", "ada", "--into", "Ada", "--yes", "--csv").out
    assert merged.splitlines()[1] == "ada,Ada,1,1"
    refused = run("category", "rename", "q", "x", "y", code=2).err
    assert "to make them one: tracker category merge q x y" in refused
