"""The ledger: its tables, triggers and views."""

import secrets
from typing import NamedTuple

import sqlalchemy as sa
from alembic import op

revision = "r1"
down_revision = None

# Everything here is as it was when this revision was made: a revision reads neither the models
# nor the package, which go on changing.


def on_sqlite():
    return op.get_bind().dialect.name == "sqlite"


def upgrade():
    for name, table in TABLES.items():
        make_table(name, table)
    keys = sa.table("pseudonym_keys", sa.column("id"), sa.column("key"))
    op.bulk_insert(keys, [{"id": 1, "key": secrets.token_hex(32)}])
    for statement in sqlite_triggers() if on_sqlite() else postgres_triggers():
        op.execute(statement)
    for name, select in VIEWS.items():
        op.execute(f"CREATE VIEW {name} AS {select()}")
    if not on_sqlite():
        # ANALYZE of 20 million labels finds a seventh of the items, whose labels lie side by side.
        op.execute("ALTER TABLE labels ALTER COLUMN item_id SET (n_distinct = -0.2)")


def downgrade():
    for name in reversed(VIEWS):
        op.execute(f"DROP VIEW {name}")
    for name in reversed(TABLES):
        op.drop_table(name)
    if not on_sqlite():
        for name in FUNCTIONS:
            op.execute(f"DROP FUNCTION {name}()")


# -- tables ------------------------------------------------------------------------------------

TYPES = {
    "int": sa.Integer,
    "serial": sa.Integer,
    "small": sa.SmallInteger,
    "big": sa.BigInteger,
    "double": sa.Double,
    "bool": sa.Boolean,
    "text": sa.Text,
    "bytes": sa.LargeBinary,
}


class T(NamedTuple):
    """A table.

    A column is written as "name type", with a "?" if it may be NULL; a ``serial`` is numbered by
    the database, which gives no number twice. A reference is written as "columns > table". The
    rows of a ``clustered`` table lie in the order of its key.
    """

    columns: str
    key: str
    unique: list[str] = ()
    references: list[str] = ()
    checks: dict[str, str] = {}  # noqa: RUF012
    clustered: bool = False


REFERRED = {
    "projects": "id",
    "imports": "id",
    "users": "id",
    "webhooks": "id",
    "lakes": "project_id",
    "categories": "project_id question_id id",
    "snapshots": "project_id question_id id",
    "patterns": "project_id question_id id",
    "category_merges": "project_id from_change",
    "batches": "project_id change_id",
    "assignments": "project_id annotator_id change_id place",
}
"""The columns that are referred to, if they are not project_id and id."""


def make_table(name, table):
    columns = []
    for column in table.columns.split(", "):
        column_name, kind = column.split()
        columns.append(
            sa.Column(
                column_name,
                TYPES[kind.rstrip("?")](),
                nullable=kind.endswith("?"),
                autoincrement=kind == "serial",
            )
        )
    constraints = [sa.PrimaryKeyConstraint(*table.key.split(), name=op.f(f"pk_{name}"))]
    for unique in table.unique:
        named = op.f(f"uq_{name}_{columns_in_name(unique)}")
        constraints.append(sa.UniqueConstraint(*unique.split(), name=named))
    # On Postgres triggers hold the references of bulk tables.
    for reference in table.references if on_sqlite() or name not in BULK else ():
        own, other = reference.split(" > ")
        others = [f"{other}.{column}" for column in REFERRED.get(other, "project_id id").split()]
        named = op.f(f"fk_{name}_{columns_in_name(own)}_{other}")
        constraints.append(sa.ForeignKeyConstraint(own.split(), others, name=named))
    for short, check in table.checks.items():
        constraints.append(sa.CheckConstraint(check, name=op.f(f"ck_{name}_{short}")))
    op.create_table(
        name,
        *columns,
        *constraints,
        sqlite_with_rowid=not table.clustered,
        sqlite_autoincrement=" serial" in table.columns,
    )


def columns_in_name(columns):
    """The columns as a constraint's name has them: the question only if it is one of two."""
    names = columns.split()
    return "_".join(name for name in names if name != "question_id" or len(names) == 2)


PROJECT = "project_id > projects"
QUESTION = "project_id question_id > questions"
CATEGORY = "project_id question_id category_id > categories"
ITEM = "project_id item_id > items"
ANNOTATOR = "project_id annotator_id > annotators"
GIVEN_AS = "project_id given_as > annotators"
CHANGE = "project_id change_id > changes"
FROM_CHANGE = "project_id from_change > changes"
TO_CHANGE = "project_id to_change > changes"
FLAG = "project_id flag_id > flags"
SNAPSHOT = "project_id question_id snapshot_id > snapshots"

