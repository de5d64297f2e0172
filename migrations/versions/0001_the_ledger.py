"""The ledger."""

import secrets

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

# Everything here is as it was when this revision was made: a revision reads neither the models
# nor the package, which go on changing.
CLUSTERED = {"sqlite_with_rowid": False}
NEVER_RENUMBERED = {"sqlite_autoincrement": True}

APPEND_ONLY = {
    "changes": ("project_id", "id"),
    "patterns": ("project_id", "id"),
    "flags": ("project_id", "id"),
    "snapshots": ("project_id", "id"),
    "flag_changes": ("project_id", "flag_id", "number"),
    "flag_sightings": ("project_id", "flag_id", "number"),
    "snapshot_annotators": ("project_id", "snapshot_id", "annotator_id"),
    "snapshot_categories": ("project_id", "snapshot_id", "category_id"),
    "snapshot_flags": ("project_id", "snapshot_id", "flag_id"),
    "snapshot_measures": ("project_id", "snapshot_id", "measure"),
    "snapshot_pairs": ("project_id", "snapshot_id", "first_id", "second_id"),
    "snapshot_patterns": ("project_id", "snapshot_id", "pattern_id"),
    "tombstones": ("project_id", "snapshot_id"),
}
"""The tables that refuse UPDATE and DELETE, with their keys."""

THINNED = {name for name in APPEND_ONLY if name.startswith("snapshot_")}
"""Those whose rows may go once their snapshot has its tombstone."""

PURGED = "EXISTS (SELECT 1 FROM purges WHERE project_id = OLD.project_id)"
TOMBSTONED = (
    "EXISTS (SELECT 1 FROM tombstones WHERE project_id = OLD.project_id "
    "AND snapshot_id = OLD.snapshot_id)"
)
FUNCTIONS = {
    "refuse_on_append_only": PURGED,
    "refuse_unless_thinned": f"{PURGED} OR {TOMBSTONED}",
}


def sqlite_triggers():
    for name, key in APPEND_ONLY.items():
        thinned = f" AND NOT {TOMBSTONED}" if name in THINNED else ""
        same = " AND ".join(f"{column} = NEW.{column}" for column in key)
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


def postgres_triggers():
    for name, let_go in FUNCTIONS.items():
        yield f"""
            CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                IF TG_OP = 'DELETE' THEN
                    IF {let_go} THEN
                        RETURN OLD;
                    END IF;
                END IF;
                RAISE EXCEPTION '% are append-only', TG_TABLE_NAME;
            END $$
        """
    for name in APPEND_ONLY:
        function = "refuse_unless_thinned" if name in THINNED else "refuse_on_append_only"
        for short, event in {
            "no_change": f"BEFORE UPDATE OR DELETE ON {name} FOR EACH ROW",
            "no_truncate": f"BEFORE TRUNCATE ON {name} FOR EACH STATEMENT",
        }.items():
            yield f"CREATE TRIGGER {name}_{short} {event} EXECUTE FUNCTION {function}()"


