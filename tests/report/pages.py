"""What is asked of every page of a report."""

from __future__ import annotations

import re
from itertools import pairwise

from tests.web.reading import Page

__all__ = ["read_page"]


def read_page(content: bytes) -> Page:
    """Return a page that is well-formed and keeps to the rules, whatever it is about."""
    page = Page(content.decode())
    tags = page.tags
    assert page.faults == []
    assert not page.open
    names = [a["id"] for _, a in page.elements if "id" in a]
    assert len(names) == len({*names})
    targets = {a["href"] for a in page.all("a")}
    assert all(one is not None and one.startswith("#") for one in targets)
    assert {one[1:] for one in targets if one} <= {*names}
    levels = [int(tag[1]) for tag in tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert tags.count("caption") == tags.count("table")
    assert all("scope" in attributes for attributes in page.all("th"))
    assert {"header", "nav", "main", "footer"} <= {*tags}
    assert page.all("html") == [{"lang": "en"}]
    assert not {"script", "img", "iframe", "link", "object", "embed", "form"} & {*tags}
    assert not [name for _, a in page.elements for name in a if name.startswith("on")]
    assert not [a for _, a in page.elements if {"src", "srcset", "xlink:href"} & {*a}]
    assert all(attributes["role"] == "img" for attributes in page.all("svg"))
    assert tags.count("desc") == tags.count("svg")
    assert "url(" not in page.style
    assert "@import" not in page.style
    return page
