"""What counts in files: the same statements, on rows that stay where they are."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Hashable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from tracker.lake.files import Address


class FileEngine(ABC):
    """A database that reads Parquet files; one is used by all threads, one at a time."""

    micros: str
    """See `FileColumns.micros`."""
    numbers_items = False
    """Whether it holds rows with numbers of their items; see `number_items`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lock = threading.RLock()
        self._shown: dict[str, Hashable] = {}

    def shows(self, name: str, content: Hashable) -> bool:
        """Return whether a table has this content already; if not, it is to be shown now."""
        if self._shown.get(name) == content:
            return True
        self._shown[name] = content
        return False

    @abstractmethod
    def show_files(self, address: Address, files: Mapping[int, str], schema: pa.Schema) -> None:
        """Let the table ``files`` be the rows of files, by number, ``file`` being that number."""

    @abstractmethod
    def show_table(self, name: str, table: pa.Table) -> None:
        """Let a table have these rows."""

    @abstractmethod
    def table(self, statement: str) -> pa.Table:
        """Return the rows of a statement that Postgres would read; raises Refused."""

    @abstractmethod
    def make(self, name: str, statement: str) -> None:
        """Let a table have the rows that such a statement has now."""

    def number_items(self, digest: str, show: Callable[[int], int]) -> None:
        """Hold rows of some files by a digest, if they are not yet held.

        ``show`` shows lake_rows with items numbered from a number on, and returns the next.
        """
        raise NotImplementedError

    def numbered_table(self, digest: str) -> str:
        """Return the name of the table with the rows that are held by a digest."""
        raise NotImplementedError

    def keep_numbered(self, digests: Collection[str]) -> None:
        """Drop what is held by other digests."""
        raise NotImplementedError

    @abstractmethod
    def view(self, name: str, statement: str) -> None:
        """Let a table be the rows of such a statement."""
