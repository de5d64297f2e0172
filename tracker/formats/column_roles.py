"""The meaning of each column of a delimited file: by its name, or as the user maps it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tracker.core.errors import InvalidOption, Refused
from tracker.formats.batch import ATTRIBUTE_COLUMN, KEEP, ROLES
from tracker.formats.column_names import (
    LESSER_NAMES_OF_ROLES,
    LIKE_ROLES,
    MEANINGS,
    NAMES_OF_ROLES,
    folded_name,
    listed_names,
    singular_name,
    unit_of_time,
)
from tracker.formats.column_patterns import ColumnPattern, NamedColumn, proposed_pattern
from tracker.formats.judge_columns import Judge, judge_of_columns, judge_roles
from tracker.formats.question_columns import OF_QUESTION, AskedQuestion, recognized_answer_columns
from tracker.formats.wide_columns import annotator_columns, summary_columns
from tracker.projects.names import near_names

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

ROW_NUMBER = "#"
"""In place of the name of an item's column: the number of the row, from 1."""
JOINS = "+"
"""Between the names of columns that are one role together."""
JOINED_BY = "/"
"""Between the cells of such columns, if nothing else is said."""
NUMBERS = -1
"""The place of the rows' numbers, which no column of the file holds."""


@dataclass(frozen=True)
class Mapped:
    """The user's statements about columns."""

    roles: Mapping[str, str]  # {role: column}; no column has a role whose column is ""
    annotators: tuple[str, ...] = ()
    wide: bool = False
    keep: tuple[str, ...] = ()
    items: bool = False  # the files list items, and hold no answers
    people: bool = False  # the files list annotators; every other column is kept
    questions: tuple[AskedQuestion, ...] = ()
    several: bool = False  # a column named question is taken for it
    signed: bool = False  # the user says beside the files who answered
    join: str = JOINED_BY  # between the cells of columns that are one role together
    pattern: ColumnPattern | None = None  # how the names of columns of answers are made

    @property
    def by_question(self) -> bool:
        """Whether the user names a column for each question."""
        return any(question.column for question in self.questions)

    @property
    def names_question(self) -> bool:
        """Whether the user says what names the question that a record answers."""
        in_names = self.pattern is not None and "question" in self.pattern.parts
        return bool(self.roles.get("question")) or in_names


