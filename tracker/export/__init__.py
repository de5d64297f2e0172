"""What leaves the ledger as rows: labels, and what is found from them."""

from __future__ import annotations

from tracker.export.labels import (
    LABEL_COLUMNS,
    exported_columns,
    exported_labels,
    import_options,
    labels_with_items,
)

__all__ = [
    "LABEL_COLUMNS",
    "exported_columns",
    "exported_labels",
    "import_options",
    "labels_with_items",
]
