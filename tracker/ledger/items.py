"""`ledger.items`: the items of projects, and what was said of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from tracker.core.errors import InvalidOption
from tracker.core.operations import Given, Option, operation
from tracker.core.results import Json, Record
from tracker.counts.choosing import Attributed, Moment
from tracker.judge.asking import USED_FOR, USES
from tracker.ledger.namespace import Namespace
from tracker.ledger.parameters import Project, most_of
from tracker.render.blocks import Column, listing_table

if TYPE_CHECKING:
    from tracker.counts.choosing import Selecting
    from tracker.projects.item_aliases import Pair
    from tracker.projects.items import ItemAnnotators, ItemPage, ItemRecord, KeyPair

Item = Annotated[str, Option("The item's key.")]
NONE = "(none)"
"""What an answer without a category is called."""


@dataclass(frozen=True)
class ListedItem(Record):
    """An item of a list: its answers to a question, and the annotators by category."""

    name: Annotated[str, Json("item")]
    text: str | None
    answers: int
    votes: Mapping[str, int]


@dataclass(frozen=True)
class ItemsPage(Record):
    """Some items of a question, and the number behind which the next ones are; None at the end."""

    question: str
    items: Sequence[ListedItem]
    next: int | None


@dataclass(frozen=True)
class UsedItems(Record):
    """Items marked by an import with what they are used for."""

    project: str
    used_for: str
    items: int
    import_: int


def _set(result: UsedItems, _: Given) -> Iterable[Any]:
    from tracker.render.nouns import count_noun

    yield f"{count_noun(result.items, 'item')} used for {result.used_for}"


_COLUMNS = (
    Column("item", kind="name"), Column("annotators", kind="count"),
    Column("aliases", "also known as", ", ".join, rare=True),
)  # fmt: skip


def _joined(items: Sequence[ItemAnnotators], _: Given) -> Iterable[dict[str, Any]]:
    return (item.to_dict() | {"aliases": " ".join(item.aliases)} for item in items)


def _pairs(pairs: Sequence[KeyPair], _: Given) -> Iterable[Any]:
    columns = Column("item"), Column("alias")
    nothing = "no two items have the same text"
    yield listing_table(columns, [pair.to_dict() for pair in pairs]) if pairs else nothing


def _item(item: ItemRecord, _: Given) -> Iterable[Any]:
    from tracker.agreement.breakdown_tables import item_view

    return item_view(item)


class Items(Namespace):
    """The items of projects; `Ledger.import_items` registers some."""

    @operation(
        "item list", None, "listItems",
        listing="items", about=("project",), rows=_joined,
        view=lambda items, _: [listing_table(_COLUMNS, [item.to_dict() for item in items])],
        warnings=lambda items, given: (
            [f"the first {given.limit}; for all: --limit 0"] if len(items) == given.limit else ()
        ),
    )  # fmt: skip
    def list(
        self, project: Project, limit: Annotated[int | None, most_of("items")] = None
    ) -> Sequence[ItemAnnotators]:
        """List a project's items in import order, with the number of their annotators.

        Example:
        - `tracker item list reviews --limit 20`

        Next: `tracker item show reviews item_0001`
        """
        from tracker.projects.items import list_items

        with self._ledger.reading(project) as (connection, info):
            return list_items(connection, info, limit)

    def texts(self, project: str, items: Iterable[str]) -> dict[str, str | None]:
        """Return the texts of items by their keys."""
        from tracker.projects.items import item_texts_by_name

        with self._ledger.reading(project) as (connection, info):
            return item_texts_by_name(connection, info, items)

    def list_page(
        self,
        project: str,
        limit: int,
        *,
        after: int = 0,
        search: str = "",
        **moment: Unpack[Moment],
    ) -> ItemPage:
        """Return likewise the first items behind the one numbered ``after``, and the next number.

        Only those whose name or text holds ``search``, in upper or lower case. At a moment those
        that were known then, with the annotators they had; raises InvalidOption for none.
        """
        from tracker.counts.filter import make_answer_filter
        from tracker.projects.items import list_item_page
        from tracker.storage.as_of import as_it_was

        choice = make_answer_filter(**moment)
        with self._ledger.reading(project) as (connection, info):
            then = self._ledger.moment_of(connection, info, choice)
            with as_it_was(connection, info.id, then):
                return list_item_page(connection, info, limit, after, search)

    def alias(self, project: str | None, item: str, *aliases: str) -> ItemRecord:
        """Let later imports under other keys be about an item, and return it.

        Raises InvalidOption for a key that cannot be one, Refused for an item of its own.
        """
        from tracker.projects.item_aliases import Pair, add_item_aliases
        from tracker.projects.items import find_item

        with self._ledger.writing(project) as (connection, info):
            add_item_aliases(
                connection, info, [Pair(n, item, alias) for n, alias in enumerate(aliases)]
            )
            return find_item(connection, info, item)

    def alias_file(self, project: str | None, path: str | Path) -> int:
        """Do so with the pairs of a file (columns item, alias); returns how many keys are new."""
        from tracker.projects.item_aliases import add_item_aliases

        with self._ledger.writing(project) as (connection, info):
            return add_item_aliases(connection, info, _pairs_of_file(path), str(path))

    def unalias(self, project: str | None, *aliases: str) -> int:
        """Let keys stand for no other item; what was imported under them stays where it is.

        Returns how many there are. Raises NotFound for one that is no other key.
        """
        from tracker.projects.item_aliases import Pair, end_item_aliases

        with self._ledger.writing(project) as (connection, info):
            pairs = [Pair(n, "", alias) for n, alias in enumerate(aliases)]
            return end_item_aliases(connection, info, pairs)

    def unalias_file(self, project: str | None, path: str | Path) -> int:
        """Do so with the pairs of a file (columns item, alias); returns how many there are."""
        from tracker.projects.item_aliases import end_item_aliases

        with self._ledger.writing(project) as (connection, info):
            return end_item_aliases(connection, info, _pairs_of_file(path), str(path))

    @operation(
        "item set", "POST /projects/{project}/items/used-for", "setItems", view=_set,
        hints=lambda result, _: [
            f"to take it back: tracker imports undo {result.import_}",
            f"next: tracker judge {quote(result.project)}",
        ],
    )  # fmt: skip
    def set(
        self,
        project: Project,
        items: Annotated[
            Sequence[str],
            Option(
                "Keys of items.",
                metavar="[ITEM]…",
                word=True,
                in_one=False,
                examples=("item_0001",),
            ),
        ] = (),
        *,
        used_for: Annotated[
            str,
            Option(
                "What they are used for: tuning, such as of a judge's prompt, or nothing.",
                metavar="|".join(USES),
                words=USES,
                examples=("tuning",),
            ),
        ],
        **chosen: Unpack[Attributed],
    ) -> UsedItems:
        """Mark items on which a judge's prompt was tuned: they count in no verdict about a judge.

        A prompt is written until it is right on them, so they flatter the judge. They have the
        attribute used-for, recorded by an import, which can be undone.

        Raises InvalidOption if no item is named, NotFound for a key that no item has.

        Examples:
        - `tracker item set reviews item_0001 item_0002 --used-for tuning`
        - `tracker item set reviews --where split=dev --used-for tuning`

        Next: `tracker judge reviews`
        """
        from tracker.formats.batch import KEEP
        from tracker.projects.items import item_keys_chosen
        from tracker.readers.frames import CellsSource

        if used_for not in USES:
            raise InvalidOption(f"--used-for {used_for!r} is neither {' nor '.join(USES)}")
        with self._ledger.reading(project) as (connection, info):
            names = item_keys_chosen(connection, info, items, chosen.get("where", {}))
        cells = {"item": names, KEEP + USED_FOR: [used_for] * len(names)}
        importing: Any = self._ledger
        result = importing.import_cells(CellsSource(cells, f"used for {used_for}"), info.name)
        return UsedItems(info.name, used_for, len(names), result.id)

    @operation(
        "item duplicates", None, "itemDuplicates",
        listing="duplicates", about=("project",), view=_pairs,
    )  # fmt: skip
    def duplicates(self, project: Project) -> Sequence[KeyPair]:
        """List items of the same text under different keys, as pairs that `item alias` takes.

        The first item of each text stays, and the others' keys become other keys of it. Remove the
        lines that are wrong: two people may have written the same.

        Examples:
        - `tracker item duplicates reviews`
        - `tracker item duplicates reviews --csv > aliases.csv`

        Next: `tracker item alias -p reviews --from aliases.csv`
        """
        from tracker.projects.items import list_same_text

        with self._ledger.reading(project) as (connection, info):
            return list_same_text(connection, info)

    @operation(
        "item show", "GET /projects/{project}/items/{item}", "getItem",
        about=("project",), kept=False, view=_item,
        rows=lambda item, _: [label.to_dict() for label in item.labels],
    )  # fmt: skip
    def show(
        self,
        project: Project,
        item: Item,
        **moment: Unpack[Moment],
    ) -> ItemRecord:
        """Show who said what about an item, when, and what was superseded or undone.

        Raises NotFound, InvalidOption for what is no moment.

        Examples:
        - `tracker item show reviews item_0001`
        - `tracker item show reviews item_0001 --as-of 2026-03-31`

        Next: `tracker annotator show ada -p reviews`
        """
        from tracker.counts.filter import make_answer_filter
        from tracker.projects.items import find_item

        choice = make_answer_filter(**moment)
        with self._ledger.reading(project) as (connection, info):
            then = self._ledger.moment_of(connection, info, choice)
            return find_item(connection, info, item, then)

    def page(
        self,
        project: str,
        *,
        search: str = "",
        answered_by: Sequence[str] = (),
        categories: Sequence[str] = (),
        of_others: Sequence[str] = (),
        differ: bool = False,
        fewer_than: int | None = None,
        with_attributes: Mapping[str, Sequence[str]] | None = None,
        order: str = "import",
        after: int = 0,
        most: int = 50,
        **selecting: Unpack[Selecting],
    ) -> ItemsPage:
        """Return some items in an order, with the votes of a question; see `ItemChoice`.

        Args:
            project: the project's name.
            search: a text in the item's name or its text.
            answered_by: names of annotators who each answered it; the answers of models among
                them count, too.
            categories: names of categories that somebody chose, of those annotators if there are.
            of_others: names of categories that somebody else chose.
            differ: whether two answers differ.
            fewer_than: of fewer answers than that.
            with_attributes: one of these values of each attribute.
            order: "import", "disagreement", "answers" or "recent"; see `ORDERS`.
            after: the ``next`` of the page before.
            most: items of a page.
            selecting: see `tracker.counts.filter.Selecting`.

        Raises NotFound for an annotator or a category that there is not, InvalidOption for an
        attribute or a value.
        """
        from tracker.counts.filter import make_answer_filter, select_answers
        from tracker.counts.items import ItemChoice, select_item_page
        from tracker.projects.annotators import find_annotators
        from tracker.projects.categories import category_names, find_category
        from tracker.projects.items import check_item_values
        from tracker.storage.schema import NONE_APPLIES

        choice = make_answer_filter(**selecting)
        attributes = with_attributes or {}
        with self._ledger.asking(project, choice) as (connection, question):
            check_item_values(connection, question.project, attributes)
            annotators = find_annotators(connection, question.project, answered_by)
            wanted = ItemChoice(
                search.strip(),
                [annotator.id for annotator in annotators],
                [find_category(connection, question, name) for name in categories],
                [find_category(connection, question, name) for name in of_others],
                differ,
                fewer_than,
                tuple((name, tuple(values)) for name, values in attributes.items()),
                order,
            )
            models = frozenset(one.id for one in annotators if one.kind == "model")
            selection = select_answers(connection, question, choice).with_models(models)
            rows = select_item_page(connection, selection, wanted, after, most + 1)
            names = category_names(connection, question) | {NONE_APPLIES: NONE}
        items = [
            ListedItem(
                row.name,
                row.text,
                row.answers,
                {names[name]: row.votes[name] for name in names if name in row.votes},
            )
            for row in rows[:most]
        ]
        following = None
        if len(rows) > most:
            following = rows[most - 1].id if order == "import" else after + most
        return ItemsPage(question.name, items, following)

    def views(self, project: str) -> Mapping[str, Mapping[str, Any]]:
        """Return what each saved view asks the page of items for, by its name."""
        from tracker.ledger.saved_views import list_views

        with self._ledger.reading(project) as (connection, info):
            return list_views(connection, info)

    def save_view(self, project: str, name: str, query: Mapping[str, Any]) -> str:
        """Keep what the page of items is asked for under a name, and return it.

        Raises InvalidOption for what can be no name.
        """
        from tracker.ledger.saved_views import save_view

        with self._ledger.writing(project) as (connection, info):
            return save_view(connection, info, name, query)

    def forget_view(self, project: str, name: str) -> None:
        """Forget a saved view; raises NotFound."""
        from tracker.ledger.saved_views import forget_view

        with self._ledger.writing(project) as (connection, info):
            forget_view(connection, info, name)


def _pairs_of_file(path: str | Path) -> list[Pair]:
    from tracker.imports.pairs import pairs_of_file
    from tracker.projects.item_aliases import Pair

    return [Pair(*pair) for pair in pairs_of_file(path, "item", "alias")]
