"""From a batch to staged rows: names resolved, values read, bad records rejected."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from shlex import quote
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection

from tracker.core.errors import Refused
from tracker.imports import cell_values
from tracker.imports.batch import KEEP, Batch, Cells, Numbers, Rejections
from tracker.imports.details import StagedDetails
from tracker.imports.item_lookup import ItemIds
from tracker.imports.lookup import BAD, AnnotatorIds, CategoryIds
from tracker.imports.staging import NOT_TIMED, Staging
from tracker.projects.question import QuestionInfo
from tracker.storage.facts import apply_kind_facts, record_annotator_facts, record_category_facts
from tracker.storage.schema import KINDS, NO_SPAN, NONE_APPLIES, SKIPPED

GOLD = "gold"
"""The reference annotator whose answers a gold column holds."""

_MOST_GOLD_REMEMBERED = 500_000

Rows = dict[str, npt.NDArray[Any]]


class Intake:
    """Takes batches of one import and stages their good records."""

    def __init__(
        self,
        connection: Connection,
        question: QuestionInfo,
        staging: Staging,
        rejections: Rejections,
        change: tuple[int, int],
    ) -> None:
        """``change`` is the import's number in the change log, and the moment of its recording."""
        self.connection = connection
        self.question = question
        self.staging = staging
        self.rejections = rejections
        self.change, self.recorded_at = change
        self.items = ItemIds(connection, question.project, self.change)
        self.annotators = AnnotatorIds(connection, question.project)
        empty = SKIPPED if question.answers == "one" else NONE_APPLIES
        self.categories = CategoryIds(connection, question, empty)
        self.gold: int | None = None  # the reference annotator, once a gold value was met
        self.truth_files: set[int] = set()  # sources that hold truths and no answers
        self._gold_seen: set[tuple[int, str]] = set()
        self.details = StagedDetails(connection)
        self._confidences: list[float | None] | None = None

    def close(self) -> None:
        """Record the facts, and drop the temporary data."""
        self.items.close()
        project, change, annotators = self.question.project_id, self.change, self.annotators
        met = annotators.met | annotators.kinds_given.keys()
        record_annotator_facts(self.connection, project, change, met, annotators.kinds_given)
        apply_kind_facts(self.connection, project, change)
        record_category_facts(self.connection, self.question.key, change, self.categories.met)

    def take(self, batch: Batch, source: int, name: str) -> int:
        """Stage a batch of the source with this number and name; returns how many rows count.

        The rows are the answers or, in a file of truths alone, the truths. Raises Refused if the
        file as a whole does not fit the project.
        """
        self._fits(batch, name)
        columns = batch.columns
        refuse_nul_in_batch(batch, name)
        bad: dict[int, str] = {}
        rows: Rows = {"line": batch.lines, "item_id": self._named(self.items, "item", batch, bad)}
        if "gold" in columns:
            self._take_gold(batch, rows["item_id"], source, bad)
        if "annotator" in columns:
            self._answers(rows, batch, name, bad)
        for n in sorted(bad):
            self.rejections.add(name, int(batch.lines[n]), bad[n])
        if "annotator" not in columns:
            self.truth_files.add(source)
            counts = columns["gold"].holds(str.strip)
            counts[list(bad)] = True
            return int(counts.sum())
        if {"confidence", "comment"} & columns.keys():
            self._stage_details(rows, batch, source, bad)
        self._stage(rows, source, bad)
        return len(batch.lines)

    def _fits(self, batch: Batch, name: str) -> None:
        spans = "start" in batch.columns
        filled = any(
            text.strip()
            for role in ("start", "end")
            if role in batch.columns
            for text in batch.columns[role].texts
        )
        if filled and self.question.answers != "spans":
            raise Refused(
                f"{name} holds spans, and {self.question.project.name!r} is a project of "
                f"{self.question.answers}",
                "make the project with --answers spans",
            )
        if self.question.answers == "spans" and not spans and "annotator" in batch.columns:
            raise Refused(f"{name} has no start and end of spans", "--map start=… --map end=…")

    def _named(
        self,
        ids: ItemIds | AnnotatorIds | CategoryIds,
        role: str,
        batch: Batch,
        bad: dict[int, str],
    ) -> Numbers:
        column = batch.columns[role]
        numbers = ids.of(column, batch)[column.codes]
        for n in np.flatnonzero(numbers == BAD).tolist():
            bad.setdefault(n, ids.reason(column[n]))
        return numbers

    def _answers(self, rows: Rows, batch: Batch, name: str, bad: dict[int, str]) -> None:
        columns = batch.columns
        given = self._named(self.annotators, "annotator", batch, bad)
        rows["annotator_id"] = given
        if self.annotators.aliases:
            rows["annotator_id"] = self.annotators.canonical(given)
            rows["given_as"] = given
        if "kind" in columns:
            normalize_annotator_kinds(self.annotators, given, columns["kind"], batch.lines, name)
        rows["category_id"] = self._named(self.categories, "category", batch, bad)
        if "labeled_at" in columns:
            read = cell_values.cell_moment_reader(self.recorded_at)
            rows["labeled_at"] = cell_values.read_cell_values(
                columns["labeled_at"], read, self.recorded_at, bad
            )
            rows["has_own_time"] = columns["labeled_at"].holds(str.strip)
        if "seconds" in columns:
            rows["spent_ms"] = cell_values.read_cell_values(
                columns["seconds"], cell_values.cell_milliseconds, NOT_TIMED, bad
            )
        if "pass" in columns:
            rows["pass"] = cell_values.read_cell_values(
                columns["pass"], cell_values.cell_pass_number, 1, bad
            )
        if "start" in columns and self.question.answers == "spans":
            self._spans(rows, columns, bad)
        if "confidence" in columns:
            self._confidences = cell_values.read_confidences(columns["confidence"], bad)

    def _stage_details(self, rows: Rows, batch: Batch, source: int, bad: Collection[int]) -> None:
        """Stage what the good records hold beside their labels."""
        number = len(batch.lines)
        confidences, self._confidences = self._confidences or [None] * number, None
        comments: list[str | None] = [None] * number
        if "comment" in batch.columns:
            column = batch.columns["comment"]
            comments = [text.strip() or None for text in column.at(np.arange(number))]
        told = [
            (line, annotator, source, confidence, comment)
            for n, (line, annotator, confidence, comment) in enumerate(
                zip(
                    rows["line"].tolist(),
                    rows["annotator_id"].tolist(),
                    confidences,
                    comments,
                    strict=True,
                )
            )
            if (confidence is not None or comment is not None) and n not in bad
        ]
        self.details.add(told)

    def _spans(self, rows: Rows, columns: Mapping[str, Cells], bad: dict[int, str]) -> None:
        starts, ends = (
            cell_values.read_cell_values(columns[role], cell_values.cell_span_offset, NO_SPAN, bad)
            for role in ("start", "end")
        )
        lengths = np.full_like(starts, NO_SPAN)
        if "n_tokens" in columns:
            lengths = cell_values.read_cell_values(
                columns["n_tokens"], cell_values.cell_span_offset, NO_SPAN, bad
            )
        marked = (starts != NO_SPAN) & (ends > starts) & ((lengths == NO_SPAN) | (ends <= lengths))
        nothing = (starts == NO_SPAN) & (ends == NO_SPAN)
        none_applies = rows["category_id"] == NONE_APPLIES
        for n in np.flatnonzero(~np.where(none_applies, nothing, marked)).tolist():
            start, end = int(starts[n]), int(ends[n])
            if none_applies[n]:
                bad.setdefault(n, f"the span {start} to {end} has no category")
            elif NO_SPAN in {start, end}:
                bad.setdefault(n, "the start or the end of the span is missing")
            elif end <= start:
                bad.setdefault(n, f"the span ends at {end}, not after its start at {start}")
            else:
                last = int(lengths[n])
                bad.setdefault(n, f"the span ends at {end}, past the document's end at {last}")
        rows["span_start"], rows["span_end"] = starts, ends

    def _take_gold(self, batch: Batch, items: Numbers, source: int, bad: dict[int, str]) -> None:
        """Stage the truths of a batch, one per item however many rows repeat it."""
        golds = batch.columns["gold"]
        filled = np.flatnonzero(golds.holds(str.strip) & (items != BAD))
        pairs = items[filled] * len(golds.distinct) + golds.codes[filled]
        first = np.sort(filled[np.unique(pairs, return_index=True)[1]])
        truths = list(zip(items[first].tolist(), golds.at(first), strict=True))
        fresh = [n for n, truth in enumerate(truths) if truth not in self._gold_seen]
        if len(self._gold_seen) > _MOST_GOLD_REMEMBERED:
            self._gold_seen.clear()
        self._gold_seen.update(truths)
        taken = first[fresh]
        if not len(taken):
            return
        if self.gold is None:
            self.gold = self.annotators.reference(GOLD)
        numbers = np.array(self.categories.of_texts(golds.at(taken)), np.int64)
        for n in taken[numbers == BAD].tolist():
            bad.setdefault(n, f"the gold: {self.categories.reason(golds[n])}")
        rows: Rows = {
            "line": batch.lines[taken],
            "item_id": items[taken],
            "annotator_id": np.full(len(taken), self.gold),
            "category_id": numbers,
        }
        self._stage(rows, source, np.flatnonzero(numbers == BAD).tolist())

    def _stage(self, rows: Rows, source: int, bad: Collection[int]) -> None:
        if bad:
            good = np.ones(len(rows["line"]), bool)
            good[list(bad)] = False
            rows = {name: column[good] for name, column in rows.items()}
        if source > 1:
            rows["source"] = np.full(len(rows["line"]), source)
        if self.question.id > 1:
            rows["question_id"] = np.full(len(rows["line"]), self.question.id)
        self.staging.add(rows)