ROLE = "role IN ('annotator', 'viewer', 'manager', 'admin')"
OF_LABELS = {
    "pass": "pass >= 1",
    "span": "(span_start = -1 AND span_end = -1) OR (0 <= span_start AND span_start < span_end)",
    "reserved_has_no_span": "category_id > 0 OR span_start = -1",
    "spent": "spent_ms >= 0",
}

TABLES = {
    "pseudonym_keys": T("id int, key text", "id", checks={"one": "id = 1"}),
    "projects": T(
        "id serial, name text, created_at big, archived_at big?, timezone text?, "
        "tentative_from double?, good_from double?, item_link text?, media_hosts text?",
        "id",
        unique=["name"],
        checks={"name": "name <> ''"},
    ),
    "saved_views": T(
        "project_id int, name text, query text",
        "project_id name",
        references=[PROJECT],
        checks={"name": "name <> ''"},
    ),
    "questions": T(
        "project_id int, id small, name text, answers text, scale text, offsets text, "
        "categories_fixed bool, target_answers int?, goal text?, deadline text?, "
        "instructions text?, also_asks text?, preference bool?",
        "project_id id",
        unique=["project_id name"],
        references=[PROJECT],
        checks={
            "answers": "answers IN ('one', 'several', 'spans')",
            "scale": "scale IN ('nominal', 'ordinal', 'interval', 'ratio')",
            "offsets": "offsets IN ('characters', 'tokens')",
            "target_answers": "target_answers > 0",
            "name": "name <> ''",
            "id": "id > 0",
        },
    ),
    "purges": T("project_id int, purged_at big", "project_id"),
    "changes": T(
        "project_id int, id int, kind text, recorded_at big, detail text",
        "project_id id",
        references=[PROJECT],
    ),
    "touched": T(
        "project_id int, question_id small, change_id int, first_item int, last_item int",
        "project_id question_id change_id first_item",
        references=[QUESTION, CHANGE],
        checks={"order": "first_item <= last_item"},
        clustered=True,
    ),
    "imports": T(
        "id serial, project_id int, change_id int, rows int, inserted int, changed int, "
        "unchanged int, older int, rejected int, undone_by int?, reading text?",
        "id",
        unique=["project_id change_id"],
        references=[CHANGE, "project_id undone_by > changes"],
        checks={"every_row_has_a_fate": "rows = inserted + changed + unchanged + older + rejected"},
    ),
    "sources": T(
        "import_id int, number small, name text, digest text",
        "import_id number",
        references=["import_id > imports"],
    ),
    "items": T(
        "project_id int, id int, name text, text text?, length int?",
        "project_id id",
        unique=["project_id name"],
        references=[PROJECT],
        checks={"length": "length >= 0"},
        clustered=True,
    ),
    "item_attributes": T(
        "project_id int, item_id int, name text, value text",
        "project_id item_id name",
        references=[ITEM],
        clustered=True,
    ),
    "item_aliases": T(
        "project_id int, name text, from_change int, item_id int, to_change int?",
        "project_id name from_change",
        references=[ITEM, FROM_CHANGE, TO_CHANGE],
        checks={"order": "to_change > from_change"},
        clustered=True,
    ),
    "annotators": T(
        "project_id int, id int, name text, kind text",
        "project_id id",
        unique=["project_id name"],
        references=[PROJECT],
        checks={"kind": "kind IN ('human', 'model', 'reference')"},
    ),
    "aliases": T(
        "project_id int, alias_id int, from_change int, annotator_id int, to_change int?",
        "project_id alias_id from_change",
        references=["project_id alias_id > annotators", ANNOTATOR, FROM_CHANGE, TO_CHANGE],
        checks={"another": "alias_id <> annotator_id", "order": "to_change > from_change"},
    ),
    "categories": T(
        "project_id int, question_id small, id int, name text?",
        "project_id question_id id",
        unique=["project_id question_id name"],
        references=[QUESTION],
        checks={"reserved": "(id > 0) = (name IS NOT NULL)"},
    ),
    "labels": T(
        "project_id int, question_id small, item_id int, annotator_id int, pass small, "
        "category_id int, span_start int, span_end int, labeled_at big, has_own_time bool, "
        "first_change_id int?, change_id int, source small, given_as int, spent_ms int?",
        "project_id question_id item_id annotator_id pass category_id span_start span_end",
        references=[ITEM, ANNOTATOR, GIVEN_AS, CATEGORY, CHANGE],
        checks=OF_LABELS,
        clustered=True,
    ),
    "past_labels": T(
        "project_id int, question_id small, item_id int, annotator_id int, pass small, "
        "labeled_at big, change_id int, source small, given_as int, category_id int, "
        "span_start int, span_end int, has_own_time bool, first_change_id int?, "
        "spent_ms int?, taken_back_by int?",
        "project_id question_id item_id annotator_id pass labeled_at change_id source "
        "given_as category_id span_start span_end",
        references=[
            ITEM,
            ANNOTATOR,
            GIVEN_AS,
            CATEGORY,
            CHANGE,
            "project_id taken_back_by > changes",
        ],
        checks=OF_LABELS,
        clustered=True,
    ),
    "answer_details": T(
        "project_id int, question_id small, item_id int, given_as int, pass small, "
        "labeled_at big, change_id int, source small, confidence double?, comment text?",
        "project_id question_id item_id given_as pass labeled_at change_id source",
        references=[QUESTION, ITEM, GIVEN_AS, CHANGE],
        checks={
            "confidence": "confidence BETWEEN 0 AND 1",
            "any": "confidence IS NOT NULL OR comment IS NOT NULL",
        },
        clustered=True,
    ),
    "item_facts": T(
        "project_id int, item_id int, role text, name text, change_id int, value text?, "
        "same_as int?",
        "project_id item_id role name change_id",
        references=[ITEM, CHANGE],
        checks={
            "role": "role IN ('item', 'text', 'length', 'attribute')",
            "same_as": "same_as < change_id",
        },
        clustered=True,
    ),
    "annotator_facts": T(
        "project_id int, annotator_id int, role text, change_id int, value text",
        "project_id annotator_id role change_id",
        references=[ANNOTATOR, CHANGE],
        checks={"role": "role IN ('annotator', 'kind', 'presence')"},
        clustered=True,
    ),
    "annotator_attributes": T(
        "project_id int, annotator_id int, name text, change_id int, value text",
        "project_id annotator_id name change_id",
        references=[ANNOTATOR, CHANGE],
        clustered=True,
    ),
    "category_facts": T(
        "project_id int, question_id small, category_id int, role text, change_id int, value int",
        "project_id question_id category_id role change_id",
        references=[CATEGORY, CHANGE],
        checks={"role": "role IN ('category', 'position')"},
        clustered=True,
    ),
    "category_merges": T(
        "project_id int, from_change int, question_id small, category_id int, into_id int, "
        "to_change int?",
        "project_id from_change",
        references=[
            CATEGORY,
            "project_id question_id into_id > categories",
            FROM_CHANGE,
            TO_CHANGE,
        ],
        checks={"another": "category_id <> into_id", "order": "to_change > from_change"},
    ),
    "merged_labels": T(
        "project_id int, merge_id int, item_id int, given_as int, pass small, change_id int, "
        "source small, labeled_at big, span_start int, span_end int, beside bool",
        "project_id merge_id item_id given_as pass change_id source labeled_at span_start span_end",
        references=["project_id merge_id > category_merges"],
        clustered=True,
    ),
    "syncs": T(
        "project_id int, change_id int, tool text, source text, since big?, until big, asked text",
        "project_id change_id",
        references=[CHANGE],
        checks={"order": "since <= until"},
    ),
    "withdrawals": T(
        "project_id int, question_id small, item_id int, given_as int, pass small, "
        "labeled_at big, change_id int, source small, from_change int, to_change int",
        "project_id question_id item_id given_as pass labeled_at change_id source from_change",
        references=[QUESTION, ITEM, GIVEN_AS, CHANGE, FROM_CHANGE, TO_CHANGE],
        checks={"order": "to_change > from_change"},
        clustered=True,
    ),
    "flags": T(
        "project_id int, id int, question_id small, annotator_id int?, other_id int?, "
        "kind text, category_id int, found_at big, subject text?",
        "project_id id",
        unique=["project_id question_id annotator_id other_id kind category_id"],
        references=[ANNOTATOR, "project_id other_id > annotators", CATEGORY, PROJECT],
        checks={
            "a_pair_stands_once": "annotator_id <= other_id",
            "one_or_two_or_nobody": "(annotator_id IS NULL) = (other_id IS NULL)",
        },
    ),
    "flag_sightings": T(
        "project_id int, flag_id int, number int, seen_at big, severity text, "
        "informative int, evidence text",
        "project_id flag_id number",
        references=[FLAG],
        checks={"number": "number > 0", "informative": "informative >= 0"},
    ),
    "flag_changes": T(
        "project_id int, flag_id int, number int, state text, action text, made_at big, "
        "made_by text?, note text?, informative int",
        "project_id flag_id number",
        references=[FLAG],
        checks={
            "number": "number > 0",
            "informative": "informative >= 0",
            "state": "state IN ('open', 'acknowledged', 'dismissed', 'resolved')",
            "action": "action IN ('found', 'reopened', 'no longer found', 'acknowledged', "
            "'dismissed', 'resolved', 'appealed', 'upheld', 'rejected')",
            "found_first": "(number = 1) = (action = 'found')",
            "people_have_names": "made_by IS NOT NULL "
            "OR action IN ('found', 'reopened', 'no longer found')",
            "appeals_say_why": "action <> 'appealed' OR note IS NOT NULL",
        },
    ),
    "snapshots": T(
        "project_id int, question_id small, id int, name text?, note text?, taken_at big, "
        "as_of big?, last_change_id int, version text, scale text, settings text, "
        "selection text?, base_snapshot_id int?, items int, items_compared int, "
        "annotators int, answers int, labels int, digest text, seal text",
        "project_id question_id id",
        unique=["project_id question_id name"],
        references=[
            QUESTION,
            "project_id last_change_id > changes",
            "project_id question_id base_snapshot_id > snapshots",
        ],
    ),
    "snapshot_measures": T(
        "project_id int, question_id small, snapshot_id int, measure text, position small, "
        "value double?, undefined text?, observed double?, expected double?, "
        "standard_error double?, ci_low double?, ci_high double?, confidence double, "
        "items int, method text?, details text",
        "project_id question_id snapshot_id measure",
        references=[SNAPSHOT],
        checks={"a_value_or_a_reason": "(value IS NULL) = (undefined IS NOT NULL)"},
    ),
    "snapshot_categories": T(
        "project_id int, question_id small, snapshot_id int, category_id int, position small, "
        "labels int, agreements big, potential_agreements big, rate double?, undefined text?, "
        "standard_error double?, ci_low double?, ci_high double?, specific_agreement double?",
        "project_id question_id snapshot_id category_id",
        references=[SNAPSHOT, CATEGORY],
        checks={
            "a_rate_or_a_reason": "(rate IS NULL) = (undefined IS NOT NULL)",
            "agreements": "0 <= agreements AND agreements <= potential_agreements",
        },
    ),
    "patterns": T(
        "project_id int, question_id small, id int, pattern text",
        "project_id question_id id",
        unique=["project_id question_id pattern"],
        references=[QUESTION],
    ),
    "snapshot_patterns": T(
        "project_id int, question_id small, snapshot_id int, pattern_id int, items int",
        "project_id question_id snapshot_id pattern_id",
        references=[SNAPSHOT, "project_id question_id pattern_id > patterns"],
        checks={"items": "items > 0"},
        clustered=True,
    ),
    "snapshot_annotators": T(
        "project_id int, question_id small, snapshot_id int, annotator_id int, answers int, "
        "tallies text?",
        "project_id question_id snapshot_id annotator_id",
        references=[SNAPSHOT, ANNOTATOR],
        checks={"answers": "answers >= 0"},
        clustered=True,
    ),
    "snapshot_pairs": T(
        "project_id int, question_id small, snapshot_id int, first_id int, second_id int, "
        "cells text",
        "project_id question_id snapshot_id first_id second_id",
        references=[
            SNAPSHOT,
            "project_id first_id > annotators",
            "project_id second_id > annotators",
        ],
        checks={"order": "first_id < second_id"},
        clustered=True,
    ),
    "snapshot_flags": T(
        "project_id int, question_id small, snapshot_id int, flag_id int, state text",
        "project_id question_id snapshot_id flag_id",
        references=[SNAPSHOT, FLAG],
        checks={"state": "state IN ('open', 'acknowledged')"},
    ),
    "tombstones": T(
        "project_id int, question_id small, snapshot_id int, thinned_at big, parts text",
        "project_id question_id snapshot_id",
        references=[SNAPSHOT],
    ),
    "seals": T(
        "project_id int, id int, last_change_id int, sealed_at big, found text, added text, "
        "state text, digest text",
        "project_id id",
        references=["project_id last_change_id > changes", PROJECT],
    ),
    "notes": T(
        "project_id int, id int, at big, text text, change_id int, removed_by int?, "
        "guideline text?",
        "project_id id",
        references=[CHANGE, "project_id removed_by > changes"],
        checks={"text": "text <> ''"},
    ),
    "batches": T(
        "project_id int, change_id int, question_id small?, until big?, round text?",
        "project_id change_id",
        unique=["project_id round"],
        references=[CHANGE, QUESTION],
        checks={"round": "round <> ''"},
    ),
    "assignments": T(
        "project_id int, annotator_id int, change_id int, place int, item_id int, why text, "
        "withdrawn_by int?",
        "project_id annotator_id change_id place",
        references=[
            "project_id change_id > batches",
            ANNOTATOR,
            ITEM,
            "project_id withdrawn_by > changes",
        ],
        checks={"why": "why IN ('fresh', 'gold', 'repeat')", "place": "place > 0"},
        clustered=True,
    ),
    "drafts": T(
        "project_id int, annotator_id int, change_id int, place int, question_id small, "
        "given text, given_at big, spent_ms int?",
        "project_id annotator_id change_id place question_id",
        references=["project_id annotator_id change_id place > assignments", QUESTION],
    ),
    "decisions": T(
        "project_id int, question_id small, item_id int, change_id int, reason text, "
        "note text?, made_by text?, settled_by int?",
        "project_id question_id item_id change_id",
        references=[QUESTION, ITEM, CHANGE],
        checks={
            "reason": "reason IN ('ambiguous', 'guideline gap', 'annotator error', 'not "
            "in the scheme')"
        },
    ),
    "lakes": T(
        "project_id int, address text, roles text, engine text", "project_id", references=[PROJECT]
    ),
    "lake_files": T(
        "project_id int, number int, path text, size big, modified_at big, identity text?, "
        "digest text, labels big, part int, from_change int, source small, to_change int?",
        "project_id number",
        references=[FROM_CHANGE, TO_CHANGE, PROJECT],
        checks={"order": "to_change > from_change"},
    ),
    "lake_names": T(
        "project_id int, role text, text text, number int",
        "project_id role text",
        references=["project_id > lakes"],
        checks={"role": "role IN ('annotator', 'category')"},
    ),
    "kept_tallies": T(
        "project_id int, statement text, change_id int, recorded_at big, kept_at big, "
        "size int, digest text, content bytes",
        "project_id statement",
        references=[PROJECT],
    ),
    "users": T(
        "id serial, name text, role text, password text?, session int, subject text?, "
        "created_at big",
        "id",
        unique=["name", "subject"],
        checks={"role": ROLE, "name": "name <> ''"},
    ),
    "user_annotators": T(
        "user_id int, project_id int, annotator_id int",
        "user_id project_id annotator_id",
        references=[ANNOTATOR, "user_id > users"],
    ),
    "tokens": T(
        "id serial, user_id int, name text, role text, digest text, created_at big, "
        "expires_at big?, used_at big?",
        "id",
        unique=["name", "digest"],
        references=["user_id > users"],
        checks={"role": ROLE, "name": "name <> ''"},
    ),
    "access_changes": T("id serial, made_at big, made_by text?, kind text, detail text", "id"),
    "signing_keys": T("id int, key text", "id", checks={"one": "id = 1"}),
    "keyed_requests": T(
        "made_by text, key text, digest text, made_at big, status int?, location text?, body text?",
        "made_by key",
        checks={"answered": "(status IS NULL) = (body IS NULL)"},
    ),
    "webhooks": T(
        "id serial, project_id int?, url text, events text, secret text, allow_private bool, "
        "created_at big",
        "id",
        references=[PROJECT],
    ),
    "deliveries": T(
        "id serial, webhook_id int, project_id int, event text, body text, made_at big, "
        "attempts int, next_at big?, delivered_at big?, fault text?",
        "id",
        references=["webhook_id > webhooks", PROJECT],
    ),
}


