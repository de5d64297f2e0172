"""The planner is told how many labels an item has, about: of many it is far off by itself."""

from alembic import op

revision = "0023"
down_revision = "0022"


def upgrade():
    # ANALYZE of 20 million labels finds a seventh of the items, whose labels lie side by side.
    _set("SET (n_distinct = -0.2)")


def downgrade():
    _set("RESET (n_distinct)")


def _set(what):
    if op.get_bind().dialect.name == "postgresql":
        op.execute(f"ALTER TABLE labels ALTER COLUMN item_id {what}")
