"""Counts that are kept until something changes."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"


def upgrade():
    op.create_table(
        "kept_tallies",
        sa.Column("project_id", sa.Integer, nullable=False, autoincrement=False),
        sa.Column("statement", sa.Text, nullable=False),
        sa.Column("change_id", sa.Integer, nullable=False),
        sa.Column("recorded_at", sa.BigInteger, nullable=False),
        sa.Column("kept_at", sa.BigInteger, nullable=False),
        sa.Column("size", sa.Integer, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name="fk_kept_tallies_project_id_projects"
        ),
        sa.PrimaryKeyConstraint("project_id", "statement", name="pk_kept_tallies"),
    )


def downgrade():
    op.drop_table("kept_tallies")