# -- triggers ----------------------------------------------------------------------------------

APPEND_ONLY = [
    "batches",
    "changes",
    "decisions",
    "flags",
    "flag_changes",
    "flag_sightings",
    "patterns",
    "seals",
    "snapshots",
    "snapshot_annotators",
    "snapshot_categories",
    "snapshot_flags",
    "snapshot_measures",
    "snapshot_pairs",
    "snapshot_patterns",
    "tombstones",
]
"""The tables that refuse UPDATE and DELETE; what hangs on a snapshot may go once it is thinned."""
THINNED = {name for name in APPEND_ONLY if name.startswith("snapshot_")}
ERASABLE = {"flag_changes": ("made_by", "note"), "decisions": ("made_by",)}
"""The columns whose text can be erased, in tables that refuse UPDATE otherwise."""
CHANGEABLE = {"decisions": ("settled_by",)}
"""The columns of these tables that can be changed."""

PURGED = "EXISTS (SELECT 1 FROM purges WHERE project_id = OLD.project_id)"
TOMBSTONED = (
    "EXISTS (SELECT 1 FROM tombstones WHERE project_id = OLD.project_id "
    "AND question_id = OLD.question_id AND snapshot_id = OLD.snapshot_id)"
)


def sqlite_triggers():
    for name in APPEND_ONLY:
        thinned = f" AND NOT {TOMBSTONED}" if name in THINNED else ""
        same = " AND ".join(f"{column} = NEW.{column}" for column in TABLES[name].key.split())
        unless = f" WHEN NOT ({sqlite_erasure(name)})" if name in ERASABLE else ""
        for short, event in {
            "no_update": f"BEFORE UPDATE ON {name}{unless}",
            "no_delete": f"BEFORE DELETE ON {name} WHEN NOT {PURGED}{thinned}",
            "no_replace": f"BEFORE INSERT ON {name} "
            f"WHEN EXISTS (SELECT 1 FROM {name} WHERE {same})",
        }.items():
            yield (
                f"CREATE TRIGGER {name}_{short} {event} "
                f"BEGIN SELECT RAISE(ABORT, '{name} are append-only'); END"
            )


