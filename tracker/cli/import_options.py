"""What `import` and `item import` share: their options, and what they say at the end."""

from __future__ import annotations

import io
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from tracker.cli.output import print_json, print_result
from tracker.cli.terminal import (
    check_output_file,
    hint,
    new_output_file,
    say,
    terminal_data_stream,
    warn,
)
from tracker.core.errors import InvalidOption, Refused
from tracker.render.formats import csv_lines
from tracker.render.nouns import count_noun

if TYPE_CHECKING:
    from tracker.export.files import Type
    from tracker.export.writers import Document
    from tracker.imports.loader import ImportResult


Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE…", help="Files, folders or zips (see tracker formats); - for stdin."
    ),
]
OptionalFiles = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE…", help="Files, folders or zips (see tracker formats); - for stdin."
    ),
]
IntoProject = Annotated[
    str, typer.Option("--project", "-p", help="Project to import into; created if missing.")
]
_MOST_WAYS = 5  # of reading files that are told


def print_import_result(
    result: ImportResult,
    *,
    dry_run: bool,
    as_json: bool,
    items: bool = False,
    people: bool = False,
) -> None:
    """Say what an import did; ``items``, ``people``: it listed items, or annotators."""
    from tracker.imports.preview import question_sentence

    shown = result.preview is not None
    dry_run = dry_run or shown
    for sentence in (*map(str, result.odd), *result.warnings):
        warn(sentence)
    if as_json:
        print_json(result.to_dict())
        return
    if shown:
        from tracker.imports.preview import preview_view

        print_result(None, view=preview_view(result.to_dict()))
    counts = ", ".join(
        f"{getattr(result, fate):,} {fate}"
        for fate in ("inserted", "changed", "unchanged", "older", "rejected")
        if getattr(result, fate)
    )
    verb = "would import" if dry_run else f"import {result.id}:"
    read = count_noun(result.rows, result.unit)
    say(f"{verb} {read} into {result.project}: {counts or 'nothing'}")
    for question in result.questions:
        say(question_sentence(question))
    if result.gold is not None:
        fates = ", ".join(f"{number:,} {fate}" for fate, number in result.gold.items() if number)
        say(f"truths: {fates or 'nothing'}")
    if result.rejected:
        _show_rejections(result, as_json=False)
    if not shown:
        _say_how_read(result.columns, items=items)
    if shown:
        hint("nothing was stored; to import: the same without --preview")
    if not dry_run:
        command = "annotator list" if people else "status" if items else "agreement"
        hint(f"next: tracker {command} {quote(result.project)}")


def _say_how_read(columns: Iterable[Mapping[str, Any]], *, items: bool) -> None:
    from tracker.imports.preview import columns_sentence

    alike: dict[str, Mapping[str, object]] = {}
    rows: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for column in columns:
        words = columns_sentence({**column, "rows_left_out": {}}, items=items)
        rows[words].update(column.get("rows_left_out", {}))
        alike[words] = {**column, "rows_left_out": rows[words]}
    sentences = [columns_sentence(column, items=items) for column in alike.values()]
    for words in sentences[:_MOST_WAYS]:
        warn(words)
    if (more := len(sentences) - _MOST_WAYS) > 0:
        warn(f"and {count_noun(more, 'further file')} read otherwise")


@contextmanager
def import_rejections_printed(*, as_json: bool) -> Iterator[None]:
    """Show the rows that an import is refused for; raises the error to end with."""
    from tracker.imports.loader import LooksOdd, Rejected

    try:
        yield
    except LooksOdd as error:
        if as_json:
            print_json(error.result.to_dict())
        for oddity in () if as_json else error.stopping[1:]:
            say(str(oddity), err=True)
        raise
    except Rejected as error:
        rejected = error.result.rejected
        if as_json or rejected > 1:
            _show_rejections(error.result, as_json=as_json)
        if as_json or rejected == 1:
            raise
        raise Refused(f"{rejected:,} rows are invalid", error.mend) from None