def refuse_nul_in_batch(batch: Batch, name: str) -> None:
    """Refuse texts that Postgres would refuse; names are checked one by one."""
    for role, column in batch.columns.items():
        if role in {"text", "comment"} or role.startswith(KEEP):
            with_nul = column.holds(lambda text: "\0" in text)
            if with_nul.any():
                line = batch.lines[with_nul.argmax()]
                raise Refused(f"{name}, line {line}: a text holds a NUL character")


def normalize_annotator_kinds(
    annotators: AnnotatorIds,
    given: Numbers,
    kinds: Cells,
    lines: Numbers,
    source: str,
) -> None:
    """Note the kinds that a file gives to annotators; an empty cell gives none.

    ``given`` holds each row's annotator by number, and ``kinds`` the cell of its kind. Raises
    Refused, with the line, for an unknown kind, and for a kind that contradicts another line or
    an earlier statement about the annotator.
    """
    pairs = given * len(kinds.distinct) + kinds.codes
    for n in np.sort(np.unique(pairs, return_index=True)[1]).tolist():
        number, raw = int(given[n]), kinds[n]
        kind = raw.strip().casefold()
        if number == BAD or not kind:
            continue
        if kind not in KINDS:
            raise Refused(
                f"{source}, line {lines[n]}: {raw.strip()!r} is no kind of annotator",
                f"write one of: {', '.join(KINDS)}; or, if the column means something else: "
                "--map kind=",
            )
        owner = annotators.aliases.get(number, number)
        name = annotators.name_of(owner)
        place = f"{source}, line {lines[n]}: {name!r} is a {kind} here"
        known = annotators.kinds_given.setdefault(owner, kind)
        if known != kind:
            raise Refused(f"{place}, and a {known} on another line", "an annotator has one kind")
        stated = annotators.stated.get(owner, kind)
        if stated != kind:
            project = annotators.project.name
            raise Refused(
                f"{place}, and a {stated} in {project!r}",
                f"run: tracker annotator kind {quote(name)} {kind} -p {quote(project)}, "
                "or ignore the column: --map kind=",
            )
        annotators.kinds[name] = kind
