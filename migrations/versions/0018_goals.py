"""How well a figure of a question is to be known, and by when."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"


def upgrade():
    op.add_column("questions", sa.Column("goal", sa.Text))
    op.add_column("questions", sa.Column("deadline", sa.Text))


def downgrade():
    present = "SELECT count(*) FROM questions WHERE goal IS NOT NULL OR deadline IS NOT NULL"
    held = op.get_bind().scalar(sa.text(present))
    if held:
        raise RuntimeError(
            f"{held} questions with a goal: an older program cannot hold them; go back to a backup"
        )
    for name in ("deadline", "goal"):
        op.execute(f"ALTER TABLE questions DROP COLUMN {name}")
