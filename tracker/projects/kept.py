"""Figures that are computed once for each state of a project's answers.

A process keeps them as long as it holds one state, a server until the answers change. Those that
took a while are stored with the ledger, too, so that the next command or server reads them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import is_dataclass, replace
from functools import cache, partial, wraps
from pathlib import Path
from time import process_time
from types import FunctionType
from typing import Any, ParamSpec, TypeVar, cast

from sqlalchemy import Connection

from tracker.core.kept import KEPT, MOMENT, KeptResults
from tracker.core.result_bytes import UnreadableResult, read_result, write_result
from tracker.projects.projects import ProjectInfo, answers_revision, last_change
from tracker.storage.as_of import LabelsElsewhere
from tracker.storage.kept_tallies import LARGEST, TALLIES, NewTallies, State, Tally, kept_tally

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")
_WORTH_STORING = 0.02
"""CPU-seconds of a figure that is stored."""


def kept_with_answers(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Keep what a function counts until a project's answers change.

    The function is of a connection and of a project, a question, several of one project, or a
    selection. What it returns depends on nothing beside them, its arguments and what
    `answers_revision` tells of, and nobody changes it. A transaction that writes keeps nothing.
    """
    return _keeping(function, stored=False)


def stored_with_answers(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Keep what a function computes in the ledger as well; it is a value (see `result_bytes`)."""
    return _keeping(function, stored=True)


def _keeping(
    function: Callable[_Arguments, _Result], *, stored: bool
) -> Callable[_Arguments, _Result]:
    @wraps(function)
    def keeping(*args: _Arguments.args, **keywords: _Arguments.kwargs) -> _Result:
        connection: Any
        about: Any
        connection, about, *more = args
        results: KeptResults | None = connection.info.get(KEPT)
        if results is None or any(map(_rests_on_flags, (*more, *keywords.values()))):
            return function(*args, **keywords)
        given = {name: _without_question(argument) for name, argument in keywords.items()}
        words = _as_text((about, *map(_without_question, more), given))
        asked = (_as_text(function), connection.info.get(MOMENT), words)
        project_id = _project_id_of(about)
        revision = answers_revision(connection, project_id)
        compute = partial(function, *args, **keywords)
        if stored:
            compute = partial(find_stored, connection, project_id, asked, revision, compute)
        return results.get(asked, revision, compute)

    return keeping


def find_stored(
    connection: Connection,
    project_id: int,
    asked: object,
    revision: object,
    compute: Callable[[], _Result],
) -> _Result:
    """Return the stored result of this revision, or compute it and let it be stored.

    What is asked and the revision are values whose `repr` says all of them.
    """
    tallies: NewTallies | None = connection.info.get(TALLIES)
    if tallies is None:
        return compute()
    if isinstance(connection, LabelsElsewhere):
        connection.check_files()
    key = hashlib.sha256(repr((asked, _program())).encode()).hexdigest()
    stored = kept_tally(connection, project_id, key)
    if stored is not None:
        with suppress(UnreadableResult):
            before, known = read_result(stored.content)
            if before == revision:
                return cast(_Result, known)
    state, began = State(*last_change(connection, project_id)), process_time()
    result = compute()
    if process_time() - began > _WORTH_STORING:
        content = write_result((revision, result))
        if content is not None and len(content) <= LARGEST:
            tallies.results[project_id, key] = Tally(state, content)
    return result


@cache
def _program() -> str:
    """Return a digest that differs after every change of this program's files."""
    files = sorted(Path(__file__).parents[1].rglob("*.py"))
    states = [(str(file), file.stat().st_mtime_ns, file.stat().st_size) for file in files]
    return hashlib.sha256(repr(states).encode()).hexdigest()


def keeps_results(connection: Connection) -> bool:
    """Return whether what is asked for is kept for others."""
    return connection.info.get(KEPT) is not None


def _project_id_of(about: Any) -> int:
    if isinstance(about, ProjectInfo):
        return about.id
    if isinstance(about, (list, tuple)):
        about = about[0]
    return int(getattr(about, "question", about).project_id)


def _as_text(value: Any) -> str:
    """Return a text of a value that is the same in every process."""
    if isinstance(value, FunctionType):
        return f"{value.__module__}.{value.__qualname__}"
    if is_dataclass(value):
        return _as_text({name: getattr(value, name) for name in value.__dataclass_fields__})
    if isinstance(value, Mapping):
        return _as_text(sorted((_as_text(key), _as_text(value[key])) for key in value))
    if isinstance(value, (set, frozenset)):
        return _as_text(sorted(map(_as_text, value)))
    return str([*map(_as_text, value)]) if isinstance(value, (list, tuple)) else repr(value)


def _without_question(argument: Any) -> Any:
    """Return a choice of answers, or what has one, without the question that it is about."""
    choice = getattr(argument, "filter", None)
    if choice is not None:
        return replace(argument, filter=_without_question(choice))
    return replace(argument, question=None) if hasattr(argument, "exclude_flagged") else argument


def _rests_on_flags(argument: Any) -> bool:
    """Return whether an argument is a choice that leaves out whom a finding is about."""
    return bool(getattr(getattr(argument, "filter", argument), "exclude_flagged", False))
