"""Every page says the same on either database, now and as of then."""

from __future__ import annotations

import re

from fastapi.testclient import TestClient

from tests.profiles import thorough
from tests.web.reading import read
from tests.web.test_browser import OF_PROJECT, fill
from tracker.ledger import Ledger
from tracker.web.app import create_app

PAGES = ("/", "/search?q=item", "/projects/spans", "/projects/empty", "/projects/p/moments",
         "/projects/p/row", *(f"/projects/p{path}" for path in OF_PROJECT))  # fmt: skip
THEN = ("/items", "/items/item%200001", "/annotators", "/questions/label")
_OWN = re.compile(r"\d{4}-\d\d-\d\d(T| )\d\d:\d\d\S*|\b[0-9a-f]{16,}\b|\w+://\S+|\d+\.\d\d seconds")


@thorough
def test_every_page_says_the_same_on_both(
    sqlite_ledger: Ledger, emptied_postgres_ledger: Ledger
) -> None:
    told = []
    for ledger in (sqlite_ledger, emptied_postgres_ledger):
        fill(ledger)
        with TestClient(create_app(ledger), base_url="http://127.0.0.1:8000") as client:
            made = ledger.projects.changes("p", 1).acts[0].to_dict()["at"]
            then = [f"/projects/p{path}?as_of={made}&known_at={made}" for path in THEN]
            told.append([_OWN.sub("", read(client, path).text) for path in (*PAGES, *then)])
    for path, one, other in zip((*PAGES, *THEN), *told, strict=True):
        assert one == other, path
