"""The meaning of each column of a delimited file: by its name, or as the user maps it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from tracker.core.errors import InvalidOption, Refused
from tracker.formats.batch import ATTRIBUTE_COLUMN, KEEP, ROLES
from tracker.formats.column_names import (
    LESSER_NAMES_OF_ROLES,
    LIKE_ROLES,
    MEANINGS,
    NAMES_OF_ROLES,
    ColumnPattern,
    NamedColumn,
    annotator_columns,
    folded_name,
    listed_names,
    proposed_pattern,
    singular_name,
    summary_columns,
    unit_of_time,
)
from tracker.formats.judge_columns import Judge, judge_of_columns, judge_roles
from tracker.formats.pair_columns import COMPARED, pair_columns
from tracker.formats.question_columns import OF_QUESTION, AskedQuestion, recognized_answer_columns
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
"""Between the cells of such columns by default."""
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
    pairs: bool = False  # items are comparisons of two, see `pair_columns`

    @property
    def by_question(self) -> bool:
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
        return NUMBERS in self.roles.values()

    def name_of(self, place: int) -> str:
        if place == NUMBERS:
            return ROW_NUMBER
        return JOINS.join(self.names[n] for n in self.joined.get(place, (place,)))

    def to_dict(self) -> dict[str, Any]:
        """Return as JSON which column was read as what, and which were left out."""
        places = {*self.places}
        people = dict.fromkeys(column.annotator for column in self.named if column.annotator)
        always = {
            "annotators": [*self.annotators, *people],
            "kept": [
                role.removeprefix(KEEP)
                for role, n in self.roles.items()
                if role.startswith(KEEP) and not self._renames(role, n)
            ],
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
                role.removeprefix(KEEP): self.name_of(n)
                for role, n in self.roles.items()
                if not role.startswith((KEEP, OF_QUESTION)) or self._renames(role, n)
            },
            **({"questions": questions} if (questions := self._questions()) else {}),
            **always,
            **{name: value for name, value in sometimes.items() if value not in (None, [], {})},
        }

    @property
    def facts(self) -> dict[str, Any]:
        """How the table is read, for the import's record: where its header is, what joins cells."""
        return {"header_row": self.header_row} | ({"join": self.join} if self.joined else {})

    def _renames(self, role: str, place: int) -> bool:
        """Return whether an attribute of items has another name than its column."""
        column = self.name_of(place).removeprefix(ATTRIBUTE_COLUMN)
        return role.startswith(KEEP) and column != role.removeprefix(KEEP)

    def _named(self) -> dict[str, str]:
        return {
            self.names[column.place]: ", ".join(
                f"{role} {name}" for role, name in column._asdict().items()
                if role != "place" and name is not None
            )
            for column in self.named
        }  # fmt: skip

    def _unit(self) -> str:
        return unit_of_time(self.name_of(self.roles["seconds"]) if "seconds" in self.roles else "")[
            0
        ]

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
        elif role in {*ROLES, *COMPARED}:
            roles[KEEP + role if role in COMPARED else role] = column.strip()
        else:
            raise InvalidOption(
                f"--map {pair!r}: {role!r} is no role of a column", _role_advice(role, column)
            )
    if items and (
        answered := [*({*roles} & {*ROLES} - _OF_ITEMS), *annotators, *(["answer"] * wide)]
    ):
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


class MissingColumns(Refused):
    """Columns that a file must have are not found: ``options`` name them, ``others`` do without."""

    def __init__(self, message: str, options: str, others: str = "") -> None:
        super().__init__(message, f"say which: {options}{others}")
        self.options = options


