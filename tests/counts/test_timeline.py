"""The patterns of each day, by a few lines of Python: the other opinion on every way to a code."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy import Connection

from tests.helpers import give
from tests.imports.test_against_a_plain_ledger import Files, Labels, PlainLedger, take
from tests.profiles import both, examples
from tests.storage.as_of.plain import BOTH_KINDS
from tracker.agreement.query import Query
from tracker.agreement.run import assess
from tracker.core.clock import DAY
from tracker.core.tallies import Pattern, make_pattern
from tracker.counts.filter import AnswerFilter, select_answers
from tracker.counts.timeline import count_timeline
from tracker.counts.valid_periods import Window
from tracker.history.curve import Curve, rebuilt_curve
from tracker.imports.undo import undo_import
from tracker.ledger import Ledger
from tracker.projects.categories import category_names
from tracker.projects.items import item_names
from tracker.projects.questions import QuestionInfo, QuestionOptions, create_project
from tracker.storage.as_of import as_it_was, moment_as_of

FIRST = 20_000  # a day since 1970: 2024-10-04
DAYS = 20
SECONDS = 86_400
EVERY_DAY = range(FIRST - 1, FIRST + DAYS + 8)

WAYS: dict[str, dict[str, int]] = {
    "one integer": {},
    "too narrow at first": {"timeline.FIRST_DIGIT_BITS": 1},
    "a column": {"pattern_codes.BITS": 12},
    "columns": {"pattern_codes.BITS": 6},
    "texts": {"timeline.MOST_CODE_COLUMNS": 0},
}
"""What to set for three categories to be coded in a way."""

Counted = dict[str, dict[str, Labels]]
"""Labels by item and annotator."""
State = tuple[dict[Pattern, int], int]
"""The patterns at the end of a day, and of how many annotators they are."""
Script = list[Files | int]
Case = tuple[Script, int, int, int]
"""A script, the days and the items of two windows, and a number that picks the rest."""


def counted(plain: PlainLedger, kind: str, day: int, days: int | None = None) -> Counted:
    """The answers at the end of a day, or those among them that are of so many days."""
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


def plain_course(
    connection: Connection, question: QuestionInfo, plain: PlainLedger, window: Window
) -> list[State]:
    ids = {name: n for n, name in category_names(connection, question).items()}
    items = {name: n for n, name in item_names(connection, question.project).items()}
    answered: dict[str, set[str]] = {item: set() for item in items}
    by_two: list[str] = []  # items in the order in which a second annotator answered them
    course: list[State] = []
    for day in EVERY_DAY:
        found = counted(plain, question.answers, day, window.days)
        before = set(by_two)
        for item, own in found.items():
            answered[item] |= own.keys()
        new = {item for item, who in answered.items() if len(who) > 1} - before
        by_two += sorted(new, key=lambda item: items[item])
        if window.items is not None:
            found = {item: found[item] for item in by_two[-window.items :] if item in found}
        patterns = Counter(
            make_pattern(tuple(sorted(ids[label] for label in own)) for own in given.values())
            for given in found.values()
        )
        course.append((dict(patterns), len({who for given in found.values() for who in given})))
    return course


times = st.builds(
    lambda day, second: (FIRST + day) * SECONDS + second,
    st.integers(0, 5) | st.integers(0, DAYS - 1),
    st.sampled_from([0, 0.000001, 40_000, SECONDS - 0.000001]),
)
answers = st.tuples(st.sampled_from("ijk"), st.sampled_from("ABC"), st.sampled_from([1, 1, 2]))
LABELS: dict[str, st.SearchStrategy[Any]] = {
    "one": st.sampled_from(["x", "x", "y", "z", ""]).map(lambda label: frozenset({label} - {""})),
    "several": st.frozensets(st.sampled_from("xyz"), max_size=2),
}


def cases(kind: str) -> st.SearchStrategy[Case]:
    """Scripts are of imports, and of undos by a number that picks one of those made before."""
    file = st.dictionaries(st.tuples(answers, times), LABELS[kind], min_size=4, max_size=24)
    imports = st.lists(file, min_size=1, max_size=2)
    script = st.tuples(imports, st.lists(imports | st.integers(0, 2), max_size=2))
    whole = script.map(lambda drawn: [drawn[0], *drawn[1]])
    return st.tuples(whole, st.integers(1, 6), st.integers(1, 3), st.integers(0, 99))


def at(day: int) -> int:
    return (FIRST + day) * SECONDS + 40_000


Z, SKIPPED = frozenset("z"), frozenset[str]()
SAID_AGAIN: Script = [[{(("i", who, 1), at(0)): Z for who in "ABC"}], [{(("i", "C", 1), at(1)): Z}]]
"""On the second day there is one z more for a moment than there are annotators."""
EVERYTHING_AT_ONCE: Script = [
    [{((item, who, 1), at(n)): Z for item in "ij" for n, who in enumerate("ABC")}],
    [{(("i", "A", 2), at(1)): Z}, {(("i", "A", 1), at(4)): SKIPPED, (("j", "B", 1), at(6)): Z}],
    [{(("i", "A", 1), at(7)): frozenset("x"), (("k", "A", 1), at(7)): frozenset("y")}],
    1,
    [{(("k", "B", 1), at(9)): Z, (("j", "B", 1), at(2)): SKIPPED}],
]


def play(connection: Connection, kind: str, script: Script) -> tuple[QuestionInfo, PlainLedger]:
    """The same done to a project and to a plain ledger."""
    options = QuestionOptions(answers=kind, categories=("x", "y", "z"))
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


def follow(ledger: Ledger, patch: pytest.MonkeyPatch, kind: str, case: Case) -> None:
    """Play a script, and compare every day of every window, each by another way to a code."""
    script, days, items, look = case
    windows = {
        "all": Window(),
        f"{days}d": Window(days=days),
        f"last-{items}-items": Window(items=items),
    }
    ways = [*WAYS] if kind == "one" else ["texts"]
    with ledger.database.write(keep=False) as connection:
        project, plain = play(connection, kind, script)
        for n, window in enumerate(windows.values()):
            expected = plain_course(connection, project, plain, window)
            with patch.context() as inside:
                for name, value in WAYS[ways[(look + n) % len(ways)]].items():
                    inside.setattr(f"tracker.counts.{name}", value)
                assert course(connection, project, window) == expected, window
        asked = Query(("percent_agreement", "krippendorff_alpha"))
        curve = rebuilt_curve(connection, project, "day", [*windows][look % 2], asked)
        assert [point.moment for point in curve] == ends_of_days(plain)
        if curve.points:
            same_figures(connection, project, curve, look % len(curve.points))


def course(connection: Connection, question: QuestionInfo, window: Window) -> list[State]:
    selection = select_answers(connection, question)
    found = count_timeline(connection, selection, window)
    states: list[State] = []
    for day, new in zip(EVERY_DAY, found.at(EVERY_DAY), strict=True):
        assert new is None or new[0] == day
        states.append(states[-1] if new is None else (dict(new[1].counts), new[2]))
    return states


def ends_of_days(plain: PlainLedger) -> list[int]:
    """From the first record that was not taken back to the last."""
    days = [
        int(record.moment // SECONDS)
        for records in plain.records.values()
        for record in records
        if record.change not in plain.undone
    ]
    return [(day + 1) * DAY - 1 for day in range(min(days), max(days) + 1)] if days else []


def same_figures(connection: Connection, question: QuestionInfo, curve: Curve, place: int) -> None:
    """A point of a curve is what agreement is as of then, to the last digit."""
    point = curve.points[place]
    since = None if curve.window == "all" else point.moment + 1 - int(curve.window[:-1]) * DAY
    measures = [one.measure for one in point.assessment.measures]
    asked = Query(measures, filter=AnswerFilter(since=since, as_of=point.moment))
    moment = moment_as_of(connection, question.project_id, point.moment, None)
    with as_it_was(connection, question.project_id, moment):
        then = assess(connection, question, asked)
    assert point.assessment.figures() == then.figures()
    assert point.assessment.patterns == then.patterns


@both
@BOTH_KINDS
def test_every_day_of_drawn_scripts(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    @examples(6 if ledger.database.file else 1)
    @example((SAID_AGAIN, 3, 1, 1))
    @example((EVERYTHING_AT_ONCE, 3, 2, 7))
    @given(cases(kind))
    def check(case: Case) -> None:
        follow(ledger, monkeypatch, kind, case)

    check()


def test_few_moments_stand_for_all(ledger: Ledger) -> None:
    first = datetime(2025, 3, 1, 10, 30, tzinfo=UTC)
    for name, step in (("minutes", timedelta(minutes=20)), ("days", timedelta(days=2))):
        rows = [("i", "a", f"x{n}", (first + n * step).isoformat()) for n in range(4)]
        give(ledger, rows, name, "labeled_at")
    ledger.projects.create("none")
    for project, most, number in (
        ("days", 200, 4), ("days", 4, 4), ("days", 3, 3), ("minutes", 200, 4), ("minutes", 3, 3),
        ("none", 200, 0),
    ):  # fmt: skip
        moments = ledger.moments(project, most)
        assert len(moments) == number, (project, most)
        assert moments == sorted({*moments})
        if project == "days" and most == 200:
            assert (moments[0], moments[-1]) == ("2025-03-01", "2025-03-07")
        for place, moment in enumerate(moments if most == 200 else ()):
            # An answer that was revised counts at its time, too.
            (label,) = ledger.items.show(project, "i", as_of=moment).labels[place:]
            assert (label.category, label.state) == (f"x{place}", "stands")
