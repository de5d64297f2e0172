"""What was asked of a project as it was: by when answers were given, by when that was known."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, Unpack

import pytest

from tests.audit.flags.found import Seen, acted, record, states
from tests.helpers import standing, undo
from tests.storage.as_of.plain import Clock, at
from tracker.agreement.query import Query
from tracker.agreement.run import assess
from tracker.audit.flag_list import count_flags, list_flags
from tracker.audit.query import AuditQuery
from tracker.audit.run import audit_project
from tracker.core import clock
from tracker.core.errors import InvalidOption
from tracker.counts.choosing import Selecting
from tracker.counts.filter import make_answer_filter
from tracker.export.labels import exported_labels
from tracker.history.status import project_status
from tracker.imports.undo import list_imports
from tracker.ledger import Ledger
from tracker.projects.annotators import (
    list_annotators,
    rename_annotator,
    set_annotator_kind,
)
from tracker.projects.identities import erase_annotator, merge_annotators, split_annotator
from tracker.projects.questions import QuestionOptions

Write = Callable[..., Path]

DECLARED = QuestionOptions(categories=("x", "y", "z"), wanted=3)
HEADER = "item,annotator,category,labeled_at\n"


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of all that is recorded."""
    return Clock(monkeypatch)


def when(seconds: float) -> str:
    """A moment of a story, as a person says it."""
    return clock.iso(at(seconds))


def answers(*rows: str) -> str:
    """Rows such as "iAx3": item, annotator, category, and the second; without one, no time."""
    told = [[*row[:3], when(float(row[3:])) if row[3:] else ""] for row in rows]
    return HEADER + "\n".join(",".join(row) for row in told)


def labels(ledger: Ledger, project: str = "p", **then: Unpack[Selecting]) -> list[Any]:
    """The labels of a project, as they are exported."""
    choice = make_answer_filter(**then)
    with ledger.asking(project, choice) as (connection, question):
        return list(exported_labels(connection, question, choice=choice))


def everything(
    ledger: Ledger, project: str = "p", *, audit: bool = True, **then: Unpack[Selecting]
) -> dict[str, Any]:
    """All that is told of a project, but for what says which state it was."""
    choice = make_answer_filter(**then)
    with ledger.asking(project, choice) as (connection, question):
        told = {
            "agreement": assess(connection, question, Query(filter=choice)).to_dict(),
            "status": project_status(connection, question).to_dict(),
        }
        if audit:
            query = AuditQuery(filter=choice)
            told["audit"] = audit_project(connection, question, query).to_dict()
    for one in told.values():
        for name in ("project", "selection", "as_of"):
            one.pop(name, None)
    return told | {"labels": labels(ledger, project, **then)}


# -- what was known ------------------------------------------------------------------------


AUDITED = {3, 6, 9, 11}
"""The changes of a story after which audits are told, too: those cost most."""


def test_what_was_told_at_each_change_is_told_of_it_later(
    ledger: Ledger, write: Write, now: Clock
) -> None:
    def people(function: Callable[..., Any], *names: str) -> None:
        with ledger.writing("p") as (connection, project):
            function(connection, project, *names)

    def take(*rows: str) -> int | None:
        return ledger.import_file(write(answers(*rows)), "p", options=DECLARED).id

    numbers: list[int | None] = []
    story: list[Callable[[], object]] = [
        lambda: numbers.append(take("iAx", "iBx", "iCy", "jAx", "jBy", "jCy0.2")),
        lambda: numbers.append(take("iAy", "jCx0.1", "kAz", "kBz", "kCz")),
        lambda: record(ledger, Seen(1), Seen(2, kind="drift", category=None)),
        lambda: people(set_annotator_kind, "C", "model"),
        lambda: undo(ledger, numbers[0]),
        lambda: people(set_annotator_kind, "C", "human"),
        lambda: acted(ledger, "dismiss", 1),
        lambda: people(merge_annotators, "A", "B"),
        lambda: numbers.append(take("iAz", "jBz")),
        lambda: people(split_annotator, "A"),
        lambda: undo(ledger, numbers[1]),
    ]
    told = []
    for second, step in enumerate(story, 1):
        now.moment = at(second)
        step()
        told.append(everything(ledger, audit=second in AUDITED))
    assert all(before != after for before, after in pairwise(told))
    assert [one["status"]["open_flags"] for one in told] == [0, 0, *[2] * 4, *[1] * 5]
    now.moment = at(len(story) + 1)
    for second, then in enumerate(told, 1):
        known = when(second + 0.5)
        assert everything(ledger, audit=second in AUDITED, known_at=known) == then, second
    assert everything(ledger) == told[-1]


