"""What the namespaces of a ledger share: the ledger that they belong to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tracker.core.errors import NotFound, TrackerError
from tracker.ledger.namespace import Namespace
from tracker.ledger.transactions import Transactions
from tracker.projects.projects import find_project

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from tracker.ledger.access import Requests, Tokens, Users, Webhooks
    from tracker.ledger.audits import Flags
    from tracker.ledger.categories import Categories
    from tracker.ledger.import_records import Imports
    from tracker.ledger.items import Items
    from tracker.ledger.projects import Projects
    from tracker.ledger.questions import Questions
    from tracker.projects.annotators import AnnotatorInfo
    from tracker.projects.identities import Common, Duplicate, Merged
    from tracker.projects.mentions import Mention
    from tracker.projects.notes import NoteInfo


_Names = tuple[dict[str, int], list[str]]  # labels that stood by project, and the names erased


class Notes(Namespace):
    """The notes on the time lines of projects."""

    def add(
        self,
        project: str,
        text: str,
        at: date | str | None = None,
        guideline: str | None = None,
    ) -> NoteInfo:
        """Note an event; a date means the begin of that day, None now.

        Raises InvalidOption for a text that cannot be stored, and for a time in the future.
        """
        from tracker.counts.filter import begin_of
        from tracker.projects.notes import add_note

        with self._ledger.writing(project) as (connection, found):
            moment = None if at is None else begin_of("--at", at, found.timezone)
            return add_note(connection, found, text, moment, guideline)

    def list(self, project: str) -> Sequence[NoteInfo]:
        """Return a project's notes in the order of their events."""
        from tracker.projects.notes import list_notes

        with self._ledger.reading(project) as (connection, found):
            return list_notes(connection, found)

    def remove(self, project: str, number: int, *, erase: bool = False) -> NoteInfo:
        """Remove a note from the time line, and return it; with ``erase`` its text goes for good.

        Raises NotFound for an unknown number.
        """
        from tracker.projects.notes import remove_note

        with self._ledger.writing(project) as (connection, found):
            return remove_note(connection, found, number, erase=erase)


class AnnotatorLabels(NamedTuple):
    """An annotator with the number of labels that stand."""

    annotator: AnnotatorInfo
    labels: int
    attributes: Mapping[str, str] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the annotator as JSON; with attributes if any annotator has some."""
        told = {} if self.attributes is None else {"attributes": dict(self.attributes)}
        return self.annotator.to_dict() | {"labels": self.labels} | told


class Erased(NamedTuple):
    """How many labels were erased by project, and where the name may still be.

    ``unfinished`` says why the bytes could not be taken out of the database's files; None: they
    are out.
    """

    labels: dict[str, int]
    mentions: Sequence[Mention]
    unfinished: TrackerError | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as JSON."""
        why = None if self.unfinished is None else str(self.unfinished)
        mentions = [one.to_dict() for one in self.mentions]
        return {"labels": self.labels, "mentions": mentions, "unfinished": why}


