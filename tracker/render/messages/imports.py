"""What an import read, in words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from shlex import quote
from typing import Any, Final

_MOST: Final = 8  # columns that are listed
_OF_TIME: Final = re.compile("date|time|datum|when", re.IGNORECASE)


def columns_sentence(columns: Mapping[str, Any], *, items: bool = False) -> str | None:
    """Return which column was read as what; None if all have the names of their roles.

    Args:
        columns: of one file, as the import's JSON has them.
        items: whether the file lists items.
    """
    if columns.get("format"):
        return _tool_sentence(columns)
    read, kept, left = columns["read"], columns["kept"], columns["left_out"]
    annotators = columns["annotators"]
    asked = columns.get("questions", {})
    if not (left or annotators or asked) and all(role == name for role, name in read.items()):
        return None
    parts = [f"columns: {', '.join(f'{role}={name}' for role, name in read.items())}"]
    if asked:
        parts.append(f"questions: {_listed([f'{name}={one}' for name, one in asked.items()])}")
    parts += [f"one per annotator: {_listed(annotators)}"] if annotators else []
    parts += [f"kept: {_listed(kept)}"] if kept else []
    parts += [f"left out: {_listed(left)} ({_advice(left, items)})"] if left else []
    return "; ".join(parts)


def _tool_sentence(columns: Mapping[str, Any]) -> str:
    """Return what was read of an annotation tool's file, and what was left out."""
    asked = [name if name == one else f"{name}={one}" for name, one in columns["questions"].items()]
    fields = [f"{role}={name}" for role, name in columns["read"].items()]
    parts = [f"read as {columns['format']}: questions: {_listed(asked)}"]
    parts += [f"fields: {', '.join(fields)}"] if fields else []
    parts += [f"left out: {_listed(columns['left_out'])}"] if columns["left_out"] else []
    return "; ".join(parts)


def question_sentence(told: Mapping[str, Any]) -> str:
    """Return what became of the answers to one question of an import."""
    fates = ("inserted", "changed", "unchanged", "older")
    counts = [f"{told[fate]:,} {fate}" for fate in fates if told[fate]]
    skipped = f", of them {told['skipped']:,} say nothing" if told["skipped"] else ""
    return f"  {told['question']}: {told['answers']:,} answers{skipped}; {', '.join(counts)}"


def _advice(left: Sequence[str], items: bool) -> str:
    if items:
        return f"to keep one: --keep {quote(left[0])}"
    of_time = next((name for name in left if _OF_TIME.search(name)), None)
    name = left[0] if of_time is None else of_time
    role = "ROLE" if of_time is None else "labeled_at"
    return f"to use one: --map {quote(f'{role}={name}')} or --keep {quote(name)}"


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST
    return ", ".join(names[:_MOST]) + (f" and {more:,} more" if more > 0 else "")
