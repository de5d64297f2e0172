"""Answers that change hands: two names that turn out to be one person's, or not after all.

Each record keeps the name it was given under; whose it is follows from the aliases. Where both
had answered an item, the record that stands is found anew, and the other is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote
from typing import Any, NamedTuple, cast

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    Table,
    and_,
    delete,
    func,
    insert,
    select,
    tuple_,
    update,
)

from tracker.core.errors import InvalidOption, NotFound, Refused, TrackerError
from tracker.projects.annotators import (
    AnnotatorInfo,
    annotator_names,
    annotator_of_name,
    annotators_by_name,
    find_annotator,
    project_aliases,
)
from tracker.projects.change_log import lock_project, log_touched_items, record_change
from tracker.projects.duplicate_annotators import Common, answers_in_common
from tracker.projects.mentions import erase_from_readings, forget_kept_texts
from tracker.projects.project import ProjectInfo, list_projects
from tracker.projects.supersede import restore_superseded_labels, supersede_labels
from tracker.storage import seals
from tracker.storage.as_of import ERASURE, MERGE, SPLIT
from tracker.storage.schema import (
    ERASED,
    Alias,
    Annotator,
    AnnotatorAttribute,
    AnswerDetail,
    Change,
    Delivery,
    FlagChange,
    KeyedRequest,
    Label,
    MergedLabel,
    PastLabel,
    UserAnnotator,
    Withdrawal,
)

_labels = cast("Table", Label.__table__)
_past = cast("Table", PastLabel.__table__)


def merge_annotators(
    connection: Connection, project: ProjectInfo, name: str, into: str
) -> AnnotatorInfo:
    """Let all answers of an annotator, past and to come, be those of another.

    The name becomes an alias of the other, as do its own aliases. Raises NotFound for an
    unknown name, InvalidOption for the same one twice or for two kinds of annotators.
    """
    merge_annotator_pairs(connection, project, [(1, name, into)])
    return find_annotator(connection, project, into)


class Merged(NamedTuple):
    """Two names of one person: the first was merged into the second."""

    name: str
    into: str
    common: Common

    def to_dict(self) -> dict[str, Any]:
        """Return the merge as JSON."""
        return {"annotator": self.name, "into": self.into} | self.common.to_dict()


def merge_annotator_pairs(
    connection: Connection,
    project: ProjectInfo,
    pairs: Sequence[tuple[int, str, str]],
    file: str | None = None,
) -> list[Merged]:
    """Merge the first of each pair into the second by one change, and return them.

    A pair has its line in the ``file`` before it, if there is one. Lines may build on each other:
    after ``a, b`` and ``b, c`` the answers of all three are those of ``c``. The number of
    statements does not depend on that of the pairs.

    Raises InvalidOption for a name that is merged twice, and all that `merge_annotators` raises;
    of a file Refused, with the line.
    """
    lock_project(connection, project.id)
    known = annotators_by_name(connection, project)
    everybody = {one.id: one for one in known.values()}
    kept: dict[int, int] = {}  # the one who stays by the one who goes

    def owner_of(number: int) -> int:
        while number in kept:
            number = kept[number]
        return number

    lines: dict[int, int] = {}
    named: list[tuple[AnnotatorInfo, AnnotatorInfo]] = []
    for line, *names in pairs:
        try:
            one, other = (annotator_of_name(known, project, name) for name in names)
            if one.id in lines:
                where = f" on line {lines[one.id]}" if file else ""
                raise InvalidOption(f"{names[0]!r} is merged{where} already", "leave one out")
            owner = everybody[owner_of(other.id)]
            _check_pair(project, one, owner, names)
        except TrackerError as error:
            if file is None:
                raise
            raise Refused(f"{file}, line {line}: {error.message}", error.mend) from None
        kept[one.id], lines[one.id] = owner.id, line
        named.append((one, other))
    people = {one.id for pair in named for one in pair}
    common = answers_in_common(connection, project, people)
    goes, stays = [one.id for one, _ in named], [other.id for _, other in named]
    detail = {"annotator": goes, "into": stays} if len(named) > 1 else {
        "annotator": goes[0], "into": stays[0]
    }  # fmt: skip
    change, _ = record_change(connection, project.id, MERGE, detail)
    aliases = project_aliases(connection, project.id)
    owners = {number: owner_of(number) for number in goes}
    owners |= {alias: owner_of(one) for alias, one in aliases.items() if one in kept}
    _end_aliases(connection, project.id, [one for one in owners if one in aliases], change)
    rows = [{"project_id": project.id, "alias_id": alias, "annotator_id": number,
             "from_change": change} for alias, number in owners.items()]  # fmt: skip
    connection.execute(insert(Alias), rows)
    _hand_over(connection, project.id, list(owners), change)
    numbers = [sorted((one.id, other.id)) for one, other in named]
    return [
        Merged(one.name, other.name, common.get((first, second), Common()))
        for (one, other), (first, second) in zip(named, numbers, strict=True)
    ]


def _check_pair(
    project: ProjectInfo, one: AnnotatorInfo, other: AnnotatorInfo, names: Sequence[str]
) -> None:
    if one.id == other.id:
        raise InvalidOption(f"{names[0]!r} and {names[1]!r} are already one annotator")
    if one.kind != other.kind:
        raise InvalidOption(
            f"{one.name!r} is a {one.kind} annotator, {other.name!r} a {other.kind} one",
            f"first: tracker annotator kind {quote(one.name)} {other.kind} "
            f"-p {quote(project.name)}",
        )


def split_annotator(connection: Connection, project: ProjectInfo, alias: str) -> AnnotatorInfo:
    """Let the answers given under an alias be those of an annotator of that name again.

    Raises NotFound for a name that is no alias.
    """
    lock_project(connection, project.id)
    found = connection.execute(
        select(Annotator.id, Alias.annotator_id)
        .join(Alias, (Alias.project_id == Annotator.project_id) & (Alias.alias_id == Annotator.id))
        .where(
            Annotator.project_id == project.id,
            Annotator.name == alias.strip(),
            Alias.to_change.is_(None),
        )
    ).one_or_none()
    if found is None:
        owner = find_annotator(connection, project, alias)
        raise NotFound(
            f"{alias!r} is not an alias of another annotator",
            f"{owner.name!r} has the aliases: {', '.join(owner.aliases)}"
            if owner.aliases
            else None,
        )
    detail = {"alias": found.id, "from": found.annotator_id}
    change, _ = record_change(connection, project.id, SPLIT, detail)
    _end_aliases(connection, project.id, [found.id], change)
    _hand_over(connection, project.id, [found.id], change)
    return find_annotator(connection, project, alias)


ERASED_FROM = tuple(
    cast("Table", model.__table__)
    for model in (
        Annotator, AnnotatorAttribute, AnswerDetail, FlagChange, KeyedRequest, Delivery
    )
)  # fmt: skip
"""The tables whose texts an erasure deletes or changes."""


def erase_annotator(connection: Connection, project: ProjectInfo, name: str) -> int:
    """Delete all records of an annotator for good, and the names; returns the labels that stood.

    What is left of the person is a number, also of what they did about findings. Answers kept for
    programs and messages to webhooks that hold a name go. Texts that people wrote stay; see
    `find_annotator_mentions`. Raises NotFound for an unknown name.
    """
    lock_project(connection, project.id)
    annotator = find_annotator(connection, project, name)
    aliases = project_aliases(connection, project.id)
    names = [annotator.id, *(alias for alias, owner in aliases.items() if owner == annotator.id)]
    change, _ = record_change(connection, project.id, ERASURE, {"annotator": annotator.id})
    ours = [
        and_(table.c.project_id == project.id, table.c.annotator_id == annotator.id)
        for table in (_labels, _past)
    ]
    stood = select(*_items(_labels)).where(ours[0])
    log_touched_items(connection, project.id, change, stood)
    with seals.seal_moved_labels(connection, project.id, "annotator_id", [annotator.id]):
        labels = connection.execute(delete(_labels).where(ours[0])).rowcount
        connection.execute(delete(_past).where(ours[1]))
    given = (MergedLabel.project_id == project.id) & MergedLabel.given_as.in_(names)
    connection.execute(delete(MergedLabel).where(given))
    told = (AnswerDetail.project_id == project.id) & AnswerDetail.given_as.in_(names)
    seals.seal_erased_details(connection, project.id, names)
    connection.execute(delete(AnswerDetail).where(told))
    withdrawn = (Withdrawal.project_id == project.id) & Withdrawal.given_as.in_(names)
    connection.execute(delete(Withdrawal).where(withdrawn))
    connection.execute(
        delete(AnnotatorAttribute).where(
            AnnotatorAttribute.project_id == project.id,
            AnnotatorAttribute.annotator_id.in_(names),
        )
    )
    bound = (UserAnnotator.project_id == project.id) & UserAnnotator.annotator_id.in_(names)
    connection.execute(delete(UserAnnotator).where(bound))
    known = annotator_names(connection, project)
    erase_from_readings(connection, project.id, [known[number] for number in names])
    erase_annotator_acts(connection, project.id, [known[number] for number in names])
    forget_kept_texts(connection, [known[number] for number in names])
    taken = set(known.values())
    for number in names:
        name = f"erased {number}"
        while name in taken:
            name += "'"
        taken.add(name)
        connection.execute(
            update(Annotator)
            .where(Annotator.project_id == project.id, Annotator.id == number)
            .values(name=name)
        )
    return labels


def erase_annotator_acts(connection: Connection, project_id: int, names: Sequence[str]) -> None:
    """Blank the names of those who did something about findings; the project's lock is held."""
    connection.execute(
        update(FlagChange)
        .where(FlagChange.project_id == project_id, FlagChange.made_by.in_(names))
        .values(made_by=ERASED)
    )


