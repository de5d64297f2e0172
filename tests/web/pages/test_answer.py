"""The queue of an annotator: who may see it, what it takes, and that no answer is lost."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from anyio.to_thread import current_default_thread_limiter
from fastapi.testclient import TestClient
from sqlalchemy import select

from tests.web.people import PASSWORD, acting, browser_at
from tests.web.reading import read
from tests.work.test_assignments import import_items
from tracker.ledger import Ledger
from tracker.storage.schema import Project
from tracker.web import waiting

ITEMS = [f"i{n}" for n in range(6)]


def assign_items(ledger: Ledger, *people: str, project: str = "p", **settings: Any) -> None:
    """Make a project that asks one question, and assign its items to people."""
    ledger.projects.create(project, **{"categories": ["good", "bad", "unclear"], **settings})
    import_items(ledger, ITEMS, project)
    ledger.assignments.assign(project, to=people, answers=len(people))


def recorded_answers(ledger: Ledger, project: str = "p") -> dict[tuple[str, str], str | None]:
    """Record all answers; return the category by item and annotator."""
    ledger.answering.record(project)
    answers: dict[tuple[str, str], str | None] = {}
    for item in ITEMS:
        for label in ledger.items.show(project, item).labels:
            assert (item, label.annotator) not in answers, "an answer stands twice"
            answers[item, label.annotator] = label.category
    return answers


def test_annotators_see_their_own_queue_alone(sqlite_ledger: Ledger) -> None:
    ledger = sqlite_ledger
    assign_items(ledger, "ada", "bo")
    ledger.users.add("ada", "annotator", password=PASSWORD, annotators=["p:ada"])
    ledger.users.add("m", "manager", password=PASSWORD)
    with browser_at(ledger) as browser:
        ada = acting(browser, "ada")
        assert "Answer 6 items" in ada.get("/me").text
        queue = ada.get("/me/queue/p/ada")
        assert queue.status_code == 200
        shown = queue.text.split("<main")[1]
        assert not {"fresh", "gold", ">bo<"} & {*re.split(r"\W", shown), *re.split(r"\s", shown)}
        assert ada.get("/me/queue/p/bo").status_code == 404
        assert ada.post("/me/queue/p/bo", data={"assignment": "2-3-1"}).status_code == 404
        others = next(row for row in ledger.assignments.list("p") if row.annotator == "bo")
        assert others.order == 1
        data = {"assignment": "2-4-1", "question": "label", "answer:label": "bad"}
        assert ada.post("/me/queue/p/ada", data=data).status_code == 404
        for path in ("/projects/p/assignments", "/api/v1/projects/p/assignments"):
            assert ada.get(path).status_code == 403
        manager = acting(browser, "m")
        assert manager.get("/me/queue/p/ada").status_code == 404
        assert manager.get("/projects/p/assignments").status_code == 200


def test_an_unfit_answer_is_refused_in_words(sqlite_ledger: Ledger) -> None:
    ledger = sqlite_ledger
    assign_items(ledger, "ada")
    ledger.questions.add("p", "years", scale="interval")
    ledger.users.add("ada", "annotator", password=PASSWORD, annotators=["p:ada"])
    task = ledger.answering.next("p", "ada")
    assert task is not None
    whole = {"assignment": task.assignment, "question": ["label", "years"],
             "answer:label": "good", "answer:years": "2"}  # fmt: skip
    with browser_at(ledger) as browser:
        ada = acting(browser, "ada")
        for change, problem in (
            ({"answer:label": "none"}, "label has no category"),
            ({"answer:years": "two"}, "is not a number"),
            ({"answer:years": ""}, "years has no answer"),
            ({"assignment": "x"}, "is no assignment"),
            ({"confidence:label": "much"}, "is not a number"),
            ({"confidence:label": "200"}, "is not from 0 to 1"),
            ({"spans:label": "["}, "cannot be read"),
            ({"none:label": "yes"}, "choose either"),
        ):
            answer = ada.post("/me/queue/p/ada", data=whole | change)
            assert answer.status_code == 422, change
            assert problem in answer.text, change
        assert 'value="good" required checked' in answer.text, "what was chosen is there again"
        script = {"x-requested-with": "fetch"}
        answer = ada.post("/me/queue/p/ada", data=whole | {"answer:years": ""}, headers=script)
        assert answer.json()["question"] == "years"
        assert answer.headers["tracker-refused"] == "yes"
        assert "tracker-refused" not in ada.post("/me/queue/p/bo", headers=script).headers
        for _ in range(2):  # sent twice, it is one answer
            assert ada.post("/me/queue/p/ada", data=whole).status_code == 303
        assert ada.post("/me/queue/p/ada/finish").status_code == 303
    assert ledger.imports.list("p")[-1].counts.inserted == 2


def test_without_accounts_a_pause_leads_to_the_work(client: TestClient, ledger: Ledger) -> None:
    assign_items(ledger, "ada")
    work = client.post("/me/queue/p/ada/finish", follow_redirects=False).headers["location"]
    assert read(client, work).to("Answer as ada") == "/me/queue/p/ada"
    assert read(client, "/me").to("Make the first account") == "/users"


def answer_next(client: Any, ledger: Ledger, who: str, project: str = "p") -> Any:
    task = ledger.answering.next(project, who)
    assert task is not None
    form = {"assignment": task.assignment, "question": "label", "answer:label": "good"}
    headers = {"x-requested-with": "fetch"}
    return client.post(f"/me/queue/{project}/{who}", data=form, headers=headers)


@pytest.mark.both
def test_a_held_lock_stops_only_those_who_write(
    ledger: Ledger, client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More wait than there are threads; an answer that had no turn in time may come again."""
    people = [f"w{n}" for n in range(4)]
    assign_items(ledger, *people)
    assign_items(ledger, "ada", project="q")
    client.portal.call(current_default_thread_limiter).total_tokens = len(people) - 1
    project = select(Project.id).where(Project.name == "p").with_for_update()
    with ThreadPoolExecutor() as pool, ledger.database.write(keep=False) as connection:
        connection.execute(project)
        monkeypatch.setitem(waiting._PATIENCE, True, (0.01, 0.01))
        refused = answer_next(client, ledger, "w0")
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "2")
        monkeypatch.setitem(waiting._PATIENCE, True, (60.0, 60.0))
        sent = [pool.submit(answer_next, client, ledger, who) for who in people]
        assert client.get("/healthz").text == "ok\n"
        assert client.get("/projects/p/items").status_code == 200
        if not ledger.database.file:
            assert answer_next(client, ledger, "ada", "q").status_code == 204
    assert [response.result().status_code for response in sent] == [204] * len(people)
    assert [*recorded_answers(ledger)] == [("i0", who) for who in people]
