"""Taking a snapshot: count, compute its figures, store and chain everything."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict, Unpack

from sqlalchemy import Connection, select

from tracker.agreement.coefficients import study
from tracker.agreement.query import Query
from tracker.agreement.result import Assessment
from tracker.agreement.run import assess
from tracker.core.errors import CheckFailed, InvalidOption
from tracker.core.version import VERSION
from tracker.counts.filter import select_answers
from tracker.counts.selection import Selection
from tracker.history.asking import Settings
from tracker.history.incremental import (
    Previous,
    count_incremental_tallies,
    find_base_snapshot,
    find_previous_snapshot,
    last_snapshot_link,
    next_snapshot,
    snapshot_pattern_numbers,
    store_snapshot,
    whole_snapshot_tallies,
)
from tracker.history.overview import with_own_figures
from tracker.history.snapshot import (
    SnapshotRecord,
    find_snapshot,
    snapshot_record_of,
    snapshot_settings_text,
    snapshot_touches_items_alone,
)
from tracker.history.stored import (
    Tallied,
    count_snapshot_tallies,
    snapshot_assessment,
    snapshot_figure_rows,
    snapshot_flag_rows,
    snapshot_pattern_texts,
    snapshot_tally_rows,
)
from tracker.projects.annotators import annotator_names, settling_changes, with_annotator_names
from tracker.projects.names import check_entered_name, check_entered_text
from tracker.projects.projects import ProjectInfo, last_change, lock_project
from tracker.projects.questions import QuestionInfo
from tracker.projects.settings import question_settings_then, settings_changed_since
from tracker.projects.touched import highest_item, is_cheaper_alone, items_touched_since
from tracker.storage.as_of import as_it_was, moment_as_of
from tracker.storage.schema import STANDING, FlagRow, Snapshot
from tracker.storage.schema.labels import of_question

# -- The contents of a snapshot, counted in full or from the last one with the same settings ------


class Taking(TypedDict, total=False):
    """How a snapshot is taken.

    Attributes:
        name: to find the snapshot by.
        note: why it is taken.
        full: read all items.
        check: count both ways, and raise CheckFailed if they differ; nothing is stored then.
        if_changed: take none if the last one of these settings says the same.
    """

    name: str | None
    note: str | None
    full: bool
    check: bool
    if_changed: bool


class Recording(Taking, Settings, total=False):
    """All keyword arguments of a snapshot."""


@dataclass(frozen=True)
class Counted:
    """The contents of a snapshot; ``tallied`` is None for spans, which have no tallies."""

    selection: Selection
    settings: str
    assessment: Assessment
    tallied: Tallied | None
    previous: Previous | None
    says_the_same: bool

    @property
    def read(self) -> int | None:
        """The items whose labels were read; None for all."""
        return None if self.tallied is None else self.tallied.read


def count_snapshot(
    connection: Connection,
    question: QuestionInfo,
    query: Query,
    how: Taking,
    texts: Mapping[int, str],
) -> Counted:
    """Count the contents of a snapshot of the labels that statements see now.

    ``texts`` are the project's patterns as JSON, by number. Raises CheckFailed as `Taking` says.
    """
    selection = select_answers(connection, question, query.filter)
    settings = snapshot_settings_text(query, selection)
    previous = find_previous_snapshot(connection, question, settings, query.filter.as_of, texts)
    comparable = (
        previous is not None
        and previous.header.settings == settings
        and not settings_changed_since(
            connection, question.project_id, previous.header.last_change_id
        )
    )
    if question.answers == "spans":
        assessment = assess(connection, question, query)
        before = None if previous is None else _figures_of(connection, question, previous)
        same = comparable and before == assessment.figures()
        return Counted(selection, settings, assessment, None, previous, same)
    of_now = query.filter.as_of is None and query.filter.known_at is None
    follows = previous if of_now and snapshot_touches_items_alone(settings) else None
    tallied = _tally(connection, question, selection, follows, how)
    same = comparable and previous is not None and _same(connection, question, previous, tallied)
    counted = study(connection, question, query, (selection, tallied.annotators, tallied.patterns))
    assessment = snapshot_assessment(counted)
    return Counted(
        selection, settings, replace(assessment, selection=selection.told), tallied, previous, same
    )


def _figures_of(
    connection: Connection, question: QuestionInfo, previous: Previous
) -> dict[str, Any]:
    return find_snapshot(connection, question, previous.header.id).assessment.figures()


def _tally(
    connection: Connection,
    question: QuestionInfo,
    selection: Selection,
    previous: Previous | None,
    how: Taking,
) -> Tallied:
    """Return the tallies; they may be counted from the previous snapshot on."""
    full, check = how.get("full", False), how.get("check", False)
    if previous is None:
        return count_snapshot_tallies(connection, selection)
    touched = items_touched_since(connection, question.key, previous.header.last_change_id)
    if not check and (
        full or not is_cheaper_alone(touched, highest_item(connection, question.project_id))
    ):
        return count_snapshot_tallies(connection, selection)
    tallied = count_incremental_tallies(connection, question, selection, previous, touched)
    if not check:
        return tallied
    recount = count_snapshot_tallies(connection, selection)
    before, tallies = whole_snapshot_tallies(connection, question, previous.header), None
    if before is not None and tallied.tallies is not None:
        tallies = before + tallied.tallies
    _compare(question, replace(tallied, tallies=tallies), recount, previous)
    return recount if full else tallied


def _compare(
    question: QuestionInfo, counted: Tallied, recount: Tallied, previous: Previous
) -> None:
    """Raise CheckFailed if tallies from the previous snapshot on differ from those in full."""
    differs = [
        part
        for part, first, second in (
            ("item patterns", counted.patterns.counts, recount.patterns.counts),
            ("answers of annotators", counted.answers, recount.answers),
            (
                "tallies of annotators",
                counted.tallies and counted.tallies.counts,
                recount.tallies and recount.tallies.counts,
            ),
        )
        if first is not None and second is not None and first != second
    ]
    if differs:
        raise CheckFailed(
            f"counted from snapshot {previous.header.id}, {' and '.join(differs)} of "
            f"{question.project.name!r} are not those of all labels",
            "nothing was stored; take it with --full, and see: tracker database check",
        )


def _same(
    connection: Connection, question: QuestionInfo, previous: Previous, tallied: Tallied
) -> bool:
    """Return whether the previous snapshot has the same tallies."""
    if (previous.patterns.counts, previous.answers) != (tallied.patterns.counts, tallied.answers):
        return False
    if tallied.tallies is None:
        return True
    if tallied.read is not None:
        return not tallied.tallies.counts
    before = whole_snapshot_tallies(connection, question, previous.header)
    return before is not None and before.counts == tallied.tallies.counts


@dataclass(frozen=True)
class Taken:
    """The result of a request for a snapshot.

    Attributes:
        snapshot: the one taken, or the last one where nothing had changed.
        fresh: whether it was taken now.
        read: the items whose labels were read; None for all.
        before: the number of the last one of the same settings and moment; None for none.
    """

    snapshot: SnapshotRecord
    fresh: bool
    read: int | None
    before: int | None


def take_snapshot(
    connection: Connection,
    question: QuestionInfo,
    query: Query | None = None,
    **how: Unpack[Taking],
) -> Taken:
    """Record the figures of a project's only question; see `take_snapshots`."""
    (taken,) = take_snapshots(connection, [question], query, **how)
    return taken


