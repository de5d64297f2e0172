"""Users of a served ledger, signed in as people do."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from fastapi.testclient import TestClient

from tests.ceiling import shared_work
from tracker.ledger import Ledger
from tracker.simulate.crowds import Group, simulate_crowd
from tracker.web.app import create_app
from tracker.web.sign_in import Access

__all__ = ["AT", "PAGE", "PASSWORD", "ROLES", "acting", "browser_at", "filled_ledger",
           "form_token", "signed_in"]  # fmt: skip

ROLES = ("annotator", "viewer", "manager", "admin")
PASSWORD = "correct horse battery"
AT = "http://tracker.example"
PAGE = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
"""What a browser asks for."""


def filled_ledger(folder: Path) -> Ledger:
    """A ledger with a project ``p``, a finding, a snapshot, and a user for each role, of its name.

    The annotator is ``constant 1``.
    """
    with shared_work():
        (folder / "served.db").write_bytes(_content())
    return Ledger(f"sqlite:///{folder / 'served.db'}")


@cache
def _content() -> bytes:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "served.db"
        ledger = Ledger(f"sqlite:///{file}")
        ledger.import_rows(simulate_crowd(60, 7, [Group("honest", 5), Group("constant", 1)]), "p")
        ledger.record_audit_by_question("p")
        ledger.snapshot("p", name="first")
        for role in ROLES:
            bound = ["p:constant 1"] if role == "annotator" else []
            ledger.users.add(role, role, password=PASSWORD, annotators=bound)
        return file.read_bytes()


def browser_at(ledger: Ledger, at: str = AT, *, address: str = "192.0.2.7") -> TestClient:
    """A browser elsewhere, at a server that others than this machine can reach."""
    app = create_app(ledger, access=Access(at_this_machine=False))
    return TestClient(
        app, base_url=at, headers=PAGE, follow_redirects=False, client=(address, 5000)
    )


def signed_in(browser: TestClient, name: str, password: str = PASSWORD, **form: str) -> TestClient:
    answer = browser.post("/sign-in", data={"name": name, "password": password, **form})
    assert answer.status_code == 303, answer.text
    return browser


def form_token(browser: TestClient) -> str:
    (found,) = {*re.findall(r'name="csrf_token" value="([^"]+)"', browser.get("/me").text)}
    return str(found)


def acting(browser: TestClient, name: str) -> TestClient:
    """The browser, its user signed in; what it sends is of our pages."""
    browser.headers.pop("x-csrf-token", None)
    signed_in(browser, name)
    browser.headers["x-csrf-token"] = form_token(browser)
    return browser
