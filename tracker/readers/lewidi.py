"""LeWiDi (learning with disagreements): an object of items with the answer of each annotator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tracker.core.errors import Refused
from tracker.formats.answers import Answer, Fields, field_text, tool_reader
from tracker.formats.reader import Reading
from tracker.formats.source import SourceFile
from tracker.formats.streams import head_value, json_records

_NO_DATA = {"annotators", "annotations", "soft_label", "hard_label", "number of annotations",
            "number of annotators"}  # fmt: skip


def recognizes_lewidi(source: SourceFile) -> bool:
    first = head_value(source)
    item = next(iter(first.values()), None) if isinstance(first, dict) else None
    return isinstance(item, dict) and item.keys() >= {"annotators", "annotations"}


def _answers(source: SourceFile, reading: Reading) -> Iterator[Answer]:
    """Yield the answers; soft and hard labels, which follow from them, are left out."""
    reading.ask("label")
    for _, items in json_records(source):
        if not isinstance(items, dict):
            raise Refused(f"{source.name}, item 1: this is no object of items by their keys")
        for place, (key, item) in enumerate(items.items(), 1):
            if not isinstance(item, dict):
                raise Refused(f"{source.name}, item {place}: this is no object with annotations")
            reading.left_out.update(name for name in ("soft_label", "hard_label") if item.get(name))
            data = {name: value for name, value in item.items() if name not in _NO_DATA}
            for name, labels in _of_each(item, f"{source.name}, item {place}").items():
                reading.ask("label", "several" if len(labels) > 1 else "one")
                yield Answer(place, key, name, "label", labels, data=data)


def _of_each(item: Fields, place: str) -> dict[str, Sequence[str]]:
    """Return the labels of each annotator of an item. Raises Refused."""
    annotations, annotators = item.get("annotations"), item.get("annotators")
    if isinstance(annotations, Mapping):
        return {name: _listed(labels) for name, labels in annotations.items()}
    names, labels = _listed(annotators), _listed(annotations)
    if not names or len(names) != len(labels):
        raise Refused(f"{place}: there are {len(names)} annotators and {len(labels)} annotations")
    return {name: [label] if label else [] for name, label in zip(names, labels, strict=True)}


def _listed(value: Any) -> list[str]:
    """Return the parts of a text with commas, or the texts of a list."""
    parts = value if isinstance(value, list) else field_text(value).split(",")
    return [text for part in parts if (text := field_text(part).strip())]


LEWIDI = tool_reader(
    "lewidi",
    "LeWiDi: JSON with a dictionary of annotators",
    ("several", "text", "attributes"),
    recognizes=recognizes_lewidi,
    answers=_answers,
    unit="item",
)