def take_snapshots(
    connection: Connection,
    questions: Sequence[QuestionInfo],
    query: Query | None = None,
    **how: Unpack[Taking],
) -> list[Taken]:
    """Record the figures of a project's questions, with the tallies they follow from.

    All have one number and one time. Only the items touched since the last snapshot of the same
    settings are read, where that takes less than to read all: the figures are exactly the same.

    Raises InvalidOption if a snapshot of that name exists or the query does not fit a
    question, and CheckFailed as `Taking` says.
    """
    query = query or Query()
    project = questions[0].project
    lock_project(connection, project.id)
    name, note = how.get("name"), how.get("note")
    note = check_entered_text(note, "note") if note is not None and note.strip() else None
    if name is not None:
        name = _free_name(connection, project, name)
    moment = moment_as_of(connection, project.id, query.filter.as_of, query.filter.known_at)
    if moment.through == 0:
        raise InvalidOption(f"{project.name!r} did not exist then", "name a later --known-at")
    then = [question_settings_then(connection, question, moment.through) for question in questions]
    texts = [snapshot_pattern_texts(connection, question.key) for question in then]
    with as_it_was(connection, project.id, moment):
        counted = [
            count_snapshot(connection, question, query, how, known)
            for question, known in zip(then, texts, strict=True)
        ]
    standing = [_standing(connection, question) for question in then]
    counts = [_ToRecord(*parts) for parts in zip(then, counted, texts, standing, strict=True)]
    if how.get("if_changed", False) and _is_recorded(counts):
        return [count.unchanged(connection) for count in counts]
    through = moment.through
    if through is None:
        through, _ = last_change(connection, project.id)
    number, taken_at = next_snapshot(connection, project)
    header = {
        "id": number,
        "name": name,
        "note": note,
        "taken_at": taken_at,
        "as_of": query.filter.as_of,
        "last_change_id": through,
        "version": VERSION,
    }
    return [count.store(connection, header) for count in counts]


