"""``tracker import --from-sql``: rows of a query on either database, which is only read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import URL, create_engine, make_url, text

from tests.cli.conftest import Run

QUERY = "SELECT task AS item, person AS annotator, verdict AS category FROM votes"
SECRET = "s3cret%20word"


@pytest.fixture(params=["sqlite", "postgresql"])
def app(request: pytest.FixtureRequest, folder: Path) -> Iterator[str]:
    """The URL of another program's database, with a table of votes."""
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


def test_rows_of_a_query_are_imported_and_again_change_nothing(run: Run, app: str) -> None:
    asked = ("import", "-p", "p", "--from-sql", app, "--query", QUERY, "--json")
    assert run(*asked).json()["inserted"] == 2
    again = run(*asked).json()
    assert (again["unchanged"], again["inserted"]) == (2, 0)
    run("export", "labels", "p", "-o", "labels.csv")
    assert '"y, ""z"""' in Path("labels.csv").read_text()


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT * FROM nothing", "nothing"),
        ("SELEKT 1", "SELEKT"),
        ("DELETE FROM votes", "quer"),
        ("UPDATE votes SET verdict = 'q' RETURNING task", "quer"),
        ("DROP TABLE votes", "quer"),
        ("INSERT INTO votes VALUES (3, 'x', 'y')", "quer"),
        ("SELECT 1 AS a", "no column for the item"),
        (f"{QUERY} WHERE task = 9", "no row"),
        ("", "quer"),
    ],
)
def test_what_is_no_query_of_answers_is_refused(run: Run, app: str, query: str, said: str) -> None:
    done = run("import", "-p", "p", "--from-sql", app, "--query", query, code=None)
    assert done.code in {2, 3}
    assert said in done.err
    assert 0 < len(done.err.strip().splitlines()) <= 6
    assert run("status", "p", code=None).code == 4, "there is no such project"


def test_a_password_is_neither_shown_nor_stored(run: Run, folder: Path) -> None:
    url = f"postgresql://reader:{SECRET}@127.0.0.1:1/app"
    done = run("import", "-p", "p", "--from-sql", url, "--query", "SELECT 1", code=None)
    assert done.code == 5
    assert "127.0.0.1" in done.err
    for secret in (SECRET, SECRET.replace("%20", " ")):
        assert secret not in done.out + done.err
        assert not any(secret.encode() in one.read_bytes() for one in folder.glob("*.db*"))


def test_the_name_of_the_source_has_no_password(run: Run, app: str) -> None:
    if app.startswith("sqlite"):
        pytest.skip("a file has no password")
    url = make_url(app).set(password="s3cret").render_as_string(hide_password=False)
    run("import", "-p", "p", "--from-sql", url, "--query", QUERY)
    kept = run("import", "-p", "p", "--from-sql", url, "--query", QUERY, "--json")
    assert "s3cret" not in kept.out + kept.err + run("changes", "p", "--json", code=None).out
    with closing(sqlite3.connect("tracker.db")) as ledger:
        assert not any("s3cret" in line for line in ledger.iterdump())


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--from-sql", "sqlite:///none.db", "--query", "SELECT 1"), "there is no such file"),
        (("--from-sql", "sqlite:///x.db"), "name files, or a database and a query"),
        (("--query", "SELECT 1"), "name files, or a database and a query"),
        (("--from-sql", "mysql://x/y", "--query", "SELECT 1"), "not supported"),
        (("--from-sql", "nothing", "--query", "SELECT 1"), "nothing"),
    ],
)
def test_what_cannot_be_asked(run: Run, folder: Path, args: tuple[str, ...], said: str) -> None:
    done = run("import", "-p", "p", *args, code=None)
    assert done.code in {2, 3, 5}
    assert said in done.err
    assert not (folder / "none.db").exists()
