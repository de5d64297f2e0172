"""What refusals of tables propose: which column is what, as its name and first cells say."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from shlex import quote

from tracker.core.errors import Refused
from tracker.formats import column_names
from tracker.formats.column_names import folded_name, listed_names
from tracker.formats.column_roles import NUMBERS, Layout, Mapped, MissingColumns, UnclearColumns
from tracker.formats.dates import are_dates

_WORDS = {
    "annotator": "annotator annotated rater coder worker labeler labeller judge reviewer user "
    "participant subject respondent contributor evaluator assessor expert person observer who "
    "email prüfer codierer kodierer bewerter annotateur codeur évaluateur anotador evaluador",
    "item": "item task text tweet doc document sentence sent img image file url query pair sample "
    "case patient story abstract paper article unit example instance utterance message "
    "video clip passage question post",
    "category": "label rating score annotation class category answer judgment judgement verdict "
    "toxicity sentiment stance relevance vote choice tag grade decision urteil bewertung "
    "kategorie étiquette etiqueta",
    "other": "confidence certainty certain sure time date timestamp duration seconds elapsed index "
    "order position trial session batch comment note reason remark rationale gold truth majority "
    "consensus difficulty row page number system model method condition variant version prompt "
    "round pass split group language lang topic domain datum zeit "
    "complete completed finished status progress",
}
"""Words in names of columns, by what such a column holds."""
_ROLE_OF_WORD = {word: role for role, words in _WORDS.items() for word in words.split()}
_ROLE_OF_NAME = {"id": "item", "key": "item"} | dict.fromkeys(
    ("name", "full_name", "your_name", "response_id", "responseid"), "annotator"
)
_WORD = re.compile(r"[A-Z]?[^\W\d_A-Z]+|[A-Z]+")
_LOOKS = {
    "annotator": r"(?:annotator|ann|rater|coder|judge|worker|user|labell?er|reviewer|expert|person"
    r"|participant|subject|crowd|contributor|evaluator|assessor)[\W_]?\w{0,3}\d+"
    r"|[\w.+-]+@[\w-]+(?:\.[\w-]+)+|A(?=[A-Z]*\d)[A-Z\d]{11,14}",
    "item": r"(?:https?://|www\.)\S+|\S*\.(?:jpe?g|png|gif|txt|wav|mp[34]|pdf|json|xml|html?)"
    r"|(?:item|doc|text|tweet|task|sent|sentence|img|image|sample|case|post|question|page|i|d|t|q)"
    r"[\W_]?\d+|(?s:(?:\S+\s+){4}.*)",
    "category": r"yes|no|true|false|pos(?:itive)?|neg(?:ative)?|neu(?:tral)?|good|bad|ja|nein|oui"
    r"|non|high|low|medium|agree|disagree|none|both|included?|excluded?",
}
"""What cells look like, by the role of their column."""
_NAME = r"(?!(?:de|en|es|fr|it|ja|ko|nl|pl|pt|ru|zh|ar|hi)\Z)[^\W\d_]{2,}"
_TEXTS, _NUMBERED_PEOPLE = (
    frozenset(words.split())
    for words in (
        "text tweet doc document sentence image img file url story abstract paper article message "
        "utterance video clip passage post",
        "annotator rater coder judge worker user labeler labeller ann reviewer expert person r a",
    )
)
"""Words in the names of columns of items, never of people; and of numbered annotators."""

_POINT = re.compile(r"\d{1,2}(?:\.0)?")  # of a rating scale
_MOST_COLUMNS = 200  # that are looked at
_MOST_CATEGORIES = 30
_LONGEST_CATEGORY = 40  # characters, on average
_LONGEST_OPTIONS = 500
_FEW = 4  # rows in which answers may all differ
_SHOWN, _CELLS, _CUT = 8, 3, 20  # columns with cells, cells of each, characters of a cell
_BY_COUNT = "if each cell is a number of annotators"
_ITEM_COLUMNS = "--columns '{item}'"

LOOKED_AT = 50  # rows among which the header of a table is looked for
Reading = tuple[str, str]  # when a table is to be read in some way, and the options for it


def most_rows(width: int) -> int:
    return min(1000, max(LOOKED_AT, 60_000 // max(1, width)))


class _Column:
    def __init__(self, place: int, name: str, cells: Sequence[str]) -> None:
        self.place, self.name, self.cells = place, name, cells
        self.distinct = {*cells} - {""}

    @property
    def is_question(self) -> bool:
        """Whether its name is a question of a form: words in it do not tell its role."""
        return "?" in self.name or len(self.name.split(None, 3)) > 3

    @property
    def stem(self) -> str:
        """What its name begins with, such as ``q`` of q1 and q2."""
        return re.split(r"[\W\d_]", self.name.casefold())[0]

    @property
    def words(self) -> set[str]:
        words = [word.casefold() for word in _WORD.findall(self.name)]
        return {stem for word in words for stem in (word, re.sub("(?:id|s)$", "", word))}

    @cached_property
    def role(self) -> str | None:
        """The role that its name or else its cells say it has, ``other`` for none of an answer."""
        folded = folded_name(self.name)
        if folded in _ROLE_OF_NAME:
            return _ROLE_OF_NAME[folded]
        words = set() if self.is_question else self.words
        roles = {_ROLE_OF_WORD[word] for word in words if word in _ROLE_OF_WORD}
        if "other" in roles or self.is_time or column_names.summary_columns([self.name]):
            return "other"
        if roles:
            return min(roles) if len(roles) == 1 else None
        return next((role for role, look in _LOOKS.items() if self.looks_like(look)), None)

    @property
    def first_cells(self) -> str:
        cells = [*dict.fromkeys(" ".join(cell.split()) for cell in self.cells if cell)][:_CELLS]
        return ", ".join(cell if len(cell) <= _CUT else cell[:_CUT] + "…" for cell in cells)

    @cached_property
    def is_unique(self) -> bool:
        return len(self.distinct) == len(self.cells) > 1

    @cached_property
    def is_time(self) -> bool:
        return are_dates(self.distinct)

    @cached_property
    def length(self) -> float:
        return sum(map(len, self.distinct)) / max(1, len(self.distinct))

    @property
    def may_hold_answers(self) -> bool:
        few = 0 < len(self.distinct) <= _MOST_CATEGORIES and self.length <= _LONGEST_CATEGORY
        return few and not self.is_time and not any(c[:1] in {"{", "["} for c in self.distinct)

    def looks_like(self, look: str) -> bool:
        fits = re.compile(look, re.IGNORECASE).fullmatch
        return bool(self.distinct) and all(map(fits, self.distinct))

    def determines(self, other: _Column) -> bool:
        """Return whether each of its cells comes with one cell of another column."""
        pairs = {*zip(self.cells, other.cells, strict=True)}
        return len({cell for cell, _ in pairs}) == len(pairs)


class FirstRows:
    """The columns of the first rows of a table, with the roles that are known."""

    def __init__(
        self,
        names: Sequence[str],
        rows: Iterable[Sequence[str]],
        mapped: Mapped,
        layout: Layout | None = None,
        ignore: Collection[str] = (),
    ) -> None:
        full = [row for row in rows if len(row) == len(names) and any(map(str.strip, row))]
        full = full[: most_rows(len(names))]
        cells = [*zip(*full, strict=True)] or [()] * len(names)
        self.mapped, self.number = mapped, len(full)
        self.columns = [
            _Column(n, name.strip(), [*map(str.strip, column)])
            for n, (name, column) in enumerate(zip(names, cells, strict=True))
        ]
        roles: dict[str, tuple[int, ...]] = {}
        if layout is not None:
            roles = {role: layout.parts_of(n) for role, n in layout.roles.items()}
        self.known = {role: self._joined(places) for role, places in roles.items()}
        taken = {place for places in roles.values() for place in places}
        every = [column.name for column in self.columns]
        self.free = [
            column
            for column in self.columns
            if column.place not in taken
            and column.name not in {"", *ignore}
            and every.count(column.name) == 1
        ]

    def _columns_of(self, role: str) -> list[_Column]:
        """Return the column that is known to have a role, or else those named or filled so."""
        if role in self.known:
            return [self.known[role]]
        return [column for column in self.free if column.role == role]

    def _joined(self, places: Sequence[int]) -> _Column:
        if len(places) == 1 and places[0] != NUMBERS:
            return self.columns[places[0]]
        if NUMBERS in places:
            return _Column(NUMBERS, "", [*map(str, range(self.number))])
        cells = zip(*(self.columns[place].cells for place in places), strict=True)
        return _Column(NUMBERS, "", [*map("/".join, cells)])

    # -- A row per answer --------------------------------------------------------------------------

    def find_roles(self) -> tuple[dict[str, _Column], list[_Column]]:
        """Return the columns that certainly have a role, and all that may hold the answers."""
        person: _Column | None = None
        if self.mapped.signed or self.mapped.items:
            items = [c for c in self._columns_of("item") if "item" in self.known or c.is_unique]
            item = _narrowed(items)
        else:
            people = self._columns_of("annotator")
            named = bool(people)
            if not named and [c.name for c in self.columns] == ["1", "2", "3"]:
                people = [c for c in self.free if c.role is None and c.looks_like(_NAME)]
            pairs = {c: item for c in people if (item := self._item_of(c, named=named))}
            person = _narrowed([*pairs])
            item = pairs.get(person) if person else None
        roles = dict(self.known)
        if item is None:
            return roles, []
        roles |= {"item": item} | ({"annotator": person} if person else {})
        answers = [] if "category" in roles else self._answers(item, person)
        return roles | ({"category": answers[0]} if len(answers) == 1 else {}), answers

    def _item_of(self, person: _Column, *, named: bool) -> _Column | None:
        """Return the column whose cells come again with other cells of the annotator's column."""
        items = self._columns_of("item")
        if "item" not in self.known:
            items += [column for column in self.free if column.role is None]
        elif "annotator" in self.known:
            return items[0]
        items = [item for item in items if item is not person and _is_shared(item, person)]
        if not named:  # words are names where numbers, links or the like are the items
            items = [
                item
                for item in items
                if (item.role == "item" or item.looks_like(r"\d+"))
                and len(item.distinct) >= len(person.distinct)
            ]
        return _narrowed([item for item in items if item.role == "item"] or items)

    def _answers(self, item: _Column, person: _Column | None) -> list[_Column]:
        rest = [c for c in self.free if c not in {item, person} and c.role != "other"]
        columns = [
            column
            for column in rest
            if column.role in {"category", None}
            and column.may_hold_answers
            and len(column.distinct) > 1
            and not column.is_unique
        ]
        if person is None:
            return columns
        differ = [
            column
            for column in columns
            if not item.determines(column)
            and not person.determines(column)
            and len({*zip(person.cells, column.cells, strict=True)}) < self.number
        ]
        cells = {cell for column in differ for cell in column.distinct}
        differ = [column for column in columns if column in differ or column.distinct <= cells]
        named = [column for column in columns if column.role == "category"]
        return differ or named or (columns if len(rest) == 1 else [])

    # -- A column per annotator, item or question --------------------------------------------------

    @cached_property
    def group(self) -> list[_Column]:
        """The columns of the same answers: one numbered family, or ones that share cells."""
        columns = [*self.free]
        if "annotator" in self.known.keys() - self.mapped.roles.keys():
            columns.append(self.known["annotator"])  # it may be a person's answers, such as ann's
        stems = Counter(column.stem for column in columns)
        columns = [
            column
            for column in sorted(columns, key=lambda column: column.place)
            if column.role != "other"
            and not (
                column.is_unique
                and stems[column.stem] == 1
                and (column.role == "item" or self.number > _FEW)
            )
        ]
        names = [column.name for column in self.columns]
        families = column_names.find_families(names, [column.place for column in columns])
        if len(families) > 1 or len(columns) > _MOST_COLUMNS:
            return []
        places = {place for family in families.values() for place in family.values()}
        likely = [c for c in columns if c.may_hold_answers and (c.place in places or not families)]
        if not families:
            likely = [c for c in likely if c.role in {"category", None} or stems[c.stem] > 1]
            places = column_names.find_sharing({column.place: column.distinct for column in likely})
            rated = {c.place for c in likely if all(map(_POINT.fullmatch, c.distinct))}
            places |= rated if places & rated or not places else set()
        if len(likely) < len(places) / 2 or (not families and len(places) < len(self.free) / 2 - 1):
            return []  # they hold texts, or share cells by chance
        return [column for column in columns if column.place in places]

    def _find_person(self, group: Sequence[_Column]) -> _Column | None:
        """Return the column that names another person in each row."""
        people = self._columns_of("annotator")
        return next((c for c in people if c.is_unique and c not in group), None)

    def find_readings(self, missing: Sequence[str]) -> list[Reading]:
        """Return how the table may be read, with options for the roles that are missing."""
        if len(self.free) > _MOST_COLUMNS or self.number < 2 or self.mapped.pattern is not None:
            return []
        roles, answers = self.find_roles()
        maps = " ".join(_map(role, roles[role]) for role in missing if role in roles)
        if self.mapped.wide:
            readings = self._readings_by_row(self.group)[-1:]
        elif all(role in roles for role in missing):
            when = "as the cells suggest"
            if "annotator" in missing and roles["annotator"].role is None:
                when = f"if {roles['annotator'].first_cells} are annotators"
            readings = [(when, maps)]
        elif len(answers) > 1 and not self.mapped.by_question:
            readings = [
                (f"if the answer is {column.name}", f"{maps} {_map('category', column)}")
                for column in answers
                if column.role == "category"
            ][:1]
            readings.append(("if each is a question", f"{maps} {_question_options(answers)}"))
        else:
            readings = self._reading_of_pattern() or self._readings_of_group()
        return [
            (when, options.strip())
            for when, options in readings
            if len(options) <= _LONGEST_OPTIONS and "\n" not in options
        ]

    def _readings_of_answers(self) -> list[Reading]:
        """Return the reading of a table that only the user says to have a column per annotator."""
        roles, _ = self.find_roles()
        item = roles.get("item")
        if "annotator" not in roles and item is not None and not item.is_unique:
            named = [c for c in self.free if c.role == "annotator" and not c.is_unique]
            roles |= dict(zip(["annotator"], named, strict=False))
        if self.mapped.annotators or not {"item", "annotator"} <= roles.keys():
            return []
        maps = [_map(role, column) for role, column in roles.items() if role not in self.known]
        return [("if each row is an answer, leave out --wide", " ".join(maps))]

    def _reading_of_pattern(self) -> list[Reading]:
        """Return the reading of a table whose columns are named by annotator and question."""
        pattern = column_names.proposed_pattern([column.name for column in self.free])
        items = [column for column in self.free if column.is_unique and column.role == "item"]
        if pattern is None or not (items or "item" in self.known):
            return []
        item = "" if "item" in self.known else _map("item", items[0])
        return [("as the names suggest", f"{item} --columns {quote(pattern)}")]

    def _readings_of_group(self) -> list[Reading]:
        group = self.group
        if len(group) < 2 or self.mapped.by_question:
            return []
        sure = {role for role, column in self.known.items() if column not in group}
        texts = [c for c in self.free if c.is_unique and c.words & _TEXTS and c not in group]
        key = None if "item" in sure or self._find_person(group) else _narrowed(texts)
        if key is None and "item" not in sure:
            return self._readings_by_row(group)
        item = f"{_map('item', key)} " if key else ""
        if _are_counts(group):
            return [(_BY_COUNT, f"{item}--counts")]
        if "annotator" in sure or self.mapped.signed:
            return [("if each is a question", f"{item}{_question_options(group)}")]
        return [
            ("if each column is an annotator", f"{item}{self._wide(group, key)}"),
            ("if each is a question", f"{item}{_question_options(group)} --annotator NAME"),
        ]

    def _readings_by_row(self, group: Sequence[_Column]) -> list[Reading]:
        if len(group) < 2 or self.mapped.signed:
            return []
        rest = [column for column in self.free if column not in group]
        items = [c for c in rest if c.is_unique and c.role in {"item", None}]
        likely = min(items, key=lambda column: column.role != "item", default=None)
        key = self._find_person(group) or likely
        times = (column for column in self.columns if column.is_time and column.is_unique)
        row_key = key or next(times, None)
        item = _map("item", key) if key else "--map 'item=#'"
        by_item = f"{self._wide(group, key)} {item}"
        if row_key is None:
            is_sure = {column.stem for column in group} <= _NUMBERED_PEOPLE
            return [("as the names suggest", by_item)] if is_sure else []
        ignored = "".join(f" --ignore {quote(c.name)}" for c in rest if c is not row_key)
        if _are_counts(group):
            counts = f"{_map('item', row_key)} --counts{ignored}"
            return [(_BY_COUNT, counts), ("if each row is an item", by_item)]
        by_person = f"{_map('annotator', row_key)} {_ITEM_COLUMNS}"
        if row_key is self.known.get("annotator"):
            by_person = _ITEM_COLUMNS if ignored or len(self.known) > 1 else "--wide-items"
        return [
            ("if each row is a person", by_person + ignored),
            ("if each row is an item", by_item),
        ]

    def _wide(self, group: Sequence[_Column], item: _Column | None) -> str:
        rest = [column for column in self.free if column not in group and column is not item]
        names = [column.name for column in group]
        if not rest or any("," in name for name in names):
            return " ".join(["--wide", *(f"--ignore {quote(column.name)}" for column in rest)])
        return f"--wide --map {quote('annotators=' + ','.join(names))}"

    def list_columns(self, roles: Sequence[str] = ()) -> str:
        """Return the names of the columns, the first with their first cells."""
        by_name = {column.name: column for column in self.columns}
        names = column_names.sort_likely_first([column.name for column in self.columns], roles)
        named = [
            listed_names([name]) + (f" ({cells})" if (cells := by_name[name].first_cells) else "")
            for name in names[:_SHOWN]
        ]
        return ", ".join([*named, *([listed_names(names[_SHOWN:])] * bool(names[_SHOWN:]))])

    def unclear_form(self, source: str) -> Refused | None:
        """Return the refusal of a table in wide form whose rows may be answers, or a person's."""
        mapped = self.mapped
        if not mapped.wide or mapped.annotators:
            return None
        if readings := self._readings_of_answers():
            return Refused(
                f"{source}: each row may be an answer",
                f"{_list_readings(readings)}; "
                "if each column is an annotator: --map annotators=A,B,C",
            )
        group = self.group
        if "item" in mapped.roles or len(group) < 2 or not self._is_form(group):
            return None
        readings = self._readings_by_row(group)
        if len(readings) < 2:
            return None
        (when_person, by_person), (when, by_item) = readings
        return Refused(
            f"{source}: each row may be a person who answered, or an item; its columns are: "
            f"{self.list_columns()}",
            f"{when_person}, leave out --wide: {by_person}; {when}: {by_item}",
        )

    def truths_alone(self, source: str) -> Refused | None:
        """Return the refusal of a table with columns of answers, if only its truths are read."""
        group = [] if self.mapped.wide else self.group
        cells = {cell for column in group for cell in column.distinct}
        if len(group) < 2 or not self.known["gold"].distinct <= cells:
            return None
        names = listed_names([column.name for column in group])
        ignored = "".join(f" --ignore {quote(column.name)}" for column in group)
        return Refused(
            f"{source} has truths, and {names} may be answers",
            f"{_list_readings(self._readings_of_group())}; for the truths alone:{ignored}",
        )

    def _is_form(self, group: Sequence[_Column]) -> bool:
        """Return whether rows may be people who answered questions, each in a column."""
        stems = {column.stem for column in group}
        if len(stems) > 1 or stems <= _NUMBERED_PEOPLE:
            return all(column.is_question for column in group)
        if self._find_person(group) is not None:
            return True
        item = self.known.get("item")
        if item is None:
            return not any(column.words & _TEXTS for column in self.free)
        times = "labeled_at" in self.known or any(column.is_time for column in self.columns)
        is_sure = folded_name(item.name) != "id" or _ROLE_OF_WORD.get(*stems) == "category"
        return times and not is_sure