def sqlite_erasure(name):
    """The condition that an UPDATE erases a text, and changes nothing else."""
    conditions, erased = [], []
    for column in (column.split()[0] for column in TABLES[name].columns.split(", ")):
        same = f"NEW.{column} IS OLD.{column}"
        if column in ERASABLE[name]:
            same = f"({same} OR NEW.{column} IS '(erased)')"
        if column in (*ERASABLE[name], *CHANGEABLE.get(name, ())):
            erased.append(f"NEW.{column} IS NOT OLD.{column}")
        if column not in CHANGEABLE.get(name, ()):
            conditions.append(same)
    return f"{' AND '.join(conditions)} AND ({' OR '.join(erased)})"


def postgres_triggers():
    for name, body in FUNCTIONS.items():
        yield f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $${body}$$"
    for name in APPEND_ONLY:
        function = "refuse_unless_thinned" if name in THINNED else "refuse_on_append_only"
        function = f"refuse_to_change_{name}" if name in ERASABLE else function
        for short, event in {
            "no_change": f"BEFORE UPDATE OR DELETE ON {name} FOR EACH ROW",
            "no_truncate": f"BEFORE TRUNCATE ON {name} FOR EACH STATEMENT",
        }.items():
            yield f"CREATE TRIGGER {name}_{short} {event} EXECUTE FUNCTION {function}()"
    yield from reference_triggers()


