"""Labels that lie in Parquet files elsewhere."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"


def upgrade():
    op.create_table(
        "lakes",
        sa.Column("project_id", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("address", sa.Text, nullable=False),
        sa.Column("roles", sa.Text, nullable=False),
        sa.Column("engine", sa.Text, nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_lakes_project_id_projects")
        ),
        sa.PrimaryKeyConstraint("project_id", name=op.f("pk_lakes")),
    )
    op.create_table(
        "lake_files",
        sa.Column("project_id", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("number", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("path", sa.Text, nullable=False),
        sa.Column("size", sa.BigInteger, nullable=False),
        sa.Column("modified_at", sa.BigInteger, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("labels", sa.BigInteger, nullable=False),
        sa.Column("part", sa.Integer, nullable=False),
        sa.Column("from_change", sa.Integer, nullable=False),
        sa.Column("source", sa.SmallInteger, nullable=False),
        sa.Column("to_change", sa.Integer),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_lake_files_project_id_projects")
        ),
        sa.ForeignKeyConstraint(
            ["project_id", "from_change"],
            ["changes.project_id", "changes.id"],
            name=op.f("fk_lake_files_project_id_from_change_changes"),
        ),
        sa.ForeignKeyConstraint(
            ["project_id", "to_change"],
            ["changes.project_id", "changes.id"],
            name=op.f("fk_lake_files_project_id_to_change_changes"),
        ),
        sa.CheckConstraint("to_change > from_change", name=op.f("ck_lake_files_order")),
        sa.PrimaryKeyConstraint("project_id", "number", name=op.f("pk_lake_files")),
    )
    op.create_table(
        "lake_names",
        sa.Column("project_id", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["lakes.project_id"], name=op.f("fk_lake_names_project_id_lakes")
        ),
        sa.CheckConstraint("role IN ('annotator', 'category')", name=op.f("ck_lake_names_role")),
        sa.PrimaryKeyConstraint("project_id", "role", "text", name=op.f("pk_lake_names")),
    )


def downgrade():
    held = op.get_bind().scalar(sa.text("SELECT count(*) FROM lakes"))
    if held:
        raise RuntimeError(
            f"{held} projects whose labels lie in files: an older program cannot hold them; "
            "go back to a backup"
        )
    op.drop_table("lake_names")
    op.drop_table("lake_files")
    op.drop_table("lakes")
