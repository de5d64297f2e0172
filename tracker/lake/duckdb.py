"""DuckDB in the process, over files."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any

from tracker.core.errors import Refused
from tracker.lake.engine import FileEngine
from tracker.lake.files import first_line
from tracker.lake.views import NUMBERED

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

    from tracker.lake.files import Address


class DuckDBFiles(FileEngine):
    """DuckDB; it scans the files as Arrow reads them, so every place that Arrow knows will do."""

    micros = "EPOCH_US({})"
    numbers_items = True

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._numbered: set[str] = set()
        self._next_item = 1

    @cached_property
    def _duckdb(self) -> DuckDBPyConnection:
        import duckdb

        options: dict[str, Any] = {"temp_directory": gettempdir()}
        options["preserve_insertion_order"] = False
        database = duckdb.connect(":memory:", config=options)
        database.execute("ATTACH ':memory:' AS numbered (COMPRESS)")
        return database

    def show_files(self, address: Address, files: Mapping[int, str], schema: pa.Schema) -> None:
        self._duckdb.register("files", address.dataset([*files.values()], schema, [*files]))

    def show_table(self, name: str, table: pa.Table) -> None:
        self._duckdb.register(name, table)

    def table(self, statement: str) -> pa.Table:
        import duckdb
        import pyarrow as pa

        try:
            return self._duckdb.sql(statement).to_arrow_table()
        except (duckdb.Error, pa.ArrowException, OSError) as error:
            raise Refused(f"DuckDB: {first_line(error)}") from error

    def number_items(self, digest: str, show: Callable[[int], int]) -> None:
        if digest in self._numbered:
            return
        following = show(self._next_item)
        self._duckdb.execute(f"CREATE TABLE {self.numbered_table(digest)} AS {NUMBERED}")
        self._duckdb.unregister("files")  # the rows as they were read
        self._next_item = following
        self._numbered.add(digest)

    def numbered_table(self, digest: str) -> str:
        return f"numbered.rows_{digest}"

    def keep_numbered(self, digests: Collection[str]) -> None:
        for digest in self._numbered - {*digests}:
            self._duckdb.execute(f"DROP TABLE {self.numbered_table(digest)}")
            self._numbered.discard(digest)

    def make(self, name: str, statement: str) -> None:
        self._duckdb.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {statement}")

    def view(self, name: str, statement: str) -> None:
        self._duckdb.execute(f"CREATE OR REPLACE VIEW {name} AS {statement}")
