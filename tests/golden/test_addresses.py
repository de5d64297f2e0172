"""Each address of the table answers what it answered, and every page and reading route is there."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from fastapi.testclient import TestClient

from tests.cli.conftest import Run
from tests.golden.conftest import Copy, Memory
from tests.golden.frozen import plain, remembered, visible
from tests.golden.kept import Kept
from tests.profiles import exhaustive, on_sqlite
from tests.web.people import AT as ELSEWHERE
from tests.web.people import PASSWORD, browser_at, signed_in
from tests.web.test_roles import ROUTES
from tracker.ledger import Ledger
from tracker.web.app import create_app

# A stream without an end, counts of requests, a style sheet, another server's doors, and what
# `tracker report` writes; and the description, which has a test of its own.
ELSE = {"/events", "/metrics", "/style.css", "/sign-in/oidc", "/sign-in/oidc/back",
        "/projects/{project:name}/report", "/api/v1/openapi.json"}  # fmt: skip
AT = "http://127.0.0.1:8000"


class Addresses(NamedTuple):
    """Addresses that are kept in one file, with the command that prints the same, or nothing."""

    ledger: str
    commands: dict[str, str]


def _groups() -> Iterator[tuple[str, Addresses]]:
    text = Path(__file__).with_name("addresses.txt").read_text("utf-8")
    for part in text.split("\n[")[1:]:
        heading, *lines = part.splitlines()
        name, ledger = heading.replace("]", "").split()
        pairs = (line.partition(" = ") for line in lines if line)
        yield name, Addresses(ledger, {address: command for address, _, command in pairs})


ADDRESSES = dict(_groups())


def answered(client: TestClient, address: str) -> tuple[str, str]:
    """Return how an address is answered, its status and where more is, and with what."""
    answer = client.get(address, follow_redirects=False)
    kind = answer.headers.get("content-type", "").partition(";")[0]
    more = [f"{name}: {answer.headers[name]}\n" for name in ("link", "location")
            if name in answer.headers]  # fmt: skip
    text = visible(answer.text) if kind == "text/html" else answer.text
    return plain(f"{answer.status_code} {kind}\n{''.join(more)}"), plain(text)


# The exhaustive run reads on Postgres the pages, and the addresses that no command has as JSON.
ASKED = [
    pytest.param(
        backend, name, address, id=f"{backend}-{group.ledger}-{name}: {address}", marks=marks
    )
    for backend, marks in (("sqlite", []), ("postgresql", [exhaustive]))
    for name, group in ADDRESSES.items()
    for address, command in group.commands.items()
    if backend == "sqlite" or name == "pages" or (name == "api" and not command)
]


@pytest.mark.parametrize(("backend", "name", "address"), ASKED, indirect=["backend"])
def test_an_address_answers_what_it_answered(
    run: Run, copy: Copy, memory: Memory, kept: Kept, backend: str, name: str, address: str
) -> None:
    group, url = ADDRESSES[name], copy(ADDRESSES[name].ledger)
    ledger = Ledger(url)
    for user in ledger.users.list():  # where there are none, a server lets everyone in
        ledger.users.remove(user.name)
    command = group.commands[address]
    with remembered(memory[backend, group.ledger]):
        with TestClient(create_app(ledger), base_url=AT) as client:
            status, text = answered(client, address)
        if command:
            env = {"TRACKER_DATABASE_URL": url}
            done = run(*shlex.split(command), "--json", env=env, code=None)
            if plain(done.out) == text:
                text = f"as tracker {command} --json\n"
    kept.hold(name, [(f"GET {address}", status + text)], {f"GET {address}"})


@on_sqlite
def test_pages_of_people_who_signed_in(copy: Copy, kept: Kept) -> None:
    ledger = Ledger(copy("team"))

    def sections() -> Iterator[tuple[str, str]]:
        for name in ("ada", "bob"):
            ledger.users.set_password(name, PASSWORD)
            with browser_at(ledger) as browser:
                signed_in(browser, name)
                for address in ("/", "/me", "/projects/reviews", "/projects/reviews/findings/1",
                                "/projects/reviews/settings", "/tokens"):  # fmt: skip
                    yield f"GET {address} by {name}", "".join(answered(browser, address))
                yield f"GET / at {ELSEWHERE}", "".join(answered(browser, "/nothing"))

    kept.hold("pages_by_role", sections())


@on_sqlite
def test_the_interface_is_described_as_it_was(copy: Copy, kept: Kept) -> None:
    """A section for each path, a line for each method and schema."""
    with TestClient(create_app(Ledger(copy("kinds"))), base_url=AT) as client:
        told = client.get("/api/v1/openapi.json").json()
    parts = {**told.pop("paths"), **told.pop("components"), "else": told}
    lines = {name: [f"{key}: {json.dumps(one)}\n" for key, one in part.items()]
             for name, part in parts.items()}  # fmt: skip
    kept.hold("openapi", ((name, plain("".join(part))) for name, part in lines.items()))


def test_every_route_that_is_read_is_in_the_table() -> None:
    asked = [
        address.partition("?")[0] for group in ADDRESSES.values() for address in group.commands
    ]
    missing = {one.path for one in ROUTES if one.method == "GET"
               and not any(_leads_to(one.path, address) for address in asked)}  # fmt: skip
    assert missing == ELSE


def _leads_to(path: str, address: str) -> bool:
    return re.fullmatch(re.sub(r"{\w+(:\w+)?}", "[^/]+", path), address) is not None
