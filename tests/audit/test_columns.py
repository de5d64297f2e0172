"""A table is declared once: every face writes its columns, under the titles that are declared."""

from __future__ import annotations

from pathlib import Path

from starlette.testclient import TestClient

from tests.cli.conftest import Run, folder, run
from tracker.audit.columns import PEOPLE
from tracker.ledger import Ledger
from tracker.render.blocks import columns_of
from tracker.web.app import create_app

__all__ = ["folder", "run"]

ROWS = "item,annotator,label\n1,P,x\n1,Q,x\n1,R,x\n2,P,y\n2,Q,x\n2,R,y\n3,P,y\n3,Q,y\n3,R,x\n"


def test_annotators_have_the_same_columns_in_every_face(run: Run, folder: Path) -> None:
    Path("answers.csv").write_text(ROWS, "utf-8")
    run("import", "answers.csv", "-p", "p")
    run("report", "p", "-o", "page.md")
    ledger = Ledger(f"sqlite:///{folder}/tracker.db")
    rows = ledger.audit("p").to_dict()["annotators"]
    with TestClient(create_app(ledger), base_url="http://127.0.0.1:8000") as client:
        written = {
            "terminal": run("audit", "p", "--format", "markdown").out,
            "report": Path("page.md").read_text("utf-8"),
            "page": client.get("/projects/p/annotators").text,
        }
    for face, text in written.items():
        columns = columns_of(PEOPLE, rows, face)
        assert "right on gold" not in {column.heading for column in columns}
        headings = [column.capital if face == "page" else column.heading for column in columns]
        assert [heading for heading in headings if heading not in text] == [], face
