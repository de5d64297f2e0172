"""Annotators who may be one person under two names: suggestions, which nobody acts on by itself."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from shlex import quote
from typing import Annotated, Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    Table,
    and_,
    case,
    delete,
    func,
    insert,
    select,
    tuple_,
    update,
)

from tracker.core.errors import InvalidOption, NotFound, Refused, TrackerError
from tracker.core.results import Json, Record, Spread
from tracker.projects.annotators import (
    AnnotatorInfo,
    annotator_names,
    annotator_of_name,
    annotators_by_name,
    find_annotator,
    list_annotators,
    project_aliases,
    project_labels_by_annotator,
)
from tracker.projects.kept import kept_with_answers
from tracker.projects.mentions import Mention, erase_from_readings, forget_kept_texts
from tracker.projects.names import plain_forms
from tracker.projects.projects import ProjectInfo, list_projects, lock_project, record_change
from tracker.projects.supersede import restore_superseded_labels, supersede_labels
from tracker.projects.touched import log_touched_items
from tracker.storage import seals
from tracker.storage.as_of import ERASURE, MERGE, SPLIT
from tracker.storage.current import erase_presence_notes
from tracker.storage.schema import (
    ERASED,
    Alias,
    Annotator,
    AnnotatorAttribute,
    AnnotatorFact,
    AnswerDetail,
    Assignment,
    Change,
    Decision,
    Delivery,
    Draft,
    FlagChange,
    KeptTally,
    KeyedRequest,
    Label,
    MergedLabel,
    PastLabel,
    UserAnnotator,
    Withdrawal,
)
from tracker.storage.schema.labels import same_answer_key

_MOST_NUMBERED = 50  # annotators known by a number, or by an address
_NUMBER, _ADDRESS = re.compile(r"\d+"), re.compile(r"[^@\s]+@[^@\s]+")


@dataclass(frozen=True)
class Common(Record):
    """How many answers two annotators both gave, and how many of them differ."""

    answers: Annotated[int, Json("answers_in_common")] = 0
    different: int = 0


@dataclass(frozen=True)
class Duplicate(Record):
    """Two names that may be one person's; ``merge`` is the command that makes them one."""

    name: Annotated[str, Json("annotator")]
    into: str
    why: str
    common: Annotated[Common, Spread]
    merge: str


@kept_with_answers
def likely_duplicates(connection: Connection, project: ProjectInfo) -> list[Duplicate]:
    """Return the pairs of one kind that look like one person, those without conflicts first.

    Names alike suggest it, and so do a number and an e-mail address whose owners never answered
    the same item, if neither has another such counterpart. The fuller name stays
    (`name_fullness`); of two that are equally full, the one with more answers. Each annotator goes
    once at most, into the fullest name.
    """
    people = {annotator.id: annotator for annotator in list_annotators(connection, project)}
    labels = project_labels_by_annotator(connection, project)
    why = alike_annotators(people.values())
    numbered = [pair for pair in _numbers_and_addresses(people.values()) if pair not in why]
    common = answers_in_common(connection, project, {n for pair in (*why, *numbered) for n in pair})
    apart = [pair for pair in numbered if pair not in common and all(map(labels.get, pair))]
    partners = Counter(number for pair in apart for number in pair)
    why |= {
        pair: "a number and an e-mail address that never answered the same item"
        for pair in apart
        if all(partners[number] == 1 for number in pair)
    }

    def rank(number: int) -> tuple[Any, ...]:
        name = people[number].name
        return name_fullness(name), labels.get(number, 0), name

    fuller: dict[int, list[int]] = {}
    for pair in why:
        source, target = sorted(pair, key=rank)
        fuller.setdefault(source, []).append(target)
    duplicates = []
    for source, targets in fuller.items():
        target = max(targets, key=rank)
        pair = (min(source, target), max(source, target))
        name, into = people[source].name, people[target].name
        words = f"{quote(name)} --into {quote(into)} -p {quote(project.name)}"
        both, merge = common.get(pair, Common()), f"tracker annotator merge {words}"
        duplicates.append(Duplicate(name, into, why[pair], both, merge))
    return sorted(duplicates, key=lambda row: (row.common.different, row.into, row.name))