def test_an_import_undone_was_there_and_on_the_other_clock_never_was(
    ledger: Ledger, write: Write, now: Clock
) -> None:
    steps = (answers("iAx0.1", "iBx0.1", "jAx0.1", "jBy0.1"), answers("jBx0.2", "kAy0.2", "kBy0.2"))
    told, numbers = [], []
    for second, text in enumerate(steps, 1):
        now.moment = at(second)
        numbers.append(ledger.import_file(write(text), "p").id)
        told.append(labels(ledger))
    now.moment = at(3)
    undo(ledger, numbers[1])
    for second in (2, 2.9):
        assert labels(ledger, known_at=when(second)) == told[1]
    assert labels(ledger, known_at=when(3)) == told[0]
    for second in (0.3, 2.5):
        assert labels(ledger, as_of=when(second)) == told[0]
    both = Selecting(as_of=when(0.3), known_at=when(2.5))
    assert labels(ledger, **both) == told[1]
    both = Selecting(as_of=when(0.15), known_at=when(2.5))
    assert labels(ledger, **both) == told[0]


def test_imports_are_listed_as_they_were_known(
    sqlite_ledger: Ledger, write: Write, now: Clock
) -> None:
    for second in (1, 2):
        now.moment = at(second)
        number = sqlite_ledger.import_file(write(answers(f"iAx0.{second}", "iBx0.5")), "p").id
    now.moment = at(3)
    undo(sqlite_ledger, number)

    def listed(**then: Any) -> list[bool]:
        with sqlite_ledger.asking("p", make_answer_filter(**then)) as (connection, question):
            imports = list_imports(connection, question.project_id)
            return [one.undone_at is not None for one in imports]

    assert listed() == [False, True]
    assert listed(known_at=when(2.5)) == [False, False]
    assert listed(known_at=when(1.5)) == [False]
    assert listed(known_at=when(0.5)) == []
    assert listed(as_of=when(0.5)) == [False, True], "the other clock knows nothing of imports"
    assert sqlite_ledger.status("p", known_at=when(0.5)).last_import is None


def test_annotators_were_of_the_kind_that_a_file_told_until_it_was_undone(
    ledger: Ledger, write: Write, now: Clock
) -> None:
    now.moment = at(1)
    ledger.import_file(write(answers("iAx", "iBx")), "p")
    now.moment = at(2)
    told = ledger.import_file(write("item,annotator,category,kind\nj,A,x,model\nj,B,x,"), "p").id
    now.moment = at(3)
    undo(ledger, told)

    def kinds(**then: Unpack[Selecting]) -> list[str]:
        with ledger.asking("p", make_answer_filter(**then)) as (connection, question):
            return [one.kind for one in list_annotators(connection, question.project)]

    assert kinds(known_at=when(2.5)) == ["model", "human"]
    assert kinds(known_at=when(1.5)) == kinds(known_at=when(3)) == kinds() == ["human", "human"]


