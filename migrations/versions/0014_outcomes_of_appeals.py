"""What became of appeals; since when annotators are gone; the time zones of projects."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"

ACTIONS = "'resolved', 'appealed'"
ROLES = "'annotator', 'kind'"
CHECKS = (
    ("flag_changes", "action", ACTIONS, f"{ACTIONS}, 'upheld', 'rejected'"),
    ("annotator_facts", "role", ROLES, f"{ROLES}, 'presence'"),
)
"""Tables, the column that a check names the words of, some of these, and what stands for them."""
BEGINNING = {
    "action": "action IN ('found', 'reopened', 'no longer found', 'acknowledged', 'dismissed', ",
    "role": "role IN (",
}
HELD = {
    "outcomes of appeals": (
        "SELECT count(*) FROM flag_changes WHERE action IN ('upheld', 'rejected')"
    ),
    "annotators who left or came back": (
        "SELECT count(*) FROM annotator_facts WHERE role = 'presence'"
    ),
    "time zones": "SELECT count(timezone) FROM projects",
}
"""What an older program does not know."""


def upgrade():
    op.execute("ALTER TABLE projects ADD COLUMN timezone TEXT")
    for table, column, before, after in CHECKS:
        word_check(table, column, before, after)


def downgrade():
    held = {unit: op.get_bind().scalar(sa.text(count)) for unit, count in HELD.items()}
    sentence = ", ".join(f"{number} {unit}" for unit, number in held.items() if number)
    if sentence:
        raise RuntimeError(f"{sentence}: an older program cannot hold them; go back to a backup")
    for table, column, before, after in CHECKS:
        word_check(table, column, after, before)
    op.execute("ALTER TABLE projects DROP COLUMN timezone")


def word_check(table, column, before, after):
    """Give a check other words; SQLite alters a table by copying it."""
    bind = op.get_bind()
    if bind.dialect.name != "sqlite":
        name = f"ck_{table}_{column}"
        op.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
        check = f"{BEGINNING[column]}{after})"
        op.execute(f"ALTER TABLE {table} ADD CONSTRAINT {name} CHECK ({check})")
        return

    def made(kind, where="1 = 1"):
        statement = f"SELECT name, sql FROM sqlite_master WHERE type = '{kind}' AND {where}"
        return bind.execute(sa.text(f"{statement} ORDER BY rowid")).all()

    views = made("view")
    triggers = made("trigger", f"tbl_name = '{table}'")
    ((_, definition),) = made("table", f"name = '{table}'")
    for view, _ in views:
        op.execute(f"DROP VIEW {view}")
    copy = definition.replace(f"{before})", f"{after})").replace(table, f"{table}_anew", 1)
    for statement in (
        copy,
        f"INSERT INTO {table}_anew SELECT * FROM {table}",
        f"DROP TABLE {table}",
        f"ALTER TABLE {table}_anew RENAME TO {table}",
        *(sql for _, sql in triggers),
        *(sql for _, sql in views),
    ):
        bind.exec_driver_sql(statement)
