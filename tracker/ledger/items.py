"""`ledger.items`: what is annotated."""

from __future__ import annotations

from collections.abc import Sequence

from tracker.ledger.namespace import Namespace
from tracker.projects.items import ItemAnnotators, ItemRecord, find_item, list_items


class Items(Namespace):
    """The items of projects; `Ledger.import_items` registers some."""

    def list(self, project: str, limit: int | None = None) -> Sequence[ItemAnnotators]:
        """Return a project's items in import order, with the number of their annotators."""
        with self._ledger.reading(project) as (connection, found):
            return list_items(connection, found, limit)

    def show(self, project: str, item: str) -> ItemRecord:
        """Return an item with every label it ever had; raises NotFound."""
        with self._ledger.reading(project) as (connection, found):
            return find_item(connection, found, item)