def _is_shared(item: _Column, person: _Column) -> bool:
    """Return whether people answered the same items, each of them once."""
    rows = [row for row in zip(item.cells, person.cells, strict=True) if all(row)]
    if len({*rows}) < len(rows) or len(rows) < 0.95 * len(item.cells):
        return False
    people = Counter(key for key, _ in rows)
    names = len({name for _, name in rows})
    return sum(number > 1 for number in people.values()) > 1 and len(rows) >= 1.5 * names


def _are_counts(columns: Sequence[_Column]) -> bool:
    """Return whether the rows of these columns are full numbers with one sum."""
    rows = [*zip(*(column.cells for column in columns), strict=True)]
    if not all(cell.isdecimal() for row in rows for cell in row):
        return False
    sums = {sum(map(int, row)) for row in rows}
    return len(rows) > 1 and len(sums) == 1 and min(sums) > 1


def _narrowed(columns: Sequence[_Column]) -> _Column | None:
    """Return the shortest of columns that name the same things; None if they do not."""
    first = min(columns, key=lambda column: column.length, default=None)
    return first if first and all(map(first.determines, columns)) else None


def _map(role: str, column: _Column) -> str:
    return f"--map {quote(f'{role}={column.name}')}"


def _question_options(columns: Sequence[_Column]) -> str:
    names = [column.name.replace("=", " ").replace(":", " ") for column in columns]
    pairs = zip(names, columns, strict=True)
    return " ".join(f"--question {quote(f'{name}={column.name}')}" for name, column in pairs)


