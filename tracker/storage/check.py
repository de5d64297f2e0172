"""What is wrong with a ledger: damage, missing parts, rows against the rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, ForeignKeyConstraint, Select, func, inspect, literal, select
from sqlalchemy.exc import DBAPIError

from tracker.storage import backends
from tracker.storage.backends import Backend
from tracker.storage.schema import (
    Alias,
    Annotator,
    Base,
    Category,
    FlagChange,
    FlagRow,
    FlagSighting,
    ItemAlias,
    Label,
    PastLabel,
    Question,
)
from tracker.storage.schema.labels import ANSWER, same_answer_key
from tracker.storage.views import VIEWS

_labels = Label.__table__
_past = PastLabel.__table__
_ANSWER = ("project_id", *ANSWER)


def database_problems(connection: Connection) -> list[str]:
    """Return what is wrong, a sentence each."""
    problems = backends.backend_of(connection).integrity_errors(connection) + _misfits(connection)
    try:
        return problems + _broken_rules(connection)
    except DBAPIError:
        if not problems:
            raise
        return [*problems, "the ledger's own rules cannot be checked before this is repaired"]


def _misfits(connection: Connection) -> list[str]:
    """Return how tables, views and triggers differ from the program's, a sentence each."""
    problems, inspector, backend = [], inspect(connection), backends.backend_of(connection)
    tables = set(inspector.get_table_names())
    for table in sorted(Base.metadata.tables.values(), key=lambda table: table.name):
        if table.name not in tables:
            problems.append(f"the table {table.name} is missing")
            continue
        columns = {column["name"] for column in inspector.get_columns(table.name)}
        missing = [column.name for column in table.columns if column.name not in columns]
        problems += [f"the column {table.name}.{name} is missing" for name in missing]
        # SQLite forgets the name of a key that it counts up by itself; its column is there.
        constraints = {
            str(constraint.name)
            for constraint in table.constraints - {table.primary_key}
            if not isinstance(constraint, ForeignKeyConstraint) or backend.is_declared(constraint)
        }
        reflected = (
            *inspector.get_foreign_keys(table.name),
            *inspector.get_unique_constraints(table.name),
            *inspector.get_check_constraints(table.name),
        )
        missing = sorted(constraints - {str(constraint["name"]) for constraint in reflected})
        problems += [f"the constraint {name} of {table.name} is missing" for name in missing]
        indexes = {index["name"] for index in inspector.get_indexes(table.name)}
        missing = sorted({str(index.name) for index in table.indexes} - indexes)
        problems += [f"the index {name} is missing" for name in missing]
    views = inspector.get_view_names()
    problems += [f"the view {name} is missing" for name in VIEWS if name not in views]
    stored = backend.stored_triggers(connection)
    for name, trigger in sorted(backend.triggers().items()):
        if name not in stored:
            problems.append(f"the trigger {name} is missing")
        elif stored[name] != trigger:
            problems.append(f"the trigger {name} is not as this program made it")
    return problems


def _broken_rules(connection: Connection) -> list[str]:
    """Return the rules that rows break, a sentence each."""
    problems = []
    for sentence, rows in (*_rules(), *_undeclared_references(backends.backend_of(connection))):
        number = connection.scalar(select(func.count()).select_from(rows.subquery()))
        problems += [f"{number:,} {sentence}"] if number else []
    return problems


def _undeclared_references(backend: Backend) -> Iterator[tuple[str, Select[Any]]]:
    """Yield the rules that a database holds by triggers, not by foreign keys."""
    for table in Base.metadata.sorted_tables:
        for constraint in table.foreign_key_constraints:
            if backend.is_declared(constraint):
                continue
            pairs = [(element.parent, element.column) for element in constraint.elements]
            present = [column.is_not(None) for column, _ in pairs if column.nullable]
            referred = select(literal(1)).where(*(column == other for column, other in pairs))
            yield (
                f"rows of {table.name} refer to no row of {constraint.referred_table.name}",
                select(literal(1)).select_from(table).where(*present, ~referred.exists()),
            )


def _rules() -> Iterator[tuple[str, Select[Any]]]:
    """Yield what is wrong with some rows, and the statement of these."""
    row = select(literal(1).label("found"))
    of_question = row.join_from(
        _labels,
        Question,
        (Question.project_id == _labels.c.project_id) & (Question.id == _labels.c.question_id),
    )
    answers = row.select_from(_labels).group_by(*(_labels.c[column] for column in _ANSWER))
    yield (
        "answers hold several categories in projects of one",
        of_question.where(Question.answers == "one")
        .group_by(*(_labels.c[column] for column in _ANSWER))
        .having(func.count() > 1),
    )
    yield (
        "answers hold 'none applies' or 'skipped' beside a label",
        answers.having(func.min(_labels.c.category_id) < 1, func.max(_labels.c.category_id) > 0),
    )
    yield (
        "answers mix labels of several records",
        answers.having(
            (func.min(_labels.c.change_id) < func.max(_labels.c.change_id))
            | (func.min(_labels.c.labeled_at) < func.max(_labels.c.labeled_at))
        ),
    )
    yield (
        "spans stand in projects without spans",
        of_question.where(Question.answers != "spans", _labels.c.span_start >= 0),
    )
    yield (
        "labels stand although a later record of the answer is kept",
        row.join_from(_labels, _past, same_answer_key(_ANSWER, _labels, _past)).where(
            _past.c.taken_back_by.is_(None), _past.c.labeled_at > _labels.c.labeled_at
        ),
    )
    for what, model, name in (
        ("aliases stand for two annotators", Alias, Alias.alias_id),
        ("other keys stand for two items", ItemAlias, ItemAlias.name),
    ):
        now = row.where(model.to_change.is_(None)).group_by(model.project_id, name)
        yield f"{what} at once", now.having(func.count() > 1)
    given_as = select(Annotator.id).where(
        Annotator.project_id == _labels.c.project_id, Annotator.id == _labels.c.given_as
    )
    yield (
        "answers were given under a name the project does not have",
        row.select_from(_labels).where(~given_as.exists()),
    )
    yield (
        "questions lack a reserved category",
        row.select_from(Category)
        .where(Category.id < 1)
        .group_by(Category.project_id, Category.question_id)
        .having(func.count() < 2),
    )
    seen, changed = (
        select(table.number)
        .where(table.project_id == FlagRow.project_id, table.flag_id == FlagRow.id)
        .exists()
        for table in (FlagSighting, FlagChange)
    )
    yield (
        "flags were recorded without a sighting or a change",
        row.select_from(FlagRow).where(~(seen & changed)),
    )