def layout_of_header(
    header: Sequence[str],
    mapped: Mapped,
    source: str,
    ignore: Sequence[str] = (),
    lists: Collection[int] = (),
    sample: Sequence[Sequence[str]] = (),
) -> Layout:
    """Return the layout of a file with this header; the columns ``ignore`` are not read.

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
    columns = _Header(header, mapped, source, ignore, lists)
    return columns.layout_of_annotators() if mapped.people else columns.layout(sample)


def recognized_roles(
    header: Sequence[str], mapped: Mapped, source: str, ignore: Sequence[str]
) -> dict[str, str]:
    """Return the role of each column as far as a header tells, though it may not be enough."""
    roles: Mapping[str, int] = {}
    with suppress(Refused):
        columns = _Header(header, mapped, source, ignore, ())
        roles = columns.roles
        columns.layout(())
    return {
        header[place]: f"question {role.removeprefix(OF_QUESTION)}"
        if role.startswith(OF_QUESTION)
        else role.partition(":")[0]
        for role, place in roles.items()
        if 0 <= place < len(header)
    }


class _Header:
    """The columns of a file as they get their roles: first those that the user maps.

    ``every`` are their names; in ``names`` those of columns that are not read are empty.
    """

    def __init__(
        self,
        header: Sequence[str],
        mapped: Mapped,
        source: str,
        ignore: Sequence[str],
        lists: Collection[int],
    ) -> None:
        self.source, self.mapped = source, mapped
        self.roles: dict[str, int] = {}
        self.joined: dict[int, tuple[int, ...]] = {}
        self.every = self.names = [name.strip() for name in header]
        ignored = {n for name in ignore for n in self._positions(name, f"--ignore {name}")}
        self.names = ["" if n in ignored else name for n, name in enumerate(self.every)]
        lists = () if mapped.people else lists
        self.singular = [
            singular_name(name) if n in lists else name for n, name in enumerate(self.names)
        ]
        self.folded = [folded_name(name) for name in self.singular]

    @property
    def taken(self) -> set[int]:
        """The columns that have a role, alone or joined with others."""
        return {n for place in self.roles.values() for n in self.joined.get(place, (place,))}

    def layout(self, sample: Sequence[Sequence[str]]) -> Layout:
        mapped, roles, names = self.mapped, self.roles, self.names
        for role, column in mapped.roles.items():
            if column:
                roles[role] = self._mapped_place(role, column)
        for question in mapped.questions:
            if question.column:
                flag = f"--question {question.name}={question.column}"
                roles[OF_QUESTION + question.name] = self._position(question.column, flag)
        self._recognise_columns()
        named = self._patterned()
        roles |= self._kept_columns(self.taken | {column.place for column in named})
        annotators: dict[str, int] = {}
        if mapped.wide and ("item" in roles or mapped.annotators):
            annotators = self._annotator_columns(sample)
        by_name = "item" in roles.keys() - mapped.roles.keys() and roles["item"] < len(names)
        item = names[roles["item"]] if by_name else ""
        layout = Layout(
            roles,
            annotators,
            self.every,
            judge=None if named else judge_of_columns(names, roles, mapped.roles),
            guessed_item=folded_name(item) == _NUMBER and not (named or annotators),
            named=named,
            joined=self.joined,
            join=mapped.join,
        )
        self._require(layout)
        return layout

    def layout_of_annotators(self) -> Layout:
        """Return the layout of a list of annotators: who, perhaps the kind, and attributes."""
        mapped, roles = self.mapped, self.roles
        for role, column in mapped.roles.items():
            if column:
                roles[role] = self._position(column, f"--map {role}={column}")
        for role in _OF_ANNOTATORS:
            if role in mapped.roles:
                continue
            place = self._recognise(role)
            if place is None and role == "annotator" and "name" in self.folded:
                place = self.folded.index("name")
            self._add(role, place)
        if "annotator" not in roles:
            raise Refused(
                f"{self.source} has no column for the annotator; "
                f"its columns are: {listed_names(self.names)}",
                "say which: --map annotator=COLUMN",
            )
        kept: dict[str, int] = {}
        for n, column in enumerate(self.names):
            name = column.removeprefix(ATTRIBUTE_COLUMN) or column
            if name and n not in roles.values() and kept.setdefault(KEEP + name, n) != n:
                raise self._ambiguous(name)
        return Layout(roles | kept, {}, self.every)

    # -- Places of columns by their names ----------------------------------------------------------

    def _mapped_place(self, role: str, column: str) -> int:
        """Return the place that the user maps a role to; columns to be joined are noted."""
        flag = f"--map {role}={column}"
        if column == ROW_NUMBER and role == "item" and ROW_NUMBER not in self.names:
            return NUMBERS
        parts = [part.strip() for part in column.split(JOINS)]
        if len(parts) < 2 or column in self.names or not all(parts):
            return self._position(column, flag)
        place = len(self.every) + len(self.joined)
        self.joined[place] = tuple(self._position(part, flag) for part in parts)
        return place

    def _position(self, column: str, flag: str, names: Sequence[str] | None = None) -> int:
        places = self._positions(column, flag, names)
        if len(places) > 1:
            raise self._ambiguous(column)
        return places[0]

    def _positions(self, column: str, flag: str, names: Sequence[str] | None = None) -> list[int]:
        names = self.names if names is None else names
        places = [n for n, name in enumerate(names) if name == column] or [
            n for n, name in enumerate(names) if name.casefold() == column.casefold()
        ]
        if places:
            return places
        advice = near_names(column, names) or f"its columns are: {listed_names(names)}"
        raise Refused(f"{self.source} has no column {column!r} ({flag})", advice)

    def _ambiguous(self, column: str) -> Refused:
        return Refused(f"{self.source} has several columns named {column!r}", "rename all but one")

    # -- Columns that nobody mapped, by what they are called ---------------------------------------

    def _recognise_columns(self) -> None:
        """Give roles to the columns that none was given yet, by their names."""
        mapped, roles = self.mapped, self.roles
        without = _not_looked_for(mapped)
        self._recognise_pairs(without)
        if mapped.several and "question" not in mapped.roles:
            roles |= self._question_column()
        if not mapped.signed:
            taken = self.taken
            for role, place in judge_roles(self.names, mapped.roles).items():
                if place not in taken and role not in without:
                    roles[role] = place
        for role in ROLES:
            if role not in {*mapped.roles, *roles, *without}:
                self._add(role, self._recognise(role))
        for role, names in LESSER_NAMES_OF_ROLES.items():
            answers = role == "category" and any(name.startswith(OF_QUESTION) for name in roles)
            if role not in {*mapped.roles, *roles, *without} and not answers:
                self._add(role, self._lesser(names.split()))
        by_question = mapped.by_question or mapped.pattern is not None
        answered = mapped.signed or "annotator" in roles
        if answered and "category" not in roles and not by_question:
            columns = recognized_answer_columns(self.names, self.taken)
            roles |= {OF_QUESTION + name: place for name, place in columns.items()}

    def _recognise_pairs(self, without: Collection[str]) -> None:
        """Give roles to the columns of comparisons, several of which may be the item's key."""
        if not self.mapped.pairs:
            return
        columns, key = pair_columns(self.names, self.mapped.roles, self.taken)
        for role, place in columns.items():
            if role not in without and not (role == "annotator" and self.mapped.signed):
                self._add(role, place)
        if key:
            self.roles["item"] = len(self.every) + len(self.joined)
            self.joined[self.roles["item"]] = key

    def _add(self, role: str, place: int | None) -> None:
        if place is not None:
            self.roles[role] = place

    def _lesser(self, names: Sequence[str]) -> int | None:
        """Return the first column that alone has one of these names, and no role."""
        places = (self.folded.index(name) for name in names if self.folded.count(name) == 1)
        return next((n for n in places if n not in self.taken), None)

    def _recognise(self, role: str) -> int | None:
        known, taken = NAMES_OF_ROLES[role].split(), self.taken
        places = [n for n, name in enumerate(self.folded) if name in known and n not in taken]
        if len(places) > 1:
            exact = [n for n in places if self.folded[n] in known[:1]]
            places = exact if len(exact) == 1 else places
        if len(places) > 1:
            names = [self.singular[n] for n in places]
            raise Refused(
                f"{self.source}: the {role} could be {' or '.join(map(repr, names))}",
                f"say which: --map {role}={names[0]}"
                + (f"; or leave one out: --ignore {names[1]}" if role in _OPTIONAL else ""),
            )
        return places[0] if places else None

    def _question_column(self) -> dict[str, int]:
        """Return the column named as questions are, if another one can be the item."""
        folded, taken = [folded_name(name) for name in self.names], self.taken
        places = [n for n, name in enumerate(folded) if name == _QUESTION and n not in taken]
        items = {*NAMES_OF_ROLES["item"].split()} - {_QUESTION}
        return {"question": places[0]} if len(places) == 1 and items & {*folded} else {}

    # -- Columns of answers, and those that are kept -----------------------------------------------

    def _patterned(self) -> tuple[NamedColumn, ...]:
        """Return the columns that a pattern names, of those that have no other role."""
        pattern = self.mapped.pattern
        if pattern is None:
            return ()
        named = pattern.columns(self.names, self.taken)
        if not named:
            raise Refused(
                f"{self.source} has no column named like {pattern.text!r}",
                f"its columns are: {listed_names(self.names)}",
            )
        return named

    def _kept_columns(self, taken: set[int]) -> dict[str, int]:
        """Return the columns with attributes of items: those that exports have, and those to keep.

        A column to keep that is not read is passed over.
        """
        every, names = self.every, self.names
        places = {name: self._position(name, f"--keep {name}", every) for name in self.mapped.keep}
        kept = {KEEP + name: n for name, n in places.items() if not every[n] or names[n]}
        taken = taken | {*kept.values()}
        return kept | {
            KEEP + name: n
            for n, name in enumerate(names)
            if name.startswith(ATTRIBUTE_COLUMN) and n not in taken
        }

    def _annotator_columns(self, sample: Sequence[Sequence[str]]) -> dict[str, int]:
        if self.mapped.annotators:
            flag = "--map annotators=…"
            return {name: self._position(name, flag) for name in self.mapped.annotators}
        left_out = self.taken | summary_columns(self.names).keys()
        free = [n for n, name in enumerate(self.names) if name and n not in left_out]
        return annotator_columns(self.names, free, sample, self.source)

    def _require(self, layout: Layout) -> None:
        """Raise Refused if a column is missing that such a file must have."""
        mapped, source, names = self.mapped, self.source, self.names
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
            raise MissingColumns(
                f"{source} has no column for the {' or the '.join(missing)}; "
                f"its columns are: {listed_names(names, missing)}",
                options,
                ("" if mapped.items else _OTHER_WAYS + ways)
                + (_NO_ITEM if {"item", "annotator"} <= {*missing} else "")
                + (f"; or {SAY_WHO}" if "annotator" in missing else ""),
            )
        if ("start" in layout.roles) != ("end" in layout.roles):
            raise Refused(
                f"{source} has a start or an end of spans but not both", "--map start=… end=…"
            )


def _not_looked_for(mapped: Mapped) -> set[str]:
    if mapped.items:
        return {*ROLES} - _OF_ITEMS
    if mapped.wide:
        return _OF_ONE
    if mapped.pattern is not None:
        return {"category", *mapped.pattern.parts}
    return {"category"} if mapped.by_question else set()


_OTHER_WAYS = (
    ", --question NAME=COLUMN for each column of answers, or --wide for a column per annotator"
)
_NO_ITEM = " (if no column is the item, then with --map 'item=#', the number of the row)"
