"""A real Label Studio and MLflow are read live: installed from the package index, and started."""

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


def ask(method: str, url: str, body: Any, **headers: str) -> Any:
    answer = requests.request(method, url, json=body, headers=headers, timeout=60)
    assert answer.ok, answer.text
    return answer.json() if answer.content else None


class LabelStudio:
    """A Label Studio with one project, used as its own pages use it."""

    def __init__(self, url: str) -> None:
        self.url = url
        made = self.ask("POST", "projects", {"title": "notices", "label_config": CONFIG})
        self.project = made["id"]
        other = {"email": OTHER, "username": "other", "password": "a long password"}
        self.other = self.ask("POST", "users/", other)

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        return ask(method, f"{self.url}/api/{path}", body, Authorization=f"Token {TOKEN}")

    def add_tasks(self, *keys: str) -> list[int]:
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
        return str(self.ask("POST", "token/")["token"])


def result(category: str) -> list[dict[str, Any]]:
    return [
        {"from_name": "tone", "to_name": "text", "type": "choices",
         "value": {"choices": [category]}}
    ]  # fmt: skip


@pytest.fixture(scope="session")
def label_studio(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LabelStudio]:
    python = environment(request.config, "label-studio", "label-studio>=1.20,<2")
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
        yield LabelStudio(url)


@pytest.fixture
def tracker_at(folder: Path) -> Iterator[str]:
    with served(Ledger(f"sqlite:///{folder / 'tracker.db'}")) as address:
        yield address


@exhaustive
def test_a_project_is_synced(
    label_studio: LabelStudio, tracker_at: str, run: Run, folder: Path
) -> None:
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

    secrets.add(access := server.access_token())
    assert synced("--json", "--item", "key", project="keys", token=access).json()["inserted"] == 4
    assert {item for item, *_ in standing(ledger, "keys")} == {"k1", "k2", "k4"}

    assert "does not accept the token" in synced(token="x" * 40, code=3).err
    words[words.index("--project-id") + 1] = 99
    assert "there is no project 99" in synced(code=4).err
    assert ledger.database.check() == []
    stored = (folder / "tracker.db").read_bytes()
    assert not any(secret.encode() in stored for secret in secrets)


