"""A page as its reader meets it: its elements, its text, and what is wrong with it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import pairwise

VOID = {"meta", "link", "br", "hr", "img", "input"}
SVG_ALONE = {"path", "line", "rect", "circle"}


@dataclass
class Page(HTMLParser):
    """The elements of a page in their order, and its text."""

    tags: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    text: str = ""
    style: str = ""
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        HTMLParser.__init__(self, convert_charrefs=True)
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.faults.append(f"</{tag}> closes nothing")

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] == "style":
            self.style += data
        else:
            self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """The attributes of each element of a kind."""
        return [attributes for name, attributes in self.tags if name == tag]


def read_page(content: bytes) -> Page:
    """Return a page that is well-formed and keeps to the rules, whatever it is about."""
    page = Page()
    page.feed(content.decode())
    page.close()
    assert page.faults == []
    assert not page._open
    names = [a["id"] for _, a in page.tags if "id" in a]
    assert len(names) == len({*names})
    targets = {a["href"] for a in page.all("a")}
    assert all(one is not None and one.startswith("#") for one in targets)
    assert {one[1:] for one in targets if one} <= {*names}
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    tags = [tag for tag, _ in page.tags]
    assert tags.count("caption") == tags.count("table")
    assert all("scope" in attributes for attributes in page.all("th"))
    assert {"header", "nav", "main", "footer"} <= {*tags}
    assert page.all("html") == [{"lang": "en"}]
    assert not {"script", "img", "iframe", "link", "object", "embed", "form"} & {*tags}
    assert not [name for _, a in page.tags for name in a if name.startswith("on")]
    assert not [a for _, a in page.tags if {"src", "srcset", "xlink:href"} & {*a}]
    for tag, attributes in page.tags:
        if tag == "svg":
            assert attributes["role"] == "img"
    assert tags.count("desc") == tags.count("svg")
    assert "url(" not in page.style
    assert "@import" not in page.style
    return page
