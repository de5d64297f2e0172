"""What annotators are, beyond their kind; and which notes are guidelines."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

# Everything here is as it was when this revision was made: a revision reads neither the models
# nor the package, which go on changing.


def upgrade():
    op.create_table(
        "annotator_attributes",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("annotator_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("change_id", sa.Integer(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        *(
            sa.ForeignKeyConstraint(
                ["project_id", name],
                [f"{referred}.project_id", f"{referred}.id"],
                name=op.f(f"fk_annotator_attributes_project_id_{name}_{referred}"),
            )
            for name, referred in (("annotator_id", "annotators"), ("change_id", "changes"))
        ),
        sa.PrimaryKeyConstraint(
            "project_id", "annotator_id", "name", "change_id", name=op.f("pk_annotator_attributes")
        ),
        sqlite_with_rowid=False,
    )
    op.add_column("notes", sa.Column("guideline", sa.Text(), nullable=True))


def downgrade():
    op.drop_column("notes", "guideline")
    op.drop_table("annotator_attributes")
