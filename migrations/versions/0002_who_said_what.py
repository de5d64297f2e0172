"""Who said what, of items, annotators and categories, by which change; and seals of it all.

Names that may be erased, numbers that are given once.
"""

import json

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

# Everything here is as it was when this revision was made: a revision reads neither the models
# nor the package, which go on changing.
CLUSTERED = {"sqlite_with_rowid": False}


def on_sqlite():
    return op.get_bind().dialect.name == "sqlite"


def upgrade():
    make_facts()
    make_merges()
    tell_facts()
    make_seals()
    let_names_be_erased()
    number_imports_once()
    keep_texts_of_notes_once()


def downgrade():
    refuse_erasure()
    for table in (
        "seals",
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
    for subject, referred, roles, value in (
        ("annotator", "annotators", "'annotator', 'kind'", sa.Text()),
        ("category", "categories", "'category', 'position'", sa.Integer()),
    ):
        table = f"{subject}_facts"
        op.create_table(
            table,
            sa.Column("project_id", sa.Integer(), nullable=False),
            sa.Column(f"{subject}_id", sa.Integer(), nullable=False),
            sa.Column("role", sa.Text(), nullable=False),
            sa.Column("change_id", sa.Integer(), nullable=False),
            sa.Column("value", value, nullable=False),
            sa.CheckConstraint(f"role IN ({roles})", name=op.f(f"ck_{table}_role")),
            sa.ForeignKeyConstraint(
                ["project_id", f"{subject}_id"],
                [f"{referred}.project_id", f"{referred}.id"],
                name=op.f(f"fk_{table}_project_id_{subject}_id_{referred}"),
            ),
            sa.ForeignKeyConstraint(
                ["project_id", "change_id"],
                ["changes.project_id", "changes.id"],
                name=op.f(f"fk_{table}_project_id_change_id_changes"),
            ),
            sa.PrimaryKeyConstraint(
                "project_id", f"{subject}_id", "role", "change_id", name=op.f(f"pk_{table}")
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
    by_labels = BY_LABELS.format(column=column, where=where)
    apart = f"""
        NOT EXISTS (SELECT 1 FROM labels AS l WHERE l.project_id = t.project_id AND {{0}} = t.id)
        AND NOT EXISTS
        (SELECT 1 FROM past_labels AS l WHERE l.project_id = t.project_id AND {{0}} = t.id)
        AND {alone}
    """.format(f"l.{column}")
    if column != "item_id":  # no key leads from these to their labels
        apart = f"""
            {alone} AND NOT EXISTS (
                SELECT 1 FROM ({by_labels}) AS s WHERE s.project_id = t.project_id AND s.id = t.id
            )
        """
    op.execute(TOLD.format(said=by_labels, table=table, alone=apart))


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
    rows = bind.execute(
        sa.text(
            "SELECT t.project_id, t.id, t.change_id FROM told AS t JOIN annotators AS a "
            "ON a.project_id = t.project_id AND a.id = t.id"
        )
    ).all()
    facts += [
        (row.project_id, row.id, row.change_id, originally[row.project_id, row.id])
        for row in rows
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


# -- seals ---------------------------------------------------------------------------------

PURGED = "EXISTS (SELECT 1 FROM purges WHERE project_id = OLD.project_id)"


def make_seals():
    op.create_table(
        "seals",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("through_change", sa.Integer(), nullable=False),
        sa.Column("sealed_at", sa.BigInteger(), nullable=False),
        sa.Column("found", sa.Text(), nullable=False),
        sa.Column("added", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id", "through_change"],
            ["changes.project_id", "changes.id"],
            name=op.f("fk_seals_project_id_through_change_changes"),
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_seals_project_id_projects")
        ),
        sa.PrimaryKeyConstraint("project_id", "id", name=op.f("pk_seals")),
        info={"append_only": True},
    )
    events = {
        "no_change": "BEFORE UPDATE OR DELETE ON seals FOR EACH ROW",
        "no_truncate": "BEFORE TRUNCATE ON seals FOR EACH STATEMENT",
    }
    does = "EXECUTE FUNCTION refuse_on_append_only()"
    if on_sqlite():
        events = {
            "no_update": "BEFORE UPDATE ON seals",
            "no_delete": f"BEFORE DELETE ON seals WHEN NOT {PURGED}",
            "no_replace": "BEFORE INSERT ON seals WHEN EXISTS "
            "(SELECT 1 FROM seals WHERE project_id = NEW.project_id AND id = NEW.id)",
        }
        does = "BEGIN SELECT RAISE(ABORT, 'seals are append-only'); END"
    for short, event in events.items():
        op.execute(f"CREATE TRIGGER seals_{short} {event} {does}")


# -- names that are erased -------------------------------------------------------------------

KEPT = (
    "project_id",
    "flag_id",
    "number",
    "state",
    "action",
    "made_at",
    "made_by",
    "note",
    "informative",
)
ERASABLE = ("made_by", "note")


def sqlite_refusal(erasable):
    kept = " AND ".join(
        f"(NEW.{column} IS OLD.{column} OR NEW.{column} IS '(erased)')"
        if column in ERASABLE
        else f"NEW.{column} IS OLD.{column}"
        for column in KEPT
    )
    erased = "(NEW.made_by IS NOT OLD.made_by OR NEW.note IS NOT OLD.note)"
    unless = f" WHEN NOT ({kept} AND {erased})" if erasable else ""
    return (
        f"CREATE TRIGGER flag_changes_no_update BEFORE UPDATE ON flag_changes{unless} "
        "BEGIN SELECT RAISE(ABORT, 'flag_changes are append-only'); END"
    )


def let_names_be_erased():
    if on_sqlite():
        op.execute("DROP TRIGGER flag_changes_no_update")
        op.execute(sqlite_refusal(erasable=True))
        return
    less = " - 'made_by' - 'note'"
    erased = "to_jsonb(NEW) <> to_jsonb(OLD)" + "".join(
        f" AND (NEW.{column} IS NOT DISTINCT FROM OLD.{column} OR NEW.{column} = '(erased)')"
        for column in ERASABLE
    )
    op.execute(
        f"""
        CREATE FUNCTION refuse_unless_erased() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF TG_OP = 'DELETE' THEN
                IF {PURGED} THEN
                    RETURN OLD;
                END IF;
            END IF;
            IF TG_OP = 'UPDATE' THEN
                IF to_jsonb(NEW){less} = to_jsonb(OLD){less} AND {erased} THEN
                    RETURN NEW;
                END IF;
            END IF;
            RAISE EXCEPTION '% are append-only', TG_TABLE_NAME;
        END $$
        """
    )
    postgres_refusals("refuse_unless_erased")


def postgres_refusals(function):
    for short, event in {
        "no_change": "BEFORE UPDATE OR DELETE ON flag_changes FOR EACH ROW",
        "no_truncate": "BEFORE TRUNCATE ON flag_changes FOR EACH STATEMENT",
    }.items():
        op.execute(f"DROP TRIGGER flag_changes_{short} ON flag_changes")
        op.execute(f"CREATE TRIGGER flag_changes_{short} {event} EXECUTE FUNCTION {function}()")


def refuse_erasure():
    if on_sqlite():
        op.execute("DROP TRIGGER flag_changes_no_update")
        op.execute(sqlite_refusal(erasable=False))
        return
    postgres_refusals("refuse_on_append_only")
    op.execute("DROP FUNCTION refuse_unless_erased")


# -- numbers that are given once -------------------------------------------------------------


def number_imports_once():
    """Let SQLite never give an import's number again; Postgres never does."""
    if not on_sqlite():
        return
    statement = op.get_bind().scalar(
        sa.text("SELECT sql FROM sqlite_master WHERE name = 'imports'")
    )
    if "AUTOINCREMENT" in statement:  # a downgrade leaves it
        return
    counts = ("rows", "inserted", "changed", "unchanged", "older", "rejected")
    op.create_table(
        "imports_anew",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("change_id", sa.Integer(), nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in counts),
        sa.Column("undone_by", sa.Integer(), nullable=True),
        sa.CheckConstraint(
            "rows = inserted + changed + unchanged + older + rejected",
            name=op.f("ck_imports_every_row_has_a_fate"),
        ),
        *(
            sa.ForeignKeyConstraint(
                ["project_id", column],
                ["changes.project_id", "changes.id"],
                name=op.f(f"fk_imports_project_id_{column}_changes"),
            )
            for column in ("change_id", "undone_by")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_imports")),
        sa.UniqueConstraint(
            "project_id", "change_id", name=op.f("uq_imports_project_id_change_id")
        ),
        sqlite_autoincrement=True,
    )
    op.execute("INSERT INTO imports_anew SELECT * FROM imports")
    op.drop_table("imports")
    op.rename_table("imports_anew", "imports")


# -- texts of notes --------------------------------------------------------------------------


def keep_texts_of_notes_once():
    """Take the texts of notes out of the change log, where no erasure could reach them."""
    drop = "DROP TRIGGER changes_no_update"
    if not on_sqlite():
        drop = "ALTER TABLE changes DISABLE TRIGGER changes_no_change"
    op.execute(drop)
    op.execute(
        """
        UPDATE changes SET detail = (
            SELECT '{"note": ' || notes.id || '}' FROM notes
            WHERE notes.project_id = changes.project_id AND notes.change_id = changes.id
        ) WHERE kind = 'note' AND EXISTS (
            SELECT 1 FROM notes
            WHERE notes.project_id = changes.project_id AND notes.change_id = changes.id
        )
        """
    )
    op.execute(
        "CREATE TRIGGER changes_no_update BEFORE UPDATE ON changes "
        "BEGIN SELECT RAISE(ABORT, 'changes are append-only'); END"
        if on_sqlite()
        else "ALTER TABLE changes ENABLE TRIGGER changes_no_change"
    )
