"""The views for people and their tools, described; docs/views.md shows how to use them.

Their SQL is the migrations'. The program itself reads none of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from sqlalchemy import Connection, inspect

from tracker.storage.schema import Base


class View(NamedTuple):
    """What a view shows, and its columns by name, in order."""

    comment: str
    columns: Mapping[str, str]


_ITEM = {"project": "name", "question": "name", "item": "name"}
_SNAPSHOT = {
    "project": "name",
    "question": "name",
    "snapshot": "number within the project",
    "snapshot_name": "NULL if it was given none",
    "taken_at": "when it was recorded",
    "as_of": "the moment whose labels it shows",
    "all_answers": "whether all answers were counted, not some that were chosen",
}
_NAME = {"name": "the snapshot_name"}
_ERROR = {
    "standard_error": "of the value",
    "ci_low": "lower bound of the confidence interval",
    "ci_high": "upper bound of the confidence interval",
    "undefined": "why there is no value",
}

VIEWS = {
    "v_answers": View(
        "A row for each label that stands",
        _ITEM
        | {
            "annotator": "name",
            "annotator_kind": "human, model or reference",
            "category": "name, none applies or skipped",
            "answer": "category, none applies or skipped",
            "pass": "1, 2 ...",
            "labeled_at": "when it was answered; NULL if the file did not say",
            "recorded_at": "when the ledger learnt it",
            "span_start": "NULL if it is no span",
            "span_end": "NULL if it is no span",
            "spent_seconds": "NULL if the file did not say",
            "confidence": "from 0 to 1; NULL if the file did not say",
            "comment": "the annotator's; NULL if there is none",
            "kind": "the annotator_kind",
            "stands": "true; labels that do not stand have no row",
        },
    ),
    "v_annotator_attributes": View(
        "A row for each attribute of an annotator, as files of annotators said it last",
        {
            "project": "name",
            "annotator": "name",
            "annotator_kind": "human, model or reference",
            "attribute": "name, such as team",
            "value": "as text",
        },
    ),
    "v_item_votes": View(
        "How many human annotators gave an item a category, as agreement counts them",
        _ITEM
        | {
            "category": "name or none applies",
            "answer": "category or none applies",
            "votes": "annotators",
            "share": "of the annotators who answered the item",
            "annotators": "the votes",
        },
    ),
    "v_measures": View(
        "A row for each measure of each snapshot that was not thinned out",
        _SNAPSHOT | {"measure": "its name", "value": "NULL if undefined"} | _ERROR | _NAME,
    ),
    "v_category_rates": View(
        "A row for each category of each snapshot that was not thinned out",
        _SNAPSHOT
        | {
            "category": "name",
            "labels": "how many were counted",
            "rate": "of the pairs of answers with the category in one, the share that agree on it",
        }
        | _ERROR
        | {"specific_agreement": "of the category"}
        | _NAME,
    ),
    "v_findings": View(
        "A row for each recorded finding",
        {
            "project": "name",
            "question": "name",
            "flag": "number within the project",
            "annotator": "who it is about, by the name it was found under; NULL if nobody",
            "other_annotator": "the other of a pair; NULL for findings about one",
            "kind": "what was found",
            "category": "NULL if it is not about one",
            "subject": "attribute=value of a slice of the items; NULL if it is not about one",
            "state": "open, acknowledged, dismissed or resolved",
            "severity": "when it was last seen",
            "first_seen_at": "when it was first recorded",
            "last_seen_at": "when it was last recorded",
            "times_seen": "how often it was recorded",
            "informative": "how much evidence there was when it was last seen",
            "p_value": "when it was last seen; NULL if the kind has none",
            "q_value": "the same, corrected for the number of tests",
            "effect": "when it was last seen; NULL if the kind has none",
            "effect_measure": "such as odds ratio",
            "effect_low": "lower bound of the effect",
            "effect_high": "upper bound of the effect",
        },
    ),
    "v_imports": View(
        "A row for each import, undone ones included",
        {
            "project": "name",
            "import": "its number",
            "recorded_at": "when it was recorded",
            "rows": "of its files",
            "inserted": "rows that were new answers",
            "changed": "rows that stand in the place of another answer",
            "unchanged": "rows that say what was known",
            "older": "rows that were kept and do not stand",
            "rejected": "rows that were left out",
            "undone_at": "NULL if it was not undone",
        },
    ),
}
"""Every view of the schema."""


def write_comments(connection: Connection) -> None:
    """Store the comments of the tables and views that are there, if the database can."""
    if not connection.dialect.supports_comments:
        return
    quote = connection.dialect.identifier_preparer.quote
    inspector = inspect(connection)
    there = {*inspector.get_table_names(), *inspector.get_view_names()}
    statements = []
    for kind, names, comment in _comments():
        if names[0] in there:
            text = comment.replace("'", "''")
            statements.append(f"COMMENT ON {kind} {'.'.join(map(quote, names))} IS '{text}'")
    connection.exec_driver_sql("; ".join(statements))


def _comments() -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Yield each comment after the kind and the name of what it describes."""
    for table in Base.metadata.sorted_tables:
        yield "TABLE", (table.name,), str(table.comment)
        for column in table.columns:
            if column.comment is not None:
                yield "COLUMN", (table.name, column.name), column.comment
    for name, view in VIEWS.items():
        yield "VIEW", (name,), view.comment
        for column_name, text in view.columns.items():
            yield "COLUMN", (name, column_name), text
