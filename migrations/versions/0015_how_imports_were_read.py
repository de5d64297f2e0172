"""Imports say how their files were read and what was left out."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade():
    op.add_column("imports", sa.Column("reading", sa.Text(), nullable=True))


def downgrade():
    op.drop_column("imports", "reading")
