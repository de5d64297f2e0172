"""Who said what: of items, annotators and categories, by which change."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

# Everything here is as it was when this revision was made: a revision reads neither the models
# nor the package, which go on changing.
CLUSTERED = {"sqlite_with_rowid": False}


def upgrade():
    make_facts()
    make_merges()
    tell_facts()


def downgrade():
    for table in (
        "merged_labels",
        "category_merges",
        "category_facts",
        "annotator_facts",
        "item_facts",
    ):
        op.drop_table(table)


def make_facts():
    op.create_table(
        "item_facts",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("change_id", sa.Integer(), nullable=False),
        sa.Column("value", sa.Text(), nullable=True),
        sa.Column("same_as", sa.Integer(), nullable=True),
        sa.CheckConstraint(
            "role IN ('item', 'text', 'length', 'attribute')", name=op.f("ck_item_facts_role")
        ),
        sa.CheckConstraint("same_as < change_id", name=op.f("ck_item_facts_same_as")),
        sa.ForeignKeyConstraint(
            ["project_id", "change_id"],
            ["changes.project_id", "changes.id"],
            name=op.f("fk_item_facts_project_id_change_id_changes"),
        ),
        sa.ForeignKeyConstraint(
            ["project_id", "item_id"],
            ["items.project_id", "items.id"],
            name=op.f("fk_item_facts_project_id_item_id_items"),
        ),
        sa.PrimaryKeyConstraint(
            "project_id", "item_id", "role", "name", "change_id", name=op.f("pk_item_facts")
        ),
        info={"clustered": True},
        **CLUSTERED,
    )
    for what, referred, roles, value in (
        ("annotator", "annotators", "'annotator', 'kind'", sa.Text()),
        ("category", "categories", "'category', 'position'", sa.Integer()),
    ):
        table = f"{what}_facts"
        op.create_table(
            table,
            sa.Column("project_id", sa.Integer(), nullable=False),
            sa.Column(f"{what}_id", sa.Integer(), nullable=False),
            sa.Column("role", sa.Text(), nullable=False),
            sa.Column("change_id", sa.Integer(), nullable=False),
            sa.Column("value", value, nullable=False),
            sa.CheckConstraint(f"role IN ({roles})", name=op.f(f"ck_{table}_role")),
            sa.ForeignKeyConstraint(
                ["project_id", f"{what}_id"],
                [f"{referred}.project_id", f"{referred}.id"],
                name=op.f(f"fk_{table}_project_id_{what}_id_{referred}"),
            ),
            sa.ForeignKeyConstraint(
                ["project_id", "change_id"],
                ["changes.project_id", "changes.id"],
                name=op.f(f"fk_{table}_project_id_change_id_changes"),
            ),
            sa.PrimaryKeyConstraint(
                "project_id", f"{what}_id", "role", "change_id", name=op.f(f"pk_{table}")
            ),
            info={"clustered": True},
            **CLUSTERED,
        )


def make_merges():
    op.create_table(
        "category_merges",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("from_change", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("category_id", sa.Integer(), nullable=False),
        sa.Column("into_id", sa.Integer(), nullable=False),
        sa.Column("to_change", sa.Integer(), nullable=True),
        sa.CheckConstraint("category_id <> into_id", name=op.f("ck_category_merges_another")),
        sa.CheckConstraint("to_change > from_change", name=op.f("ck_category_merges_order")),
        *(
            sa.ForeignKeyConstraint(
                ["project_id", column],
                [f"{referred}.project_id", f"{referred}.id"],
                name=op.f(f"fk_category_merges_project_id_{column}_{referred}"),
            )
            for column, referred in (
                ("category_id", "categories"),
                ("into_id", "categories"),
                ("from_change", "changes"),
                ("to_change", "changes"),
            )
        ),
        sa.PrimaryKeyConstraint("project_id", "from_change", name=op.f("pk_category_merges")),
    )
    op.create_table(
        "merged_labels",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("merge_id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("given_as", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("pass", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("change_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("source", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("labelled_at", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("span_start", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("span_end", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("beside", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id", "merge_id"],
            ["category_merges.project_id", "category_merges.from_change"],
            name=op.f("fk_merged_labels_project_id_merge_id_category_merges"),
        ),
        sa.PrimaryKeyConstraint(
            "project_id",
            "merge_id",
            "item_id",
            "given_as",
            "pass",
            "change_id",
            "source",
            "labelled_at",
            "span_start",
            "span_end",
            name=op.f("pk_merged_labels"),
        ),
        info={"clustered": True},
        **CLUSTERED,
    )


# -- what is known of the facts there are --------------------------------------------------

# Which change a fact came from was not kept: every import that has an answer about the thing is
# taken to have said what is known of it; the project's first change, if there is none.
BY_LABELS = """
    SELECT project_id, {column} AS id, change_id FROM labels {where}
    UNION SELECT project_id, {column}, change_id FROM past_labels {where}
"""
FIRST = "SELECT project_id, min(id) AS change_id FROM changes GROUP BY project_id"
UNDONE = "SELECT change_id FROM imports WHERE imports.project_id = f.project_id AND undone_by > 0"

TOLD = f"""
    CREATE TEMPORARY TABLE told AS
    SELECT project_id, id, change_id, min(change_id) OVER (PARTITION BY project_id, id) AS first
    FROM (
        {{said}}
        UNION ALL SELECT t.project_id, t.id, f.change_id
        FROM {{table}} AS t JOIN ({FIRST}) AS f ON f.project_id = t.project_id
        WHERE {{alone}}
    ) AS said
