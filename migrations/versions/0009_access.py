"""Users, their tokens, and the key of their sessions."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

ROLE = "role IN ('annotator', 'viewer', 'manager', 'admin')"


def upgrade():
    op.create_table(
        "users",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("password", sa.Text(), nullable=True),
        sa.Column("session", sa.Integer(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(ROLE, name=op.f("ck_users_role")),
        sa.CheckConstraint("name <> ''", name=op.f("ck_users_name")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_users")),
        sa.UniqueConstraint("name", name=op.f("uq_users_name")),
        sa.UniqueConstraint("subject", name=op.f("uq_users_subject")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "user_annotators",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("annotator_id", sa.Integer(), nullable=False, autoincrement=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_user_annotators_user_id_users")
        ),
        sa.ForeignKeyConstraint(
            ["project_id", "annotator_id"],
            ["annotators.project_id", "annotators.id"],
            name=op.f("fk_user_annotators_project_id_annotator_id_annotators"),
        ),
        sa.PrimaryKeyConstraint(
            "user_id", "project_id", "annotator_id", name=op.f("pk_user_annotators")
        ),
    )
    op.create_table(
        "tokens",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.Column("used_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint(ROLE, name=op.f("ck_tokens_role")),
        sa.CheckConstraint("name <> ''", name=op.f("ck_tokens_name")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_tokens_user_id_users")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tokens")),
        sa.UniqueConstraint("name", name=op.f("uq_tokens_name")),
        sa.UniqueConstraint("digest", name=op.f("uq_tokens_digest")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "signing_keys",
        sa.Column("id", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.CheckConstraint("id = 1", name=op.f("ck_signing_keys_one")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_signing_keys")),
    )


def downgrade():
    # An older program knows no users, and would let everybody in whom it was told to listen to.
    held = op.get_bind().scalar(sa.text("SELECT count(*) FROM users"))
    if held:
        raise RuntimeError(f"{held} users: an older program cannot hold them; remove them first")
    for name in ("signing_keys", "tokens", "user_annotators", "users"):
        op.drop_table(name)
