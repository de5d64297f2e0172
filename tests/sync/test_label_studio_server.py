"""A real Label Studio is read live: installed from the package index, and started."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.cli.conftest import Run, folder, run
from tests.helpers import standing
from tests.house import CHECKOUT
from tests.profiles import exhaustive
from tests.sync.servers import environment, free_port, running
from tests.web.browsing import served
from tracker.ledger import Ledger

__all__ = ["folder", "run"]

TOKEN = "0123456789abcdef0123456789abcdef01234567"
OWNER, OTHER = "owner@example.org", "other@example.org"
CONFIG = """<View><Text name="text" value="$text"/><Choices name="tone" toName="text">
<Choice value="good"/><Choice value="bad"/></Choices></View>"""
COLUMNS = ("item", "annotator", "category", "pass", "labeled_at", "seconds")


class Server:
    """A Label Studio with one project, used as its own pages use it."""

    def __init__(self, url: str) -> None:
        self.url = url
        made = self.ask("POST", "projects", {"title": "notices", "label_config": CONFIG})
        self.project = made["id"]
        other = {"email": OTHER, "username": "other", "password": "a long password"}
        self.other = self.ask("POST", "users/", other)

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The answer of its interface."""
        headers = {"Authorization": f"Token {TOKEN}"}
        url = f"{self.url}/api/{path}"
        answer = requests.request(method, url, json=body, headers=headers, timeout=60)
        assert answer.ok, answer.text
        return answer.json() if answer.content else None

    def add_tasks(self, *keys: str) -> list[int]:
        """Add tasks; returns their numbers."""
        tasks = [{"text": f"text of {key}", "key": key} for key in keys]
        path = f"projects/{self.project}/import?return_task_ids=true"
        return list(self.ask("POST", path, tasks)["task_ids"])

    def annotate(self, task: int, category: str, who: int = 1) -> int:
        """Annotate a task; returns the annotation's number."""
        body = {"result": result(category), "completed_by": who, "lead_time": 2.5}
        return int(self.ask("POST", f"tasks/{task}/annotations/", body)["id"])

    def tell(self, address: str, token: str) -> None:
        """Add a webhook, which is told of each event before the request is answered."""
        headers = {"Authorization": f"Bearer {token}"}
        body = {"project": self.project, "url": address, "headers": headers}
        self.ask("POST", "webhooks/", body)

    def access_token(self) -> str:
        """A personal access token of today's kind."""
        return str(self.ask("POST", "token/")["token"])


def result(category: str) -> list[dict[str, Any]]:
    return [
        {"from_name": "tone", "to_name": "text", "type": "choices",
         "value": {"choices": [category]}}
    ]  # fmt: skip


