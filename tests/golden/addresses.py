"""What a server answers at addresses: to programs, and to people who read its pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from fastapi.testclient import TestClient

from tests.golden.frozen import plain
from tests.golden.texts import visible

__all__ = ["ADDRESSES", "AT", "Addresses", "answered"]

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
