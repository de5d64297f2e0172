"""What programs that watch the server are told."""

from __future__ import annotations

import re
from pathlib import Path

from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families

from tracker.ledger import Ledger
from tracker.simulate.crowds import Group, simulate_crowd
from tracker.web.app import create_app


def told(client: TestClient) -> dict[str, list[tuple[dict[str, str], float]]]:
    """The samples of each name."""
    samples: dict[str, list[tuple[dict[str, str], float]]] = {}
    for family in text_string_to_metric_families(client.get("/metrics").text):
        for one in family.samples:
            samples.setdefault(one.name, []).append((one.labels, one.value))
    return samples


def test_figures_are_those_of_the_last_snapshot(client: TestClient, ledger: Ledger) -> None:
    ledger.import_rows(simulate_crowd(120, 7, [Group("honest", 6), Group("constant", 1)]), 'p "1"')
    ledger.audit('p "1"', record=True)
    taken = ledger.snapshot('p "1"').to_dict()
    alpha = next(m for m in taken["measures"] if m["measure"] == "krippendorff_alpha")
    found = told(client)
    names = {"project": 'p "1"', "question": "label"}
    assert found["tracker_alpha"] == [(names, alpha["value"])]
    assert found["tracker_alpha_bound"] == [
        ({**names, "bound": "low"}, alpha["ci_low"]),
        ({**names, "bound": "high"}, alpha["ci_high"]),
    ]
    assert found["tracker_snapshot_items"] == [(names, 120)]
    assert {labels["kind"] for labels, _ in found["tracker_open_findings"]} >= {"constant_category"}
    ((of, moment),) = found["tracker_last_import_timestamp_seconds"]
    assert of == {"project": 'p "1"'}
    assert abs(moment - found["tracker_snapshot_timestamp_seconds"][0][1]) < 60


def test_requests_are_counted_by_route_and_not_by_name(client: TestClient, ledger: Ledger) -> None:
    ledger.projects.create("a/b")
    client.get("/api/v1/projects/a%2Fb")
    client.get("/api/v1/projects/other")
    client.get("/no/such/page")
    client.request("BREW", "/no/such/page")
    counted = {
        (one["method"], one["route"], one["status"]): number
        for one, number in told(client)["tracker_requests_total"]
    }
    assert counted["GET", "/api/v1/projects/{project}", "200"] == 1
    assert counted["GET", "/api/v1/projects/{project}", "404"] == 1
    assert counted["any", "none", "404"] == 2
    assert not any("a/b" in route or "a%2Fb" in route for _, route, _ in counted)


def test_two_applications_count_for_themselves(client: TestClient, ledger: Ledger) -> None:
    client.get("/healthz")
    with TestClient(create_app(ledger), base_url="http://127.0.0.1:8000") as other:
        assert "/healthz" not in other.get("/metrics").text
    assert re.search('route="/healthz",status="200"} 1.0', client.get("/metrics").text)


def test_health_is_that_of_the_database(client: TestClient, tmp_path: Path) -> None:
    assert (client.get("/healthz").status_code, client.get("/healthz").text) == (200, "ok\n")
    path = tmp_path / "other.db"
    path.write_bytes(b"nothing that is a database")
    for url in (f"sqlite:///{path}", f"sqlite:///{tmp_path}/no/folder.db"):
        with TestClient(create_app(Ledger(url)), base_url="http://127.0.0.1:8000") as other:
            answer = other.get("/healthz")
            assert (answer.status_code, answer.text) == (503, "")
