"""Settings that change: refused when the answers contradict, known as they were."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from tests.helpers import question_of
from tracker.core.errors import InvalidOption, Refused
from tracker.imports.loader import Rejected
from tracker.ledger import Ledger
from tracker.projects.categories import category_names
from tracker.projects.questions import QuestionOptions, create_project
from tracker.projects.settings import set_question
from tracker.storage.schema import Change

Write = Callable[..., Path]

ROWS = "item,annotator,category\n i,A,low\n i,B,high\n j,A,mid\n j,B,high\n k,A,low\n k,B,low"


@pytest.fixture
def ranked(ledger: Ledger, write: Write) -> Ledger:
    ledger.import_file(write(ROWS), "p")
    return ledger


def names(ledger: Ledger) -> list[str]:
    with ledger.asking("p") as (connection, question):
        return list(category_names(connection, question).values())


def alpha(ledger: Ledger, **asked: Any) -> float | None:
    return ledger.agreement("p", measures=["krippendorff_alpha"], **asked).measures[0].value


def changes(ledger: Ledger) -> list[Any]:
    with ledger.database.read() as connection:
        statement = select(Change.kind, Change.recorded_at).order_by(Change.id)
        return list(connection.execute(statement).all())


def test_settings_change_and_are_known_as_they_were(ranked: Ledger, write: Write) -> None:
    ranked.snapshot("p")
    nominal = alpha(ranked)
    made = ranked.projects.set(
        "p", wanted=3, scale="ordinal", categories=["low", "mid", "high", "top"]
    ).question
    assert (made.target_answers, made.scale, made.categories_fixed) == (3, "ordinal", True)
    assert names(ranked) == ["low", "mid", "high", "top"]
    assert ranked.status("p").missing == 3
    ordinal = alpha(ranked)
    assert ordinal != nominal
    with pytest.raises(Rejected, match="'middling' is none of the project's categories"):
        ranked.import_file(write("item,annotator,category\n l,A,middling"), "p")
    taken = ranked.record_snapshot("p", if_changed=True)
    assert taken.fresh
    before = datetime.fromtimestamp(changes(ranked)[1].recorded_at / 1e6, UTC).isoformat()
    assert alpha(ranked, known_at=before) == nominal
    assert ranked.status("p", known_at=before).missing is None
    assert ranked.verify("p").faults == ()
    scales = [one.assessment.scale for one in ranked.history("p").snapshots]
    assert scales == ["nominal", "ordinal"]
    ranked.projects.set("p", opened=True, wanted=0)
    assert names(ranked) == ["low", "mid", "high", "top"]
    assert alpha(ranked) == ordinal
    ranked.import_file(write("item,annotator,category\n l,A,zero\n l,B,low"), "p")
    assert names(ranked)[-1] == "zero"
    assert alpha(ranked) is None  # of an order that does not name them all
    ranked.categories.order("p", ["zero", "low", "mid", "high", "top"])
    assert alpha(ranked) is not None
    assert ranked.verify("p").faults == ()
    assert [kind for kind, _ in changes(ranked)[2:]] == [
        "set project",
        "set project",
        "import",
        "order categories",
    ]


REFUSED: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"categories": ["low", "high"]}, Refused, r"leaves out 'mid' \(1 labels\).*merge p mid"),
    ({"scale": "interval"}, Refused, "'high' is not a number"),
    ({"scale": "rank"}, InvalidOption, "none of nominal"),
    ({"wanted": -1}, InvalidOption, "--wanted -1"),
    ({"categories": ["low", "low"]}, InvalidOption, "twice"),
    ({"categories": ["low"], "opened": True}, InvalidOption, "contradict"),
    ({}, InvalidOption, "nothing to set"),
]


def test_setting_that_cannot_be_or_is_set_already_changes_nothing(
    ranked: Ledger, write: Write
) -> None:
    with pytest.raises(InvalidOption, match=r"(?s)not set.*tracker project set p --wanted 3"):
        ranked.import_file(write(ROWS), "p", options=QuestionOptions(wanted=3))
    before = changes(ranked)
    for asked, error, match in REFUSED:
        with pytest.raises(error, match=f"(?s){match}"):
            ranked.projects.set("p", **asked)
    assert changes(ranked) == before
    ranked.projects.set("p", wanted=2, categories=["low", "mid", "high"])
    before = changes(ranked)
    ranked.projects.set("p", wanted=2, categories=["low", "mid", "high"])
    ranked.categories.order("p", ["low", "mid", "high"])
    assert changes(ranked) == before


def test_a_dropped_category_is_not_on_the_list_when_it_opens(ledger: Ledger) -> None:
    with ledger.database.write() as connection:
        made = create_project(connection, "p", QuestionOptions(categories=("a", "b", "c")))
        set_question(connection, made, categories=["b", "a"])
        found = question_of(connection)
        assert list(category_names(connection, found).values()) == ["b", "a"]
        opened = set_question(connection, found, opened=True)
        assert list(category_names(connection, opened).values()) == ["b", "a"]
