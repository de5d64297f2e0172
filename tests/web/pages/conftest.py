"""Projects that pages are shown of."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from tests.filled import FillOnce
from tests.web.people import acting, browser_at
from tracker.ledger import Ledger
from tracker.simulate.crowds import Group, simulate_crowd
from tracker.web.app import create_app


@pytest.fixture
def flagged(ledger: Ledger, fill_once: FillOnce) -> Ledger:
    """A crowd, project ``p``, one of which always says the same: finding 1."""
    return fill_once(ledger, _fill)


def _fill(ledger: Ledger) -> None:
    groups = [Group("honest", 8), Group("constant", 1)]
    ledger.import_rows(simulate_crowd(160, 7, groups), "p")
    ledger.record_audit_by_question("p")


@pytest.fixture
def browser(flagged: Ledger) -> Iterator[TestClient]:
    """A browser at the application of that ledger, which does not follow redirections."""
    app = create_app(flagged)
    with TestClient(app, base_url="http://127.0.0.1:8000", follow_redirects=False) as browser:
        yield browser


@pytest.fixture
def admin(peopled: Ledger) -> Iterator[TestClient]:
    with browser_at(peopled) as browser:
        yield acting(browser, "admin")
