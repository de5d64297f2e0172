"""Annotators who may be one person under two names: suggestions, which nobody acts on by itself."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable
from itertools import combinations, product
from typing import Any, NamedTuple, cast

from sqlalchemy import Connection, Table, and_, case, func, select

from tracker.projects.annotators import (
    AnnotatorInfo,
    list_annotators,
    project_labels_by_annotator,
)
from tracker.projects.project import ProjectInfo
from tracker.storage.schema import Label

_labels = cast("Table", Label.__table__)
_MOST_NUMBERED = 50  # annotators known by a number, or by an address
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa", "æ": "ae"})
_NUMBER, _ADDRESS = re.compile(r"\d+"), re.compile(r"[^@\s]+@[^@\s]+")


class Common(NamedTuple):
    """How many answers two annotators both gave, and how many of them differ."""

    answers: int = 0
    different: int = 0

    def to_dict(self) -> dict[str, int]:
        """Return the numbers as JSON."""
        return {"answers_in_common": self.answers, "different": self.different}


class Duplicate(NamedTuple):
    """Two names that may be one person's: the first would be merged into the second."""

    name: str
    into: str
    why: str
    common: Common

    def to_dict(self) -> dict[str, Any]:
        """Return the suggestion as JSON."""
        return {
            "annotator": self.name,
            "into": self.into,
            "why": self.why,
        } | self.common.to_dict()


def likely_duplicates(connection: Connection, project: ProjectInfo) -> list[Duplicate]:
    """Return the pairs of one kind that look like one person, those without conflicts first.

    Names alike suggest it, and so do a number and an e-mail address whose owners never answered
    the same item, if neither has another such counterpart. The fuller name stays
    (`name_fullness`); of two that are equally full, the one with more answers. Each annotator goes
    once at most, into the fullest name.
    """
    people = {one.id: one for one in list_annotators(connection, project)}
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
            found[one.id] = into, Duplicate(one.name, into.name, reason, common.get(pair, Common()))
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
        (one, name, words)
        for one in people
        for name in (one.name, *one.aliases)
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
    numbers = [one for one in people if _NUMBER.fullmatch(one.name)]
    addresses = [one for one in people if _ADDRESS.fullmatch(one.name)]
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
