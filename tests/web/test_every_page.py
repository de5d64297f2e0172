"""Each page of projects of several kinds: whole, and leading nowhere wrong."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from fastapi.testclient import TestClient

from tests.cli.commands import ROOT
from tests.helpers import give
from tests.web.people import browser_at, filled_ledger, signed_in
from tests.web.reading import read
from tracker.ledger import Ledger
from tracker.web.templating import link_to

_SHELL = re.compile(rf"\btracker ({'|'.join(ROOT.commands)})\b|(?<!\S)[('`]?--[a-z]")
_NAMED = "annotators|categories|findings|imports|items|projects|questions|snapshots|with"
HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    '"><svg onload=alert(3)>',
    "'><a href=javascript:alert(4)>x</a>",
    "</table></details><iframe src=//example.org>",
    "{{ 7 * 7 }}{% raw %}",
    "<div hx-get='/jobs' hx-trigger='load'>",
)
"""Texts that would be more than texts on a careless page."""
WALKS = [("manager", "p", 18), ("viewer", "spans", 14), ("admin", HOSTILE[0], 16),
         ("manager", "empty", 10), ("viewer", "few", 18)]  # fmt: skip
"""Who walks through which project, and how many kinds of pages it has at the least."""


def fill_hostile(ledger: Ledger) -> str:
    """Make a project in which every text is hostile, and return its name."""
    name = HOSTILE[0]
    rows = [
        (HOSTILE[n % 7] + str(n), HOSTILE[(n + k) % 7], f"{HOSTILE[(n * k) % 3]}c", HOSTILE[1],
         HOSTILE[2], "2026-01-0" + str(1 + n % 9))
        for n in range(12)
        for k in range(4)
    ]  # fmt: skip
    give(ledger, rows, name, "text", "comment", "labeled_at")
    ledger.questions.rename(name, "label", HOSTILE[5])
    ledger.notes.add(name, HOSTILE[1], "2026-01-03")
    ledger.snapshot_by_question(name, name=HOSTILE[2], note=HOSTILE[3])
    ledger.snapshot_by_question(name, name=HOSTILE[6])
    ledger.record_audit_by_question(name)
    return name


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Ledger:
    ledger = filled_ledger(Path(tmp_path_factory.mktemp("pages")))
    ledger.projects.create("spans", answers="spans")
    spans = [(f"d{n}", who, "name", n, n + 3 + (who == "b")) for n in range(5) for who in "ab"]
    give(ledger, spans, "spans", "start", "end")
    assert fill_hostile(ledger) == HOSTILE[0]
    ledger.projects.create("empty")
    few = [
        (f"d{n}", who, "xXy"[(n + len(who)) % 3], kind)
        for n in range(9)
        for who, kind in (("Ada", "human"), ("ada", "human"), ("gpt", "model"), ("bo", "human"))
    ]
    give(ledger, few, "few", "kind")
    ledger.record_audit_by_question("spans")
    ledger.snapshot_by_question("spans")
    return ledger


@pytest.mark.parametrize(("role", "project", "kinds"), WALKS)
def test_each_page_is_whole(ledger: Ledger, role: str, project: str, kinds: int) -> None:
    with signed_in(browser_at(ledger), role) as browser:
        walked = _walked(browser, link_to("", "projects", project))
        pages = Counter(_kind_of_page(address) for address in walked)
    assert len(pages) >= kinds, pages


def _walked(browser: TestClient, first: str) -> Iterator[str]:
    """Yield the addresses of the pages of a project that links lead to, some of each kind."""
    waiting, kinds, known = [first], Counter[str](), {first}
    for address in waiting:
        page = read(browser, address)
        assert page.tags.count("h1") == 1, address
        assert not {"img", "iframe"} & {*page.tags}, address
        assert all("src" in script for script in page.all("script")), (
            "each script is a file of ours"
        )
        assert not any(link.startswith("javascript") for _, link in page.links), address
        text = page.text.replace(HOSTILE[5], "")
        faults = re.search(r"\bNone\b(?!:| in a hurry)|Undefined|\{\{|\bnan\b", text)
        assert not faults, address
        assert "/gate" in address or not _SHELL.search(text), address  # has a file for the shell
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
