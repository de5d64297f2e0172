"""Files with two names on each line: an item's keys, or two annotators who are one."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TypeAlias

from tracker.core.errors import Refused
from tracker.formats.source import SourceFile
from tracker.formats.streams import head_columns, table_rows

Pair: TypeAlias = tuple[int, str, str]
"""The line in the file, and what it has in the first and in the second column."""


def pairs_of_file(
    path: str | Path, first: str, second: str, *, further: bool = False, bare: bool = False
) -> list[Pair]:
    """Return the pairs of a table with two columns; it may have ``further`` ones or not.

    If ``bare``, a table of two columns without these titles is one of pairs from its first line.
    Raises Refused for one that cannot be read, lacks a column or has no row.
    """
    with closing(SourceFile(str(path))) as source:
        columns = [name.strip() for name in head_columns(source)]
        lacking = {first, second}.difference(columns)
        pairs: list[Pair] = []
        left, right = 0, -1
        if bare and len(columns) == len(lacking) == 2:
            pairs.append((1, columns[0], columns[1]))
        elif lacking or (len(columns) > 2 and not further):
            has = f"; it has {', '.join(columns)}" if columns else ""
            others = "" if further else ", and no others"
            mend = f"it needs the columns {first} and {second}{others}{has}"
            raise Refused(f"{source.name} is no file of pairs", mend)
        else:
            left, right = columns.index(first), columns.index(second)
        for line, row in table_rows(source):
            cells = [*row.values()]
            pairs.append((line, cells[left].strip(), cells[right].strip()))
    if not pairs:
        raise Refused(f"{source.name} has no rows below its header")
    return pairs
