"""Decisions by programs: what is listed, decided, refused and taken back."""

from __future__ import annotations

import pandas as pd
from fastapi.testclient import TestClient

from tracker.ledger import Ledger
from tracker.web.app import create_app

ROWS = [("i1", "ada", "x"), ("i1", "bo", "y"), ("i2", "ada", "x"), ("i2", "bo", "z")]


def test_a_program_lists_decides_and_takes_back(ledger: Ledger) -> None:
    ledger.import_frame(pd.DataFrame(ROWS, columns=["item", "annotator", "category"]), "p")
    with TestClient(create_app(ledger), base_url="http://127.0.0.1:8000/api/v1/projects/p") as to:
        listed = to.get("/adjudication", params={"limit": 1}).json()["items"]
        assert [one["item"] for one in listed] == ["i1"]
        address, body = "/items/i1/decision", {"categories": ["x"], "reason": "ambiguous"}
        decided = to.post(address, json=body)
        assert (decided.status_code, decided.json()["before"]) == (200, None)
        refused = to.post(address, json=body | {"categories": ["y"]})
        assert refused.status_code == 422
        assert "'i1' is decided: x (ambiguous)" in refused.json()["detail"]
        seen = decided.json()["decision"]["decision"]
        again = to.post(address, json=body | {"categories": ["y"], "replaces": seen})
        assert again.json()["before"]["decision"] == seen
        shown = to.get("/items/i1/adjudication").json()
        assert shown["decision"]["categories"] == ["y"]
        assert [one["item"] for one in to.get("/adjudication").json()["items"]] == ["i2"]
        assert to.get("/adjudication/reasons").json()["decisions"] == 1
        assert to.delete(address).json()["before"]["categories"] == ["x"]
        assert to.delete(address).json()["before"] is None
        assert to.delete(address).status_code == 404
        assert to.post(address, json={"reason": "moon"}).status_code == 422
