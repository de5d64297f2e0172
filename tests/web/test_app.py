"""The application as a whole: what every route and response keeps to."""

from __future__ import annotations

import pandas as pd
from fastapi.testclient import TestClient

from tests.profiles import both
from tracker.ledger import Ledger
from tracker.web.templating import link_to

ANSWERS = pd.DataFrame(
    [("i", "a", "x"), ("i", "b", "y")], columns=["item", "annotator", "category"]
)


def test_every_response_lets_no_script_run_but_ours(client: TestClient) -> None:
    for path in ("/", "/projects/none", "/nothing", "/static/app.css"):
        policy = client.get(path).headers["content-security-policy"]
        assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy


def test_a_name_is_a_text_and_its_link_leads_to_it(client: TestClient, ledger: Ledger) -> None:
    name = '<b>a/b</b> & "c"?#%2F'
    ledger.projects.create(name)
    text = client.get("/").text
    assert "<b>a/b" not in text
    assert link_to("", "projects", name) in text
    assert "&lt;b&gt;a/b&lt;/b&gt;" in client.get(link_to("", "projects", name)).text


def test_an_error_page_of_a_project_keeps_its_tabs(client: TestClient, ledger: Ledger) -> None:
    ledger.projects.create("p")
    for path in ("items/none", "gate?as_of=never", "snapshots/none"):
        assert 'href="/projects/p/annotators"' in client.get(f"/projects/p/{path}").text, path
    assert "/projects/none/annotators" not in client.get("/projects/none/items/x").text


def test_an_error_of_the_interface_is_a_problem_document(client: TestClient) -> None:
    answer = client.get("/api/v1/nothing")
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == answer.status_code == 404


@both
def test_figures_follow_an_import_by_somebody_else(client: TestClient, ledger: Ledger) -> None:
    ledger.projects.create("p")
    assert "There are no answers to count yet" in client.get("/projects/p").text
    ledger.import_frame(ANSWERS, "p")
    assert "2 annotators gave 2 answers" in client.get("/projects/p").text


def test_head_is_answered_like_get_without_the_body(client: TestClient, ledger: Ledger) -> None:
    ledger.projects.create("p")
    for path in ("/", "/healthz", "/projects/p", "/api/v1/projects", "/api/v1/openapi.json",
                 "/nothing", "/static/app.css"):  # fmt: skip
        got, head = client.get(path), client.head(path)
        assert head.status_code == got.status_code, path
        for name in ("content-type", "content-length", "etag"):
            assert head.headers.get(name) == got.headers.get(name), path
        assert got.content, path
        assert head.content == b"", path
    stream = client.head("/events")
    assert (stream.status_code, stream.content) == (200, b"")


def test_head_does_not_ask_what_only_post_does(client: TestClient) -> None:
    assert client.head("/sign-out").status_code == 405
