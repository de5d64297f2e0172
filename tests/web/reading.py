"""A page as its reader has it: its texts, links and tables."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import NamedTuple

from fastapi.testclient import TestClient

__all__ = ["Read", "read"]


class Read(NamedTuple):
    """What a page says.

    Attributes:
        text: all of it, with single spaces.
        links: their texts and addresses.
        rows: the texts of the cells of each row of its tables.
        tags: the name of every element.
        scripts: how many of them are scripts from a file.
    """

    text: str
    links: list[tuple[str, str]]
    rows: list[list[str]]
    tags: list[str]
    scripts: int

    def to(self, text: str) -> str:
        """Return the address to which a link of that text leads; there is one."""
        (found,) = {address for said, address in self.links if said == text}
        return found


def read(client: TestClient, address: str, status: int = 200) -> Read:
    """Return what the page at an address says."""
    answer = client.get(address)
    assert answer.status_code == status, answer.text
    reader = _Reader()
    reader.feed(answer.text)
    links = [("".join(text).strip(), href) for text, href in reader.links]
    rows = [[" ".join("".join(cell).split()) for cell in row] for row in reader.rows]
    text = " ".join("".join(reader.text).split())
    return Read(text, links, rows, reader.tags, reader.scripts)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.text: list[str] = []
        self.links: list[tuple[list[str], str]] = []
        self.rows: list[list[list[str]]] = []
        self.tags: list[str] = []
        self.scripts = 0
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.scripts += tag == "script" and any(name == "src" for name, _ in attrs)
        self._open.append(tag)
        if tag == "a":
            self.links.append(([], dict(attrs).get("href") or ""))
        if tag == "tr":
            self.rows.append([])
        if tag in {"td", "th"}:
            self.rows[-1].append([])

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        self.text.append(data)
        if "a" in self._open:
            self.links[-1][0].append(data)
        if {"td", "th"} & {*self._open}:
            self.rows[-1][-1].append(data)