@dataclass(frozen=True)
class _ToRecord:
    """The contents of a snapshot of one question.

    Attributes:
        question: with the settings it had.
        counted: the figures and tallies.
        texts: the question's patterns as JSON, by number.
        standing: the flags that stand, by number.
    """

    question: QuestionInfo
    counted: Counted
    texts: dict[int, str]
    standing: list[tuple[int, str]]

    @property
    def recorded(self) -> int | None:
        """The number of the snapshot that says the same; None without one."""
        previous = self.counted.previous
        if previous is None or not self.counted.says_the_same or previous.standing != self.standing:
            return None
        return int(previous.header.id)

    def unchanged(self, connection: Connection) -> Taken:
        """Return the snapshot that says the same."""
        assert self.recorded is not None
        snapshot = find_snapshot(connection, self.question, self.recorded)
        return Taken(self._with_own(connection, snapshot), False, self.counted.read, snapshot.id)

    def store(self, connection: Connection, header: Mapping[str, Any]) -> Taken:
        """Store it with what is common to the questions of a snapshot."""
        question, counted, previous = self.question, self.counted, self.counted.previous
        parts = snapshot_figure_rows(counted.assessment) | snapshot_flag_rows(self.standing)
        base = None
        if counted.tallied is not None:
            base, kept, changed = find_base_snapshot(
                connection, question, header["id"], counted.tallied, previous
            )
            numbers = snapshot_pattern_numbers(connection, question, kept, self.texts)
            parts |= snapshot_tally_rows(kept, numbers, changed)
        row = {
            **question.key._asdict(),
            **header,
            "scale": counted.assessment.scale,
            "settings": counted.settings,
            "selection": _told(counted.assessment, annotator_names(connection, question.project)),
            "base_snapshot_id": base,
            **counted.assessment.counts.to_dict(),
        }
        last = last_snapshot_link(connection, question)
        stored = store_snapshot(connection, row, parts, self.texts, last)
        before = None if previous is None else previous.header.id
        record = self._with_own(connection, snapshot_record_of(stored, counted.assessment))
        return Taken(record, True, counted.read, before)

    def _with_own(self, connection: Connection, record: SnapshotRecord) -> SnapshotRecord:
        """Return a snapshot with the figures of what came since the one before."""
        return with_own_figures(connection, self.question, [record], record.id, record.id)[0]


def _is_recorded(counts: Sequence[_ToRecord]) -> bool:
    """Return whether one snapshot says the same of every question."""
    numbers = {count.recorded for count in counts}
    return len(numbers) == 1 and None not in numbers


def _free_name(connection: Connection, project: ProjectInfo, name: str) -> str:
    name = check_entered_name(name, "snapshot")
    taken = select(Snapshot.id).where(Snapshot.project_id == project.id, Snapshot.name == name)
    if connection.scalar(taken.limit(1)) is not None:
        raise InvalidOption(
            f"{project.name!r} has a snapshot named {name!r}", "a record is never replaced"
        )
    return name


def _told(assessment: Assessment, names: Mapping[int, str]) -> str | None:
    """Return the choice of answers as JSON, annotators by number: names may change or be erased."""
    numbers = {name: number for number, name in names.items()}
    selection = with_annotator_names(assessment.selection, numbers)
    return None if selection is None else json.dumps(selection, ensure_ascii=False)


def _standing(connection: Connection, question: QuestionInfo) -> list[tuple[int, str]]:
    """Return the flags that stand, by number."""
    settled = settling_changes(question.project_id)
    rows = connection.execute(
        select(settled.c.flag_id, settled.c.state)
        .join(FlagRow, FlagRow.id == settled.c.flag_id)
        .where(of_question(FlagRow, question.key), settled.c.state.in_(STANDING))
        .order_by(settled.c.flag_id)
    )
    return [(row.flag_id, row.state) for row in rows]
