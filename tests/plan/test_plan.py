"""Plans: what is wanted, the ways there, and that a plan keeps its word."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.helpers import count_statements, give
from tracker.core.errors import InvalidOption, NotFound
from tracker.counts.trail import change_sentence
from tracker.history.status import status_as_json
from tracker.ledger import Ledger
from tracker.ledger.figures import Figures
from tracker.plan.plan import Plan, read_assumed
from tracker.projects.goals import Want, read_want
from tracker.projects.projects import answers_revision, find_project

PEOPLE = ("ann", "bob", "cat")


def test_wanted_width_and_assumptions_are_read() -> None:
    for wish, want in (
        ("alpha +-0.05", Want("krippendorff_alpha", None, 0.05)),
        ("fleiss_kappa±.1", Want("fleiss_kappa", None, 0.1)),
        ("rate:very good +/- .03", Want("rate", "very good", 0.03)),
        (" share:a:b  +- 0.02 ", Want("share", "a:b", 0.02)),
    ):
        assert read_want(wish) == want
    assert read_assumed("alpha=.5, prevalence=.2").shares == pytest.approx([0.2, 0.8])
    assert read_assumed("alpha=.5,prevalence=.2/.3/.5").shares == pytest.approx([0.2, 0.3, 0.5])


def test_unreadable_wish_or_assumption_is_refused() -> None:
    readers: list[tuple[Callable[[str], Any], tuple[str, ...]]] = [
        (read_want, ("", "alpha 0.05", "alpha +- x", "alpha +-0", "alpha +-1.5", "mean:x +-.1")),
        (read_assumed, (
            "", "alpha=.5", "alpha=2,prevalence=.2", "alpha=.5,prevalence=1",
            "alpha=.5,prevalence=.6/.5", "alpha=.5,prevalence=x", "alpha=.5,prevalence=.2,x=1")),
    ]  # fmt: skip
    for read, texts in readers:
        for text in texts:
            with pytest.raises(InvalidOption):
                read(text)


def fill(
    ledger: Ledger, items: int, *, first: int = 0, answers: int = 3, seed: int = 1, **options: Any
) -> None:
    """Give items with three categories, of which an answer has the true one with .8."""
    draw = np.random.default_rng([seed, first])
    rows = []
    for number in range(first, first + items):
        truth = draw.choice(3, p=[0.5, 0.3, 0.2])
        for who in range(answers):
            other = draw.choice(3) if draw.random() > 0.7 else truth
            at = (datetime.now(UTC) - timedelta(days=number % 20, hours=1)).isoformat()
            rows.append((f"item {number}", f"person {who}", "xyz"[other], at))
    give(ledger, rows, "p", "labeled_at", **options)


def ways_of(plan: Plan) -> dict[str, dict[str, Any]]:
    return {way["way"]: way for way in plan.to_dict()["ways"]}


def test_items_grow_with_the_square_of_the_width(ledger: Ledger) -> None:
    fill(ledger, 300)
    now = ledger.plan("p", "alpha +-0.5").now
    assert (now.items, now.answers_per_item) == (300, 3.0)
    plan = ledger.plan("p", f"alpha +-{now.half_width / 2}", cost=0.1)
    more = ways_of(plan)["more_items"]
    assert more["items"] == pytest.approx(4 * 300, rel=0.03)
    assert more["answers"] == (more["items"] - 300) * 3
    assert more["answers_low"] < more["answers"] < more["answers_high"]
    assert more["half_width"] == pytest.approx(now.half_width / 2, rel=0.01)
    assert more["cost"] == pytest.approx(more["answers"] * 0.1)
    answers = [way.answers for way in plan.ways]
    assert answers == sorted(answers)
    days = more["answers"] / plan.pace.per_day
    ready = pd.Timestamp(more["ready_on"]) - pd.Timestamp.now().normalize()
    assert ready.days == pytest.approx(days, abs=1.1)


def test_a_plan_of_all_items_again_is_what_they_turn_out_to_be(ledger: Ledger) -> None:
    """A first part of the items plans the whole; a share's width is known well from it."""
    for measure in ("alpha", "share:x"):
        fill(ledger, 200, seed=3)
        wanted = 0.035
        way = ways_of(ledger.plan("p", f"{measure} +-{wanted}"))["more_items"]
        fill(ledger, way["items"] - 200, first=200, seed=3)
        now = ledger.plan("p", f"{measure} +-{wanted}").now
        assert now.items == way["items"]
        assert now.half_width == pytest.approx(wanted, rel=0.1)
        ledger.projects.delete("p")