def checked_layout(
    layout: Layout,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    mapped: Mapped,
    source: str,
    ignore: Collection[str],
) -> Layout:
    """Return a layout with what else may be the item, if a column ``id`` was taken for it.

    Raises Refused if each row of a table in wide form may be a person, or an item.
    """
    answered = {"annotator", "category", "gold"} & layout.roles.keys()
    other_form = layout.wide or mapped.wide or mapped.items or mapped.by_question
    if mapped.wide or (answered == {"gold"} and not other_form):
        columns = FirstRows(header, rows, mapped, layout, ignore)
        if unclear := columns.unclear_form(source) or columns.truths_alone(source):
            raise unclear
    if layout.guessed_item and "annotator" in layout.roles:
        others = {role: place for role, place in layout.roles.items() if role != "item"}
        roles, _ = FirstRows(header, rows, mapped, replace(layout, roles=others)).find_roles()
        item = roles["item"].name if "item" in roles else ""
        return replace(layout, other_item=item)
    return layout


def with_proposal(error: MissingColumns | UnclearColumns, rows: FirstRows, source: str) -> Refused:
    """Return the refusal of a table with the options that read it, or else its first cells."""
    if unclear := rows.unclear_form(source):
        return unclear
    if not isinstance(error, MissingColumns):
        return error
    has_families = "{n}" in str(error.mend)  # which the refusal proposes already
    if not has_families and (readings := rows.find_readings(error.missing)):
        names = listed_names([column.name for column in rows.columns], error.missing)
        return Refused(f"{error.nothing}; its columns are: {names}", _list_readings(readings))
    roles, _ = rows.find_roles()
    maps = " ".join(_map(role, roles[role]) for role in error.missing if role in roles)
    mend = f"as the cells suggest: {maps}; {error.mend}" if maps else error.mend
    return Refused(f"{error.nothing}; its columns are: {rows.list_columns(error.missing)}", mend)


def row_as_header(
    number: int, rows: Mapping[int, Sequence[str]], mapped: Mapped, source: str
) -> Refused:
    """Return the refusal of a table whose header, in this row, looks like a row of answers."""
    names = [str(n) for n in range(1, len(rows[number]) + 1)]
    below = [cells for n, cells in rows.items() if n >= number]
    table = FirstRows(names, below, replace(mapped, wide=False))
    missing = ["item", *([] if mapped.signed else ["annotator"]), "category"]
    readings = [(when, f"--no-header {options}") for when, options in table.find_readings(missing)]
    roles = " ".join(f"--map {role}=N" for role in missing)
    columns = f"--no-header {roles}; its columns are: {table.list_columns()}"
    ways = f"; {_list_readings(readings)}" if readings else f", and which column is what: {columns}"
    cells = ", ".join(quote(cell.strip()[:_CUT]) for cell in rows[number][:_CELLS])
    return Refused(
        f"{source}, line {number}: {cells} looks like a row of answers, not a header",
        f"say that there is none{ways}",
    )


def _list_readings(readings: Sequence[Reading]) -> str:
    return "; ".join(f"{when}: {options}" for when, options in readings)
