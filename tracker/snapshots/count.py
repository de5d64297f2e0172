"""The contents of a snapshot, counted in full or from the last one with the same settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypedDict

from sqlalchemy import Connection

from tracker.agreement.coefficients import study
from tracker.agreement.query import Computing, Query
from tracker.agreement.result import Assessment
from tracker.agreement.run import assess
from tracker.core.errors import CheckFailed
from tracker.counts.filter import Selecting, select_answers
from tracker.counts.selection import Selection
from tracker.projects.question import QuestionInfo
from tracker.projects.settings import settings_changed_since
from tracker.snapshots.incremental import (
    Previous,
    count_incremental_tallies,
    find_previous_snapshot,
    is_incremental_cheaper,
    items_touched_since_snapshot,
    whole_snapshot_tallies,
)
from tracker.snapshots.read import find_snapshot
from tracker.snapshots.snapshot import snapshot_settings_text, snapshot_touches_items_alone
from tracker.snapshots.tallies import Tallied, count_snapshot_tallies, snapshot_assessment


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


class Settings(Computing, Selecting, total=False):
    """How the figures of a snapshot are computed, and of which answers."""


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
    touched = items_touched_since_snapshot(connection, question, previous.header.last_change_id)
    if not check and (full or not is_incremental_cheaper(connection, question, touched)):
        return count_snapshot_tallies(connection, selection)
    tallied = count_incremental_tallies(connection, question, selection, previous, touched)
    if not check:
        return tallied
    whole = count_snapshot_tallies(connection, selection)
    before, tallies = whole_snapshot_tallies(connection, question, previous.header), None
    if before is not None and tallied.tallies is not None:
        tallies = before + tallied.tallies
    _compare(question, replace(tallied, tallies=tallies), whole, previous)
    return whole if full else tallied


def _compare(question: QuestionInfo, counted: Tallied, whole: Tallied, previous: Previous) -> None:
    """Raise CheckFailed if tallies from the previous snapshot on differ from those in full."""
    differs = [
        what
        for what, one, other in (
            ("item patterns", counted.patterns.counts, whole.patterns.counts),
            ("answers of annotators", counted.answers, whole.answers),
            (
                "tallies of annotators",
                counted.tallies and counted.tallies.counts,
                whole.tallies and whole.tallies.counts,
            ),
        )
        if one is not None and other is not None and one != other
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
