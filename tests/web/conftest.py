"""The application on a ledger with answers, asked as a browser asks it, and a browser."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from playwright.sync_api import Browser, expect, sync_playwright

from tests.chromium import FLAGS, Unavailable, chromium
from tracker.ledger import Ledger
from tracker.web.app import create_app


@pytest.fixture
def client(ledger: Ledger) -> Iterator[TestClient]:
    with TestClient(create_app(ledger), base_url="http://127.0.0.1:8000") as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium; where there is none the tests are skipped, or fail where ``CI`` is set."""
    try:
        path = chromium()
    except Unavailable as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(f"NO BROWSER: {error}")
    expect.set_options(timeout=30_000)  # a busy machine
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield started
        started.close()


@pytest.fixture
def ours(sqlite_file: Path) -> Ledger:
    return Ledger(f"sqlite:///{sqlite_file}")
