"""Files with a key of an item and another one on each line."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from tracker.core.errors import Refused
from tracker.imports.readers.rows import head_columns, table_rows
from tracker.imports.readers.source import SourceFile
from tracker.projects.item_aliases import Pair

_COLUMNS = ("item", "alias")


def pairs_of_file(path: str | Path) -> list[Pair]:
    """Return the pairs of a table with the columns item and alias.

    Raises Refused for one that cannot be read, has other columns, or no row.
    """
    with closing(SourceFile(str(path))) as source:
        columns = [name.strip() for name in head_columns(source)]
        if sorted(columns) != sorted(_COLUMNS):
            has = f"; it has {', '.join(columns)}" if columns else ""
            raise Refused(
                f"{source.name} is no file of other keys",
                f"it needs the columns item and alias, and no others{has}",
            )
        place = columns.index("item")
        cells = ((line, list(row.values())) for line, row in table_rows(source))
        pairs = [Pair(line, row[place], row[1 - place]) for line, row in cells]
    if not pairs:
        raise Refused(f"{source.name} has no rows below its header")
    return pairs
