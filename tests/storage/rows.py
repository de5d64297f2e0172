"""A row or more of every table of a ledger."""

from __future__ import annotations

from typing import Any

from tracker.storage.database import Database
from tracker.storage.schema import Base

APPEND_ONLY = [
    "batches", "changes", "decisions", "flag_changes", "flag_sightings", "flags", "patterns",
    "seals", "snapshot_annotators", "snapshot_categories", "snapshot_flags", "snapshot_measures",
    "snapshot_pairs", "snapshot_patterns", "snapshots", "tombstones",
]  # fmt: skip
"""The tables that refuse UPDATE and DELETE."""

_SPAN = {"span_start": -1, "span_end": -1}
_LABEL = {"item_id": 1, "pass": 1, "has_own_time": True, "change_id": 2, "source": 1} | _SPAN
_SNAPSHOT = {"taken_at": 9, "last_change_id": 3, "version": "0.1.0", "scale": "nominal"}
_SNAPSHOT |= {"settings": "{}", "base_snapshot_id": 1, "digest": "00", "seal": "00", "items": 1}
_SNAPSHOT |= {"items_compared": 0, "annotators": 1, "answers": 1, "labels": 1}
_SIGHTING = {"number": 1, "seen_at": 9, "severity": "low", "informative": 10, "evidence": "{}"}
_FOUND = {"number": 1, "state": "open", "action": "found", "made_at": 9, "informative": 10}
_PLACE = {"annotator_id": 1, "change_id": 2, "place": 1}
_RECORD = {"item_id": 1, "given_as": 2, "pass": 1, "labeled_at": 5, "change_id": 2, "source": 1}

