"""DuckDB in the process, over files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from tracker.core.errors import Refused, first_line
from tracker.engines.duckdb import new_database, with_more_memory
from tracker.lake.engine import FileEngine
from tracker.lake.views import FILE

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

    from tracker.lake.files import Address


class DuckDBFiles(FileEngine):
    """DuckDB; what it does not read itself it scans as Arrow reads it, from any place."""

    micros = "EPOCH_US({})"
    number = "CAST('0x' || SUBSTR(MD5({}), 1, 15) AS BIGINT)"
    holds = True

    @cached_property
    def _duckdb(self) -> DuckDBPyConnection:
        database = new_database()
        database.execute("ATTACH ':memory:' AS held (COMPRESS)")
        return database

    def show_files(self, address: Address, files: Mapping[int, str], schema: pa.Schema) -> None:
        paths, place = [*files.values()], "file_index"
        reads = address.is_local and place not in map(str.lower, schema.names)
        if not reads or any(address.columns(path)[0] != schema for path in paths):
            self._duckdb.register("scanned_files", address.dataset(paths, schema, [*files]))
            rows = "SELECT * FROM scanned_files"
        else:  # takes three fifths of the time, and a third of the memory
            quoted = ", ".join("'" + path.replace("'", "''") + "'" for path in paths)
            rows = (
                f"SELECT *, {[*files]}[CAST({place} AS INT) + 1] AS {FILE}"  # noqa: S608
                f" FROM read_parquet([{quoted}], hive_partitioning => false)"
            )
        self._create(f"VIEW files AS {rows}")

    def show_table(self, name: str, table: pa.Table) -> None:
        self._duckdb.register(name, table)

    def table(self, statement: str) -> pa.Table:
        with _refusing():
            return with_more_memory(
                self._duckdb, lambda: self._duckdb.sql(statement).to_arrow_table()
            )

    def hold(self, name: str, statement: str) -> None:
        import pyarrow as pa

        # It does not know how many rows of files come, and would hash them instead of the names.
        self._duckdb.execute("SET disabled_optimizers = 'join_order,build_side_probe_side'")
        try:
            self._create(f"TABLE held.{name} AS {statement}")
        finally:
            self._duckdb.execute("RESET disabled_optimizers")
        self._duckdb.execute("CHECKPOINT held")  # compresses them to a fifth
        pa.default_memory_pool().release_unused()
        self.held.add(name)

    def drop(self, name: str) -> None:
        self._duckdb.execute(f"DROP TABLE held.{name}")
        self.held.discard(name)

    def make(self, name: str, statement: str) -> None:
        self._create(f"TEMP TABLE {name} AS {statement}")

    def view(self, name: str, statement: str) -> None:
        self._create(f"VIEW {name} AS {statement}")

    def _create(self, what: str) -> None:
        with _refusing():
            with_more_memory(
                self._duckdb, lambda: self._duckdb.execute(f"CREATE OR REPLACE {what}")
            )


@contextmanager
def _refusing() -> Iterator[None]:
    """Raise Refused if what is done inside fails."""
    import duckdb
    import pyarrow as pa

    try:
        yield
    except (duckdb.Error, pa.ArrowException, OSError) as error:
        raise Refused(f"DuckDB: {first_line(error)}") from error
