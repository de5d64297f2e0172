"""Findings about a definition, a slice of the items or the design have a life as any other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.audit.flags.found import listed
from tests.audit.test_verdict import apart, dutch, schools, swapped
from tracker.ledger import Ledger

WHAT = {
    schools: ("divided_definition", "b", None),
    dutch: ("weak_slice", None, "language=nl"),
    apart: ("disconnected_groups", None, None),
}


@pytest.mark.parametrize("fill", WHAT, ids=lambda fill: fill.__name__)
def test_it_is_recorded_seen_again_and_settled(
    ledger: Ledger, fill: Callable[[Ledger, str], None]
) -> None:
    fill(ledger, "p")
    kind, category, subject = WHAT[fill]
    audited = ledger.record_audit("p")[0].to_dict()
    (finding,) = [
        row for row in (*audited["definitions"], *audited["design"]) if row["kind"] == kind
    ]
    (flag,) = listed(ledger, kind=kind)
    about = [flag[name] for name in ("annotator", "with", "category", "subject", "state")]
    assert about == [None, None, category, subject, "open"]
    assert flag["why"] == finding["why"]
    assert flag["last_observed"] == finding.get("figure")
    assert not finding["settled"]

    ledger.record_audit("p")
    assert listed(ledger, kind=kind)[0]["times_seen"] == 2
    assert kind in {concern["kind"] for concern in ledger.verdict("p")["verdict"]}

    ledger.flags.dismiss("p", [flag["flag"]], by="mia", note="we know")
    assert kind not in {concern["kind"] for concern in ledger.verdict("p")["verdict"]}
    told = ledger.audit("p").to_dict()
    settled = {row["kind"]: row["settled"] for row in (*told["definitions"], *told["design"])}
    assert settled[kind]
    ledger.record_audit("p")
    assert listed(ledger, kind=kind)[0]["state"] == "dismissed"


def test_a_gate_passes_what_was_dismissed(ledger: Ledger, tmp_path: Path) -> None:
    dutch(ledger, "p")
    gate = tmp_path / "gate.toml"
    gate.write_text('[[check]]\nflags = ["weak_slice"]\n')
    assert not ledger.gate("p", gate).passed
    ledger.record_audit("p")
    (flag,) = listed(ledger, kind="weak_slice")
    ledger.flags.dismiss("p", [flag["flag"]], by="mia")
    assert ledger.gate("p", gate).passed


def test_a_dismissed_finding_about_a_person_is_in_no_verdict(ledger: Ledger) -> None:
    swapped(ledger, "p")
    ledger.record_audit("p")
    assert ledger.verdict("p")["verdict"][0]["names"] == ["p3"]
    flags = [flag["flag"] for flag in listed(ledger)]
    ledger.flags.dismiss("p", flags, by="mia", note="talked to p3")
    assert ledger.verdict("p")["verdict"] == []


def test_the_sides_of_a_definition_have_the_names_of_today(ledger: Ledger) -> None:
    schools(ledger, "p")
    ledger.record_audit("p")
    (flag,) = listed(ledger, kind="divided_definition")
    (name, *_) = ledger.flags.show("p", flag["flag"]).to_dict()["evidence"]["more"]
    ledger.annotators.rename("p", name, "zoe")
    page = ledger.flags.show("p", flag["flag"]).to_dict()
    assert "zoe" in page["evidence"]["more"]
    assert "zoe" in page["why"]
    assert name not in page["evidence"]["more"]
