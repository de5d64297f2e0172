"""Where a name may still be once its annotator is erased: in what people and files told."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, Text, bindparam, delete, func, or_, select, update

from tracker.core.results import Record
from tracker.storage.schema import (
    ERASED,
    Annotator,
    Base,
    Delivery,
    FlagChange,
    Import,
    KeyedRequest,
    Project,
    SavedView,
    Source,
)

_WORDS = {
    "flag_changes": "notes on findings",
    "changes": "changes in the log",
    "snapshots": "names and notes of snapshots",
    "sources": "names of imported files",
    "imports": "how imports were read",
    "items": "keys and texts of items",
    "item_aliases": "other keys of items",
    "item_facts": "recorded facts about items",
    "answer_details": "comments on answers",
    "annotator_attributes": "attributes of others",
    "annotator_facts": "notes on pauses of others",
    "access_changes": "the log of users",
    "syncs": "sources of syncs",
    "flag_sightings": "evidence of findings",
    "flags": "subjects of findings",
    "saved_views": "saved views of items",
    "questions": "questions, their goals and instructions",
    "batches": "names of rounds",
    "decisions": "decisions and their notes",
}
"""What the rows of a table are called that hold a text; others by the table's name."""
# What the program itself writes: words of its own, numbers, secrets. Names are looked for exactly.
_NO_TEXTS = {
    "annotators.name", "flag_changes.made_by", "answers", "scale", "offsets", "role", "kind",
    "digest", "seal", "key", "secret", "password", "state", "severity", "action", "event", "events",
    "version", "tool", "method", "measure", "undefined", "parts", "pattern", "tallies", "cells",
    "details", "version_num",
}  # fmt: skip
_NO_TABLES = {"seals", "pseudonym_keys", "signing_keys", "keyed_requests", "deliveries"}
_kept = KeyedRequest.__table__
_messages = Delivery.__table__
_imports = Import.__table__
_views = SavedView.__table__
_NAMING: Final = {"file", "sheet", "annotator", "models", "pattern"}
"""What of the record of a reading may name an annotator, beside its columns."""


@dataclass(frozen=True)
class Mention(Record):
    """How many rows of a project hold a name, and what they are; None: of the whole database."""

    project: str | None
    what: str
    rows: int


def find_annotator_mentions(connection: Connection, names: Iterable[str]) -> list[Mention]:
    """Return where these names may still be found, in all projects, regardless of case.

    A short name is also found in texts that do not mean the person.
    """
    exact = [*dict.fromkeys(names)]
    forms = {form for name in exact for form in (name, name.lower(), name.upper())}
    forms |= {json.dumps(form)[1:-1] for form in forms}
    mentions = []
    for table in Base.metadata.sorted_tables:
        contains = [
            column.icontains(form, autoescape=True)
            for column in table.columns
            if isinstance(column.type, Text)
            and not {column.name, f"{table.name}.{column.name}"} & _NO_TEXTS
            for form in sorted(forms)
        ]
        if contains and table.name not in _NO_TABLES:
            title = _WORDS.get(table.name, table.name.replace("_", " "))
            mentions += _mentions(connection, title, table, or_(*contains))
    for title, model, column in (
        ("annotators of that name", Annotator, Annotator.name),
        ("acts on findings by that name", FlagChange, FlagChange.made_by),
    ):
        mentions += _mentions(connection, title, model.__table__, column.in_(exact))
    return mentions


def _mentions(connection: Connection, title: str, table: Any, which: Any) -> list[Mention]:
    project, rows = table.columns.get("project_id"), table
    if table is Source.__table__:
        project, rows = Import.project_id, table.join(Import, Source.import_id == Import.id)
    elif table is Project.__table__:
        project = Project.id
    statement = select(func.count()).select_from(rows).where(which)
    if project is None:
        number = connection.execute(statement).scalar_one()
        return [Mention(None, title, number)] if number else []
    each = statement.add_columns(project).group_by(project)
    names = dict(connection.execute(select(Project.id, Project.name)).all())
    mentions = [Mention(names.get(row[1]), title, row[0]) for row in connection.execute(each)]
    return sorted(mentions, key=lambda mention: mention.project or "")


def forget_kept_texts(connection: Connection, names: Iterable[str]) -> None:
    """Delete kept answers, messages to webhooks and saved views that contain one of some names.

    Case counts: a text with the word "a" is not about an annotator "A".
    """
    words = {form for name in names for form in (name, json.dumps(name)[1:-1])}
    name = re.compile(rf"(?<!\w)({'|'.join(map(re.escape, words))})(?!\w)")
    for table, texts in (
        (_kept, (_kept.c.made_by, _kept.c.key, _kept.c.location, _kept.c.body)),
        (_messages, (_messages.c.body, _messages.c.fault)),
        (_views, (_views.c.name, _views.c.query)),
    ):
        keys = [*table.primary_key.columns]
        for row in connection.execute(select(*keys, *texts)).all():
            if name.search("\n".join(text or "" for text in row[len(keys) :])):
                which = [key == value for key, value in zip(keys, row[: len(keys)], strict=True)]
                connection.execute(delete(table).where(*which))


def erase_from_readings(connection: Connection, project_id: int, names: Sequence[str]) -> None:
    """Blank names in the records of how imports were read: columns named after annotators, files.

    A name may be a part of a column's or a file's, such as "Ann_tone" or "Ann.csv". Case counts: a
    column "a" is not named after an annotator "A".
    """
    words = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    name_in_word = re.compile(rf"(?<![^\W_])(?:{words})(?![^\W_])")

    def without(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            named_keys = key in {"columns", "left_out"}
            return {
                name_in_word.sub(ERASED, name) if named_keys else name: without(entry, name)
                for name, entry in value.items()
            }
        if isinstance(value, list):
            return [without(entry, key) for entry in value]
        if isinstance(value, str) and key in _NAMING:
            return name_in_word.sub(ERASED, value)
        return value

    texts = [json.dumps(name, ensure_ascii=False)[1:-1] for name in names]
    naming = or_(*(_imports.c.reading.contains(text, autoescape=True) for text in texts))
    statement = select(_imports.c.id, _imports.c.reading)
    statement = statement.where(_imports.c.project_id == project_id, naming)
    changed = [
        {"number": number, "now": json.dumps(without(json.loads(text)), ensure_ascii=False)}
        for number, text in connection.execute(statement)
    ]
    if changed:
        blank = update(_imports).where(_imports.c.id == bindparam("number"))
        connection.execute(blank.values(reading=bindparam("now")), changed)
