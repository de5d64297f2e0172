"""The rights on Postgres that docs/administration.md lists: enough for what it says, no more."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import ProgrammingError

from tests.cli.conftest import Run, folder, run  # noqa: F401 - fixtures
from tests.helpers import stored
from tests.house import CHECKOUT
from tests.storage.test_database_errors import role, url  # noqa: F401 - fixtures
from tracker.ledger import Ledger
from tracker.storage.database import Database
from tracker.storage.schema import Base
from tracker.storage.views import VIEWS

PAGE = (CHECKOUT / "docs" / "administration.md").read_text("utf-8")
VIEWS_PAGE = (CHECKOUT / "docs" / "views.md").read_text("utf-8")
NOW = [
    "agreement p",
    "agreement p --against annotator=A",
    "agreement p --against until=2020-01-01",
    "agreement p --against p",
    "audit p",
    "status p",
    "history p",
    "snapshots list p",
    "export labels p -o -",
]
PAST = [
    "agreement p --as-of 2020-01-01", "agreement p --known-at 2020-01-01", "snapshots verify p",
    "compare p 2020-01-01 1",
]  # fmt: skip
WRITES = [
    "import a.csv -p p", "import a.csv -p new", "snapshot p", "audit p --record",
    "project note p word", "project set p --wanted 9", "imports undo 1 --yes",
    "project delete p --yes",
]  # fmt: skip


def granted(page: str = PAGE) -> list[str]:
    """The page's statements for a role, of the role and database of a test."""
    (block,) = re.findall(r"```sql\n(GRANT.*?)```", page, re.DOTALL)
    named = re.sub(r"\b(reader|dashboard)\b", "{role}", block)
    named = re.sub(r"\bledger\b", "{database}", named)
    return named.strip().splitlines()


def to_write() -> list[str]:
    """What the page's table says that a writer needs."""
    rights = re.search(r"^\| writer \| `([A-Z, ]+)` on all tables", PAGE, re.MULTILINE)
    assert rights is not None
    return [
        f"GRANT {rights.group(1)} ON ALL TABLES IN SCHEMA public TO {{role}}",
        "GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {role}",
        "GRANT TEMPORARY ON DATABASE {database} TO {role}",
    ]


@pytest.fixture
def answers(folder: Path) -> Path:  # noqa: F811
    file = folder / "a.csv"
    rows = [f"{item},A,yes\n{item},B,no\n" for item in range(300)]
    file.write_text("item,annotator,category\n" + "".join(rows))
    return file


def test_a_reader_reads_all_and_changes_nothing(
    role: Callable[..., str],  # noqa: F811
    url: str,  # noqa: F811
    answers: Path,
    run: Run,  # noqa: F811
) -> None:
    reader, before = role(*granted()), stored(Ledger(url))
    for words in [*NOW, *PAST]:
        run("--database", reader, *words.split(), code=0)
    for words in WRITES:
        done = run("--database", reader, *words.split(), code=5)
        assert "lacks a right" in done.err, words
    assert stored(Ledger(url)) == before


def test_a_reader_without_temporary_tables_and_the_key_has_no_past_and_no_pseudonyms(
    role: Callable[..., str],  # noqa: F811
    run: Run,  # noqa: F811
) -> None:
    (revoked,) = re.findall(r"`(REVOKE SELECT ON pseudonym_keys FROM) reader`", PAGE)
    temporary = "REVOKE TEMPORARY ON DATABASE {database} FROM {role}"
    reader = role(*granted(), f"{revoked} {{role}}", temporary)
    for words in NOW:
        run("--database", reader, *words.split(), code=0)
    for words in [*PAST, "audit p --pseudonyms"]:
        assert "lacks a right" in run("--database", reader, *words.split(), code=5).err


def test_a_writer_does_all_but_make_tables(
    role: Callable[..., str],  # noqa: F811
    answers: Path,
    run: Run,  # noqa: F811
) -> None:
    writer = role(*to_write())
    for words in [*NOW, *PAST, *WRITES]:
        run("--database", writer, *words.split(), code=0)


def test_who_has_the_views_alone_reads_them_and_no_table(
    role: Callable[..., str],  # noqa: F811
) -> None:
    with Database(role(*granted(VIEWS_PAGE))).engine.connect() as connection:
        for view in VIEWS:
            connection.execute(text(f"SELECT * FROM {view}"))
            connection.rollback()
        for table in Base.metadata.tables:
            with pytest.raises(ProgrammingError, match="permission denied"):
                connection.execute(text(f"SELECT * FROM {table}"))
            connection.rollback()
