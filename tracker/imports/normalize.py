"""From a batch to staged rows: names resolved, values read, bad records rejected."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, select

from tracker.core import clock
from tracker.core.errors import Refused
from tracker.formats.batch import (
    GOLD,
    KEEP,
    LISTED,
    Batch,
    Cells,
    Faults,
    Flags,
    Numbers,
    Rejections,
    Unit,
    place_of,
)
from tracker.formats.reader import ReadOptions
from tracker.imports import cell_values
from tracker.imports.item_lookup import ItemIds
from tracker.imports.lookup import BAD, AnnotatorIds
from tracker.imports.odd_cells import OddCells
from tracker.imports.preferred import COMPARED_BY, ComparedItems, preference_cells
from tracker.imports.questions import ImportQuestions, Share
from tracker.imports.staging import NOT_TIMED, Detail, StagedDetails, Staging, labels_once
from tracker.imports.structured_cells import with_lists, with_parallel_lists
from tracker.projects.settings import ANSWERS
from tracker.storage.current import apply_kind_facts, record_annotator_facts, record_category_facts
from tracker.storage.schema import KINDS, NO_SPAN, NONE_APPLIES, SKIPPED, Item

_OF_SPANS = ("start", "end", "n_tokens")
_MOST_GOLD_REMEMBERED = 500_000

Rows = dict[str, npt.NDArray[Any]]


@dataclass
class Counted:
    answers: int = 0
    skipped: int = 0  # of them, those that say nothing


class _Part(NamedTuple):
    """The labels of a batch for one question."""

    question: int
    records: Numbers | None  # the record of each label; None: one each
    columns: Rows  # those that records do not have: the category and the span
    alike: bool  # whether different cells stand for one category, or a filled one for none


class Intake:
    """Takes batches of one import and stages their good records."""

    def __init__(
        self,
        connection: Connection,
        questions: ImportQuestions,
        staging: Staging,
        rejections: Rejections,
        change: tuple[int, int],
        options: ReadOptions,
    ) -> None:
        """``change`` is the import's number in the change log, and the moment of its recording."""
        self.odd = OddCells(options)
        self.connection = connection
        self.questions = questions
        self.staging = staging
        self.rejections = rejections
        self.change, self.recorded_at = change
        self.items = ItemIds(connection, questions.project, self.change)
        self.annotators = AnnotatorIds(connection, questions.project)
        self.gold: int | None = None  # the reference annotator, once a gold value was met
        self.units: dict[int, Unit] = {}  # what a place in a source is, by the source's number
        self.truth_files: set[int] = set()  # sources that hold truths and no answers
        self.counted: defaultdict[int, Counted] = defaultdict(Counted)  # by question
        self._gold_seen: set[tuple[int, int, str]] = set()
        self.details = StagedDetails(connection)
        self.first = FirstRows()
        self.compared: ComparedItems | None = None
        self.swapped: Flags | None = None  # rows of the batch whose two have changed places
        self.keeps = False  # whether a batch had attributes of items

    def close(self) -> None:
        """Record the facts, and drop the temporary data."""
        self.items.close()
        project, change, annotators = self.questions.project.id, self.change, self.annotators
        met = annotators.met | annotators.kinds_given.keys()
        record_annotator_facts(self.connection, project, change, met, annotators.kinds_given)
        apply_kind_facts(self.connection, project, change)
        self.questions.close(change)
        for ids in self.questions.answered.values():
            record_category_facts(self.connection, ids.question.key, change, ids.met)

    def take(self, batch: Batch, source: int, name: str) -> None:
        """Stage a batch of the source with this number and name.

        Raises Refused if the file as a whole does not fit the project.
        """
        name = batch.source or name
        self.units[source] = batch.unit
        self.first.batch_begins()
        for question in self.questions.declare(batch.asked, name):
            self.staging.replace_category(question.id, SKIPPED, NONE_APPLIES)
        self.items.measures_texts = self.questions.have_spans_of_text
        refuse_nul_in_batch(batch, name)
        bad = Faults()
        batch = self._align_pairs(with_parallel_lists(batch, bad), bad)
        columns = batch.columns
        answers = "annotator" in columns
        self.keeps |= any(role.startswith(KEEP) for role in columns)
        shares = self.questions.split(columns, bad, name) if answers else []
        self._fits(shares, columns, name)
        rows: Rows = {"line": batch.lines, "item_id": self._named(self.items, "item", batch, bad)}
        truths = self.questions.split(columns, bad, name, "gold") if "gold" in columns else []
        for share in (*shares, *truths):
            share.categories.begin_batch(batch, self.odd.options.accept)
        for share in truths:
            self._take_gold(share, batch, rows["item_id"], source, bad)
        parts: list[_Part] = []
        if answers:
            self._annotators(rows, batch, name, bad)
            parts = [self._part(share, batch, rows, bad) for share in shares]
            optional = cell_values.read_optional_cells(batch, self.recorded_at, bad)
            self.rejections.optional |= optional.unread
            rows |= optional.rows
        for n in sorted(bad):
            item = None if rows["item_id"][n] == BAD else columns["item"][n].strip()
            column = batch.column_of(bad.roles[n], n)
            self.rejections.add(name, int(batch.lines[n]), bad[n], batch.unit, item, column)
        if not answers:
            self.truth_files.add(source)
            for share in truths:
                filled = share.cells(columns, "gold").holds(str.strip)
                filled &= _good(share.records, len(filled), bad)
                self.counted[share.question.id].answers += int(filled.sum())
        elif {"confidence", "comment"} & columns.keys():
            self._stage_details(rows, batch, source, bad, optional.confidences)
        for part in parts:
            self._stage_part(part, rows, source, bad)

    def _align_pairs(self, batch: Batch, bad: Faults) -> Batch:
        """Return a batch in which an item compares the same two in the same order throughout."""
        self.swapped = None
        if not self.questions.pairs or not batch.columns.keys() >= COMPARED_BY:
            return batch
        project = self.questions.project.id
        self.compared = self.compared or ComparedItems(self.connection, project)
        batch, self.swapped = self.compared.align(batch, bad)
        return batch

    def _fits(self, shares: Sequence[Share], columns: Mapping[str, Cells], name: str) -> None:
        spans = [share for share in shares if share.question.answers == "spans"]
        if spans and "start" not in columns:
            raise Refused(f"{name} has no start and end of spans", "--map start=… --map end=…")
        if spans and len(shares) > 1 and shares[0].records is None:
            return  # a column for each question
        places = [role for role in ("start", "end") if role in columns]
        for share in shares:
            texts = (text for role in places for text in share.cells(columns, role).texts)
            if share.question.answers != "spans" and any(map(str.strip, texts)):
                subject = f"{self.questions.project.name!r} is a project"
                if self.questions.several:
                    subject = f"{share.question.name!r} is a question"
                holds = f"{name} holds spans, and {subject} of {ANSWERS[share.question.answers]}"
                raise Refused(holds, "make the project with --answers spans")

    def _named(self, ids: ItemIds | AnnotatorIds, role: str, batch: Batch, bad: Faults) -> Numbers:
        column = batch.columns[role]
        numbers = ids.of(column, batch)[column.codes]
        self.odd.reject_missing_names(batch, role, ids, numbers, bad)
        for n in np.flatnonzero(numbers == BAD).tolist():
            bad.add(n, ids.reason(column[n]) + batch.of_column(role), role)
        return numbers

    def _annotators(self, rows: Rows, batch: Batch, name: str, bad: Faults) -> None:
        numbers = self._named(self.annotators, "annotator", batch, bad)
        rows["annotator_id"] = numbers
        if self.annotators.aliases:
            rows["annotator_id"] = self.annotators.canonical(numbers)
            rows["given_as"] = numbers
        if "kind" in batch.columns:
            normalize_annotator_kinds(self.annotators, numbers, batch, name)

    def _stage_details(
        self,
        rows: Rows,
        batch: Batch,
        source: int,
        bad: Collection[int],
        confidences: Sequence[float | None] | None,
    ) -> None:
        nothing: list[None] = [None] * len(batch.lines)
        comments: Sequence[str | None] = nothing
        if "comment" in batch.columns:
            texts = batch.columns["comment"].at(np.arange(len(batch.lines)))
            comments = [text.strip() or None for text in texts]
        lines, annotators = rows["line"].tolist(), rows["annotator_id"].tolist()
        cells = zip(lines, annotators, confidences or nothing, comments, strict=True)
        details = [
            (line, annotator, source, confidence, comment)
            for n, (line, annotator, confidence, comment) in enumerate(cells)
            if (confidence is not None or comment is not None) and n not in bad
        ]
        self.details.add(details)
        self.first.add_details(details)

    def _part(self, share: Share, batch: Batch, rows: Rows, bad: Faults) -> _Part:
        """Return the labels of the records that answer one question."""
        columns = batch.columns
        records, cells = share.records, share.cells(columns, share.role)
        cells = self.odd.remove_missing_words(batch, cells, share.categories)
        cells = preference_cells(cells, share.categories, batch, share.role, self.swapped)
        people = rows["annotator_id"] if records is None else rows["annotator_id"][records]
        answered = self.odd.find_answered(batch, cells, share.categories, people)
        if answered is not None:
            kept = np.flatnonzero(answered)
            records, cells = kept if records is None else records[kept], cells.take(kept)
        several = share.question.answers == "several"
        cells = with_lists(cells, share.categories.names) if several else cells
        for between in (LISTED if cells.listed else None, self.questions.separator):
            if between and several:
                cells, within = cells.split(between)
                records = within if records is None else records[within]
        numbers = share.categories.of_texts(cells.texts)
        labels: Rows = {"category_id": np.array(numbers, np.int64)[cells.codes]}
        items = rows["item_id"] if records is None else rows["item_id"][records]
        self.odd.add(batch, cells, share.categories, numbers, items)
        wrong = {
            n: self._reason(share, cells[n]) + batch.of_column(share.role)
            for n in np.flatnonzero(labels["category_id"] == BAD).tolist()
        }
        misplaced: dict[int, str] = {}
        if share.question.answers == "spans":
            places = {role: share.cells(columns, role) for role in _OF_SPANS if role in columns}
            self._spans(labels, places, misplaced)
        for role, reasons in ((share.role, wrong), ("start", misplaced)):
            for n, reason in reasons.items():
                bad.add(n if records is None else int(records[n]), reason, role)
        empty = {text for text, n in zip(cells.texts, numbers, strict=True) if n < 1}
        alike = batch.rows_repeat or len({*numbers}) < len(numbers) or any(map(str.strip, empty))
        return _Part(share.question.id, records, labels, alike)

    def _reason(self, share: Share, raw: str) -> str:
        of = f"{share.question.name}: " if self.questions.several else ""
        return of + share.categories.reason(raw)

    def _spans(self, rows: Rows, columns: Mapping[str, Cells], bad: dict[int, str]) -> None:
        starts, ends, lengths = (
            cell_values.read_cell_values(columns[role], cell_values.cell_span_offset, NO_SPAN, bad)
            if role in columns
            else np.full(len(rows["category_id"]), NO_SPAN)
            for role in _OF_SPANS
        )
        marked = (starts != NO_SPAN) & (ends > starts) & ((lengths == NO_SPAN) | (ends <= lengths))
        nothing = (starts == NO_SPAN) & (ends == NO_SPAN)
        none_applies = rows["category_id"] == NONE_APPLIES
        for n in np.flatnonzero(~np.where(none_applies, nothing, marked)).tolist():
            start, end = int(starts[n]), int(ends[n])
            if none_applies[n]:
                bad.setdefault(n, f"the span {start} to {end} has no category (--span-label NAME)")
            elif NO_SPAN in {start, end}:
                bad.setdefault(n, "the start or the end of the span is missing")
            elif end <= start:
                bad.setdefault(n, f"the span ends at {end}, not after its start at {start}")
            else:
                last = int(lengths[n])
                bad.setdefault(n, f"the span ends at {end}, past the document's end at {last}")
        rows["span_start"], rows["span_end"] = starts, ends

    def _take_gold(
        self, share: Share, batch: Batch, items: Numbers, source: int, bad: Faults
    ) -> None:
        """Stage the truths of a batch, one per item however many rows repeat it."""
        records = share.records
        golds = share.cells(batch.columns, "gold")
        golds = preference_cells(golds, share.categories, batch, "gold", self.swapped)
        items = items if records is None else items[records]
        lines = batch.lines if records is None else batch.lines[records]
        filled = np.flatnonzero(golds.holds(str.strip) & (items != BAD))
        pairs = items[filled] * len(golds.distinct) + golds.codes[filled]
        first = np.sort(filled[np.unique(pairs, return_index=True)[1]])
        of_question = [share.question.id] * len(first)
        truths = [*zip(of_question, items[first].tolist(), golds.at(first), strict=True)]
        fresh = first[[n for n, truth in enumerate(truths) if truth not in self._gold_seen]]
        if len(self._gold_seen) > _MOST_GOLD_REMEMBERED:
            self._gold_seen.clear()
        self._gold_seen.update(truths)
        if not len(fresh):
            return
        if self.gold is None:
            self.gold = self.annotators.reference(GOLD)
        numbers = np.array(share.categories.of_texts(golds.at(fresh)), np.int64)
        for n in fresh[numbers == BAD].tolist():
            record = n if records is None else int(records[n])
            bad.add(record, f"the gold: {self._reason(share, golds[n])}", "gold")
        good = fresh[numbers != BAD]
        rows: Rows = {"line": lines[good], "item_id": items[good]}
        rows["annotator_id"] = np.full(len(good), self.gold)
        rows["category_id"] = numbers[numbers != BAD]
        self._stage(rows, source, share.question.id)

    def _stage_part(self, part: _Part, rows: Rows, source: int, bad: Collection[int]) -> None:
        if part.records is not None:
            rows = {name: column[part.records] for name, column in rows.items()}
        rows = {**rows, **part.columns}
        if bad:
            good = _good(part.records, len(rows["line"]), bad)
            rows = {name: column[good] for name, column in rows.items()}
        if part.alike and len(np.unique(rows["line"])) < len(rows["line"]):
            once = labels_once(rows)
            rows = {name: column[once] for name, column in rows.items()}
        counted = self.counted[part.question]
        counted.answers += len(rows["line"])
        counted.skipped += int((rows["category_id"] < 1).sum())
        self._stage(rows, source, part.question)

    def _stage(self, rows: Rows, source: int, question: int) -> None:
        self.first.add(rows, question, source)
        if source > 1:
            rows["source"] = np.full(len(rows["line"]), source)
        self.staging.add(rows, question)


