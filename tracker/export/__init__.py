"""What leaves the ledger as rows: labels, and what is found from them."""

from __future__ import annotations

from tracker.export.annotators import listed_annotators
from tracker.export.consensus import consensus_columns, consensus_rows
from tracker.export.items import listed_items
from tracker.export.labels import (
    LABEL_COLUMNS,
    exported_columns,
    exported_labels,
    import_keywords,
    labels_with_items,
)
from tracker.export.matrix import matrix_for

__all__ = [
    "LABEL_COLUMNS",
    "consensus_columns",
    "consensus_rows",
    "exported_columns",
    "exported_labels",
    "import_keywords",
    "labels_with_items",
    "listed_annotators",
    "listed_items",
    "matrix_for",
]
