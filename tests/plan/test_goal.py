"""Goals: set with what they are about, and told with what is missing, in every face."""

from __future__ import annotations

import pytest

from tests.plan.test_plan import fill
from tracker.core.errors import InvalidOption, NotFound
from tracker.counts.trail import change_sentence
from tracker.history.status import status_as_json
from tracker.ledger import Ledger
from tracker.ledger.figures import Figures


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


@pytest.mark.parametrize(
    ("goal", "deadline", "error"),
    [
        ("alpha", None, InvalidOption),
        ("alhpa +-0.1", None, InvalidOption),
        ("span_f1_exact +-0.1", None, InvalidOption),
        ("share:w +-0.1", None, NotFound),
        ("alpha +-.1", "31.12.2026", InvalidOption),
        (None, "2026-12-31", InvalidOption),
    ],
)
def test_what_is_no_goal_is_refused(
    ledger: Ledger, goal: str | None, deadline: str | None, error: type[Exception]
) -> None:
    fill(ledger, 20)
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
    assert now is not None
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


def test_a_status_has_the_goals_of_all_questions(ledger: Ledger) -> None:
    fill(ledger, 100)
    ledger.projects.set("p", goal="alpha +-0.05")
    ledger.questions.add("p", "tone")
    page = Figures(ledger).status("p").json()
    assert [goal["question"] for goal in page["goals"]] == ["label"]
    assert "goals" in status_as_json(ledger.status_by_question("p"))


def test_figures_that_are_kept_stay_when_a_goal_is_set(ledger: Ledger) -> None:
    from tracker.projects.projects import answers_revision, find_project

    fill(ledger, 20)

    def revision() -> object:
        with ledger.database.read() as connection:
            return answers_revision(connection, find_project(connection, "p").id)

    before = revision()
    ledger.projects.set("p", goal="alpha +-0.05")
    assert revision() == before