def _good(records: Numbers | None, number: int, bad: Collection[int]) -> Flags:
    """Return which of so many rows are of no bad record; None: one a record."""
    return ~np.isin(np.arange(number) if records is None else records, list(bad))


def refuse_nul_in_batch(batch: Batch, name: str) -> None:
    """Refuse texts that Postgres would refuse; names are checked one by one."""
    for role, column in batch.columns.items():
        if role in {"text", "comment"} or role.startswith(KEEP):
            with_nul = column.holds(lambda text: "\0" in text)
            if with_nul.any():
                place = place_of(name, int(batch.lines[with_nul.argmax()]), batch.unit)
                raise Refused(f"{place}: a text holds a NUL character")


def normalize_annotator_kinds(
    annotators: AnnotatorIds, numbers: Numbers, batch: Batch, source: str
) -> None:
    """Note the kinds that a file gives to annotators; an empty cell gives none.

    ``numbers`` holds each row's annotator. Raises Refused, with the line, for an unknown kind, and
    for a kind that contradicts another line or an earlier statement about the annotator.
    """
    kinds = batch.columns["kind"]
    pairs = numbers * len(kinds.distinct) + kinds.codes
    for n in np.sort(np.unique(pairs, return_index=True)[1]).tolist():
        number, raw = int(numbers[n]), kinds[n]
        kind = raw.strip().casefold()
        if number == BAD or not kind:
            continue
        where = place_of(source, int(batch.lines[n]), batch.unit)
        if kind not in KINDS:
            raise Refused(
                f"{where}: {raw.strip()!r} is no kind of annotator",
                f"write one of: {', '.join(KINDS)}; or, if the column means something else: "
                "--map kind=",
            )
        owner = annotators.aliases.get(number, number)
        name = annotators.name_of(owner)
        place = f"{where}: {name!r} is a {kind} here"
        other = annotators.kinds_given.setdefault(owner, kind)
        if other != kind:
            both = f"{place}, and a {other} on another {where.unit}"
            raise Refused(both, "an annotator has one kind")
        stated = annotators.stated.get(owner, kind)
        if stated != kind:
            project = annotators.project.name
            raise Refused(
                f"{place}, and a {stated} in {project!r}",
                f"run: tracker annotator kind {quote(name)} {kind} -p {quote(project)}, "
                "or ignore the column: --map kind=",
            )
        annotators.kinds[name] = kind


