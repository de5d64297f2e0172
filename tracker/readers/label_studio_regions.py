"""The regions of a Label Studio annotation: their categories, and their places in texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from tracker.core.errors import InvalidOption, Refused
from tracker.formats import answers as tool
from tracker.formats.answers import Fields, Malformed, Span, behind_the_end, category_of, field_text
from tracker.formats.reader import Reading
from tracker.projects.names import check_entered_name, is_numeric_category_name

Labels = Sequence[str | Span]

_SINGLE = {"rating": "rating", "number": "number", "pairwise": "selected"}
"""Controls whose value is one, and its key."""
_SCALES = {"rating": "ordinal", "number": "interval"}
_GEOMETRY = frozenset({"x", "points", "rle", "format", "ranges", "sequence", "instant", "channel"})
"""Keys of regions that lie on an image, in a sound, a video or a series: not in a text."""


class Regions:
    """Reads the labels of regions, and counts what is none."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.left_out: Counter[str] = reading.left_out

    def by_control(self, result: Any, data: Fields) -> dict[str, Labels]:
        """Return the labels of an annotation by control. Raises Malformed."""
        if not isinstance(result, list):
            if result is None:
                return {}
            raise Malformed("the result of an annotation is no list")
        by_control: dict[str, list[str | Span]] = {}
        kinds: dict[str, str] = {}
        for region in result:
            if not isinstance(region, dict):
                raise Malformed("a region is no object")
            kind, control = region.get("type"), region.get("from_name")
            if not isinstance(kind, str):
                raise Malformed("a region has no type")
            if kind == "relation":
                self.left_out["relation"] += 1
                continue
            if not isinstance(control, str) or not control.strip():
                raise Malformed(f"a region of type {kind!r} does not name its control")
            labels = self.labels(kind, region.get("value"), data)
            if labels is None:
                self.left_out[f"region of type {kind!r}"] += 1
            elif control in by_control:
                by_control[control] += labels
            else:
                by_control[control], kinds[control] = labels, kind
        return {
            control: self.asked(control, labels, kinds[control])
            for control, labels in by_control.items()
            if labels
        }

    def asked(self, control: str, labels: Sequence[str | Span], kind: str | None) -> Labels:
        """Return an answer's labels, each once, after noting what its control asks for.

        Raises Malformed if the control is answered with spans, and with categories of the whole.
        """
        if all(map(tool.is_without_label, labels)):
            return labels
        if len(labels) > 1:
            labels = list(dict.fromkeys(labels))
        kind = kind or ""
        answers = "several" if len(labels) > 1 or kind.endswith("labels") else "one"
        spans = sum(isinstance(label, Span) for label in labels)
        if spans:
            answers = "spans"
        if 0 < spans < len(labels):
            raise Malformed(f"{control!r} is answered with spans, and with categories of the whole")
        known = self.reading.asked.get(control)
        if known is not None and known.scale and not all(map(_is_number, labels)):
            raise Malformed(f"{control!r} is answered with numbers, and with {str(labels[0])[:40]}")
        if known is None or known.answers not in {answers, "several"} or answers == "spans":
            try:
                check_entered_name(control, "question")
                self.reading.ask(control, answers, _SCALES.get(kind))
            except (InvalidOption, Refused) as error:
                raise Malformed(error.message) from None
        return labels

    def labels(self, kind: str, value: Any, data: Fields) -> list[str | Span] | None:
        """Return the categories or spans of a region; None for a kind that has none.

        Raises Malformed.
        """
        if not isinstance(value, dict):
            raise Malformed(f"a region of type {kind!r} has no value")
        if kind in _SINGLE:
            return _single(kind, value.get(_SINGLE[kind]))
        names = self._names(kind, value, data)
        place = None if names is None else _place(kind, value, data)
        if names is None or (names == [""] and place is not None):
            return None if place is None else [Span("", *place)]
        subject = f"a value of {kind!r}"
        if kind == "taxonomy":
            names = [_path(name) if isinstance(name, list) else name for name in names]
        categories: list[str | Span] = [
            name if type(name) is str and name and name[0] > " " else category_of(name, subject)
            for name in names
        ]
        if len(value) == 1:
            return categories
        if place is not None:
            return [Span(str(category), *place) for category in categories]
        if kind.endswith("labels") or not _GEOMETRY.isdisjoint(value):
            self.left_out[f"place of a region of type {kind!r}"] += 1
        return categories

    def _names(self, kind: str, value: Fields, data: Fields) -> Any:
        """Return the names that were chosen as a list; None for a kind that has none."""
        names = value.get(kind)
        if not names and kind.endswith("labels") and _place(kind, value, data) is not None:
            names = [self.reading.options.span_label or ""]
        if names is None or not (kind in {"choices", "taxonomy"} or kind.endswith("labels")):
            return None
        names = [names] if isinstance(names, str) else names
        if not isinstance(names, list):
            raise Malformed(f"{kind!r} is no list")
        return names


