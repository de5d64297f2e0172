"""Snapshots of projects that ask several questions: one number, a record of each."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest
from sqlalchemy import text

from tests.filled import FillOnce
from tests.helpers import stored
from tests.history.scripts import tampering
from tests.questions import FILES, ONLY, answer_question, fill_rubrics
from tracker.core.errors import InvalidOption, NotFound
from tracker.history.verify import verify_snapshots_in_turn
from tracker.ledger import Ledger
from tracker.projects.projects import find_project
from tracker.projects.questions import list_questions

Write = Callable[..., Path]
NAMES = list(FILES)
HEADER = "item,annotator,category\n"


@pytest.fixture
def rubric(ledger: Ledger, fill_once: FillOnce) -> Ledger:
    """Three questions, and each of them as a project of its own."""
    return fill_once(ledger, fill_rubrics)


def test_a_snapshot_has_one_number_and_the_figures_of_each_question(rubric: Ledger) -> None:
    taken = rubric.snapshot_by_question("p", name="first")
    assert list(taken.questions) == NAMES
    assert {one.snapshot.id for one in taken.questions.values()} == {1}
    assert len({one.snapshot.taken_at for one in taken.questions.values()}) == 1
    for name, one in taken.questions.items():
        alone = rubric.snapshot(name)
        assert one.snapshot.assessment.figures() == alone.assessment.figures()
    assert stored(rubric)["snapshots"] == 6
    told = taken.to_dict()
    assert told["snapshot"] == 1
    assert [page["question"] for page in told["questions"]] == NAMES
    with pytest.raises(InvalidOption, match="has a snapshot named 'first'"):
        rubric.snapshot_by_question("p", name="first")
    for refused in (lambda: rubric.snapshot("p"), lambda: rubric.snapshot("p", question="tone")):
        with pytest.raises(InvalidOption):
            refused()
    assert stored(rubric)["snapshots"] == 6


def test_one_is_taken_if_any_question_changed(rubric: Ledger, write: Write) -> None:
    assert rubric.snapshot_by_question("p", if_changed=True).fresh
    again = rubric.snapshot_by_question("p", if_changed=True)
    assert (again.fresh, again.id) == (False, 1)
    answer_question(rubric, write(HEADER + "9,ada,2\n9,bo,2"), "tone")
    taken = rubric.snapshot_by_question("p", if_changed=True)
    assert (taken.fresh, taken.id, taken.before) == (True, 2, 1)
    assert stored(rubric)["snapshots"] == 6
    assert not rubric.snapshot_by_question("p", if_changed=True).fresh


def test_a_question_that_is_added_has_the_projects_next_number(
    rubric: Ledger, write: Write
) -> None:
    rubric.snapshot_by_question("p")
    answer_question(rubric, write(HEADER + "1,ada,x\n1,bo,x\n2,ada,y\n2,bo,x"), "late")
    taken = rubric.snapshot_by_question("p", if_changed=True)
    assert list(taken.questions) == [*NAMES, "late"]
    assert {one.snapshot.id for one in taken.questions.values()} == {2}
    assert list(rubric.snapshot_pages("p", "last~1").questions) == NAMES
    assert list(rubric.snapshot_pages("p", 2).questions) == [*NAMES, "late"]
    assert rubric.snapshot_page("p", "last", question="late").record.id == 2
    with pytest.raises(NotFound):
        rubric.snapshot_pages("p", 1, questions=["late"])
    verified = rubric.verify("p")
    assert verified.passed
    assert (verified.snapshots, verified.recomputed) == (2, 2)


def test_counting_from_the_last_one_gives_the_same_of_each_question(
    rubric: Ledger, write: Write
) -> None:
    rows = "\n".join(f"{n},{who},{n % 3}" for n in range(60) for who in ("ada", "bo"))
    answer_question(rubric, write(HEADER + rows), "tone")
    rubric.snapshot_by_question("p")
    answer_question(rubric, write(HEADER + "3,cy,1"), "tone")
    taken = rubric.snapshot_by_question("p", check=True)
    reads = {name: one.read for name, one in taken.questions.items()}
    assert reads == {ONLY: 0, "tone": 1, "where": None}
    assert rubric.verify("p").passed


def test_a_tampered_record_is_found_in_its_question(rubric: Ledger) -> None:
    rubric.snapshot_by_question("p")
    rubric.snapshot_by_question("p")
    for number, name in enumerate(NAMES, 1):
        with rubric.database.write(keep=False, bulk=True) as connection:
            tampering(connection)
            project = find_project(connection, "p")
            ours = f"project_id = {project.id} AND question_id = {number} AND id = 1"
            connection.execute(text(f"UPDATE snapshots SET items = items + 1 WHERE {ours}"))
            questions = list_questions(connection, project)
            state = nullcontext((connection, questions))
            verified = verify_snapshots_in_turn(lambda state=state: state, chain_only=True)
        assert not verified.passed
        assert {(one.question, one.snapshot) for one in verified.faults} == {(name, 1)}
        assert verified.to_dict()["faults"][0]["question"] == name


def test_what_one_question_keeps_all_keep(rubric: Ledger, write: Write) -> None:
    rubric.snapshot_by_question("p")
    rubric.snapshot_by_question("p", scale="nominal")  # another reading of tone alone
    rubric.snapshot_by_question("p")
    fates = rubric.prune("p", "last:1", dry_run=True).snapshots
    assert [fate.id for fate in fates] == [1, 2, 3]
    assert [fate.kept_by for fate in fates] == [None, "the last", "the last"]
    assert rubric.prune("p", "last:1").snapshots == fates
    for name in NAMES:
        with pytest.raises(NotFound, match="thinned out"):
            rubric.snapshot_page("p", 1, question=name)
        assert rubric.snapshot_page("p", "last~1", question=name).record.id == 2
    verified = rubric.verify("p")
    assert verified.passed
    assert (verified.snapshots, verified.thinned, verified.recomputed) == (3, 1, 2)
