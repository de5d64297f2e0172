"""From a batch to staged rows: names resolved, values read, bad records set aside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection

from tracker.catalogue.facts import hold_kinds, say_of_annotators, say_of_categories
from tracker.catalogue.projects import ProjectInfo
from tracker.errors import Refused
from tracker.ingest import values
from tracker.ingest.items import ItemIds
from tracker.ingest.kinds import take_kinds
from tracker.ingest.names import BAD, AnnotatorIds, CategoryIds
from tracker.ingest.records import KEEP, Batch, Rejections
from tracker.ingest.staging import Staging
from tracker.schema import NO_SPAN, NONE_APPLIES, SKIPPED

__all__ = ["GOLD", "Intake"]

GOLD = "gold"
"""The reference annotator whose answers a gold column holds."""

_MOST_GOLD_REMEMBERED = 500_000

Rows = dict[str, Sequence[Any]]


class Intake:
    """Takes batches of one import and stages what is good in them."""

    def __init__(
        self,
        connection: Connection,
        project: ProjectInfo,
        staging: Staging,
        rejections: Rejections,
        change: tuple[int, int],
    ) -> None:
        """``change`` is the import's number in the change log, and when it is recorded."""
        self.connection = connection
        self.project = project
        self.staging = staging
        self.rejections = rejections
        self.change, self.recorded_at = change
        self.items = ItemIds(connection, project, self.change)
        self.annotators = AnnotatorIds(connection, project)
        empty = SKIPPED if project.answers == "one" else NONE_APPLIES
        self.categories = CategoryIds(connection, project, empty)
        self.gold: int | None = None  # the reference annotator, once a gold value was met
        self.truth_files: set[int] = set()  # sources that hold truths and no answers
        self._gold_seen: set[tuple[int, str]] = set()

    def close(self) -> None:
        """Record what was said beside the answers, and drop what was needed on the way."""
        self.items.close()
        project, change, annotators = self.project.id, self.change, self.annotators
        met = annotators.met | annotators.told.keys()
        say_of_annotators(self.connection, project, change, met, annotators.told)
        hold_kinds(self.connection, project, change)
        say_of_categories(self.connection, project, change, self.categories.met)

    def take(self, batch: Batch, source: int, name: str) -> int:
        """Stage a batch of the source with this number and name; returns how many rows count.

        These are the answers; of a file of truths alone, the truths.

        Raises Refused where the file as a whole does not fit the project.
        """
        self._fits(batch, name)
        columns = batch.columns
        self._refuse_nul(batch, name)
        bad: dict[int, str] = {}
        rows: Rows = {"line": batch.lines, "item_id": self._named(self.items, "item", batch, bad)}
        if "gold" in columns:
            self._take_gold(batch, rows["item_id"], source, bad)
        if "annotator" in columns:
            self._answers(rows, batch, name, bad)
        for n in sorted(bad):
            self.rejections.add(name, batch.lines[n], bad[n])
        if "annotator" not in columns:
            self.truth_files.add(source)
            return sum(1 for n, gold in enumerate(columns["gold"]) if gold.strip() or n in bad)
        self._stage(rows, source, bad)
        return len(batch.lines)

    def _fits(self, batch: Batch, name: str) -> None:
        spans = "start" in batch.columns
        cells = (cell for role in ("start", "end") for cell in batch.columns.get(role, ()))
        filled = any(cell.strip() for cell in cells)
        if filled and self.project.answers != "spans":
            raise Refused(
                f"{name} holds spans, and {self.project.name!r} is a project of "
                f"{self.project.answers}",
                "make the project with --answers spans",
            )
        if self.project.answers == "spans" and not spans and "annotator" in batch.columns:
            raise Refused(f"{name} has no start and end of spans", "--map start=… --map end=…")

    def _refuse_nul(self, batch: Batch, name: str) -> None:
        """Names are looked at one by one; this is for texts, which Postgres would refuse."""
        for role, texts in batch.columns.items():
            if role == "text" or role.startswith(KEEP):
                for line, cell in zip(batch.lines, texts, strict=True):
                    if "\0" in cell:
                        raise Refused(f"{name}, line {line}: a text holds a NUL character")

    def _named(
        self,
        ids: ItemIds | AnnotatorIds | CategoryIds,
        role: str,
        batch: Batch,
        bad: dict[int, str],
    ) -> list[int]:
        raws = batch.columns[role]
        numbers = ids.of(raws, batch.columns)
        if BAD in numbers:
            for n, number in enumerate(numbers):
                if number == BAD:
                    bad.setdefault(n, ids.reason(raws[n]))
        return numbers

    def _answers(self, rows: Rows, batch: Batch, name: str, bad: dict[int, str]) -> None:
        columns = batch.columns
        given = self._named(self.annotators, "annotator", batch, bad)
        rows["annotator_id"] = given
        if self.annotators.aliases:
            rows["annotator_id"] = self.annotators.canonical(given)
            rows["given_as"] = given
        if "kind" in columns:
            take_kinds(self.annotators, given, columns["kind"], batch.lines, name)
        rows["category_id"] = self._named(self.categories, "category", batch, bad)
        if "labelled_at" in columns:
            read = values.moment(self.recorded_at)
            moments = values.read_column(columns["labelled_at"], read, None, bad)
            rows["timed"] = [moment is not None for moment in moments]
            rows["labelled_at"] = [
                self.recorded_at if moment is None else moment for moment in moments
            ]
        if "seconds" in columns:
            rows["spent_ms"] = values.read_column(columns["seconds"], values.millisecond, None, bad)
        if "pass" in columns:
            rows["pass"] = values.read_column(columns["pass"], values.pass_number, 1, bad)
        if "start" in columns and self.project.answers == "spans":
            self._spans(rows, columns, bad)

    def _spans(self, rows: Rows, columns: Mapping[str, Sequence[str]], bad: dict[int, str]) -> None:
        starts = values.read_column(columns["start"], values.offset, NO_SPAN, bad)
        ends = values.read_column(columns["end"], values.offset, NO_SPAN, bad)
        lengths = values.read_column(
            columns.get("n_tokens", [""] * len(starts)), values.offset, NO_SPAN, bad
        )
        for n, (start, end, length) in enumerate(zip(starts, ends, lengths, strict=True)):
            if rows["category_id"][n] == NONE_APPLIES:
                if (start, end) != (NO_SPAN, NO_SPAN):
                    bad.setdefault(n, f"the span {start} to {end} has no category")
            elif NO_SPAN in {start, end}:
                bad.setdefault(n, "the start or the end of the span is missing")
            elif end <= start:
                bad.setdefault(n, f"the span ends at {end}, not after its start at {start}")
            elif length != NO_SPAN and end > length:
                bad.setdefault(n, f"the span ends at {end}, past the document's end at {length}")
        rows["span_start"], rows["span_end"] = starts, ends

    def _take_gold(
        self, batch: Batch, items: Sequence[int], source: int, bad: dict[int, str]
    ) -> None:
        """Stage the truths of a batch, each item's once however many rows repeat it."""
        golds = batch.columns["gold"]
        truths = [gold if gold.strip() else "" for gold in golds]
        fresh = [
            n
            for n, truth in enumerate(truths)
            if truth and items[n] != BAD and (items[n], truth) not in self._gold_seen
        ]
        first: dict[tuple[int, str], int] = {}
        for n in fresh:
            first.setdefault((items[n], truths[n]), n)
        if len(self._gold_seen) > _MOST_GOLD_REMEMBERED:
            self._gold_seen.clear()
        self._gold_seen.update(first)
        taken = list(first.values())
        if not taken:
            return
        if self.gold is None:
            self.gold = self.annotators.reference(GOLD)
        numbers = self.categories.of([truths[n] for n in taken], {})
        for n, number in zip(taken, numbers, strict=True):
            if number == BAD:
                bad.setdefault(n, f"the gold: {self.categories.reason(truths[n])}")
        rows: Rows = {
            "line": [batch.lines[n] for n in taken],
            "item_id": [items[n] for n in taken],
            "annotator_id": [self.gold] * len(taken),
            "category_id": numbers,
        }
        self._stage(rows, source, {n: "" for n, number in enumerate(numbers) if number == BAD})

    def _stage(self, rows: Rows, source: int, bad: Mapping[int, str]) -> None:
        if bad:
            kept = [n for n in range(len(rows["line"])) if n not in bad]
            rows = {name: [column[n] for n in kept] for name, column in rows.items()}
        if source > 1:
            rows["source"] = [source] * len(rows["line"])
        self.staging.add(rows)