_MOST = 10


class FirstRows:
    """Gathers rows as they are staged, until there are enough; their numbers become names later."""

    def __init__(self) -> None:
        self._rows: list[dict[str, int]] = []
        self._details: dict[tuple[int, int, int], Detail] = {}
        self.complete = False

    def batch_begins(self) -> None:
        """Take no more once the batches before had enough; within one the order is not known."""
        self.complete = len(self._rows) >= _MOST

    def add(self, rows: Mapping[str, Any], question: int, source: int) -> None:
        if not self.complete:
            columns = {name: column[:_MOST].tolist() for name, column in rows.items()}
            self._rows += [
                {"question": question, "source": source, **dict(zip(columns, row, strict=True))}
                for row in zip(*columns.values(), strict=True)
            ]

    def add_details(self, details: Sequence[Detail]) -> None:
        if not self.complete:
            self._details |= {detail[:3]: detail for detail in details}

    def named(self, intake: Intake) -> tuple[dict[str, Any], ...]:
        """Return the first rows in the order of the files, as JSON."""
        rows = sorted(self._rows, key=lambda row: (row["source"], row["line"]))[:_MOST]
        of_rows = select(Item.id, Item.name).where(
            Item.project_id == intake.questions.project.id,
            Item.id.in_({row["item_id"] for row in rows}),
        )
        items = {row.id: row.name for row in intake.connection.execute(of_rows)}
        annotators = intake.annotators
        of_question = {ids.question.id: ids for ids in intake.questions.answered.values()}
        payloads = []
        for row in rows:
            ids, number = of_question[row["question"]], row["category_id"]
            category = next((name for name, known in ids.names.items() if known == number), None)
            source, line, who = row["source"], row["line"], row["annotator_id"]
            spent, name = row.get("spent_ms", NOT_TIMED), annotators.name_of(who)
            detail = self._details.get((line, who, source), (None, None))
            start, end = (row.get(f"span_{place}", NO_SPAN) for place in ("start", "end"))
            payloads.append(
                {
                    "line": place_of("", line, intake.units[source]).number,
                    "item": items[row["item_id"]],
                    "annotator": name,
                    "kind": annotators.kinds_given.get(who) or annotators.kinds.get(name, "human"),
                    "question": ids.question.name,
                    "category": category,
                    "start": None if start == NO_SPAN else start,
                    "end": None if end == NO_SPAN else end,
                    "pass": row.get("pass", 1),
                    "labeled_at": clock.iso(row["labeled_at"]) if row.get("has_own_time") else None,
                    "seconds": None if spent == NOT_TIMED else spent / 1000,
                    "confidence": detail[-2],
                    "comment": detail[-1],
                }
            )
        return tuple(payloads)
