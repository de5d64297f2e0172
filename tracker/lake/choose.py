"""Which engine counts in files."""

from __future__ import annotations

import re
from functools import cache
from importlib.util import find_spec

from tracker.core.errors import InvalidOption, Refused
from tracker.lake.engine import FileEngine

DUCKDB = "duckdb"
_MASTER = re.compile(r"(spark|k8s|mesos)://\S+|yarn|local(-cluster)?(\[[\w,*]+\])?")


def is_master(name: str) -> bool:
    """Return whether a name is that of a Spark cluster."""
    return _MASTER.fullmatch(name) is not None


def check_file_engine(name: str) -> str:
    """Return the name of an engine; raises InvalidOption for none, Refused for one not there."""
    if name != DUCKDB and not is_master(name):
        raise InvalidOption(
            f"there is no engine {name!r} for labels in files",
            "the engines are: duckdb, or a Spark cluster such as spark://host:7077, local[4]",
        )
    extra, modules = ("duckdb", ["duckdb"]) if name == DUCKDB else ("spark", ["pyspark", "sqlglot"])
    if any(find_spec(module) is None for module in modules):
        title = "DuckDB" if name == DUCKDB else "Spark"
        raise Refused(
            f"{title} is not installed", f"install it: pip install 'annotation-tracker[{extra}]'"
        )
    return name


@cache
def file_engine(name: str) -> FileEngine:
    """Return the engine of a name, which is begun when it is first asked; raises likewise."""
    check_file_engine(name)
    if name == DUCKDB:
        from tracker.lake.duckdb import DuckDBFiles

        return DuckDBFiles(name)
    from tracker.lake.spark import SparkFiles

    return SparkFiles(name)
