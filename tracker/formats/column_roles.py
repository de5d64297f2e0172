"""The meaning of each column of a delimited file: by its name, or as the user maps it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from shlex import quote
from typing import Any

from tracker.core.errors import Refused
from tracker.formats import column_names, item_columns, special_columns
from tracker.formats.batch import ATTRIBUTE_COLUMN, KEEP, OF_QUESTION, ROLES
from tracker.formats.column_names import (
    NAMES_OF_ROLES,
    ColumnPattern,
    NamedColumn,
    folded_name,
    listed_names,
)
from tracker.formats.special_columns import Judge
from tracker.projects.names import near_names
from tracker.projects.questions import QuestionOptions

SAY_WHO = "say who answered: --annotator NAME, or --annotator-from file, folder or sheet"
"""The way out if a file does not say it."""

MOST_COLUMNS = 10_000  # columns of a file; those of annotators in wide form are among them
_QUESTION = "question"  # the name of a column that may hold the question, or the item
_NUMBER = "id"  # the name of a column that may hold the item, or a number of the row

_OF_ONE = {"annotator", "category", "kind", "confidence", "comment", "version"}
"""What a row of a file in wide form does not have one of."""

OF_ITEMS = {"item", "text", "n_tokens"}  # what a list of items has
OF_ANNOTATORS = ("annotator", "kind")  # columns of a list of annotators that are not attributes
_COUNTED = "annotators 1, 2, … stand for counts, not for persons: figures by annotator mean nothing"
OPTIONAL = {*ROLES} - {"item", "annotator", "category"}

ROW_NUMBER = "#"  # in place of the name of an item's column: the number of the row, from 1
FILE_AND_ROW = "file/#"  # the same behind the name of the file, without folders and ending
JOINS = "+"  # between the names of columns that are one role together
STATUS = "AssignmentStatus"
RANKED = "<"  # between the ranks of the two of a comparison; the lower one is better
JOINED_BY = "/"  # between the cells of such columns by default
NUMBERS = -1  # the place of the rows' numbers, which no column of the file holds


@dataclass(frozen=True)
class AskedQuestion:
    """A question that the user names; without a column, one of a long file."""

    name: str
    column: str
    options: QuestionOptions


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
    unlabeled: bool = False  # the user gives a category to spans without one
    join: str = JOINED_BY  # between the cells of columns that are one role together
    pattern: ColumnPattern | None = None  # how the names of columns of answers are made
    pairs: bool = False  # items are comparisons of two, see `pair_columns`
    counts: bool = False  # columns of categories hold how many annotators chose each
    each: str | None = None  # the list in a JSON record whose members are the rows
    accept: tuple[str, ...] = ()  # kinds of oddities that are as they should be

    @property
    def by_item(self) -> bool:
        """Whether a row is an annotator's, and columns are items."""
        return self.pattern is not None and "item" in self.pattern.parts

    @property
    def as_table(self) -> bool:
        """Whether the user says what only a table has, even if a tool's files have its columns."""
        has_families = any(item_columns.NUMBER_OF_FAMILY in name for name in self.roles.values())
        return bool(self.each or self.counts or self.by_item or has_families)

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
    dates: str | None = None  # the order of times, `day.month.year`, if the column tells it
    judge: Judge | None = None  # how models are known
    models: tuple[str, ...] = ()  # the first of them
    guessed_item: bool = False  # the item is the column id, which may number the rows
    other_item: str = ""  # the column that is the item if it does
    named: tuple[NamedColumn, ...] = ()  # the columns whose names follow a pattern
    joined: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    join: str = JOINED_BY  # between the cells of joined columns
    families: Mapping[int, str] = field(default_factory=dict)
    """Places of ``joined`` columns with a cell for each answer of a row, as they are mapped."""
    ranked: int | None = None  # the place of two joined columns, of which the lower one is better
    counts: bool = False  # the columns of categories count those who chose each
    by_file: bool = False  # the number of a row stands behind the name of its file
    header_end: int = 0  # the last row that is of the header; 0 if that has one row
    header_row: int | None = None  # 0 if there is none, None in a table that is no text
    has_titles: bool = False  # rows stand above the header, or the user says which row it is
    rows_left_out: Counter[str] = field(default_factory=Counter, compare=False)
    sheets_left_out: tuple[str, ...] = ()  # sheets of the workbook that hold no answers
    unread: Mapping[str, str] = field(default_factory=dict)
    """Columns that are left out as none of their cells can be read, and what these are not."""

    @property
    def wide(self) -> bool:
        """Whether there is one column per annotator, or per answer."""
        return bool(self.annotators or self.named)

    @property
    def places(self) -> list[int]:
        used = [*self.roles.values(), *self.annotators.values()]
        used += [column.place for column in self.named]
        used += [self.names.index(STATUS)] if self.has_status else []
        return [*dict.fromkeys(n for p in used for n in self.parts_of(p) if n != NUMBERS)]

    def parts_of(self, place: int) -> tuple[int, ...]:
        """Return the columns whose cells are joined at a place; any other place itself."""
        return self.joined.get(place, (place,))

    @property
    def numbered(self) -> bool:
        return NUMBERS in self.roles.values()

    @property
    def has_status(self) -> bool:
        """Whether a batch of Mechanical Turk says which of its assignments were rejected."""
        return bool(self.families) and STATUS in self.names

    @property
    def answers(self) -> list[int]:
        places = [*self.annotators.values(), *(column.place for column in self.named)]
        places += [n for role, n in self.roles.items() if role.startswith("category")]
        return [n for place in places for n in self.parts_of(place)]

    @property
    def cells_alone(self) -> list[int]:
        """The columns with a record in each cell."""
        return self.answers if self.wide or self.families else []

    def name_of(self, place: int) -> str:
        if place == NUMBERS:
            return FILE_AND_ROW if self.by_file else ROW_NUMBER
        if place in self.families:
            return self.families[place]
        between = RANKED if place == self.ranked else JOINS
        return between.join(self.names[n] for n in self.parts_of(place))

    def to_dict(self) -> dict[str, Any]:
        """Return as JSON which column was read as what, and which were left out."""
        places = {*self.places}
        people = dict.fromkeys(column.annotator for column in self.named if column.annotator)
        kept = (role for role, n in self.roles.items() if not self._renames(role, n))
        always = {
            "annotators": [*self.annotators, *people],
            "kept": [role.removeprefix(KEEP) for role in kept if role.startswith(KEEP)],
            "left_out": [name for n, name in enumerate(self.names) if name and n not in places],
        }
        sometimes = {
            "dates": {"labeled_at": self.dates} if self.dates else None,
            "models": list(self.models),
            "units": {"seconds": unit} if (unit := self._unit()) != "seconds" else None,
            "named": self._named(),
            "header_row": self.header_row if self.has_titles else None,
            "rows_left_out": dict(self.rows_left_out),
            "notes": [_COUNTED] if self.counts else [],
            "sheets_left_out": [*self.sheets_left_out],
            "unread": dict(self.unread),
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
        name = self.name_of(self.roles["seconds"]) if "seconds" in self.roles else ""
        return column_names.unit_of_time(name)[0]

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


class MissingColumns(Refused):
    """Columns that a file must have are not found; ``{}`` in ``mend`` is for their options."""

    def __init__(
        self, source: str, missing: Sequence[str], layout: Layout, mend: str = "say which: {}"
    ) -> None:
        self.nothing = f"{source} has no column for the {' or the '.join(missing)}"
        self.missing, self.layout = missing, layout
        names = listed_names(layout.names, missing)
        options = " ".join(f"--map {role}=COLUMN" for role in missing)
        super().__init__(f"{self.nothing}; its columns are: {names}", mend.replace("{}", options))


class UnclearColumns(Refused):
    """A table in wide form has several groups of columns, or columns with other values."""

    def __init__(self, error: Refused, layout: Layout) -> None:
        super().__init__(error.message, error.mend)
        self.layout = layout


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
    if not (mapped.wide or mapped.by_question or mapped.pattern or mapped.items or mapped.people):
        screening = special_columns.screening_roles(header, ignore)
        mapped = replace(mapped, roles=screening | dict(mapped.roles))
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
    """The columns of a file as they get their roles: first those that the user maps."""

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
        self.families: dict[int, str] = {}
        self.ranked: int | None = None
        self.every = self.names = [name.strip() for name in header]
        ignored = {n for name in ignore for n in self._positions(name, f"--ignore {name}")}
        # Columns that are not read have empty names.
        self.names = ["" if n in ignored else name for n, name in enumerate(self.every)]
        lists = () if mapped.people else lists
        self.singular = [
            column_names.singular_name(name) if n in lists else name
            for n, name in enumerate(self.names)
        ]
        # Of a list in an object each column has the name of its own key, too.
        short = [name.rpartition(".")[2] if mapped.each else name for name in self.singular]
        self.folded = [*map(folded_name, short)]

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
                roles[OF_QUESTION + question.name] = self._place(question.column, flag)
        if self.families:
            repeated = {role: self.families[n] for role, n in roles.items() if n in self.families}
            item_columns.check_families(repeated, self.names, self.source)
        self._recognise_columns()
        if mapped.by_item:
            self._recognise_respondent(sample)
        named = self._counted(sample) if mapped.counts else self._patterned(sample)
        roles |= self._kept_columns(self.taken | {column.place for column in named})
        annotators: dict[str, int] = {}
        if mapped.wide and not mapped.counts and ("item" in roles or mapped.annotators):
            annotators = self._annotator_columns(sample)
        by_name = "item" in roles.keys() - mapped.roles.keys() and roles["item"] < len(names)
        item = names[roles["item"]] if by_name else ""
        layout = Layout(
            roles,
            annotators,
            self.every,
            judge=None if named else special_columns.judge_of_columns(names, roles, mapped.roles),
            guessed_item=folded_name(item) == _NUMBER and not (named or annotators),
            named=named,
            joined=self.joined,
            join=mapped.join,
            families=self.families,
            ranked=self.ranked,
            counts=mapped.counts,
            by_file=mapped.roles.get("item") == FILE_AND_ROW,
        )
        if not (mapped.by_item or (mapped.counts and "item" in roles)):
            self._require(layout)
        return layout

    def layout_of_annotators(self) -> Layout:
        """Return the layout of a list of annotators: who, perhaps the kind, and attributes."""
        mapped, roles = self.mapped, self.roles
        for role, column in mapped.roles.items():
            if column:
                roles[role] = self._position(column, f"--map {role}={column}")
        for role in OF_ANNOTATORS:
            if role in mapped.roles:
                continue
            self._add(role, self._recognise(role))
            if role not in roles and role == "annotator" and "name" in self.folded:
                roles[role] = self.folded.index("name")
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
        if role == "item" and column in {ROW_NUMBER, FILE_AND_ROW} and column not in self.names:
            return NUMBERS
        first, ranked, second = map(str.strip, column.partition(RANKED))
        if role != "category" or not ranked or column in self.names:
            return self._place(column, flag)
        if not self.mapped.pairs:
            raise Refused(f"{flag}: two ranks are a preference", "--answers preference")
        self.ranked = len(self.every) + len(self.joined)
        self.joined[self.ranked] = (self._position(first, flag), self._position(second, flag))
        return self.ranked

    def _place(self, column: str, flag: str) -> int:
        """Return the place of a column, or of several that are joined or of an answer each."""
        place = len(self.every) + len(self.joined)
        if item_columns.NUMBER_OF_FAMILY in column and column not in self.names:
            numbered = item_columns.numbered_columns(column, self.names)
            if not numbered:
                return self._position(column, flag)
            self.families[place] = column
            self.joined[place] = tuple(numbered[number] for number in sorted(numbered, key=int))
            return place
        parts = [part.strip() for part in column.split(JOINS)]
        if len(parts) < 2 or column in self.names or not all(parts):
            return self._position(column, flag)
        self.joined[place] = tuple(self._position(part, flag) for part in parts)
        return place

    def _position(self, column: str, flag: str, names: Sequence[str] | None = None) -> int:
        places = self._positions(column, flag, names)
        if len(places) > 1:
            raise self._ambiguous(column)
        return places[0]

    def _positions(self, column: str, flag: str, names: Sequence[str] | None = None) -> list[int]:
        names, folded = self.names if names is None else names, column.casefold()
        every, member = [*enumerate(names)], f"{self.mapped.each}.{column}"
        places = [n for n, name in every if name == column]
        places = places or [n for n, name in every if name.casefold() == folded]
        if not places and self.mapped.each:
            places = [n for n, name in every if name == member]
            places = places or [n for n, name in every if name.endswith(f".{column}")]
        if places:
            return places
        advice = near_names(column, names) or f"its columns are: {listed_names(names)}"
        raise Refused(f"{self.source} has no column {column!r} ({flag})", advice)

    def _ambiguous(self, column: str) -> Refused:
        return Refused(f"{self.source} has several columns named {column!r}", "rename all but one")

    # -- Columns that nobody mapped, by what they are called ---------------------------------------

    def _recognise_columns(self) -> None:
        mapped, roles = self.mapped, self.roles
        without = _not_looked_for(mapped)
        self._recognise_pairs(without)
        if mapped.several and "question" not in mapped.roles:
            roles |= self._question_column()
        if not mapped.signed:
            taken = self.taken
            for role, place in special_columns.judge_roles(self.names, mapped.roles).items():
                if place not in taken and role not in without:
                    roles[role] = place
        for role in ROLES:
            if role not in {*mapped.roles, *roles, *without}:
                self._add(role, self._recognise(role))
        for role, names in column_names.LESSER_NAMES_OF_ROLES.items():
            answers = role == "category" and any(name.startswith(OF_QUESTION) for name in roles)
            if role not in {*mapped.roles, *roles, *without} and not answers:
                self._add(role, self._lesser(names.split()))
        by_question = mapped.by_question or mapped.pattern is not None
        answered = mapped.signed or "annotator" in roles
        if answered and "category" not in roles and not by_question:
            columns = special_columns.recognized_answer_columns(self.names, self.taken)
            roles |= {OF_QUESTION + name: place for name, place in columns.items()}

    def _recognise_pairs(self, without: Collection[str]) -> None:
        """Give roles to the columns of comparisons, several of which may be the item's key."""
        if not self.mapped.pairs:
            return
        columns, key = special_columns.pair_columns(self.names, self.mapped.roles, self.taken)
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
                f"say which: --map {quote(f'{role}={names[0]}')}"
                + (f"; or leave one out: --ignore {quote(names[1])}" if role in OPTIONAL else ""),
            )
        return places[0] if places else None

    def _question_column(self) -> dict[str, int]:
        """Return the column named as questions are, if another one can be the item."""
        folded, taken = [folded_name(name) for name in self.names], self.taken
        places = [n for n, name in enumerate(folded) if name == _QUESTION and n not in taken]
        items = {*NAMES_OF_ROLES["item"].split()} - {_QUESTION}
        return {"question": places[0]} if len(places) == 1 and items & {*folded} else {}

    # -- Columns of answers, and those that are kept -----------------------------------------------

    def _recognise_respondent(self, sample: Sequence[Sequence[str]]) -> None:
        """Find who answered a row, and when. Raises Refused if no column says who."""
        if "labeled_at" not in {*self.roles, *self.mapped.roles}:
            self._add("labeled_at", self._lesser(item_columns.RESPONDED))
        pattern = self.mapped.pattern
        if self.mapped.signed or "annotator" in {*self.roles, *(pattern.parts if pattern else ())}:
            return
        place = item_columns.respondent_column(self.names, self.folded, self.taken, sample)
        if place is None:
            layout = Layout(self.roles, {}, self.every, joined=self.joined)
            mend = f"say which: {{}}; or {SAY_WHO}"
            raise MissingColumns(self.source, ["annotator"], layout, mend)
        self.roles["annotator"] = place

    def _counted(self, sample: Sequence[Sequence[str]]) -> tuple[NamedColumn, ...]:
        """Return the columns that count, and find the only one of texts, which is the item."""
        free = [n for n, name in enumerate(self.names) if name and n not in self.taken]
        cells = {n: [row[n].strip() for row in sample if n < len(row)] for n in free}
        texts = [n for n in free if cells[n] and not column_names.number_range({*cells[n]} - {""})]
        if "item" not in self.roles and [len({*cells[n]}) for n in texts] == [len(sample)]:
            self.roles["item"] = texts[0]
            free.remove(texts[0])
        places = item_columns.count_columns(self.names, free, sample, self.source)
        return tuple(NamedColumn(n, category=self.names[n]) for n in places)

    def _patterned(self, sample: Sequence[Sequence[str]]) -> tuple[NamedColumn, ...]:
        pattern, taken = self.mapped.pattern, self.taken
        if pattern is None:
            return ()
        if self.mapped.by_item:
            taken |= item_columns.no_item_columns(self.names)
        named = pattern.columns(self.names, taken)
        if not named:
            raise Refused(
                f"{self.source} has no column named like {pattern.text!r}",
                f"its columns are: {listed_names(self.names)}",
            )
        item_columns.check_named_columns(named, self.names, self.source)
        if pattern.text == "{item}" and item_columns.UNLIKE not in self.mapped.accept:
            places = {column.place for column in named}
            item_columns.check_alike(places, self.names, sample, self.source)
        return named

    def _kept_columns(self, taken: set[int]) -> dict[str, int]:
        """Return the columns of attributes: of exports, and to keep, without those not read."""
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
        left_out = self.taken | column_names.summary_columns(self.names).keys()
        free = [n for n, name in enumerate(self.names) if name and n not in left_out]
        try:
            return column_names.annotator_columns(self.names, free, sample, self.source)
        except Refused as error:
            layout = Layout(self.roles, {}, self.every, joined=self.joined)
            raise UnclearColumns(error, layout) from None

    def _require(self, layout: Layout) -> None:
        """Raise Refused if a column is missing that such a file must have."""
        mapped, source, names = self.mapped, self.source, self.names
        needed, person = ["item"], [] if mapped.signed else ["annotator"]
        if layout.named and not any(column.annotator for column in layout.named):
            needed += person
        answered = any(role.startswith(OF_QUESTION) for role in layout.roles)
        has_answers = answered or not layout.roles.keys().isdisjoint({"annotator", "category"})
        if not (layout.wide or mapped.wide or mapped.items) and (
            has_answers or "gold" not in layout.roles
        ):
            needed += person
            spans = mapped.unlabeled and "start" in layout.roles
            needed += [] if answered or spans else ["category"]
        if mapped.wide and "item" in layout.roles and not layout.annotators:
            raise Refused(
                f"{source} has no column of an annotator; its columns are: {listed_names(names)}",
                "say who they are: --map annotators=A,B,C",
            )
        if missing := [role for role in needed if role not in layout.roles]:
            raise MissingColumns(source, missing, layout, self._ways_out(missing, layout))
        if ("start" in layout.roles) != ("end" in layout.roles):
            raise Refused(
                f"{source} has a start or an end of spans but not both", "--map start=… end=…"
            )

    def _ways_out(self, missing: Sequence[str], layout: Layout) -> str:
        """Return the options for columns that are missing; ``{}`` is for those that map them."""
        ways = "say which: {}"
        if missing == ["item"] and layout.wide | self.mapped.wide:
            ways += "; if each row is an item: --map 'item=#', its number"
        else:
            pattern = column_names.proposed_pattern(self.names)
            ways += "" if self.mapped.items else _OTHER_WAYS
            if pattern and not self.mapped.items:
                ways += f", --columns {pattern!r} for names such as these"
            ways += _NO_ITEM if {"item", "annotator"} <= {*missing} else ""
            ways += _NO_LABEL if "category" in missing and "start" in layout.roles else ""
            ways += f"; or {SAY_WHO}" if "annotator" in missing else ""
        families = item_columns.proposed_families(self.names)
        return ways + (f"; if a row has several answers: {families}" if families else "")


def _not_looked_for(mapped: Mapped) -> set[str]:
    if mapped.items or mapped.counts:
        return {*ROLES} - OF_ITEMS
    if mapped.wide:
        return _OF_ONE
    if mapped.pattern is not None:
        no_role = {*ROLES} - {"annotator", "labeled_at", "kind"} if mapped.by_item else set()
        return {"category", *mapped.pattern.parts, *no_role}
    return {"category"} if mapped.by_question else set()


_OTHER_WAYS = (
    ", --question NAME=COLUMN for each column of answers, or --wide for a column per annotator"
)
_NO_LABEL = "; or give all spans one category: --answers spans --span-label NAME"
_NO_ITEM = "; if no column names the item: --map 'item=#', the number of the row"
