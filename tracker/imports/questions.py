"""The questions that an import answers, and the rows or columns that answer each."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import NamedTuple

import numpy as np
from sqlalchemy import Connection

from tracker.core.errors import InvalidOption, NotFound, Refused
from tracker.formats.batch import OF_QUESTION, Cells, Faults, Numbers
from tracker.formats.column_roles import AskedQuestion
from tracker.imports.lookup import CategoryIds
from tracker.imports.values import Values, values_for_import
from tracker.projects.names import near_names
from tracker.projects.projects import (
    ProjectExists,
    ProjectInfo,
    check_labels_here,
    find_project,
    lock_project,
)
from tracker.projects.questions import (
    ONLY_QUESTION,
    MadeQuestion,
    QuestionInfo,
    QuestionOptions,
    list_questions,
    make_question,
    name_question,
    set_made_question,
    start_project,
    vacant_questions,
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
        return self.categories.question

    def cells(self, columns: Mapping[str, Cells], role: str) -> Cells:
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
        that name another question than those asked are rejected. Raises Refused if the project's
        labels lie in files.
        """
        self.connection = connection
        self.project: ProjectInfo = questions[0].project
        check_labels_here(self.project)
        self.known = {question.name: question for question in questions}
        self.asked = [question.name for question in asked if not question.column]
        self.made_with = made_with
        self.only_asked = only_asked
        self.warnings: Sequence[str] = ()  # about the questions made
        self.unnamed = made_with is not None and not self.asked  # the first one, of a new project
        self.values = Values()
        self.separator: str | None = None
        self.answered: dict[str, CategoryIds] = {}
        self._declared: dict[str, QuestionOptions] = {}
        self._stands_for: dict[str, str] = {}  # a file's name for a question: the project's
        names = {question.name for question, _ in made}
        self._kindless = {
            question.name: question.options
            for question in asked
            if not question.options.answers and question.name in names
        }
        self._made = {*self._kindless}  # those that may yet hold several categories
        self._columns = {question.name: question.column for question in asked if question.column}
        self.change: int | None = None  # the import's, once it is recorded
        self._orders = {question.id: order for question, order in made}

    @property
    def several(self) -> bool:
        return len(self.known) > 1

    @property
    def have_spans_of_text(self) -> bool:
        """Whether answers mark characters of an item's text, whose length is the document's."""
        return {q.offsets for q in self.known.values() if q.answers == "spans"} == {"characters"}

    @property
    def pairs(self) -> bool:
        """Whether a question that is answered says which of two is better."""
        return any(self.known[name].preference for name in self.asked or self.known)

    @property
    def told(self) -> dict[str, str]:
        """What the cells of preferences were read as that have other texts than categories."""
        return {text: name for ids in self.answered.values() for text, name in ids.told.items()}

    @property
    def facts(self) -> dict[str, str]:
        """The same for the import's record."""
        texts = [f"{text} = {name}" for text, name in self.told.items()]
        return {"preferences": ", ".join(texts)} if texts else {}

    @property
    def by_cell(self) -> bool:
        """Whether a column named question is taken for it: not if the only one has no name."""
        return bool(self.made_with or self.asked or {*self.known} != {ONLY_QUESTION})

    @property
    def answers(self) -> str:
        kinds = {question.answers for question in self.known.values()}
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
        for name_in_file, options in asked.items():
            name = name_in_file.strip()
            if self._declared.get(name) == options:
                continue
            question = self._declare(name, options, source)
            self._declared[name] = options
            answers, has = options.answers or question.answers, question.answers
            if "spans" in {answers, has} and options.offsets not in {None, question.offsets}:
                raise Refused(
                    f"{source} counts its spans in {options.offsets}, and {question.name!r} "
                    f"in {question.offsets}",
                    f"{self._elsewhere(name, answers)} --offsets {options.offsets}",
                )
            if answers == has or (answers, has) == ("one", "several"):
                continue
            if name not in self._made or (answers, has) != ("several", "one"):
                raise Refused(
                    f"{source} answers {name!r} with {_OF_ANSWERS[answers]}, and "
                    f"{question.name!r} is a question of {_OF_ANSWERS[has]}",
                    self._elsewhere(name, answers),
                )
            widened = self._set(question, QuestionOptions(answers=answers))
            if question.name in self.answered:
                self.answered[question.name].hold(widened)
                changed.append(widened)
        return changed

    def _set(self, question: QuestionInfo, *options: QuestionOptions) -> QuestionInfo:
        """Set a question that the import made as the first options say that say something."""
        answers, scale, offsets = (
            next(filter(None, (getattr(each, name) for each in options)), getattr(question, has))
            for name, has in (("answers", "asks"), ("scale", "scale"), ("offsets", "offsets"))
        )
        question = set_made_question(self.connection, question, answers, scale, offsets)
        self.known[question.name] = question
        return question

    def _declare(self, name: str, options: QuestionOptions, source: str) -> QuestionInfo:
        """Return the project's question for one of a file, made if it may be."""
        if name in self.known and not self.unnamed:
            asked = self._kindless.pop(name, None)
            if asked is None or name in self.answered:
                return self.known[name]
            return self._set(self.known[name], asked, options)  # as answers of the file are
        if self.made_with is not None:
            fixed = {key: value for key, value in vars(self.made_with).items() if value is not None}
            question = self._find(name, replace(options, **fixed))
            assert question is not None
            self._made |= {name} if self.made_with.answers is None else set()
            return question
        if len(self.known) > 1 or self._declared:
            raise Refused(f"{source} answers {name!r}; {self._unknown(name)}", self._advice(name))
        only = next(iter(self.known))
        self._stands_for[name] = only
        return self.known[only]

    def split(
        self, columns: Mapping[str, Cells], bad: Faults, source: str, role: str = "category"
    ) -> list[Share]:
        """Return the question or questions that a batch answers, with the records of each.

        The reasons for records of no known question are added to ``bad``. Raises Refused if the
        source does not say which question it answers.
        """
        wide = [column for column in columns if column.startswith(OF_QUESTION)]
        if wide and role == "category":
            return [Share(self._of_column(column, source), None, column) for column in wide]
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
        if question.name not in self.answered:
            self._use(question.key)
            self.answered[question.name] = CategoryIds(
                self.connection,
                question,
                self.values.of(question.name),
                several=self.several,
                made=question.id in self._orders,
            )
        return self.answered[question.name]

    def close(self, change: int) -> None:
        """Record the use of the questions that were made and not answered, with the import."""
        self.change = change
        used = {ids.question.id for ids in self.answered.values()}
        for number in sorted(self._orders.keys() - used):
            self._use(QuestionKey(self.project.id, number))

    def _use(self, question: QuestionKey) -> None:
        """Record that the import uses a question or, if it made it, that it did, and the order."""
        assert self.change is not None, "a use is of a change"
        order = self._orders.get(question.question_id)
        record_question_use(self.connection, question, self.change, made=order is not None)
        if order is not None:
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

    def _of_column(self, column: str, source: str) -> CategoryIds:
        name = column.removeprefix(OF_QUESTION)
        question = self._find(name)
        if question is None:
            unknown = f"{source} has a column for {name!r}; {self._unknown(name)}"
            raise Refused(unknown, self._advice(name))
        return self._ids(question)

    def _by_cell(self, cells: Cells, bad: Faults, role: str) -> Iterator[Share]:
        places: dict[str, list[int]] = {}
        for code, text in enumerate(cells.texts):
            name = text.strip()
            if not name:
                reason = "the question is empty"
            elif self.only_asked and name not in self.asked:
                reason = (
                    f"the row answers {name!r}, not {' or '.join(map(repr, self.asked))}; leave "
                    "out --question or, if the column means something else, say --map question="
                )
            elif (question := self._find(name)) is None:
                reason = f"{self._unknown(name)}; {self._advice(name)}"
            else:
                places.setdefault(question.name, []).append(code)
                continue
            for n in np.flatnonzero(cells.codes == code).tolist():
                bad.add(n, reason, "question")
        for name, codes in places.items():
            records = np.flatnonzero(np.isin(cells.codes, codes))
            yield Share(self._ids(self.known[name]), records, role)

    def _find(self, name: str, options: QuestionOptions | None = None) -> QuestionInfo | None:
        name = self._stands_for.get(name, name)
        if self.made_with is not None and (self.unnamed or name not in self.known):
            options = options or self.made_with
            if len(self.known) >= _MOST_LEARNT:
                way = "is that the right column? --map question=COLUMN, or --map question= for none"
                raise Refused(f"there are {_MOST_LEARNT} different questions or more", way)
            if self.unnamed:
                first = self.known.pop(ONLY_QUESTION)
                self._set(name_question(self.connection, first, name), options)
            else:
                question, order = make_question(
                    self.connection, self.project, name, options, self._orders
                )
                self._orders[question.id] = order
                self.known[name] = question
        self.unnamed = self.unnamed and name not in self.known
        return self.known.get(name)

    def _elsewhere(self, name: str, answers: str) -> str:
        """Return how to import what answers a question into another one."""
        option = f"--question {quote(f'NAME={self._columns.get(name, name)}:{answers}')}"
        return f"import it into a project of its own, or another question: {option}"

    def _unknown(self, name: str) -> str:
        return f"{self.project.name!r} has no question {name!r}"

    def _advice(self, name: str) -> str:
        near = near_names(name, self.known) or f"it has: {', '.join(list(self.known)[:8])}"
        add = f"tracker question add {quote(self.project.name)} {quote(name)}"
        return f"{near}; to add it: {add}"


