"""On Postgres triggers look up what the labels of a whole statement refer to.

A foreign key looks up each row by itself: with five of them, loading a million labels took forty
seconds, and takes four without. SQLite proves the references of a load at once as it is.
"""

from alembic import op

revision = "0013"
down_revision = "0012"

ITEM = ("project_id, item_id", "items", "project_id, id")
ANNOTATOR = ("project_id, annotator_id", "annotators", "project_id, id")
CATEGORY = (
    "project_id, question_id, category_id",
    "categories",
    "project_id, question_id, id",
)
CHANGE = ("project_id, change_id", "changes", "project_id, id")
GIVEN_AS = ("project_id, given_as", "annotators", "project_id, id")
TAKEN_BACK = ("project_id, taken_back_by", "changes", "project_id, id")
# In the order of the names of the foreign keys, which they replace.
REFERENCES = {
    "labels": (ANNOTATOR, CATEGORY, CHANGE, GIVEN_AS, ITEM),
    "past_labels": (ANNOTATOR, CATEGORY, CHANGE, GIVEN_AS, ITEM, TAKEN_BACK),
}

REQUIRE_REFERRED = """
DECLARE missing boolean;
BEGIN
    FOR n IN 0 .. TG_NARGS - 1 BY 3 LOOP
        EXECUTE format(
            'WITH given AS MATERIALIZED (SELECT DISTINCT %1$s FROM added WHERE (%1$s) IS NOT NULL),
            held AS MATERIALIZED (
                SELECT FROM %2$I.%3$I WHERE (%4$s) IN (SELECT * FROM given) FOR KEY SHARE
            )
            SELECT (SELECT count(*) FROM given) > (SELECT count(*) FROM held)',
            TG_ARGV[n], TG_TABLE_SCHEMA, TG_ARGV[n + 1], TG_ARGV[n + 2]
        ) INTO missing;
        IF missing THEN
            RAISE foreign_key_violation USING MESSAGE =
                format('%s of %s: no such row of %s', TG_ARGV[n], TG_TABLE_NAME, TG_ARGV[n + 1]);
        END IF;
    END LOOP;
    RETURN NULL;
END
"""
KEEP_REFERRED = """
DECLARE referred boolean;
BEGIN
    FOR n IN 0 .. TG_NARGS - 1 BY 3 LOOP
        referred := TG_OP = 'UPDATE';
        IF TG_OP = 'TRUNCATE' THEN
            EXECUTE format('SELECT EXISTS (SELECT FROM %I.%I)', TG_TABLE_SCHEMA, TG_ARGV[n + 1])
            INTO referred;
        ELSIF TG_OP = 'DELETE' THEN
            EXECUTE format(
                'SELECT EXISTS (SELECT FROM %I.%I WHERE (%s) IN (SELECT %s FROM gone))',
                TG_TABLE_SCHEMA, TG_ARGV[n + 1], TG_ARGV[n + 2], TG_ARGV[n]
            ) INTO referred;
        END IF;
        IF referred THEN
            RAISE foreign_key_violation USING MESSAGE =
                format('%s of %s: rows of %s refer to it', TG_ARGV[n], TG_TABLE_NAME,
                TG_ARGV[n + 1]);
        END IF;
    END LOOP;
    RETURN NULL;
END
"""
FUNCTIONS = {"require_referred": REQUIRE_REFERRED, "keep_referred": KEEP_REFERRED}


def upgrade():
    if op.get_bind().dialect.name != "postgresql":
        return
    for name, body in FUNCTIONS.items():
        op.execute(f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $${body}$$")
    for name, table, event, function, arguments in triggers():
        op.execute(
            f"CREATE TRIGGER {name} {event.format(table)} FOR EACH STATEMENT "
            f"EXECUTE FUNCTION {function}({arguments})"
        )
    for table, references in REFERENCES.items():
        for reference in references:
            op.execute(f"ALTER TABLE {table} DROP CONSTRAINT {key_name(table, reference)}")


def downgrade():
    if op.get_bind().dialect.name != "postgresql":
        return
    for table, references in REFERENCES.items():
        for reference in references:
            columns, other, others = reference
            op.execute(
                f"ALTER TABLE {table} ADD CONSTRAINT {key_name(table, reference)} "
                f"FOREIGN KEY ({columns}) REFERENCES {other} ({others})"
            )
    for name, table, *_ in triggers():
        op.execute(f"DROP TRIGGER {name} ON {table}")
    for name in FUNCTIONS:
        op.execute(f"DROP FUNCTION {name}()")


def triggers():
    """Yield the name, table, event, function and arguments of each trigger."""
    for table, references in REFERENCES.items():
        arguments = quoted(references)
        for event, short in (("INSERT", "inserted"), ("UPDATE", "updated")):
            added = f"AFTER {event} ON {{}} REFERENCING NEW TABLE AS added"
            yield f"{table}_refer_{short}", table, added, "require_referred", arguments
    for parent in ("annotators", "categories", "changes", "items"):
        referring = [
            (others, table, columns)
            for table, references in REFERENCES.items()
            for columns, other, others in references
            if other == parent
        ]
        events = {"deleted": "AFTER DELETE ON {} REFERENCING OLD TABLE AS gone"}
        if parent != "changes":  # which are append-only
            events["rekeyed"] = f"BEFORE UPDATE OF {referring[0][0]} ON {{}}"
            events["truncated"] = "BEFORE TRUNCATE ON {}"
        for short, event in events.items():
            yield f"{parent}_referred_{short}", parent, event, "keep_referred", quoted(referring)


def quoted(references):
    return ", ".join(f"'{word}'" for reference in references for word in reference)


def key_name(table, reference):
    columns = reference[0].replace("question_id, ", "").replace(", ", "_")
    return f"fk_{table}_{columns}_{reference[1]}"