def refusal(deletable, changeable=""):
    return f"""
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF {deletable} THEN
            RETURN OLD;
        END IF;
    END IF;{changeable}
    RAISE EXCEPTION '% are append-only', TG_TABLE_NAME;
END
"""


def erasure(name):
    """What a function does about an UPDATE that erases a text, and changes nothing else."""
    free = (*ERASABLE[name], *CHANGEABLE.get(name, ()))
    less = "".join(f" - '{column}'" for column in free)
    erased = "".join(
        f"""
            AND (NEW.{column} IS NOT DISTINCT FROM OLD.{column} OR NEW.{column} = '(erased)')"""
        for column in ERASABLE[name]
    )
    return f"""
    IF TG_OP = 'UPDATE' THEN
        IF to_jsonb(NEW){less} = to_jsonb(OLD){less}
            AND to_jsonb(NEW) <> to_jsonb(OLD){erased}
        THEN
            RETURN NEW;
        END IF;
    END IF;"""


# On Postgres triggers look up what the labels of a whole statement refer to. A foreign key looks up
# each row by itself: with five of them, loading a million labels took forty seconds, and takes
# four without. SQLite proves the references of a load at once as it is.
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
FUNCTIONS = {
    "refuse_on_append_only": refusal(PURGED),
    "refuse_unless_thinned": refusal(f"{PURGED} OR {TOMBSTONED}"),
    **{f"refuse_to_change_{name}": refusal(PURGED, erasure(name)) for name in ERASABLE},
    "require_referred": REQUIRE_REFERRED,
    "keep_referred": KEEP_REFERRED,
}
BULK = ("labels", "past_labels")
"""The tables whose references are triggers on Postgres."""