@dataclass(frozen=True)
class Layout:
    """What the columns of a table are, each by its place in the header.

    A place that is no column of the file is that of the rows' numbers (`NUMBERS`), or of the
    ``joined`` cells of several columns.
    """

    roles: Mapping[str, int]
    annotators: Mapping[str, int]  # in wide form, their columns by name
    names: Sequence[str] = ()  # of all columns, in the order of the header
    dates: str | None = None
    """The order in which times are written, ``day.month.year``, if the column tells it."""
    judge: Judge | None = None  # how models are known
    models: tuple[str, ...] = ()  # the first of them
    guessed_item: bool = False  # the item is the column id, which may number the rows
    named: tuple[NamedColumn, ...] = ()  # the columns whose names follow a pattern
    joined: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    join: str = JOINED_BY  # between the cells of joined columns
    header_row: int | None = None  # 0 if there is none, None in a table that is no text
    has_titles: bool = False
    """Whether other rows stand above the header, or the user says which row it is."""
    rows_left_out: Counter[str] = field(default_factory=Counter, compare=False)
    sheets_left_out: tuple[str, ...] = ()  # sheets of the workbook that hold no answers

    @property
    def wide(self) -> bool:
        """Whether there is one column per annotator, or per answer."""
        return bool(self.annotators or self.named)

    @property
    def places(self) -> list[int]:
        """The columns of the file that are read, each once."""
        used = [*self.roles.values(), *self.annotators.values()]
        used += [column.place for column in self.named]
        parts = (self.joined.get(place, (place,)) for place in used)
        return [*dict.fromkeys(n for places in parts for n in places if n != NUMBERS)]

    @property
    def numbered(self) -> bool:
        """Whether the rows' numbers are read."""
        return NUMBERS in self.roles.values()

    def name_of(self, place: int) -> str:
        """Return the name of a column, or of those that are joined."""
        if place == NUMBERS:
            return ROW_NUMBER
        return JOINS.join(self.names[n] for n in self.joined.get(place, (place,)))

    def to_dict(self) -> dict[str, Any]:
        """Return as JSON which column was read as what, and which were left out."""
        places = {*self.places}
        people = dict.fromkeys(column.annotator for column in self.named if column.annotator)
        always = {
            "annotators": [*self.annotators, *people],
            "kept": [role.removeprefix(KEEP) for role in self.roles if role.startswith(KEEP)],
            "left_out": [name for n, name in enumerate(self.names) if name and n not in places],
        }
        sometimes = {
            "dates": {"labeled_at": self.dates} if self.dates else None,
            "models": list(self.models),
            "units": {"seconds": unit} if (unit := self._unit()) != "seconds" else None,
            "named": self._named(),
            "header_row": self.header_row if self.has_titles else None,
            "rows_left_out": dict(self.rows_left_out),
            "sheets_left_out": [*self.sheets_left_out],
        }
        return {
            "read": {
                role: self.name_of(n)
                for role, n in self.roles.items()
                if not role.startswith((KEEP, OF_QUESTION))
            },
            **({"questions": questions} if (questions := self._questions()) else {}),
            **always,
            **{name: value for name, value in sometimes.items() if value not in (None, [], {})},
        }

    @property
    def facts(self) -> dict[str, Any]:
        """How the table is read, for the import's record: where its header is, what joins cells."""
        return {"header_row": self.header_row} | ({"join": self.join} if self.joined else {})

    def _named(self) -> dict[str, str]:
        """Return what the names of columns say that follow a pattern, by column."""
        return {
            self.names[column.place]: ", ".join(
                f"{role} {name}" for role, name in column._asdict().items()
                if role != "place" and name is not None
            )
            for column in self.named
        }  # fmt: skip

    def _unit(self) -> str:
        return unit_of_time(self.names[self.roles["seconds"]] if "seconds" in self.roles else "")[0]

    def _questions(self) -> dict[str, str]:
        """Return the columns that answer each question, those of a pattern with a comma between."""
        columns: defaultdict[str, list[str]] = defaultdict(list)
        for column in self.named:
            if column.question:
                columns[column.question].append(self.names[column.place])
        return {question: ", ".join(names) for question, names in columns.items()} | {
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
    join: str | None = None,
    pattern: str | None = None,
) -> Mapped:
    """Return the roles that ``--map ROLE=COLUMN`` gives, ``{role: column}``; raises InvalidOption.

    An optional role without a column, ``ROLE=``, is one that no column has. Several columns are
    joined, ``ROLE=COLUMN+COLUMN``; the item may be the row's number, ``item=#``.
    """
    roles: dict[str, str] = {}
    annotators: tuple[str, ...] = ()
    for pair in pairs:
        role, equals, column = pair.partition("=")
        role = _SPELLINGS.get(role.strip(), role.strip())
        if not equals or not (column.strip() or role in _OPTIONAL):
            raise InvalidOption(f"--map {pair!r} is not ROLE=COLUMN", "such as: --map item=doc_no")
        if role in roles or (role == "annotators" and annotators):
            raise InvalidOption(
                f"--map names {role!r} twice",
                f"to join columns: --map {role}={roles.get(role, column)}{JOINS}{column.strip()}",
            )
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
        roles,
        annotators,
        wide or bool(annotators),
        tuple(keep),
        items,
        questions=questions,
        join=JOINED_BY if join is None else join,
        pattern=None if pattern is None else ColumnPattern(pattern),
    )
    if mapped.pattern is not None and (mapped.wide or mapped.by_question):
        raise InvalidOption(
            "--columns says what each column holds",
            "leave out --wide, --map annotators and --question",
        )
    if mapped.by_question and (
        wrong := next((role for role in ("category", "question") if role in roles), None)
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

    roles = [known + MEANINGS.get(known, "") for known in ROLES]
    listed = f"the roles are: {', '.join(roles)}, annotators"
    role_of = {
        name: known
        for known in ROLES
        for name in (*NAMES_OF_ROLES[known].split(), *LIKE_ROLES.get(known, ()))
    }
    turned = column.strip() if column.strip() in ROLES else None
    near = get_close_matches(folded_name(role), role_of, n=1, cutoff=0.75)
    if turned:
        return f"did you mean --map {turned}={role}? {listed}"
    return f"did you mean --map {role_of[near[0]]}={column}? {listed}" if near else listed


def layout_of_header(
    header: Sequence[str],
    mapped: Mapped,
    source: str,
    ignore: Sequence[str] = (),
    lists: Collection[int] = (),
    sample: Sequence[Sequence[str]] = (),
) -> Layout:
    """Return the layout of a file with this header, of which the columns ``ignore`` are not read.

    ``lists`` are the places of columns of lists, whose names may be in the plural; ``sample`` holds
    the cells of some rows, which tell columns of annotators from others.

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
    joined: dict[int, tuple[int, ...]] = {}
    roles = {
        role: _mapped_place(every, names, role, column, source, joined)
        for role, column in mapped.roles.items()
        if column
    }
    for question in mapped.questions:
        if question.column:
            flag = f"--question {question.name}={question.column}"
            roles[OF_QUESTION + question.name] = _position(names, question.column, flag, source)
    if mapped.several and "question" not in mapped.roles:
        roles |= _question_column(names, _taken(roles, joined))
    roles |= _judge_columns(names, mapped, _taken(roles, joined))
    roles = _recognised(roles, mapped, singular, names, _taken(roles, joined), source)
    named = _patterned(mapped.pattern, names, _taken(roles, joined), source)
    taken = {column.place for column in named}
    roles |= _kept_columns(names, every, mapped.keep, taken | _taken(roles, joined), source)
    annotators: dict[str, int] = {}
    if mapped.wide and ("item" in roles or mapped.annotators):
        annotators = _annotator_columns(names, mapped, _taken(roles, joined), sample, source)
    item = names[roles["item"]] if "item" in {*roles} - {*mapped.roles} else ""
    layout = Layout(
        roles,
        annotators,
        every,
        judge=None if named else judge_of_columns(names, roles, mapped.roles),
        guessed_item=folded_name(item) == _NUMBER and not (named or annotators),
        named=named,
        joined=joined,
        join=mapped.join,
    )
    _require(layout, mapped, names, source)
    return layout


def _recognised(
    roles: dict[str, int],
    mapped: Mapped,
    singular: Sequence[str],
    names: Sequence[str],
    taken: set[int],
    source: str,
) -> dict[str, int]:
    """Return the roles with those that columns not taken have by their names."""
    roles = dict(roles)
    for role in ROLES:
        if role not in {*mapped.roles, *roles} and role not in _not_looked_for(mapped):
            place = _recognise(singular, role, taken, source)
            if place is not None:
                roles[role] = place
                taken = taken | {place}
    lesser = _lesser_columns(singular, mapped, roles, taken)
    roles |= lesser
    by_question = mapped.by_question or mapped.pattern is not None
    answered = mapped.signed or "annotator" in roles
    if answered and "category" not in roles and not by_question:
        columns = recognized_answer_columns(names, taken | {*lesser.values()})
        roles |= {OF_QUESTION + name: place for name, place in columns.items()}
    return roles


def _mapped_place(
    every: Sequence[str],
    names: Sequence[str],
    role: str,
    column: str,
    source: str,
    joined: dict[int, tuple[int, ...]],
) -> int:
    """Return the place that the user maps a role to; columns to be joined are noted."""
    flag = f"--map {role}={column}"
    if column == ROW_NUMBER and role == "item" and ROW_NUMBER not in names:
        return NUMBERS
    parts = [part.strip() for part in column.split(JOINS)]
    if len(parts) < 2 or column in names or not all(parts):
        return _position(names, column, flag, source)
    place = len(every) + len(joined)
    joined[place] = tuple(_position(names, part, flag, source) for part in parts)
    return place


def _taken(roles: Mapping[str, int], joined: Mapping[int, tuple[int, ...]]) -> set[int]:
    """Return the places of columns that have a role, alone or joined with others."""
    return {place for role in roles.values() for place in joined.get(role, (role,))}


def _patterned(
    pattern: ColumnPattern | None, names: Sequence[str], taken: set[int], source: str
) -> tuple[NamedColumn, ...]:
    """Return the columns that a pattern names, of those that have no other role."""
    if pattern is None:
        return ()
    named = pattern.columns(names, taken)
    if not named:
        raise Refused(
            f"{source} has no column named like {pattern.text!r}",
            f"its columns are: {listed_names(names)}",
        )
    return named


def _kept_columns(
    names: Sequence[str], every: Sequence[str], keep: Sequence[str], taken: set[int], source: str
) -> dict[str, int]:
    """Return the columns with attributes of items: those that exports have, and those to keep.

    ``names`` has no text for a column of ``every`` that is not read.
    """
    places = {name: _position(every, name, f"--keep {name}", source) for name in keep}
    kept = {KEEP + name: n for name, n in places.items() if not every[n] or names[n]}
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
        if role in mapped.roles:
            continue
        place = _recognise(names, role, set(roles.values()), source)
        if place is None and role == "annotator":
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
    if mapped.pattern is not None:
        return {"category", *mapped.pattern.parts}
    return {"category"} if mapped.by_question else set()


def _lesser_columns(
    names: Sequence[str], mapped: Mapped, roles: Mapping[str, int], taken: set[int]
) -> dict[str, int]:
    """Return the columns of roles that no column has by a better name."""
    lesser: dict[str, int] = {}
    folded = [folded_name(name) for name in names]
    for role, role_names in LESSER_NAMES_OF_ROLES.items():
        if role in {*mapped.roles, *roles} or role in _not_looked_for(mapped):
            continue
        if role == "category" and any(name.startswith(OF_QUESTION) for name in roles):
            continue
        places = (folded.index(name) for name in role_names.split() if folded.count(name) == 1)
        free = (n for n in places if n not in taken | {*lesser.values()})
        if (place := next(free, None)) is not None:
            lesser[role] = place
    return lesser


def _question_column(names: Sequence[str], taken: set[int]) -> dict[str, int]:
    """Return the column named as questions are, if another one can be the item."""
    folded = [folded_name(name) for name in names]
    places = [n for n, name in enumerate(folded) if name == _QUESTION and n not in taken]
    items = {*NAMES_OF_ROLES["item"].split()} - {_QUESTION}
    return {"question": places[0]} if len(places) == 1 and items & {*folded} else {}


def _judge_columns(names: Sequence[str], mapped: Mapped, taken: set[int]) -> dict[str, int]:
    roles = {} if mapped.signed else judge_roles(names, mapped.roles)
    without = _not_looked_for(mapped)
    return {role: n for role, n in roles.items() if n not in taken and role not in without}


def _position(names: Sequence[str], column: str, flag: str, source: str) -> int:
    places = _positions(names, column, flag, source)
    if len(places) > 1:
        raise Refused(f"{source} has several columns named {column!r}", "rename all but one")
    return places[0]


def _positions(names: Sequence[str], column: str, flag: str, source: str) -> list[int]:
    places = [n for n, name in enumerate(names) if name == column] or [
        n for n, name in enumerate(names) if name.casefold() == column.casefold()
    ]
    if places:
        return places
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
    names: Sequence[str],
    mapped: Mapped,
    taken: set[int],
    sample: Sequence[Sequence[str]],
    source: str,
) -> dict[str, int]:
    if mapped.annotators:
        return {
            name: _position(names, name, "--map annotators=…", source) for name in mapped.annotators
        }
    left_out = taken | summary_columns(names).keys()
    free = [n for n, name in enumerate(names) if name and n not in left_out]
    return annotator_columns(names, free, sample, source)


def _require(layout: Layout, mapped: Mapped, names: Sequence[str], source: str) -> None:
    needed = ["item"]
    if layout.named and not any(column.annotator for column in layout.named):
        needed.append("annotator")
    answered = any(role.startswith(OF_QUESTION) for role in layout.roles)
    has_answers = answered or not layout.roles.keys().isdisjoint({"annotator", "category"})
    if not (layout.wide or mapped.wide or mapped.items) and (
        has_answers or "gold" not in layout.roles
    ):
        needed += [] if mapped.signed else ["annotator"]
        needed += [] if answered else ["category"]
    if mapped.wide and "item" in layout.roles and not layout.annotators:
        raise Refused(
            f"{source} has no column of an annotator; its columns are: {listed_names(names)}",
            "say who they are: --map annotators=A,B,C",
        )
    missing = [role for role in needed if role not in layout.roles]
    if missing == ["item"] and layout.wide | mapped.wide:
        raise Refused(
            f"{source} has no column for the item; its columns are: {listed_names(names)}",
            "say which: --map item=COLUMN; if each row is an item: --map 'item=#', its number",
        )
    if missing:
        pattern = proposed_pattern(names)
        ways = f", --columns {pattern!r} for names such as these" if pattern else ""
        options = " ".join(f"--map {role}=COLUMN" for role in missing)
        raise Refused(
            f"{source} has no column for the {' or the '.join(missing)}; "
            f"its columns are: {listed_names(names, missing)}",
            f"say which: {options}"
            + ("" if mapped.items else _OTHER_WAYS + ways)
            + (_NO_ITEM if {"item", "annotator"} <= {*missing} else "")
            + (f"; or {SAY_WHO}" if "annotator" in missing else ""),
        )
    if ("start" in layout.roles) != ("end" in layout.roles):
        raise Refused(
            f"{source} has a start or an end of spans but not both", "--map start=… end=…"
        )


_OTHER_WAYS = (
    ", --question NAME=COLUMN for each column of answers, or --wide for a column per annotator"
)
_NO_ITEM = " (if no column is the item, then with --map 'item=#', the number of the row)"
