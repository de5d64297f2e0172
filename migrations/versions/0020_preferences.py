"""Questions whose answers say which of two things is better."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"


def upgrade():
    op.add_column("questions", sa.Column("preference", sa.Boolean))


def downgrade():
    held = op.get_bind().scalar(sa.text("SELECT count(*) FROM questions WHERE preference"))
    if held:
        raise RuntimeError(
            f"{held} questions of preferences: an older program cannot hold them; "
            "go back to a backup"
        )
    op.execute("ALTER TABLE questions DROP COLUMN preference")
