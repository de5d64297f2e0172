"""Rows as an Excel workbook: texts stay texts, whatever they begin with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from itertools import chain
from typing import IO, Any

from tracker.core.errors import Refused

_MOST_ROWS = 1_048_576
_MOST_COLUMNS = 16_384
_LONGEST = 32_767  # characters of a cell


def write_workbook_rows(
    file: IO[bytes], columns: Sequence[str], rows: Iterable[Sequence[Any]]
) -> int:
    """Write a sheet with a header; return how many rows it has.

    No text becomes a formula, a link or a number. Raises Refused for more than a sheet holds.
    """
    import xlsxwriter

    if len(columns) > _MOST_COLUMNS:
        raise Refused(f"a sheet holds {_MOST_COLUMNS:,} columns", "write .csv or .parquet")
    options = {
        "constant_memory": True,
        "strings_to_formulas": False,
        "strings_to_urls": False,
        "strings_to_numbers": False,
    }
    number = 0
    with _faults_of_files(), xlsxwriter.Workbook(_Failing(file), options) as book:
        sheet = book.add_worksheet()
        sheet.freeze_panes(1, 0)
        for number, row in enumerate(chain([columns], rows)):
            if number >= _MOST_ROWS:
                raise Refused(f"a sheet holds {_MOST_ROWS:,} rows", "write .csv or .parquet")
            for place, cell in enumerate(row):
                if isinstance(cell, str):
                    if len(cell) > _LONGEST:
                        raise Refused(
                            f"row {number}, {columns[place]}: a cell holds {_LONGEST:,} characters",
                            "write .csv or .parquet",
                        )
                    sheet.write_string(number, place, cell)
                elif cell is not None:
                    sheet.write(number, place, cell)
    return number


@contextmanager
def _faults_of_files() -> Iterator[None]:
    from xlsxwriter.exceptions import FileCreateError

    try:
        yield
    except FileCreateError as error:
        raise error.args[0] from None


class _Failing:
    """A file that says once that it cannot be written; what comes afterwards is lost.

    Else the archive that is left behind tries again when it is collected, and Python tells of it.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def write(self, content: Any) -> int:
        """Write some bytes; raises OSError."""
        try:
            return self._file.write(content)
        except OSError:
            self._file = BytesIO()
            raise
