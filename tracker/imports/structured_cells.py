"""Cells that hold JSON, or a list as Python writes it: several categories, or what to do."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace
from typing import Any

from tracker.formats.batch import LISTED, Cells

_ESCAPE = r"""\\[\\'"abfnrtvxuU]"""
_VALUE = rf"""(?:'(?:[^'\\]|{_ESCAPE})*'|"(?:[^"\\]|{_ESCAPE})*"|-?\d+(?:\.\d+)?)"""
_PYTHON_LIST = re.compile(rf"\[\s*{_VALUE}(?:\s*,\s*{_VALUE})*\s*,?\s*\]")
"""A list of texts and numbers; without a comma between two of them Python would make them one."""

_RESULTS = {"choices", "labels", "hypertextlabels", "rectanglelabels", "rating", "taxonomy"}
_PLACES = {"start", "end", "x", "y"}


def listed_texts(text: str) -> list[str] | None:
    """Return the texts of a cell that is a list of texts or numbers; None for anything else."""
    if text[:1] + text[-1:] != "[]":
        return None
    value = _value(text)
    if value is None and _PYTHON_LIST.fullmatch(text):
        with suppress(ValueError, SyntaxError):
            value = ast.literal_eval(text)
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


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _is_of_label_studio(value: Any) -> bool:
    """Return whether a value is one of those that no other tool writes."""
    if isinstance(value, dict):
        return value.keys() == {"choices"} and isinstance(value["choices"], list)
    if not isinstance(value, list) or not value or not all(isinstance(v, dict) for v in value):
        return False
    return all(v.keys() == {"rating"} or ({*v} & _RESULTS and {*v} & _PLACES) for v in value)
