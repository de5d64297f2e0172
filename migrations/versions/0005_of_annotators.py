"""What annotators are, beyond their kind; which notes are guidelines; more of an answer."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

# Everything here is as it was when this revision was made: a revision reads neither the models
# nor the package, which go on changing.


RECORD = {
    "project_id": sa.Integer,
    "question_id": sa.SmallInteger,
    "item_id": sa.Integer,
    "given_as": sa.Integer,
    "pass": sa.SmallInteger,
    "labeled_at": sa.BigInteger,
    "change_id": sa.Integer,
    "source": sa.SmallInteger,
}
"""The columns that tell a record of an answer from others."""
REFERRED = {
    "question_id": "questions",
    "item_id": "items",
    "given_as": "annotators",
    "change_id": "changes",
}


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
    op.create_table(
        "answer_details",
        *(
            sa.Column(name, kind(), nullable=False, autoincrement=False)
            for name, kind in RECORD.items()
        ),
        sa.Column("confidence", sa.Double(), nullable=True),
        sa.Column("comment", sa.Text(), nullable=True),
        sa.CheckConstraint("confidence BETWEEN 0 AND 1", name=op.f("ck_answer_details_confidence")),
        sa.CheckConstraint(
            "confidence IS NOT NULL OR comment IS NOT NULL", name=op.f("ck_answer_details_any")
        ),
        *(
            sa.ForeignKeyConstraint(
                ["project_id", name],
                [f"{referred}.project_id", f"{referred}.id"],
                name=op.f(f"fk_answer_details_project_id_{name}_{referred}"),
            )
            for name, referred in REFERRED.items()
        ),
        sa.PrimaryKeyConstraint(*RECORD, name=op.f("pk_answer_details")),
        sqlite_with_rowid=False,
    )
    op.add_column("notes", sa.Column("guideline", sa.Text(), nullable=True))
    op.execute("DROP VIEW v_answers")
    op.execute(f"CREATE VIEW v_answers AS {answers_before()}".replace(*MORE) + OF_DETAILS)
    op.execute(f"CREATE VIEW v_annotator_attributes AS {ATTRIBUTES}")


def downgrade():
    held = {unit: op.get_bind().scalar(sa.text(count)) for unit, count in HELD.items()}
    sentence = ", ".join(f"{number} {unit}" for unit, number in held.items() if number)
    if sentence:
        raise RuntimeError(f"{sentence}: an older program cannot hold them; go back to a backup")
    op.execute("DROP VIEW v_annotator_attributes")
    op.execute("DROP VIEW v_answers")
    op.execute(f"CREATE VIEW v_answers AS {answers_before()}")
    op.drop_column("notes", "guideline")
    op.drop_table("answer_details")
    op.drop_table("annotator_attributes")


HELD = {
    "attributes of annotators": "SELECT count(*) FROM annotator_attributes",
    "confidences": "SELECT count(confidence) FROM answer_details",
    "comments": "SELECT count(comment) FROM answer_details",
    "guidelines": "SELECT count(guideline) FROM notes",
}
"""What an older program does not know."""


# -- views ---------------------------------------------------------------------------------------


def revision_at(name):
    """The module of a revision, whose views these were."""
    path = Path(__file__).with_name(f"{name}.py")
    spec = spec_from_file_location(name, path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def answers_before():
    """The view of answers as the revision before made it."""
    before = revision_at("0004_questions")
    return before.answers(before.revision_before())


MORE = ("AS spent_seconds", "AS spent_seconds, d.confidence, d.comment")
SAME = " AND ".join(f"d.{name} = l.{name}" for name in RECORD)
OF_DETAILS = f" LEFT JOIN answer_details AS d ON {SAME}"

# What was said of an alias holds for the annotator; of several values the last one said.
ATTRIBUTES = """
    SELECT p.name AS project, a.name AS annotator, a.kind AS annotator_kind,
        f.name AS attribute, f.value
    FROM (
        SELECT t.project_id, t.name, t.value, coalesce(s.annotator_id, t.annotator_id) AS owner_id,
            row_number() OVER (
                PARTITION BY t.project_id, coalesce(s.annotator_id, t.annotator_id), t.name
                ORDER BY t.change_id DESC, t.annotator_id DESC
            ) AS nth
        FROM annotator_attributes AS t
        LEFT JOIN aliases AS s ON s.project_id = t.project_id AND s.alias_id = t.annotator_id
            AND s.to_change IS NULL
        WHERE NOT EXISTS (
            SELECT 1 FROM imports AS u WHERE u.project_id = t.project_id
                AND u.change_id = t.change_id AND u.undone_by IS NOT NULL
        )
    ) AS f
    JOIN projects AS p ON p.id = f.project_id
    JOIN annotators AS a ON a.project_id = f.project_id AND a.id = f.owner_id
    WHERE f.nth = 1
"""
