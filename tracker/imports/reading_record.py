"""How an import's files were read and what was left out of them, as the import's record has it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tracker.formats.reader import left_out_words

if TYPE_CHECKING:
    from tracker.formats.reader import Reading
    from tracker.readers.registry import Source

ALWAYS: Final = ("format", "header_row", "encoding", "date_format")
"""What the record of a file says in any case; null if there is no such thing in its format."""

REJECTED: Final = "rejected row"
_MOST_COLUMNS: Final = 200
_MOST_READINGS: Final = 10
_MOST_KINDS: Final = 50
_LONGEST: Final = 200  # characters of a name


class ReadingRecord(NamedTuple):
    """How files were read, and what was left out: numbers by a noun in the singular."""

    read: dict[str, Any]
    left_out: dict[str, int]

    @classmethod
    def stored(cls, text: str | None) -> dict[str, Any]:
        """Return a record that was stored as JSON; each part is None if there is none."""
        return dict.fromkeys(cls._fields) if text is None else cls(**json.loads(text)).to_dict()

    def to_text(self) -> str:
        return json.dumps(self._asdict(), ensure_ascii=False, sort_keys=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON, whose nouns are in the plural."""
        plurals = (left_out_words(f"2 {noun}").partition(" ")[2] for noun in self.left_out)
        left_out = dict(zip(plurals, self.left_out.values(), strict=True))
        return {"read": self.read, "left_out": left_out}


def reading_record(sources: Iterable[Source], reading: Reading) -> ReadingRecord:
    """Return the record of sources that were read; ``reading`` has counted what was left out.

    Files that were read alike are told once: ``files`` says how many, if there are several, and
    ``others`` has the further ways with the name of the first ``file`` of each.
    """
    counted = Counter({REJECTED: reading.rejections.count, **reading.left_out})
    readings: dict[str, dict[str, Any]] = {}
    files, unlisted = 0, 0
    always = dict.fromkeys(ALWAYS) | {"date_format": reading.options.date_format} | reading.facts
    pattern, options = reading.mapped.pattern, reading.options
    names = ("annotator", "annotator_from", "blank", "counts", "each")
    stated = {name: getattr(options, name) for name in names}
    stated["pattern"] = None if pattern is None else pattern.text
    always |= {name: value for name, value in stated.items() if value}
    for source in sources:
        for name, facts in source.facts_by_file.items():
            layout = source.layouts.get(name)
            columns = {} if layout is None else layout.to_dict()
            if layout is not None and "format" not in columns:  # a tool's counts are in left_out
                counted["column"] += len(columns["left_out"])
            counted.update(columns.get("rows_left_out", {}))
            way = always | facts | {"columns": _bounded(column_roles(columns))}
            files += 1
            key = json.dumps(way, sort_keys=True)
            if key not in readings and len(readings) >= _MOST_READINGS:
                unlisted += 1
                continue
            readings.setdefault(key, way | {"file": _short(name), "files": 0})["files"] += 1
    first, *others = readings.values() or [dict.fromkeys(ALWAYS) | {"columns": {}}]
    if files < 2:
        first.pop("files", None)
    first.pop("file", None)
    read = first | ({"others": others} if others else {})
    read |= {"unlisted_files": unlisted} if unlisted else {}
    most = sorted(((n, noun) for noun, n in counted.items() if n), reverse=True)[:_MOST_KINDS]
    return ReadingRecord(read, {_short(noun): number for number, noun in most})


def column_roles(columns: Mapping[str, Any]) -> dict[str, str]:
    """Return ``{column: role}`` from what says which column or field of a file is what."""
    pairs = [(column, role) for role, column in columns.get("read", {}).items()]
    named: Mapping[str, str] = columns.get("named", {})
    pairs += named.items()
    if not named:
        questions = columns.get("questions", {})
        pairs += [(column, f"question {name}") for name, column in questions.items()]
        pairs += [(column, "annotators") for column in columns.get("annotators", ())]
    pairs += [(column, "keep") for column in columns.get("kept", ())]
    roles: dict[str, str] = {}
    for column, role in pairs:
        roles[column] = f"{roles[column]}, {role}" if column in roles else role
    return roles


def _bounded(roles: Mapping[str, str]) -> dict[str, str]:
    first = {_short(column): _short(role) for column, role in [*roles.items()][:_MOST_COLUMNS]}
    more = len(roles) - len(first)
    return first | ({"…": f"and {more:,} more"} if more else {})


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else name[:_LONGEST] + "…"
