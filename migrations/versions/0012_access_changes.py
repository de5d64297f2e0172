"""Who did what to users, tokens and webhooks, and when."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"


def upgrade():
    op.create_table(
        "access_changes",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("made_at", sa.BigInteger(), nullable=False),
        sa.Column("made_by", sa.Text(), nullable=True),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_access_changes")),
        sqlite_autoincrement=True,
    )


def downgrade():
    held = op.get_bind().scalar(sa.text("SELECT count(*) FROM access_changes"))
    if held:
        raise RuntimeError(
            f"{held} changes of access: an older program cannot hold them; go back to a backup"
        )
    op.drop_table("access_changes")