def _show_rejections(result: ImportResult, *, as_json: bool) -> None:
    if as_json:
        print_json(result.to_dict())
        return
    for example, number in sorted(result.alike, key=lambda pair: -pair[1])[:20]:
        say(f"{number:,} rows, such as {example}" if number > 1 else str(example), err=True)
    if len(result.alike) > 20:
        say(f"… and rows of {len(result.alike) - 20} more kinds", err=True)


STDOUT = "-"
_FORMS = (".csv", ".jsonl", ".parquet", ".xlsx")

_OUTPUT_FILE: Any = typer.Option(
    "--output",
    "-o",
    metavar="FILE",
    help="FILE.csv, .jsonl, .parquet or .xlsx; - writes CSV to standard output.",
)
OutputFile = Annotated[str, _OUTPUT_FILE]
SomeOutputFile = Annotated[str | None, _OUTPUT_FILE]


@dataclass(frozen=True)
class Target:
    """Where rows go; ``form`` is the file's suffix, and ``path`` None for standard output."""

    path: Path | None
    form: str
    force: bool = False

    @property
    def for_frames(self) -> bool:
        """Whether the file has types, which a frame knows."""
        return self.form == ".parquet"

    def write_rows(
        self,
        columns: Sequence[str],
        rows: Iterable[Sequence[Any]],
        types: Mapping[str, Type] | None = None,
    ) -> int:
        """Write rows as they come; returns how many.

        ``types`` are those of columns that are no texts, for a file that has types. Raises
        Refused where the file cannot be written; what was there before is then untouched.
        """
        if self.path is None:
            return write_csv_rows(terminal_data_stream(sys.stdout), columns, rows)
        write = write_csv_rows if self.form == ".csv" else _write_jsonl
        with new_output_file(self.path, force=self.force) as file:
            if self.form == ".xlsx":
                from tracker.cli.workbook import write_workbook_rows

                return write_workbook_rows(file, columns, rows)
            if self.form == ".parquet":
                from tracker.ledger.reports import Labels

                return (
                    Labels(columns, (tuple(row) for row in rows))
                    .typed(types or {})
                    .write_parquet(file)
                )
            text = io.TextIOWrapper(file, "utf-8", newline="")
            number = write(text, columns, rows)
            text.detach()  # it would close the file, which is not whole yet
        return number

    def write_text(self, parts: Iterable[str]) -> None:
        """Write a text as it comes. Raises likewise."""
        if self.path is None:
            terminal_data_stream(sys.stdout).writelines(parts)
            return
        with new_output_file(self.path, force=self.force) as file:
            file.writelines(part.encode() for part in parts)

    def write_frame(self, frame: Any) -> int:
        """Write a frame of pandas; returns how many rows it has. Raises likewise."""
        if self.path is not None:
            with new_output_file(self.path, force=self.force) as file:
                frame.to_parquet(file, index=False)
        return len(frame)


def write_document(to: Target, document: Document, output: str) -> None:
    """Write a document, and say what it holds and what was left out."""
    to.write_text(document.parts)
    hint(f"{count_noun(document.number, document.unit)}: {output}")
    for reason, number in sorted(document.left_out.items()):
        hint(f"left out, {number:,} times: {reason}")


def output_option_target(output: str, *, force: bool, forms: Sequence[str] = _FORMS) -> Target:
    """Return what ``--output`` names; raises InvalidOption before anything is computed.

    A file that is there is replaced only with ``force``.
    """
    if output == STDOUT:
        return Target(None, forms[0])
    path = Path(output)
    form = path.suffix.lower()
    if form not in forms:
        raise InvalidOption(
            f"{output!r} does not say which format to write",
            f"end it in one of: {', '.join(forms)}",
        )
    check_output_file(path, force=force)
    return Target(path, form, force)


def write_csv_rows(file: TextIO, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> int:
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