"""


def tell_facts():
    tell_of_items()
    tell_of_categories()
    tell_of_annotators()


def collect(table, column, where="", alone="true"):
    """Which change may have told of each row of a table, as the temporary table ``told``."""
    said = BY_LABELS.format(column=column, where=where)
    apart = f"""
        NOT EXISTS (SELECT 1 FROM labels AS l WHERE l.project_id = t.project_id AND {{0}} = t.id)
        AND NOT EXISTS
        (SELECT 1 FROM past_labels AS l WHERE l.project_id = t.project_id AND {{0}} = t.id)
        AND {alone}
    """.format(f"l.{column}")
    if column != "item_id":  # no key leads from these to their labels
        apart = f"""
            {alone} AND NOT EXISTS (
                SELECT 1 FROM ({said}) AS s WHERE s.project_id = t.project_id AND s.id = t.id
            )
        """
    op.execute(TOLD.format(said=said, table=table, alone=apart))


def tell_of_items():
    known = op.get_bind().scalar(
        sa.text(
            "SELECT 1 WHERE EXISTS (SELECT 1 FROM item_attributes) OR EXISTS "
            "(SELECT 1 FROM items WHERE text IS NOT NULL OR length IS NOT NULL)"
        )
    )
    if not known:
        return
    collect("items", "item_id")
    for role, name, value, table, where in (
        ("attribute", "a.name", "a.value", "item_attributes", "a.item_id = told.id"),
        ("text", "''", "a.text", "items", "a.id = told.id AND a.text IS NOT NULL"),
        (
            "length",
            "''",
            "CAST(a.length AS TEXT)",
            "items",
            "a.id = told.id AND a.length IS NOT NULL",
        ),
    ):
        op.execute(
            f"""
            INSERT INTO item_facts
                (project_id, item_id, role, name, change_id, value, same_as)
            SELECT told.project_id, told.id, '{role}', {name}, told.change_id,
                CASE WHEN told.change_id = told.first THEN {value} END,
                CASE WHEN told.change_id > told.first THEN told.first END
            FROM told JOIN {table} AS a ON a.project_id = told.project_id AND {where}
            """
        )
    op.execute("DROP TABLE told")
    survives = f"""
        EXISTS (SELECT 1 FROM item_facts AS f WHERE f.project_id = {{0}}.project_id
            AND f.item_id = {{0}}.{{1}} AND f.role = '{{2}}' AND f.change_id NOT IN ({UNDONE}))
    """
    gone = "NOT " + survives.format("item_attributes", "item_id", "attribute")
    op.execute(f"DELETE FROM item_attributes WHERE {gone}")
    for column in ("text", "length"):
        gone = "NOT " + survives.format("items", "id", column)
        op.execute(f"UPDATE items SET {column} = NULL WHERE {column} IS NOT NULL AND {gone}")


def tell_of_categories():
    open_list = "EXISTS (SELECT 1 FROM projects AS p WHERE p.id = t.project_id AND NOT p.closed)"
    collect("categories", "category_id", "WHERE category_id > 0", f"t.id > 0 AND {open_list}")
    op.execute(
        """
        INSERT INTO category_facts (project_id, category_id, role, change_id, value)
        SELECT project_id, id, 'category', change_id, 0 FROM told
        """
    )
    op.execute("DROP TABLE told")
    op.execute(
        f"""
        INSERT INTO category_facts (project_id, category_id, role, change_id, value)
        SELECT c.project_id, c.id, 'position', f.change_id, c.id
        FROM categories AS c
        JOIN projects AS p ON p.id = c.project_id
        JOIN ({FIRST}) AS f ON f.project_id = c.project_id
        WHERE c.id > 0 AND p.closed
        """
    )


def tell_of_annotators():
    collect("annotators", "given_as")
    op.execute(
        """
        INSERT INTO annotator_facts (project_id, annotator_id, role, change_id, value)
        SELECT project_id, id, 'annotator', change_id, '' FROM told
        """
    )
    bind = op.get_bind()
    changes = bind.execute(
        sa.text(
            "SELECT project_id, id, detail FROM changes WHERE kind = 'annotator kind' ORDER BY id"
        )
    ).all()
    facts = []
    originally = {}
    since = {}
    for row in changes:
        detail = json.loads(row.detail)
        if "annotator" not in detail or "to" not in detail:
            continue
        who = (row.project_id, detail["annotator"])
        originally.setdefault(who, detail.get("from", "human"))
        since.setdefault(who, row.id)
        facts.append((*who, row.id, detail["to"]))
    kinds = bind.execute(sa.text("SELECT project_id, id, kind FROM annotators")).all()
    for row in kinds:
        originally.setdefault((row.project_id, row.id), row.kind)
    told = bind.execute(
        sa.text(
            "SELECT t.project_id, t.id, t.change_id FROM told AS t JOIN annotators AS a "
            "ON a.project_id = t.project_id AND a.id = t.id"
        )
    ).all()
    facts += [
        (row.project_id, row.id, row.change_id, originally[row.project_id, row.id])
        for row in told
        if originally[row.project_id, row.id] != "human"
        and row.change_id < since.get((row.project_id, row.id), row.change_id + 1)
    ]
    if facts:
        op.bulk_insert(
            sa.table(
                "annotator_facts",
                *(
                    sa.column(name)
                    for name in ("project_id", "annotator_id", "change_id", "value", "role")
                ),
            ),
            [
                dict(
                    zip(("project_id", "annotator_id", "change_id", "value"), fact, strict=True),
                    role="kind",
                )
                for fact in facts
            ],
        )
    op.execute("DROP TABLE told")