def upgrade():
    op.create_table(
        "projects",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("answers", sa.Text(), nullable=False),
        sa.Column("scale", sa.Text(), nullable=False),
        sa.Column("offsets", sa.Text(), nullable=False),
        sa.Column("closed", sa.Boolean(), nullable=False),
        sa.Column("wanted", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("archived_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint(
            "answers IN ('one', 'several', 'spans')", name=op.f("ck_projects_answers")
        ),
        sa.CheckConstraint("name <> ''", name=op.f("ck_projects_name")),
        sa.CheckConstraint("offsets IN ('characters', 'tokens')", name=op.f("ck_projects_offsets")),
        sa.CheckConstraint(
            "scale IN ('nominal', 'ordinal', 'interval', 'ratio')", name=op.f("ck_projects_scale")
        ),
        sa.CheckConstraint("wanted > 0", name=op.f("ck_projects_wanted")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_projects")),
        sa.UniqueConstraint("name", name=op.f("uq_projects_name")),
        info={"never_renumbered": True},
        **NEVER_RENUMBERED,
    )
    pseudonym_keys = op.create_table(
        "pseudonym_keys",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.CheckConstraint("id = 1", name=op.f("ck_pseudonym_keys_one")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_pseudonym_keys")),
    )
    op.bulk_insert(pseudonym_keys, [{"id": 1, "key": secrets.token_hex(32)}])
    op.create_table(
        "purges",
        sa.Column("project_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("purged_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("project_id", name=op.f("pk_purges")),
    )
    op.create_table(
        "annotators",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.CheckConstraint(
            "kind IN ('human', 'model', 'reference')", name=op.f("ck_annotators_kind")
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_annotators_project_id_projects")
        ),
        sa.PrimaryKeyConstraint("project_id", "id", name=op.f("pk_annotators")),
        sa.UniqueConstraint("project_id", "name", name=op.f("uq_annotators_project_id_name")),
    )
    op.create_table(
        "categories",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), nullable=True),
        sa.CheckConstraint("(id > 0) = (name IS NOT NULL)", name=op.f("ck_categories_reserved")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_categories_project_id_projects")
        ),
        sa.PrimaryKeyConstraint("project_id", "id", name=op.f("pk_categories")),
        sa.UniqueConstraint("project_id", "name", name=op.f("uq_categories_project_id_name")),
    )
    op.create_table(
        "changes",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("recorded_at", sa.BigInteger(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_changes_project_id_projects")
        ),
        sa.PrimaryKeyConstraint("project_id", "id", name=op.f("pk_changes")),
        info={"append_only": True},
    )
    op.create_table(
        "items",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=True),
        sa.Column("length", sa.Integer(), nullable=True),
        sa.CheckConstraint("length >= 0", name=op.f("ck_items_length")),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_items_project_id_projects")
        ),
        sa.PrimaryKeyConstraint("project_id", "id", name=op.f("pk_items")),
        sa.UniqueConstraint("project_id", "name", name=op.f("uq_items_project_id_name")),
        info={"clustered": True},
        **CLUSTERED,
    )
    op.create_table(
        "aliases",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("alias_id", sa.Integer(), nullable=False),
        sa.Column("from_change", sa.Integer(), nullable=False),
        sa.Column("annotator_id", sa.Integer(), nullable=False),
        sa.Column("to_change", sa.Integer(), nullable=True),
        sa.CheckConstraint("alias_id <> annotator_id", name=op.f("ck_aliases_another")),
        sa.CheckConstraint("to_change > from_change", name=op.f("ck_aliases_order")),
        sa.ForeignKeyConstraint(
            ["project_id", "alias_id"],
            ["annotators.project_id", "annotators.id"],
            name=op.f("fk_aliases_project_id_alias_id_annotators"),
        ),
        sa.ForeignKeyConstraint(
            ["project_id", "annotator_id"],
            ["annotators.project_id", "annotators.id"],
            name=op.f("fk_aliases_project_id_annotator_id_annotators"),
        ),
        sa.ForeignKeyConstraint(
            ["project_id", "from_change"],
            ["changes.project_id", "changes.id"],
            name=op.f("fk_aliases_project_id_from_change_changes"),
        ),
        sa.ForeignKeyConstraint(
            ["project_id", "to_change"],
            ["changes.project_id", "changes.id"],
            name=op.f("fk_aliases_project_id_to_change_changes"),
        ),
        sa.PrimaryKeyConstraint("project_id", "alias_id", "from_change", name=op.f("pk_aliases")),
    )
    op.create_table(
        "flags",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("annotator_id", sa.Integer(), nullable=False),
        sa.Column("other_id", sa.Integer(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("category_id", sa.Integer(), nullable=False),
        sa.Column("found_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("annotator_id <= other_id", name=op.f("ck_flags_a_pair_stands_once")),
        sa.ForeignKeyConstraint(
            ["project_id", "annotator_id"],
            ["annotators.project_id", "annotators.id"],
            name=op.f("fk_flags_project_id_annotator_id_annotators"),
        ),
        sa.ForeignKeyConstraint(
            ["project_id", "category_id"],
            ["categories.project_id", "categories.id"],
            name=op.f("fk_flags_project_id_category_id_categories"),
        ),
        sa.ForeignKeyConstraint(
            ["project_id", "other_id"],
            ["annotators.project_id", "annotators.id"],
            name=op.f("fk_flags_project_id_other_id_annotators"),
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_flags_project_id_projects")
        ),
        sa.PrimaryKeyConstraint("project_id", "id", name=op.f("pk_flags")),
        sa.UniqueConstraint(
            "project_id",
            "annotator_id",
            "other_id",
            "kind",
            "category_id",
            name=op.f("uq_flags_project_id_annotator_id_other_id_kind_category_id"),
        ),
        info={"append_only": True},
    )
    op.create_table(
        "flag_changes",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("flag_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("made_at", sa.BigInteger(), nullable=False),
        sa.Column("made_by", sa.Text(), nullable=True),
        sa.Column("note", sa.Text(), nullable=True),
        sa.Column("informative", sa.Integer(), nullable=False),
        sa.CheckConstraint(
            "(number = 1) = (action = 'found')", name=op.f("ck_flag_changes_found_first")
        ),
        sa.CheckConstraint(
            "action <> 'appealed' OR note IS NOT NULL",
            name=op.f("ck_flag_changes_appeals_say_why"),
        ),
        sa.CheckConstraint(
            "action IN ('found', 'reopened', 'no longer found', 'acknowledged', 'dismissed', "
            "'resolved', 'appealed')",
            name=op.f("ck_flag_changes_action"),
        ),
        sa.CheckConstraint("informative >= 0", name=op.f("ck_flag_changes_informative")),
        sa.CheckConstraint(
            "made_by IS NOT NULL OR action IN ('found', 'reopened', 'no longer found')",
            name=op.f("ck_flag_changes_people_have_names"),
        ),
        sa.CheckConstraint("number > 0", name=op.f("ck_flag_changes_number")),
        sa.CheckConstraint(
            "state IN ('open', 'acknowledged', 'dismissed', 'resolved')",
            name=op.f("ck_flag_changes_state"),
        ),
        sa.ForeignKeyConstraint(
            ["project_id", "flag_id"],
            ["flags.project_id", "flags.id"],
            name=op.f("fk_flag_changes_project_id_flag_id_flags"),
        ),
        sa.PrimaryKeyConstraint("project_id", "flag_id", "number", name=op.f("pk_flag_changes")),
        info={"append_only": True},
    )
    op.create_table(
        "flag_sightings",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("flag_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("seen_at", sa.BigInteger(), nullable=False),
        sa.Column("severity", sa.Text(), nullable=False),
        sa.Column("informative", sa.Integer(), nullable=False),
        sa.Column("evidence", sa.Text(), nullable=False),
        sa.CheckConstraint("informative >= 0", name=op.f("ck_flag_sightings_informative")),
        sa.CheckConstraint("number > 0", name=op.f("ck_flag_sightings_number")),
        sa.ForeignKeyConstraint(
            ["project_id", "flag_id"],
            ["flags.project_id", "flags.id"],
            name=op.f("fk_flag_sightings_project_id_flag_id_flags"),
        ),
        sa.PrimaryKeyConstraint("project_id", "flag_id", "number", name=op.f("pk_flag_sightings")),
        info={"append_only": True},
    )
    op.create_table(
        "imports",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("change_id", sa.Integer(), nullable=False),
        sa.Column("rows", sa.Integer(), nullable=False),
        sa.Column("inserted", sa.Integer(), nullable=False),
        sa.Column("changed", sa.Integer(), nullable=False),
        sa.Column("unchanged", sa.Integer(), nullable=False),
        sa.Column("older", sa.Integer(), nullable=False),
        sa.Column("rejected", sa.Integer(), nullable=False),
        sa.Column("undone_by", sa.Integer(), nullable=True),
        sa.CheckConstraint(
            "rows = inserted + changed + unchanged + older + rejected",
            name=op.f("ck_imports_every_row_has_a_fate"),
        ),
        sa.ForeignKeyConstraint(
            ["project_id", "change_id"],
            ["changes.project_id", "changes.id"],
            name=op.f("fk_imports_project_id_change_id_changes"),
        ),
        sa.ForeignKeyConstraint(
            ["project_id", "undone_by"],
            ["changes.project_id", "changes.id"],
            name=op.f("fk_imports_project_id_undone_by_changes"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_imports")),
        sa.UniqueConstraint(
            "project_id", "change_id", name=op.f("uq_imports_project_id_change_id")
        ),
    )
    op.create_table(
        "item_attributes",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id", "item_id"],
            ["items.project_id", "items.id"],
            name=op.f("fk_item_attributes_project_id_item_id_items"),
        ),
        sa.PrimaryKeyConstraint("project_id", "item_id", "name", name=op.f("pk_item_attributes")),
        info={"clustered": True},
        **CLUSTERED,
    )
    op.create_table(
        "labels",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("annotator_id", sa.Integer(), nullable=False),
        sa.Column("pass", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("category_id", sa.Integer(), nullable=False),
        sa.Column("span_start", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("span_end", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("labelled_at", sa.BigInteger(), nullable=False),
        sa.Column("timed", sa.Boolean(), nullable=False),
        sa.Column("change_id", sa.Integer(), nullable=False),
        sa.Column("source", sa.SmallInteger(), nullable=False),
        sa.Column("given_as", sa.Integer(), nullable=False),
        sa.Column("spent_ms", sa.Integer(), nullable=True),
        sa.CheckConstraint(
            "(span_start = -1 AND span_end = -1) OR (0 <= span_start AND span_start < span_end)",
            name=op.f("ck_labels_span"),
        ),
        sa.CheckConstraint(
            "category_id > 0 OR span_start = -1", name=op.f("ck_labels_reserved_has_no_span")
        ),
        sa.CheckConstraint("pass >= 1", name=op.f("ck_labels_pass")),
        sa.CheckConstraint("spent_ms >= 0", name=op.f("ck_labels_spent")),
        sa.ForeignKeyConstraint(
            ["project_id", "annotator_id"],
            ["annotators.project_id", "annotators.id"],
            name=op.f("fk_labels_project_id_annotator_id_annotators"),
        ),
        sa.ForeignKeyConstraint(
            ["project_id", "category_id"],
            ["categories.project_id", "categories.id"],
            name=op.f("fk_labels_project_id_category_id_categories"),
        ),
        sa.ForeignKeyConstraint(
            ["project_id", "change_id"],
            ["changes.project_id", "changes.id"],
            name=op.f("fk_labels_project_id_change_id_changes"),
        ),
        sa.ForeignKeyConstraint(
            ["project_id", "item_id"],
            ["items.project_id", "items.id"],
            name=op.f("fk_labels_project_id_item_id_items"),
        ),
        sa.PrimaryKeyConstraint(
            "project_id",
            "item_id",
            "annotator_id",
            "pass",
            "category_id",
            "span_start",
            "span_end",
            name=op.f("pk_labels"),
        ),
        info={"clustered": True},
        **CLUSTERED,
    )
    op.create_table(
        "past_labels",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("annotator_id", sa.Integer(), nullable=False),
        sa.Column("pass", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("labelled_at", sa.BigInteger(), nullable=False),
        sa.Column("change_id", sa.Integer(), nullable=False),
        sa.Column("source", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("given_as", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("category_id", sa.Integer(), nullable=False),
        sa.Column("span_start", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("span_end", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("timed", sa.Boolean(), nullable=False),
        sa.Column("spent_ms", sa.Integer(), nullable=True),
        sa.Column("taken_back_by", sa.Integer(), nullable=True),
        sa.CheckConstraint(
            "(span_start = -1 AND span_end = -1) OR (0 <= span_start AND span_start < span_end)",
            name=op.f("ck_past_labels_span"),
        ),
        sa.CheckConstraint(
            "category_id > 0 OR span_start = -1", name=op.f("ck_past_labels_reserved_has_no_span")
        ),
        sa.CheckConstraint("pass >= 1", name=op.f("ck_past_labels_pass")),
        sa.CheckConstraint("spent_ms >= 0", name=op.f("ck_past_labels_spent")),
        sa.ForeignKeyConstraint(
            ["project_id", "annotator_id"],
            ["annotators.project_id", "annotators.id"],
            name=op.f("fk_past_labels_project_id_annotator_id_annotators"),
        ),
        sa.ForeignKeyConstraint(
            ["project_id", "category_id"],
            ["categories.project_id", "categories.id"],
            name=op.f("fk_past_labels_project_id_category_id_categories"),
        ),
        sa.ForeignKeyConstraint(
            ["project_id", "change_id"],
            ["changes.project_id", "changes.id"],
            name=op.f("fk_past_labels_project_id_change_id_changes"),
        ),
        sa.ForeignKeyConstraint(
            ["project_id", "item_id"],
            ["items.project_id", "items.id"],
            name=op.f("fk_past_labels_project_id_item_id_items"),
        ),
        sa.ForeignKeyConstraint(
            ["project_id", "taken_back_by"],
            ["changes.project_id", "changes.id"],
            name=op.f("fk_past_labels_project_id_taken_back_by_changes"),
        ),
        sa.PrimaryKeyConstraint(
            "project_id",
            "item_id",
            "annotator_id",
            "pass",
            "labelled_at",
            "change_id",
            "source",
            "given_as",
            "category_id",
            "span_start",
            "span_end",
            name=op.f("pk_past_labels"),
        ),
        info={"clustered": True},
        **CLUSTERED,
    )
    op.create_table(
        "touched",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("change_id", sa.Integer(), nullable=False),
        sa.Column("first_item", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("last_item", sa.Integer(), nullable=False),
        sa.CheckConstraint("first_item <= last_item", name=op.f("ck_touched_order")),
        sa.ForeignKeyConstraint(
            ["project_id", "change_id"],
            ["changes.project_id", "changes.id"],
            name=op.f("fk_touched_project_id_change_id_changes"),
        ),
        sa.PrimaryKeyConstraint("project_id", "change_id", "first_item", name=op.f("pk_touched")),
        info={"clustered": True},
        **CLUSTERED,
    )
    op.create_table(
        "notes",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("change_id", sa.Integer(), nullable=False),
        sa.Column("removed_by", sa.Integer(), nullable=True),
        sa.CheckConstraint("text <> ''", name=op.f("ck_notes_text")),
        sa.ForeignKeyConstraint(
            ["project_id", "change_id"],
            ["changes.project_id", "changes.id"],
            name=op.f("fk_notes_project_id_change_id_changes"),
        ),
        sa.ForeignKeyConstraint(
            ["project_id", "removed_by"],
            ["changes.project_id", "changes.id"],
            name=op.f("fk_notes_project_id_removed_by_changes"),
        ),
        sa.PrimaryKeyConstraint("project_id", "id", name=op.f("pk_notes")),
    )
    op.create_table(
        "patterns",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("pattern", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_patterns_project_id_projects")
        ),
        sa.PrimaryKeyConstraint("project_id", "id", name=op.f("pk_patterns")),
        sa.UniqueConstraint("project_id", "pattern", name=op.f("uq_patterns_project_id_pattern")),
        info={"append_only": True},
    )
    op.create_table(
        "snapshots",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), nullable=True),
        sa.Column("note", sa.Text(), nullable=True),
        sa.Column("taken_at", sa.BigInteger(), nullable=False),
        sa.Column("as_of", sa.BigInteger(), nullable=True),
        sa.Column("through_change", sa.Integer(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("scale", sa.Text(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.Column("selection", sa.Text(), nullable=True),
        sa.Column("frame_id", sa.Integer(), nullable=True),
        sa.Column("items", sa.Integer(), nullable=False),
        sa.Column("items_compared", sa.Integer(), nullable=False),
        sa.Column("annotators", sa.Integer(), nullable=False),
        sa.Column("answers", sa.Integer(), nullable=False),
        sa.Column("labels", sa.Integer(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("seal", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id", "through_change"],
            ["changes.project_id", "changes.id"],
            name=op.f("fk_snapshots_project_id_through_change_changes"),
        ),
        sa.ForeignKeyConstraint(
            ["project_id"], ["projects.id"], name=op.f("fk_snapshots_project_id_projects")
        ),
        sa.PrimaryKeyConstraint("project_id", "id", name=op.f("pk_snapshots")),
        sa.UniqueConstraint("project_id", "name", name=op.f("uq_snapshots_project_id_name")),
        info={"append_only": True},
    )
    op.create_table(
        "snapshot_categories",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("snapshot_id", sa.Integer(), nullable=False),
        sa.Column("category_id", sa.Integer(), nullable=False),
        sa.Column("position", sa.SmallInteger(), nullable=False),
        sa.Column("labels", sa.Integer(), nullable=False),
        sa.Column("agreements", sa.BigInteger(), nullable=False),
        sa.Column("potential_agreements", sa.BigInteger(), nullable=False),
        sa.Column("rate", sa.Double(), nullable=True),
        sa.Column("undefined", sa.Text(), nullable=True),
        sa.Column("standard_error", sa.Double(), nullable=True),
        sa.Column("ci_low", sa.Double(), nullable=True),
        sa.Column("ci_high", sa.Double(), nullable=True),
        sa.Column("specific_agreement", sa.Double(), nullable=True),
        sa.CheckConstraint(
            "(rate IS NULL) = (undefined IS NOT NULL)",
            name=op.f("ck_snapshot_categories_a_rate_or_a_reason"),
        ),
        sa.CheckConstraint(
            "0 <= agreements AND agreements <= potential_agreements",
            name=op.f("ck_snapshot_categories_agreements"),
        ),
        sa.ForeignKeyConstraint(
            ["project_id", "category_id"],
            ["categories.project_id", "categories.id"],
            name=op.f("fk_snapshot_categories_project_id_category_id_categories"),
        ),
        sa.ForeignKeyConstraint(
            ["project_id", "snapshot_id"],
            ["snapshots.project_id", "snapshots.id"],
            name=op.f("fk_snapshot_categories_project_id_snapshot_id_snapshots"),
        ),
        sa.PrimaryKeyConstraint(
            "project_id", "snapshot_id", "category_id", name=op.f("pk_snapshot_categories")
        ),
        info={"append_only": True, "thinned": True},
    )
    op.create_table(
        "snapshot_measures",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("snapshot_id", sa.Integer(), nullable=False),
        sa.Column("measure", sa.Text(), nullable=False),
        sa.Column("position", sa.SmallInteger(), nullable=False),
        sa.Column("value", sa.Double(), nullable=True),
        sa.Column("undefined", sa.Text(), nullable=True),
        sa.Column("observed", sa.Double(), nullable=True),
        sa.Column("expected", sa.Double(), nullable=True),
        sa.Column("standard_error", sa.Double(), nullable=True),
        sa.Column("ci_low", sa.Double(), nullable=True),
        sa.Column("ci_high", sa.Double(), nullable=True),
        sa.Column("confidence", sa.Double(), nullable=False),
        sa.Column("items", sa.Integer(), nullable=False),
        sa.Column("method", sa.Text(), nullable=True),
        sa.Column("details", sa.Text(), nullable=False),
        sa.CheckConstraint(
            "(value IS NULL) = (undefined IS NOT NULL)",
            name=op.f("ck_snapshot_measures_a_value_or_a_reason"),
        ),
        sa.ForeignKeyConstraint(
            ["project_id", "snapshot_id"],
            ["snapshots.project_id", "snapshots.id"],
            name=op.f("fk_snapshot_measures_project_id_snapshot_id_snapshots"),
        ),
        sa.PrimaryKeyConstraint(
            "project_id", "snapshot_id", "measure", name=op.f("pk_snapshot_measures")
        ),
        info={"append_only": True, "thinned": True},
    )
    op.create_table(
        "snapshot_patterns",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("snapshot_id", sa.Integer(), nullable=False),
        sa.Column("pattern_id", sa.Integer(), nullable=False),
        sa.Column("items", sa.Integer(), nullable=False),
        sa.CheckConstraint("items > 0", name=op.f("ck_snapshot_patterns_items")),
        sa.ForeignKeyConstraint(
            ["project_id", "pattern_id"],
            ["patterns.project_id", "patterns.id"],
            name=op.f("fk_snapshot_patterns_project_id_pattern_id_patterns"),
        ),
        sa.ForeignKeyConstraint(
            ["project_id", "snapshot_id"],
            ["snapshots.project_id", "snapshots.id"],
            name=op.f("fk_snapshot_patterns_project_id_snapshot_id_snapshots"),
        ),
        sa.PrimaryKeyConstraint(
            "project_id", "snapshot_id", "pattern_id", name=op.f("pk_snapshot_patterns")
        ),
        info={"append_only": True, "thinned": True, "clustered": True},
        **CLUSTERED,
    )
    op.create_table(
        "snapshot_annotators",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("snapshot_id", sa.Integer(), nullable=False),
        sa.Column("annotator_id", sa.Integer(), nullable=False),
        sa.Column("answers", sa.Integer(), nullable=False),
        sa.Column("tallies", sa.Text(), nullable=True),
        sa.CheckConstraint("answers >= 0", name=op.f("ck_snapshot_annotators_answers")),
        sa.ForeignKeyConstraint(
            ["project_id", "annotator_id"],
            ["annotators.project_id", "annotators.id"],
            name=op.f("fk_snapshot_annotators_project_id_annotator_id_annotators"),
        ),
        sa.ForeignKeyConstraint(
            ["project_id", "snapshot_id"],
            ["snapshots.project_id", "snapshots.id"],
            name=op.f("fk_snapshot_annotators_project_id_snapshot_id_snapshots"),
        ),
        sa.PrimaryKeyConstraint(
            "project_id", "snapshot_id", "annotator_id", name=op.f("pk_snapshot_annotators")
        ),
        info={"append_only": True, "thinned": True, "clustered": True},
        **CLUSTERED,
    )
    op.create_table(
        "snapshot_pairs",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("snapshot_id", sa.Integer(), nullable=False),
        sa.Column("first_id", sa.Integer(), nullable=False),
        sa.Column("second_id", sa.Integer(), nullable=False),
        sa.Column("cells", sa.Text(), nullable=False),
        sa.CheckConstraint("first_id < second_id", name=op.f("ck_snapshot_pairs_order")),
        sa.ForeignKeyConstraint(
            ["project_id", "snapshot_id"],
            ["snapshots.project_id", "snapshots.id"],
            name=op.f("fk_snapshot_pairs_project_id_snapshot_id_snapshots"),
        ),
        sa.PrimaryKeyConstraint(
            "project_id", "snapshot_id", "first_id", "second_id", name=op.f("pk_snapshot_pairs")
        ),
        info={"append_only": True, "thinned": True, "clustered": True},
        **CLUSTERED,
    )
    op.create_table(
        "snapshot_flags",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("snapshot_id", sa.Integer(), nullable=False),
        sa.Column("flag_id", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.CheckConstraint(
            "state IN ('open', 'acknowledged')", name=op.f("ck_snapshot_flags_state")
        ),
        sa.ForeignKeyConstraint(
            ["project_id", "flag_id"],
            ["flags.project_id", "flags.id"],
            name=op.f("fk_snapshot_flags_project_id_flag_id_flags"),
        ),
        sa.ForeignKeyConstraint(
            ["project_id", "snapshot_id"],
            ["snapshots.project_id", "snapshots.id"],
            name=op.f("fk_snapshot_flags_project_id_snapshot_id_snapshots"),
        ),
        sa.PrimaryKeyConstraint(
            "project_id", "snapshot_id", "flag_id", name=op.f("pk_snapshot_flags")
        ),
        info={"append_only": True, "thinned": True},
    )
    op.create_table(
        "tombstones",
        sa.Column("project_id", sa.Integer(), nullable=False),
        sa.Column("snapshot_id", sa.Integer(), nullable=False),
        sa.Column("thinned_at", sa.BigInteger(), nullable=False),
        sa.Column("parts", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["project_id", "snapshot_id"],
            ["snapshots.project_id", "snapshots.id"],
            name=op.f("fk_tombstones_project_id_snapshot_id_snapshots"),
        ),
        sa.PrimaryKeyConstraint("project_id", "snapshot_id", name=op.f("pk_tombstones")),
        info={"append_only": True},
    )
    op.create_table(
        "sources",
        sa.Column("import_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["import_id"], ["imports.id"], name=op.f("fk_sources_import_id_imports")
        ),
        sa.PrimaryKeyConstraint("import_id", "number", name=op.f("pk_sources")),
    )
    on_sqlite = op.get_bind().dialect.name == "sqlite"
    for statement in sqlite_triggers() if on_sqlite else postgres_triggers():
        op.execute(statement)


def downgrade():
    op.drop_table("sources")
    op.drop_table("tombstones")
    op.drop_table("snapshot_flags")
    op.drop_table("snapshot_pairs")
    op.drop_table("snapshot_annotators")
    op.drop_table("snapshot_patterns")
    op.drop_table("snapshot_measures")
    op.drop_table("snapshot_categories")
    op.drop_table("snapshots")
    op.drop_table("patterns")
    op.drop_table("notes")
    op.drop_table("touched")
    op.drop_table("past_labels")
    op.drop_table("labels")
    op.drop_table("item_attributes")
    op.drop_table("imports")
    op.drop_table("flag_sightings")
    op.drop_table("flag_changes")
    op.drop_table("flags")
    op.drop_table("aliases")
    op.drop_table("items")
    op.drop_table("changes")
    op.drop_table("categories")
    op.drop_table("annotators")
    op.drop_table("purges")
    op.drop_table("pseudonym_keys")
    op.drop_table("projects")
    if op.get_bind().dialect.name != "sqlite":
        for function in FUNCTIONS:
            op.execute(f"DROP FUNCTION {function}")