class Annotators(Namespace):
    """The annotators of projects, each known by any of their names.

    All methods raise NotFound for a name that the project does not know.
    """

    def list(self, project: str) -> Sequence[AnnotatorLabels]:
        """Return a project's annotators by name, with the number of their labels."""
        from tracker.projects.annotators import (
            annotator_attributes,
            list_annotators,
            project_labels_by_annotator,
        )

        with self._ledger.reading(project) as (connection, found):
            labels = project_labels_by_annotator(connection, found)
            told = annotator_attributes(connection, found)
            return [
                AnnotatorLabels(one, labels.get(one.id, 0), told.get(one.id, {}) if told else None)
                for one in list_annotators(connection, found)
            ]

    def rename(self, project: str, name: str, new: str) -> AnnotatorInfo:
        """Rename an annotator; the old name becomes an alias.

        Raises InvalidOption for a name that is taken.
        """
        from tracker.projects.annotators import rename_annotator

        with self._ledger.writing(project) as (connection, found):
            return rename_annotator(connection, found, name, new)

    def kind(self, project: str, name: str, kind: str) -> AnnotatorInfo:
        """Set what an annotator is: human, model or reference; raises InvalidOption."""
        from tracker.projects.annotators import set_annotator_kind

        with self._ledger.writing(project) as (connection, found):
            return set_annotator_kind(connection, found, name, kind)

    def leave(self, project: str, name: str, on: date | str | None = None) -> AnnotatorInfo:
        """Say from which day on an annotator is gone, None for today; their answers count on.

        A day begins in the project's time zone. Raises InvalidOption for a text that is no time.
        """
        from tracker.core import clock
        from tracker.counts.filter import begin_of
        from tracker.projects.annotators import leave_annotator

        with self._ledger.writing(project) as (connection, found):
            day = clock.day_of_moment(clock.now(), found.timezone) if on is None else on
            return leave_annotator(connection, found, name, begin_of("--on", day, found.timezone))

    def back(self, project: str, name: str) -> AnnotatorInfo:
        """Say that an annotator who left is there again, or never left."""
        from tracker.projects.annotators import return_annotator

        with self._ledger.writing(project) as (connection, found):
            return return_annotator(connection, found, name)

    def alias(self, project: str, name: str, alias: str) -> AnnotatorInfo:
        """Add another name under which an annotator's answers arrive.

        Raises InvalidOption for a name that is in use.
        """
        from tracker.projects.annotators import add_annotator_alias

        with self._ledger.writing(project) as (connection, found):
            return add_annotator_alias(connection, found, name, alias)

    def duplicates(self, project: str) -> Sequence[Duplicate]:
        """Return the pairs of annotators who may be one person; nobody is merged."""
        from tracker.projects.identities import likely_duplicates

        with self._ledger.reading(project) as (connection, found):
            return likely_duplicates(connection, found)

    def common(self, project: str, name: str, other: str) -> Common:
        """Return how many answers two annotators both gave, and how many of them differ."""
        from tracker.projects.annotators import find_annotators
        from tracker.projects.identities import Common, answers_in_common

        with self._ledger.reading(project) as (connection, found):
            people = {one.id for one in find_annotators(connection, found, [name, other])}
            return next(iter(answers_in_common(connection, found, people).values()), Common())

    def merge(self, project: str, name: str, into: str) -> AnnotatorInfo:
        """Merge an annotator into another, who is the same person, and return the other.

        Raises InvalidOption for two kinds of annotators.
        """
        from tracker.projects.identities import merge_annotators

        with self._ledger.writing(project) as (connection, found):
            return merge_annotators(connection, found, name, into)

    def merge_pairs(
        self,
        project: str,
        pairs: Sequence[tuple[str, str]] | str | Path,
        *,
        dry_run: bool = False,
    ) -> Sequence[Merged]:
        """Merge the first of each pair into the second, all or none, and return them.

        Instead of pairs the path of a file: two columns, or those named annotator and into among
        others, as ``tracker annotator duplicates --csv`` writes them. Raises Refused, with the
        line, for a pair of a file that cannot be merged.
        """
        from tracker.imports.pairs import pairs_of_file
        from tracker.projects.identities import merge_annotator_pairs

        file = None
        if isinstance(pairs, str | Path):
            file = str(pairs)
            rows = pairs_of_file(pairs, "annotator", "into", further=True, bare=True)
        else:
            rows = [(n, *pair) for n, pair in enumerate(pairs)]
        with self._ledger.writing(project, keep=not dry_run) as (connection, found):
            return merge_annotator_pairs(connection, found, rows, file)

    def split(self, project: str, alias: str) -> AnnotatorInfo:
        """Separate an alias: its answers are those of an annotator of that name again."""
        from tracker.projects.identities import split_annotator

        with self._ledger.writing(project) as (connection, found):
            return split_annotator(connection, found, alias)

    def erase(self, project: str, name: str) -> Erased:
        """Delete an annotator's answers and names in a project, for good."""
        from tracker.projects.annotators import find_annotator
        from tracker.projects.identities import erase_annotator

        def erase(connection: Connection) -> _Names:
            found = find_project(connection, project)
            annotator = find_annotator(connection, found, name)
            labels = {found.name: erase_annotator(connection, found, name)}
            return labels, [annotator.name, *annotator.aliases]

        return self._erased(erase, name)

    def erase_everywhere(self, name: str) -> Erased:
        """Delete an annotator's answers and names in all projects of the database, for good."""
        from tracker.projects.identities import erase_annotator_everywhere

        return self._erased(partial(erase_annotator_everywhere, name=name), name)

    def erasures(self) -> int:
        """Return how many annotators were erased, each in one project, since the ledger began."""
        from tracker.projects.identities import count_erasures

        with self._ledger.database.read() as connection:
            return count_erasures(connection)

    def _erased(self, erase: Callable[[Connection], _Names], name: str) -> Erased:
        """Erase, look for what is left, and take the bytes of the names out of the files.

        A name that nobody has is taken out likewise, for an erasure that was ended before it had
        done so; then NotFound is raised.
        """
        from tracker.projects.identities import ERASED_FROM
        from tracker.projects.mentions import find_annotator_mentions
        from tracker.sync.waiting_files import forget_waiting_files

        database = self._ledger.database
        forget_waiting_files(database)
        try:
            with database.write() as connection:
                labels, names = erase(connection)
                mentions = find_annotator_mentions(connection, names)
        except NotFound:
            if not self._ledger.is_missing and self.erasures():
                database.forget_deleted(ERASED_FROM, [name.strip()])
            raise
        try:
            database.forget_deleted(ERASED_FROM, names)
        except TrackerError as error:
            return Erased(labels, mentions, error)
        return Erased(labels, mentions)


