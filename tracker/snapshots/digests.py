"""Two chains that show whether the record was changed.

The *digest* runs over what was counted: numbers of the project's own, integers, the settings.
It leaves out names, the wall clock and everything computed with fractions, so that two
databases given the same changes have the same digests. The *seal* runs over every stored value,
those too. Each begins with that of the snapshot before it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from tracker.projects.question import FIRST
from tracker.snapshots.rows import PARTS, Parts

_COUNTED = {
    "snapshot_categories": ("category_id", "labels", "agreements", "potential_agreements"),
    "snapshot_patterns": ("pattern", "items"),
    "snapshot_annotators": ("annotator_id", "answers", "tallies"),
    "snapshot_pairs": ("first_id", "second_id", "cells"),
    "snapshot_flags": ("flag_id", "state"),
}
"""What is counted in each part; a pattern stands for itself, not for its number."""

_HEADER = ("id", "as_of", "last_change_id", "settings", "scale", "base_snapshot_id")
_COUNTS = ("items", "items_compared", "annotators", "answers", "labels")

_SEALED_AS = {"last_change_id": "through_change", "base_snapshot_id": "frame_id"}
"""The names of columns when the first snapshots were sealed."""


def snapshot_digest(
    before: str, header: Mapping[str, Any], parts: Parts, texts: Mapping[int, str]
) -> str:
    """Return the digest of a snapshot, in hexadecimal (SHA-256).

    Args:
        before: the digest of the snapshot before it; empty for the first.
        header: the snapshot's row.
        parts: the rows that hang on it.
        texts: the patterns as JSON, by number.
    """
    counted = {
        table.name: [
            [texts[row["pattern_id"]] if c == "pattern" else row[c] for c in _COUNTED[table.name]]
            for row in parts.get(table, [])
        ]
        for table in PARTS
        if table.name in _COUNTED
    }
    # The order of texts differs between programs, that of numbers does not.
    counted["snapshot_patterns"].sort()
    return _sha256(before, [header[name] for name in (*_HEADER, *_COUNTS)], counted)


def snapshot_parts_digest(parts: Parts) -> str:
    """Return the digest of every stored value that hangs on a snapshot's row."""
    return _sha256(
        {table.name: [list(row.values()) for row in parts.get(table, [])] for table in PARTS}
    )


def snapshot_seal(before: str, header: Mapping[str, Any], parts: str) -> str:
    """Return the seal of a snapshot, in hexadecimal (SHA-256); its row must have its digest.

    Args:
        before: the seal of the snapshot before it; empty for the first.
        header: the snapshot's row; what it says of its project, whose numbers may differ from
            one database to another, and of its own seal is not sealed.
        parts: the digest of the rows that hang on it.
    """
    sealed = {
        _SEALED_AS.get(name, name): value
        for name, value in header.items()
        if name not in {"project_id", "seal"} and (name, value) != ("question_id", FIRST)
    }
    return _sha256(before, sealed, parts)


def _sha256(*values: Any) -> str:
    text = json.dumps(values, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
