"""Values of a form's fields: plain text, or JSON with categories, boxes that were ticked, spans."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from shlex import quote
from typing import Any

from tracker.imports.readers.answers import Span, field_text
from tracker.imports.readers.offsets import CharacterPlaces
from tracker.imports.readers.shapes import Malformed, category_of, objects_in, span_of

_ESCAPED_COMMA = re.compile(r"(?<!\\)((?:\\\\)*)\\,")
_TICKED = "on"
_ONE = ("label", "value", "on")
_SEVERAL = ("labels", "values")

Labels = list[str | Span]


def value_of_cell(cell: str, column: str) -> Any:
    """Return the value of a cell: what it holds as JSON, or its text. Raises Malformed.

    A comma may have a backslash before it, which JSON does not know.
    """
    text = cell.strip()
    if text[:1] not in {"{", "["}:
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        with suppress(ValueError, RecursionError):
            return json.loads(_ESCAPED_COMMA.sub(r"\1,", text))
        raise Malformed(
            f"the cell of {column!r} looks like JSON and is none: {text[:40]} ({error})",
            f"correct the cell, or leave the column out: --ignore {quote(column)}",
        ) from None


def labels_of_value(value: Any, text: str) -> Labels | None:
    """Return the categories or spans of a value; none for one that says nothing.

    An object of booleans is a group of boxes, and has the names of those that are ticked. The
    places of spans are of a browser, which counts in UTF-16; ``text`` is what they are in. None
    for a value of another kind, such as a drawing. Raises Malformed.
    """
    if isinstance(value, list):
        plain = not any(isinstance(one, list | dict) for one in value)
        return [category_of(one, "a value of a list") for one in value] if plain else None
    if not isinstance(value, Mapping):
        category = field_text(value)
        return [category] if category.strip() else []
    if isinstance(value.get("entities"), list):
        return _spans(value, text)
    name, inner = next(iter(value.items()), ("", None))
    is_inner = (name in _ONE and isinstance(inner, str | int | float)) or (
        name in _SEVERAL and isinstance(inner, list)
    )
    if len(value) == 1 and is_inner:
        return labels_of_value(inner, text)
    return ticked(value)


def ticked(boxes: Mapping[str, Any]) -> Labels | None:
    """Return the names of boxes that are true, as such or as ``{"on": true}``; None for others."""
    found: Labels = []
    for name, box in boxes.items():
        value = box.get(_TICKED) if isinstance(box, Mapping) and len(box) == 1 else box
        if value is True or value == "true":
            found.append(name)
        elif value is not False and value != "false":
            return None
    return found


def _spans(value: Mapping[str, Any], text: str) -> Labels:
    places = CharacterPlaces(text)
    found: Sequence[Span] = [
        span_of(one.get("label"), one.get("startOffset"), one.get("endOffset"))
        for one in objects_in(value, "entities")
    ]
    return [Span(one.category, places.of(one.start), places.of(one.end)) for one in found]
