"""Records of a file that was imported before know the change that recorded it first."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

TABLES = ("labels", "past_labels")


def upgrade():
    for table in TABLES:  # both databases only note the column: no row is written
        op.add_column(table, sa.Column("first_change_id", sa.Integer(), nullable=True))


def downgrade():
    for table in TABLES:
        op.drop_column(table, "first_change_id")