def kind_of_value(value: Any) -> str | None:
    """Return the type of a region whose value alone is there; None if it has no labels."""
    if not isinstance(value, dict):
        return None
    for kind, key in _SINGLE.items():
        if key in value:
            return kind
    for key, names in value.items():
        if isinstance(names, list) and (key in {"choices", "taxonomy"} or key.endswith("labels")):
            return str(key)
    return None


def _single(kind: str, value: Any) -> list[str | Span]:
    if value is None:
        return []
    if kind in _SCALES and not _is_number(field_text(value)):
        raise Malformed(f"a {kind} is no number: {str(value)[:40]}")
    return [category_of(value, f"a {kind}")]


def _is_number(label: str | Span) -> bool:
    return isinstance(label, str) and is_numeric_category_name(label)


def _place(kind: str, value: Fields, data: Fields) -> tuple[int, int] | None:
    """Return where in a text a region lies, in characters of Unicode; None if in no text."""
    of_text = value.get("globalOffsets")
    if kind == "paragraphlabels" and not isinstance(of_text, dict):
        return _place_in_paragraphs(value, data)
    ends = of_text if isinstance(of_text, dict) else value
    start, end = ends.get("start"), ends.get("end")
    if type(start) is not int or type(end) is not int:
        return None
    if kind == "timeserieslabels" or not _GEOMETRY.isdisjoint(value):
        return None
    marked = value.get("text")
    if isinstance(marked, str):
        start, end = _in_characters(start, end, marked, data)
        _check_end(end, data)
    return start, end


def _check_end(end: int, data: Fields) -> None:
    """Raise Malformed for a place behind the end of each text of a task.

    No region says which text it is in, nor whether it is counted in UTF-16. A text may lie in a
    list or an object, or at an address, and is then not known; nor is that of a region which does
    not repeat what it marks.
    """
    if any(isinstance(value, list | dict) for value in data.values()):
        return
    texts = [value for value in data.values() if isinstance(value, str)]
    if any(end <= len(text) or text.startswith("/") or "://" in text[:20] for text in texts):
        return
    longest = max(texts, key=_units, default=None)
    if longest is not None and end > _units(longest):
        raise Malformed(behind_the_end(end, longest))


def _path(parts: list[Any]) -> str:
    return " / ".join(category_of(part, "a part of a taxonomy") for part in parts)


def _units(text: str) -> int:
    """Return the length of a text in UTF-16."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _in_characters(start: int, end: int, marked: str, data: Fields) -> tuple[int, int]:
    """Return a place that may be counted in UTF-16 in characters, if that gives the marked text.

    Releases of Label Studio differ in what they count; a character beyond 16 bits makes the
    difference.
    """
    for text in data.values():
        if not isinstance(text, str) or text.isascii() or text[start:end] == marked:
            continue
        units = text.encode("utf-16-le", "surrogatepass")
        if len(units) == 2 * len(text):
            continue
        before, within = units[: 2 * start], units[2 * start : 2 * end]
        if within.decode("utf-16-le", "replace") == marked:
            first = len(before.decode("utf-16-le", "replace"))
            return first, first + len(marked)
    return start, end


def _place_in_paragraphs(value: Fields, data: Fields) -> tuple[int, int] | None:
    """Return a place in a dialogue as one in all its texts, one after the other."""
    dialogue = next((field for field in data.values() if _is_dialogue(field)), None)
    if dialogue is None:
        return None
    ends = []
    for paragraph, offset in (("start", "startOffset"), ("end", "endOffset")):
        number, within = str(value.get(paragraph)), value.get(offset)
        if not (len(number) < 10 and number.isdecimal()) or type(within) is not int:
            raise Malformed("a region does not say which paragraphs it is in")
        before = sum(len(part["text"]) for part in dialogue[: int(number)])
        ends.append(before + within)
    return ends[0], ends[1]


def _is_dialogue(value: Any) -> bool:
    parts = value if isinstance(value, list) else []
    texts = [part.get("text") if isinstance(part, dict) else None for part in parts]
    return bool(texts) and all(isinstance(text, str) for text in texts)
