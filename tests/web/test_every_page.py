"""Each page, as each role sees it, of a project of each kind: whole, and leading nowhere wrong."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pandas as pd
import pytest
from fastapi.testclient import TestClient

from tests.web.hostile import HOSTILE, fill_hostile
from tests.web.people import ROLES, browser_at, filled_ledger, signed_in
from tests.web.reading import read
from tracker.ledger import Ledger
from tracker.web.templating import link_to

_NAMED = "annotators|categories|findings|imports|items|projects|questions|snapshots|with"
_OF_EACH_KIND = 3
_FILES = ("/report", ".csv")


class Kind(NamedTuple):
    """A kind of data: its project, and the pages of it that there are at the least."""

    project: str
    pages: int


KINDS = (Kind("p", 18), Kind("empty", 9), Kind("alone", 12), Kind("spans", 14), Kind("numbers", 14),
         Kind("models", 14), Kind(HOSTILE[0], 16))  # fmt: skip


def _frame(*rows: tuple[object, ...], columns: str = "item annotator category") -> pd.DataFrame:
    return pd.DataFrame([*rows], columns=columns.split())


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    """A project of each of `KINDS`."""
    ledger = filled_ledger(Path(tmp_path_factory.mktemp("pages")))
    ledger.projects.create("empty")
    ledger.import_frame(_frame(*((f"i{n}", "only", "xy"[n % 2]) for n in range(9))), "alone")
    ledger.projects.create("spans", answers="spans")
    spans = [(f"d{n}", who, "name", n, n + 3 + (who == "b")) for n in range(5) for who in "ab"]
    ledger.import_frame(_frame(*spans, columns="item annotator category start end"), "spans")
    numbers = [(f"i{n}", who, str(n * 7 % 40 + place)) for n in range(60)
               for place, who in enumerate("abc")]  # fmt: skip
    ledger.projects.create("numbers", scale="interval")
    ledger.import_frame(_frame(*numbers), "numbers")
    rows = [(f"i{n}", who, "xyz"[n % 3]) for n in range(30) for who in ("a", "b", "gpt")]
    ledger.import_frame(_frame(*rows), "models")
    ledger.annotators.kind("models", "gpt", "model")
    assert fill_hostile(ledger) == HOSTILE[0]
    for kind in KINDS[2:-1]:
        ledger.record_audit_by_question(kind.project)
        ledger.snapshot_by_question(kind.project)
    return ledger


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.project[:9].strip("<>"))
@pytest.mark.parametrize("role", ROLES[1:])
def test_each_page_is_whole(ledger: Ledger, role: str, kind: Kind) -> None:
    with signed_in(browser_at(ledger), role) as browser:
        pages = Counter(
            _kind_of_page(address)
            for address in _walked(browser, link_to("", "projects", kind.project))
        )
    assert len(pages) >= kind.pages, pages


def _walked(browser: TestClient, first: str) -> Iterator[str]:
    """Yield the addresses of the pages of a project that links lead to, some of each kind."""
    waiting, kinds, known = [first], Counter[str](), {first}
    for address in waiting:
        page = read(browser, address)
        assert page.tags.count("h1") == 1, address
        assert not re.search(
            r"\bNone\b(?!:| in a hurry)|Undefined|\{\{|\bnan\b", page.text.replace(HOSTILE[5], "")
        ), address
        yield address
        for _, link in page.links:
            kind = _kind_of_page(link)
            if link in known or not link.startswith(f"{first}/") or kind.endswith(_FILES):
                continue
            if kinds[kind] < _OF_EACH_KIND:
                kinds[kind] += 1
                known.add(link)
                waiting.append(link)


def _kind_of_page(address: str) -> str:
    return re.sub(f"({_NAMED})/[^/]+", r"\1/*", urlsplit(address).path)


def test_an_annotator_sees_their_own_page_alone(ledger: Ledger) -> None:
    with signed_in(browser_at(ledger), "annotator") as browser:
        assert "constant 1" in read(browser, "/me").text
        for kind in KINDS:
            assert browser.get(link_to("", "projects", kind.project)).status_code == 403
