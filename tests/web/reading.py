"""A page as its reader has it: its texts, links and tables."""

from __future__ import annotations

from html.parser import HTMLParser

from fastapi.testclient import TestClient

_VOID = {"meta", "link", "br", "hr", "img", "input"}


class Page(HTMLParser):
    """What a page says.

    Attributes:
        elements: the name and the attributes of each.
        links: their texts and addresses.
        rows: the texts of the cells of each row of its tables.
        faults: elements that are closed and were not opened last.
    """

    def __init__(self, content: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.links: list[tuple[str, str]] = []
        self.rows: list[list[str]] = []
        self.style = ""
        self.faults: list[str] = []
        self.open: list[str] = []
        self._said = ""
        self.feed(content)
        self.close()
        self.text = " ".join(self._said.split())
        self.links = [(text.strip(), address) for text, address in self.links]
        self.rows = [[" ".join(cell.split()) for cell in row] for row in self.rows]

    @property
    def tags(self) -> list[str]:
        return [tag for tag, _ in self.elements]

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def to(self, text: str) -> str:
        """Return the address to which a link of that text leads; there is one."""
        (found,) = {address for said, address in self.links if said == text}
        return found

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)
        if tag == "a":
            self.links.append(("", dict(attrs).get("href") or ""))
        if tag == "tr":
            self.rows.append([])
        if tag in {"td", "th"}:
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        if tag not in _VOID and self.open[-1:] != [tag]:
            self.faults.append(f"</{tag}> closes nothing")
        while tag not in _VOID and self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if "style" in self.open:
            self.style += data
            return
        self._said += data
        if "a" in self.open:
            self.links[-1] = (self.links[-1][0] + data, self.links[-1][1])
        if {"td", "th"} & {*self.open}:
            self.rows[-1][-1] += data


def read(client: TestClient, address: str, status: int = 200) -> Page:
    answer = client.get(address)
    assert answer.status_code == status, answer.text
    return Page(answer.text)
