"""What was asked of a project as it was: by when answers were given, by when that was known."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, Unpack

import pytest

from tests.audit.flags.found import Seen, acted, record, states
from tests.helpers import undo
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
from tracker.projects.annotators import list_annotators, rename_annotator, set_annotator_kind
from tracker.projects.identities import erase_annotator, merge_annotators, split_annotator
from tracker.projects.questions import QuestionOptions

Write = Callable[..., Path]

DECLARED = QuestionOptions(categories=("x", "y", "z"), wanted=3)
HEADER = "item,annotator,category,labeled_at\n"


@pytest.fixture
def ledger(sqlite_ledger: Ledger) -> Ledger:
    """SQLite alone: what differs by the database is in `test_as_it_was`."""
    return sqlite_ledger


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


def everything(ledger: Ledger, project: str = "p", *, audit: bool = True, **then: Any) -> Any:
    """Return all that is told of a project, except for what says which state it was."""
    choice = make_answer_filter(**then)
    with ledger.asking(project, choice) as (connection, question):
        results = {
            "agreement": assess(connection, question, Query(filter=choice)).to_dict(),
            "status": project_status(connection, question).to_dict(),
        }
        if audit:
            query = AuditQuery(filter=choice)
            results["audit"] = audit_project(connection, question, query).to_dict()
    for result in results.values():
        for name in ("project", "selection", "as_of"):
            result.pop(name, None)
    return results | {"labels": labels(ledger, project, **then)}


# -- what was known ------------------------------------------------------------------------


AUDITED = {9}
"""The changes of a story after which audits are told, too."""


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
    assert everything(ledger, audit=False) == told[-1]


def test_findings_are_those_that_were_known(ledger: Ledger, write: Write, now: Clock) -> None:
    now.moment = at(1)
    ledger.import_file(write(answers("iAx", "iBx", "iCx")), "p")
    for second, recorded in ((2, [Seen(1)]), (3, [Seen(1), Seen(2)])):
        now.moment = at(second)
        record(ledger, *recorded)
    now.moment = at(4)
    acted(ledger, "dismiss", 2)
    now.moment = at(5)

    def known(second: float) -> tuple[int, dict[int, str], int]:
        """Those that stand, the state of each, and the annotators without one."""
        then = Selecting(known_at=when(second))
        with ledger.asking("p", make_answer_filter(**then)) as (connection, question):
            rows = [one.to_dict() for one in list_flags(connection, question.project)]
            listed = {row["flag"]: row["state"] for row in rows}
            stand = count_flags(connection, question.project)
        counts = ledger.agreement("p", exclude_flagged=True, **then).counts
        return stand, listed, counts.annotators

    assert known(1.5) == (0, {}, 3)
    assert known(2.5) == (1, {1: "open"}, 2)
    assert known(3.5) == (2, {1: "open", 2: "open"}, 1)
    assert known(4) == (1, {1: "open", 2: "dismissed"}, 2)
    assert states(ledger) == {1: "open", 2: "dismissed"}


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


def test_figures_are_of_both_clocks_at_once(ledger: Ledger, write: Write, now: Clock) -> None:
    for second, rows in ((1, ["iAx0.5", "iBx0.5"]), (2, ["iAy0.2", "jAy0.2"]), (3, ["iBy0.8"])):
        now.moment = at(second)
        ledger.import_file(write(answers(*rows)), "p")
    now.moment = at(4)
    then = Selecting(as_of=when(0.9), known_at=when(3.5))
    frame = ledger.export_frame("p", **then).astype(str)
    assert sorted(frame["item"] + frame["annotator"] + frame["category"]) == ["iAx", "iBy", "jAy"]
    assert ledger.agreement("p", **then).counts.answers == 3
    assert ledger.status("p", **then).answers == 3  # type: ignore[arg-type]
    assert len(ledger.audit("p", **then).annotators) == 2


def test_before_the_first_label_figures_are_undefined_and_nothing_fails(
    ledger: Ledger, write: Write, now: Clock
) -> None:
    now.moment = at(5)
    ledger.import_file(write(answers("iAx3", "iBx3", "jAx3", "jBy3")), "p", options=DECLARED)
    for then in (Selecting(as_of=when(1)), Selecting(known_at=when(1))):
        found = ledger.agreement("p", **then)
        assert found.counts.answers == 0
        assert found.measures
        assert all(one.value is None and one.undefined for one in found.measures)
        told = everything(ledger, **then)
        assert (told["labels"], told["audit"]["annotators"]) == ([], [])
        assert (told["status"]["items"], told["status"]["coverage"]) == (0, None)
    taken = ledger.snapshot("p", as_of=when(1))
    assert {one.value for one in taken.assessment.measures} == {None}


# -- how it is asked -----------------------------------------------------------------------


def test_imports_kinds_and_names_are_those_that_were_known(
    ledger: Ledger, write: Write, now: Clock
) -> None:
    now.moment = at(1)
    ledger.import_file(write(answers("iAx0.1", "iBx0.5")), "p")
    now.moment = at(2)
    number = ledger.import_file(write("item,annotator,category,kind\nj,A,x,model\nj,B,x,"), "p").id
    now.moment = at(3)
    undo(ledger, number)
    with ledger.writing("p") as (connection, project):
        rename_annotator(connection, project, "A", "Ada")

    def listed(**then: Any) -> tuple[list[bool], list[str]]:
        with ledger.asking("p", make_answer_filter(**then)) as (connection, question):
            imports = list_imports(connection, question.project_id)
            people = list_annotators(connection, question.project)
        return [each.undone_at is not None for each in imports], [each.kind for each in people]

    human = ["human", "human"]
    assert listed() == listed(known_at=when(3)) == ([False, True], human)
    assert listed(known_at=when(2.5)) == ([False, False], ["model", "human"])
    assert listed(known_at=when(1.5)) == ([False], human)
    assert listed(known_at=when(0.5)) == ([], [])
    assert listed(as_of=when(0.7))[0] == [False, True], "this clock knows nothing of imports"
    assert ledger.status("p", known_at=when(0.5)).last_import is None
    for name in ("A", "Ada"):
        figures = ledger.agreement("p", annotators=[name, "B"], known_at=when(1.5))
        assert figures.counts.annotators == 2, name


def test_notices_tell_of_labels_without_a_time_and_of_erasures(
    ledger: Ledger, write: Write, now: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    now.moment = at(1)
    ledger.import_file(write(answers("iAx", "iBx0.5", "jAx", "jBx")), "p")
    notices: list[str] = []
    monkeypatch.setattr(ledger, "notice", notices.append)
    ledger.agreement("p", known_at=when(1))
    assert notices == []
    assert ledger.agreement("p", as_of=when(0.7)).counts.answers == 1
    ledger.snapshot("p", as_of=when(1))
    notice = "3 of 4 labels have no time of their own: they count from when they were recorded"
    assert notices == [notice] * 2
    now.moment = at(2)
    with ledger.writing("p") as (connection, project):
        erase_annotator(connection, project, "B")
    notices.clear()
    ledger.agreement("p", known_at=when(2))
    assert notices == []
    assert ledger.agreement("p", known_at=when(1.5)).counts.answers == 2
    assert notices == ["answers that were known then have been erased since: they are in no figure"]


def test_moments_that_cannot_be_are_refused(ledger: Ledger, write: Write, now: Clock) -> None:
    now.moment = at(5)
    ledger.import_file(write(answers("iAx", "iBx0.5")), "p")
    today = when(5)[:10]
    now_filter = make_answer_filter(as_of=when(5), known_at=when(5))
    assert make_answer_filter(as_of=today, known_at=today) == now_filter
    for option in ("as_of", "known_at"):
        for moment in (when(6), "2999-01-01", "now and then"):
            with pytest.raises(InvalidOption, match=f"--{option.replace('_', '-')}"):
                ledger.agreement("p", **{option: moment})
        with pytest.raises(InvalidOption, match="findings of the past are not recorded"):
            ledger.audit("p", record=True, **{option: when(5)})
    with pytest.raises(InvalidOption, match="known"):
        ledger.snapshot("p", known_at=when(1))