def test_findings_are_those_that_were_known(
    sqlite_ledger: Ledger, write: Write, now: Clock
) -> None:
    now.moment = at(1)
    sqlite_ledger.import_file(write(answers("iAx", "iBx", "iCx")), "p")
    for second, recorded in ((2, [Seen(1)]), (3, [Seen(1), Seen(2)])):
        now.moment = at(second)
        record(sqlite_ledger, *recorded)
    now.moment = at(4)
    acted(sqlite_ledger, "dismiss", 2)
    now.moment = at(5)

    def known(second: float) -> tuple[int, dict[int, str], int]:
        """Those that stand, the state of each, and the annotators without one."""
        then = Selecting(known_at=when(second))
        with sqlite_ledger.asking("p", make_answer_filter(**then)) as (connection, question):
            rows = [one.to_dict() for one in list_flags(connection, question.project)]
            listed = {row["flag"]: row["state"] for row in rows}
            stand = count_flags(connection, question.project)
        counts = sqlite_ledger.agreement("p", exclude_flagged=True, **then).counts
        return stand, listed, counts.annotators

    assert known(1.5) == (0, {}, 3)
    assert known(2.5) == (1, {1: "open"}, 2)
    assert known(3.5) == (2, {1: "open", 2: "open"}, 1)
    assert known(4) == (1, {1: "open", 2: "dismissed"}, 2)
    assert states(sqlite_ledger) == {1: "open", 2: "dismissed"}


# -- when it was labelled ------------------------------------------------------------------


def test_on_the_clock_of_labelling_it_is_as_if_later_answers_never_were(
    ledger: Ledger, write: Write, now: Clock
) -> None:
    rows = ["iAx1", "iBx2", "iAy3", "jAy2.5", "jBy3", "jCy4", "iCx4.5", "jAx5", "iBx4"]
    now.moment = at(6)
    ledger.import_file(write(answers(*rows)), "p", options=DECLARED)
    for second in (2.7, 4.2):
        given = [row for row in rows if float(row[3:]) <= second]
        project = f"until {second}"
        ledger.import_file(write(answers(*given)), project, options=DECLARED)
        then, alone = everything(ledger, as_of=when(second)), everything(ledger, project)
        for told in (then, alone):
            told["status"].pop("last_import")
        assert then == alone, second
    assert everything(ledger, as_of=when(5)) == everything(ledger)


def test_both_clocks_at_once(sqlite_ledger: Ledger, write: Write, now: Clock) -> None:
    """Late in coming, early in time: it is in only where both clocks have reached it."""
    for second, rows in ((1, ["iAx0.5", "iBx0.5"]), (2, ["iAy0.2", "jAy0.2"]), (3, ["iBy0.8"])):
        now.moment = at(second)
        sqlite_ledger.import_file(write(answers(*rows)), "p")
    now.moment = at(4)
    stood = {
        (0.1, 3): [],
        (0.3, 2): ["iAy", "jAy"],
        (0.6, 1): ["iAx", "iBx"],
        (0.6, 3): ["iAx", "iBx", "jAy"],
        (0.9, 3): ["iAx", "iBy", "jAy"],
    }
    for (as_of, known_at), rows in stood.items():
        then = Selecting(as_of=when(as_of), known_at=when(known_at + 0.5))
        frame = sqlite_ledger.export_frame("p", **then).astype(str)
        assert sorted(frame["item"] + frame["annotator"] + frame["category"]) == rows
    assert sqlite_ledger.agreement("p", **then).counts.answers == 3
    assert sqlite_ledger.status("p", **then).answers == 3  # type: ignore[arg-type]
    assert len(sqlite_ledger.audit("p", **then).annotators) == 2


def test_before_the_first_label_figures_are_undefined_and_nothing_fails(
    sqlite_ledger: Ledger, write: Write, now: Clock
) -> None:
    now.moment = at(5)
    sqlite_ledger.import_file(write(answers("iAx3", "iBx3", "jAx3", "jBy3")), "p", options=DECLARED)
    for then in (Selecting(as_of=when(1)), Selecting(known_at=when(1))):
        found = sqlite_ledger.agreement("p", **then)
        assert found.counts.answers == 0
        assert found.measures
        assert all(one.value is None and one.undefined for one in found.measures)
        told = everything(sqlite_ledger, **then)
        assert (told["labels"], told["audit"]["annotators"]) == ([], [])
        assert (told["status"]["items"], told["status"]["coverage"]) == (0, None)
    taken = sqlite_ledger.snapshot("p", as_of=when(1))
    assert {one.value for one in taken.assessment.measures} == {None}