def count_erasures(connection: Connection) -> int:
    """Return how many times an annotator was erased from a project."""
    statement = select(func.count()).select_from(Change).where(Change.kind == ERASURE)
    return connection.execute(statement).scalar_one()


def erase_annotator_everywhere(
    connection: Connection, name: str
) -> tuple[dict[str, int], list[str]]:
    """Erase an annotator in all projects; returns the labels that stood, by project, and the names.

    In each, all names of the annotator there go. Raises NotFound if no project knows the name.
    """
    erased: dict[str, int] = {}
    names = [name.strip()]
    unknown: NotFound | None = None
    for project in list_projects(connection, archived=True):
        lock_project(connection, project.id)
        try:
            annotator = find_annotator(connection, project, name)
            names += [annotator.name, *annotator.aliases]
            erased[project.name] = erase_annotator(connection, project, name)
        except NotFound as error:
            unknown = error
        erase_annotator_acts(connection, project.id, [name])
    if not erased:
        raise unknown or NotFound(f"there is no annotator {name!r} in any project")
    return erased, names


def _items(rows: FromClause) -> tuple[ColumnElement[int], ColumnElement[int]]:
    return rows.c.question_id, rows.c.item_id


def _end_aliases(
    connection: Connection, project_id: int, aliases: Sequence[int], change: int
) -> None:
    ended = (Alias.project_id == project_id) & Alias.alias_id.in_(aliases)
    connection.execute(
        update(Alias).where(ended, Alias.to_change.is_(None)).values(to_change=change)
    )