_ROWS: list[tuple[str, dict[str, Any]]] = [
    ("projects", {"id": 1, "name": "p", "created_at": 1, "timezone": "Europe/Berlin"}
        | {"tentative_from": 0.6, "good_from": 0.75, "media_hosts": "https://m.example.org"}
        | {"item_link": "https://l.example.org/{item}"}),
    ("questions", {"id": 1, "name": "label", "answers": "one", "scale": "nominal"}
        | {"offsets": "characters", "categories_fixed": True, "target_answers": 2}
        | {"goal": "krippendorff_alpha +-0.05", "deadline": "2026-12-31", "preference": True}
        | {"instructions": "Read it twice.", "also_asks": "confidence"}),
    ("changes", {"id": 1, "kind": "create", "recorded_at": 1, "detail": "{}"}),
    ("changes", {"id": 2, "kind": "import", "recorded_at": 2, "detail": "{}"}),
    ("changes", {"id": 3, "kind": "alias", "recorded_at": 3, "detail": "{}"}),
    ("categories", {"id": -1, "name": None}),
    ("categories", {"id": 0, "name": None}),
    ("categories", {"id": 1, "name": "a"}),
    ("annotators", {"id": 1, "name": "A", "kind": "human"}),
    ("annotators", {"id": 2, "name": "B", "kind": "human"}),
    ("aliases", {"alias_id": 2, "annotator_id": 1, "from_change": 3}),
    ("items", {"id": 1, "name": "i", "text": "t", "length": 3}),
    ("item_attributes", {"item_id": 1, "name": "language", "value": "nl"}),
    ("item_aliases", {"name": "4711", "from_change": 2, "item_id": 1, "to_change": 3}),
    ("imports", {"id": 1, "change_id": 2, "rows": 1, "inserted": 1, "changed": 0}
        | {"unchanged": 0, "older": 0, "rejected": 0, "reading": '{"read": {}, "left_out": {}}'}),
    ("sources", {"import_id": 1, "number": 1, "name": "f.csv", "digest": "00"}),
    ("labels", _LABEL | {"annotator_id": 1, "category_id": 1, "given_as": 2, "labeled_at": 5}
        | {"spent_ms": 9}),
    ("past_labels", _LABEL | {"annotator_id": 1, "category_id": 0, "given_as": 1}
        | {"labeled_at": 4, "spent_ms": 9}),
    ("answer_details", _RECORD | {"confidence": 0.5, "comment": "unsure"}),
    ("withdrawals", _RECORD | {"change_id": 1, "from_change": 2, "to_change": 3}),
    ("touched", {"change_id": 2, "first_item": 1, "last_item": 1}),
    ("notes", {"id": 1, "at": 7, "text": "v2", "change_id": 3, "guideline": "v2"}),
    ("snapshots", _SNAPSHOT | {"id": 1, "name": "s"}),
    ("snapshots", _SNAPSHOT | {"id": 2, "name": "thinned out"}),
    ("tombstones", {"snapshot_id": 2, "thinned_at": 9, "parts": "00"}),
    ("patterns", {"id": 1, "pattern": "[[[1],1]]"}),
    ("snapshot_patterns", {"snapshot_id": 1, "pattern_id": 1, "items": 1}),
    ("snapshot_annotators", {"snapshot_id": 1, "annotator_id": 1, "answers": 1, "tallies": "[]"}),
    ("snapshot_measures", {"snapshot_id": 1, "position": 0, "measure": "m", "confidence": 0.95}
        | {"items": 1, "value": 0.5, "details": "{}"}),
    ("snapshot_categories", {"snapshot_id": 1, "position": 0, "category_id": 1, "labels": 2}
        | {"agreements": 0, "potential_agreements": 1, "rate": 0.0}),
    ("snapshot_pairs", {"snapshot_id": 1, "first_id": 1, "second_id": 2, "cells": "[]"}),
    ("flags", {"id": 1, "annotator_id": 1, "other_id": 2, "kind": "k", "category_id": 1}
        | {"found_at": 9}),
    ("flags", {"id": 2, "kind": "weak_slice", "category_id": 0, "found_at": 9}
        | {"subject": "language=nl"}),
    ("flag_sightings", _SIGHTING | {"flag_id": 1}),
    ("flag_sightings", _SIGHTING | {"flag_id": 2}),
    ("flag_changes", _FOUND | {"flag_id": 1}),
    ("flag_changes", _FOUND | {"flag_id": 1, "number": 2, "action": "appealed", "made_by": "B"}
        | {"note": "not I"}),
    ("flag_changes", _FOUND | {"flag_id": 1, "number": 3, "action": "rejected"}
        | {"made_by": "ann", "note": "no"}),
    ("flag_changes", _FOUND | {"flag_id": 2}),
    ("snapshot_flags", {"snapshot_id": 1, "flag_id": 1, "state": "open"}),
    ("purges", {"project_id": 7, "purged_at": 3}),
    *(("item_facts", {"item_id": 1, "role": role, "name": name, "change_id": change}
        | {"value": value, "same_as": same_as})
        for role, name, change, value, same_as in (
            ("attribute", "language", 2, "nl", None), ("attribute", "language", 3, None, 2),
            ("text", "", 2, "t", None), ("length", "", 2, "3", None))),
    ("annotator_facts", {"annotator_id": 1, "role": "annotator", "change_id": 2, "value": ""}),
    ("annotator_facts", {"annotator_id": 1, "role": "kind", "change_id": 2, "value": "human"}),
    ("annotator_facts", {"annotator_id": 1, "role": "presence", "change_id": 3, "value": "left 5"}),
    ("annotator_attributes", {"annotator_id": 1, "name": "team", "change_id": 2, "value": "n"}),
    ("category_facts", {"category_id": 1, "role": "position", "change_id": 1, "value": 1}),
    ("category_merges", {"from_change": 3, "category_id": 1, "into_id": 0}),
    ("merged_labels", _RECORD | _SPAN | {"merge_id": 3, "beside": False}),
    ("seals", {"id": 1, "last_change_id": 3, "sealed_at": 9, "found": "{}", "added": "{}"}
        | {"state": "{}", "digest": "00"}),
    ("syncs", {"change_id": 2, "tool": "label-studio", "source": "http://l/projects/1"}
        | {"until": 5, "asked": "{}"}),
    ("users", {"name": "ada", "role": "annotator", "password": "hash", "session": 1}
        | {"created_at": 5}),
    ("user_annotators", {"user_id": 1, "annotator_id": 1}),
    ("tokens", {"user_id": 1, "name": "t", "role": "annotator", "digest": "00", "created_at": 5}
        | {"expires_at": 9}),
    ("signing_keys", {"id": 1, "key": "00"}),
    ("keyed_requests", {"made_by": "ada", "key": "k", "digest": "00", "made_at": 5}),
    ("webhooks", {"url": "https://example.org", "events": "gate_failed", "secret": "00"}
        | {"allow_private": False, "created_at": 5}),
    ("deliveries", {"webhook_id": 1, "event": "gate_failed", "body": "{}", "made_at": 5}
        | {"attempts": 0, "next_at": 5}),
    ("access_changes", {"made_at": 5, "kind": "set password", "detail": '{"user": "ada"}'}),
    ("saved_views", {"name": "to look at", "query": "{}"}),
    ("batches", {"change_id": 2, "until": 9, "round": "first"}),
    ("assignments", _PLACE | {"item_id": 1, "why": "fresh"}),
    ("drafts", _PLACE | {"given": '{"labels": ["a"]}', "given_at": 7, "spent_ms": 8}),
    ("decisions", {"item_id": 1, "change_id": 2, "reason": "ambiguous", "made_by": "ada"}
        | {"note": "It may be either."}),
    ("lakes", {"address": "/lake", "roles": '{"item": "doc"}', "engine": "duckdb"}),
    ("lake_files", {"number": 1, "path": "/lake/a.parquet", "size": 9, "modified_at": 8}
        | {"identity": "1 7"}
        | {"digest": "d", "labels": 3, "part": 1, "from_change": 1, "source": 1, "to_change": 2}),
    ("lake_names", {"role": "annotator", "text": "Ada ", "number": 1}),
]  # fmt: skip
"""In an order in which they can be inserted; of the first project and question, if of any."""


def sample() -> dict[str, list[dict[str, Any]]]:
    rows: dict[str, list[dict[str, Any]]] = {}
    for name, values in _ROWS:
        columns = Base.metadata.tables[name].columns
        numbers = {key: 1 for key in ("project_id", "question_id") if key in columns}
        rows.setdefault(name, []).append(numbers | values)
    return rows


def fill(database: Database) -> None:
    with database.write() as connection:
        for name, rows in sample().items():
            for row in rows:
                connection.execute(Base.metadata.tables[name].insert(), row)
