"""The application on a ledger with answers, asked as a browser asks it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from tracker.ledger import Ledger
from tracker.web.app import create_app


@pytest.fixture
def client(ledger: Ledger) -> Iterator[TestClient]:
    """A browser at the application of the test's ledger."""
    with TestClient(create_app(ledger), base_url="http://127.0.0.1:8000") as found:
        yield found
