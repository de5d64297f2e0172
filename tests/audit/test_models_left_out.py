"""Models are left out aloud: of the audit, and of figures where nobody else has answered."""

from __future__ import annotations

import pandas as pd
import pytest

from tests.report.projects import PEOPLE, abc, answers
from tests.report.test_pages import page_of
from tracker.agreement.tables import agreement_view
from tracker.audit.tables import audit_view
from tracker.ledger import Ledger
from tracker.report.gathered import Asked
from tracker.report.markdown import markdown_text
from tracker.report.report import report_document

MODELS = {"judge": lambda n: abc(n + (n % 9 == 4)), "odd": lambda n: abc(n + 1 + n % 2)}


@pytest.fixture
def judged(ledger: Ledger) -> Ledger:
    ledger.import_frame(pd.DataFrame(answers({**PEOPLE, **MODELS}, 60)), "p")
    ledger.import_frame(pd.DataFrame(answers(MODELS, 60)), "alone")
    for project in ("p", "alone"):
        for model in MODELS:
            ledger.annotators.kind(project, model, "model")
    return ledger


def test_an_audit_names_the_models_that_it_leaves_out(judged: Ledger) -> None:
    assert judged.audit("p").to_dict()["models_left_out"] == ["judge", "odd"]
    assert judged.audit("p", exclude_annotators=["odd"]).to_dict()["models_left_out"] == ["judge"]
    named = judged.audit("p", annotators=["ada", "bo", "cleo", "odd"]).to_dict()
    assert named["models_left_out"] == []
    assert [row["annotator"] for row in named["annotators"]] == ["ada", "bo", "cleo", "odd"]


def test_what_stands_out_in_a_model_is_told_apart(judged: Ledger) -> None:
    found = {one.model: one.to_dict() for one in judged.models("p")}
    assert found["judge"]["findings"] == []
    assert {one["kind"] for one in found["odd"]["findings"]} == {"low_agreement"}
    text = page_of(judged).text
    assert "odd: not trusted. odd agrees with people less than they do with each other" in text
    assert "judge and odd are models and left out; beside the people's the answers of odd" in text
    hidden = page_in_numbers(judged)
    assert "odd" not in hidden.replace("odds", "")
    assert "annotator 5: not trusted." in hidden


def page_in_numbers(ledger: Ledger) -> str:
    return markdown_text(report_document(ledger, Asked("p", pseudonyms=True))).decode()


def test_answers_of_models_alone_are_no_silence(judged: Ledger) -> None:
    said = "No person has answered; 120 answers are by models (name them with --annotator)."
    assert judged.agreement("alone").to_dict()["warnings"] == [said]
    assert judged.agreement("alone", annotators=["judge", "odd"]).warnings == ()
    assert judged.agreement("p").warnings == ()
    assert said in page_of(judged, "alone").text
    assert said in "".join(map(str, agreement_view(judged.agreement("alone"))))
    shown = "".join(map(str, audit_view(judged.audit("alone"))))
    assert "To compare them with each other: tracker audit alone --annotator judge" in shown
