"""Questions: a project may ask more than one thing. Columns are named for what they hold."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

# Everything here is as it was when this revision was made: a revision reads neither the models
# nor the package, which go on changing.

FIRST_NAME = "label"
"""The name of the one question that a project had before its questions had names."""

RENAMED = {
    "labeled_at": "labelled_at",
    "has_own_time": "timed",
    "last_change_id": "through_change",
    "base_snapshot_id": "frame_id",
}
"""Columns by their new names."""


class T:
    """A table in its new form, and as it was: without the question, columns by their old names.

    Columns are written as "name type", with a "?" if they may be NULL; references as
    "columns > table"; those under ``since`` are new.
    """

    def __init__(
        self,
        columns,
        key,
        *,
        references=(),
        since=(),
        before=(),
        unique=(),
        checks=(),
        clustered=False,
        asks=True,
    ):
        self.columns = [column.split() for column in columns.split(", ")]
        self.key = key.split()
        self.references, self.since, self.before = references, since, before
        self.unique, self.checks = unique, dict(checks)
        self.clustered = clustered
        self.asks = asks  # whether it gets the question


QUESTION = "project_id question_id > questions"
CATEGORY = "project_id question_id category_id > categories"
SNAPSHOT = "project_id question_id snapshot_id > snapshots"
CHANGE = "project_id change_id > changes"
PROJECT = "project_id > projects"
PEOPLE = ["project_id annotator_id > annotators"]
SPAN = "(span_start = -1 AND span_end = -1) OR (0 <= span_start AND span_start < span_end)"
LABEL = {
    "references": ["project_id item_id > items", *PEOPLE, CATEGORY, CHANGE],
    "since": ["project_id given_as > annotators"],
    "checks": {
        "pass": "pass >= 1",
        "span": SPAN,
        "reserved_has_no_span": "category_id > 0 OR span_start = -1",
        "spent": "spent_ms >= 0",
    },
    "clustered": True,
}
IDS = "project_id int, question_id small, snapshot_id int"
KEY = "project_id question_id snapshot_id"
TABLES = {
    "categories": T(
        "project_id int, question_id small, id int, name text?",
        "project_id question_id id",
        since=[QUESTION],
        before=[PROJECT],
        unique=["project_id question_id name"],
        checks={"reserved": "(id > 0) = (name IS NOT NULL)"},
    ),
    "touched": T(
        "project_id int, question_id small, change_id int, first_item int, last_item int",
        "project_id question_id change_id first_item",
        references=[CHANGE],
        since=[QUESTION],
        checks={"order": "first_item <= last_item"},
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
            "project_id from_change > changes",
            "project_id to_change > changes",
        ],
        checks={"another": "category_id <> into_id", "order": "to_change > from_change"},
    ),
    "merged_labels": T(
        "project_id int, merge_id int, item_id int, given_as int, pass small, change_id int, "
        "source small, labeled_at big, span_start int, span_end int, beside bool",
        "project_id merge_id item_id given_as pass change_id source labeled_at span_start span_end",
        references=["project_id merge_id > category_merges"],
        clustered=True,
        asks=False,
    ),
    "labels": T(
        "project_id int, question_id small, item_id int, annotator_id int, pass small, "
        "category_id int, span_start int, span_end int, labeled_at big, has_own_time bool, "
        "change_id int, source small, given_as int, spent_ms int?",
        "project_id question_id item_id annotator_id pass category_id span_start span_end",
        **LABEL,
    ),
    "past_labels": T(
        "project_id int, question_id small, item_id int, annotator_id int, pass small, "
        "labeled_at big, change_id int, source small, given_as int, category_id int, "
        "span_start int, span_end int, has_own_time bool, spent_ms int?, taken_back_by int?",
        "project_id question_id item_id annotator_id pass labeled_at change_id source given_as "
        "category_id span_start span_end",
        **(LABEL | {"references": [*LABEL["references"], "project_id taken_back_by > changes"]}),
    ),
    "flags": T(
        "project_id int, id int, question_id small, annotator_id int, other_id int, kind text, "
        "category_id int, found_at big",
        "project_id id",
        references=[PROJECT, *PEOPLE, "project_id other_id > annotators", CATEGORY],
        unique=["project_id question_id annotator_id other_id kind category_id"],
        checks={"a_pair_stands_once": "annotator_id <= other_id"},
    ),
    "snapshots": T(
        "project_id int, question_id small, id int, name text?, note text?, taken_at big, "
        "as_of big?, last_change_id int, version text, scale text, settings text, "
        "selection text?, base_snapshot_id int?, items int, items_compared int, "
        "annotators int, answers int, labels int, digest text, seal text",
        "project_id question_id id",
        references=["project_id last_change_id > changes"],
        since=[QUESTION, "project_id question_id base_snapshot_id > snapshots"],
        before=[PROJECT],
        unique=["project_id question_id name"],
    ),
    "patterns": T(
        "project_id int, question_id small, id int, pattern text",
        "project_id question_id id",
        since=[QUESTION],
        before=[PROJECT],
        unique=["project_id question_id pattern"],
    ),
    "snapshot_measures": T(
        f"{IDS}, measure text, position small, value double?, undefined text?, "
        "observed double?, expected double?, standard_error double?, ci_low double?, "
        "ci_high double?, confidence double, items int, method text?, details text",
        f"{KEY} measure",
        references=[SNAPSHOT],
        checks={"a_value_or_a_reason": "(value IS NULL) = (undefined IS NOT NULL)"},
    ),
    "snapshot_categories": T(
        f"{IDS}, category_id int, position small, labels int, agreements big, "
        "potential_agreements big, rate double?, undefined text?, standard_error double?, "
        "ci_low double?, ci_high double?, specific_agreement double?",
        f"{KEY} category_id",
        references=[SNAPSHOT, CATEGORY],
        checks={
            "a_rate_or_a_reason": "(rate IS NULL) = (undefined IS NOT NULL)",
            "agreements": "0 <= agreements AND agreements <= potential_agreements",
        },
    ),
    "snapshot_patterns": T(
        f"{IDS}, pattern_id int, items int",
        f"{KEY} pattern_id",
        references=[SNAPSHOT, "project_id question_id pattern_id > patterns"],
        checks={"items": "items > 0"},
        clustered=True,
    ),
    "snapshot_annotators": T(
        f"{IDS}, annotator_id int, answers int, tallies text?",
        f"{KEY} annotator_id",
        references=[SNAPSHOT, *PEOPLE],
        checks={"answers": "answers >= 0"},
        clustered=True,
    ),
    "snapshot_pairs": T(
        f"{IDS}, first_id int, second_id int, cells text",
        f"{KEY} first_id second_id",
        references=[SNAPSHOT],
        since=["project_id first_id > annotators", "project_id second_id > annotators"],
        checks={"order": "first_id < second_id"},
        clustered=True,
    ),
    "snapshot_flags": T(
        f"{IDS}, flag_id int, state text",
        f"{KEY} flag_id",
        references=[SNAPSHOT, "project_id flag_id > flags"],
        checks={"state": "state IN ('open', 'acknowledged')"},
    ),
    "tombstones": T(f"{IDS}, thinned_at big, parts text", KEY, references=[SNAPSHOT]),
    "seals": T(
        "project_id int, id int, last_change_id int, sealed_at big, found text, added text, "
        "state text, digest text",
        "project_id id",
        references=["project_id last_change_id > changes", PROJECT],
        asks=False,
    ),
}
REFERRED = {
    "projects": ["id"],
    "questions": ["project_id", "id"],
    "category_merges": ["project_id", "from_change"],
    "categories": ["project_id", "question_id", "id"],
    "snapshots": ["project_id", "question_id", "id"],
    "patterns": ["project_id", "question_id", "id"],
}
"""The columns that are referred to, if they are not project_id and id."""

APPEND_ONLY = {
    "patterns": "project_id question_id id",
    "flags": "project_id id",
    "snapshots": "project_id question_id id",
    "snapshot_annotators": f"{KEY} annotator_id",
    "snapshot_categories": f"{KEY} category_id",
    "snapshot_flags": f"{KEY} flag_id",
    "snapshot_measures": f"{KEY} measure",
    "snapshot_pairs": f"{KEY} first_id second_id",
    "snapshot_patterns": f"{KEY} pattern_id",
    "tombstones": KEY,
    "seals": "project_id id",
}
"""The tables made anew that refuse UPDATE and DELETE, with their keys."""

SETTINGS = {
    "answers": "IN ('one', 'several', 'spans')",
    "scale": "IN ('nominal', 'ordinal', 'interval', 'ratio')",
    "offsets": "IN ('characters', 'tokens')",
}
MOVED = {
    "answers": "answers",
    "scale": "scale",
    "offsets": "offsets",
    "categories_fixed": "closed",
    "target_answers": "wanted",
}
"""The settings of questions, and their columns in ``projects`` before."""


def on_sqlite():
    return op.get_bind().dialect.name == "sqlite"


def upgrade():
    drop_views()
    make_questions()
    remake_tables(new=True)
    move_settings_out()
    make_views(new=True)


def downgrade():
    several = op.get_bind().scalar(sa.text("SELECT count(*) FROM questions WHERE id > 1"))
    if several:
        raise RuntimeError(
            f"{several} questions are not the first of their project: an older program cannot "
            "hold them; go back to a backup"
        )
    drop_views()
    move_settings_back()
    remake_tables(new=False)
    op.drop_table("questions")
    make_views(new=False)


# -- questions and their settings --------------------------------------------------------------


def make_questions():
    op.create_table(
        "questions",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("id", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("answers", sa.Text(), nullable=False),
        sa.Column("scale", sa.Text(), nullable=False),
        sa.Column("offsets", sa.Text(), nullable=False),
        sa.Column("categories_fixed", sa.Boolean(), nullable=False),
        sa.Column("target_answers", sa.Integer(), nullable=True),
        *(
            sa.CheckConstraint(f"{name} {allowed}", name=op.f(f"ck_questions_{name}"))
            for name, allowed in SETTINGS.items()
        ),
        sa.CheckConstraint("target_answers > 0", name=op.f("ck_questions_target_answers")),
        sa.CheckConstraint("name <> ''", name=op.f("ck_questions_name")),
        sa.CheckConstraint("id > 0", name=op.f("ck_questions_id")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_questions_project_id_projects")
        ),
        sa.PrimaryKeyConstraint("project_id", "id", name=op.f("pk_questions")),
        sa.UniqueConstraint("project_id", "name", name=op.f("uq_questions_project_id_name")),
    )
    op.execute(
        f"INSERT INTO questions (project_id, id, name, {', '.join(MOVED)}) "
        f"SELECT id, 1, '{FIRST_NAME}', {', '.join(MOVED.values())} FROM projects"
    )


def move_settings_out():
    if on_sqlite():
        remake_projects("", "id, name, created_at, archived_at", "projects")
        return
    for name in (*SETTINGS, "wanted"):
        op.drop_constraint(op.f(f"ck_projects_{name}"), "projects")
    for name in MOVED.values():
        op.drop_column("projects", name)


def move_settings_back():
    columns = ", ".join(f"q.{new} AS {old}" for new, old in MOVED.items())
    if on_sqlite():
        definitions = "answers TEXT NOT NULL, scale TEXT NOT NULL, offsets TEXT NOT NULL, "
        definitions += "closed BOOLEAN NOT NULL, wanted INTEGER, "
        remake_projects(
            definitions,
            "id, name, answers, scale, offsets, closed, wanted, created_at, archived_at",
            f"(SELECT p.*, {columns} FROM projects AS p "
            "JOIN questions AS q ON q.project_id = p.id) AS before",
        )
        return
    for new, old in MOVED.items():
        kind = {"closed": "BOOLEAN", "wanted": "INTEGER"}.get(old, "TEXT")
        op.execute(f"ALTER TABLE projects ADD COLUMN {old} {kind}")
        op.execute(
            f"UPDATE projects SET {old} = "
            f"(SELECT {new} FROM questions WHERE project_id = projects.id)"
        )
        if old != "wanted":
            op.execute(f"ALTER TABLE projects ALTER COLUMN {old} SET NOT NULL")
    for name, allowed in (*SETTINGS.items(), ("wanted", "> 0")):
        op.create_check_constraint(op.f(f"ck_projects_{name}"), "projects", f"{name} {allowed}")


def remake_projects(settings, columns, source):
    """Make SQLite's table of projects anew, with columns for settings or without.

    A number is never given again, also of a project that was deleted.
    """
    highest = op.get_bind().scalar(
        sa.text("SELECT seq FROM sqlite_sequence WHERE name = 'projects'")
    )
    checks = [(name, f"{name} {allowed}") for name, allowed in SETTINGS.items()]
    checks = [*checks, ("wanted", "wanted > 0")] if settings else []
    checks = [*checks, ("name", "name <> ''")]
    named = ", ".join(f"CONSTRAINT ck_projects_{name} CHECK ({check})" for name, check in checks)
    op.execute(
        "CREATE TABLE projects_anew (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, "
        f"name TEXT NOT NULL, {settings}created_at BIGINT NOT NULL, archived_at BIGINT, "
        f"{named}, CONSTRAINT uq_projects_name UNIQUE (name))"
    )
    op.execute(f"INSERT INTO projects_anew ({columns}) SELECT {columns} FROM {source}")
    op.execute("DROP TABLE projects")
    op.execute("ALTER TABLE projects_anew RENAME TO projects")
    if highest is not None:
        op.execute("DELETE FROM sqlite_sequence WHERE name = 'projects'")
        op.execute(f"INSERT INTO sqlite_sequence (name, seq) VALUES ('projects', {highest})")


# -- tables that get the question --------------------------------------------------------------


def remake_tables(*, new):
    if on_sqlite():
        for name, table in TABLES.items():
            copy_table(name, table, new=new)
        for trigger in sqlite_triggers(new=new):
            op.execute(trigger)
    else:
        alter_tables(new=new)


def column_name(name, *, new):
    return name if new else RENAMED.get(name, name)


def names_of(names, *, new):
    """The columns of a key; the question is in none of the old ones."""
    return [column_name(name, new=new) for name in names if new or name != "question_id"]


def constraints(name, table, *, new):
    """The constraints of a table by name, as SQL."""
    yield f"pk_{name}", f"PRIMARY KEY ({', '.join(names_of(table.key, new=new))})"
    for unique in table.unique:
        columns = unique.split()
        yield (
            f"uq_{name}_{'_'.join(names_of(columns, new=False))}",
            f"UNIQUE ({', '.join(names_of(columns, new=new))})",
        )
    for reference in [*table.references, *(table.since if new else table.before)]:
        columns, referred = (part.split() for part in reference.split(" > "))
        target = REFERRED.get(referred[0], ["project_id", "id"])
        named = columns if len(columns) == 2 else [c for c in columns if c != "question_id"]
        yield (
            f"fk_{name}_{'_'.join(column_name(c, new=new) for c in named)}_{referred[0]}",
            f"FOREIGN KEY ({', '.join(names_of(columns, new=new))}) "
            f"REFERENCES {referred[0]} ({', '.join(names_of(target, new=new))})",
        )
    for short, check in table.checks.items():
        yield f"ck_{name}_{short}", f"CHECK ({check})"


def copy_table(name, table, *, new):
    """Make a table anew, as SQLite alters one; without a row, under its own name at once."""
    filled = op.get_bind().scalar(sa.text(f"SELECT EXISTS (SELECT 1 FROM {name})"))
    kinds = {"int": "INTEGER", "small": "SMALLINT", "big": "BIGINT", "text": "TEXT"}
    kinds |= {"bool": "BOOLEAN", "double": "DOUBLE"}
    parts, into, source = [], [], []
    for column, kind in table.columns:
        if column == "question_id" and not new:
            continue
        null = "" if kind.endswith("?") else " NOT NULL"
        parts.append(f"{column_name(column, new=new)} {kinds[kind.rstrip('?')]}{null}")
        into.append(column_name(column, new=new))
        source.append("1" if column == "question_id" else column_name(column, new=not new))
    parts += [
        f"CONSTRAINT {constraint} {sql}" for constraint, sql in constraints(name, table, new=new)
    ]
    rowid = " WITHOUT ROWID" if table.clustered else ""
    if not filled:
        op.execute(f"DROP TABLE {name}")
        op.execute(f"CREATE TABLE {name} ({', '.join(parts)}){rowid}")
        return
    op.execute(f"CREATE TABLE {name}_anew ({', '.join(parts)}){rowid}")
    op.execute(
        f"INSERT INTO {name}_anew ({', '.join(into)}) SELECT {', '.join(source)} FROM {name}"
    )
    op.execute(f"DROP TABLE {name}")
    op.execute(f"ALTER TABLE {name}_anew RENAME TO {name}")


def alter_tables(*, new):
    """Alter the tables in place: Postgres writes no row for it."""
    for name, table in TABLES.items():
        for constraint, _ in constraints(name, table, new=not new):
            if constraint.startswith("fk_"):
                op.execute(f"ALTER TABLE {name} DROP CONSTRAINT {constraint}")
    for name, table in TABLES.items():
        alter_table(name, table, new=new)
    for name, table in TABLES.items():
        for constraint, sql in constraints(name, table, new=new):
            if constraint.startswith("fk_"):
                op.execute(f"ALTER TABLE {name} ADD CONSTRAINT {constraint} {sql}")
    thinned = PURGED + " OR " + tombstoned(new=new)
    op.execute(
        f"""
        CREATE OR REPLACE FUNCTION refuse_unless_thinned() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF TG_OP = 'DELETE' THEN
                IF {thinned} THEN
                    RETURN OLD;
                END IF;
            END IF;
            RAISE EXCEPTION '% are append-only', TG_TABLE_NAME;
        END $$
        """
    )


def alter_table(name, table, *, new):
    """Alter the columns and keys of a table that nothing refers to now, but for its own key."""
    keys = ("uq_", "pk_") if "question_id" in table.key else ("uq_",)
    for constraint, _ in constraints(name, table, new=not new):
        if constraint.startswith(keys):
            op.execute(f"ALTER TABLE {name} DROP CONSTRAINT {constraint}")
    for column, _ in table.columns:
        if column in RENAMED:
            before, after = column_name(column, new=not new), column_name(column, new=new)
            op.execute(f"ALTER TABLE {name} RENAME COLUMN {before} TO {after}")
    if table.asks and new:
        op.execute(f"ALTER TABLE {name} ADD COLUMN question_id SMALLINT NOT NULL DEFAULT 1")
        op.execute(f"ALTER TABLE {name} ALTER COLUMN question_id DROP DEFAULT")
    elif table.asks:
        op.execute(f"ALTER TABLE {name} DROP COLUMN question_id")
    for constraint, sql in constraints(name, table, new=new):
        if constraint.startswith(keys):
            op.execute(f"ALTER TABLE {name} ADD CONSTRAINT {constraint} {sql}")


PURGED = "EXISTS (SELECT 1 FROM purges WHERE project_id = OLD.project_id)"


def tombstoned(*, new):
    question = "AND question_id = OLD.question_id " if new else ""
    return (
        "EXISTS (SELECT 1 FROM tombstones WHERE project_id = OLD.project_id "
        f"{question}AND snapshot_id = OLD.snapshot_id)"
    )


def sqlite_triggers(*, new):
    """The triggers of the tables made anew, which went with the old ones."""
    for name, key in APPEND_ONLY.items():
        thinned = f" AND NOT {tombstoned(new=new)}" if name.startswith("snapshot_") else ""
        same = " AND ".join(f"{c} = NEW.{c}" for c in names_of(key.split(), new=new))
        for short, event in {
            "no_update": f"BEFORE UPDATE ON {name}",
            "no_delete": f"BEFORE DELETE ON {name} WHEN NOT {PURGED}{thinned}",
            "no_replace": f"BEFORE INSERT ON {name} "
            f"WHEN EXISTS (SELECT 1 FROM {name} WHERE {same})",
        }.items():
            yield (
                f"CREATE TRIGGER {name}_{short} {event} "
                f"BEGIN SELECT RAISE(ABORT, '{name} are append-only'); END"
            )


# -- views ---------------------------------------------------------------------------------------


def revision_before():
    """The module of the revision before, whose views these were."""
    path = Path(__file__).with_name("0003_views_for_people.py")
    spec = spec_from_file_location("views_for_people", path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def drop_views():
    for name in reversed(revision_before().VIEWS):
        op.execute(f"DROP VIEW {name}")


def make_views(*, new):
    before = revision_before()
    for name, select in before.VIEWS.items():
        query = VIEWS[name](before) if new and name in VIEWS else select()
        op.execute(f"CREATE VIEW {name} AS {query}")


OF_QUESTION = "JOIN questions AS q ON q.project_id = {0}.project_id AND q.id = {0}.question_id"
OF_CATEGORY = """
    JOIN categories AS c ON c.project_id = {0}.project_id AND c.question_id = {0}.question_id
        AND c.id = {0}.category_id
