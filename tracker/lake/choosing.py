"""Where labels lie that are not in the ledger, as every face asks for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, TypedDict

from tracker.core.operations import Option

_COMMAND = frozenset({"command"})  # who asks over the network names no files of this machine


class InFiles(TypedDict, total=False):
    """Where the labels of a new project are, if they stay in files."""

    labels_at: Annotated[
        str | None,
        Option(
            "Leave the labels in these Parquet files: a file, a folder, a pattern or a URL.",
            metavar="PATH-OR-URL", faces=_COMMAND, examples=("lake/labels",),
        ),
    ]  # fmt: skip
    columns: Annotated[
        Sequence[str],
        Option(
            "Column of the files that holds a role: item, annotator, category, … (repeatable).",
            (), name="map", metavar="ROLE=COLUMN", faces=_COMMAND,
        ),
    ]  # fmt: skip
    engine: Annotated[
        str | None,
        Option(
            "What counts in the files: duckdb, or a Spark cluster such as spark://host:7077.",
            metavar="NAME", faces=_COMMAND,
        ),
    ]  # fmt: skip