def test_more_answers_to_the_same_items_come_closer(ledger: Ledger) -> None:
    fill(ledger, 400)
    wanted = 0.042
    way = ways_of(ledger.plan("p", f"alpha +-{wanted}"))["more_answers"]
    assert way["items"] == 400
    assert way["answers"] == 400 * (way["answers_per_item"] - 3)
    ledger.projects.delete("p")
    fill(ledger, 400, answers=way["answers_per_item"])
    assert ledger.plan("p", "alpha +-.5").now.half_width < wanted * 1.1


def test_a_way_that_does_not_lead_there_is_left_out_with_its_reason(ledger: Ledger) -> None:
    fill(ledger, 100)
    plan = ledger.plan("p", "alpha +-0.01")
    assert "more_answers" not in ways_of(plan)
    (left_out,) = plan.left_out
    assert left_out.way == "more_answers"
    assert "even 10 answers to each of the 100 items" in left_out.why


def test_figures_of_pairs_tell_of_more_items_alone(ledger: Ledger) -> None:
    fill(ledger, 100, answers=2)
    plan = ledger.plan("p", "cohen_kappa +-0.05")
    assert [way.way for way in plan.ways] == ["more_items"]
    assert {row.way for row in plan.left_out} == {"more_answers", "both"}


def test_items_of_different_numbers_of_answers_are_topped_up(ledger: Ledger) -> None:
    fill(ledger, 200)
    fill(ledger, 200, first=200, answers=2)
    plan = ledger.plan("p", "alpha +-0.02")
    assert plan.now.answers_per_item == 2.5
    both = ways_of(plan)["both"]
    lacking = {200: both["answers_per_item"] - 3, 0: both["answers_per_item"] - 2}
    topped_up = sum(200 * max(missing, 0) for missing in lacking.values())
    assert both["answers"] == topped_up + (both["items"] - 400) * both["answers_per_item"]
    now = plan.now.half_width
    nearly = ways_of(ledger.plan("p", f"alpha +-{now * 0.97}"))["more_answers"]
    assert (nearly["answers_per_item"], nearly["answers"]) == (3, 200)


def test_answers_that_nearly_agree_are_planned_on_their_scale(ledger: Ledger) -> None:
    draw = np.random.default_rng(4)
    rows = [(str(item), who, str(int(np.clip(round(mean + draw.normal()), 1, 9))))
            for item, mean in enumerate(draw.uniform(1, 9, 200)) for who in PEOPLE]  # fmt: skip
    ledger.projects.create("p", scale="interval")
    give(ledger, rows)
    now = ledger.plan("p", "alpha +-.5").now
    plan = ledger.plan("p", f"alpha +-{now.half_width * 0.85}")
    assert {"more_items", "more_answers"} <= {*ways_of(plan)}


def test_a_plan_before_there_are_answers_is_of_what_is_assumed(ledger: Ledger) -> None:
    def plan(**changed: Any) -> Plan:
        options: dict[str, Any] = {"assume": "alpha=.6,prevalence=.2", "answers_each": 3}
        return ledger.plan(None, "alpha +-0.05", pilot=True, **options | changed)

    three = plan()
    assert three.assumed == {"alpha": 0.6, "prevalence": [0.2, 0.8]}
    assert three.ways[0].way == "more_items"
    assert three.ways[0].items * 3 == three.ways[0].answers
    five = ways_of(plan(answers_each=5))["more_items"]
    assert five["items"] < three.ways[0].items < five["answers"]
    assert plan(answers_each=None) == three
    wide = ledger.plan(None, "alpha +-0.9", pilot=True, assume="alpha=.6,prevalence=.2")
    assert 2 <= wide.ways[0].items < 20
    with pytest.raises(InvalidOption, match="cannot plan share:x"):
        ledger.plan(None, "share:x +-.1", pilot=True, assume="alpha=.6,prevalence=.2",
                    answers_each=3)  # fmt: skip