def answers_in_common(
    connection: Connection, project: ProjectInfo, annotators: Collection[int]
) -> dict[tuple[int, int], Common]:
    """Return the answers of each pair of annotators to the same question and item, on one pass.

    Pairs are in the order of their numbers; those without such answers are left out. Answers are
    alike if all their labels are.
    """
    first, second = _labels.alias("one"), _labels.alias("other")
    same = same_answer_key(("project_id", "question_id", "item_id", "pass"), first, second)
    equal = same_answer_key(("category_id", "span_start", "span_end"), first, second)
    pair = (first.c.annotator_id.label("first"), second.c.annotator_id.label("second"))
    each = (
        select(
            *pair,
            func.count().label("compared"),
            func.sum(case((equal, 1), else_=0)).label("equal"),
        )
        .join(second, same & (first.c.annotator_id < second.c.annotator_id))
        .where(
            first.c.project_id == project.id,
            first.c.annotator_id.in_(annotators),
            second.c.annotator_id.in_(annotators),
        )
        .group_by(*pair, first.c.question_id, first.c.item_id, first.c["pass"])
        .subquery()
    )
    # Of n and m labels n times m are compared: all are equal if both have as many as are equal.
    differs = case((each.c.compared != each.c.equal * each.c.equal, 1), else_=0)
    counted = select(each.c.first, each.c.second, func.count(), func.sum(differs)).group_by(
        each.c.first, each.c.second
    )
    return {
        (first, second): Common(int(answers), int(different))
        for first, second, answers, different in connection.execute(counted)
    }


def alike_annotators(people: Iterable[AnnotatorInfo]) -> dict[tuple[int, int], str]:
    """Return why the names of two of a kind look like one person's, by their numbers."""
    spellings = [
        (annotator, name, words)
        for annotator in people
        for name in annotator.names
        for words in _spellings(name)
    ]
    groups: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for annotator, name, words in spellings:
        for key in {"".join(words), "".join(sorted(words))} - {""}:
            groups.setdefault((annotator.kind, key), []).append((annotator.id, name))
    reasons: dict[tuple[int, int], str] = {}
    for group in groups.values():
        for (first, name), (second, other) in combinations(group, 2):
            if first != second:
                pair = (min(first, second), max(first, second))
                reasons.setdefault(pair, _reason(name, other))
    return _shortened(spellings) | reasons


def name_fullness(name: str) -> tuple[bool, int, int]:
    """Return how much a name tells: no bare number, more words, then more letters.

    So "Ann Lee" is fuller than "A. Lee", and that than "ann" or "17". Case and punctuation do not
    count, nor does what follows the @ of an e-mail address; an umlaut counts as its two letters.
    """
    words = next(reversed(_spellings(name)), [])
    return not _NUMBER.fullmatch(name), len(words), sum(map(len, words))


def _shortened(
    spellings: Iterable[tuple[AnnotatorInfo, str, list[str]]],
) -> dict[tuple[int, int], str]:
    """Return the pairs in which one name is the first name, or initial and last name, of the other.

    Only if it is nobody else's; names that differ only in case and the like are one.
    """
    first: dict[tuple[str, str], int] = {}
    longer: dict[tuple[str, str], set[int]] = {}
    short: list[tuple[AnnotatorInfo, str, str]] = []
    for annotator, name, words in spellings:
        if len(words) == 1 or len(words[0]) == 1:
            key = words[0] if len(words) == 1 else f"{words[0]} {words[-1]}"
            short += [(annotator, name, key)] if len(key) > 2 and not _NUMBER.search(key) else []
        else:
            same = first.setdefault((annotator.kind, "".join(sorted(words))), annotator.id)
            for key in (words[0], f"{words[0][0]} {words[-1]}"):
                longer.setdefault((annotator.kind, key), set()).add(same)
    reasons: dict[tuple[int, int], str] = {}
    for annotator, name, key in short:
        others = longer.get((annotator.kind, key), set()) - {annotator.id}
        if len(others) == 1:
            part = "the initial and the last name" if " " in key else "the first name"
            pair = (min(annotator.id, *others), max(annotator.id, *others))
            reasons[pair] = f"{name} is {part} of one annotator only"
    return reasons


def _numbers_and_addresses(people: Iterable[AnnotatorInfo]) -> list[tuple[int, int]]:
    """Return the pairs of one kind in which one is known by a number, the other by an address.

    Without pairs if there are too many for each to have one counterpart only.
    """
    numbers = [person for person in people if _NUMBER.fullmatch(person.name)]
    addresses = [person for person in people if _ADDRESS.fullmatch(person.name)]
    if max(len(numbers), len(addresses)) > _MOST_NUMBERED:
        return []
    pairs = product(numbers, addresses)
    return [_in_order(first, second) for first, second in pairs if first.kind == second.kind]


def _in_order(first: AnnotatorInfo, second: AnnotatorInfo) -> tuple[int, int]:
    return min(first.id, second.id), max(first.id, second.id)


