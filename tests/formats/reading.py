"""Read a file without a ledger: its answers one by one, and what its reader left out."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tracker.formats.batch import Rejections
from tracker.formats.mappings import parse_column_roles, parse_questions
from tracker.formats.reader import Reading, ReadOptions
from tracker.projects.questions import QuestionOptions
from tracker.readers.registry import opened_sources, read_batches

EXPORTS = Path(__file__).parents[1] / "data" / "exports"


@dataclass(frozen=True)
class Found:
    """The records of a file, ``{role: cell}`` without empty cells, and its other contents."""

    records: list[dict[str, str]]
    left_out: dict[str, int]
    asked: dict[str, str]
    format: str | None
    notes: list[str]

    def rows(self, *roles: str) -> list[tuple[str, ...]]:
        return sorted(tuple(record.get(role, "") for role in roles) for record in self.records)

    def table(self, roles: str) -> str:
        return table_text(self.rows(*roles.split()))


def table_text(rows: Iterable[Iterable[object]]) -> str:
    """Write rows in one line; a dash stands for an empty cell."""
    empty = {None, ""}
    return "; ".join(" ".join("-" if cell in empty else str(cell) for cell in row) for row in rows)


def found_in(
    path: Path, *pairs: str, questions: Sequence[str] = (), keep: Sequence[str] = (), **said: Any
) -> Found:
    """Read a file or folder with ``--map``, ``--question``, ``--keep`` and options of reading."""
    asked = parse_questions(questions, QuestionOptions())
    mapped = parse_column_roles(pairs, questions=asked, keep=keep)
    reading = Reading(mapped, Rejections(), "one", ReadOptions(**said))
    records = []
    with opened_sources([path]) as (source,):
        for batch in read_batches(source, reading):
            for n in range(len(batch.lines)):
                cells = {role: cell[n] for role, cell in batch.columns.items()}
                records.append({role: cell for role, cell in cells.items() if cell})
        layouts = [layout.to_dict().get("format") for layout in source.layouts.values()]
    kinds = {name: options.answers or "one" for name, options in reading.asked.items()}
    form = layouts[0] if layouts else None
    return Found(records, dict(reading.left_out), kinds, form, reading.notes)


def write_json_lines(path: Path, values: Iterable[Any]) -> Path:
    path.write_text("".join(f"{json.dumps(value)}\n" for value in values), "utf-8")
    return path


def write_zip(path: Path, files: Mapping[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    return path


def write_folder(path: Path, files: Mapping[str, str | bytes]) -> Path:
    for name, content in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def csv_table(*rows: Mapping[str, Any]) -> str:
    file = io.StringIO()
    names = dict.fromkeys(name for row in rows for name in row)
    table = csv.DictWriter(file, list(names), restval="", lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return file.getvalue()