def question_numbers_of(questions: Collection[QuestionInfo], answers: str) -> set[int]:
    return {question.id for question in questions if question.answers == answers}


_SETTINGS = {"answers": "asks", "scale": "scale", "offsets": "offsets",
             "wanted": "target_answers"}  # fmt: skip


def questions_for_import(
    connection: Connection,
    name: str,
    options: QuestionOptions,
    asked: Sequence[AskedQuestion] = (),
    *,
    create: bool = True,
    by_row: bool = False,
) -> ImportQuestions:
    """Return the questions to import into; the project, and those asked, are made if missing.

    ``by_row``: the user names the question's column, and a new project gets its questions, too.

    Raises InvalidOption if one is not as its options say.
    """
    only = (AskedQuestion(ONLY_QUESTION, "", options),)
    started = _start(connection, name, (asked or only)[0]) if create else None
    additions, before = [started] if started else [], list[QuestionInfo]()
    project = started.question.project if started else find_project(connection, name)
    if started is None:
        lock_project(connection, project.id)  # no other import changes them until this one ends
        vacant = {question.id for question in vacant_questions(connection, project)}
        questions = list_questions(connection, project)
        before = [question for question in questions if question.id not in vacant]
    known = {question.name: question for question in before or [made[0] for made in additions]}
    for by_user in asked or (() if before else only):
        if by_user.name not in known:
            numbers = [question.id for question, _ in additions]
            made = make_question(connection, project, by_user.name, by_user.options, numbers)
            additions.append(made)
            known[by_user.name] = made.question
        elif started is None:
            _check_as_asked(known[by_user.name], by_user.options, len(known) > 1)
    for question in () if asked else before:
        _check_as_asked(question, options, len(known) > 1)
    made_with = None if before or (asked and not by_row) else options
    only_asked = any(not question.column for question in asked) and not by_row
    every = [*known.values()]
    into = ImportQuestions(connection, every, asked, made_with, additions, only_asked=only_asked)
    names = [question.name for question in before]
    into.warnings = [
        f"the question {question.name!r} is new; {near}"
        for question, _ in additions
        if (near := near_names(question.name, names, cutoff=0.8))
    ]
    return into


def _start(connection: Connection, name: str, first: AskedQuestion) -> MadeQuestion | None:
    """Return the first question of the project if there was none of that name until now."""
    try:
        find_project(connection, name)
    except NotFound:
        with suppress(ProjectExists):  # made since we looked, by another program
            return start_project(connection, name, first.options, first.name)
    return None


def _check_as_asked(question: QuestionInfo, options: QuestionOptions, several: bool) -> None:
    name = quote(question.project.name)
    subject = f"the question {question.name!r}" if several else repr(question.project.name)
    where = f"question set {name} {quote(question.name)}" if several else f"project set {name}"
    for option, setting in _SETTINGS.items():
        value, has = getattr(options, option), getattr(question, setting)
        if value is not None and value != has:
            mend = "name another question"
            if option in {"scale", "wanted"}:
                mend = f"change it: tracker {where} --{option} {value}"
            subject = f"{subject} has --{option} {has or 'not set'}, not {value}"
            raise InvalidOption(subject, f"leave the option out, or {mend}")