class Records(Transactions):
    """The namespaces of a ledger; one is imported when it is asked for."""

    @property
    def projects(self) -> Projects:
        """Create, list, show, set, rename, archive and delete projects."""
        from tracker.ledger.projects import Projects

        return Projects(self)

    @property
    def questions(self) -> Questions:
        """List, show, add, set and rename the questions of projects."""
        from tracker.ledger.questions import Questions

        return Questions(self)

    @property
    def notes(self) -> Notes:
        """Add, list and remove the notes on a project's time line."""
        return Notes(self)

    @property
    def annotators(self) -> Annotators:
        """List, rename, merge, split and erase annotators; set their kinds and aliases."""
        return Annotators(self)

    @property
    def categories(self) -> Categories:
        """List, order, merge, split and rename categories."""
        from tracker.ledger.categories import Categories

        return Categories(self)

    @property
    def items(self) -> Items:
        """List, show and choose items."""
        from tracker.ledger.items import Items

        return Items(self)

    @property
    def imports(self) -> Imports:
        """List, show and undo imports."""
        from tracker.ledger.import_records import Imports

        return Imports(self)

    @property
    def webhooks(self) -> Webhooks:
        """Add, list, test and remove webhooks; deliver their messages."""
        from tracker.ledger.access import Webhooks

        return Webhooks(self)

    @property
    def requests(self) -> Requests:
        """Begin and end requests that programs may send again."""
        from tracker.ledger.access import Requests

        return Requests(self)

    @property
    def flags(self) -> Flags:
        """List, show, acknowledge, dismiss, resolve, reopen and appeal against findings."""
        from tracker.ledger.audits import Flags

        return Flags(self)

    @property
    def users(self) -> Users:
        """List, add, set and remove who may sign in to `tracker serve`."""
        from tracker.ledger.access import Users

        return Users(self)

    @property
    def tokens(self) -> Tokens:
        """List, add and revoke the tokens of users' programs."""
        from tracker.ledger.access import Tokens

        return Tokens(self)
