"""Each page, as each role sees it, of a project of each kind: whole, and leading nowhere wrong."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pandas as pd
import pytest
from fastapi.testclient import TestClient

from tests.profiles import exhaustive
from tests.web.hostile import HOSTILE, fill_hostile
from tests.web.people import browser_at, filled_ledger, signed_in
from tests.web.reading import read
from tracker.ledger import Ledger
from tracker.web.templating import link_to

_NAMED = "annotators|categories|findings|imports|items|projects|questions|snapshots|with"
PAGES = {"p": 18, "empty": 9, "alone": 12, "spans": 14, "numbers": 14, "models": 14, HOSTILE[0]: 16}
"""The projects, one of each kind of data, and how many kinds of pages each has at the least."""
ORDINARY = {("manager", "p"), ("viewer", "numbers"), ("manager", "spans"), ("admin", HOSTILE[0])}
"""Who walks through which project in the ordinary run; the texts of pages are in the goldens."""
WALKS = [
    pytest.param(role, project, id=f"{role}-{project[:9].strip('<>')}",
                 marks=[] if (role, project) in ORDINARY else exhaustive)
    for role in ("viewer", "manager", "admin") for project in PAGES
]  # fmt: skip


def _frame(*rows: tuple[object, ...], columns: str = "item annotator category") -> pd.DataFrame:
    return pd.DataFrame([*rows], columns=columns.split())


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    """Each of these projects."""
    ledger = filled_ledger(Path(tmp_path_factory.mktemp("pages")))
    ledger.projects.create("empty")
    ledger.import_frame(_frame(*((f"i{n}", "only", "xy"[n % 2]) for n in range(9))), "alone")
    ledger.projects.create("spans", answers="spans")
    spans = [(f"d{n}", who, "name", n, n + 3 + (who == "b")) for n in range(5) for who in "ab"]
    ledger.import_frame(_frame(*spans, columns="item annotator category start end"), "spans")
    numbers = [(f"i{n}", who, str(n * 7 % 12 + place)) for n in range(30)
               for place, who in enumerate("ab")]  # fmt: skip
    ledger.projects.create("numbers", scale="interval")
    ledger.import_frame(_frame(*numbers), "numbers")
    rows = [(f"i{n}", who, "xyz"[n % 3]) for n in range(30) for who in ("a", "b", "gpt")]
    ledger.import_frame(_frame(*rows), "models")
    ledger.annotators.kind("models", "gpt", "model")
    assert fill_hostile(ledger) == HOSTILE[0]
    for project in ("alone", "spans", "numbers", "models"):
        ledger.record_audit_by_question(project)
        ledger.snapshot_by_question(project)
    return ledger


@pytest.mark.parametrize(("role", "project"), WALKS)
def test_each_page_is_whole(ledger: Ledger, role: str, project: str) -> None:
    with signed_in(browser_at(ledger), role) as browser:
        walked = _walked(browser, link_to("", "projects", project))
        pages = Counter(_kind_of_page(address) for address in walked)
    assert len(pages) >= PAGES[project], pages


def _walked(browser: TestClient, first: str) -> Iterator[str]:
    """Yield the addresses of the pages of a project that links lead to, some of each kind."""
    waiting, kinds, known = [first], Counter[str](), {first}
    for address in waiting:
        page = read(browser, address)
        assert page.tags.count("h1") == 1, address
        assert not {"img", "iframe"} & {*page.tags}, address
        assert page.scripts == page.tags.count("script"), "each script is a file of ours"
        assert not any(link.startswith("javascript") for _, link in page.links), address
        text = page.text.replace(HOSTILE[5], "")
        faults = re.search(r"\bNone\b(?!:| in a hurry)|Undefined|\{\{|\bnan\b", text)
        assert not faults, address
        yield address
        for _, link in page.links:
            kind = _kind_of_page(link)
            is_file = kind.endswith(("/report", ".csv"))
            if link in known or not link.startswith(f"{first}/") or is_file:
                continue
            if kinds[kind] < 2:
                kinds[kind] += 1
                known.add(link)
                waiting.append(link)


def _kind_of_page(address: str) -> str:
    return re.sub(f"({_NAMED})/[^/]+", r"\1/*", urlsplit(address).path)
