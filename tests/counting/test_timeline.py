"""The patterns of each day, by a few lines of Python: the other opinion on every way to a code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, event

from tests.helpers import ONE, count_rows, count_statements, undo
from tests.ingest.test_against_a_plain_ledger import Files, Labels, PlainLedger, take
from tracker import clock, counting
from tracker.assess import Question, assess
from tracker.catalogue.categories import category_names
from tracker.catalogue.items import item_names
from tracker.catalogue.projects import ProjectInfo, ProjectOptions, create_project
from tracker.counting import DAY, Choice, Window, steps
from tracker.history.curve import Curve, rebuilt
from tracker.ingest.register import undo_import
from tracker.ledger import Ledger
from tracker.past import as_it_was, moment_of
from tracker.tally import Pattern, make_pattern

FIRST = 20_000  # a day since 1970: 2024-10-04
DAYS = 20
SECONDS = 86_400
EVERY_DAY = range(FIRST - 1, FIRST + DAYS + 8)

WAYS: dict[str, dict[str, int]] = {
    "one integer": {},
    "a column": {"BITS": 12},
    "columns": {"BITS": 6},
    "texts": {"MOST_CODE_COLUMNS": 0},
}
"""What to set in `tracker.counting.steps` for three categories to be coded in a way."""

Counted = dict[str, dict[str, Labels]]
"""Labels by item and annotator."""


# -- the other opinion ---------------------------------------------------------------------


def counted(plain: PlainLedger, kind: str, day: int, days: int | None = None) -> Counted:
    """The answers at the end of a day, or those among them of so many days."""
    end = (day + 1) * SECONDS
    since = 0 if days is None else end - days * SECONDS
    found: Counted = {}
    for (item, annotator, _), records in sorted(plain.records.items()):
        known = [r for r in records if r.change not in plain.undone and r.moment < end]
        last = max(known, default=None)
        if last is None or last.moment < since or (kind == "one" and not last.labels):
            continue
        found.setdefault(item, {}).setdefault(annotator, last.labels)
    return found


def last_items(by_day: dict[int, Counted], numbers: dict[str, int], day: int, n: int) -> set[str]:
    """The last items that a second annotator answered, by day, then by number."""
    answered: dict[str, set[str]] = {}
    seconds: list[tuple[int, int, str]] = []
    for then in range(min(by_day), day + 1):
        for item, own in by_day[then].items():
            before = len(answered.setdefault(item, set()))
            answered[item] |= own.keys()
            if before < 2 <= len(answered[item]):
                seconds.append((then, numbers[item], item))
    return {item for *_, item in sorted(seconds)[-n:]}


class Told:
    """What the plain ledger says of each day of a window."""

    def __init__(
        self, connection: Connection, project: ProjectInfo, plain: PlainLedger, window: Window
    ) -> None:
        self._plain, self._kind, self._window = plain, project.answers, window
        self._ids = {name: n for n, name in category_names(connection, project).items()}
        self._items = {name: n for n, name in item_names(connection, project).items()}
        self._by_day = {day: counted(plain, self._kind, day) for day in EVERY_DAY}

    def at(self, day: int) -> tuple[Counter[Pattern], int]:
        """The patterns at the end of a day, and how many annotators they are of."""
        found = counted(self._plain, self._kind, day, self._window.days)
        if self._window.items is not None:
            kept = last_items(self._by_day, self._items, day, self._window.items)
            found = {item: own for item, own in found.items() if item in kept}
        patterns = Counter(
            make_pattern(tuple(sorted(self._ids[label] for label in own)) for own in given.values())
            for given in found.values()
        )
        return patterns, len({who for own in found.values() for who in own})


# -- scripts -------------------------------------------------------------------------------

times = st.builds(
    lambda day, second: (FIRST + day) * SECONDS + second,
    st.integers(0, DAYS - 1),
    st.sampled_from([0, 0.000001, 40_000, SECONDS - 0.000001]),
)
answers = st.tuples(st.sampled_from("ijk"), st.sampled_from("ABC"), st.sampled_from([1, 1, 2]))
LABELS: dict[str, st.SearchStrategy[Any]] = {
    "one": st.sampled_from(["x", "x", "y", "z", ""]).map(lambda label: frozenset({label} - {""})),
    "several": st.frozensets(st.sampled_from("xyz"), max_size=2),
}
windows = st.one_of(
    st.just(Window()),
    st.builds(Window, days=st.integers(1, 6)),
    st.builds(Window, items=st.integers(1, 3)),
)
Script = list[Files | int]


def scripts(kind: str) -> st.SearchStrategy[Script]:
    """Imports, and undos by a number that picks one of those made before."""
    file = st.dictionaries(st.tuples(answers, times), LABELS[kind], min_size=1, max_size=9)
    imports = st.lists(file, min_size=1, max_size=2)
    return st.lists(imports | imports | st.integers(0, 5), min_size=1, max_size=5)


def play(connection: Connection, kind: str, script: Script) -> tuple[ProjectInfo, PlainLedger]:
    """The same done to a project and to a plain ledger."""
    options = ProjectOptions(answers=kind, categories=("x", "y", "z"))
    project, plain = create_project(connection, "p", options), PlainLedger()
    made: list[int] = []
    for step in script:
        if not isinstance(step, int):
            plain.take(step)
            number = take(connection, project, step, len(made)).id
            assert number is not None
            made.append(number)
        elif made and (chosen := step % len(made)) + 1 not in plain.undone:
            undo_import(connection, made[chosen])
            plain.undone.add(chosen + 1)
    return project, plain


def follow(ledger: Ledger, kind: str, script: Script, window: Window, looks: list[int]) -> None:
    with ledger.database.write(keep=False) as connection:
        project, plain = play(connection, kind, script)
        told = Told(connection, project, plain, window)
        selection = counting.select_answers(connection, project)
        found = counting.timeline(connection, selection, window)
        days = [found.first, found.last]
        moments = [
            record.moment // SECONDS
            for records in plain.records.values()
            for record in records
            if record.change not in plain.undone
        ]
        assert days == ([min(moments), max(moments)] if moments else [None, None])
        state: tuple[Any, int] = ({}, 0)
        for day, new in zip(EVERY_DAY, found.at(EVERY_DAY), strict=True):
            if new is not None:
                state = (new[1].counts, new[2])
                assert new[0] == day
            assert state == told.at(day), day
        if window.items is None:
            curve = rebuilt(connection, project, "day", words(window))
            same_figures(connection, project, curve, looks)


def words(window: Window) -> str:
    if window.items is not None:
        return f"last-{window.items}-items"
    return "all" if window.days is None else f"{window.days}d"



def same_figures(
    connection: Connection, project: ProjectInfo, curve: Curve, looks: list[int]
) -> None:
    """Some points of a curve are what agreement is as of then, to the last digit."""
    days = None if curve.window == "all" else int(curve.window[:-1])
    for place in {look % len(curve.points) for look in looks if curve.points}:
        point = curve.points[place]
        since = None if days is None else point.moment + 1 - days * DAY
        measures = [one.measure for one in point.assessment.measures]
        asked = Question(measures, choice=Choice(since=since, as_of=point.moment))
        moment = moment_of(connection, project.id, point.moment, None)
        with as_it_was(connection, project.id, moment):
            then = assess(connection, project, asked)
        assert point.assessment.figures() == then.figures()
        assert point.assessment.patterns == then.patterns


def both_kinds(ways: list[str]) -> Callable[..., Any]:
    cases = [("one", way) for way in ways] + [("several", "texts")]
    return pytest.mark.parametrize(("kind", "way"), cases)


def set_way(monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    for name, value in WAYS[way].items():
        monkeypatch.setattr(steps, name, value)


def case(kind: str) -> st.SearchStrategy[Any]:
    return st.tuples(scripts(kind), windows, st.lists(st.integers(0, 30), min_size=1, max_size=2))


@both_kinds([*WAYS])
def test_on_sqlite(
    sqlite_ledger: Ledger, monkeypatch: pytest.MonkeyPatch, kind: str, way: str
) -> None:
    set_way(monkeypatch, way)

    @settings(max_examples=25)
    @given(case(kind))
    def check(case: tuple[Script, Window, list[int]]) -> None:
        follow(sqlite_ledger, kind, *case)

    check()


@both_kinds([*WAYS])
def test_on_postgres(
    emptied_postgres_ledger: Ledger, monkeypatch: pytest.MonkeyPatch, kind: str, way: str
) -> None:
    set_way(monkeypatch, way)

    @settings(max_examples=8)
    @given(case(kind))
    def check(case: tuple[Script, Window, list[int]]) -> None:
        follow(emptied_postgres_ledger, kind, *case)

    check()
