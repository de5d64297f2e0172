"""MLflow's pages, and refusals of what is none, or lets nobody in."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cli.conftest import Run, folder, run
from tests.sync.serve import Answer, Serve, serve
from tracker.core import clock

__all__ = ["folder", "run", "serve"]

SECRET = "a-word-that-nobody-may-see"
EXPERIMENT = {"experiment_id": "7", "name": "manners", "lifecycle_stage": "active"}
ABSENT = 404, {"error_code": "RESOURCE_DOES_NOT_EXIST"}
START = clock.parse_timestamp("2026-01-05T08:00:00Z") // 1000


def trace(number: int, milliseconds: int, **more: Any) -> dict[str, Any]:
    made = clock.iso((START + milliseconds) * 1000)
    one = {
        "assessment_name": "polite", "source": {"source_type": "HUMAN", "source_id": "ada"},
        "last_update_time": "2026-01-05T09:00:00Z", "feedback": {"value": "yes"},
    }  # fmt: skip
    return {"trace_id": f"tr-{number}", "request_time": made, "assessments": [one]} | more


class MLflow:
    """What MLflow answers about an experiment of some traces."""

    def __init__(self, traces: list[dict[str, Any]]) -> None:
        self.traces = traces
        self.pages: list[tuple[str, str]] = []

    def __call__(self, path: str, query: dict[str, Any]) -> Answer:
        if path.startswith("/api/2.0/mlflow/experiments/get"):
            known = ({"experiment_name": ["manners"]}, {"experiment_id": ["7"]})
            return (200, {"experiment": EXPERIMENT}) if query in known else ABSENT
        assert path == "/api/3.0/mlflow/traces/search"
        offset = int(query.get("page_token", 0))
        self.pages.append((query["filter"], query.get("page_token", "")))
        since = int(query["filter"].removeprefix("timestamp_ms >= "))
        found = [
            one for one in self.traces
            if clock.parse_timestamp(one["request_time"]) >= since * 1000
        ]  # fmt: skip
        page, rest = found[offset : offset + 500], found[offset + 500 :]
        return 200, {"traces": page} | ({"next_page_token": str(offset + 500)} if rest else {})


def words(url: str, experiment: str = "manners") -> list[str]:
    return ["sync", "mlflow", "--url", url, "--experiment", experiment, "-p", "p"]


def test_traces_are_read_page_by_page(run: Run, serve: Serve) -> None:
    """A trace that is deleted meanwhile hides no other: pages by number would pass one over."""
    server = MLflow([trace(n, n) for n in range(1001)])

    def deleting(path: str, query: dict[str, Any]) -> Answer:
        answer = server(path, query)
        if server.pages and len(server.traces) > 1000:
            del server.traces[0]
        return answer

    url = serve(deleting)
    done = run(*words(url), "--json").json()
    assert (done["read"], done["inserted"]) == (1001, 1001)
    assert server.pages == [(f"timestamp_ms >= {at}", "") for at in (0, START + 499, START + 998)]
    assert run(*words(url, "7"), "--json").json()["withdrawn"] == 1
    assert "nothing new" in run(*words(url, "7")).out


def test_traces_of_one_moment_fill_pages(run: Run, serve: Serve) -> None:
    server = MLflow([trace(n, 5 * (n > 1100)) for n in range(1200)])
    assert run(*words(serve(server)), "--json").json()["inserted"] == 1200
    assert [token for _, token in server.pages] == ["", "", "500", "1000"]


def test_traces_without_assessments_are_passed_over(run: Run, serve: Serve) -> None:
    server = MLflow([trace(1, 1), trace(2, 2, assessments=[]), trace(3, 3)])
    del server.traces[2]["assessments"]
    url = serve(server)
    assert run(*words(url), "--json").json()["read"] == 1
    server.traces[0]["assessments"] = []
    done = run(*words(url), "--json").json()
    assert (done["read"], done["withdrawn"]) == (0, 1)


NO_MLFLOW = "does not answer as MLflow does"
NO_EXPERIMENT: list[tuple[Answer, int, str]] = [
    ((401, b"You are not authenticated."), 3, "export MLFLOW_TRACKING_USERNAME="),
    ((404, b"<html>"), 3, "answers with status 404"),
    ((404, {"detail": "not found"}), 3, "answers with status 404"),
    *(((200, body), 3, NO_MLFLOW)
      for body in (b"<html>Hello</html>", [1, 2], {"experiment": None}, {"experiment": {}})),
    (ABSENT, 4, "there is no experiment 'manners' in http://127.0.0.1"),
    ((200, {"experiment": EXPERIMENT | {"lifecycle_stage": "deleted"}}), 4, "is deleted in"),
]  # fmt: skip
NO_TRACES: list[tuple[Answer, str]] = [
    ((404, {"error_code": "ENDPOINT_NOT_FOUND"}), "has no assessments; MLflow 3 has"),
    *(((200, body), NO_MLFLOW) for body in (
        {"traces": 7}, {"traces": [{"trace_id": "tr-1"}]},
        {"traces": [trace(1, 1, request_time="soon")], "next_page_token": "x"},
        {"traces": [trace(1, 1, assessments=["good"])]},
        {"traces": [trace(1, 1, assessments=[{}])]})),
]  # fmt: skip


def test_a_server_that_is_no_mlflow_or_has_no_traces_is_refused(run: Run, serve: Serve) -> None:
    server = MLflow([])

    def without(answer: Answer) -> str:
        return serve(lambda path, query: answer if "traces" in path else server(path, query))

    problems = [(serve(lambda *_, answer=answer: answer), code, problem)
                for answer, code, problem in NO_EXPERIMENT]  # fmt: skip
    problems += [(without(answer), 3, problem) for answer, problem in NO_TRACES]
    for url, code, problem in problems:
        done = run(*words(url), code=code)
        assert problem in done.err
        assert len(done.err.strip().splitlines()) <= 2
    done = run(*words("http://127.0.0.1:9"), env={"MLFLOW_TRACKING_TOKEN": "a\nb"}, code=2)
    assert "what MLFLOW_TRACKING_TOKEN holds is no token" in done.err


@pytest.mark.parametrize(
    ("known", "sent"),
    [
        ({}, None),
        ({"TOKEN": SECRET}, f"Bearer {SECRET}"),
        ({"USERNAME": "ada", "PASSWORD": SECRET}, "Basic YWRhOmEtd29yZC10aGF0LW5vYm9keS1tYXktc2Vl"),
        ({"USERNAME": "ada", "PASSWORD": "é", "TOKEN": SECRET}, "Basic YWRhOsOp"),
    ],
    ids=["nothing", "token", "password", "both"],
)  # fmt: skip
def test_credentials_of_the_environment_are_presented(
    run: Run, serve: Serve, known: dict[str, str], sent: str | None
) -> None:
    """A name and password go before a token, as with MLflow's own programs."""
    server = MLflow([trace(1, 1)])

    def guarded(path: str, query: dict[str, Any]) -> Answer:
        return server(path, query) if query.pop("authorization", None) == sent else (403, {})

    env = {f"MLFLOW_TRACKING_{name}": value for name, value in known.items()}
    url = serve(guarded)
    assert run(*words(url), "--json", env=env).json()["inserted"] == 1
    if sent:
        done = run(*words(url), env={"MLFLOW_TRACKING_TOKEN": "other-" + SECRET}, code=3)
        assert "does not let you read: status 403" in done.err
        assert SECRET not in done.out + done.err
