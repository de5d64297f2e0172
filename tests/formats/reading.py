"""What a reader finds in a file: its answers one by one, without a ledger."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tracker.formats.batch import Rejections
from tracker.formats.column_roles import parse_column_roles
from tracker.formats.question_columns import parse_questions
from tracker.formats.reader import Reading, ReadOptions
from tracker.formats.registry import opened_sources, read_batches
from tracker.projects.questions import QuestionOptions


@dataclass(frozen=True)
class Found:
    """The records of a file, ``{role: cell}`` without empty cells, and what lies beside them."""

    records: list[dict[str, str]]
    left_out: dict[str, int]
    asked: dict[str, str]
    format: str | None
    notes: list[str]

    def rows(self, *roles: str) -> list[tuple[str, ...]]:
        """The cells of these roles, sorted."""
        return sorted(tuple(one.get(role, "") for role in roles) for one in self.records)


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
        layouts = [one.to_dict().get("format") for one in source.layouts.values()]
    kinds = {name: one.answers or "one" for name, one in reading.asked.items()}
    form = layouts[0] if layouts else None
    return Found(records, dict(reading.left_out), kinds, form, reading.notes)


def write_json_lines(path: Path, values: Iterable[Any]) -> Path:
    """Write values as JSON, one a line."""
    path.write_text("".join(f"{json.dumps(one)}\n" for one in values), "utf-8")
    return path


def write_zip(path: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write a zip file of these files."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    path.write_bytes(made.getvalue())
    return path
