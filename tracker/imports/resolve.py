"""Which answer stands: staged rows compared with each other and with the standing answers.

An answer (annotator, item, pass) may have several records. The one with the greatest
(``labeled_at``, order of recording, name it was given under) stands; a file that was imported
before was recorded then. Records that do not stand
are kept, also those that repeat what is known: an undo of another import must leave the ledger
as if that import had never been.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    Table,
    and_,
    case,
    delete,
    exists,
    false,
    func,
    insert,
    literal,
    or_,
    select,
    update,
)
from sqlalchemy.sql.selectable import FromClause

from tracker.formats.registry import Source as Reader
from tracker.imports.details import StagedDetails
from tracker.imports.staging import (
    CHANGED,
    FATES,
    INSERTED,
    OLDER,
    UNCHANGED,
    Fates,
    staged_rows_with_missing,
)
from tracker.projects.questions import QuestionInfo
from tracker.projects.supersede import supersede_labels
from tracker.storage import backends
from tracker.storage.schema import Change, Import, Label, PastLabel, Source
from tracker.storage.schema.labels import (
    ANSWER,
    ASSERTION,
    LABEL,
    OWN_NAME,
    RECORD,
    own_name_key,
    recorded_by,
    same_answer_key,
)

_labels = Label.__table__
_past = PastLabel.__table__


@dataclass(frozen=True)
class Settlement:
    """Moves staged rows into the ledger and counts their outcomes."""

    connection: Connection
    incoming: Table
    project_id: int
    change_id: int
    details: StagedDetails
    extremes: Mapping[int, Mapping[str, tuple[int, int]]]
    """By question, the least and the greatest number of the rows' columns."""

    def date_known_source(self, digest: str, numbers: Sequence[tuple[int, int]]) -> None:
        """Date a source that was imported before to the time of that import.

        ``numbers`` are ranges of its number and those of its files. Rows without a time of their
        own are dated, the others yield to what has the same time: importing last week's file again
        does not make its answers newer than this week's.
        """
        earlier = self._earlier_import(digest)
        if earlier is not None:
            of_source = or_(*(self.incoming.c.source.between(*ends) for ends in numbers))
            self.connection.execute(
                update(self.incoming)
                .where(of_source)
                .values(
                    labeled_at=case(
                        (self.incoming.c.has_own_time, self.incoming.c.labeled_at),
                        else_=earlier.recorded_at,
                    ),
                    first_change_id=earlier.id,
                )
            )

    def is_apart(self, first_new: int, sources: Iterable[Reader]) -> bool:
        """Return whether no staged row has to do with what the ledger holds.

        All items are numbered from ``first_new`` on, and no source was imported before.
        """
        lowest = [extremes["item_id"][0] for extremes in self.extremes.values()]
        known = (self._earlier_import(source.digest) for source in sources)
        return min(lowest, default=0) >= first_new and not any(known)

    def _earlier_import(self, digest: str) -> Row[int, int] | None:
        """Return the change of the first import of a source that stands, and its time."""
        return self.connection.execute(
            select(Change.id, Change.recorded_at)
            .join(
                Import,
                (Import.project_id == Change.project_id) & (Import.change_id == Change.id),
            )
            .join(Source, Source.import_id == Import.id)
            .where(
                Import.project_id == self.project_id,
                Import.change_id != self.change_id,
                Import.undone_by.is_(None),
                Source.digest == digest,
            )
            .order_by(Change.id)
            .limit(1)
        ).first()

    def number_repeats(self, answered: Collection[QuestionInfo], repeat: str | None) -> None:
        """Let the rows of an annotator on an item follow each other, in the order of their files.

        For questions of one category, each row is a ``pass``; or a ``revision`` of the one before,
        if it has no time of its own. Passes that a file numbers itself stand.
        """
        questions = [question.id for question in answered if question.answers == "one"]
        if repeat is None or not questions:
            return
        passes = repeat == "pass"
        rows, again = self.incoming, self.incoming.alias("again")
        later = rows.c["pass"] > 1
        if passes and self.connection.scalar(select(select(literal(1)).where(later).exists())):
            return
        key = [again.c[name] for name in ("question_id", "item_id", "annotator_id")]
        key += [] if passes else [again.c["pass"], again.c.labeled_at]
        order = [again.c.labeled_at, again.c.source, again.c.line]
        before = func.row_number().over(partition_by=key, order_by=order) - 1
        place = [again.c.source, again.c.line]
        numbered = (
            select(*key[:3], *place, before.label("number"))
            .where(again.c.question_id.in_(questions))
            .subquery("numbered")
        )
        names = ("question_id", "item_id", "annotator_id", "source", "line")
        same = and_(*(numbered.c[name] == rows.c[name] for name in names), numbered.c.number > 0)
        number = numbered.c.number
        change = {"pass": number + 1} if passes else {"labeled_at": rows.c.labeled_at + number}
        which = same if passes else and_(same, ~rows.c.has_own_time)
        self.connection.execute(update(rows).where(which).values(change))

    def insert_all(self, rows: Mapping[str, Any]) -> None:
        """Insert all rows of an import as standing, if none needs to be resolved."""
        names = rows["given_as"]
        if not isinstance(names, int):
            names = np.where(names == OWN_NAME, rows["annotator_id"], names)
        columns = {name: rows[name] for name in (*ASSERTION, *LABEL, "has_own_time", "spent_ms")}
        columns["given_as"] = rows["annotator_id"] if isinstance(names, int) else names
        keys = {"project_id": self.project_id, "change_id": self.change_id}
        backends.backend_of(self.connection).bulk_insert(
            self.connection, _labels, keys | staged_rows_with_missing(columns)
        )

    def run(self, *, repeats: bool, empty_before: bool) -> None:
        """Resolve every staged row, and drop rows that only repeat another of their file."""
        waves = 1
        if repeats:
            self._drop_repeated()
            waves = self._number_waves()
        for wave in range(1, waves + 1):
            answered = (wave > 1 or not empty_before) and self._judge(wave)
            if answered:
                self._retire(wave)
            self._store(wave, keep_past=answered)
        self.details.store(self.incoming, self.project_id, self.change_id)

    def fates(self, gold: int | None, truth_files: Collection[int]) -> dict[int, Fates]:
        """Return the number of rows by outcome, and that of truths beside answers, by question.

        In a file of truths alone, given by its source's number, the truths are the rows.
        """
        rows = self.incoming.c
        beside = (
            false()
            if gold is None
            else (rows.annotator_id == gold) & rows.source.not_in(sorted(truth_files))
        )
        # Sums in one pass: grouping by the fate would sort every row.
        counts = self.connection.execute(
            select(
                rows.question_id,
                *(
                    func.count().filter(rows.fate == fate, where)
                    for where in (~beside, beside)
                    for fate in range(len(FATES))
                ),
            ).group_by(rows.question_id)
        )
        number = len(FATES)
        return {
            question: Fates(
                dict(zip(FATES, sums[:number], strict=True)),
                dict(zip(FATES, sums[number:], strict=True)),
            )
            for question, *sums in counts
        }

    def changed_items(self) -> Select[int, int]:
        """Return the items of which a new record stands, be it the same answer at another time."""
        rows, stands = self.incoming, _labels.alias("stands")
        ours = exists(select(literal(1)).select_from(stands)).where(
            self._standing(rows, stands), stands.c.change_id == self.change_id
        )
        changed = select(rows.c.question_id, rows.c.item_id)
        return changed.where(rows.c.fate.in_([INSERTED, CHANGED]) | ours.correlate(rows))

    # -- within the import -----------------------------------------------------------------

    def any_repeats(self) -> bool:
        key = [self.incoming.c[column] for column in ANSWER]
        groups = select(literal(1)).select_from(self.incoming).group_by(*key)
        return bool(self.connection.scalar(select(groups.having(func.count() > 1).exists())))

    def _drop_repeated(self) -> None:
        """Delete rows that repeat another line of the file."""
        earlier = self.incoming.alias("earlier")
        self.connection.execute(
            delete(self.incoming).where(
                exists(select(literal(1)).select_from(earlier))
                .where(
                    same_answer_key((*RECORD, *LABEL), earlier, self.incoming),
                    earlier.c.line < self.incoming.c.line,
                )
                .correlate(self.incoming)
            )
        )

    def _number_waves(self) -> int:
        """Number the records of each answer, oldest first; returns the highest number."""
        key = [self.incoming.c[column] for column in ANSWER]
        several = (
            select(literal(1))
            .select_from(self.incoming)
            .group_by(*key)
            .having(
                (func.min(self.incoming.c.labeled_at) < func.max(self.incoming.c.labeled_at))
                | (func.min(self.incoming.c.source) < func.max(self.incoming.c.source))
                | (func.min(self.incoming.c.given_as) < func.max(self.incoming.c.given_as))
            )
        )
        if not self.connection.scalar(select(several.exists())):
            return 1
        records = (
            select(
                *(self.incoming.c[column] for column in RECORD),
                func.row_number()
                .over(
                    partition_by=key,
                    order_by=[
                        self.incoming.c.labeled_at,
                        func.coalesce(self.incoming.c.first_change_id, self.change_id),
                        self.incoming.c.source,
                        own_name_key(self.incoming),
                    ],
                )
                .label("number"),
            )
            .group_by(*(self.incoming.c[column] for column in (*RECORD, "first_change_id")))
            .subquery()
        )
        number = (
            select(records.c.number).where(same_answer_key(RECORD, records, self.incoming))
        ).scalar_subquery()
        self.connection.execute(update(self.incoming).values(wave=number))
        return self.connection.scalar(select(func.max(self.incoming.c.wave))) or 1

    # -- against what stands ---------------------------------------------------------------

    def _standing(self, row: FromClause, alias: FromClause) -> ColumnElement[bool]:
        return and_(alias.c.project_id == self.project_id, same_answer_key(ANSWER, alias, row))

    def _judge(self, wave: int) -> bool:
        """Give each row of a wave its outcome: the standing answer is older, equal, or neither.

        One without a standing answer has its own from the beginning. Returns whether any has one.
        """
        rows, of_wave = self.incoming, self.incoming.c.wave == wave
        stands = _labels.alias("stands")
        standing_at = (
            select(func.max(stands.c.labeled_at)).where(self._standing(rows, stands))
        ).scalar_subquery()
        fate = case(
            (rows.c.labeled_at < standing_at, OLDER),
            (self._alike(), UNCHANGED),
            (self._yields(), OLDER),
            else_=CHANGED,
        )
        judged = update(rows).where(of_wave, self._is_answered(rows)).values(fate=fate)
        return self.connection.execute(judged).rowcount > 0

    def _is_answered(self, rows: FromClause) -> ColumnElement[bool]:
        """Return whether an answer stands to what a staged row answers."""
        stands = _labels.alias("stands")
        answers = exists(select(literal(1)).select_from(stands)).where(self._standing(rows, stands))
        return answers.correlate(rows)

    def _yields(self) -> ColumnElement[bool]:
        """Return whether a staged record of a known file has the time of one recorded since."""
        rows, stands = self.incoming, _labels.alias("stands")
        since = exists(select(literal(1)).select_from(stands)).where(
            self._standing(rows, stands), _yields_to(rows, stands)
        )
        return since.correlate(rows)

    def _alike(self) -> ColumnElement[bool]:
        """Return whether a staged record equals the standing answer, label for label."""
        rows = self.incoming
        stands, staged, standing_labels = _labels.alias("s1"), rows.alias("r1"), _labels.alias("s2")
        missing_in_ledger = (
            exists(select(literal(1)).select_from(staged))
            .where(
                same_answer_key(RECORD, staged, rows),
                ~exists(select(literal(1)).select_from(standing_labels)).where(
                    self._standing(staged, standing_labels),
                    same_answer_key(LABEL, standing_labels, staged),
                ),
            )
            .correlate(rows)
        )
        again = rows.alias("r2")
        missing_here = (
            exists(select(literal(1)).select_from(stands))
            .where(
                self._standing(rows, stands),
                ~exists(select(literal(1)).select_from(again))
                .where(same_answer_key(RECORD, again, rows), same_answer_key(LABEL, again, stands))
                .correlate(rows, stands),  # unsaid, it would take rows for a table of its own
            )
            .correlate(rows)
        )
        return and_(~missing_in_ledger, ~missing_here)

    def _takes_over(self, row: FromClause, standing: FromClause) -> ColumnElement[bool]:
        """Return whether a row that is not older replaces the standing one; repetitions do not."""
        differs = row.c.spent_ms.is_distinct_from(standing.c.spent_ms)
        if self.details.table is not None:
            differs |= self.details.new(row, standing)
        later = row.c.labeled_at > standing.c.labeled_at
        repeats = ~(later | differs) | _yields_to(row, standing)
        return (row.c.fate == CHANGED) | ((row.c.fate == UNCHANGED) & ~repeats)

    def _retire(self, wave: int) -> None:
        """Move the standing answers that the wave replaces to the past."""
        rows = self.incoming
        replaced = (
            exists(select(literal(1)).select_from(rows))
            .where(
                rows.c.wave == wave,
                same_answer_key(ANSWER, rows, _labels),
                self._takes_over(rows, _labels),
            )
            .correlate(_labels)
        )
        items = select(rows.c.item_id).where(
            rows.c.wave == wave, rows.c.fate.in_([CHANGED, UNCHANGED])
        )
        which = and_(
            _labels.c.project_id == self.project_id,
            _labels.c.question_id.in_(sorted(self.extremes)),
            _labels.c.item_id.in_(items),  # or all labels would be looked through
            replaced,
        )
        supersede_labels(self.connection, which)

    def _store(self, wave: int, *, keep_past: bool) -> None:
        """Store a wave's rows: those that stand, then the others."""
        rows, of_wave = self.incoming, self.incoming.c.wave == wave
        if not keep_past:
            self._insert(_labels, of_wave)
            return
        occupied = self._is_answered(rows)
        # An answer whose standing record the wave did not replace is still occupied, and the
        # wave's record of it is a repetition or an older one: it goes to the past.
        self._insert(_past, and_(of_wave, occupied))
        self._insert(_labels, and_(of_wave, ~occupied))

    def _insert(self, target: Table, which: ColumnElement[bool]) -> None:
        rows = self.incoming
        columns = [*ASSERTION, *LABEL, "has_own_time", "first_change_id", "spent_ms"]
        self.connection.execute(
            insert(target).from_select(
                ["project_id", "change_id", "given_as", *columns],
                select(
                    literal(self.project_id),
                    literal(self.change_id),
                    own_name_key(rows),
                    *(rows.c[column] for column in columns),
                ).where(which),
            )
        )


def _yields_to(row: FromClause, standing: FromClause) -> ColumnElement[bool]:
    """Return whether a record of a known file has the time of one recorded since that file."""
    same_time = row.c.labeled_at == standing.c.labeled_at
    known = row.c.first_change_id.is_not(None)  # else what follows were NULL, also negated
    return and_(same_time, known, row.c.first_change_id < recorded_by(standing))