# The light one of its two packages, and what its server imports.
PACKAGES = (
    "mlflow-skinny==3.17.*", "aiohttp", "alembic", "fastapi", "flask", "flask-cors", "numpy",
    "pandas", "sqlalchemy", "uvicorn",
)  # fmt: skip
ALONE = {"MLFLOW_DISABLE_TELEMETRY": "true", "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
MLFLOW_COLUMNS = ("question", "item", "annotator", "category", "pass", "labeled_at")


class MLflow:
    """An MLflow with one experiment, used as its own programs use it."""

    def __init__(self, url: str) -> None:
        self.url = url
        made = self.ask("POST", "2.0/mlflow/experiments/create", {"name": "manners"})
        self.experiment = made["experiment_id"]

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        return ask(method, f"{self.url}/api/{path}", body)

    def trace(self, number: int, key: str = "") -> str:
        """Record an answer of a program; returns its trace."""
        where = {"experiment_id": self.experiment}
        info = {
            "trace_id": f"tr-{number}", "client_request_id": key or None, "state": "OK",
            "trace_location": {"type": "MLFLOW_EXPERIMENT", "mlflow_experiment": where},
            "request_time": f"2026-01-05T08:00:0{number}Z", "request_preview": f"question {number}",
            "tags": {"case": f"case {number}"},
        }  # fmt: skip
        self.ask("POST", "3.0/mlflow/traces", {"trace": {"trace_info": info}})
        return f"tr-{number}"

    def assess(self, trace: str, value: Any, who: str, hour: int = 9, **more: Any) -> str:
        """Assess a trace at an hour of that day; returns the assessment's number."""
        judged = {"source_type": "LLM_JUDGE" if who.startswith("openai") else "HUMAN"}
        when = f"2026-01-05T{hour:02d}:00:00.250Z"
        one = {
            "assessment_name": "polite", "trace_id": trace, "feedback": {"value": value},
            "source": {**judged, "source_id": who}, "create_time": when, "last_update_time": when,
            "rationale": f"{who} says {value}",
        }  # fmt: skip
        path = f"3.0/mlflow/traces/{trace}/assessments"
        made = self.ask("POST", path, {"assessment": one | more})
        return str(made["assessment"]["assessment_id"])


@pytest.fixture(scope="session")
def mlflow(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[MLflow]:
    """An MLflow of this session: its server in one process, without those that start it."""
    python = environment(request.config, "mlflow", *PACKAGES)
    home, port = tmp_path_factory.mktemp("mlflow"), free_port()
    store = {
        "_MLFLOW_SERVER_FILE_STORE": f"sqlite:///{home / 'mlflow.db'}",
        "_MLFLOW_SERVER_ARTIFACT_ROOT": str(home / "artifacts"),
    }
    command = [python, "-m", "uvicorn", "--host", "127.0.0.1", "--port", port,
               "mlflow.server.fastapi_app:app"]  # fmt: skip
    url = f"http://127.0.0.1:{port}"
    with running(command, home, f"{url}/health", ALONE | store):
        yield MLflow(url)


@exhaustive
def test_an_experiment_is_kept_up_with(mlflow: MLflow, run: Run, folder: Path) -> None:
    """Assessed, corrected, deleted: one test, for the server is started once."""
    server = mlflow
    ledger = Ledger(f"sqlite:///{folder / 'tracker.db'}")

    def synced(*more: str, name: str = "manners", project: str = "p", code: int = 0) -> Any:
        words = ["sync", "mlflow", "--url", server.url, "--experiment", name, "-p", project]
        return run(*words, *more, code=code)

    assert "nothing new" in synced().out  # and there is nothing
    traces = [server.trace(n, f"k{n}" if n < 4 else "") for n in (1, 2, 3, 4)]
    judge = "openai:/gpt-4o"
    version: dict[str, Any] = {"metadata": {"prompt_version": "3"}}
    ada = [server.assess(one, "yes", "ada@example.org") for one in traces]
    bob = [server.assess(one, "no", "bob", 10) for one in traces]
    gpt = [server.assess(one, "yes", judge, **version) for one in traces[:3]]
    server.assess(traces[0], 5, "ada@example.org", assessment_name="score")
    server.assess(traces[1], 4.5, "bob", assessment_name="score")
    server.assess(traces[2], True, "bob", assessment_name="short", span_id="s1")
    truth: dict[str, Any] = {"feedback": None, "expectation": {"value": "yes"}}
    server.assess(traces[0], None, "ada@example.org", **truth)
    failed: dict[str, Any] = {"error": {"error_code": "RATE_LIMIT"}}
    server.assess(traces[3], None, judge, feedback=failed, **version)
    assert synced("--json").json()["inserted"] == 15
    assert "nothing new" in synced(name=server.experiment).out

    assert ("short", "k3/s1", "bob", "true", 1) in standing(ledger, "p", *MLFLOW_COLUMNS[:-1])
    changed = {"assessment": {"feedback": {"value": "no"}}, "update_mask": "feedback"}
    path = "3.0/mlflow/traces"
    server.ask("PATCH", f"{path}/{traces[0]}/assessments/{ada[0]}", changed)
    server.ask("DELETE", f"{path}/{traces[0]}/assessments/{bob[0]}")
    server.ask("DELETE", f"{path}/{traces[2]}/assessments/{gpt[2]}")
    gone = {"experiment_id": server.experiment, "request_ids": [traces[3]]}
    server.ask("POST", f"{path}/delete-traces", gone)
    server.assess(traces[1], "yes", "bob", 12, overrides=bob[1])
    # It says that it was made long before what is known.
    server.assess(server.trace(5, "k5"), "no", "ada@example.org", 1)
    told = synced("--json").json()
    assert (told["inserted"], told["changed"], told["withdrawn"]) == (1, 2, 4)
    now = standing(ledger, "p", *MLFLOW_COLUMNS)
    assert [row[1:4] for row in now if row[0] == "polite"] == [
        ("k1", "ada@example.org", "no"), ("k1", "gold", "yes"), ("k1", f"{judge}@3", "yes"),
        ("k2", "ada@example.org", "yes"), ("k2", "bob", "yes"), ("k2", f"{judge}@3", "yes"),
        ("k3", "ada@example.org", "yes"), ("k3", "bob", "no"),
        ("k5", "ada@example.org", "no"),
    ]  # fmt: skip
    assert "nothing new" in synced().out
    assert synced("--json", "--item", "tags.case", project="cases").json()["inserted"] == 12
    assert {item for item, *_ in standing(ledger, "cases")} == {f"case {n}" for n in (1, 2, 3, 5)}
    assert "there is no experiment '99'" in synced(name="99", code=4).err
    server.ask("POST", "2.0/mlflow/experiments/delete", {"experiment_id": server.experiment})
    assert "is deleted" in synced(code=4).err
    assert ledger.database.check() == []
