"""Other keys of items, under which other tools know them."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

REFERRED = {"item_id": "items", "from_change": "changes", "to_change": "changes"}


def upgrade():
    op.create_table(
        "item_aliases",
        sa.Column("project_id", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("from_change", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("to_change", sa.Integer(), nullable=True),
        sa.CheckConstraint("to_change > from_change", name=op.f("ck_item_aliases_order")),
        *(
            sa.ForeignKeyConstraint(
                ["project_id", name],
                [f"{referred}.project_id", f"{referred}.id"],
                name=op.f(f"fk_item_aliases_project_id_{name}_{referred}"),
            )
            for name, referred in REFERRED.items()
        ),
        sa.PrimaryKeyConstraint("project_id", "name", "from_change", name=op.f("pk_item_aliases")),
        sqlite_with_rowid=False,
    )


def downgrade():
    # Without them a later import would record one item as two, so an older program may not go on.
    held = op.get_bind().scalar(sa.text("SELECT count(*) FROM item_aliases"))
    if held:
        raise RuntimeError(
            f"{held} other keys of items: an older program cannot hold them; go back to a backup"
        )
    op.drop_table("item_aliases")
