"""The page of a question of preferences."""

from __future__ import annotations

from pathlib import Path

from fastapi.testclient import TestClient

from tests.agreement.test_preferences import drawn, load
from tracker.ledger import Ledger


def test_a_questions_page_has_strengths_and_who_prefers_a_place(
    ledger: Ledger, client: TestClient, tmp_path: Path
) -> None:
    load(ledger, tmp_path, drawn(items=60))
    page = client.get("/projects/p/questions/label").text
    assert all(f">{title}<" in page for title in ("Strengths", "ada", "Kendall&#39;s tau"))
    assert "<svg" in page
    assert client.get("/api/v1/projects/p/agreement?strengths=true").json() == (
        ledger.strengths("p").to_dict()
    )


def test_without_strengths_the_page_says_why(
    ledger: Ledger, client: TestClient, tmp_path: Path
) -> None:
    load(ledger, tmp_path, [("i1", "ann", "human", "a", "x", "y")])
    page = client.get("/projects/p/questions/label").text
    assert "no strengths: x were never worse than y, nor alike" in page


def test_a_question_of_preferences_is_made_on_the_page_of_settings(
    ledger: Ledger, client: TestClient
) -> None:
    ledger.projects.create("p")
    sent = {"name": "better", "answers": "preference", "scale": "nominal"}
    assert client.post("/projects/p/settings/questions", data=sent).status_code in {200, 303}
    assert ledger.questions.show("p", "better").question.asks == "preference"
    assert "which of two is better" in client.get("/projects/p/settings").text