def bulk_references():
    """Yield the references of these tables as the triggers take them: columns, table, columns."""
    for name in BULK:
        by_name = {}
        for reference in TABLES[name].references:
            own, other = reference.split(" > ")
            others = REFERRED.get(other, "project_id id")
            words = (own.replace(" ", ", "), other, others.replace(" ", ", "))
            by_name[columns_in_name(own)] = words
        yield name, [by_name[columns] for columns in sorted(by_name)]


def reference_triggers():
    for name, references in bulk_references():
        arguments = quoted(references)
        for event, short in (("INSERT", "inserted"), ("UPDATE", "updated")):
            yield (
                f"CREATE TRIGGER {name}_refer_{short} AFTER {event} ON {name} "
                "REFERENCING NEW TABLE AS added FOR EACH STATEMENT "
                f"EXECUTE FUNCTION require_referred({arguments})"
            )
    for parent in ("annotators", "categories", "changes", "items"):
        referring = [
            (others, name, own)
            for name, references in bulk_references()
            for own, other, others in references
            if other == parent
        ]
        events = {"deleted": f"AFTER DELETE ON {parent} REFERENCING OLD TABLE AS gone"}
        if parent not in APPEND_ONLY:
            events["rekeyed"] = f"BEFORE UPDATE OF {referring[0][0]} ON {parent}"
            events["truncated"] = f"BEFORE TRUNCATE ON {parent}"
        for short, event in events.items():
            yield (
                f"CREATE TRIGGER {parent}_referred_{short} {event} FOR EACH STATEMENT "
                f"EXECUTE FUNCTION keep_referred({quoted(referring)})"
            )


