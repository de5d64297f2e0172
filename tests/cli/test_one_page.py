"""A page is a file of `web/pages` with its route, and a template: its reader and links follow."""

from __future__ import annotations

from pathlib import Path

import pytest
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from fastapi.testclient import TestClient
from jinja2 import DictLoader

from tests.cli.conftest import Run
from tracker.ledger import Ledger
from tracker.web import app, templating
from tracker.web.identity import Role, needs
from tracker.web.request import AskedLedger, At
from tracker.web.templating import page

router = APIRouter(include_in_schema=False)
TEMPLATE = """{% extends "of_project.html" %}{% block name %}Toys{% endblock %}
{% block content %}<h1>{{ answers | noun("toy") }}</h1>{% endblock %}"""


@router.get("/projects/{project:name}/toys", dependencies=[needs(Role.VIEWER)])
def toys_page(request: Request, place: At, asked: AskedLedger) -> HTMLResponse:
    """Show how many answers there are."""
    answers = asked.figure(
        place.project, "toys",
        compute=lambda it: sum(one.answers for one in it.status_by_question(place.project)),
    )  # fmt: skip
    return page(request, "toys.html", place=place, tab="toys", answers=answers)


def test_a_page_has_its_place_its_moment_and_its_reader(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("answers.csv").write_text("item,annotator,label\n1,P,x\n1,Q,x\n", "utf-8")
    run("import", "answers.csv", "-p", "p")
    monkeypatch.setattr(app, "ROUTERS", (*app.ROUTERS, router))
    loader = templating._environment.loader
    monkeypatch.setattr(loader, "loaders", [*loader.loaders, DictLoader({"toys.html": TEMPLATE})])
    ledger = Ledger(f"sqlite:///{folder}/tracker.db")
    with TestClient(app.create_app(ledger), base_url="http://127.0.0.1") as client:
        text = client.get("/projects/p/toys").text
        assert "<h1>2 toys</h1>" in text
        assert 'href="/projects/p/findings"' in text
        assert client.get("/projects/none/toys").status_code == 404
