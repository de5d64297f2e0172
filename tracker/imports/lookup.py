"""Ids of the names in files: looked up in bulk, and created for new names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from shlex import quote

import numpy as np
from sqlalchemy import Connection, func, insert, select

from tracker.core.errors import Refused
from tracker.formats.batch import SKIPPED_CELL, Batch, Cells, Flags, Numbers, with_decimal_point
from tracker.imports.structured_cells import advice_for_structure, listed_texts
from tracker.projects.annotators import project_aliases
from tracker.projects.categories import category_names
from tracker.projects.names import (
    LONGEST_NAME,
    category_unfit_for_scale,
    is_numeric_category_name,
    is_structured_name,
    near_names,
)
from tracker.projects.projects import ProjectInfo
from tracker.projects.questions import QuestionInfo, all_category_names
from tracker.storage.current import (
    annotator_kind_facts,
    annotators_with_facts,
    stored_category_merges,
)
from tracker.storage.schema import NONE_APPLIES, SKIPPED, Annotator, Category
from tracker.storage.schema.labels import of_question

BAD = -9
"""The number of a name that was refused; the reason is in ``reasons``."""

_WHOLE = re.compile(r"([+-]?\d+)\.0+")
_MOST_LEARNT = 10_000  # categories; a project that needs more can declare them


class Ids:
    """The ids of one kind of name in one project, by the text in files (``raw``)."""

    what = "name"

    def __init__(self, connection: Connection, project: ProjectInfo) -> None:
        self.connection = connection
        self.project = project
        self.known: dict[str, int] = {}
        self.reasons: dict[str, str] = {}

    def of(self, column: Cells, _batch: Batch) -> Numbers:
        """Return the id of each distinct text of a column, `BAD` if it was refused."""
        return np.array(self.of_texts(column.texts), np.int64)

    def of_texts(self, raws: Sequence[str]) -> list[int]:
        """Return the id of each raw name, `BAD` if it was refused."""
        known = self.known
        new = [raw for raw in raws if raw not in known]
        if new:
            self._learn(new)
        return [known[raw] for raw in raws]

    @property
    def met(self) -> set[int]:
        """The ids of the names that this import met."""
        return {number for number in self.known.values() if number > 0}

    def reason(self, raw: str) -> str:
        return self.reasons[raw]

    def _learn(self, new: Sequence[str]) -> None:
        """Find or create the ids of the raw names that were not met before."""
        named = {raw: self._name(raw.strip()) for raw in new}
        bad = {raw: reason for raw in new if (reason := self.find_objection(named[raw]))}
        good = dict.fromkeys(name for raw, name in named.items() if raw not in bad)
        numbers = self._numbers(good)
        self.known |= {raw: BAD if raw in bad else numbers[name] for raw, name in named.items()}
        self.reasons |= bad

    def _name(self, text: str) -> str:
        return text

    def find_objection(self, name: str) -> str | None:
        """Return why a text cannot be a name; None if it can."""
        if not name:
            return f"the {self.what} is empty"
        if len(name) > LONGEST_NAME // 4 and len(name.encode()) > LONGEST_NAME:
            return f"the {self.what}'s name is longer than {LONGEST_NAME} bytes"
        if "\0" in name:
            return f"the {self.what}'s name holds a NUL character"
        return None

    def _numbers(self, names: Iterable[str]) -> Mapping[str, int]:
        raise NotImplementedError


class CategoryIds(Ids):
    """Ids of categories: of the declared ones only, or of new ones too."""

    what = "category"

    def __init__(
        self,
        connection: Connection,
        question: QuestionInfo,
        values: Mapping[str, str] | None = None,
        *,
        several: bool = False,
        made: bool = False,
    ) -> None:
        """``values`` are what cells stand for that have other texts than categories.

        ``several`` says that the project asks other questions, too, and ``made`` that this import
        made the question.
        """
        super().__init__(connection, question.project)
        self.hold(question)
        self.values = values or {}
        self.several = several
        self.made = made
        self.told: dict[str, str] = {}  # what cells of other texts were read as
        self.odd: set[str] = set()  # words among numbers that have an order
        self.names = all_category_names(connection, question.key)
        current = category_names(connection, question)
        self.declared = list(current.values())
        self.before = {*current}  # the ids of those that there were before this import
        self.decimal_comma = False  # whether numbers of the batch at hand may have a comma
        self.sides_first = False  # whether a side goes before the name of one of two
        self.both_ways: Counter[tuple[str, str]] = Counter()  # cells: text, "name" or "side"
        self.joins_twins = False  # whether 1 and 1.0 of the batch at hand are one category
        self.twins_read: dict[str, str] = {}  # categories by cells that are spelt otherwise
        self.binary = False  # whether all numbers among the categories are 0 and 1
        self._twins: dict[str, str] = {}  # categories by the number that they are
        self.ordered = question.categories_fixed or current.ordered
        # The categories of a numeric scale by number; of several spellings, the first.
        ranked = question.scale == "ordinal" and all(map(is_numeric_category_name, self.declared))
        numeric = ranked or question.scale in {"interval", "ratio"}
        self.spelt = {_number(name): name for name in reversed(self.declared) if numeric}
        merged = stored_category_merges(connection, question.key)
        self.merged = {name for name, number in self.names.items() if number in merged}
        highest = select(func.max(Category.id)).where(of_question(Category, question.key))
        self.next = (connection.scalar(highest) or 0) + 1

    def begin_batch(self, batch: Batch, accept: Collection[str]) -> None:
        """Read the cells of a batch as it writes them; ``accept`` are kinds of oddities."""
        self.decimal_comma = batch.decimal_comma
        self.joins_twins = batch.is_table and "decimal_twins" not in accept
        self.sides_first = "sides" in accept

    def hold(self, question: QuestionInfo) -> None:
        """Take other settings of the question; an empty cell may stand for another category."""
        self.question = question
        # The reserved category that an empty cell stands for.
        self.empty = SKIPPED if question.answers == "one" else NONE_APPLIES
        self.known = {raw: self.empty if n < 1 and n != BAD else n for raw, n in self.known.items()}
        self.known[SKIPPED_CELL] = SKIPPED

    def _learn(self, new: Sequence[str]) -> None:
        names = dict.fromkeys(self._name(raw.strip()) for raw in new if raw.strip())
        every = {*self.declared, *self.spelt.values(), *names}
        words = {name for name in every if not is_numeric_category_name(name)}
        ranked = self.question.scale == "ordinal" and not self.ordered
        self.odd = words if ranked and 2 * len(words) < len(every) else set()
        if self.joins_twins:
            self.binary = {*map(_number, every - words)} <= {0.0, 1.0} and every > words
            self._twins = {}
            whole_first = sorted(names, key=lambda name: self._twin_key(name) != name)
            for name in (*self.declared, *self.names, *whole_first):
                self._twins.setdefault(self._twin_key(name), name)
        super()._learn(new)

    def _name(self, text: str) -> str:
        name = self.values.get(text, text)
        if name[:1] == "[" and self.question.answers == "one" and name not in self.names:
            listed = listed_texts(name) or ()
            name = listed[0] if len(listed) == 1 else name
        if self.decimal_comma and self.question.scale in {"interval", "ratio"}:
            return with_decimal_point(name)
        return name

    def find_objection(self, name: str) -> str | None:
        objection = super().find_objection(name) if name else None
        if not name or objection is not None:
            return objection
        same = self.spelt.get(_number(name)) or self._twins.get(self._twin_key(name), name)
        if self.question.categories_fixed and same not in self.declared and name not in self.merged:
            advice = near_names(name, self.declared) or f"they are {', '.join(self.declared[:8])}"
            if self.question.preference and is_numeric_category_name(name):
                advice += f"; say what the number stands for: --value={name}=CATEGORY"
            return f"{name!r} is none of the project's categories; {advice}"
        if name in self.odd and name not in self.declared:
            return f"{name!r} is not a number, as the other categories of the ordinal scale are"
        if name not in self.names and is_structured_name(name):
            advice = advice_for_structure(name, self.question.answers)
            return f"the category {name!r} is a list or an object, not a category; {advice}"
        unfit = category_unfit_for_scale(self.question.scale, name)
        return None if unfit is None else f"{name!r} {unfit}"

    def _check_order(self, new: Iterable[str]) -> None:
        """Refuse categories of an ordinal scale that are not numbers and have no order."""
        unplaced = [name for name in new if not is_numeric_category_name(name)]
        if self.question.scale == "ordinal" and unplaced and not self.ordered:
            project, question = self.project.name, self.question.name
            which, with_import = project, "--categories low,middle,high"
            before = f"project set {quote(project)}"
            if self.several:
                which, with_import = question, quote(f"{question}=COLUMN:low<middle<high")
                with_import = f"--question {with_import}"
                before = f"question set {quote(project)} {quote(question)}"
            raise Refused(
                f"the categories of the ordinal {which!r} need an order, "
                f"and {unplaced[0]!r} is neither a number nor in one",
                f"say it with the import: {with_import}"
                if self.made
                else f"say it before: tracker {before} --categories low,middle,high",
            )

    def _same(self, name: str) -> str:
        """Return the name of the category; on a numeric scale, its first spelling."""
        number = _number(name)
        if name in self.declared or name in self.merged:
            return name
        numeric = bool(self.spelt) or self.question.scale in {"interval", "ratio"}
        numeric = numeric or (self.question.scale == "ordinal" and not self.declared)
        if numeric and number is not None:
            return self.spelt.setdefault(number, name)
        twin = self._twins.get(self._twin_key(name), name) if self.joins_twins else name
        if twin != name:
            self.twins_read[name] = twin
        return twin

    def _twin_key(self, name: str) -> str:
        """Return the whole number that a category is however it is spelled, or its name."""
        if self.binary and name.casefold() in {"true", "false"}:
            return "1" if name.casefold() == "true" else "0"
        return match[1] if (match := _WHOLE.fullmatch(name)) else name

    def _numbers(self, names: Iterable[str]) -> Mapping[str, int]:
        same = {name: self._same(name) for name in names}
        new = [name for name in dict.fromkeys(same.values()) if name and name not in self.names]
        self._check_order(new)
        if len(self.names) + len(new) >= _MOST_LEARNT:
            many = f"there are {len(self.names) + len(new):,} different categories or more"
            mend = "is that the right column? --map category=COLUMN; or declare them: --categories"
            raise Refused(many, mend)
        self.names |= {name: self.next + n for n, name in enumerate(new)}
        self.next += len(new)
        if new:
            key = self.question.key._asdict()
            rows = [key | {"id": self.names[name], "name": name} for name in new]
            self.connection.execute(insert(Category), rows)
        return {name: self.names.get(spelling, self.empty) for name, spelling in same.items()}


def _number(name: str) -> float | None:
    return float(name) if is_numeric_category_name(name) else None


class AnnotatorIds(Ids):
    """Ids of the names under which answers were given; `canonical` maps them to annotators."""

    what = "annotator"

    def __init__(self, connection: Connection, project: ProjectInfo) -> None:
        super().__init__(connection, project)
        columns = select(Annotator.id, Annotator.name, Annotator.kind)
        rows = connection.execute(columns.where(Annotator.project_id == project.id)).all()
        self.names = {row.name: row.id for row in rows}
        # Of one who came with an undone import alone nobody says of which kind they are.
        self.stated = annotator_kind_facts(connection, project.id)
        self.before = annotators_with_facts(connection, project.id) | self.stated.keys()
        self.kinds = {row.name: row.kind for row in rows if row.id in self.before}
        self.kinds_given: dict[int, str] = {}  # by this import
        self.aliases = project_aliases(connection, project.id)
        self.next = max(self.names.values(), default=0) + 1

    def are_new(self, numbers: Numbers) -> Flags:
        return ~np.isin(numbers, [*self.before])

    def name_of(self, number: int) -> str:
        return next(str(name) for name, known in self.names.items() if known == number)

    def canonical(self, given: Numbers) -> Numbers:
        owners = given.copy()
        for alias, owner in self.aliases.items():
            owners[given == alias] = owner
        return owners

    def reference(self, name: str) -> int:
        """Return the id of the reference annotator of that name, created if there is none.

        Raises Refused if an annotator of that name is not a reference.
        """
        if self.kinds.get(name, "reference") != "reference":
            raise Refused(
                f"there is a gold column, and {name!r} is an annotator of kind {self.kinds[name]}",
                f"run: tracker annotator kind {quote(name)} reference "
                f"-p {quote(self.project.name)}",
            )
        if name not in self.names:
            self._make([name], "reference")
        number = int(self.names[name])
        self.kinds_given[number] = "reference"
        return number

    def _make(self, names: Sequence[str], kind: str) -> None:
        self.names |= {name: self.next + n for n, name in enumerate(names)}
        self.kinds |= dict.fromkeys(names, kind)
        self.next += len(names)
        key = {"project_id": self.project.id, "kind": kind}
        rows = [key | {"id": self.names[name], "name": name} for name in names]
        self.connection.execute(insert(Annotator), rows)

    def _numbers(self, names: Iterable[str]) -> Mapping[str, int]:
        new = [name for name in names if name not in self.names]
        if new:
            self._make(new, "human")
        return {name: self.names[name] for name in names}
