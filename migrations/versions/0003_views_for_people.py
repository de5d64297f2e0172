"""Views for people and for their tools: names, moments, NULL for what is not there."""

from alembic import op

revision = "0003"
down_revision = "0002"

# Everything here is as it was when this revision was made: a revision reads neither the models
# nor the package, which go on changing.


def on_sqlite():
    return op.get_bind().dialect.name == "sqlite"


def upgrade():
    make_views()


def downgrade():
    for name in reversed(VIEWS):
        op.execute(f"DROP VIEW {name}")


# -- how a cell is read ----------------------------------------------------------------------


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
    # Older rows mark names of annotators with NULs, which Postgres reads in no text.
    without = f"replace({evidence}, '\\u0000', '\\u0020')"
    return f"CAST({without} AS json) ->> '{key}'"


def number_in(evidence, key):
    return f"CAST({value_in(evidence, key)} AS double precision)"


ANSWER = "CASE l.category_id WHEN -1 THEN 'skipped' WHEN 0 THEN 'none applies' ELSE 'category' END"
CATEGORY = "CASE l.category_id WHEN -1 THEN 'skipped' WHEN 0 THEN 'none applies' ELSE c.name END"


# -- the views -------------------------------------------------------------------------------

OF_LABELS = """
    FROM labels AS l
    JOIN projects AS p ON p.id = l.project_id
    JOIN items AS i ON i.project_id = l.project_id AND i.id = l.item_id
    JOIN annotators AS a ON a.project_id = l.project_id AND a.id = l.annotator_id
    JOIN categories AS c ON c.project_id = l.project_id AND c.id = l.category_id
"""
OF_SNAPSHOTS = """
    JOIN snapshots AS s ON s.project_id = f.project_id AND s.id = f.snapshot_id
    JOIN projects AS p ON p.id = f.project_id
"""


def answers():
    return f"""
        SELECT p.name AS project, i.name AS item, a.name AS annotator, a.kind AS annotator_kind,
            {CATEGORY} AS category, {ANSWER} AS answer, l.pass AS pass,
            CASE WHEN l.timed THEN {moment("l.labelled_at")} END AS labeled_at,
            {moment("h.recorded_at")} AS recorded_at,
            NULLIF(l.span_start, -1) AS span_start, NULLIF(l.span_end, -1) AS span_end,
            CAST(l.spent_ms AS double precision) / 1000 AS spent_seconds
        {OF_LABELS}
        JOIN changes AS h ON h.project_id = l.project_id AND h.id = l.change_id
    """


def item_votes():
    return f"""
        SELECT p.name AS project, i.name AS item, {CATEGORY} AS category, {ANSWER} AS answer,
            count(DISTINCT l.annotator_id) AS votes,
            CAST(count(DISTINCT l.annotator_id) AS double precision) / (
                SELECT count(DISTINCT v.annotator_id) FROM labels AS v
                JOIN annotators AS w ON w.project_id = v.project_id AND w.id = v.annotator_id
                WHERE v.project_id = l.project_id AND v.item_id = l.item_id
                    AND v.category_id <> -1 AND w.kind = 'human'
            ) AS share
        {OF_LABELS}
        WHERE l.category_id <> -1 AND a.kind = 'human' AND (l.pass = 1 OR NOT EXISTS (
            SELECT 1 FROM labels AS b
            WHERE b.project_id = l.project_id AND b.item_id = l.item_id
                AND b.annotator_id = l.annotator_id AND b.pass < l.pass AND b.category_id <> -1
        ))
        GROUP BY l.project_id, l.item_id, l.category_id, p.name, i.name, c.name
    """


def of_snapshot():
    return f"""
        p.name AS project, s.id AS snapshot, s.name AS snapshot_name,
        {moment("s.taken_at")} AS taken_at, {moment("coalesce(s.as_of, s.taken_at)")} AS as_of,
        s.selection IS NULL AS all_answers
    """


def measures():
    return f"""
        SELECT {of_snapshot()}, f.measure, f.value, f.standard_error, f.ci_low, f.ci_high,
            f.undefined
        FROM snapshot_measures AS f {OF_SNAPSHOTS}
    """


def category_rates():
    return f"""
        SELECT {of_snapshot()}, c.name AS category, f.labels, f.rate, f.standard_error,
            f.ci_low, f.ci_high, f.undefined, f.specific_agreement
        FROM snapshot_categories AS f {OF_SNAPSHOTS}
        JOIN categories AS c ON c.project_id = f.project_id AND c.id = f.category_id
    """


def findings():
    last = """
        SELECT max({0}.number) FROM {1} AS {0}
        WHERE {0}.project_id = f.project_id AND {0}.flag_id = f.id
    """
    seen = last.format("n", "flag_sightings")
    last_change = last.format("m", "flag_changes") + " AND m.action <> 'appealed'"
    return f"""
        SELECT p.name AS project, f.id AS flag, a.name AS annotator,
            o.name AS other_annotator, f.kind, c.name AS category, d.state, g.severity,
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
        JOIN annotators AS a ON a.project_id = f.project_id AND a.id = f.annotator_id
        LEFT JOIN annotators AS o ON o.project_id = f.project_id AND o.id = f.other_id
            AND f.other_id <> f.annotator_id
        JOIN categories AS c ON c.project_id = f.project_id AND c.id = f.category_id
        JOIN flag_sightings AS g ON g.project_id = f.project_id AND g.flag_id = f.id
            AND g.number = ({seen})
        JOIN flag_changes AS d ON d.project_id = f.project_id AND d.flag_id = f.id
            AND d.number = ({last_change})
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
    "v_item_votes": item_votes,
    "v_measures": measures,
    "v_category_rates": category_rates,
    "v_findings": findings,
    "v_imports": imports,
}


def make_views():
    for name, select in VIEWS.items():
        op.execute(f"CREATE VIEW {name} AS {select()}")
