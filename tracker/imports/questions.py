"""The questions that an import answers: which rows, or which columns, are of which."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import NamedTuple

import numpy as np
from sqlalchemy import Connection

from tracker.core.errors import InvalidOption, Refused
from tracker.formats.batch import Cells, Numbers
from tracker.formats.question_columns import OF_QUESTION, AskedQuestion
from tracker.imports.lookup import CategoryIds
from tracker.imports.values import Values, values_for_import
from tracker.projects.names import near_names
from tracker.projects.projects import ProjectInfo
from tracker.projects.questions import (
    ONLY_QUESTION,
    MadeQuestion,
    QuestionInfo,
    QuestionOptions,
    make_question,
    name_question,
    set_made_question,
)
from tracker.storage.current import record_category_facts, record_question_use
from tracker.storage.schema.labels import QuestionKey

_MOST_LEARNT = 200
"""Questions of a project that a file may make."""

_OF_ANSWERS = {"one": "one category", "several": "several categories", "spans": "spans"}


class Share(NamedTuple):
    """The records of a batch that answer one question (None: all), and the role of their cells."""

    categories: CategoryIds
    records: Numbers | None
    role: str

    @property
    def question(self) -> QuestionInfo:
        """The question."""
        return self.categories.question

    def cells(self, columns: Mapping[str, Cells], role: str) -> Cells:
        """Return the cells of a column that belong to the records."""
        return columns[role] if self.records is None else columns[role].take(self.records)


class ImportQuestions:
    """The questions of a project by name, and those among them that an import answers.

    Those that the user names hold for a file that does not say itself. In a project that the
    import makes, and of whose questions the user names none, those of the file are made.
    """

    def __init__(
        self,
        connection: Connection,
        questions: Sequence[QuestionInfo],
        asked: Sequence[AskedQuestion] = (),
        made_with: QuestionOptions | None = None,
        made: Sequence[MadeQuestion] = (),
        *,
        only_asked: bool = False,
    ) -> None:
        """``made_with`` are the options for questions that a file may make; None for no such.

        Those ``made`` already are the import's, too; one that was ``asked`` without a kind of
        answer is answered as the first file says that answers it. With ``only_asked``, rows
        that name another question than those asked are rejected.
        """
        self.connection = connection
        self.project: ProjectInfo = questions[0].project
        self.known = {question.name: question for question in questions}
        self.asked = [one.name for one in asked if not one.column]
        self.made_with = made_with
        self.only_asked = only_asked
        self.warnings: Sequence[str] = ()  # about the questions made
        self.unnamed = made_with is not None and not self.asked  # the first one, of a new project
        self.values = Values()
        self.separator: str | None = None
        self.answered: dict[str, CategoryIds] = {}
        self._declared: dict[str, QuestionOptions] = {}
        self._stands_for: dict[str, str] = {}  # a file's name for a question: the project's
        ours = {one.question.name for one in made}
        self._kindless = {
            one.name: one.options for one in asked if not one.options.answers and one.name in ours
        }
        self._made = {*self._kindless}  # those that may yet hold several categories
        self._columns = {one.name: one.column for one in asked if one.column}
        self.change: int | None = None  # the import's, once it is recorded
        self._orders = {one.question.id: one.order for one in made}
        self._unused = set(self._orders)  # of those made

    @property
    def several(self) -> bool:
        """Whether the project asks more than one question."""
        return len(self.known) > 1

    @property
    def by_cell(self) -> bool:
        """Whether a column named question is taken for it: not if the only one has no name."""
        return bool(self.made_with or self.asked or {*self.known} != {ONLY_QUESTION})

    @property
    def answers(self) -> str:
        """What an answer may be, as a reader needs to know it."""
        kinds = {one.answers for one in self.known.values()}
        return "several" if "several" in kinds else min(kinds)

    def read_as(
        self, separator: str | None, values: Sequence[str], file: str | Path | None
    ) -> None:
        """Set what is between several categories of a cell, and what cells stand for.

        Raises InvalidOption, and Refused for a file that cannot be read.
        """
        if separator is not None and (not separator or self.answers != "several"):
            raise InvalidOption(
                f"--separator {separator!r} is for questions of several categories an answer",
                "such as: --answers several --separator '|'",
            )
        self.separator = separator
        self.values = values_for_import(values, file, self.known)

    def unmet_values(self) -> Iterator[str]:
        """Yield a sentence for each value that the user named and no cell had."""
        return self.values.unmet(
            {name: {*map(str.strip, ids.known)} for name, ids in self.answered.items()}
        )

    def declare(self, asked: Mapping[str, QuestionOptions], source: str) -> list[QuestionInfo]:
        """Take what a file says of its questions, and return those that now hold several.

        A question that this import made holds several categories an answer as soon as one answer
        has several. The only question of a project may have another name than in the file. Raises
        Refused for a question that the project does not have, or that is answered otherwise.
        """
        changed = []
        for given, options in asked.items():
            name = given.strip()
            if self._declared.get(name) == options:
                continue
            question = self._declare(name, options, source)
            self._declared[name] = options
            wanted, has = options.answers or question.answers, question.answers
            if "spans" in {wanted, has} and options.offsets not in {None, question.offsets}:
                raise Refused(
                    f"{source} counts its spans in {options.offsets}, and {question.name!r} "
                    f"in {question.offsets}",
                    f"import it into a project of its own, or another question: "
                    f"{self._another(name, wanted)} --offsets {options.offsets}",
                )
            if wanted == has or (wanted, has) == ("one", "several"):
                continue
            if name not in self._made or (wanted, has) != ("several", "one"):
                raise Refused(
                    f"{source} answers {name!r} with {_OF_ANSWERS[wanted]}, and "
                    f"{question.name!r} is a question of {_OF_ANSWERS[has]}",
                    f"import it into a project of its own, or another question: "
                    f"{self._another(name, wanted)}",
                )
            widened = set_made_question(
                self.connection, question, wanted, question.scale, question.offsets
            )
            self.known[question.name] = widened
            if question.name in self.answered:
                self.answered[question.name].hold(widened)
                changed.append(widened)
        return changed

    def _declare(self, name: str, options: QuestionOptions, source: str) -> QuestionInfo:
        """Return the project's question for one of a file, made if it may be."""
        if name in self.known and not self.unnamed:
            return self._as_in_file(self.known[name], options)
        if self.made_with is not None:
            given = {k: v for k, v in vars(self.made_with).items() if v is not None}
            made = self._find(name, replace(options, **given))
            assert made is not None
            self._made |= {name} if self.made_with.answers is None else set()
            return made
        if len(self.known) > 1 or self._declared:
            raise Refused(f"{source} answers {name!r}; {self._unknown(name)}", self._advice(name))
        only = next(iter(self.known))
        self._stands_for[name] = only
        return self.known[only]

    def _as_in_file(self, question: QuestionInfo, options: QuestionOptions) -> QuestionInfo:
        """Return a question; one that the user named without a kind gets that of the file."""
        asked = self._kindless.pop(question.name, None)
        if asked is None or question.name in self.answered:
            return question
        made = set_made_question(
            self.connection,
            question,
            options.answers or question.answers,
            asked.scale or options.scale or question.scale,
            asked.offsets or options.offsets or question.offsets,
        )
        self.known[question.name] = made
        return made

    def split(
        self, columns: Mapping[str, Cells], bad: dict[int, str], source: str, role: str = "category"
    ) -> list[Share]:
        """Return the question or questions that a batch answers, with the records of each.

        The reasons for records of no known question are added to ``bad``. Raises Refused if the
        source does not say which question it answers.
        """
        wide = [column for column in columns if column.startswith(OF_QUESTION)]
        if wide and role == "category":
            found = ((one, one.removeprefix(OF_QUESTION)) for one in wide)
            return [Share(self._of_column(name, source), None, one) for one, name in found]
        if wide:
            raise Refused(
                f"{source} has one {role} column for several questions",
                f"give the truths as rows of an annotator whose kind is reference, with the same "
                f"columns, and leave this one out: --map {role}=",
            )
        if "question" in columns:
            return list(self._by_cell(columns["question"], bad, role))
        return [Share(self._ids(self._only(source)), None, role)]

    def _ids(self, question: QuestionInfo) -> CategoryIds:
        found = self.answered.get(question.name)
        if found is None:
            self._use(question.key)
            values = self.values.of(question.name)
            made = question.id in self._orders
            found = CategoryIds(self.connection, question, values, several=self.several, made=made)
            self.answered[question.name] = found
        return found

    def close(self, change: int) -> None:
        """Record the use of the questions that were made and not answered, with the import."""
        self.change = change
        for number in sorted(self._unused):
            self._use(QuestionKey(self.project.id, number))

    def _use(self, question: QuestionKey) -> None:
        """Record that the import uses a question or, if it made it, that it did, and the order."""
        assert self.change is not None, "a use is of a change"
        number = question.question_id
        made = number in self._orders
        record_question_use(self.connection, question, self.change, made=made)
        if made:
            self._unused.discard(number)
            order = self._orders[number]
            record_category_facts(self.connection, question, self.change, order=order)

    def _only(self, source: str) -> QuestionInfo:
        names = list(self.asked or self.known)
        if len(names) == 1:
            self.unnamed = False
            return self.known[names[0]]
        raise Refused(
            f"{self.project.name!r} asks {len(self.known)} questions, and {source} does not say "
            "which it answers",
            "say it: --map question=COLUMN, --question NAME, or --question NAME=COLUMN; they are: "
            + ", ".join(names),
        )

    def _of_column(self, name: str, source: str) -> CategoryIds:
        question = self._find(name)
        if question is None:
            raise Refused(
                f"{source} has a column for {name!r}; {self._unknown(name)}", self._advice(name)
            )
        return self._ids(question)

    def _by_cell(self, cells: Cells, bad: dict[int, str], role: str) -> Iterator[Share]:
        places: dict[str, list[int]] = {}
        for code, text in enumerate(cells.texts):
            name = text.strip()
            strange = self.only_asked and name not in self.asked
            question = self._find(name) if name and not strange else None
            if question is not None:
                places.setdefault(question.name, []).append(code)
                continue
            reason = f"{self._unknown(name)}; {self._advice(name)}" if name else ""
            if name and strange:
                reason = (
                    f"the row answers {name!r}, not {' or '.join(map(repr, self.asked))}; leave "
                    "out --question or, if the column means something else, say --map question="
                )
            for n in np.flatnonzero(cells.codes == code).tolist():
                bad.setdefault(n, reason or "the question is empty")
        for name, codes in places.items():
            records = np.flatnonzero(np.isin(cells.codes, codes))
            yield Share(self._ids(self.known[name]), records, role)

    def _find(self, name: str, options: QuestionOptions | None = None) -> QuestionInfo | None:
        """Return the question of that name, made if it may be; None if there is none."""
        name = self._stands_for.get(name, name)
        if self.made_with is not None and (self.unnamed or name not in self.known):
            options = options or self.made_with
            if len(self.known) >= _MOST_LEARNT:
                raise Refused(
                    f"there are {_MOST_LEARNT} different questions or more",
                    "is that the right column? --map question=COLUMN, or --map question= for none",
                )
            if self.unnamed:
                first = self.known.pop(ONLY_QUESTION)
                made = name_question(self.connection, first, name)
                made = set_made_question(
                    self.connection,
                    made,
                    options.answers or made.answers,
                    options.scale or made.scale,
                    options.offsets or made.offsets,
                )
            else:
                taken = self._orders
                made, order = make_question(self.connection, self.project, name, options, taken)
                self._orders[made.id] = order
                self._unused.add(made.id)
            self.known[name] = made
        self.unnamed = self.unnamed and name not in self.known
        return self.known.get(name)

    def _another(self, name: str, answers: str) -> str:
        """Return the option that imports what answers a question into another one."""
        return f"--question {quote(f'NAME={self._columns.get(name, name)}:{answers}')}"

    def _unknown(self, name: str) -> str:
        return f"{self.project.name!r} has no question {name!r}"

    def _advice(self, name: str) -> str:
        near = near_names(name, self.known) or f"it has: {', '.join(list(self.known)[:8])}"
        add = f"tracker question add {quote(self.project.name)} {quote(name)}"
        return f"{near}; to add it: {add}"


def question_numbers_of(questions: Collection[QuestionInfo], answers: str) -> set[int]:
    """Return the numbers of those questions whose answers are of one kind."""
    return {question.id for question in questions if question.answers == answers}
