"""Other keys of items, under which other tools know them: recorded, ended, looked up.

What came under a key stays with the item that it was then: only what is imported later follows.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from shlex import quote
from typing import Any, NamedTuple

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Integer,
    MetaData,
    Select,
    Table,
    Text,
    and_,
    exists,
    func,
    insert,
    literal,
    or_,
    select,
    union,
    update,
)

from tracker.core.errors import InvalidOption, NotFound, Refused, TrackerError
from tracker.projects.names import check_entered_name
from tracker.projects.projects import ProjectInfo, lock_project, record_change
from tracker.storage import backends, seals
from tracker.storage.schema import (
    Change,
    Import,
    Item,
    ItemAlias,
    ItemFact,
    Label,
    PastLabel,
    Source,
    Sync,
)
from tracker.storage.schema.labels import question_numbers

_aliases = ItemAlias.__table__
_items = Item.__table__
_given = Table(
    "given_aliases",
    MetaData(),
    Column("line", Integer, nullable=False),
    Column("item", Text, nullable=False),
    Column("name", Text, primary_key=True),
    Column("item_id", Integer),
    prefixes=["TEMPORARY"],
)


class Pair(NamedTuple):
    """An item and another key of it, each as the user wrote it, and the line in a file."""

    line: int
    item: str
    alias: str


def standing_item_alias(project_id: int) -> ColumnElement[bool]:
    """Return the condition that another key stands for an item now."""
    return and_(_aliases.c.project_id == project_id, _aliases.c.to_change.is_(None))


def item_aliases(
    connection: Connection, project: ProjectInfo, which: ColumnElement[bool]
) -> Mapping[int, list[str]]:
    """Return the other keys, sorted, of the items that meet a condition on `ItemAlias`."""
    rows = connection.execute(
        select(_aliases.c.item_id, _aliases.c.name).where(standing_item_alias(project.id), which)
    )
    aliases: dict[int, list[str]] = {}
    for row in rows:
        aliases.setdefault(row.item_id, []).append(row.name)
    return {item: sorted(names) for item, names in aliases.items()}


def add_item_aliases(
    connection: Connection, project: ProjectInfo, pairs: Iterable[Pair], file: str | None = None
) -> int:
    """Let what is imported under other keys be about these items, from now on.

    Returns how many keys are new; without any, no change is recorded. ``file`` is where the pairs
    are from, if not from the command. Raises NotFound for an unknown item, InvalidOption for a key
    that cannot be one, and Refused for one that is an item of its own, with the imports that made
    it so; for a file always Refused, with the line.
    """
    lock_project(connection, project.id)
    request = _Request(connection, project, file)
    with request.staged(pairs):
        request.check_items()
        request.check_aliases()
        stands = exists(select(literal(1)).select_from(_aliases)).where(
            standing_item_alias(project.id), _aliases.c.name == _given.c.name
        )
        new = ~stands.correlate(_given)
        number = connection.scalar(select(func.count()).select_from(_given).where(new)) or 0
        if number:
            change, _ = record_change(connection, project.id, "item alias", {"aliases": number})
            columns = [literal(project.id), _given.c.name, literal(change), _given.c.item_id]
            names = ["project_id", "name", "from_change", "item_id"]
            connection.execute(insert(_aliases).from_select(names, select(*columns).where(new)))
            backends.backend_of(connection).refresh_statistics(connection, _aliases)
            seals.seal_changed_items(connection, project.id, "item_aliases")
    return number


def end_item_aliases(
    connection: Connection, project: ProjectInfo, pairs: Iterable[Pair], file: str | None = None
) -> int:
    """Let keys no longer stand for other items; what came under them stays where it is.

    Returns how many there are. A pair without an item is about whichever has the key. Raises
    NotFound for one that is no other key, for a file Refused.
    """
    lock_project(connection, project.id)
    request = _Request(connection, project, file)
    with request.staged(pairs) as number:
        same = and_(
            standing_item_alias(project.id),
            _aliases.c.name == _given.c.name,
            or_(_given.c.item == "", _aliases.c.item_id == _given.c.item_id),
        )
        stands = exists(select(literal(1)).select_from(_aliases)).where(same).correlate(_given)
        request.refuse(
            select(_given).where(~stands),
            lambda row: NotFound(
                f"{row.name!r} is no other key of "
                + (f"{row.item!r}" if row.item else f"an item of {project.name!r}"),
                f"see: tracker item list {quote(project.name)}",
            ),
        )
        change, _ = record_change(connection, project.id, "item unalias", {"aliases": number})
        given = exists(select(literal(1)).select_from(_given)).where(same).correlate(_aliases)
        connection.execute(update(_aliases).where(given).values(to_change=change))
        seals.seal_changed_items(connection, project.id, "item_aliases")
    return number


@dataclass
class _Request:
    """A command, or a file, with pairs of keys, and what is wrong with them."""

    connection: Connection
    project: ProjectInfo
    file: str | None

    @contextmanager
    def staged(self, pairs: Iterable[Pair]) -> Iterator[int]:
        """Hold the pairs in a table, each once, with their items so far; yields their number."""
        rows = list(self._checked(pairs))
        names = ("line", "item", "name")
        columns = {
            name: list(cells) for name, cells in zip(names, zip(*rows, strict=True), strict=True)
        }
        _given.create(self.connection)
        backend = backends.backend_of(self.connection)
        backend.bulk_insert(self.connection, _given, columns)
        backend.refresh_statistics(self.connection, _given)
        aliased = select(_aliases.c.item_id).where(
            standing_item_alias(self.project.id), _aliases.c.name == _given.c.item
        )
        named = select(_items.c.id).where(
            _items.c.project_id == self.project.id, _items.c.name == _given.c.item
        )
        item_id = func.coalesce(aliased.scalar_subquery(), named.scalar_subquery())
        self.connection.execute(update(_given).values(item_id=item_id))
        yield len(rows)
        _given.drop(self.connection)

    def _checked(self, pairs: Iterable[Pair]) -> Iterator[Pair]:
        """Yield each pair once, without surrounding space; raises for what cannot be a key."""
        first: dict[str, Pair] = {}
        for line, *keys in pairs:
            item, alias = map(str.strip, keys)
            try:
                check_entered_name(alias, "alias")
                if item or self.file:
                    check_entered_name(item, "item")
                if item == alias:
                    raise InvalidOption(f"{item!r} and {alias!r} are one key", "name two")
                pair = Pair(line, item, alias)
                before = first.setdefault(alias, pair)
                if before.item != item:
                    raise InvalidOption(
                        f"{alias!r} is another key of {item!r} here, and of {before.item!r} "
                        f"on line {before.line}",
                        "leave one out",
                    )
            except InvalidOption as error:
                raise self._of_file(line, error) from None
            if before is pair:
                yield pair

    def refuse(self, wrong: Select[Any], error: Any) -> None:
        """Raise the error made of the first row of a statement, if it has any."""
        row = self.connection.execute(wrong.order_by(_given.c.line).limit(1)).first()
        if row is not None:
            raise self._of_file(row.line, error(row))

    def _of_file(self, line: int, error: TrackerError) -> TrackerError:
        if self.file is None:
            return error
        return Refused(f"{self.file}, line {line}: {error.message}", error.mend)

    def check_items(self) -> None:
        """Raise NotFound for an item that the project does not have."""
        self.refuse(
            select(_given).where(_given.c.item_id.is_(None)),
            lambda row: NotFound(
                f"there is no item {row.item!r} in {self.project.name!r}",
                f"see: tracker item list {quote(self.project.name)}",
            ),
        )

    def check_aliases(self) -> None:
        """Raise InvalidOption for another item's key, Refused for an item of its own."""
        project = self.project.id
        owner, own = _items.alias("owner"), _items.alias("own")
        holder = select(_aliases.c.item_id).where(
            standing_item_alias(project), _aliases.c.name == _given.c.name
        )
        number = holder.correlate(_given).scalar_subquery()
        whose = select(owner.c.name).where(owner.c.project_id == project, owner.c.id == number)
        self.refuse(
            select(_given, whose.scalar_subquery().label("owner")).where(
                number != _given.c.item_id
            ),
            lambda row: InvalidOption(
                f"{row.name!r} is another key of {row.owner!r} already",
                f"first: tracker item unalias -p {quote(self.project.name)} {quote(row.name)}",
            ),
        )
        items = select(_given, own.c.id.label("own")).join(
            own, and_(own.c.project_id == project, own.c.name == _given.c.name)
        )
        self.refuse(
            items.where(own.c.id == _given.c.item_id),
            lambda row: InvalidOption(f"{row.name!r} is the item's own key", "name another"),
        )
        self.refuse(
            items.where(or_(*(changes.exists() for changes in _changes_about(project, own.c.id)))),
            self._own_item,
        )
        of_own = own.c.id.in_(select(_aliases.c.item_id).where(standing_item_alias(project)))
        self.refuse(
            items.where(of_own),
            lambda row: Refused(
                f"{row.name!r} has other keys itself",
                f"first: tracker item unalias -p {quote(self.project.name)} …; "
                f"see: tracker item show {quote(self.project.name)} {quote(row.name)}",
            ),
        )

    def _own_item(self, row: Any) -> Refused:
        """Return the error for a key that is an item: which imports made it, how to begin anew."""
        project = self.project.id
        rows = self.connection.execute(
            select(Import.id, Source.name, Sync.tool, Change.detail)
            .join(Source, Source.import_id == Import.id)
            .join(Change, (Change.project_id == project) & (Change.id == Import.change_id))
            .outerjoin(Sync, (Sync.project_id == project) & (Sync.change_id == Import.change_id))
            .where(
                Import.project_id == project,
                Import.change_id.in_(union(*_changes_about(project, row.own))),
            )
            .order_by(Import.id, Source.number)
        ).all()
        of = f"-p {quote(self.project.name)}"
        again: dict[int, str] = {}
        for source in rows:
            items = "item " if json.loads(source.detail).get("items") else ""
            start = again.get(source.id, f"tracker {items}import")
            command = f"{start} {quote(source.name)}"
            again[source.id] = f"tracker sync {source.tool} …" if source.tool else command
        pair = f"--from {quote(self.file)}" if self.file else f"{quote(row.item)} {quote(row.name)}"
        steps = [f"tracker imports undo {number}" for number in again]
        steps += [f"tracker item alias {of} {pair}"]
        steps += [f"{command} {of}" for command in dict.fromkeys(again.values())]
        which = ", ".join(map(str, again))
        return Refused(
            f"{row.name!r} is an item of its own, from import{'s' * (len(again) > 1)} {which}",
            f"to make it {row.item!r}: {'; '.join(steps)}",
        )


def _changes_about(project_id: int, item: Any) -> Iterator[Select[Any]]:
    """Yield statements of the changes, of imports not undone, with answers or facts about an item.

    What a sync withdrew is among them: its undo gives it back.
    """
    imports = select(Import.change_id).where(
        Import.project_id == project_id, Import.undone_by.is_(None)
    )
    for model in (Label, PastLabel, ItemFact):
        table = model.__table__
        changes = select(table.c.change_id).where(
            table.c.project_id == project_id,
            table.c.item_id == item,
            table.c.change_id.in_(imports),
        )
        if "question_id" in table.c:
            changes = changes.where(table.c.question_id.in_(question_numbers(project_id)))
        yield changes
