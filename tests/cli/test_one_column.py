"""A column of a table is added in one place."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.cli.conftest import Run
from tracker.agreement import columns
from tracker.ledger import Ledger
from tracker.render.blocks import Column
from tracker.web.app import create_app

ROWS = "item,annotator,label\n1,P,x\n1,Q,x\n2,P,y\n2,Q,x\n3,P,y\n3,Q,y\n"
TABLES = {
    "CATEGORY_COLUMNS": [],
    "MEASURE_COLUMNS": [],
    "PAIR_COLUMNS": ["--by", "pair"],
    "CONFUSION_COLUMNS": ["--by", "confusion"],
}


@pytest.mark.parametrize("name", TABLES)
def test_a_column_appears_in_every_face(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    url = f"sqlite:///{folder}/tracker.db"
    Path("answers.csv").write_text(ROWS, "utf-8")
    run("import", "answers.csv", "-p", "p")
    monkeypatch.setattr(columns, name, (*getattr(columns, name), Column("toys", kind="count")))
    for form in ("table", "markdown", "latex", "html"):
        assert "toys" in run("agreement", "p", *TABLES[name], "--format", form).out, form
    for file in ("page.html", "page.md"):
        run("report", "p", "-o", file)
        assert "toys" in Path(file).read_text("utf-8"), file
    with TestClient(create_app(Ledger(url)), base_url="http://127.0.0.1:8000") as client:
        assert "Toys" in client.get("/projects/p/questions/label").text
