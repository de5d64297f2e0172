"""Which answer stands: staged rows compared with each other and with the standing answers.

An answer (annotator, item, pass) may have several records. The one with the greatest
(``labeled_at``, order of recording, name it was given under) stands; a file that was imported
before was recorded then. Records that do not stand are kept, also those that repeat what is known:
an undo of another import must leave the ledger as if that import had never been.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sqlalchemy as sa

from tracker.imports.staging import FATES, Fates, StagedDetails, staged_rows_with_missing
from tracker.projects.questions import QuestionInfo
from tracker.projects.supersede import supersede_labels
from tracker.readers.registry import Source as Reader
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
INSERTED, CHANGED, UNCHANGED, OLDER = range(len(FATES))


@dataclass(frozen=True)
class Settlement:
    """Moves staged rows into the ledger and counts their outcomes."""

    connection: sa.Connection
    incoming: sa.Table
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
        earlier, rows = self._earlier_import(digest), self.incoming.c
        if earlier is not None:
            labeled_at = sa.case((rows.has_own_time, rows.labeled_at), else_=earlier.recorded_at)
            self.connection.execute(
                sa.update(self.incoming)
                .where(sa.or_(*(rows.source.between(*ends) for ends in numbers)))
                .values(labeled_at=labeled_at, first_change_id=earlier.id)
            )

    def is_apart(self, first_new: int, sources: Iterable[Reader]) -> bool:
        """Return whether no staged row has to do with what the ledger holds.

        All items are numbered from ``first_new`` on, and no source was imported before.
        """
        lowest = [extremes["item_id"][0] for extremes in self.extremes.values()]
        known = (self._earlier_import(source.digest) for source in sources)
        return min(lowest, default=0) >= first_new and not any(known)

    def _earlier_import(self, digest: str) -> sa.Row[int, int] | None:
        """Return the change of the first import of a source that stands, and its time."""
        return self.connection.execute(
            sa.select(Change.id, Change.recorded_at)
            .join(Import, Import.change_id == Change.id)
            .join(Source, Source.import_id == Import.id)
            .where(
                Change.project_id == self.project_id,
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
        rows, again = self.incoming, self.incoming.alias("again")
        passes = repeat == "pass"
        if passes and self.connection.scalar(sa.select(sa.exists().where(rows.c["pass"] > 1))):
            return
        key = ("question_id", "item_id", "annotator_id")
        within = again.c[key if passes else (*key, "pass", "labeled_at")]
        order = sa.func.row_number().over(
            partition_by=[*within], order_by=[*again.c["labeled_at", "source", "line"]]
        )
        numbered = (
            sa.select(*again.c[*key, "source", "line"], (order - 1).label("number"))
            .where(again.c.question_id.in_(questions))
            .subquery("numbered")
        )
        number = numbered.c.number
        which = [same_answer_key((*key, "source", "line"), numbered, rows), number > 0]
        which += [] if passes else [~rows.c.has_own_time]
        change = {"pass": number + 1} if passes else {"labeled_at": rows.c.labeled_at + number}
        self.connection.execute(sa.update(rows).where(*which).values(change))

    def insert_all(self, rows: Mapping[str, Any]) -> None:
        """Insert all rows of an import as standing, if none needs to be resolved."""
        own_name = rows["given_as"] == OWN_NAME
        columns = {name: rows[name] for name in (*ASSERTION, *LABEL, "has_own_time", "spent_ms")}
        columns["given_as"] = np.where(own_name, rows["annotator_id"], rows["given_as"])
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
            of_wave, occupied = self.incoming.c.wave == wave, self._is_answered()
            if (wave > 1 or not empty_before) and self._judge(wave):
                self._retire(wave)
                # An answer whose standing record the wave did not replace is still occupied, and
                # the wave's record of it is a repetition or an older one: it goes to the past.
                self._insert(_past, of_wave & occupied)
                of_wave &= ~occupied
            self._insert(_labels, of_wave)
        self.details.store(self.incoming, self.project_id, self.change_id)

    def fates(self, gold: int | None, truth_files: Collection[int]) -> dict[int, Fates]:
        """Return the number of rows by outcome, and that of truths beside answers, by question.

        In a file of truths alone, given by its source's number, the truths are the rows.
        """
        rows = self.incoming.c
        alone = rows.source.in_(sorted(truth_files))
        beside = sa.false() if gold is None else (rows.annotator_id == gold) & ~alone
        # Sums in one pass: grouping by the fate would sort every row.
        sums = [
            sa.func.count().filter(rows.fate == fate, where)
            for where in (~beside, beside)
            for fate in range(len(FATES))
        ]
        statement = sa.select(rows.question_id, *sums).group_by(rows.question_id)
        return {
            question: Fates(
                Counter(dict(zip(FATES, counts, strict=False))),
                Counter(dict(zip(FATES, counts[len(FATES) :], strict=True))),
            )
            for question, *counts in self.connection.execute(statement)
        }

    def count_contradictions(self, gold: int | None) -> tuple[int, int]:
        """Return how many answers without a time changed another, and how many repeated one."""
        rows = self.incoming.c
        counts = (
            sa.func.count().filter(rows.fate == fate, ~rows.has_own_time, rows.annotator_id != gold)
            for fate in (CHANGED, UNCHANGED)
        )
        changed, unchanged, *_ = self.connection.execute(sa.select(*counts)).one()
        return changed, unchanged

    def changed_items(self) -> sa.Select[int, int]:
        """Return the items of which a new record stands, be it the same answer at another time."""
        rows, stands = self.incoming, _labels.alias("stands")
        ours = sa.exists().where(self._standing(rows, stands), stands.c.change_id == self.change_id)
        changed = sa.select(rows.c.question_id, rows.c.item_id)
        return changed.where(rows.c.fate.in_([INSERTED, CHANGED]) | ours.correlate(rows))

    def any_repeats(self) -> bool:
        return self._any_answer(sa.func.count() > 1)

    def _any_answer(self, having: sa.ColumnElement[bool]) -> bool:
        """Return whether the staged rows of any answer, taken together, fulfill a condition."""
        rows = self.incoming
        groups = sa.select(sa.literal(1)).select_from(rows).group_by(*rows.c[ANSWER]).having(having)
        return bool(self.connection.scalar(sa.select(groups.exists())))

    def _drop_repeated(self) -> None:
        rows, earlier = self.incoming, self.incoming.alias("earlier")
        repeated = sa.exists().where(
            same_answer_key((*RECORD, *LABEL), earlier, rows), earlier.c.line < rows.c.line
        )
        self.connection.execute(sa.delete(rows).where(repeated.correlate(rows)))

    def _number_waves(self) -> int:
        """Number the records of each answer, oldest first; returns the highest number."""
        rows = self.incoming.c
        columns = (rows.labeled_at, rows.source, rows.given_as)
        differs = sa.or_(*(sa.func.min(each) < sa.func.max(each) for each in columns))
        if not self._any_answer(differs):
            return 1
        recorded = sa.func.coalesce(rows.first_change_id, self.change_id)
        number = sa.func.row_number().over(
            partition_by=[*rows[ANSWER]],
            order_by=[rows.labeled_at, recorded, rows.source, own_name_key(self.incoming)],
        )
        key = rows[*RECORD, "first_change_id"]
        records = sa.select(*rows[RECORD], number.label("number")).group_by(*key).subquery()
        of_row = sa.select(records.c.number).where(same_answer_key(RECORD, records, self.incoming))
        self.connection.execute(sa.update(self.incoming).values(wave=of_row.scalar_subquery()))
        return self.connection.scalar(sa.select(sa.func.max(rows.wave))) or 1

    def _standing(self, row: sa.FromClause, alias: sa.FromClause) -> sa.ColumnElement[bool]:
        return sa.and_(alias.c.project_id == self.project_id, same_answer_key(ANSWER, alias, row))

    def _judge(self, wave: int) -> bool:
        """Give each row of a wave its outcome: the standing answer is older, equal, or neither.

        One without a standing answer has its own from the beginning. Returns whether any has one.
        """
        rows, stands = self.incoming, _labels.alias("stands")
        standing = self._standing(rows, stands)
        standing_at = sa.select(sa.func.max(stands.c.labeled_at)).where(standing)
        yields = sa.exists().where(standing, _yields_to(rows, stands))
        fate = sa.case(
            (rows.c.labeled_at < standing_at.scalar_subquery(), OLDER),
            (self._alike(), UNCHANGED),
            (yields.correlate(rows), OLDER),
            else_=CHANGED,
        )
        judged = sa.update(rows).where(rows.c.wave == wave, self._is_answered()).values(fate=fate)
        return self.connection.execute(judged).rowcount > 0

    def _is_answered(self) -> sa.ColumnElement[bool]:
        """Return whether an answer stands to what a staged row answers."""
        rows, stands = self.incoming, _labels.alias("stands")
        return sa.exists().where(self._standing(rows, stands)).correlate(rows)

    def _alike(self) -> sa.ColumnElement[bool]:
        """Return whether a staged record equals the standing answer, label for label."""
        rows, staged, stands = self.incoming, self.incoming.alias("staged"), _labels.alias("stands")
        of_record = same_answer_key(RECORD, staged, rows)
        same_label = same_answer_key(LABEL, staged, stands)
        in_ledger = sa.exists().where(self._standing(staged, stands), same_label).correlate(staged)
        in_files = sa.exists().where(of_record, same_label).correlate(rows, stands)
        return sa.and_(
            ~sa.exists().where(of_record, ~in_ledger).correlate(rows),
            ~sa.exists().where(self._standing(rows, stands), ~in_files).correlate(rows),
        )

    def _takes_over(self, row: sa.FromClause, standing: sa.FromClause) -> sa.ColumnElement[bool]:
        """Return whether a row that is not older replaces the standing one; repetitions do not."""
        differs = row.c.spent_ms.is_distinct_from(standing.c.spent_ms)
        if self.details.table is not None:
            differs |= self.details.new(row, standing)
        later = row.c.labeled_at > standing.c.labeled_at
        repeats = ~(later | differs) | _yields_to(row, standing)
        return (row.c.fate == CHANGED) | ((row.c.fate == UNCHANGED) & ~repeats)

    def _retire(self, wave: int) -> None:
        """Move the standing answers that the wave replaces to the past."""
        rows, of_wave = self.incoming, self.incoming.c.wave == wave
        replaced = sa.exists().where(
            of_wave, same_answer_key(ANSWER, rows, _labels), self._takes_over(rows, _labels)
        )
        items = sa.select(rows.c.item_id).where(of_wave, rows.c.fate.in_([CHANGED, UNCHANGED]))
        which = sa.and_(
            _labels.c.project_id == self.project_id,
            _labels.c.question_id.in_(sorted(self.extremes)),
            _labels.c.item_id.in_(items),  # or all labels would be looked through
            replaced.correlate(_labels),
        )
        supersede_labels(self.connection, which)

    def _insert(self, target: sa.Table, which: sa.ColumnElement[bool]) -> None:
        names = [*ASSERTION, *LABEL, "has_own_time", "first_change_id", "spent_ms"]
        keys = sa.literal(self.project_id), sa.literal(self.change_id), own_name_key(self.incoming)
        rows = sa.select(*keys, *self.incoming.c[*names]).where(which)
        columns = ["project_id", "change_id", "given_as", *names]
        self.connection.execute(sa.insert(target).from_select(columns, rows))


def _yields_to(row: sa.FromClause, standing: sa.FromClause) -> sa.ColumnElement[bool]:
    """Return whether a record of a known file has the time of one recorded since that file."""
    same_time = row.c.labeled_at == standing.c.labeled_at
    known = row.c.first_change_id.is_not(None)  # else what follows were NULL, also negated
    return sa.and_(same_time, known, row.c.first_change_id < recorded_by(standing))
