"""`ledger.annotators`: who answers, under which names, and what they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tracker.ledger.namespace import Namespace
from tracker.projects.annotators import AnnotatorInfo

if TYPE_CHECKING:
    from tracker.projects.remaining_mentions import Mention


class AnnotatorLabels(NamedTuple):
    """An annotator with the number of labels that stand."""

    annotator: AnnotatorInfo
    labels: int

    def to_dict(self) -> dict[str, Any]:
        """Return the annotator as JSON."""
        return self.annotator.to_dict() | {"labels": self.labels}


class Erased(NamedTuple):
    """How many labels were erased by project, and where the name may still be."""

    labels: dict[str, int]
    mentions: Sequence[Mention]

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as JSON."""
        return {"labels": self.labels, "mentions": [one.to_dict() for one in self.mentions]}


class Annotators(Namespace):
    """The annotators of projects, each known by any of their names.

    All methods raise NotFound for a name that the project does not know.
    """

    def list(self, project: str) -> Sequence[AnnotatorLabels]:
        """Return a project's annotators by name, with the number of their labels."""
        from tracker.projects.annotators import labels_by_annotator, list_annotators

        with self._ledger.reading(project) as (connection, found):
            labels = labels_by_annotator(connection, found)
            return [
                AnnotatorLabels(one, labels.get(one.id, 0))
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
        from tracker.projects.annotators import set_kind

        with self._ledger.writing(project) as (connection, found):
            return set_kind(connection, found, name, kind)

    def alias(self, project: str, name: str, alias: str) -> AnnotatorInfo:
        """Add another name under which an annotator's answers arrive.

        Raises InvalidOption for a name that is in use.
        """
        from tracker.projects.annotators import add_alias

        with self._ledger.writing(project) as (connection, found):
            return add_alias(connection, found, name, alias)

    def merge(self, project: str, name: str, into: str) -> AnnotatorInfo:
        """Merge an annotator into another, who is the same person, and return the other.

        Raises InvalidOption for two kinds of annotators.
        """
        from tracker.projects.annotator_merge import merge_annotators

        with self._ledger.writing(project) as (connection, found):
            return merge_annotators(connection, found, name, into)

    def split(self, project: str, alias: str) -> AnnotatorInfo:
        """Separate an alias: its answers are those of an annotator of that name again."""
        from tracker.projects.annotator_merge import split_annotator

        with self._ledger.writing(project) as (connection, found):
            return split_annotator(connection, found, alias)

    def erase(self, project: str, name: str) -> Erased:
        """Delete an annotator's answers and names in a project, for good."""
        from tracker.projects.annotator_merge import erase_annotator
        from tracker.projects.annotators import find_annotator
        from tracker.projects.remaining_mentions import mentions

        with self._ledger.writing(project) as (connection, found):
            annotator = find_annotator(connection, found, name)
            labels = {found.name: erase_annotator(connection, found, name)}
            return Erased(labels, mentions(connection, [annotator.name, *annotator.aliases]))

    def erase_everywhere(self, name: str) -> Erased:
        """Delete an annotator's answers and names in all projects of the database, for good."""
        from tracker.projects.annotator_merge import erase_everywhere
        from tracker.projects.remaining_mentions import mentions

        with self._ledger.database.write() as connection:
            labels = erase_everywhere(connection, name)
            return Erased(labels, mentions(connection, [name.strip()]))
