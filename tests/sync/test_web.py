"""Label Studio's pages, refusals of what is none, and patience with a busy server."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest

from tests.cli.conftest import Run, folder, run
from tests.sync.serve import Answer, Serve, serve
from tests.sync.servers import free_port
from tracker.core import clock
from tracker.core.errors import InvalidOption
from tracker.sync import http as web
from tracker.sync.http import service_url
from tracker.sync.label_studio import LabelStudio

__all__ = ["folder", "run", "serve"]

TOKEN = "a-token-that-nobody-may-see"
ENV = {"LABEL_STUDIO_API_KEY": TOKEN}
TASKS = [
    {"id": n, "updated_at": f"2026-01-05T08:{n % 60:02d}:00Z", "data": {"text": "t"},
     "annotations": [
         {"id": n, "completed_by": 1, "created_at": "2026-01-05T08:00:00Z", "result": [
             {"from_name": "tone", "to_name": "text", "type": "choices",
              "value": {"choices": ["good"]}}]}]}
    for n in range(1, 1102)
]  # fmt: skip


def label_studio(path: str, query: dict[str, Any], tasks: int = 5) -> Answer:
    """What Label Studio answers about a project of some tasks."""
    if path == "/api/projects/1":
        return 200, {"id": 1, "label_config": "<View/>"}
    if path == "/api/version":
        return 200, {"release": "1.23.2"}
    if path != "/api/tasks":
        return 404, {"detail": "not found"}
    filters = {
        one["filter"]: one["value"] for one in json.loads(query["query"][0])["filters"]["items"]
    }
    found = [one for one in TASKS[:tasks] if one["id"] > filters["filter:tasks:id"]]
    since = filters.get("filter:tasks:updated_at", "")
    found = [one for one in found if str(one["updated_at"]) > since]
    size = int(query["page_size"][0])
    return 200, {"total": len(found), "tasks": found[:size]}


def words(url: str, number: int = 1) -> list[str]:
    return ["sync", "label-studio", "--url", url, "--project-id", str(number), "-p", "p"]


def test_tasks_are_read_page_by_page(run: Run, serve: Serve) -> None:
    pages = []

    def answer(path: str, query: dict[str, Any]) -> Answer:
        pages.append((path, query.get("page_size")))
        return label_studio(path, query, len(TASKS))

    url = serve(answer)
    done = run(*words(url), "--json", env=ENV).json()
    assert (done["read"], done["inserted"]) == (1101, 1101)
    assert pages.count(("/api/tasks", ["1000"])) == 2
    assert pages.count(("/api/tasks", ["100"])) == 12
    assert "nothing new" in run(*words(url), env=ENV).out


def test_a_task_updated_after_the_beginning_is_read_again(serve: Serve) -> None:
    task = {**TASKS[0], "updated_at": clock.iso(clock.now() + 7_200_000_000)}

    def answer(path: str, query: dict[str, Any]) -> Answer:
        tasks = {"total": 1, "tasks": [task]}
        return (200, tasks) if path == "/api/tasks" else label_studio(path, query)

    pulled = LabelStudio(serve(answer), 1, TOKEN).pull(None, StringIO(), lambda *_: None)
    assert pulled.until is not None
    assert pulled.until <= clock.now()


def test_a_busy_server_is_retried(run: Run, serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "PATIENCE", 0)
    asked = []

    def busy(path: str, query: dict[str, Any]) -> Answer:
        asked.append(path)
        return (429, {}) if len(asked) % 3 else label_studio(path, query)

    assert run(*words(serve(busy)), "--json", env=ENV).json()["inserted"] == 5
    down = serve(lambda *_: (503, b"<html>"))
    assert "answers with status 503, 6 times" in run(*words(down), env=ENV, code=3).err


def test_a_server_that_is_no_label_studio_is_refused(run: Run, serve: Serve) -> None:
    problems: list[tuple[Answer, str]] = [
        *(((status, {}), "does not accept the token in LABEL_STUDIO_API_KEY")
          for status in (401, 403)),
        *(((200, body), "does not answer as Label Studio does")
          for body in (b"<html>Hello</html>", [1, 2], {"id": 1, "label_config": ""})),
        *(((status, {}), f"answers with status {status}") for status in (404, 418)),
    ]  # fmt: skip
    for answer, problem in problems:
        url = serve(lambda *_, answer=answer: answer)
        done = run(*words(url), env=ENV, code=3)
        assert problem in done.err
        assert len(done.err.strip().splitlines()) <= 2
        assert TOKEN not in done.out + done.err
    done = run(*words(serve(label_studio), 2), env=ENV, code=4)
    assert "there is no project 2 in http://127.0.0.1" in done.err
    done = run(*words(f"http://127.0.0.1:{free_port()}"), env=ENV, code=3)
    assert "cannot be reached" in done.err
    for token, problem in (("", "export LABEL_STUDIO_API_KEY="), ("a\nb", "no token")):
        done = run(*words("http://127.0.0.1:9"), env={"LABEL_STUDIO_API_KEY": token}, code=2)
        assert problem in done.err


def test_a_lasting_token_is_exchanged_for_a_short_one(run: Run, serve: Serve) -> None:
    paths = []

    def answer(path: str, query: dict[str, Any]) -> Answer:
        paths.append(path)
        if path == "/api/token/refresh":
            return 200, {"access": "for.some.minutes"}
        if path == "/api/tasks" and paths.count(path) == 2:
            return 401, {}  # the minutes are over
        return label_studio(path, query)

    env = {"LABEL_STUDIO_API_KEY": "one.of.today"}
    assert run(*words(serve(answer)), "--json", env=env).json()["inserted"] == 5
    assert paths.count("/api/token/refresh") == 2


def test_a_service_has_one_address() -> None:
    assert service_url("https://Labels.Example.org/") == "https://labels.example.org"
    assert service_url(" http://localhost:8080/ls// ") == "http://localhost:8080/ls"
    for url in ("labels.example.org", "ftp://x", "http://", "http://x:port", "http://me:secret@x",
                "http://x/?token=secret", "http://me:secret@[x"):  # fmt: skip
        with pytest.raises(InvalidOption) as refused:
            service_url(url)
        assert "secret" not in str(refused.value)
