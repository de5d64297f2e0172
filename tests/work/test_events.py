"""Events of the work: told with what caused them, once, and without a name."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlalchemy import text

from tests.helpers import give
from tests.history.scripts import tampering
from tests.work.test_assignments import register
from tracker.core import clock
from tracker.ledger import Ledger

WEEK = 7 * clock.DAY
PEOPLE = ("ada", "bo", "cleo")


@pytest.fixture(autouse=True)
def hear(ledger: Ledger) -> None:
    events = ["goal_reached", "annotator_paused", "assignments_late", "round_done"]
    ledger.webhooks.add("http://127.0.0.1:9/hook", events, allow_private=True)


def messages(ledger: Ledger) -> list[dict[str, Any]]:
    with ledger.database.read() as connection:
        bodies = [*connection.scalars(text("SELECT body FROM deliveries ORDER BY id"))]
    assert not any(name in body for body in bodies for name in PEOPLE)
    return [json.loads(body) for body in bodies]


def data_of(ledger: Ledger, event: str) -> list[dict[str, Any]]:
    return [message["data"] for message in messages(ledger) if message["type"] == event]


def assign(ledger: Ledger, **how: Any) -> int:
    return ledger.assignments.assign("p", to=["ada", "bo"], answers=2, **how).batch


def name_batch(ledger: Ledger, batch: int, **values: Any) -> None:
    """Give a batch another end or a name: there is no other way to be late without waiting."""
    with ledger.database.write() as connection:
        tampering(connection)
        for name, value in values.items():
            connection.execute(
                text(f"UPDATE batches SET {name} = :value WHERE change_id = :batch"),
                {"value": value, "batch": batch},
            )


def test_a_pause_is_told_by_whomever_and_without_whose(ledger: Ledger) -> None:
    give(ledger, [(f"i{n}", who, "x") for n in range(40) for who in ("bo", "cleo")])
    give(ledger, [(f"i{n}", "ada", "y") for n in range(40)])
    ledger.annotators.pause("p", "bo", note="bo is ill")
    ledger.annotators.pause("p", "bo", note="bo is very ill")
    ledger.annotators.resume("p", "bo")
    rules = '[[rule]]\nwhen = "agreement < 0.5 over the last 30"\nthen = "pause"\n'
    assert [one.annotator for one in ledger.rules.check("p", text=rules).paused] == ["ada"]
    ledger.rules.check("p", text=rules)
    assert data_of(ledger, "annotator_paused") == [
        {"project": "p", "paused": 1, "rules": []},
        {"project": "p", "paused": 1, "rules": ["agreement < 0.5 over the last 30"]},
    ]


def test_what_is_late_is_told_once_of_a_batch(ledger: Ledger) -> None:
    register(ledger, 4)
    first = assign(ledger, per_annotator=2)
    name_batch(ledger, first, until=clock.now() - 2 * WEEK)
    ledger.webhooks.deliver()
    assert messages(ledger) == [], "it was late long ago"
    name_batch(ledger, first, until=None)
    give(ledger, [(row.item, "ada", "x") for row in ledger.assignments.list("p", ["ada"])])
    ledger.webhooks.deliver()
    assert data_of(ledger, "assignments_late") == []
    end = clock.now() - 1
    name_batch(ledger, first, until=end)
    ledger.webhooks.deliver()
    ledger.webhooks.deliver()
    (late,) = data_of(ledger, "assignments_late")
    assert late == {"project": "p", "batch": first, "round": None, "until": clock.iso(end),
                    "annotators": 1, "assignments": 2}  # fmt: skip
    second = assign(ledger)
    name_batch(ledger, second, until=end)
    ledger.webhooks.deliver()
    assert [one["batch"] for one in data_of(ledger, "assignments_late")] == [first, second]


def test_a_round_is_done_by_the_import_of_its_last_answer(ledger: Ledger) -> None:
    register(ledger, 3)
    ledger.assignments.assign("p", to=["cleo"], answers=1)
    give(ledger, [(f"i{n}", "cleo", "x") for n in range(3)])
    assert messages(ledger) == [], "a batch without a name is no round"
    batch = ledger.assignments.assign("p", to=["ada", "bo"], answers=3).batch
    name_batch(ledger, batch, round="pilot")
    listed = ledger.assignments.list("p", states=["open"])
    rows = [(row.item, row.annotator, "x") for row in listed]
    give(ledger, rows[:-1])
    assert data_of(ledger, "round_done") == []
    give(ledger, rows[-1:], dry_run=True)
    assert data_of(ledger, "round_done") == []
    give(ledger, rows[-1:])
    done = {"project": "p", "batch": batch, "round": "pilot", "until": None, "annotators": 2,
            "assignments": 6}  # fmt: skip
    assert data_of(ledger, "round_done") == [done]
    give(ledger, [(item, who, "y") for item, who, _ in rows])  # revisions close nothing
    give(ledger, [("other", "ada", "x")])
    assert data_of(ledger, "round_done") == [done]


def test_a_goal_is_told_with_the_first_snapshot_at_which_it_is_reached(ledger: Ledger) -> None:
    give(ledger, [(f"i{n}", who, "xy"[n % 2]) for n in range(4) for who in PEOPLE[:2]])
    give(ledger, [("i0", "bo", "y")])
    ledger.projects.set("p", goal="alpha +-0.2")
    ledger.snapshot("p")
    assert data_of(ledger, "goal_reached") == []
    give(ledger, [(f"j{n}", who, "xy"[n % 2 ^ (who == "bo" and n % 5 == 0)])
                  for n in range(200) for who in PEOPLE[:2]])  # fmt: skip
    ledger.snapshot("p")
    give(ledger, [("k", "ada", "x")])
    ledger.snapshot("p")
    (reached,) = data_of(ledger, "goal_reached")
    assert (reached["snapshot"], reached["question"], reached["goal"]) == (
        2, "label", ledger.questions.list("p")[0].goal,
    )  # fmt: skip
    assert reached["half_width"] < 0.2
    with ledger.database.write() as connection:
        connection.execute(text("UPDATE deliveries SET next_at = NULL, made_at = 1"))
    ledger.annotators.pause("p", "bo")
    ledger.webhooks.deliver()
    ledger.snapshot("p", name="later")
    assert len(data_of(ledger, "goal_reached")) == 1
