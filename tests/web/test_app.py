"""The application as a whole: what every response has, its health, metrics and drawings."""

from __future__ import annotations

from pathlib import Path

from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families

from tracker.ledger import Ledger
from tracker.simulate.crowds import Group, simulate_crowd
from tracker.web.app import create_app
from tracker.web.drawing import TREND_HEIGHT, are_steady, curve


def test_every_response_lets_only_our_scripts_run(client: TestClient) -> None:
    for path in ("/", "/projects/none", "/nothing", "/static/app.css"):
        headers = client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        policy = headers["content-security-policy"]
        assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy
    answer = client.get("/api/v1/nothing")
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == answer.status_code == 404


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
    assert client.head("/sign-out").status_code == 405  # only POST does that


def samples(client: TestClient) -> dict[str, list[tuple[dict[str, str], float]]]:
    found: dict[str, list[tuple[dict[str, str], float]]] = {}
    for family in text_string_to_metric_families(client.get("/metrics").text):
        for one in family.samples:
            found.setdefault(one.name, []).append((one.labels, one.value))
    return found


def test_metrics_have_the_figures_of_the_last_snapshot(client: TestClient, ledger: Ledger) -> None:
    ledger.import_rows(simulate_crowd(120, 7, [Group("honest", 6), Group("constant", 1)]), 'p "1"')
    ledger.audit('p "1"', record=True)
    snapshot = ledger.snapshot('p "1"').to_dict()
    alpha = next(m for m in snapshot["measures"] if m["measure"] == "krippendorff_alpha")
    metrics = samples(client)
    names = {"project": 'p "1"', "question": "label"}
    assert metrics["tracker_alpha"] == [(names, alpha["value"])]
    assert metrics["tracker_alpha_bound"] == [
        ({**names, "bound": "low"}, alpha["ci_low"]),
        ({**names, "bound": "high"}, alpha["ci_high"]),
    ]
    assert metrics["tracker_snapshot_items"] == [(names, 120)]
    kinds = {labels["kind"] for labels, _ in metrics["tracker_open_findings"]}
    assert kinds >= {"constant_category"}
    ((of, moment),) = metrics["tracker_last_import_timestamp_seconds"]
    assert of == {"project": 'p "1"'}
    assert abs(moment - metrics["tracker_snapshot_timestamp_seconds"][0][1]) < 60


def test_each_application_counts_its_requests_by_route(client: TestClient, ledger: Ledger) -> None:
    ledger.projects.create("a/b")
    for path in ("/healthz", "/api/v1/projects/a%2Fb", "/api/v1/projects/other", "/no/such/page"):
        client.get(path)
    client.request("BREW", "/no/such/page")
    counts = {
        (labels["method"], labels["route"], labels["status"]): number
        for labels, number in samples(client)["tracker_requests_total"]
    }
    assert counts["GET", "/api/v1/projects/{project}", "200"] == 1
    assert counts["GET", "/api/v1/projects/{project}", "404"] == 1
    assert counts["any", "none", "404"] == 2
    assert not any("a/b" in route or "a%2Fb" in route for _, route, _ in counts)


def test_health_is_that_of_the_database(client: TestClient, tmp_path: Path) -> None:
    assert (client.get("/healthz").status_code, client.get("/healthz").text) == (200, "ok\n")
    path = tmp_path / "other.db"
    path.write_bytes(b"nothing that is a database")
    for url in (f"sqlite:///{path}", f"sqlite:///{tmp_path}/no/folder.db"):
        with TestClient(create_app(Ledger(url)), base_url="http://127.0.0.1:8000") as other:
            answer = other.get("/healthz")
            assert (answer.status_code, answer.text) == (503, "")


def points(figures: list[tuple[float | None, float | None]]) -> list[list[list[float]]]:
    return [[[*map(float, point.split(","))] for point in line.split()] for line in curve(figures)]


def test_a_gap_ends_a_line_and_noise_is_a_flat_one() -> None:
    first, second = points([(0.1, 0.02), (0.5, 0.02), (None, None), (0.9, 0.02)])
    assert [x for x, _ in first + second] == sorted(x for x, _ in first + second)
    heights = [y for _, y in first + second]
    assert heights == sorted(heights, reverse=True)
    assert all(0 < y < TREND_HEIGHT for y in heights)
    (other,) = points([(0.5, 0.02), (0.9, 0.02), (0.1, 0.02)])
    assert [y for _, y in other] == [*heights[1:], heights[0]]
    (beyond,) = points([(0.5, 0.02), (-0.9, 0.02), (0.5, 0.02)])
    assert beyond[1][1] < TREND_HEIGHT
    noise = [(0.4, 0.1), (0.6, 0.1), (0.5, 0.1)]
    assert are_steady(noise)
    assert {y for (line,) in [points(noise)] for _, y in line} == {TREND_HEIGHT / 2}
    assert not are_steady([(0.4, 0.01), (0.6, 0.01)])
    assert curve([(None, None)]) == curve([]) == []
    assert curve([(0.4, 0.01), (0.9, 0.01), (None, None)]) == [], "two points show no course"
