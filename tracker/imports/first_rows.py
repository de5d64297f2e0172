"""The first rows of an import as the ledger would hold them, for a look before anything is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, select

from tracker.core import clock
from tracker.formats.batch import Unit, place_of
from tracker.imports.details import Detail
from tracker.imports.lookup import AnnotatorIds, CategoryIds
from tracker.imports.staging import NOT_TIMED
from tracker.storage.schema import NO_SPAN, Item

_MOST = 10
_items = Item.__table__


class FirstRows:
    """Gathers rows as they are staged, until there are enough; their numbers become names later."""

    def __init__(self) -> None:
        self._rows: list[dict[str, int]] = []
        self._details: dict[tuple[int, int, int], tuple[float | None, str | None]] = {}
        self.complete = False

    def batch_begins(self) -> None:
        """Take no more once the batches before had enough; within one the order is not known."""
        self.complete = len(self._rows) >= _MOST

    def add(self, rows: Mapping[str, Any], question: int, source: int) -> None:
        """Take the first of some staged rows, which answer one question."""
        if not self.complete:
            columns = {name: column[:_MOST].tolist() for name, column in rows.items()}
            self._rows += [
                {"question": question, "source": source, **dict(zip(columns, row, strict=True))}
                for row in zip(*columns.values(), strict=True)
            ]

    def add_details(self, details: Sequence[Detail]) -> None:
        """Take what answers hold beside their labels."""
        if not self.complete:
            self._details |= {(source, line, who): rest for line, who, source, *rest in details}  # type: ignore[misc]

    def named(
        self,
        connection: Connection,
        project_id: int,
        categories: Mapping[int, CategoryIds],
        annotators: AnnotatorIds,
        units: Mapping[int, Unit],
    ) -> tuple[dict[str, Any], ...]:
        """Return the first rows in the order of the files, as JSON."""
        rows = sorted(self._rows, key=lambda row: (row["source"], row["line"]))[:_MOST]
        numbers = {row["item_id"] for row in rows}
        of_rows = select(_items.c.id, _items.c.name).where(
            _items.c.project_id == project_id, _items.c.id.in_(numbers)
        )
        items = {row.id: row.name for row in connection.execute(of_rows)}
        names = {number: name for name, number in annotators.names.items()}
        kinds = {
            number: annotators.kinds_given.get(number) or annotators.kinds.get(name, "human")
            for number, name in names.items()
        }
        payloads = []
        for row in rows:
            ids = categories[row["question"]]
            who, spent = row["annotator_id"], row.get("spent_ms", NOT_TIMED)
            confidence, comment = self._details.get((row["source"], row["line"], who), (None, None))
            category_names = {number: name for name, number in ids.names.items()}
            payloads.append(
                {
                    "line": place_of("", row["line"], units[row["source"]]).number,
                    "item": items[row["item_id"]],
                    "annotator": names[who],
                    "kind": kinds[who],
                    "question": ids.question.name,
                    "category": category_names.get(row["category_id"]),
                    "start": _place(row.get("span_start", NO_SPAN)),
                    "end": _place(row.get("span_end", NO_SPAN)),
                    "pass": row.get("pass", 1),
                    "labeled_at": clock.iso(row["labeled_at"]) if row.get("has_own_time") else None,
                    "seconds": None if spent == NOT_TIMED else spent / 1000,
                    "confidence": confidence,
                    "comment": comment,
                }
            )
        return tuple(payloads)


def _place(offset: int) -> int | None:
    return None if offset == NO_SPAN else offset