@pytest.fixture(scope="session")
def label_studio(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """A Label Studio of this session."""
    cache = request.config.cache
    assert cache is not None
    python = environment(cache.mkdir("label-studio"), "label-studio>=1.20,<2")
    home, port = tmp_path_factory.mktemp("label-studio"), free_port()
    quiet = {
        "LABEL_STUDIO_BASE_DATA_DIR": str(home), "COLLECT_ANALYTICS": "False", "SENTRY_DSN": "",
        "FRONTEND_SENTRY_DSN": "", "LATEST_VERSION_CHECK": "False",
        "SSRF_PROTECTION_ENABLED": "False", "WEBHOOK_TIMEOUT": "30",
    }  # fmt: skip
    command = [
        python, CHECKOUT / "tests" / "data" / "label_studio_server.py", "start", "--no-browser",
        "--internal-host", "127.0.0.1", "--port", port, "--username", OWNER, "--password",
        "a long password", "--user-token", TOKEN, "--enable-legacy-api-token",
    ]  # fmt: skip
    url = f"http://127.0.0.1:{port}"
    with running(command, home, f"{url}/health", quiet):
        yield Server(url)


@pytest.fixture
def tracker_at(folder: Path) -> Iterator[str]:
    """The address of the ledger in the folder, served."""
    with served(Ledger(f"sqlite:///{folder / 'tracker.db'}")) as address:
        yield address


@exhaustive
def test_a_project_is_synced(label_studio: Server, tracker_at: str, run: Run, folder: Path) -> None:
    """Answered, exported, corrected, deleted, undone: one test, for the server is started once."""
    server, secrets = label_studio, {TOKEN}
    ledger = Ledger(f"sqlite:///{folder / 'tracker.db'}")
    words = ["sync", "label-studio", "--url", server.url, "--project-id", server.project]

    def synced(*more: str, project: str = "p", token: str = TOKEN, code: int = 0) -> Any:
        done = run(*words, "-p", project, *more, env={"LABEL_STUDIO_API_KEY": token}, code=code)
        assert not any(secret in done.out + done.err for secret in secrets)
        return done

    ledger.users.add("ada", "manager", password="correct horse battery")
    secrets.add(token := ledger.tokens.add("events", "manager", "ada").secret)
    told_at = f"{tracker_at}/api/v1/hooks/label-studio/told?url={server.url}"
    server.tell(told_at, token)
    tasks = server.add_tasks("k1", "k2", "k3", "k4")
    other = server.other["id"]
    numbers = [server.annotate(task, "good", who) for task in tasks[:3] for who in (1, other)]
    assert synced("--json").json()["inserted"] == 6

    exported = server.ask("GET", f"projects/{server.project}/export?exportType=JSON")
    (folder / "export.json").write_text(json.dumps(exported))
    run("import", "export.json", "-p", "exported")
    assert standing(ledger, "p", *COLUMNS) == standing(ledger, "exported", *COLUMNS)
    figures = [ledger.agreement(name).to_dict() for name in ("p", "exported")]
    assert figures[0] | {"project": ""} == figures[1] | {"project": ""}
    assert standing(ledger, "told", *COLUMNS) == standing(ledger, "p", *COLUMNS)
    assert "nothing new" in synced().out

    server.ask("PATCH", f"annotations/{numbers[0]}/", {"result": result("bad")})
    server.ask("DELETE", f"annotations/{numbers[3]}/")
    server.ask("DELETE", f"tasks/{tasks[2]}/")
    server.annotate(tasks[3], "bad", other)
    told = synced("--json").json()
    assert (told["inserted"], told["changed"], told["withdrawn"]) == (1, 1, 3)
    assert standing(ledger) == [
        (str(tasks[0]), "1", "bad"), (str(tasks[0]), str(other), "good"),
        (str(tasks[1]), "1", "good"), (str(tasks[3]), str(other), "bad"),
    ]  # fmt: skip
    assert len(standing(ledger, "told")) == 5  # of a deleted annotation too little is told
    assert synced("--json", project="told").json()["withdrawn"] == 1
    assert standing(ledger, "told", *COLUMNS) == standing(ledger, "p", *COLUMNS)
    assert "nothing new" in synced().out
    run("imports", "undo", told["import"], "--yes")
    assert len(standing(ledger)) == 6
    assert synced("--json").json()["withdrawn"] == 3
    assert len(standing(ledger)) == 4

    selected = {"selectedItems": {"all": False, "included": [tasks[0]]}}
    action = f"dm/actions?id=delete_tasks_annotations&project={server.project}"
    server.ask("POST", action, selected)
    secrets.add(access := server.access_token())
    assert synced("--json", token=access).json()["withdrawn"] == 2
    assert synced("--json", "--item", "key", project="keys").json()["inserted"] == 2
    assert {item for item, *_ in standing(ledger, "keys")} == {"k2", "k4"}

    assert "does not accept the token" in synced(token="x" * 40, code=3).err
    words[words.index("--project-id") + 1] = 99
    assert "there is no project 99" in synced(code=4).err
    assert ledger.database.check() == []
    stored = (folder / "tracker.db").read_bytes()
    assert not any(secret.encode() in stored for secret in secrets)


@exhaustive
def test_assigned_tasks_come_back_with_their_assignments_closed(
    label_studio: Server, run: Run, folder: Path
) -> None:
    server, names = label_studio, [1, label_studio.other["id"]]
    number = server.ask("POST", "projects", {"title": "assigned", "label_config": CONFIG})["id"]
    lines = [f"k{n},text of {n}\n" for n in range(6)]
    (folder / "items.csv").write_text("".join(["item,text\n", *lines]))
    run("project", "create", "p")
    run("question", "rename", "p", "label", "tone")
    run("item", "import", "items.csv", "-p", "p")
    to = ",".join(map(str, names))
    run("assign", "p", "--to", to, "--answers", 2, "--for", "label-studio", "-o", "tasks.json")
    tasks = json.loads((folder / "tasks.json").read_text())
    path = f"projects/{number}/import?return_task_ids=true"
    ids = server.ask("POST", path, tasks)["task_ids"]
    for task, said in zip(ids, tasks, strict=True):
        server.annotate(task, "good", int(said["data"]["annotator"]))
    words = ("sync", "label-studio", "--url", server.url, "--project-id", number, "-p", "p")
    run(*words, "--item", "item", env={"LABEL_STUDIO_API_KEY": TOKEN})
    progress = run("assignments", "progress", "p", "--json").json()["annotators"]
    assert [(row["open"], row["done"]) for row in progress] == [(0, 6), (0, 6)]
