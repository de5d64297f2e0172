"""DuckDB in the process, over files."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any

from tracker.core.errors import Refused
from tracker.lake.engine import FileEngine

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

    from tracker.lake.files import Address


class DuckDBFiles(FileEngine):
    """DuckDB; it scans the files as Arrow reads them, so every place that Arrow knows will do."""

    micros = "EPOCH_US({})"

    @cached_property
    def _duckdb(self) -> DuckDBPyConnection:
        import duckdb

        options: dict[str, Any] = {"temp_directory": gettempdir()}
        options["preserve_insertion_order"] = False
        return duckdb.connect(":memory:", config=options)

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
            raise Refused(f"DuckDB: {str(error).strip().partition(chr(10))[0][:300]}") from error

    def make(self, name: str, statement: str) -> None:
        self._duckdb.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {statement}")

    def view(self, name: str, statement: str) -> None:
        self._duckdb.execute(f"CREATE OR REPLACE VIEW {name} AS {statement}")
