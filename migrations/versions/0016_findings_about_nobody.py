"""Findings about a definition, some of the items or the design: recorded, and about nobody."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"

PEOPLE = ("annotator_id", "other_id")
TOGETHER = (
    "CONSTRAINT ck_flags_one_or_two_or_nobody CHECK ((annotator_id IS NULL) = (other_id IS NULL))"
)
SOMEBODY, CATEGORY = "JOIN annotators AS a ON", "c.name AS category"


def upgrade():
    op.execute("DROP VIEW v_findings")
    op.execute("ALTER TABLE flags ADD COLUMN subject TEXT")
    if op.get_bind().dialect.name == "sqlite":
        copy_flags({f"{name} INTEGER NOT NULL": f"{name} INTEGER" for name in PEOPLE}, TOGETHER)
    else:
        for name in PEOPLE:
            op.execute(f"ALTER TABLE flags ALTER COLUMN {name} DROP NOT NULL")
        op.execute(f"ALTER TABLE flags ADD {TOGETHER}")
    select = findings_view()
    for before, after in ((SOMEBODY, f"LEFT {SOMEBODY}"), (CATEGORY, f"{CATEGORY}, f.subject")):
        select = select.replace(before, after, 1)
    op.execute(f"CREATE VIEW v_findings AS {select}")


def downgrade():
    held = op.get_bind().scalar(sa.text("SELECT count(*) FROM flags WHERE annotator_id IS NULL"))
    if held:
        raise RuntimeError(
            f"{held} findings about nobody: an older program cannot hold them; go back to a backup"
        )
    op.execute("DROP VIEW v_findings")
    if op.get_bind().dialect.name == "sqlite":
        copy_flags({f"{name} INTEGER,": f"{name} INTEGER NOT NULL," for name in PEOPLE}, "")
    else:
        op.execute("ALTER TABLE flags DROP CONSTRAINT ck_flags_one_or_two_or_nobody")
        for name in PEOPLE:
            op.execute(f"ALTER TABLE flags ALTER COLUMN {name} SET NOT NULL")
    op.execute("ALTER TABLE flags DROP COLUMN subject")
    op.execute(f"CREATE VIEW v_findings AS {findings_view()}")


def findings_view():
    """Return the view's SQL as revision 0004 made it."""
    path = Path(__file__).with_name("0004_questions.py")
    spec = spec_from_file_location("questions", path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.findings(module.revision_before())


def copy_flags(words, check):
    """Make the table anew with other words and this check; SQLite alters a table by copying it."""
    bind = op.get_bind()

    def made(kind, where="1 = 1"):
        statement = f"SELECT name, sql FROM sqlite_master WHERE type = '{kind}' AND {where}"
        return bind.execute(sa.text(f"{statement} ORDER BY rowid")).all()

    views = made("view")
    triggers = made("trigger", "tbl_name = 'flags'")
    ((_, definition),) = made("table", "name = 'flags'")
    for before, after in words.items():
        definition = definition.replace(before, after)
    definition = definition.replace(f", {TOGETHER}", "")
    if check:
        body, end = definition.rsplit(")", 1)
        definition = f"{body}, {check}){end}"
    for view, _ in views:
        op.execute(f"DROP VIEW {view}")
    for statement in (
        definition.replace("flags", "flags_anew", 1),
        "INSERT INTO flags_anew SELECT * FROM flags",
        "DROP TABLE flags",
        "ALTER TABLE flags_anew RENAME TO flags",
        *(sql for _, sql in triggers),
        *(sql for _, sql in views),
    ):
        bind.exec_driver_sql(statement)
