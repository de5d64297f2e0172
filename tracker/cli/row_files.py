"""Files that commands write rows to: CSV, JSONL or Parquet, whole or not at all."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TextIO

import typer

from tracker.cli.output_files import check_output, new_file
from tracker.cli.terminal import data_lines
from tracker.core.errors import InvalidOption
from tracker.render.formats import csv_lines

STDOUT = "-"
_FORMS = (".csv", ".jsonl", ".parquet")

OutputFile = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="FILE.csv, FILE.jsonl or FILE.parquet; - writes CSV to standard output.",
    ),
]


@dataclass(frozen=True)
class Target:
    """Where rows go; ``form`` is the file's suffix, and ``path`` None for standard output."""

    path: Path | None
    form: str
    force: bool = False

    @property
    def for_frames(self) -> bool:
        """Whether rows are written as a whole, from a frame."""
        return self.form == ".parquet"

    def write_rows(self, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> int:
        """Write rows as they come; returns how many.

        Raises Refused where the file cannot be written; what was there before is then untouched.
        """
        if self.path is None:
            return write_csv(data_lines(sys.stdout), columns, rows)
        write = write_csv if self.form == ".csv" else _write_jsonl
        with new_file(self.path, force=self.force) as file:
            text = io.TextIOWrapper(file, "utf-8", newline="")
            number = write(text, columns, rows)
            text.detach()  # it would close the file, which is not whole yet
        return number

    def write_frame(self, frame: Any) -> int:
        """Write a frame of pandas; returns how many rows it has. Raises likewise."""
        if self.path is not None:
            with new_file(self.path, force=self.force) as file:
                frame.to_parquet(file, index=False)
        return len(frame)


def target(output: str, *, force: bool) -> Target:
    """What ``--output`` names; raises InvalidOption before anything is computed.

    A file that is there is replaced only with ``force``.
    """
    if output == STDOUT:
        return Target(None, ".csv")
    path = Path(output)
    form = path.suffix.lower()
    if form not in _FORMS:
        raise InvalidOption(
            f"{output!r} does not say what to write", f"end it in one of: {', '.join(_FORMS)}"
        )
    check_output(path, force=force)
    return Target(path, form, force)


def write_csv(file: TextIO, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> int:
    """Write a header and rows that can be read back; return how many rows."""
    number = 0
    for number, line in enumerate(csv_lines(columns, rows)):  # noqa: B007 - the header is number 0
        file.write(line + "\n")
    return number


def _write_jsonl(file: TextIO, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> int:
    encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
    number = 0
    for number, row in enumerate(rows, 1):  # noqa: B007
        file.write(encode(dict(zip(columns, row, strict=True))) + "\n")
    return number
