"""What a project asks of agreement, its items elsewhere, whose media are shown, saved views."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"

COLUMNS = {
    "tentative_from": sa.Double, "good_from": sa.Double, "item_link": sa.Text,
    "media_hosts": sa.Text,
}  # fmt: skip


def upgrade():
    for name, kind in COLUMNS.items():
        op.add_column("projects", sa.Column(name, kind))
    op.create_table(
        "saved_views",
        sa.Column("project_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), autoincrement=False, nullable=False),
        sa.Column("query", sa.Text(), nullable=False),
        sa.CheckConstraint("name <> ''", name=op.f("ck_saved_views_name")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_saved_views_project_id_projects")
        ),
        sa.PrimaryKeyConstraint("project_id", "name", name=op.f("pk_saved_views")),
    )


def downgrade():
    present = " OR ".join(f"{name} IS NOT NULL" for name in COLUMNS)
    for what, rows in (
        ("projects with thresholds, a link or media of their own", f"projects WHERE {present}"),
        ("saved views", "saved_views"),
    ):
        held = op.get_bind().scalar(sa.text(f"SELECT count(*) FROM {rows}"))
        if held:
            raise RuntimeError(
                f"{held} {what}: an older program cannot hold them; go back to a backup"
            )
    op.drop_table("saved_views")
    for name in COLUMNS:
        op.execute(f"ALTER TABLE projects DROP COLUMN {name}")