def test_a_snapshot_of_what_nobody_knew_yet(
    sqlite_ledger: Ledger, write: Write, now: Clock
) -> None:
    now.moment = at(5)
    sqlite_ledger.import_file(write(answers("iAx", "iBx")), "p")
    with pytest.raises(InvalidOption, match="known"):
        sqlite_ledger.snapshot("p", known_at=when(1))


def test_the_name_before_a_rename_is_the_annotators(
    sqlite_ledger: Ledger, write: Write, now: Clock
) -> None:
    now.moment = at(1)
    sqlite_ledger.import_file(write(answers("iAx", "iBx")), "p")
    now.moment = at(2)
    with sqlite_ledger.writing("p") as (connection, project):
        rename_annotator(connection, project, "A", "Ada")
    for name in ("A", "Ada"):
        found = sqlite_ledger.agreement("p", annotators=[name, "B"], known_at=when(1.5))
        assert found.counts.annotators == 2, name


# -- how it is asked -----------------------------------------------------------------------


def test_labels_without_a_time_are_told_of_on_the_clock_of_labelling(
    sqlite_ledger: Ledger, write: Write, now: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    now.moment = at(1)
    sqlite_ledger.import_file(write(answers("iAx", "iBx0.5", "jAx", "jBx")), "p")
    told: list[str] = []
    monkeypatch.setattr(sqlite_ledger, "notice", told.append)
    sqlite_ledger.agreement("p", known_at=when(1))
    assert told == []
    assert sqlite_ledger.agreement("p", as_of=when(0.7)).counts.answers == 1
    sqlite_ledger.snapshot("p", as_of=when(1))
    assert (
        told
        == ["3 of 4 labels have no time of their own: they count from when they were recorded"] * 2
    )


def test_an_erasure_since_is_told_of_on_the_clock_of_knowing(
    sqlite_ledger: Ledger, write: Write, now: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    now.moment = at(1)
    sqlite_ledger.import_file(write(answers("iAx", "iBx", "iCx")), "p")
    now.moment = at(2)
    with sqlite_ledger.writing("p") as (connection, project):
        erase_annotator(connection, project, "C")
    told: list[str] = []
    monkeypatch.setattr(sqlite_ledger, "notice", told.append)
    sqlite_ledger.agreement("p", known_at=when(2))
    assert told == []
    assert sqlite_ledger.agreement("p", known_at=when(1.5)).counts.answers == 2
    assert told == ["answers that were known then have been erased since: they are in no figure"]


def test_the_future_is_refused_and_today_is_now(
    sqlite_ledger: Ledger, write: Write, now: Clock
) -> None:
    now.moment = at(1)
    sqlite_ledger.import_file(write(answers("iAx", "iBx0.5")), "p")
    today = when(1)[:10]
    assert make_answer_filter(as_of=today, known_at=today) == make_answer_filter(
        as_of=when(1), known_at=when(1)
    )
    assert standing(sqlite_ledger) == [("i", "A", "x"), ("i", "B", "x")]
    for option in ("as_of", "known_at"):
        for moment in (when(2), "2999-01-01", "now and then"):
            with pytest.raises(InvalidOption, match=f"--{option.replace('_', '-')}"):
                sqlite_ledger.agreement("p", **{option: moment})


def test_findings_of_the_past_are_not_recorded(
    sqlite_ledger: Ledger, write: Write, now: Clock
) -> None:
    now.moment = at(1)
    sqlite_ledger.import_file(write(answers("iAx", "iBx")), "p")
    for option in ("as_of", "known_at"):
        with pytest.raises(InvalidOption, match="findings of the past are not recorded"):
            sqlite_ledger.audit("p", record=True, **{option: when(1)})