def quoted(references):
    return ", ".join(f"'{word}'" for reference in references for word in reference)


# -- views: names, moments, NULL for what is not there -------------------------------------------


def moment(microseconds):
    """A moment: with its time zone on Postgres; on SQLite as text that sorts by time."""
    if on_sqlite():
        # Divided downwards: there are moments before 1970.
        seconds = f"({microseconds} - 999999 * ({microseconds} < 0)) / 1000000"
        rest = f"({microseconds} % 1000000 + 1000000) % 1000000"
        return f"strftime('%Y-%m-%dT%H:%M:%S', {seconds}, 'unixepoch') || printf('.%06dZ', {rest})"
    # Whole seconds, and the rest: a float does not hold all microseconds of the calendar.
    return (
        f"to_timestamp({microseconds} / 1000000) "
        f"+ {microseconds} % 1000000 * INTERVAL '1 microsecond'"
    )


def value_in(evidence, key):
    """A value of a JSON object; NULL if it is null or not there."""
    if on_sqlite():
        return f"json_extract({evidence}, '$.{key}')"
    return f"CAST({evidence} AS json) ->> '{key}'"


def number_in(evidence, key):
    return f"CAST({value_in(evidence, key)} AS double precision)"


ANSWER = "CASE l.category_id WHEN -1 THEN 'skipped' WHEN 0 THEN 'none applies' ELSE 'category' END"
CATEGORY_NAME = ANSWER.replace("'category'", "c.name")
OF_QUESTION = "JOIN questions AS q ON q.project_id = {0}.project_id AND q.id = {0}.question_id"
OF_CATEGORY = """
    JOIN categories AS c ON c.project_id = {0}.project_id AND c.question_id = {0}.question_id
        AND c.id = {0}.category_id
"""
LABELS = f"""
    FROM labels AS l
    JOIN projects AS p ON p.id = l.project_id
    {OF_QUESTION.format("l")}
    JOIN items AS i ON i.project_id = l.project_id AND i.id = l.item_id
    JOIN annotators AS a ON a.project_id = l.project_id AND a.id = l.annotator_id
    {OF_CATEGORY.format("l")}
"""
SNAPSHOTS = f"""
    JOIN snapshots AS s ON s.project_id = f.project_id AND s.question_id = f.question_id
        AND s.id = f.snapshot_id
    JOIN projects AS p ON p.id = f.project_id
    {OF_QUESTION.format("f")}
"""
RECORD = "project_id question_id item_id given_as pass labeled_at change_id source"


def answers():
    same = " AND ".join(f"d.{column} = l.{column}" for column in RECORD.split())
    return f"""
        SELECT p.name AS project, q.name AS question, i.name AS item, a.name AS annotator,
            a.kind AS annotator_kind, {CATEGORY_NAME} AS category, {ANSWER} AS answer,
            l.pass AS pass,
            CASE WHEN l.has_own_time THEN {moment("l.labeled_at")} END AS labeled_at,
            {moment("h.recorded_at")} AS recorded_at,
            NULLIF(l.span_start, -1) AS span_start, NULLIF(l.span_end, -1) AS span_end,
            CAST(l.spent_ms AS double precision) / 1000 AS spent_seconds,
            d.confidence, d.comment, a.kind AS kind, TRUE AS stands
        {LABELS}
        JOIN changes AS h ON h.project_id = l.project_id AND h.id = l.change_id
        LEFT JOIN answer_details AS d ON {same}
    """


