"""Who is to answer which items, what was decided, and what the answering page says."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"

QUESTION_COLUMNS = ("instructions", "also_asks")
ASSIGNMENT = ("project_id", "annotator_id", "change_id", "place")
TABLES = ("decisions", "drafts", "assignments", "batches")


def _key(name, kind=sa.Integer):
    return sa.Column(name, kind(), autoincrement=False, nullable=False)


def _references(table, columns):
    return [
        sa.ForeignKeyConstraint(
            ["project_id", name],
            [f"{referred}.project_id", f"{referred}.id"],
            name=op.f(f"fk_{table}_project_id_{name}_{referred}"),
        )
        for name, referred in columns.items()
    ]


def upgrade():
    for name in QUESTION_COLUMNS:
        op.add_column("questions", sa.Column(name, sa.Text))
    op.create_table(
        "batches",
        _key("project_id"),
        _key("change_id"),
        sa.Column("question_id", sa.SmallInteger(), nullable=True),
        sa.Column("until", sa.BigInteger(), nullable=True),
        sa.Column("round", sa.Text(), nullable=True),
        sa.CheckConstraint("round <> ''", name=op.f("ck_batches_round")),
        *_references("batches", {"change_id": "changes", "question_id": "questions"}),
        sa.PrimaryKeyConstraint("project_id", "change_id", name=op.f("pk_batches")),
        sa.UniqueConstraint("project_id", "round", name=op.f("uq_batches_project_id_round")),
    )
    op.create_table(
        "assignments",
        _key("project_id"),
        _key("annotator_id"),
        _key("change_id"),
        _key("place"),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("withdrawn_by", sa.Integer(), nullable=True),
        sa.CheckConstraint("why IN ('fresh', 'gold', 'repeat')", name=op.f("ck_assignments_why")),
        sa.CheckConstraint("place > 0", name=op.f("ck_assignments_place")),
        sa.ForeignKeyConstraint(
            ["project_id", "change_id"],
            ["batches.project_id", "batches.change_id"],
            name=op.f("fk_assignments_project_id_change_id_batches"),
        ),
        *_references(
            "assignments",
            {"annotator_id": "annotators", "item_id": "items", "withdrawn_by": "changes"},
        ),
        sa.PrimaryKeyConstraint(
            "project_id", "annotator_id", "change_id", "place", name=op.f("pk_assignments")
        ),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "drafts",
        *map(_key, ASSIGNMENT),
        _key("question_id", sa.SmallInteger),
        sa.Column("given", sa.Text(), nullable=False),
        sa.Column("given_at", sa.BigInteger(), nullable=False),
        sa.Column("spent_ms", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(
            ASSIGNMENT,
            [f"assignments.{name}" for name in ASSIGNMENT],
            name=op.f("fk_drafts_project_id_annotator_id_change_id_place_assignments"),
        ),
        *_references("drafts", {"question_id": "questions"}),
        sa.PrimaryKeyConstraint(*ASSIGNMENT, "question_id", name=op.f("pk_drafts")),
    )
    op.create_table(
        "decisions",
        _key("project_id"),
        _key("question_id", sa.SmallInteger),
        _key("item_id"),
        _key("change_id"),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=True),
        sa.Column("made_by", sa.Text(), nullable=True),
        sa.Column("settled_by", sa.Integer(), nullable=True),
        sa.CheckConstraint(
            "reason IN ('ambiguous', 'guideline gap', 'annotator error', 'not in the scheme')",
            name=op.f("ck_decisions_reason"),
        ),
        *_references(
            "decisions", {"question_id": "questions", "item_id": "items", "change_id": "changes"}
        ),
        sa.PrimaryKeyConstraint(
            "project_id", "question_id", "item_id", "change_id", name=op.f("pk_decisions")
        ),
    )


def downgrade():
    columns = " OR ".join(f"{name} IS NOT NULL" for name in QUESTION_COLUMNS)
    for what, rows in (
        ("batches of assignments", "batches"),
        ("decisions", "decisions"),
        ("questions with instructions", f"questions WHERE {columns}"),
    ):
        held = op.get_bind().scalar(sa.text(f"SELECT count(*) FROM {rows}"))
        if held:
            raise RuntimeError(
                f"{held} {what}: an older program cannot hold them; go back to a backup"
            )
    for name in TABLES:
        op.drop_table(name)
    for name in QUESTION_COLUMNS:
        op.execute(f"ALTER TABLE questions DROP COLUMN {name}")