def test_a_plan_costs_the_same_statements_of_more_answers(ledger: Ledger) -> None:
    numbers = Counter[int]()
    for first, items in ((0, 50), (50, 400)):
        fill(ledger, items, first=first)
        with count_statements(ledger.database.engine) as counted:
            ledger.plan("p", "alpha +-0.01")
        numbers[counted.number] += 1
    assert len(numbers) == 1


def test_a_goal_is_set_changed_and_taken_back(ledger: Ledger) -> None:
    fill(ledger, 20)
    revision = ledger.revision("p")
    own = ledger.projects.set("p", goal=" alpha  +-.05", deadline="2026-12-31").question
    assert (own.goal, own.deadline) == ("krippendorff_alpha +-0.05", "2026-12-31")
    assert ledger.revision("p") != revision
    assert ledger.projects.set("p", goal="share:x +-0.03").question.deadline == "2026-12-31"
    assert ledger.projects.set("p", wanted=4).question.goal == "share:x +-0.03"
    assert ledger.projects.set("p", deadline="").question.deadline is None
    ledger.projects.set("p", deadline="2027-01-01")
    none = ledger.projects.set("p", goal="").question
    assert (none.goal, none.deadline) == (None, None)
    told = [change_sentence(act) for act in ledger.projects.changes("p", about="settings").acts]
    first, second = "krippendorff_alpha +-0.05 by 2026-12-31", "share:x +-0.03 by 2026-12-31"
    assert f"set the goal of label from {first} to {second}" in told
    with ledger.database.read() as connection:
        project = find_project(connection, "p").id
        before = answers_revision(connection, project)
    ledger.projects.set("p", goal="alpha +-0.05")
    with ledger.database.read() as connection:
        assert answers_revision(connection, project) == before, "kept figures stay"


def test_impossible_goal_is_refused(ledger: Ledger) -> None:
    fill(ledger, 20)
    for goal, deadline, error in (
        ("alpha", None, InvalidOption),
        ("alhpa +-0.1", None, InvalidOption),
        ("span_f1_exact +-0.1", None, InvalidOption),
        ("share:w +-0.1", None, NotFound),
        ("alpha +-.1", "31.12.2026", InvalidOption),
        (None, "2026-12-31", InvalidOption),
    ):
        with pytest.raises(error):
            ledger.projects.set("p", goal=goal, deadline=deadline)
    assert ledger.projects.show("p").question.goal is None


def test_a_goal_is_told_with_what_is_missing(ledger: Ledger) -> None:
    ledger.projects.create("p")
    assert ledger.goals("p") == []
    ledger.projects.set("p", goal="alpha +-0.05", deadline="2026-12-31")
    (none,) = ledger.goals("p")
    assert (none.value, none.reached, none.on_track) == (None, False, None)
    assert "has no error yet" in none.why
    fill(ledger, 300)
    now = ledger.plan("p", "alpha +-.5").now.half_width
    for wanted, deadline, on_track, words in [
        (now * 1.1, "2026-12-31", True, "so that is reached"),
        (now / 2, "9999-12-31", True, ", in time"),
        (now / 2, "2000-01-01", False, ", too late"),
        (now / 2, "", None, "at the pace of now"),
    ]:
        ledger.projects.set("p", goal=f"alpha +-{wanted}", deadline=deadline)
        (goal,) = ledger.goals("p")
        assert goal.on_track is on_track
        assert words in goal.why
        assert goal.reached == (wanted > now)
    ledger.projects.set("p", deadline=goal.ready_on)
    assert ledger.goals("p")[0].on_track, "on the day itself it is in time"
    ledger.questions.add("p", "tone")
    page = Figures(ledger).status("p").json()
    assert [row["question"] for row in page["goals"]] == ["label"]
    assert "goals" in status_as_json(ledger.status_by_question("p"))
