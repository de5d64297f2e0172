"""A kind of finding is a file of `audit/kinds` and its sentence: every face tells of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from fastapi.testclient import TestClient

from tests.cli.conftest import Run
from tests.web.reading import read
from tracker.audit.evidence import Evidence
from tracker.audit.kind import Effect, Kind, TestResult
from tracker.audit.kinds import KINDS
from tracker.audit.sentences import SENTENCES
from tracker.ledger import Ledger
from tracker.web.app import create_app

TOY = "early_bird"


def run_test(evidence: Evidence) -> Iterator[TestResult]:
    """Accuse whoever came first."""
    assert evidence.tallies
    yield TestResult(
        kind=TOY, annotator=1, category=None, observed=0.9, expected=0.1,
        peers=None, n=60, informative=60, effect=Effect("difference", 0.8), p_value=1e-9,
        notable=True, suspicious=False, severity="high",
    )  # fmt: skip


@pytest.fixture
def with_toy(sqlite_ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> Ledger:
    monkeypatch.setitem(KINDS, TOY, Kind(TOY, frozenset(), run_test))
    monkeypatch.setitem(SENTENCES, TOY, "{annotator} gets up with the lark")
    rows = [(str(n), who, "xyz"[n % 3]) for n in range(60) for who in ("ada", "bo", "cy")]
    frame = pd.DataFrame(rows, columns=["item", "annotator", "category"])
    sqlite_ledger.import_frame(frame, "p")
    return sqlite_ledger


def test_a_kind_with_its_sentence_is_told_by_every_face(with_toy: Ledger, run: Run) -> None:
    at = ("--database", str(with_toy.database.url))
    (finding,) = with_toy.audit("p").to_dict()["annotators"][0]["flags"]
    assert (finding["kind"], finding["state"]) == (TOY, "flagged")
    for words in (("audit", "p"), ("audit", "p", "--kind", TOY), ("status", "p")):
        assert "ada gets up with the lark" in run(*at, *words).out
    run(*at, "audit", "p", "--record")
    (flag,) = run(*at, "flags", "list", "p", "--kind", TOY, "--json").json()["flags"]
    assert flag["why"].startswith("ada gets up with the lark")
    run(*at, "report", "p", "-o", "page.md")
    assert "gets up with the lark" in Path("page.md").read_text("utf-8")
    with TestClient(create_app(with_toy), base_url="http://127.0.0.1") as client:
        for path in ("/projects/p", "/projects/p/findings", "/projects/p/annotators/ada"):
            assert "gets up with the lark" in read(client, path).text
