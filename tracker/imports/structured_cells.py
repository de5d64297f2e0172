"""Cells that hold JSON, or a list as Python writes it: several categories, or what to do."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from tracker.formats.batch import KEEP, LISTED, Batch, Cells, Faults

_ESCAPE = r"""\\[\\'"abfnrtvxuU]"""
_VALUE = rf"""(?:'(?:[^'\\]|{_ESCAPE})*'|"(?:[^"\\]|{_ESCAPE})*"|-?\d+(?:\.\d+)?|None|True|False)"""
_PYTHON_LIST = re.compile(rf"\[\s*{_VALUE}(?:\s*,\s*{_VALUE})*\s*,?\s*\]")
"""A list of texts and numbers; without a comma between two of them Python would make them one."""

_NAMES = re.compile(r"""\s*\[\s*(?:['"]|-?\d+\s*[,\]]|\])""")
"""The beginning of a list of texts or numbers."""
_NEVER_LISTS = ("item", "text", "gold")

_RESULTS = {"choices", "labels", "hypertextlabels", "rectanglelabels", "rating", "taxonomy"}
_PLACES = {"start", "end", "x", "y"}


def listed_texts(text: str) -> list[str] | None:
    """Return the texts of a cell that is a list of texts or numbers; None for anything else."""
    value = _value(text) if text[:1] + text[-1:] == "[]" else None
    if not isinstance(value, list) or not {*map(type, value)} <= {str, int, float}:
        return None
    return [str(member).strip() for member in value]


def advice_for_structure(text: str, answers: str) -> str:
    """Return what to do about a cell that is no category but a list or an object."""
    if _is_of_label_studio(_value(text)):
        return "so Label Studio writes answers: import its export as it is, with all its columns"
    if answers == "one" and listed_texts(text):
        return "if it is several categories, the question is of several: --answers several"
    return "write one category a row, name another column with --map category=COLUMN, or declare it"


def with_lists(cells: Cells, known: Collection[str]) -> Cells:
    """Return a column whose cells that are lists are such, see `LISTED`.

    ``known`` are categories, one of which may look like a list.
    """
    if not any(text.lstrip()[:1] == "[" for text in cells.texts):
        return cells

    def change(text: str) -> str:
        listed = None if text.strip() in known else listed_texts(text.strip())
        return text if listed is None else LISTED + LISTED.join(dict.fromkeys(listed))

    return replace(cells.mapped(change), listed=True)


def with_parallel_lists(batch: Batch, bad: Faults) -> Batch:
    """Return a batch with a record for each member of lists of annotators and their categories.

    Reasons for other lists of annotators are added to ``bad``: a list is never a name.
    """
    names = batch.columns.get("annotator")
    if names is None or not any(map(_NAMES.match, names.texts)):
        return batch
    every = np.arange(len(batch.lines))
    columns = [cells.at(every) for cells in batch.columns.values()]
    rows: list[int] = []
    records: list[dict[str, str]] = []
    for row, texts in enumerate(zip(*columns, strict=True)):
        parts = [dict(zip(batch.columns, texts, strict=True))]
        annotators = parts[0]["annotator"]
        if _NAMES.match(annotators):
            lists = {
                role: members
                for role, text in parts[0].items()
                if not role.startswith((KEEP, *_NEVER_LISTS))
                and (members := _members(text)) is not None
            }
            numbers = {len(members): role for role, members in reversed(lists.items())}
            if "annotator" not in lists or not any(role.startswith("category") for role in lists):
                reason = f"the annotator is a list, {annotators}, and the category is not"
                bad.add(len(rows), reason, "annotator")
            elif len(numbers) > 1:
                number = len(lists["annotator"])
                other, role = next(pair for pair in numbers.items() if pair[0] != number)
                reason = f"{number} annotators, and {other} of {role.rpartition(':')[2]!r}"
                bad.add(len(rows), reason, role)
            else:
                parts = [
                    parts[0] | dict(zip(lists, each, strict=True))
                    for each in zip(*lists.values(), strict=True)
                ]
        rows += [row] * len(parts)
        records += parts
    cells = {
        role: replace(Cells.of_texts([each[role] for each in records]), listed=column.listed)
        for role, column in batch.columns.items()
    }
    return replace(
        batch, lines=batch.lines[np.array(rows, np.int64)], columns=cells, rows_repeat=True
    )


def _members(text: str) -> list[str] | None:
    value = _value(text)
    if not isinstance(value, list) or any(isinstance(member, dict) for member in value):
        return None
    return [
        "" if member is None else member if isinstance(member, str) else json.dumps(member)
        for member in value
    ]


def _value(text: str) -> Any:
    """Return the value of a text that is JSON, or a list of texts and numbers as in Python."""
    with suppress(ValueError, RecursionError):
        return json.loads(text)
    with suppress(ValueError, SyntaxError):
        return ast.literal_eval(text.strip()) if _PYTHON_LIST.fullmatch(text.strip()) else None
    return None


def _is_of_label_studio(value: Any) -> bool:
    """Return whether a value is one of those that no other tool writes."""
    if isinstance(value, dict):
        return value.keys() == {"choices"} and isinstance(value["choices"], list)
    if not isinstance(value, list) or not value or not all(isinstance(v, dict) for v in value):
        return False
    return all(v.keys() == {"rating"} or ({*v} & _RESULTS and {*v} & _PLACES) for v in value)
