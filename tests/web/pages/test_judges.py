"""Models as judges: all of them, and one."""

from __future__ import annotations

import pandas as pd
from fastapi.testclient import TestClient

from tests.filled import FillOnce
from tests.judge.faces import VERDICTS, fill_judges
from tests.web.reading import read
from tracker.ledger import Ledger
from tracker.projects.questions import QuestionOptions


def test_each_judge_reads_as_its_verdict(
    client: TestClient, ledger: Ledger, fill_once: FillOnce
) -> None:
    fill_once(ledger, fill_judges)
    listed = read(client, "/projects/judged/judges")
    shown = {row[0]: row[1] for row in listed.rows if row[0] in VERDICTS}
    assert shown == VERDICTS
    assert "good is surely better than" in listed.text
    for name, verdict in VERDICTS.items():
        page = read(client, listed.to(name))
        assert verdict in page.text
        assert f"tracker judge judged --model {name}" in page.text
    assert "surely no more than 0.05 below" in read(client, listed.to("good")).text
    assert "Have people answer more" in read(client, listed.to("few")).text
    overview = read(client, "/projects/judged")
    assert overview.to("Models as judges") == "/projects/judged/judges"
    assert all(f"{verdict} {name}" in overview.text for name, verdict in VERDICTS.items())


def test_a_confusion_leads_to_items_with_both_answers(
    client: TestClient, ledger: Ledger, fill_once: FillOnce
) -> None:
    fill_once(ledger, fill_judges)
    page = read(client, "/projects/judged/judges/poor")
    (judge,) = ledger.judges.judge("judged", models=["poor"]).judges
    worst = judge.confusion[0]
    assert [worst.truth, worst.given, f"{worst.items:,}"] in page.rows
    items = read(client, page.to("See these items"))
    assert f"Answered by poor; somebody else gave {worst.truth}" in items.text
    votes = [row[1] for row in items.rows[1:]]
    assert votes
    assert all(name in vote for vote in votes for name in (worst.truth, worst.given))
    assert read(client, page.to("ann")).text
    assert "As a judge beside people" in read(client, page.to("poor")).text


def test_a_project_without_models_says_what_to_do(client: TestClient, ledger: Ledger) -> None:
    rows = [("1", "a", "x"), ("1", "b", "y")]
    ledger.import_frame(pd.DataFrame(rows, columns=["item", "annotator", "category"]), "p")
    page = read(client, "/projects/p/judges")
    assert "No model has answered here." in page.text
    assert "tracker annotator kind NAME model -p p" in page.text
    assert page.to("annotators") == "/projects/p/annotators"
    assert "Models as judges" not in read(client, "/projects/p").text
    assert "no answer of a model 'a'" in read(client, "/projects/p/judges/a", 404).text
    ledger.annotators.kind("p", "b", "model")
    alone = read(client, "/projects/p/judges/b").text
    assert "not enough answers to say" in alone
    assert "two or more must answer the items" in alone


def test_a_judge_of_several_questions_has_a_page_of_each(
    client: TestClient, ledger: Ledger
) -> None:
    rows = [(str(n), who, "xy"[(n + (who == "m")) % 2], "uv"[n % 2]) for n in range(40)
            for who in ("a", "b", "m")]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["item", "annotator", "tone", "safe"])
    ledger.import_frame(frame, "p", questions=["tone=tone", "safe=safe"])
    ledger.annotators.kind("p", "m", "model")
    tone = read(client, "/projects/p/judges/m?question=tone")
    assert "not trusted" in tone.text
    assert "trusted" in read(client, tone.to("safe")).text
    assert "Where it errs" in tone.text
    read(client, "/projects/p/judges/m?question=none", 404)


def test_numbers_and_spans_have_judges(client: TestClient, ledger: Ledger) -> None:
    rows = [(str(n), who, n + (who == "m") * (n % 3)) for n in range(40) for who in ("a", "b", "m")]
    frame = pd.DataFrame(rows, columns=["item", "annotator", "category"])
    ledger.import_frame(frame, "p", options=QuestionOptions(scale="interval"))
    ledger.annotators.kind("p", "m", "model")
    page = read(client, "/projects/p/judges/m")
    assert "Where it errs" not in page.text, "of many numbers no category is looked at"
    ledger.projects.create("s", answers="spans")
    rows = [(str(n), who, "x", 0, 3 + (who == "m")) for n in range(40) for who in ("a", "b", "m")]
    columns = ["item", "annotator", "category", "start", "end"]
    ledger.import_frame(pd.DataFrame(rows, columns=columns), "s")
    ledger.annotators.kind("s", "m", "model")
    assert "not trusted" in read(client, "/projects/s/judges/m").text
