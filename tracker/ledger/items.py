"""`ledger.items`: the items of projects, and what was said of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

from tracker.ledger.namespace import Namespace

if TYPE_CHECKING:
    from tracker.counts.choosing import Selecting
    from tracker.projects.item_aliases import Pair
    from tracker.projects.items import ItemAnnotators, ItemPage, ItemRecord
    from tracker.projects.same_text import KeyPair

NONE = "(none)"
"""What an answer without a category is called."""


class ListedItem(NamedTuple):
    """An item of a list: its answers to a question, and the annotators by category."""

    name: str
    text: str | None
    answers: int
    votes: Mapping[str, int]

    def to_dict(self) -> dict[str, Any]:
        """Return the item as JSON."""
        votes = {"answers": self.answers, "votes": dict(self.votes)}
        return {"item": self.name, "text": self.text, **votes}


class ItemsPage(NamedTuple):
    """Some items of a question, and the number behind which the next ones are; None at the end."""

    question: str
    items: Sequence[ListedItem]
    next: int | None

    def to_dict(self) -> dict[str, Any]:
        """Return the items as JSON."""
        items = [one.to_dict() for one in self.items]
        return {"question": self.question, "items": items, "next": self.next}


class Items(Namespace):
    """The items of projects; `Ledger.import_items` registers some."""

    def list(self, project: str, limit: int | None = None) -> Sequence[ItemAnnotators]:
        """Return a project's items in import order, with the number of their annotators."""
        from tracker.projects.items import list_items

        with self._ledger.reading(project) as (connection, found):
            return list_items(connection, found, limit)

    def list_page(
        self,
        project: str,
        limit: int,
        *,
        after: int = 0,
        search: str = "",
        as_of: date | str | None = None,
        known_at: date | str | None = None,
    ) -> ItemPage:
        """Return likewise the first items behind the one numbered ``after``, and the next number.

        Only those whose name or text holds ``search``, in upper or lower case. At a moment those
        that were known then, with the annotators they had; raises InvalidOption for none.
        """
        from tracker.counts.filter import make_answer_filter
        from tracker.projects.items import list_item_page
        from tracker.storage.as_of import as_it_was

        choice = make_answer_filter(as_of=as_of, known_at=known_at)
        with self._ledger.reading(project) as (connection, found):
            moment = self._ledger.moment_of(connection, found, choice)
            with as_it_was(connection, found.id, moment):
                return list_item_page(connection, found, limit, after, search)

    def alias(self, project: str | None, item: str, *aliases: str) -> ItemRecord:
        """Let later imports under other keys be about an item, and return it.

        Raises InvalidOption for a key that cannot be one, Refused for an item of its own.
        """
        from tracker.projects.item_aliases import Pair, add_item_aliases
        from tracker.projects.items import find_item

        with self._ledger.writing(project) as (connection, found):
            add_item_aliases(
                connection, found, [Pair(n, item, one) for n, one in enumerate(aliases)]
            )
            return find_item(connection, found, item)

    def alias_file(self, project: str | None, path: str | Path) -> int:
        """Do so with the pairs of a file (columns item, alias); returns how many keys are new."""
        from tracker.projects.item_aliases import add_item_aliases

        with self._ledger.writing(project) as (connection, found):
            return add_item_aliases(connection, found, _pairs_of_file(path), str(path))

    def unalias(self, project: str | None, *aliases: str) -> int:
        """Let keys stand for no other item; what was imported under them stays where it is.

        Returns how many there are. Raises NotFound for one that is no other key.
        """
        from tracker.projects.item_aliases import Pair, end_item_aliases

        with self._ledger.writing(project) as (connection, found):
            pairs = [Pair(n, "", one) for n, one in enumerate(aliases)]
            return end_item_aliases(connection, found, pairs)

    def unalias_file(self, project: str | None, path: str | Path) -> int:
        """Do so with the pairs of a file (columns item, alias); returns how many there are."""
        from tracker.projects.item_aliases import end_item_aliases

        with self._ledger.writing(project) as (connection, found):
            return end_item_aliases(connection, found, _pairs_of_file(path), str(path))

    def duplicates(self, project: str) -> Sequence[KeyPair]:
        """Return the items of one text under different keys: the first with each later one."""
        from tracker.projects.same_text import list_same_text

        with self._ledger.reading(project) as (connection, found):
            return list_same_text(connection, found)

    def show(
        self,
        project: str,
        item: str,
        *,
        as_of: date | str | None = None,
        known_at: date | str | None = None,
    ) -> ItemRecord:
        """Return an item, by its key or another one, with every label it ever had.

        At a moment with those it had then; see `tracker.counts.filter.Selecting`. Raises NotFound,
        InvalidOption for what is no moment.
        """
        from tracker.counts.filter import make_answer_filter
        from tracker.projects.items import find_item

        choice = make_answer_filter(as_of=as_of, known_at=known_at)
        with self._ledger.reading(project) as (connection, found):
            moment = self._ledger.moment_of(connection, found, choice)
            return find_item(connection, found, item, moment)

    def page(
        self,
        project: str,
        *,
        search: str = "",
        answered_by: Sequence[str] = (),
        categories: Sequence[str] = (),
        differ: bool = False,
        fewer_than: int | None = None,
        after: int = 0,
        most: int = 50,
        **selecting: Unpack[Selecting],
    ) -> ItemsPage:
        """Return some items in import order, with the votes of a question; see `ItemChoice`.

        Args:
            project: the project's name.
            search: a text in the item's name or its text.
            answered_by: names of annotators who each answered it.
            categories: names of categories that somebody chose.
            differ: whether two answers differ.
            fewer_than: of fewer answers than that.
            after: the ``next`` of the page before.
            most: items of a page.
            selecting: see `tracker.counts.filter.Selecting`.

        Raises NotFound for an annotator or a category that there is not.
        """
        from tracker.counts.filter import make_answer_filter, select_answers
        from tracker.counts.items import ItemChoice, select_item_page
        from tracker.projects.annotators import find_annotators
        from tracker.projects.categories import category_names, find_category
        from tracker.storage.schema import NONE_APPLIES

        choice = make_answer_filter(**selecting)
        with self._ledger.asking(project, choice) as (connection, found):
            wanted = ItemChoice(
                search.strip(),
                [one.id for one in find_annotators(connection, found.project, answered_by)],
                [find_category(connection, found, name) for name in categories],
                differ,
                fewer_than,
            )
            selection = select_answers(connection, found, choice)
            rows = select_item_page(connection, selection, wanted, after, most + 1)
            names = category_names(connection, found) | {NONE_APPLIES: NONE}
        items = [
            ListedItem(
                row.name,
                row.text,
                row.answers,
                {names[one]: row.votes[one] for one in names if one in row.votes},
            )
            for row in rows[:most]
        ]
        return ItemsPage(found.name, items, rows[most - 1].id if len(rows) > most else None)


def _pairs_of_file(path: str | Path) -> list[Pair]:
    from tracker.imports.pairs import pairs_of_file
    from tracker.projects.item_aliases import Pair

    return [Pair(*pair) for pair in pairs_of_file(path, "item", "alias")]