def _reason(first: str, second: str) -> str:
    addresses = [bool(_ADDRESS.fullmatch(name)) for name in (first, second)]
    if all(addresses):
        return "the same name in two e-mail addresses"
    if any(addresses):
        return "the name is that of the e-mail address"
    return "the same name but for case, accents, punctuation or the order of words"


def _spellings(name: str) -> list[list[str]]:
    """Return the words of a name without case and accents, and again with ae for an umlaut.

    An e-mail address has those before its @.
    """
    if _ADDRESS.fullmatch(name):
        name = name.partition("@")[0].partition("+")[0]
    ways = (re.findall(r"[^\W_]+", form) for form in plain_forms(name))
    return [words for words in ways if words]


# -- Answers that change hands: two names that turn out to be one person's, or not after all ------


_labels = Label.__table__
_past = PastLabel.__table__


def merge_annotators(
    connection: Connection, project: ProjectInfo, name: str, into: str
) -> AnnotatorInfo:
    """Let all answers of an annotator, past and to come, be those of another.

    The name becomes an alias of the other, as do its own aliases. Raises NotFound for an
    unknown name, InvalidOption for the same one twice or for two kinds of annotators.
    """
    merge_annotator_pairs(connection, project, [(1, name, into)])
    return find_annotator(connection, project, into)


@dataclass(frozen=True)
class Merged(Record):
    """Two names of one person: the first was merged into the second."""

    name: Annotated[str, Json("annotator")]
    into: str
    common: Annotated[Common, Spread]


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
    annotators = annotators_by_name(connection, project)
    by_id = {annotator.id: annotator for annotator in annotators.values()}
    merged_into: dict[int, int] = {}

    def owner_of(number: int) -> int:
        while number in merged_into:
            number = merged_into[number]
        return number

    lines: dict[int, int] = {}
    merged: list[tuple[AnnotatorInfo, AnnotatorInfo]] = []
    for line, *names in pairs:
        try:
            source, target = (annotator_of_name(annotators, project, name) for name in names)
            if source.id in lines:
                where = f" on line {lines[source.id]}" if file else ""
                raise InvalidOption(f"{names[0]!r} is merged{where} already", "leave one out")
            owner = by_id[owner_of(target.id)]
            _check_pair(project, source, owner, names)
        except TrackerError as error:
            if file is None:
                raise
            raise Refused(f"{file}, line {line}: {error.message}", error.mend) from None
        merged_into[source.id], lines[source.id] = owner.id, line
        merged.append((source, target))
    common = answers_in_common(
        connection, project, {annotator.id for pair in merged for annotator in pair}
    )
    sources, targets = ([annotator.id for annotator in side] for side in zip(*merged, strict=True))
    detail: dict[str, Any] = {"annotator": sources[0], "into": targets[0]}
    if len(merged) > 1:
        detail = {"annotator": sources, "into": targets}
    change, _ = record_change(connection, project.id, MERGE, detail)
    aliases = project_aliases(connection, project.id)
    owners = {number: owner_of(number) for number in sources}
    owners |= {alias: owner_of(owner) for alias, owner in aliases.items() if owner in merged_into}
    _end_aliases(connection, project.id, [alias for alias in owners if alias in aliases], change)
    columns = {"project_id": project.id, "from_change": change}
    rows = [columns | {"alias_id": alias, "annotator_id": owner} for alias, owner in owners.items()]
    connection.execute(insert(Alias), rows)
    _hand_over(connection, project.id, list(owners), change)
    return [
        Merged(source.name, target.name, common.get(_in_order(source, target), Common()))
        for source, target in merged
    ]


def _check_pair(
    project: ProjectInfo, source: AnnotatorInfo, target: AnnotatorInfo, names: Sequence[str]
) -> None:
    if source.id == target.id:
        raise InvalidOption(f"{names[0]!r} and {names[1]!r} are already one annotator")
    if source.kind != target.kind:
        raise InvalidOption(
            f"{source.name!r} is a {source.kind} annotator, {target.name!r} a {target.kind} one",
            f"first: tracker annotator kind {quote(source.name)} {target.kind} "
            f"-p {quote(project.name)}",
        )


