"""A file's questions under other names: each is answered as the file says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.formats.reading import EXPORTS
from tests.questions import labels
from tracker.core.errors import Refused
from tracker.ledger import Ledger

SPANS = EXPORTS / "label-studio" / "notices-spans.json"
TOPICS = EXPORTS / "label-studio" / "parcels-topics.json"


@pytest.mark.parametrize(
    ("file", "column", "answers"),
    [
        (EXPORTS / "inception" / "news", "NamedEntity.value", "spans"),
        (SPANS, "label", "spans"),
        (TOPICS, "topics", "several"),
        (EXPORTS / "label-studio" / "parcels-choice.json", "sentiment", "one"),
    ],
)
def test_a_renamed_question_is_answered_as_in_its_file(
    ledger: Ledger, file: Path, column: str, answers: str
) -> None:
    ledger.projects.create("there")
    for project in ("new", "there"):
        made = ledger.import_file(file, project, questions=[f"mine={column}"])
        asked = {one.name: one.answers for one in ledger.questions.list(project)}
        assert asked["mine"] == answers
        assert made.inserted == made.rows > 0
    assert labels(ledger, "mine", "new") == labels(ledger, "mine", "there")


def test_a_scale_that_the_user_says_stays(ledger: Ledger) -> None:
    ledger.import_file(SPANS, "p", questions=["ent=label:PER<ORG<LOC"])
    (made,) = ledger.questions.list("p")
    assert (made.answers, made.scale) == ("spans", "ordinal")


def test_a_question_of_another_kind_is_told_with_its_column(ledger: Ledger) -> None:
    with pytest.raises(Refused, match="'ent' is a question of one category") as caught:
        ledger.import_file(SPANS, "p", questions=["ent=label:one"])
    assert caught.value.mend.endswith("another question: --question NAME=label:spans")
    ledger.import_file(TOPICS, "p", questions=["ent=topics"])
    with pytest.raises(Refused, match="'ent' is a question of several categories") as caught:
        ledger.import_file(SPANS, "p", questions=["ent=label"])
    assert caught.value.mend.endswith("another question: --question NAME=label:spans")


def test_a_name_that_no_answer_has_is_told_with_those_that_there_are(ledger: Ledger) -> None:
    with pytest.raises(Refused, match="left out: 6 answers to 'label'") as caught:
        ledger.import_file(SPANS, "p", questions=["x=ent:spans"])
    assert caught.value.mend == "it has no question 'ent'; it has: label"
    assert ledger.projects.list() == []
