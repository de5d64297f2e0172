"""Files sent by a form: previewed, imported in the background, undone."""

from __future__ import annotations

import re
import threading
from dataclasses import fields
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from tests.helpers import give
from tests.web.reading import read
from tracker.core.errors import NotFound
from tracker.ledger import Ledger
from tracker.web.file_form import FIELDS
from tracker.web.import_options import ImportOptions
from tracker.web.jobs import Cancelled, Jobs, Outcome, Step
from tracker.web.uploads import Staging


@pytest.fixture(autouse=True)
def wait_for_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a busy machine end what a form began before its page is read."""
    monkeypatch.setattr("tracker.web.pages.jobs._SOON", 60)


GOOD = b"item,annotator,category\n1,a,x\n1,b,y\n"
BAD = GOOD + b",c,x\n"


def sent(client: TestClient, content: bytes, name: str = "answers.csv", project: str = "p") -> str:
    files = [("file", (name, content))]
    done = client.post("/imports", data={"project": project}, files=files, follow_redirects=False)
    assert done.status_code == 303, done.text
    return done.headers["location"]


def test_nothing_is_stored_before_the_import(client: TestClient, ledger: Ledger) -> None:
    for data in ({}, {"project": " "}):
        done = client.post("/imports", data=data, files=[("file", ("a.csv", GOOD))])
        assert (done.status_code, "no name" in done.text) == (422, True)
    address = sent(client, BAD, "<b>.csv")
    page = read(client, address)
    assert "For p: 2 new answers, 1 row with errors. Nothing has been stored" in page.text
    assert ["4", "the item is empty", "empty wrong", "c", "x"] in page.rows
    assert ledger.projects.list() == []
    assert "Import only the other rows into p" in page.text
    shown = client.post(sent(client, BAD), data={"action": "import"})
    for words in ("Failed: nothing of it was kept", "the item is empty",
                  "or leave them out: choose"):  # fmt: skip
        assert words in shown.text
    assert "--skip-invalid" not in shown.text
    assert ledger.projects.list() == []
    client.post(address, data={"action": "import", "skip_invalid": "true"})
    assert ledger.status("p").answers == 2
    (known,) = ledger.imports.list("p")
    assert known.to_dict()["sources"][0]["name"] == "<b>.csv"
    assert client.get(address).status_code == 404
    # It is undone from its own project alone.
    ledger.projects.create("other")
    assert client.post("/projects/other/imports/1/undo").status_code == 422
    assert "undone" in client.post("/projects/p/imports/1/undo").text
    assert ledger.imports.show(1).undone_at is not None
    assert client.post("/projects/p/imports/1/undo").status_code == 422


def test_columns_and_questions_are_named_in_fields(client: TestClient, ledger: Ledger) -> None:
    address = sent(client, b"item,annotator,Tone,fair\n1,a,low,y\n1,b,high,n\n")
    page = read(client, address).text
    assert 'in the field "Questions": NAME=COLUMN for each column of answers' in page
    assert "--" not in page
    wrong = client.post(address, data={"question": "tone=Tome"}).text
    assert "no column &#39;Tome&#39; (in the field &#34;Questions&#34;: tone=Tome)" in wrong
    form = {"question": "tone=Tone:low<high\r\n\r\n fair=fair "}
    shown = client.post(address, data=form).text
    for words in ("For p: 4 new labels", "<li>question tone: Tone</li>",
                  ">tone=Tone:low&lt;high</textarea>"):  # fmt: skip
        assert words in shown
    client.post(address, data=form | {"action": "import"})
    scales = [(one.name, one.scale) for one in ledger.questions.list("p")]
    assert scales == [("tone", "ordinal"), ("fair", "nominal")]
    address = sent(client, b"1;x\n2;y\n3;x\n", "week.csv", "r")
    assert 'tick "no header"' in read(client, address).text
    form = {"no_header": "true", "map": "item=1\ncategory=2", "annotator": "ada"}
    client.post(address, data={"action": "import"} | form)
    assert [row.annotator.name for row in ledger.annotators.list("r")] == ["ada"]
    assert client.post(sent(client, GOOD), data={"header_row": "three"}).status_code == 422


def test_each_option_of_the_form_is_one_of_the_interface() -> None:
    assert {field.name for field in FIELDS} <= {one.name for one in fields(ImportOptions)}


def test_a_job_is_watched_and_cancelled_in_parts(client: TestClient, ledger: Ledger) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def work(step: Step) -> Outcome:
        step(30, 120)
        begun.set()
        assert go_on.wait(10)
        step(60, 120)
        raise AssertionError

    app = client.app
    assert isinstance(app, FastAPI)
    ledger.projects.create("p")
    job = app.state.jobs.start("Import a.csv", "p", "ann", work)
    assert begun.wait(10)
    assert "25.0%" in read(client, f"/jobs/{job.number}").text
    shown = read(client, "/projects/p/imports").text
    assert re.search(r"Import a\.csv by ann, begun .*: running", shown)
    running = client.get(f"/api/v1/jobs/{job.number}").json()
    assert (running["state"], running["progress"]) == ("running", {"done": 30, "total": 120})
    assert "ends after this part" in client.post(f"/jobs/{job.number}/cancel").text
    job.cancelled.clear()
    assert client.post(f"/api/v1/jobs/{job.number}/cancel").json() == running
    go_on.set()
    job.wait(10)
    assert "Cancelled: nothing of it was kept" in read(client, f"/jobs/{job.number}").text
    assert client.get(f"/api/v1/jobs/{job.number}").json()["state"] == "cancelled"
    assert client.get("/jobs/99").status_code == 404
    assert client.get("/api/v1/jobs/99").json()["exit_code"] == 4
    job = app.state.jobs.start("x", "p", "ann", lambda step: Outcome("done", ("projects", "a/b")))
    job.wait(10)
    answer = client.get(f"/jobs/{job.number}", headers={"hx-request": "true"})
    assert answer.headers["hx-redirect"] == "/projects/a~2Fb"


def test_jobs_tell_their_errors_and_end_with_the_server() -> None:
    jobs, begun, ended = Jobs(), threading.Event(), threading.Event()

    def fail(step: Step) -> Outcome:
        raise ZeroDivisionError

    failed = jobs.start("a", "p", "b", fail)
    failed.wait(10)
    assert failed.state == "failed"
    assert failed.to_dict()["problem"]["detail"] == "internal error: ZeroDivisionError"

    def work(step: Step) -> Outcome:
        begun.set()
        try:
            while True:
                step(0, None)
        except Cancelled:
            ended.set()
            raise

    jobs.start("a", "p", "b", work)
    assert begun.wait(10)
    jobs.close()
    assert ended.wait(10)


def test_only_the_last_uploads_wait(tmp_path: Path) -> None:
    staging, tokens = Staging(Ledger(str(tmp_path / "a.db"))), []
    for number in range(25):
        file = tmp_path / f"{number}.csv"
        file.write_bytes(GOOD)
        tokens.append(staging.keep("p", [(file, "a.csv")]).token)
    with pytest.raises(NotFound, match="choose them again"):
        staging.get(tokens[0])
    (path, _) = staging.get(tokens[-1]).files[0]
    assert path.read_bytes() == GOOD
    staging.drop(tokens[-1])
    assert not path.exists()
    (path, _) = staging.get(tokens[-2]).files[0]
    staging.close()
    assert not path.parents[4].exists()


def test_an_erasure_forgets_waiting_files_and_jobs(
    client: TestClient, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    give(ledger, [("1", "a", "x")], project="q")
    address = sent(client, GOOD)
    assert "For p: 2 new answers" in read(client, address).text
    Ledger(str(ledger.database.url)).annotators.erase("q", "a")
    assert client.get(address).status_code == 404
    forgotten = threading.Event()
    monkeypatch.setattr(client.app.state.jobs, "forget", forgotten.set)  # type: ignore[attr-defined]
    assert forgotten.wait(30)
