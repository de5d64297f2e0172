"""Rows of a ledger at each revision of its schema, and the tables that only grow."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, text

from tracker.storage.database import HEAD, Database
from tracker.storage.schema import Base

APPEND_ONLY = [
    "changes",
    "flag_changes",
    "flag_sightings",
    "flags",
    "patterns",
    "seals",
    "snapshot_annotators",
    "snapshot_categories",
    "snapshot_flags",
    "snapshot_measures",
    "snapshot_pairs",
    "snapshot_patterns",
    "snapshots",
    "tombstones",
]


RENAMED = {
    "labelled_at": "labeled_at",
    "timed": "has_own_time",
    "through_change": "last_change_id",
    "frame_id": "base_snapshot_id",
}
"""Columns that revision 0004 named anew."""
SETTINGS = {
    "answers": "answers",
    "scale": "scale",
    "offsets": "offsets",
    "closed": "categories_fixed",
    "wanted": "target_answers",
}
"""Settings of projects that it made those of questions."""


def with_questions(rows: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    """Rows of an older revision as 0004 holds them: each project asks one question."""
    asked = [
        {"project_id": row["id"], "id": 1, "name": "label"}
        | {new: row[old] for old, new in SETTINGS.items()}
        for row in rows["projects"]
    ]
    projects = [
        {name: value for name, value in row.items() if name not in SETTINGS}
        for row in rows["projects"]
    ]
    others = {
        name: [
            {RENAMED.get(column, column): value for column, value in row.items()}
            | ({"question_id": 1} if "question_id" in Base.metadata.tables[name].c else {})
            for row in held
        ]
        for name, held in rows.items()
        if name != "projects"
    }
    return {"projects": projects, "questions": asked, **others}


def sample(revision: str) -> dict[str, list[dict[str, Any]]]:
    """Rows of a ledger at a revision, in an order in which they can be inserted."""
    p = {"project_id": 1}
    label = p | {"item_id": 1, "pass": 1, "span_start": -1, "span_end": -1, "timed": True}
    label |= {"labelled_at": 5, "change_id": 2, "source": 1, "spent_ms": 9}
    samples: dict[str, dict[str, list[dict[str, Any]]]] = {
        "0001": {
            "projects": [
                {"id": 1, "name": "p", "answers": "one", "scale": "nominal", "closed": True}
                | {"offsets": "characters", "wanted": 2, "created_at": 1, "archived_at": None}
            ],
            "changes": [
                p | {"id": n, "kind": kind, "recorded_at": n, "detail": "{}"}
                for n, kind in enumerate(("create", "import", "alias"), 1)
            ],
            "categories": [
                p | {"id": n, "name": name} for n, name in ((-1, None), (0, None), (1, "a"))
            ],
            "annotators": [
                p | {"id": n, "name": name, "kind": "human"} for n, name in ((1, "A"), (2, "B"))
            ],
            "aliases": [
                p | {"alias_id": 2, "annotator_id": 1, "from_change": 3, "to_change": None}
            ],
            "items": [p | {"id": 1, "name": "i", "text": "t", "length": 3}],
            "item_attributes": [p | {"item_id": 1, "name": "language", "value": "nl"}],
            "imports": [
                p
                | {"id": 1, "change_id": 2, "rows": 1, "inserted": 1, "changed": 0}
                | {"unchanged": 0, "older": 0, "rejected": 0, "undone_by": None}
            ],
            "sources": [{"import_id": 1, "number": 1, "name": "f.csv", "digest": "00"}],
            "labels": [label | {"annotator_id": 1, "category_id": 1, "given_as": 2}],
            "past_labels": [
                label
                | {"annotator_id": 1, "category_id": 0, "given_as": 1, "taken_back_by": None}
                | {"labelled_at": 4}
            ],
            "snapshots": [
                p
                | {"id": number, "name": name, "note": None, "taken_at": 9, "through_change": 3}
                | {"version": "0.1.0", "scale": "nominal", "selection": None, "as_of": None}
                | {"settings": "{}", "frame_id": 1, "digest": "00", "seal": "00"}
                | {"items": 1, "items_compared": 0}
                | {"annotators": 1, "answers": 1, "labels": 1}
                for number, name in ((1, "s"), (2, "thinned out"))
            ],
            "tombstones": [p | {"snapshot_id": 2, "thinned_at": 9, "parts": "00"}],
            "patterns": [p | {"id": 1, "pattern": "[[[1],1]]"}],
            "snapshot_patterns": [p | {"snapshot_id": 1, "pattern_id": 1, "items": 1}],
            "snapshot_annotators": [
                p | {"snapshot_id": 1, "annotator_id": 1, "answers": 1, "tallies": "[[[1],1,1]]"}
            ],
            "snapshot_pairs": [
                p | {"snapshot_id": 1, "first_id": 1, "second_id": 2, "cells": "[]"}
            ],
            "touched": [p | {"change_id": 2, "first_item": 1, "last_item": 1}],
            "notes": [p | {"id": 1, "at": 7, "text": "v2", "change_id": 3, "removed_by": None}],
            "flags": [
                p
                | {"id": 1, "annotator_id": 1, "other_id": 2, "kind": "k", "category_id": 1}
                | {"found_at": 9}
            ],
            "flag_sightings": [
                p
                | {"flag_id": 1, "number": 1, "seen_at": 9, "severity": "low", "informative": 10}
                | {"evidence": "{}"}
            ],
            "flag_changes": [
                p
                | {"flag_id": 1, "number": number, "state": "open", "action": action}
                | {"made_at": 9, "made_by": by, "note": note, "informative": 10}
                for number, action, by, note in (
                    (1, "found", None, None),
                    (2, "appealed", "B", "not I"),
                )
            ],
            "snapshot_flags": [p | {"snapshot_id": 1, "flag_id": 1, "state": "open"}],
            "purges": [{"project_id": 7, "purged_at": 3}],
        }
    }
    samples["0002"] = samples["0001"] | {
        "item_facts": [
            p
            | {"item_id": 1, "role": role, "name": name, "change_id": change}
            | {"value": value, "same_as": same_as}
            for role, name, change, value, same_as in (
                ("attribute", "language", 2, "nl", None),
                ("attribute", "language", 3, None, 2),
                ("text", "", 2, "t", None),
                ("length", "", 2, "3", None),
            )
        ],
        "annotator_facts": [
            p | {"annotator_id": 1, "role": role, "change_id": 2, "value": value}
            for role, value in (("annotator", ""), ("kind", "human"))
        ],
        "category_facts": [p | {"category_id": 1, "role": "position", "change_id": 1, "value": 1}],
        "category_merges": [
            p | {"from_change": 3, "category_id": 1, "into_id": 0, "to_change": None}
        ],
        "merged_labels": [
            p
            | {"merge_id": 3, "item_id": 1, "given_as": 2, "pass": 1, "change_id": 2, "source": 1}
            | {"labelled_at": 5, "span_start": -1, "span_end": -1, "beside": False}
        ],
        "seals": [
            p
            | {"id": 1, "through_change": 3, "sealed_at": 9, "found": "{}", "added": "{}"}
            | {"state": "{}", "digest": "00"}
        ],
    }
    samples["0003"] = samples["0002"]
    samples["0004"] = with_questions(samples["0003"])
    samples["0005"] = samples["0004"] | {
        "annotator_attributes": [
            p | {"annotator_id": 1, "name": "team", "change_id": 2, "value": "north"}
        ],
        "answer_details": [
            p
            | {"question_id": 1, "item_id": 1, "given_as": 2, "pass": 1, "labeled_at": 5}
            | {"change_id": 2, "source": 1, "confidence": 0.5, "comment": "unsure"}
        ],
        "notes": [row | {"guideline": "v2"} for row in samples["0004"]["notes"]],
    }
    samples["0006"] = samples["0007"] = samples["0005"]
    samples["0008"] = samples["0007"] | {
        "syncs": [
            p
            | {"change_id": 2, "tool": "label-studio", "source": "http://l/projects/1"}
            | {"since": None, "until": 5, "asked": "{}"}
        ],
        "withdrawals": [
            p
            | {"question_id": 1, "item_id": 1, "given_as": 2, "pass": 1, "labeled_at": 5}
            | {"change_id": 1, "source": 1, "from_change": 2, "to_change": 3}
        ],
    }
    samples["0009"] = samples["0008"] | {
        "users": [
            {"name": "ada", "role": "annotator", "password": "hash", "session": 1}
            | {"subject": None, "created_at": 5}
        ],
        "user_annotators": [p | {"user_id": 1, "annotator_id": 1}],
        "tokens": [
            {"user_id": 1, "name": "t", "role": "annotator", "digest": "00", "created_at": 5}
            | {"expires_at": 9, "used_at": None}
        ],
        "signing_keys": [{"id": 1, "key": "00"}],
    }
    samples["0010"] = samples["0009"] | {
        "item_aliases": [p | {"name": "4711", "from_change": 2, "item_id": 1, "to_change": 3}]
    }
    samples["0011"] = samples["0010"] | {
        "keyed_requests": [
            {"made_by": "ada", "key": "k", "digest": "00", "made_at": 5}
            | {"status": None, "location": None, "body": None}
        ],
        "webhooks": [
            {"project_id": 1, "url": "https://example.org", "events": "gate_failed"}
            | {"secret": "00", "allow_private": False, "created_at": 5}
        ],
        "deliveries": [
            p
            | {"webhook_id": 1, "event": "gate_failed", "body": "{}", "made_at": 5}
            | {"attempts": 0, "next_at": 5, "delivered_at": None, "fault": None}
        ],
    }
    samples["0012"] = samples["0011"] | {
        "access_changes": [
            {"made_at": 5, "made_by": None, "kind": "set password", "detail": '{"user": "ada"}'}
        ],
    }
    samples["0013"] = samples["0012"]
    samples["0014"] = samples["0013"] | {
        "projects": [row | {"timezone": "Europe/Berlin"} for row in samples["0013"]["projects"]],
        "annotator_facts": [
            *samples["0013"]["annotator_facts"],
            p | {"annotator_id": 1, "role": "presence", "change_id": 3, "value": "left 5"},
        ],
        "flag_changes": [
            *samples["0013"]["flag_changes"],
            samples["0013"]["flag_changes"][0]
            | {"number": 3, "action": "rejected", "made_by": "ann", "note": "no"},
        ],
    }
    samples["0015"] = samples["0014"] | {
        "imports": [
            row | {"reading": '{"read": {}, "left_out": {}}'} for row in samples["0014"]["imports"]
        ]
    }
    samples["0016"] = samples["0015"] | {
        "flags": [
            *(row | {"subject": None} for row in samples["0015"]["flags"]),
            samples["0015"]["flags"][0]
            | {"id": 2, "annotator_id": None, "other_id": None, "kind": "weak_slice"}
            | {"category_id": 0, "subject": "language=nl"},
        ],
        **{
            name: [*samples["0015"][name], samples["0015"][name][0] | {"flag_id": 2}]
            for name in ("flag_sightings", "flag_changes")
        },
    }
    samples["0017"] = samples["0016"] | {
        "projects": [
            row
            | {"tentative_from": 0.6, "good_from": 0.75, "media_hosts": "https://m.example.org"}
            | {"item_link": "https://l.example.org/{item}"}
            for row in samples["0016"]["projects"]
        ],
        "saved_views": [p | {"name": "to look at", "query": "{}"}],
    }
    samples["0018"] = samples["0017"] | {
        "questions": [
            row | {"goal": "krippendorff_alpha +-0.05", "deadline": "2026-12-31"}
            for row in samples["0017"]["questions"]
        ],
    }
    samples["0019"] = samples["0018"] | {
        "questions": [
            row | {"instructions": "Read it twice.", "also_asks": "confidence"}
            for row in samples["0018"]["questions"]
        ],
        "batches": [p | {"change_id": 2, "question_id": 1, "until": 9, "round": "first"}],
        "assignments": [
            p
            | {"annotator_id": 1, "change_id": 2, "place": 1, "item_id": 1, "why": "fresh"}
            | {"withdrawn_by": None}
        ],
        "drafts": [
            p
            | {"annotator_id": 1, "change_id": 2, "place": 1, "question_id": 1}
            | {"given": '{"labels": ["a"]}', "given_at": 7, "spent_ms": 8}
        ],
        "decisions": [
            p
            | {"question_id": 1, "item_id": 1, "change_id": 2, "reason": "ambiguous"}
            | {"note": "It may be either.", "made_by": "ada", "settled_by": None}
        ],
    }
    samples["0020"] = samples["0019"] | {
        "questions": [row | {"preference": True} for row in samples["0019"]["questions"]]
    }
    samples["0021"] = samples["0020"]  # what it keeps may go at any time
    samples["0022"] = samples["0021"] | {
        "lakes": [p | {"address": "/lake", "roles": '{"item": "doc"}', "engine": "duckdb"}],
        "lake_files": [
            p
            | {"number": 1, "path": "/lake/a.parquet", "size": 9, "modified_at": 8, "digest": "d"}
            | {"labels": 3, "part": 1, "from_change": 1, "source": 1, "to_change": 2}
        ],
        "lake_names": [p | {"role": "annotator", "text": "Ada ", "number": 1}],
    }
    samples["0023"] = samples["0022"]
    return samples[revision]


def put(connection: Connection, tables: dict[str, list[dict[str, Any]]]) -> None:
    """Insert rows as the tables are at a revision, whatever the models are."""
    quote = connection.dialect.identifier_preparer.quote
    for name, rows in tables.items():
        columns = ", ".join(quote(column) for column in rows[0])
        marks = ", ".join(f":{column}" for column in rows[0])
        connection.execute(text(f"INSERT INTO {quote(name)} ({columns}) VALUES ({marks})"), rows)


def fill(database: Database) -> None:
    """Put the sample of the newest revision into a database."""
    with database.write() as connection:
        for name, rows in sample(HEAD).items():
            connection.execute(Base.metadata.tables[name].insert(), rows)
