"""What a project asks of agreement, where its items are elsewhere, whose media are shown."""

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


def downgrade():
    present = " OR ".join(f"{name} IS NOT NULL" for name in COLUMNS)
    held = op.get_bind().scalar(sa.text(f"SELECT count(*) FROM projects WHERE {present}"))
    if held:
        raise RuntimeError(
            f"{held} projects with thresholds, a link or media of their own: an older program "
            "cannot hold them; go back to a backup"
        )
    for name in COLUMNS:
        op.execute(f"ALTER TABLE projects DROP COLUMN {name}")
