"""What an import read, in words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from shlex import quote
from typing import TYPE_CHECKING, Any, Final

from tracker.formats.column_names import folded_name
from tracker.formats.reader import left_out_words
from tracker.formats.special_columns import JUDGES
from tracker.render.cells import Text, minute_cell
from tracker.render.escape import escaped_line
from tracker.render.nouns import count_noun, first_names

if TYPE_CHECKING:
    from rich.console import RenderableType


_listed: Final = partial(first_names, most=8)
_OF_TIME: Final = re.compile("date|time|datum|when", re.IGNORECASE)


def columns_sentence(columns: Mapping[str, Any], *, items: bool = False) -> str:
    """Return which column of a file was read as what.

    ``columns`` are as the import's JSON has them; ``items``: the file lists items.
    """
    if columns.get("format"):
        return _tool_sentence(columns)
    read, left, annotators = columns["read"], columns["left_out"], columns["annotators"]
    questions = columns.get("questions", {})
    concluded = [f"{role}: {order}" for role, order in columns.get("dates", {}).items()]
    concluded += _concluded(columns)
    rows, sheets = _rows_left_out(columns), columns.get("sheets_left_out", [])
    more = left or annotators or questions or concluded or rows or sheets or "question" in read
    if not more and all(role == name for role, name in read.items()):
        return f"columns: {', '.join(read)}"
    named = columns.get("named", {})
    by_item = any(text.rpartition(", ")[2].startswith("item ") for text in named.values())
    by_category = [] if questions or annotators else [*named]
    parts = {
        "questions": _listed([f"{name}={column}" for name, column in questions.items()]),
        "one per annotator": _listed(annotators),
        f"one per {'item' if by_item else 'category'}": _listed(by_category),
        "kept": _listed(columns["kept"]),
        "left out": " ".join([_listed(_with_reasons(columns)), *_advice(columns, items)]),
        "rows left out": _listed(rows),
        "sheets left out": _listed(sheets),
    }
    first = f"columns: {', '.join(f'{role}={name}' for role, name in read.items())}"
    further = [f"{title}: {text}" for title, text in parts.items() if text]
    return "; ".join([first, *concluded, *further, *columns.get("notes", [])])


def _rows_left_out(columns: Mapping[str, Any]) -> list[str]:
    """Return which rows of a table hold no answer, such as "2 empty rows"."""
    counted = columns.get("rows_left_out", {})
    return [left_out_words(f"{number} {noun}") for noun, number in counted.items()]


def _concluded(columns: Mapping[str, Any]) -> list[str]:
    units = [f"{role} are given in {unit}" for role, unit in columns.get("units", {}).items()]
    encoding = [f"text read as {columns['encoding']}"] if "encoding" in columns else []
    author = [f"annotator: {columns['annotator']}"] if "annotator" in columns else []
    author += [f"read as a table {columns['note']}"] if "note" in columns else []
    header = columns.get("header_row")
    said: dict[str, list[str]] = {}
    for text, name in columns.get("preferences", {}).items():
        said.setdefault(name, []).append(repr(text))
    preferred = [f"{', '.join(texts)} read as {name}" for name, texts in said.items()]
    on_line = [] if header is None else [f"header on line {header}" if header else "no header"]
    read, models = columns["read"], columns.get("models")
    if models:
        units.append(f"models: {_listed(models)}")
    elif "kind" not in read and folded_name(judge := read.get("annotator", "")) in JUDGES:
        units.append(f"each {judge} is taken for a person (else: tracker annotator kind)")
    return preferred + on_line + author + units + encoding


def _tool_sentence(columns: Mapping[str, Any]) -> str:
    """Return what was read of an annotation tool's file, and what was left out."""
    names = columns["questions"].items()
    questions = [name if name == column else f"{name}={column}" for name, column in names]
    fields = [f"{role}={name}" for role, name in columns["read"].items()]
    title = f"question{'s' * (len(questions) > 1)}"
    parts = [f"{title}: {_listed(questions)}"] if questions else []
    parts += [f"fields: {', '.join(fields)}"] if fields else []
    left = [left_out_words(counted) for counted in columns["left_out"]]
    left = [f"left out: {_listed(left)}"] if left else []
    notes = columns.get("notes", [])
    return "; ".join([f"read as {columns['format']}", *parts, *_concluded(columns), *left, *notes])


def layout_lines(columns: Mapping[str, Any]) -> list[str]:
    """Return how one file is read, a line each: its columns or fields, and what is left out."""
    questions = columns.get("questions", {})
    lines = [f"read as {columns['format']}"] if columns.get("format") else []
    dates = {role: f" ({order})" for role, order in columns.get("dates", {}).items()}
    lines += [f"{role}: {name}{dates.get(role, '')}" for role, name in columns["read"].items()]
    lines += [f"question {name}: {column}" for name, column in questions.items()]
    lines += _concluded(columns)
    tool = bool(columns.get("format"))
    left = [*map(left_out_words, columns["left_out"])] if tool else _with_reasons(columns)
    listed = {
        "one column per annotator": columns["annotators"],
        "kept as attributes": columns["kept"],
        "left out": left,
        "rows left out": _rows_left_out(columns),
        "sheets left out": columns.get("sheets_left_out", []),
    }
    lines += [f"{title}: {', '.join(names)}" for title, names in listed.items() if names]
    lines += [] if tool else [line.strip("()") for line in _advice(columns, items=False)]
    return [*lines, *columns.get("notes", [])]


