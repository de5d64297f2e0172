"""Projects that ask several questions: their snapshots and figures, together and one by one."""

from __future__ import annotations

from contextlib import nullcontext
from datetime import UTC, datetime

import pytest
from sqlalchemy import text

from tests.audit.flags.found import Seen, record_in
from tests.filled import FillOnce
from tests.helpers import Write, stored
from tests.history.scripts import tampering
from tests.questions import FILES, ONLY, OPTIONS, answer_question, fill_rubrics
from tracker.core.errors import InvalidOption, NotFound
from tracker.history.take import take_snapshot
from tracker.history.verify import verify_snapshots_in_turn
from tracker.ledger import Ledger
from tracker.projects.annotators import annotator_names
from tracker.projects.projects import find_project
from tracker.projects.questions import list_questions

NAMES = list(FILES)
HEADER = "item,annotator,category\n"


@pytest.fixture
def rubric(ledger: Ledger, fill_once: FillOnce) -> Ledger:
    """Three questions, and each of them as a project of its own."""
    return fill_once(ledger, fill_rubrics)


def test_a_snapshot_has_one_number_and_the_figures_of_each_question(rubric: Ledger) -> None:
    taken = rubric.snapshot_by_question("p", name="first")
    assert list(taken.questions) == NAMES
    told = {(one.snapshot.id, one.snapshot.taken_at) for one in taken.questions.values()}
    assert [number for number, _ in told] == [1]
    for name, one in taken.questions.items():
        alone = rubric.snapshot(name)
        assert one.snapshot.assessment.figures() == alone.assessment.figures()
    with pytest.raises(InvalidOption, match="has a snapshot named 'first'"):
        rubric.snapshot_by_question("p", name="first")
    for refused in (lambda: rubric.snapshot("p"), lambda: rubric.snapshot("p", question="tone")):
        with pytest.raises(InvalidOption):
            refused()
    assert stored(rubric)["snapshots"] == 6


def test_a_question_that_is_added_has_the_projects_next_number(
    rubric: Ledger, write: Write
) -> None:
    assert rubric.snapshot_by_question("p", if_changed=True).fresh
    again = rubric.snapshot_by_question("p", if_changed=True)
    assert (again.fresh, again.id) == (False, 1)
    answer_question(rubric, write(HEADER + "1,ada,x\n1,bo,x\n2,ada,y\n2,bo,x"), "late")
    taken = rubric.snapshot_by_question("p", if_changed=True)
    assert list(taken.questions) == [*NAMES, "late"]
    assert {one.snapshot.id for one in taken.questions.values()} == {2}
    assert list(rubric.snapshot_pages("p", "last~1").questions) == NAMES
    with pytest.raises(NotFound):
        rubric.snapshot_pages("p", 1, questions=["late"])
    verified = rubric.verify("p")
    assert (verified.passed, verified.snapshots, verified.recomputed) == (True, 2, 2)


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
        assert {(one.question, one.snapshot) for one in verified.faults} == {(name, 1)}


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
    assert (verified.passed, verified.thinned, verified.recomputed) == (True, 1, 2)


def test_a_question_that_a_measure_does_not_fit_says_so(rubric: Ledger) -> None:
    for found in (
        rubric.agreement_by_question("p", measures=["fleiss_kappa"]),
        rubric.history_by_question("p", None, measures=["fleiss_kappa"]),
    ):
        told = found.to_dict()["questions"][2]
        assert (told["question"], told["undefined"]) == ("where", "not_applicable")
    with pytest.raises(InvalidOption, match="does not fit 'where'"):
        rubric.agreement_by_question("p", questions=["where"], measures=["fleiss_kappa"])
    (unfit, _) = rubric.agreement_by_question("p", weights="quadratic").unfit
    assert unfit.why == "quadratic weights need numbers, and the categories of 'p' are not"
    assert list(rubric.history_by_question("p", "week").questions) == [ONLY, "tone"]


def test_who_is_flagged_on_a_question_is_left_out_of_its_figures_alone(rubric: Ledger) -> None:
    with rubric.changing("p", "tone") as (connection, question):
        people = annotator_names(connection, question.project).items()
        bo = next(number for number, name in people if name == "bo")
        record_in(connection, question, Seen(bo))
    pages = rubric.agreement_by_question("p", exclude_flagged=True).to_dict()["questions"]
    without = rubric.agreement("p", question="tone", exclude_annotators=["bo"]).to_dict()
    assert without["counts"]["annotators"] == 2
    for page in pages:
        name = page["question"]
        expected = without if name == "tone" else rubric.agreement("p", question=name).to_dict()
        assert {key: page[key] for key in expected} == expected
    counts = [one.findings for one in rubric.agreement_by_question("p").questions]
    assert sorted(counts) == [0, 0, 1]


def test_the_change_is_that_since_the_last_snapshot_of_the_question(rubric: Ledger) -> None:
    with rubric.changing("p", "tone") as (connection, tone):
        take_snapshot(connection, tone)
    before = rubric.agreement("p", question="tone").main.value
    rubric.categories.merge("p", "3", "2", question="tone")
    found = {one.question.name: one for one in rubric.agreement_by_question("p").questions}
    assert before is not None
    assert found["tone"].main.value is not None
    assert found["tone"].change == pytest.approx(found["tone"].main.value - before)
    assert (found[ONLY].last, found[ONLY].change) == (None, None)
    # A snapshot is not before what was the case on a day before it.
    past = rubric.agreement_by_question("p", questions=["tone"], as_of="2020-01-01").questions
    assert past[0].last is None
    # Computed in another way the figures are not comparable.
    weighted = rubric.agreement_by_question("p", questions=["tone"], scale="nominal").questions
    assert weighted[0].change is None


def test_before_a_question_was_made_it_is_left_out_with_a_note(
    ledger: Ledger, write: Write
) -> None:
    answer_question(ledger, write(FILES[ONLY]))
    before = datetime.now(UTC)
    answer_question(ledger, write(FILES["tone"]), "tone", options=OPTIONS["tone"])
    ledger.questions.add("p", "new")
    told: list[str] = []
    ledger.notice = told.append
    found = ledger.agreement_by_question("p", known_at=before).questions
    assert [one.question.name for one in found] == [ONLY]
    assert "left out, because it was not asked then: 'tone', 'new'" in told
    assert len(ledger.status_by_question("p", known_at=before)) == 1
    with pytest.raises(InvalidOption, match="'tone': not asked then"):
        ledger.agreement("p", question="tone", known_at=before)
