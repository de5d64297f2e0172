"""The meaning of each column of a delimited file: by its name, or as the user maps it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tracker.core.errors import InvalidOption, Refused
from tracker.imports.batch import ATTRIBUTE_COLUMN, KEEP, ROLES
from tracker.imports.column_names import (
    LESSER_NAMES_OF_ROLES,
    LIKE_ROLES,
    MEANINGS,
    NAMES_OF_ROLES,
    folded_name,
    listed_names,
    singular_name,
    unit_of_time,
)
from tracker.imports.judge_columns import Judge, judge_of_columns, judge_roles
from tracker.imports.question_columns import (
    OF_QUESTION,
    AskedQuestion,
    recognized_answer_columns,
)
from tracker.projects.lookup import near_names

SAY_WHO = "say who answered: --annotator NAME, or --annotator-from file, folder or sheet"
"""The way out if a file does not say it."""

MOST_COLUMNS = 10_000
"""Columns of a file; those of annotators in wide form are among them."""

_QUESTION = "question"
"""The name of a column that may hold the question, or the item."""

_NUMBER = "id"
"""The name of a column that may hold the item, or a number of the row."""

_OF_ONE = {"annotator", "category", "kind", "confidence", "comment", "version"}
"""What a row of a file in wide form does not have one of."""

_OF_ITEMS = {"item", "text", "n_tokens"}
"""What a list of items has."""
_OF_ANNOTATORS = ("annotator", "kind")
"""What a list of annotators has beside their attributes."""
_OPTIONAL = {*ROLES} - {"item", "annotator", "category"}

_SPELLINGS = {"labelled_at": "labeled_at"}


@dataclass(frozen=True)
class Mapped:
    """The user's statements about columns: ``{role: column}``, the wide ones, the kept ones.

    If a role's column is empty, ``""``, no column has the role.
    """

    roles: Mapping[str, str]
    annotators: tuple[str, ...] = ()
    wide: bool = False
    keep: tuple[str, ...] = ()
    items: bool = False  # the files list items, and hold no answers
    people: bool = False  # the files list annotators; every other column is kept
    questions: tuple[AskedQuestion, ...] = ()
    several: bool = False  # a column named question is taken for it
    signed: bool = False  # the user says beside the files who answered

    @property
    def by_question(self) -> bool:
        """Whether the user names a column for each question."""
        return any(one.column for one in self.questions)


@dataclass(frozen=True)
class Layout:
    """The column of each role in a row; in wide form, the annotators' columns by name.

    ``names`` are those of all columns, in the order of the header. ``dates`` says in which order
    times are written, such as ``day.month.year``, if that was concluded from the column.
    ``judge`` says how models are known, and ``models`` are the first that were.
    ``guessed_item`` says that the item is the column ``id``, which may number the rows.
    """

    roles: Mapping[str, int]
    annotators: Mapping[str, int]
    names: Sequence[str] = ()
    dates: str | None = None
    judge: Judge | None = None
    models: tuple[str, ...] = ()
    guessed_item: bool = False

    @property
    def wide(self) -> bool:
        """Whether there is one column per annotator."""
        return bool(self.annotators)

    def to_dict(self) -> dict[str, Any]:
        """Return as JSON which column was read as what, and which were left out."""
        used = {*self.roles.values(), *self.annotators.values()}
        return {
            "read": {
                role: self.names[n]
                for role, n in self.roles.items()
                if not role.startswith((KEEP, OF_QUESTION))
            },
            **({"questions": asked} if (asked := self._asked()) else {}),
            "annotators": list(self.annotators),
            "kept": [role.removeprefix(KEEP) for role in self.roles if role.startswith(KEEP)],
            "left_out": [name for n, name in enumerate(self.names) if name and n not in used],
            **({"dates": {"labeled_at": self.dates}} if self.dates else {}),
            **({"models": list(self.models)} if self.models else {}),
            **({"units": {"seconds": unit}} if (unit := self._unit()) != "seconds" else {}),
        }

    def _unit(self) -> str:
        """Return the unit of the column of times spent."""
        return unit_of_time(self.names[self.roles["seconds"]] if "seconds" in self.roles else "")[0]

    def _asked(self) -> dict[str, str]:
        return {
            role.removeprefix(OF_QUESTION): self.names[n]
            for role, n in self.roles.items()
            if role.startswith(OF_QUESTION)
        }


def parse_column_roles(
    pairs: Sequence[str],
    *,
    wide: bool = False,
    keep: Sequence[str] = (),
    items: bool = False,
    questions: tuple[AskedQuestion, ...] = (),
) -> Mapped:
    """Return the roles that ``--map ROLE=COLUMN`` gives, ``{role: column}``; raises InvalidOption.

    An optional role without a column, ``ROLE=``, is one that no column has.
    """
    roles: dict[str, str] = {}
    annotators: tuple[str, ...] = ()
    for pair in pairs:
        role, equals, column = pair.partition("=")
        role = _SPELLINGS.get(role.strip(), role.strip())
        if not equals or not (column.strip() or role in _OPTIONAL):
            raise InvalidOption(f"--map {pair!r} is not ROLE=COLUMN", "such as: --map item=doc_no")
        if role == "annotators":
            annotators = tuple(name.strip() for name in column.split(",") if name.strip())
        elif role in ROLES:
            roles[role] = column.strip()
        else:
            raise InvalidOption(
                f"--map {pair!r}: {role!r} is no role of a column", _role_advice(role, column)
            )
    if items and (answered := [*(roles.keys() - _OF_ITEMS), *annotators, *(["answer"] * wide)]):
        raise InvalidOption(
            f"a list of items has no {answered[0]}", "answers are read by: tracker import"
        )
    mapped = Mapped(
        roles, annotators, wide or bool(annotators), tuple(keep), items, questions=questions
    )
    if mapped.by_question and (
        wrong := next((one for one in ("category", "question") if one in roles), None)
    ):
        raise InvalidOption(f"--map {wrong} and --question NAME=COLUMN contradict each other")
    if mapped.by_question and mapped.wide:
        raise InvalidOption(
            "a column per annotator and a column per question contradict each other",
            "leave out --wide, or the columns: --question NAME",
        )
    return mapped


def parse_annotator_roles(pairs: Sequence[str]) -> Mapped:
    """Return the roles that ``--map`` gives in a list of annotators; raises InvalidOption."""
    mapped = parse_column_roles(pairs)
    for role in mapped.roles.keys() - {*_OF_ANNOTATORS}:
        raise InvalidOption(
            f"a list of annotators has no {role}", f"its roles are: {', '.join(_OF_ANNOTATORS)}"
        )
    return Mapped(mapped.roles, people=True)


def _role_advice(role: str, column: str) -> str:
    """Return which roles there are, and first the one that was probably meant."""
    from difflib import get_close_matches  # only for a mistake

    roles = [one + MEANINGS.get(one, "") for one in ROLES]
    listed = f"the roles are: {', '.join(roles)}, annotators"
    known = {
        name: one
        for one in ROLES
        for name in (*NAMES_OF_ROLES[one].split(), *LIKE_ROLES.get(one, ()))
    }
    turned = column.strip() if column.strip() in ROLES else None
    near = get_close_matches(folded_name(role), known, n=1, cutoff=0.75)
    if turned:
        return f"did you mean --map {turned}={role}? {listed}"
    return f"did you mean --map {known[near[0]]}={column}? {listed}" if near else listed


def layout_of_header(
    header: Sequence[str],
    mapped: Mapped,
    source: str,
    ignore: Sequence[str] = (),
    lists: Collection[int] = (),
) -> Layout:
    """Return the layout of a file with this header, of which the columns ``ignore`` are not read.

    ``lists`` are the places of columns of lists, whose names may be in the plural.

    Raises Refused if a required column is missing or could be one of several, and for more
    than `MOST_COLUMNS`.
    """
    if len(header) > MOST_COLUMNS:
        raise Refused(
            f"{source} has {len(header):,} columns; {MOST_COLUMNS:,} are the most",
            "is its first line the header?",
        )
    every = [name.strip() for name in header]
    ignored = {n for name in ignore for n in _positions(every, name, f"--ignore {name}", source)}
    names = ["" if n in ignored else name for n, name in enumerate(every)]
    singular = [singular_name(name) if n in lists else name for n, name in enumerate(names)]
    if mapped.people:
        return replace(_layout_of_annotators(names, mapped, source), names=every)
    roles = {
        role: _position(names, column, f"--map {role}={column}", source)
        for role, column in mapped.roles.items()
        if column
    }
    for one in mapped.questions:
        if one.column:
            flag = f"--question {one.name}={one.column}"
            roles[OF_QUESTION + one.name] = _position(names, one.column, flag, source)
    if mapped.several and "question" not in mapped.roles:
        roles |= _question_column(names, set(roles.values()))
    roles |= _judge_columns(names, mapped, set(roles.values()))
    for role in ROLES:
        if role not in {*mapped.roles, *roles} and role not in _not_looked_for(mapped):
            place = _recognise(singular, role, set(roles.values()), source)
            if place is not None:
                roles[role] = place
    roles |= _lesser_columns(singular, mapped, roles)
    answered = mapped.signed or "annotator" in roles
    if answered and "category" not in roles and not mapped.by_question:
        found = recognized_answer_columns(names, set(roles.values()))
        roles |= {OF_QUESTION + name: place for name, place in found.items()}
    roles |= _kept_columns(names, every, mapped.keep, set(roles.values()), source)
    annotators = _annotator_columns(names, mapped, set(roles.values()), source)
    judge = judge_of_columns(names, roles, mapped.roles)
    item = names[roles["item"]] if "item" in {*roles} - {*mapped.roles} else ""
    guessed = folded_name(item) == _NUMBER
    layout = Layout(roles, annotators, every, judge=judge, guessed_item=guessed)
    _require(layout, mapped, names, source)
    return layout


def _kept_columns(
    names: Sequence[str], every: Sequence[str], keep: Sequence[str], taken: set[int], source: str
) -> dict[str, int]:
    """Return the columns with attributes of items: those that exports have, and those to keep.

    ``names`` has no text for a column of ``every`` that is not read.
    """
    asked = {name: _position(every, name, f"--keep {name}", source) for name in keep}
    kept = {KEEP + name: place for name, place in asked.items() if not every[place] or names[place]}
    taken = taken | {*kept.values()}
    return kept | {
        KEEP + name: n
        for n, name in enumerate(names)
        if name.startswith(ATTRIBUTE_COLUMN) and n not in taken
    }


def _layout_of_annotators(names: Sequence[str], mapped: Mapped, source: str) -> Layout:
    """Return the layout of a list of annotators: who, perhaps the kind, and attributes."""
    roles = {
        role: _position(names, column, f"--map {role}={column}", source)
        for role, column in mapped.roles.items()
        if column
    }
    for role in _OF_ANNOTATORS:
        place = None
        if role not in mapped.roles:
            place = _recognise(names, role, set(roles.values()), source)
        if place is None and role not in mapped.roles and role == "annotator":
            place = next((n for n, name in enumerate(names) if folded_name(name) == "name"), None)
        if place is not None:
            roles[role] = place
    if "annotator" not in roles:
        raise Refused(
            f"{source} has no column for the annotator; its columns are: {listed_names(names)}",
            "say which: --map annotator=COLUMN",
        )
    kept: dict[str, int] = {}
    for n, column in enumerate(names):
        name = column.removeprefix(ATTRIBUTE_COLUMN) or column
        if name and n not in roles.values() and kept.setdefault(KEEP + name, n) != n:
            raise Refused(f"{source} has several columns named {name!r}", "rename all but one")
    return Layout(roles | kept, {}, names)


def _not_looked_for(mapped: Mapped) -> set[str]:
    if mapped.items:
        return {*ROLES} - _OF_ITEMS
    if mapped.wide:
        return _OF_ONE
    return {"category"} if mapped.by_question else set()


def _lesser_columns(
    names: Sequence[str], mapped: Mapped, roles: Mapping[str, int]
) -> dict[str, int]:
    """Return the columns of roles that no column has by a better name."""
    found: dict[str, int] = {}
    folded = [folded_name(name) for name in names]
    for role, known in LESSER_NAMES_OF_ROLES.items():
        if role in {*mapped.roles, *roles} or role in _not_looked_for(mapped):
            continue
        if role == "category" and any(one.startswith(OF_QUESTION) for one in roles):
            continue
        places = (folded.index(name) for name in known.split() if folded.count(name) == 1)
        taken = {*roles.values(), *found.values()}
        if (place := next((n for n in places if n not in taken), None)) is not None:
            found[role] = place
    return found


def _question_column(names: Sequence[str], taken: set[int]) -> dict[str, int]:
    """Return the column named as questions are, if another one can be the item."""
    folded = [folded_name(name) for name in names]
    places = [n for n, name in enumerate(folded) if name == _QUESTION and n not in taken]
    items = {*NAMES_OF_ROLES["item"].split()} - {_QUESTION}
    return {"question": places[0]} if len(places) == 1 and items & {*folded} else {}


def _judge_columns(names: Sequence[str], mapped: Mapped, taken: set[int]) -> dict[str, int]:
    found = {} if mapped.signed else judge_roles(names, mapped.roles)
    without = _not_looked_for(mapped)
    return {role: n for role, n in found.items() if n not in taken and role not in without}


def _position(names: Sequence[str], column: str, flag: str, source: str) -> int:
    found = _positions(names, column, flag, source)
    if len(found) > 1:
        raise Refused(f"{source} has several columns named {column!r}", "rename all but one")
    return found[0]


def _positions(names: Sequence[str], column: str, flag: str, source: str) -> list[int]:
    found = [n for n, name in enumerate(names) if name == column] or [
        n for n, name in enumerate(names) if name.casefold() == column.casefold()
    ]
    if found:
        return found
    advice = near_names(column, names) or f"its columns are: {listed_names(names)}"
    raise Refused(f"{source} has no column {column!r} ({flag})", advice)


def _recognise(names: Sequence[str], role: str, taken: set[int], source: str) -> int | None:
    folded = [folded_name(name) for name in names]
    known = NAMES_OF_ROLES[role].split()
    places = [n for n, name in enumerate(folded) if name in known and n not in taken]
    if len(places) > 1:
        exact = [n for n in places if folded[n] in known[:1]]
        places = exact if len(exact) == 1 else places
    if len(places) > 1:
        raise Refused(
            f"{source}: the {role} could be {' or '.join(repr(names[n]) for n in places)}",
            f"say which: --map {role}={names[places[0]]}"
            + (f"; or leave one out: --ignore {names[places[1]]}" if role in _OPTIONAL else ""),
        )
    return places[0] if places else None


def _annotator_columns(
    names: Sequence[str], mapped: Mapped, taken: set[int], source: str
) -> dict[str, int]:
    if not mapped.wide:
        return {}
    if mapped.annotators:
        return {
            name: _position(names, name, "--map annotators=…", source) for name in mapped.annotators
        }
    return {name: n for n, name in enumerate(names) if n not in taken and name}


def _require(layout: Layout, mapped: Mapped, names: Sequence[str], source: str) -> None:
    needed = ["item"]
    if (
        not layout.wide
        and not mapped.items
        and not ("gold" in layout.roles and not _has_answers(layout))
    ):
        answered = any(role.startswith(OF_QUESTION) for role in layout.roles)
        needed += [] if mapped.signed else ["annotator"]
        needed += [] if answered else ["category"]
    missing = [role for role in needed if role not in layout.roles]
    if missing:
        asked = " ".join(f"--map {role}=COLUMN" for role in missing)
        raise Refused(
            f"{source} has no column for the {' or the '.join(missing)}; "
            f"its columns are: {listed_names(names, missing)}",
            f"say which: {asked}"
            + ("" if mapped.items else _OTHER_WAYS)
            + (f"; or {SAY_WHO}" if "annotator" in missing else ""),
        )
    if ("start" in layout.roles) != ("end" in layout.roles):
        raise Refused(
            f"{source} has a start or an end of spans but not both", "--map start=… end=…"
        )


_OTHER_WAYS = (
    ", --question NAME=COLUMN for each column of answers, or --wide for a column per annotator"
)


def _has_answers(layout: Layout) -> bool:
    return "annotator" in layout.roles or any(
        role == "category" or role.startswith(OF_QUESTION) for role in layout.roles
    )
