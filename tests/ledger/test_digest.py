"""The digest: what came in, moved, is wrong, waits, and is missing since a moment."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from sqlalchemy import text

from tests.helpers import give
from tests.history.scripts import tampering
from tracker.core.errors import InvalidOption
from tracker.ledger import Ledger
from tracker.plan.digest import Digest, digest_parts

ACCURATE, CARELESS = 0.95, 0.35


def fill(
    ledger: Ledger, days_ago: int, accuracy: float, *, first: int = 0, items: int = 80
) -> None:
    """Give new items three answers each, as right as that."""
    draw = np.random.default_rng(first + 1)
    at = (datetime.now(UTC) - timedelta(days=days_ago)).isoformat()
    rows = []
    for number in range(first, first + items):
        truth = draw.choice(["x", "y", "z"])
        for who in ("ann", "bob", "cat"):
            answer = truth if draw.random() < accuracy else draw.choice(["x", "y", "z"])
            rows.append((f"item {number}", who, answer, at))
    give(ledger, rows, "p", "labeled_at")


def lines(digest: Digest) -> dict[str, str]:
    return {part.title: " ".join(part.lines) for part in digest_parts(digest)}


def test_a_fall_is_told_and_chance_is_not(ledger: Ledger) -> None:
    fill(ledger, 2, ACCURATE, first=100)
    digest = ledger.digest("p")
    (question,) = digest.questions
    assert (question.moved, bool(question.undefined)) == (None, True)
    assert lines(digest)["What moved"] == "there are no earlier answers to compare with."
    fill(ledger, 30, ACCURATE)
    digest = ledger.digest("p")
    (same,) = digest.questions
    assert (same.answers, same.items, same.annotators, same.moved) == (240, 80, 3, False)
    assert "within chance" in lines(digest)["What moved"]
    fill(ledger, 1, CARELESS, first=200, items=160)
    digest = ledger.digest("p")
    (fallen,) = digest.questions
    assert fallen.moved
    assert fallen.before is not None
    assert fallen.after is not None
    assert fallen.after < fallen.before
    compared = ledger.compare("p", f"..{digest.since}", f"{digest.since}..").to_dict()
    p_values = {row["measure"]: row["p_value"] for row in compared["measures"]}
    assert fallen.p_value == p_values["krippendorff_alpha"]
    assert {row.category for row in fallen.categories} == {"x", "y", "z"}
    assert "more than chance explains" in lines(digest)["What moved"]


def test_only_what_is_new_is_new(ledger: Ledger) -> None:
    fill(ledger, 30, ACCURATE)
    rows = [(f"item {number}", "eve", "x") for number in range(80)]
    give(ledger, rows)
    recorded = ledger.record_audit_by_question("p")
    assert recorded
    digest = ledger.digest("p")
    assert digest.open_findings == len(digest.new_findings) > 0
    assert "eve" in lines(digest)["What to decide"]
    assert "eve" in lines(digest)["Whom to talk to, and what is wrong"]
    ledger.rules.check("p", text='[[rule]]\nwhen = "finding constant_category"\nthen = "pause"\n')
    ledger.annotators.pause("p", "ann", note="on leave")
    wrong = lines(ledger.digest("p"))["Whom to talk to, and what is wrong"]
    assert wrong.count("eve") == 1
    assert wrong.endswith(". Paused. ann was paused: on leave.")
    number = digest.new_findings[0]["flag"]
    ledger.flags.appeal("p", number, by="eve", note="they were all x")
    assert f"eve appealed against finding {number}" in lines(ledger.digest("p"))["What to decide"]
    ledger.flags.uphold("p", [number], by="boss", note="so they were")
    assert ledger.digest("p").open_findings == digest.open_findings - 1
    assert not ledger.digest("p").appeals


def test_what_is_missing_and_wanted_is_told(ledger: Ledger) -> None:
    fill(ledger, 30, ACCURATE)
    assert "No goal is set" in lines(ledger.digest("p"))["What to label"]
    ledger.projects.set("p", wanted=4, goal="alpha +-0.01")
    told = lines(ledger.digest("p"))
    assert "80 answers of those wanted still to come" in told["What to label"]
    assert "is to be known to ±0.01" in told["What to label"]
    assert told["What came in"] == "no answer."
    assert told["What moved"] == "No answer came in."
    for since in ("2999-01-01", "yesterday or so"):
        with pytest.raises(InvalidOption):
            ledger.digest("p", since)
    ledger.projects.create("empty")
    told = lines(ledger.digest("empty"))
    assert told["What moved"] == "No answer came in."
    assert told["What to decide"] == "No finding waits for anybody."


def test_who_was_paused_or_is_late_and_what_waits_for_a_decision_is_told(ledger: Ledger) -> None:
    rows = [(f"i{n}", who, "xy"[n % 2 and who == "bo"]) for n in range(6) for who in ("ada", "bo")]
    give(ledger, rows)
    told = lines(ledger.digest("p"))
    assert "3 items with answers that differ: tracker adjudicate list p" in told["What to decide"]
    assert "paused" not in told["Whom to talk to, and what is wrong"]
    assert "late" not in told["What to label"]
    ledger.adjudication.decide("p", "i1", ["x"], reason="guideline gap")
    ledger.annotators.pause("p", "bo", note="rule gold accuracy < 0.7: 0.4")
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).date()
    ledger.assignments.assign("p", to=["cleo"], per_annotator=2, answers=3, until=tomorrow)
    assert "late" not in lines(ledger.digest("p"))["What to label"]
    with ledger.database.write() as connection:
        tampering(connection)
        connection.execute(text("UPDATE batches SET until = 1"))
    digest = ledger.digest("p")
    (question,) = digest.questions
    assert (question.contested, question.gaps) == (2, 1)
    assert len(ledger.adjudication.list("p").items) == 2
    told = lines(digest)
    assert "1 gap of the guideline to close: tracker adjudicate gaps p" in told["What to decide"]
    assert (
        "bo was paused: rule gold accuracy < 0.7: 0.4."
        in told["Whom to talk to, and what is wrong"]
    )
    assert "Assigned and late: cleo 2" in told["What to label"]
    assert digest.late == [{"annotator": "cleo", "late": 2}]
    ledger.notes.add("p", "it says so", guideline="v2", settles_gaps=True)
    assert ledger.digest("p").questions[0].gaps == 0
