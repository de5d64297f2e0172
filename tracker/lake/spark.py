"""Spark, over files: a cluster, or as many processes of this machine."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tracker.core.errors import Refused, first_line
from tracker.lake.engine import FileEngine
from tracker.lake.views import FILE

if TYPE_CHECKING:
    import pyarrow as pa

    from tracker.lake.files import Address

_SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "false",
    "spark.sql.legacy.parquet.nanosAsLong": "true",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.shuffle.partitions": "8",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}


class SparkFiles(FileEngine):
    """A session of Spark, begun with the first question and held until the program ends.

    What a cluster needs besides is in its own configuration (``SPARK_CONF_DIR``).
    """

    micros = "UNIX_MICROS(CAST({} AS TIMESTAMP))"
    number = "CAST(CONV(SUBSTR(MD5({}), 1, 15), 16, 10) AS BIGINT)"

    @cached_property
    def _spark(self) -> Any:
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master(self.name).appName("tracker")
        for name, value in _SETTINGS.items():
            builder = builder.config(name, value)
        logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
        try:
            with _silent():
                return builder.getOrCreate()
        except Exception as error:
            raise Refused(f"Spark at {self.name} does not start: {first_line(error)}") from error

    def show_files(self, address: Address, files: Mapping[int, str], schema: pa.Schema) -> None:
        import pyarrow as pa

        uris = {number: address.uri(path) for number, path in files.items()}
        rows = self._spark.read.option("mergeSchema", "true").parquet(*uris.values())
        path = "URL_DECODE(REPLACE(_metadata.file_path, '+', '%2B'))"
        none = [f"CAST(NULL AS STRING) AS `{n}`" for n in schema.names if n not in rows.columns]
        rows.selectExpr("*", f"{path} AS lake_path", *none).createOrReplaceTempView("found")
        paths = pa.table({"path": [*uris.values()], "file": pa.array([*uris], pa.int32())})
        self.show_table("paths", paths)
        self._spark.sql(
            "CREATE OR REPLACE TEMPORARY VIEW files AS "  # noqa: S608
            f"SELECT found.*, paths.file AS {FILE} "
            "FROM found JOIN paths ON paths.path = found.lake_path"
        )

    def show_table(self, name: str, table: pa.Table) -> None:
        frame = self._spark.createDataFrame(table)
        frame.hint("broadcast").createOrReplaceTempView(name)

    def table(self, statement: str) -> pa.Table:
        try:
            with warnings.catch_warnings(action="ignore"):
                return self._spark.sql(_translated(statement)).toArrow()
        except Exception as error:
            raise Refused(f"Spark: {first_line(error)}") from error

    def make(self, name: str, statement: str) -> None:
        # A cache would be made again of what its tables are by then.
        made = self._spark.sql(_translated(statement)).localCheckpoint()
        made.createOrReplaceTempView(name)

    def view(self, name: str, statement: str) -> None:
        self._spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW {name} AS {_translated(statement)}")


def _translated(statement: str) -> str:
    """Return a statement in the words of Spark."""
    import sqlglot

    return str(sqlglot.parse_one(statement, read="postgres").sql("spark"))


@contextmanager
def _silent() -> Iterator[None]:
    """Let nothing that is begun inside write to standard error: errors of Spark are raised."""
    sys.stderr.flush()
    before, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    finally:
        os.dup2(before, 2)
        os.close(before)
        os.close(nowhere)