def split_annotator(connection: Connection, project: ProjectInfo, alias: str) -> AnnotatorInfo:
    """Let the answers given under an alias be those of an annotator of that name again.

    Raises NotFound for a name that is no alias.
    """
    lock_project(connection, project.id)
    row = connection.execute(
        select(Annotator.id, Alias.annotator_id)
        .join(Alias, (Alias.project_id == Annotator.project_id) & (Alias.alias_id == Annotator.id))
        .where(
            Annotator.project_id == project.id,
            Annotator.name == alias.strip(),
            Alias.to_change.is_(None),
        )
    ).one_or_none()
    if row is None:
        owner = find_annotator(connection, project, alias)
        aliases = ", ".join(owner.aliases)
        raise NotFound(
            f"{alias!r} is not an alias of another annotator",
            f"{owner.name!r} has the aliases: {aliases}" if aliases else None,
        )
    detail = {"alias": row.id, "from": row.annotator_id}
    change, _ = record_change(connection, project.id, SPLIT, detail)
    _end_aliases(connection, project.id, [row.id], change)
    _hand_over(connection, project.id, [row.id], change)
    return find_annotator(connection, project, alias)


@dataclass(frozen=True)
class Erased(Record):
    """How many labels were erased by project, and where the name may still be.

    ``unfinished`` says why the bytes could not be taken out of the database's files; None: they
    are out.
    """

    labels: Mapping[str, int]
    mentions: Sequence[Mention]
    unfinished: Annotated[TrackerError | None, Json(write=str, kind=str | None)] = None


ERASED_FROM = tuple(
    model.__table__
    for model in (
        Annotator,
        AnnotatorAttribute,
        AnnotatorFact,
        AnswerDetail,
        Decision,
        FlagChange,
        KeyedRequest,
        Delivery,
    )
)
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
    mine, mine_past = (
        and_(table.c.project_id == project.id, table.c.annotator_id == annotator.id)
        for table in (_labels, _past)
    )
    log_touched_items(connection, project.id, change, select(*_items(_labels)).where(mine))
    with seals.seal_moved_labels(connection, project.id, "annotator_id", [annotator.id]):
        labels = connection.execute(delete(_labels).where(mine)).rowcount
        connection.execute(delete(_past).where(mine_past))
    seals.seal_erased_details(connection, project.id, names)
    for model, column in (
        (MergedLabel, "given_as"),
        (AnswerDetail, "given_as"),
        (Withdrawal, "given_as"),
        (AnnotatorAttribute, "annotator_id"),
        (UserAnnotator, "annotator_id"),
        (Draft, "annotator_id"),
        (Assignment, "annotator_id"),
    ):
        table = model.__table__
        of_names = and_(table.c.project_id == project.id, table.c[column].in_(names))
        connection.execute(delete(table).where(of_names))
    connection.execute(delete(KeptTally).where(KeptTally.project_id == project.id))
    erase_presence_notes(connection, project.id, names)
    every_name = annotator_names(connection, project)
    erased = [every_name[number] for number in names]
    erase_from_readings(connection, project.id, erased)
    erase_annotator_acts(connection, project.id, erased)
    forget_kept_texts(connection, erased)
    for number in names:
        name = f"erased {number}"
        while name in every_name.values():
            name += "'"
        every_name[number] = name
        connection.execute(
            update(Annotator)
            .where(Annotator.project_id == project.id, Annotator.id == number)
            .values(name=name)
        )
    return labels


def erase_annotator_acts(connection: Connection, project_id: int, names: Sequence[str]) -> None:
    """Blank the names of those who worked on findings or decided; the project's lock is held."""
    for table in (FlagChange.__table__, Decision.__table__):
        of_names = (table.c.project_id == project_id, table.c.made_by.in_(names))
        connection.execute(update(table).where(*of_names).values(made_by=ERASED))


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
    """Give records made under some names to their present owners, and settle what stands.

    All standing answers that this touches go to the past first, those of the owner before and
    of the one after; then the best record of each answer stands again.
    """

    def was_given(table: Table) -> ColumnElement[bool]:
        return and_(table.c.project_id == project_id, table.c.given_as.in_(names))

    standing = select(*_items(_labels)).where(was_given(_labels))
    items = standing.union(select(*_items(_past)).where(was_given(_past))).subquery("given")
    touched = select(*_items(items))
    log_touched_items(connection, project_id, change, touched)
    affected = tuple_(*_items(_labels)).in_(touched)
    supersede_labels(connection, and_(_labels.c.project_id == project_id, affected))
    owner = select(Alias.annotator_id).where(
        Alias.project_id == project_id,
        Alias.alias_id == _past.c.given_as,
        Alias.to_change.is_(None),
    )
    owned = func.coalesce(owner.correlate(_past).scalar_subquery(), _past.c.given_as)
    connection.execute(update(_past).where(was_given(_past)).values(annotator_id=owned))
    # Every standing label of these items is in the past now, under one name or another.
    of_annotator = select(*_items(_past)).where(was_given(_past))
    restore_superseded_labels(
        connection,
        project_id,
        and_(_past.c.project_id == project_id, tuple_(*_items(_past)).in_(of_annotator)),
    )
