"""Annotators who may be one person under two names: suggestions, which nobody acts on by itself."""

from __future__ import annotations

import re
import unicodedata
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
from tracker.projects.mentions import Mention, erase_from_readings, forget_kept_texts
from tracker.projects.projects import (
    ProjectInfo,
    list_projects,
    lock_project,
    log_touched_items,
    record_change,
)
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

_MOST_NUMBERED = 50  # annotators known by a number, or by an address
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa", "æ": "ae"})
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
    strangers = [pair for pair in _numbers_and_addresses(people.values()) if pair not in why]
    common = answers_in_common(
        connection, project, {n for pair in (*why, *strangers) for n in pair}
    )
    apart = [pair for pair in strangers if pair not in common and all(map(labels.get, pair))]
    partners = Counter(number for pair in apart for number in pair)
    why |= {
        pair: "a number and an e-mail address that never answered the same item"
        for pair in apart
        if all(partners[number] == 1 for number in pair)
    }

    def rank(who: AnnotatorInfo) -> tuple[Any, ...]:
        return name_fullness(who.name), labels.get(who.id, 0), who.name

    found: dict[int, tuple[AnnotatorInfo, Duplicate]] = {}
    for pair, reason in why.items():
        one, into = sorted(
            (people[number] for number in pair),
            key=rank,
        )
        other = found.get(one.id)
        if other is None or rank(other[0]) < rank(into):
            words = f"{quote(one.name)} --into {quote(into.name)} -p {quote(project.name)}"
            merge = f"tracker annotator merge {words}"
            both = common.get(pair, Common())
            found[one.id] = into, Duplicate(one.name, into.name, reason, both, merge)
    return sorted(
        (duplicate for _, duplicate in found.values()),
        key=lambda one: (one.common.different, one.into, one.name),
    )


def answers_in_common(
    connection: Connection, project: ProjectInfo, annotators: Collection[int]
) -> dict[tuple[int, int], Common]:
    """Return for each pair of annotators with answers to the same question, item and pass how many.

    Pairs are in the order of their numbers. Answers are alike if all their labels are.
    """
    one, other = _labels.alias("one"), _labels.alias("other")
    same = ("project_id", "question_id", "item_id", "pass")
    equal = and_(
        *(one.c[name] == other.c[name] for name in ("category_id", "span_start", "span_end"))
    )
    pair = (one.c.annotator_id.label("first"), other.c.annotator_id.label("second"))
    each = (
        select(
            *pair,
            func.count().label("compared"),
            func.sum(case((equal, 1), else_=0)).label("equal"),
        )
        .join(
            other,
            and_(
                *(one.c[name] == other.c[name] for name in same),
                one.c.annotator_id < other.c.annotator_id,
            ),
        )
        .where(
            one.c.project_id == project.id,
            one.c.annotator_id.in_(annotators),
            other.c.annotator_id.in_(annotators),
        )
        .group_by(*pair, one.c.question_id, one.c.item_id, one.c["pass"])
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
    spelt = [
        (person, name, words)
        for person in people
        for name in (person.name, *person.aliases)
        for words in _spellings(name)
    ]
    known: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for one, name, words in spelt:
        for key in {"".join(words), "".join(sorted(words))} - {""}:
            known.setdefault((one.kind, key), []).append((one.id, name))
    found: dict[tuple[int, int], str] = {}
    for same in known.values():
        for (first, name), (then, second) in combinations(same, 2):
            if first != then:
                found.setdefault((min(first, then), max(first, then)), _reason(name, second))
    return _shortened(spelt) | found


def name_fullness(name: str) -> tuple[bool, int, int]:
    """Return how much a name tells: no bare number, more words, then more letters.

    So "Ann Lee" is fuller than "A. Lee", and that than "ann" or "17". Case and punctuation do not
    count, nor does what follows the @ of an e-mail address; an umlaut counts as its two letters.
    """
    words = next(reversed(_spellings(name)), [])
    return not _NUMBER.fullmatch(name), len(words), sum(map(len, words))


def _shortened(
    spelt: Iterable[tuple[AnnotatorInfo, str, list[str]]],
) -> dict[tuple[int, int], str]:
    """Return the pairs of which one is a first name, or an initial and a last name, of the other.

    Only if it is of nobody else; names that are spelt alike but for case and the like are one.
    """
    first: dict[tuple[str, str], int] = {}
    longer: dict[tuple[str, str], set[int]] = {}
    short: list[tuple[AnnotatorInfo, str, str]] = []
    for one, name, words in spelt:
        if len(words) == 1 or len(words[0]) == 1:
            key = words[0] if len(words) == 1 else f"{words[0]} {words[-1]}"
            short += [(one, name, key)] if len(key) > 2 and not _NUMBER.search(key) else []
        else:
            for key in (words[0], f"{words[0][0]} {words[-1]}"):
                same = first.setdefault((one.kind, "".join(sorted(words))), one.id)
                longer.setdefault((one.kind, key), set()).add(same)
    found: dict[tuple[int, int], str] = {}
    for one, name, key in short:
        others = longer.get((one.kind, key), set()) - {one.id}
        if len(others) == 1:
            what = "the initial and the last name" if " " in key else "the first name"
            pair = (min(one.id, *others), max(one.id, *others))
            found[pair] = f"{name} is {what} of one annotator only"
    return found


def _numbers_and_addresses(people: Iterable[AnnotatorInfo]) -> list[tuple[int, int]]:
    """Return the pairs of a kind of which one is known by a number, the other by an address.

    None if there are too many for each to have one counterpart only.
    """
    numbers = [person for person in people if _NUMBER.fullmatch(person.name)]
    addresses = [person for person in people if _ADDRESS.fullmatch(person.name)]
    if max(len(numbers), len(addresses)) > _MOST_NUMBERED:
        return []
    return [
        (min(one.id, other.id), max(one.id, other.id))
        for one, other in product(numbers, addresses)
        if one.kind == other.kind
    ]


def _reason(one: str, other: str) -> str:
    addresses = [bool(_ADDRESS.fullmatch(name)) for name in (one, other)]
    if all(addresses):
        return "the same name in two e-mail addresses"
    if any(addresses):
        return "the name is that of the e-mail address"
    return "the same name but for case, accents, punctuation or the order of words"


def _spellings(name: str) -> list[list[str]]:
    """Return the words of a name less case and accents; also with ae for an umlaut.

    Of an e-mail address those before its @.
    """
    if _ADDRESS.fullmatch(name):
        name = name.partition("@")[0].partition("+")[0]
    whole = unicodedata.normalize("NFKC", name).casefold()
    ways = []
    for text in dict.fromkeys((whole, whole.translate(_UMLAUTS))):
        plain = unicodedata.normalize("NFKD", text)
        plain = "".join(one for one in plain if not unicodedata.combining(one))
        ways.append(re.findall(r"[^\W_]+", plain))
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
    payload = (AnswerDetail.project_id == project.id) & AnswerDetail.given_as.in_(names)
    seals.seal_erased_details(connection, project.id, names)
    connection.execute(delete(AnswerDetail).where(payload))
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
