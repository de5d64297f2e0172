"""The interface of a ledger that the commands see, too: two projects, a snapshot, a finding."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from tests.cli.conftest import folder, furnished, furnished_template, run
from tracker.ledger import Ledger
from tracker.web.app import create_app

__all__ = ["folder", "furnished", "furnished_template", "run"]

P = "/api/v1/projects/reviews"


@pytest.fixture
def furnished_ledger(furnished: Path) -> Ledger:
    found = Ledger(f"sqlite:///{furnished}")
    found.users.remove("ada")
    return found


@pytest.fixture
def program(furnished_ledger: Ledger) -> Iterator[TestClient]:
    with TestClient(create_app(furnished_ledger), base_url="http://127.0.0.1:8000") as found:
        yield found