def reading_rows(imported: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return how an import's files were read and what was left out, by a title each.

    ``imported`` is the import as JSON; one of labels that stay in files has no rows.
    """
    read, rows = imported["read"], []
    for way in () if read is None else (read, *read.get("others", ())):
        facts = [
            f"{name.replace('_', ' ')} {value}"
            for name, value in way.items()
            if value is not None and name not in {"columns", "others", "file", "unlisted_files"}
        ]
        columns = [f"{role}={column}" for column, role in way["columns"].items()]
        name = f"{way['file']} read" if "file" in way else "read"
        rows += [(name, "; ".join(facts)), ("columns", ", ".join(columns))]
    left_out = [f"{noun}: {number:,}" for noun, number in (imported["left_out"] or {}).items()]
    return [row for row in (*rows, ("left out", ", ".join(left_out))) if row[1]]


def outcome_sentence(payload: Mapping[str, Any], unit: str = "answer") -> str:
    """Return what becomes of an import's rows: "4 new answers, 2 rows with errors"."""
    new, changed, bad = (payload[name] for name in ("inserted", "changed", "rejected"))
    parts = (
        (new, count_noun(new, f"new {unit}")),
        (changed, count_noun(changed, f"changed {unit}")),
        (payload["unchanged"], f"{payload['unchanged']:,} known already"),
        (payload["older"], f"{payload['older']:,} older than what is known"),
        (bad, f"{count_noun(bad, 'row')} with errors"),
    )
    return ", ".join(words for number, words in parts if number) or f"no {unit}s"


def question_sentence(payload: Mapping[str, Any]) -> str:
    """Return what became of the answers to one question of an import."""
    fates = ("inserted", "changed", "unchanged", "older")
    counts = [f"{payload[fate]:,} {fate}" for fate in fates if payload[fate]]
    says = "says" if payload["skipped"] == 1 else "say"
    if payload["unit"] == "label":  # an answer may be several labels, or none if it says nothing
        answers = count_noun(payload["answers"] - payload["skipped"], "label")
        empty = f"{count_noun(payload['skipped'], 'answer')} that {says} nothing"
        answers += f" and {empty}" if payload["skipped"] else ""
    else:
        skipped = f", of them {payload['skipped']:,} {says} nothing" if payload["skipped"] else ""
        answers = f"{count_noun(payload['answers'], 'answer')}{skipped}"
    parts = filter(None, (answers, ", ".join(counts)))
    return f"  {escaped_line(payload['question'])}: {'; '.join(parts)}"


def _with_reasons(columns: Mapping[str, Any]) -> list[str]:
    """Return the columns that are left out, unreadable ones with the reason."""
    reasons = {name: f" ({reason})" for name, reason in columns.get("unread", {}).items()}
    return [name + reasons.get(name, "") for name in columns["left_out"]]


def _advice(columns: Mapping[str, Any], items: bool) -> list[str]:
    """Return how to use a column that is left out, unless none of its cells can be read."""
    left = [name for name in columns["left_out"] if name not in columns.get("unread", {})]
    if not left or items:
        return [f"(to keep one: --keep {quote(left[0])})"] if left else []
    of_time = next((name for name in left if _OF_TIME.search(name)), None)
    name = left[0] if of_time is None else of_time
    role = "ROLE" if of_time is None else "labeled_at"
    return [f"(to use one: --map {quote(f'{role}={name}')} or --keep {quote(name)})"]


_SHOWN: Final = ("item", "annotator", "kind", "question", "category", "start", "end", "pass",
                 "labeled_at", "seconds", "confidence", "comment")  # fmt: skip
_USUAL: Final = {"kind": "human", "pass": 1}
_LONGEST: Final = 60  # characters of a comment


def preview_view(payload: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Yield how each file is read and the first rows, from an import as JSON."""
    from tracker.render.tables import table

    for columns in payload.get("columns", ()):
        lines = (f"  {line}" for line in layout_lines(columns))
        yield Text("\n".join([f"{columns['source']}:", *lines]))
    rows = payload["preview"]
    if rows:
        filled = {name for row in rows for name in row if row[name] not in {None, _USUAL.get(name)}}
        filled |= {"item", "annotator", "category"}
        filled -= set() if payload.get("questions") else {"question"}
        shown = [name for name in _SHOWN if name in filled]
        cells = [[_cell(name, row[name]) for name in shown] for row in rows]
        yield table([f"{name} " for name in shown], cells)


def _cell(name: str, value: Any) -> str:
    if value is None:
        return "(none)" if name == "category" else ""
    if name == "labeled_at":
        return minute_cell(value)
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
