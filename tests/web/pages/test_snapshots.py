"""Snapshots in a browser: taken, shown, compared."""

from __future__ import annotations

import pandas as pd
from fastapi.testclient import TestClient

from tests.web.reading import read
from tracker.ledger import Ledger

AT = "/projects/p/snapshots"


def test_a_snapshot_is_taken_listed_and_compared(client: TestClient, flagged: Ledger) -> None:
    assert "No snapshot has been taken yet" in read(client, AT).text
    taken = client.post(AT, data={"name": " first ", "note": "why"})
    assert "Snapshot first" in taken.text
    rows = [(f"item {n:04}", "late", "positive") for n in range(1, 60)]
    flagged.import_frame(pd.DataFrame(rows, columns=["item", "annotator", "category"]), "p")
    client.post(AT)
    page = read(client, AT)
    told = flagged.history("p", measures=["krippendorff_alpha"]).to_dict()["snapshots"]
    assert [(one["name"], one["note"]) for one in told] == [("first", "why"), (None, None)]
    values = [one["measures"][0]["value"] for one in told]
    assert [row[4] for row in page.rows[1:]] == [f"{value:.3f}" for value in values[::-1]]
    compared = read(client, "/projects/p/compare?a=first&b=2")
    (row,) = [row for row in compared.rows if row[0] == "Krippendorff's alpha"]
    assert row[1:4] == [f"{values[0]:.3f}", f"{values[1]:.3f}", f"{values[1] - values[0]:+.3f}"]
    assert "late" in {row[0] for row in compared.rows}


def test_a_state_that_there_is_not_is_told(client: TestClient, flagged: Ledger) -> None:
    assert "none" in read(client, "/projects/p/compare?a=none&b=1", 404).text
    assert read(client, f"{AT}/99", 404).text
    assert "A state is a snapshot" in read(client, "/projects/p/compare").text


def test_a_project_of_several_questions_has_one_snapshot_of_all(
    client: TestClient, ledger: Ledger
) -> None:
    rows = [(item, who, question, "xy"[int(item) % 2]) for item in "1234" for who in "ab"
            for question in ("tone", "topic")]  # fmt: skip
    columns = ["item", "annotator", "question", "category"]
    ledger.import_frame(pd.DataFrame(rows, columns=columns), "p")
    page = client.post(AT)
    assert "<h2>tone</h2>" in page.text
    assert "<h2>topic</h2>" in page.text
    assert '<input type="hidden" name="question" value="' in client.get(AT).text
