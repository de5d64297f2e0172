"""What syncs read of other programs, and which answers these had no longer for a while."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

RECORD = {
    "project_id": sa.Integer,
    "question_id": sa.SmallInteger,
    "item_id": sa.Integer,
    "given_as": sa.Integer,
    "pass": sa.SmallInteger,
    "labeled_at": sa.BigInteger,
    "change_id": sa.Integer,
    "source": sa.SmallInteger,
    "from_change": sa.Integer,
}
"""The columns that tell a record of an answer from others, and the change that withdrew it."""
REFERRED = {
    "question_id": "questions",
    "item_id": "items",
    "given_as": "annotators",
    "change_id": "changes",
    "from_change": "changes",
    "to_change": "changes",
}


def upgrade():
    op.create_table(
        "syncs",
        sa.Column("project_id", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("change_id", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("since", sa.BigInteger(), nullable=True),
        sa.Column("until", sa.BigInteger(), nullable=False),
        sa.Column("asked", sa.Text(), nullable=False),
        sa.CheckConstraint("since <= until", name=op.f("ck_syncs_order")),
        sa.ForeignKeyConstraint(
            ["project_id", "change_id"],
            ["changes.project_id", "changes.id"],
            name=op.f("fk_syncs_project_id_change_id_changes"),
        ),
        sa.PrimaryKeyConstraint("project_id", "change_id", name=op.f("pk_syncs")),
    )
    op.create_table(
        "withdrawals",
        *(
            sa.Column(name, kind(), nullable=False, autoincrement=False)
            for name, kind in RECORD.items()
        ),
        sa.Column("to_change", sa.Integer(), nullable=False),
        sa.CheckConstraint("to_change > from_change", name=op.f("ck_withdrawals_order")),
        *(
            sa.ForeignKeyConstraint(
                ["project_id", name],
                [f"{referred}.project_id", f"{referred}.id"],
                name=op.f(f"fk_withdrawals_project_id_{name}_{referred}"),
            )
            for name, referred in REFERRED.items()
        ),
        sa.PrimaryKeyConstraint(*RECORD, name=op.f("pk_withdrawals")),
        sqlite_with_rowid=False,
    )


def downgrade():
    # Since without them a later sync would withdraw nothing, an older program may not go on.
    held = op.get_bind().scalar(sa.text("SELECT count(*) FROM syncs"))
    if held:
        raise RuntimeError(f"{held} syncs: an older program cannot hold them; go back to a backup")
    op.drop_table("withdrawals")
    op.drop_table("syncs")