def _hand_over(connection: Connection, project_id: int, names: Sequence[int], change: int) -> None:
    """Give the records made under some names to whom these are aliases of, and settle what stands.

    All standing answers that this touches go to the past first, those of the owner before and
    of the one after; then the best record of each answer stands again.
    """

    def given(table: Table) -> ColumnElement[bool]:
        return and_(table.c.project_id == project_id, table.c.given_as.in_(names))

    standing = select(*_items(_labels)).where(given(_labels))
    items = standing.union(select(*_items(_past)).where(given(_past))).subquery("given")
    touched = select(*_items(items))
    log_touched_items(connection, project_id, change, touched)
    affected = tuple_(*_items(_labels)).in_(select(*_items(items)))
    supersede_labels(connection, and_(_labels.c.project_id == project_id, affected))
    owner = select(Alias.annotator_id).where(
        Alias.project_id == project_id,
        Alias.alias_id == _past.c.given_as,
        Alias.to_change.is_(None),
    )
    owned = func.coalesce(owner.correlate(_past).scalar_subquery(), _past.c.given_as)
    connection.execute(update(_past).where(given(_past)).values(annotator_id=owned))
    # Every standing label of these items is in the past now, under one name or another.
    of_annotator = select(*_items(_past)).where(given(_past))
    restore_superseded_labels(
        connection,
        project_id,
        and_(_past.c.project_id == project_id, tuple_(*_items(_past)).in_(of_annotator)),
    )
