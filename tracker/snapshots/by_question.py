"""Snapshots of projects that ask several questions: one number, a record of each question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from tracker.core.errors import NotFound
from tracker.core.shown import json_by_question
from tracker.projects.question import QuestionInfo
from tracker.snapshots.listing import SnapshotPage, snapshot_page
from tracker.snapshots.take import Taken


@dataclass(frozen=True)
class TakenByQuestion:
    """The result of a request for a snapshot, by the question's name, in order of making."""

    questions: Mapping[str, Taken]

    @property
    def first(self) -> Taken:
        """That of the first question; number, time and freshness are those of all."""
        return next(iter(self.questions.values()))

    @property
    def id(self) -> int:
        """The number of the snapshot."""
        return self.first.snapshot.id

    @property
    def fresh(self) -> bool:
        """Whether it was taken now."""
        return self.first.fresh

    @property
    def before(self) -> int | None:
        """The number of the last one of the same settings and moment, of any question."""
        return max((one.before for one in self.questions.values() if one.before), default=None)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``tracker snapshot``."""
        records = {name: one.snapshot.to_dict() for name, one in self.questions.items()}
        return json_by_question({"snapshot": self.id}, records)


@dataclass(frozen=True)
class SnapshotPages:
    """Everything about one snapshot, by the question's name, in order of making."""

    questions: Mapping[str, SnapshotPage]

    @property
    def first(self) -> SnapshotPage:
        """That of the first question."""
        return next(iter(self.questions.values()))

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON of ``tracker snapshots show``."""
        pages = {name: one.to_dict() for name, one in self.questions.items()}
        return json_by_question({"snapshot": self.first.record.id}, pages)


def snapshot_pages(
    connection: Connection, questions: Sequence[QuestionInfo], which: int | str
) -> SnapshotPages:
    """Return the pages of the given snapshot, of the questions that were asked then.

    Raises NotFound if there is none of any.
    """
    pages: dict[str, SnapshotPage] = {}
    missing: NotFound | None = None
    for question in questions:
        try:
            pages[question.name] = snapshot_page(connection, question, which)
        except NotFound as error:
            missing = missing or error
    if missing is not None and not pages:
        raise missing
    return SnapshotPages(pages)
