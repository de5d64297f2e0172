"""What counts in files: the same statements, on rows that stay where they are."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from tracker.lake.files import Address


class FileEngine(ABC):
    """A database that reads Parquet files; one is used by all threads, one at a time."""

    micros: str
    number: str
    holds = False
    """Whether it reads rows that it holds faster than those of files."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lock = threading.RLock()
        self.held: set[str] = set()
        self._shown: dict[str, Hashable] = {}

    def shows(self, name: str, content: Hashable) -> bool:
        """Return whether a table has this content already; if not, it is to be shown now."""
        if self._shown.get(name) == content:
            return True
        self._shown[name] = content
        return False

    @abstractmethod
    def show_files(self, address: Address, files: Mapping[int, str], schema: pa.Schema) -> None:
        """Let the table ``files`` be the rows of files, by number, which is `FILE` of each."""

    @abstractmethod
    def show_table(self, name: str, table: pa.Table) -> None:
        """Let a table have these rows."""

    @abstractmethod
    def table(self, statement: str) -> pa.Table:
        """Return the rows of a statement that Postgres would read; raises Refused."""

    @abstractmethod
    def make(self, name: str, statement: str) -> None:
        """Let a table have the rows that such a statement has now."""

    def hold(self, name: str, statement: str) -> None:
        """Hold the rows that such a statement has now as a table, which is ``held`` from then on.

        Of an engine that `holds`.
        """
        raise NotImplementedError

    def drop(self, name: str) -> None:
        """Drop such a table."""
        raise NotImplementedError

    @abstractmethod
    def view(self, name: str, statement: str) -> None:
        """Let a table be the rows of such a statement."""