"""
OF_LABELS = f"""
    FROM labels AS l
    JOIN projects AS p ON p.id = l.project_id
    {OF_QUESTION.format("l")}
    JOIN items AS i ON i.project_id = l.project_id AND i.id = l.item_id
    JOIN annotators AS a ON a.project_id = l.project_id AND a.id = l.annotator_id
    {OF_CATEGORY.format("l")}
"""
OF_SNAPSHOTS = f"""
    JOIN snapshots AS s ON s.project_id = f.project_id AND s.question_id = f.question_id
        AND s.id = f.snapshot_id
    JOIN projects AS p ON p.id = f.project_id
    {OF_QUESTION.format("f")}
"""


def answers(before):
    return f"""
        SELECT p.name AS project, q.name AS question, i.name AS item, a.name AS annotator,
            a.kind AS annotator_kind, {before.CATEGORY} AS category, {before.ANSWER} AS answer,
            l.pass AS pass,
            CASE WHEN l.has_own_time THEN {before.moment("l.labeled_at")} END AS labeled_at,
            {before.moment("h.recorded_at")} AS recorded_at,
            NULLIF(l.span_start, -1) AS span_start, NULLIF(l.span_end, -1) AS span_end,
            CAST(l.spent_ms AS double precision) / 1000 AS spent_seconds
        {OF_LABELS}
        JOIN changes AS h ON h.project_id = l.project_id AND h.id = l.change_id
    """


def item_votes(before):
    return f"""
        SELECT p.name AS project, q.name AS question, i.name AS item,
            {before.CATEGORY} AS category, {before.ANSWER} AS answer,
            count(DISTINCT l.annotator_id) AS votes,
            CAST(count(DISTINCT l.annotator_id) AS double precision) / (
                SELECT count(DISTINCT v.annotator_id) FROM labels AS v
                JOIN annotators AS w ON w.project_id = v.project_id AND w.id = v.annotator_id
                WHERE v.project_id = l.project_id AND v.question_id = l.question_id
                    AND v.item_id = l.item_id AND v.category_id <> -1 AND w.kind = 'human'
            ) AS share
        {OF_LABELS}
        WHERE l.category_id <> -1 AND a.kind = 'human' AND (l.pass = 1 OR NOT EXISTS (
            SELECT 1 FROM labels AS b
            WHERE b.project_id = l.project_id AND b.question_id = l.question_id
                AND b.item_id = l.item_id AND b.annotator_id = l.annotator_id
                AND b.pass < l.pass AND b.category_id <> -1
        ))
        GROUP BY l.project_id, l.question_id, l.item_id, l.category_id, p.name, q.name, i.name,
            c.name
    """


def of_snapshot(before):
    return before.of_snapshot().replace("AS project,", "AS project, q.name AS question,")


def measures(before):
    return f"""
        SELECT {of_snapshot(before)}, f.measure, f.value, f.standard_error, f.ci_low, f.ci_high,
            f.undefined
        FROM snapshot_measures AS f {OF_SNAPSHOTS}
    """


def category_rates(before):
    return f"""
        SELECT {of_snapshot(before)}, c.name AS category, f.labels, f.rate, f.standard_error,
            f.ci_low, f.ci_high, f.undefined, f.specific_agreement
        FROM snapshot_categories AS f {OF_SNAPSHOTS} {OF_CATEGORY.format("f")}
    """


def findings(before):
    joined = "JOIN categories AS c ON c.project_id = f.project_id AND c.id = f.category_id"
    asked = OF_QUESTION.format("f") + OF_CATEGORY.format("f")
    select = before.findings().replace(joined, asked)
    return select.replace(
        "SELECT p.name AS project,", "SELECT p.name AS project, q.name AS question,"
    )


VIEWS = {
    "v_answers": answers,
    "v_item_votes": item_votes,
    "v_measures": measures,
    "v_category_rates": category_rates,
    "v_findings": findings,
}
"""Those that show the question."""
