"""Labels refer to rows that are there, whoever writes and however the database holds it."""

from __future__ import annotations

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError, IntegrityError

from tests.storage.rows import sample
from tracker.ledger import Ledger
from tracker.storage.backends.sqlite import Sqlite
from tracker.storage.database import Database
from tracker.storage.schema import Base, Label

PARENTS = ("items", "annotators", "categories")
REFERENCES = ("item_id", "annotator_id", "given_as", "category_id", "change_id")


def rows_of_labels(connection: Connection) -> None:
    """Store the rows that labels refer to, and no other rows that refer to them."""
    rows = sample()
    for name in ("projects", "questions", "changes", "items", "annotators", "categories"):
        connection.execute(Base.metadata.tables[name].insert(), rows[name])


def label() -> dict[str, object]:
    return sample()["labels"][0]


def statements(database: Database) -> list[str]:
    """Statements each of which would leave a label, or a past one, that refers to nothing."""
    tried = [
        f"UPDATE {table} SET {column} = 99"
        for table in ("labels", "past_labels")
        for column in REFERENCES
    ]
    tried += [f"DELETE FROM {parent}" for parent in PARENTS]
    tried += [f"UPDATE {parent} SET id = id + 10" for parent in PARENTS]
    if not isinstance(database.backend, Sqlite):
        tried += [f"TRUNCATE {parent} CASCADE" for parent in PARENTS]
    return tried


@pytest.mark.parametrize("table", ["labels", "past_labels"])
def test_what_labels_refer_to_stays(ledger: Ledger, table: str) -> None:
    database = ledger.database
    with database.write() as connection:
        rows_of_labels(connection)
        connection.execute(Base.metadata.tables[table].insert(), sample()[table][0])
    for statement in statements(database):
        try:
            with database.write() as connection:
                changed = connection.execute(text(statement)).rowcount
        except IntegrityError:
            continue
        assert changed == 0, statement  # of the other table


def test_deletions_and_loads_wait_for_each_other(postgres_url: str) -> None:
    """As with a foreign key: an item stays while answers to it are being stored."""
    database, other = Database(postgres_url), Database(postgres_url)
    other.wait = 0.05
    with database.write() as connection:
        rows_of_labels(connection)
    load, delete = Label.__table__.insert(), text("DELETE FROM items")  # type: ignore[attr-defined]
    with database.write(keep=False) as deleting:
        deleting.execute(delete)
        with pytest.raises(DBAPIError, match="lock timeout"), other.engine.begin() as loading:
            loading.execute(load, label())
    with database.write() as loading:
        loading.execute(load, label())
        with pytest.raises(DBAPIError, match="lock timeout"), other.engine.begin() as deleting:
            deleting.execute(delete)
    with pytest.raises(IntegrityError, match="refer to it"), other.engine.begin() as deleting:
        deleting.execute(delete)
    with database.engine.begin() as connection:
        connection.execute(text("ALTER TABLE labels DISABLE TRIGGER USER"))
        connection.execute(text("UPDATE labels SET change_id = 99"))
        connection.execute(text("ALTER TABLE labels ENABLE TRIGGER USER"))
    assert "1 rows of labels refer to no row of changes" in database.check()
    with database.engine.begin() as connection:
        connection.execute(text("DELETE FROM labels"))
        connection.execute(delete)
    with pytest.raises(IntegrityError, match="no such row"), other.engine.begin() as loading:
        loading.execute(load, label())


def test_a_load_looks_into_its_own_schema(empty_postgres_url: str) -> None:
    """Also if the one who writes names the table with its schema, and finds others without."""
    databases = {name: Database(empty_postgres_url) for name in ("one", "other")}
    for name, database in databases.items():
        database.use_schema(name)
        database.upgrade()
    with databases["other"].write() as connection:
        rows_of_labels(connection)
    moved = Label.__table__.to_metadata(Base.metadata.__class__(), schema="one")  # type: ignore[attr-defined]
    with databases["other"].engine.begin() as connection, pytest.raises(IntegrityError):
        connection.execute(moved.insert(), label())
