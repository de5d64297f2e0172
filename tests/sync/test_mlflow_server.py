"""A real MLflow is read live: installed from the package index, and started."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from fastapi.testclient import TestClient

from tests.cli.conftest import Run, folder, run
from tests.helpers import standing
from tests.profiles import exhaustive
from tests.sync.listener import listening
from tests.sync.servers import environment, free_port, running
from tracker.ledger import Ledger
from tracker.web.app import create_app
from tracker.web.mlflow import MLflowServer

__all__ = ["folder", "run"]

# The light one of its two packages, and what its server imports.
PACKAGES = (
    "mlflow-skinny==3.17.*", "aiohttp", "alembic", "fastapi", "flask", "flask-cors", "numpy",
    "pandas", "sqlalchemy", "uvicorn",
)  # fmt: skip
ALONE = {"MLFLOW_DISABLE_TELEMETRY": "true", "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
EXPORT = """import json, mlflow, sys
traces = mlflow.search_traces(locations=[sys.argv[1]], return_type="list", include_spans=False)
json.dump([trace.to_dict() for trace in traces], open(sys.argv[2], "w"))
"""
COLUMNS = ("question", "item", "annotator", "category", "pass", "labeled_at")


class Server:
    """An MLflow with one experiment, used as its own programs use it."""

    def __init__(self, url: str, python: Path) -> None:
        self.url, self.python = url, python
        made = self.ask("POST", "2.0/mlflow/experiments/create", {"name": "manners"})
        self.experiment = made["experiment_id"]

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The answer of its interface."""
        answer = requests.request(method, f"{self.url}/api/{path}", json=body, timeout=60)
        assert answer.ok, answer.text
        return answer.json() if answer.content else None

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

    def message(self, secret: str) -> tuple[dict[str, str], str]:
        """A message of a webhook that signs with a secret: headers and body."""
        with listening() as listener:
            body = {
                "name": "tracker", "url": listener.url, "secret": secret,
                "events": [{"entity": "PROMPT_VERSION_TAG", "action": "SET"}],
            }  # fmt: skip
            made = self.ask("POST", "2.0/mlflow/webhooks", body)["webhook"]["webhook_id"]
            self.ask("POST", f"2.0/mlflow/webhooks/{made}/test", {"webhook_id": made})
            return listener.got[0]

    def export(self, path: Path) -> None:
        """Write the traces as the page about MLflow says, by its own package."""
        env = {"MLFLOW_TRACKING_URI": self.url, **ALONE}
        subprocess.run([self.python, "-c", EXPORT, self.experiment, path], check=True, env=env)


@pytest.fixture(scope="session")
def mlflow(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Server]:
    """An MLflow of this session: its server in one process, without those that start it."""
    cache = request.config.cache
    assert cache is not None
    python = environment(cache.mkdir("mlflow"), *PACKAGES)
    home, port = tmp_path_factory.mktemp("mlflow"), free_port()
    store = {
        "MLFLOW_WEBHOOK_ALLOWED_SCHEMES": "http",
        "MLFLOW_WEBHOOK_ALLOW_PRIVATE_IPS": "true",
        "_MLFLOW_SERVER_FILE_STORE": f"sqlite:///{home / 'mlflow.db'}",
        "_MLFLOW_SERVER_ARTIFACT_ROOT": str(home / "artifacts"),
    }
    command = [python, "-m", "uvicorn", "--host", "127.0.0.1", "--port", port,
               "mlflow.server.fastapi_app:app"]  # fmt: skip
    url = f"http://127.0.0.1:{port}"
    with running(command, home, f"{url}/health", ALONE | store):
        yield Server(url, python)


@exhaustive
def test_an_experiment_is_kept_up_with(mlflow: Server, run: Run, folder: Path) -> None:
    """Assessed, exported, corrected, deleted, undone: one test, for the server is started once."""
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

    server.export(folder / "export.json")
    run("import", "export.json", "-p", "exported")
    assert standing(ledger, "p", *COLUMNS) == standing(ledger, "exported", *COLUMNS)
    assert ("short", "k3/s1", "bob", "true", 1) in standing(ledger, "p", *COLUMNS[:-1])
    for question in ("polite", "score"):
        figures = [
            ledger.agreement(name, question=question).to_dict() for name in ("p", "exported")
        ]
        assert figures[0] | {"project": ""} == figures[1] | {"project": ""}
    before = standing(ledger, "p", *COLUMNS)

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
    now = standing(ledger, "p", *COLUMNS)
    assert [row[1:4] for row in now if row[0] == "polite"] == [
        ("k1", "ada@example.org", "no"), ("k1", "gold", "yes"), ("k1", f"{judge}@3", "yes"),
        ("k2", "ada@example.org", "yes"), ("k2", "bob", "yes"), ("k2", f"{judge}@3", "yes"),
        ("k3", "ada@example.org", "yes"), ("k3", "bob", "no"),
        ("k5", "ada@example.org", "no"),
    ]  # fmt: skip
    assert "nothing new" in synced().out
    headers, body = server.message("what only both know")
    app = create_app(ledger, mlflow=MLflowServer(server.url, "what only both know"))
    with TestClient(app, base_url="http://127.0.0.1:8000") as program:
        address = "/api/v1/hooks/mlflow/told?experiment=manners"
        del headers["host"]
        done = program.post(address, content=body, headers=headers)
        app.state.jobs.get(done.json()["job"]).wait(60)
        refused = program.post(address, content=f"{body} ", headers=headers)
    assert (done.status_code, refused.status_code) == (202, 401)
    assert standing(ledger, "told", *COLUMNS) == now

    run("imports", "undo", told["import"], "--yes")
    assert standing(ledger, "p", *COLUMNS) == before
    assert synced("--json").json()["withdrawn"] == 4
    assert standing(ledger, "p", *COLUMNS) == now
    assert synced("--json", "--item", "tags.case", project="cases").json()["inserted"] == 12
    assert {item for item, *_ in standing(ledger, "cases")} == {f"case {n}" for n in (1, 2, 3, 5)}
    assert "there is no experiment 'other'" in synced(name="other", code=4).err
    assert "there is no experiment '99'" in synced(name="99", code=4).err
    server.ask("POST", "2.0/mlflow/experiments/delete", {"experiment_id": server.experiment})
    assert "is deleted" in synced(code=4).err
    assert ledger.database.check() == []