def annotator_attributes():
    # What was said of an alias holds for the annotator; of several values the last one said.
    return """
        SELECT p.name AS project, a.name AS annotator, a.kind AS annotator_kind,
            f.name AS attribute, f.value
        FROM (
            SELECT t.project_id, t.name, t.value,
                coalesce(s.annotator_id, t.annotator_id) AS owner_id,
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


def item_votes():
    return f"""
        SELECT p.name AS project, q.name AS question, i.name AS item,
            {CATEGORY_NAME} AS category, {ANSWER} AS answer,
            count(DISTINCT l.annotator_id) AS votes,
            CAST(count(DISTINCT l.annotator_id) AS double precision) / (
                SELECT count(DISTINCT v.annotator_id) FROM labels AS v
                JOIN annotators AS w ON w.project_id = v.project_id AND w.id = v.annotator_id
                WHERE v.project_id = l.project_id AND v.question_id = l.question_id
                    AND v.item_id = l.item_id AND v.category_id <> -1 AND w.kind = 'human'
            ) AS share, count(DISTINCT l.annotator_id) AS annotators
        {LABELS}
        WHERE l.category_id <> -1 AND a.kind = 'human' AND (l.pass = 1 OR NOT EXISTS (
            SELECT 1 FROM labels AS b
            WHERE b.project_id = l.project_id AND b.question_id = l.question_id
                AND b.item_id = l.item_id AND b.annotator_id = l.annotator_id
                AND b.pass < l.pass AND b.category_id <> -1
        ))
        GROUP BY l.project_id, l.question_id, l.item_id, l.category_id, p.name, q.name, i.name,
            c.name
    """


def of_snapshot():
    return f"""
        p.name AS project, q.name AS question, s.id AS snapshot, s.name AS snapshot_name,
        {moment("s.taken_at")} AS taken_at, {moment("coalesce(s.as_of, s.taken_at)")} AS as_of,
        s.selection IS NULL AS all_answers
    """


def measures():
    return f"""
        SELECT {of_snapshot()}, f.measure, f.value, f.standard_error, f.ci_low, f.ci_high,
            f.undefined, s.name AS name
        FROM snapshot_measures AS f {SNAPSHOTS}
    """


def category_rates():
    return f"""
        SELECT {of_snapshot()}, c.name AS category, f.labels, f.rate, f.standard_error,
            f.ci_low, f.ci_high, f.undefined, f.specific_agreement, s.name AS name
        FROM snapshot_categories AS f {SNAPSHOTS} {OF_CATEGORY.format("f")}
    """


def findings():
    return f"""
        SELECT p.name AS project, q.name AS question, f.id AS flag, a.name AS annotator,
            o.name AS other_annotator, f.kind, c.name AS category, f.subject, d.state, g.severity,
            {moment("f.found_at")} AS first_seen_at, {moment("g.seen_at")} AS last_seen_at,
            g.number AS times_seen, g.informative,
            {number_in("g.evidence", "p_value")} AS p_value,
            {number_in("g.evidence", "q_value")} AS q_value,
            {number_in("g.evidence", "effect")} AS effect,
            {value_in("g.evidence", "effect_measure")} AS effect_measure,
            {number_in("g.evidence", "effect_low")} AS effect_low,
            {number_in("g.evidence", "effect_high")} AS effect_high
        FROM flags AS f
        JOIN projects AS p ON p.id = f.project_id
        LEFT JOIN annotators AS a ON a.project_id = f.project_id AND a.id = f.annotator_id
        LEFT JOIN annotators AS o ON o.project_id = f.project_id AND o.id = f.other_id
            AND f.other_id <> f.annotator_id
        {OF_QUESTION.format("f")} {OF_CATEGORY.format("f")}
        JOIN flag_sightings AS g ON g.project_id = f.project_id AND g.flag_id = f.id
            AND g.number = (
                SELECT max(n.number) FROM flag_sightings AS n
                WHERE n.project_id = f.project_id AND n.flag_id = f.id
            )
        JOIN flag_changes AS d ON d.project_id = f.project_id AND d.flag_id = f.id
            AND d.number = (
                SELECT max(m.number) FROM flag_changes AS m
                WHERE m.project_id = f.project_id AND m.flag_id = f.id AND m.action <> 'appealed'
            )
    """


def imports():
    return f"""
        SELECT p.name AS project, f.id AS import, {moment("h.recorded_at")} AS recorded_at,
            f.rows, f.inserted, f.changed, f.unchanged, f.older, f.rejected,
            {moment("u.recorded_at")} AS undone_at
        FROM imports AS f
        JOIN projects AS p ON p.id = f.project_id
        JOIN changes AS h ON h.project_id = f.project_id AND h.id = f.change_id
        LEFT JOIN changes AS u ON u.project_id = f.project_id AND u.id = f.undone_by
    """


VIEWS = {
    "v_answers": answers,
    "v_annotator_attributes": annotator_attributes,
    "v_item_votes": item_votes,
    "v_measures": measures,
    "v_category_rates": category_rates,
    "v_findings": findings,
    "v_imports": imports,
}
