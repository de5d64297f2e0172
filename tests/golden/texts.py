"""Pages as texts: what a reader has of them, line by line."""

from __future__ import annotations

import json
import re
from html import unescape

__all__ = ["condensed", "notebook", "visible"]


def condensed(page: str) -> str:
    """Return a page's elements, without its style; of each drawing only what is written in it."""
    page = re.sub(r"(?s)<(style|script)\b.*?</\1>", "", page)
    page = re.sub(r"(?s)<svg\b.*?</svg>", _words, page)
    return re.sub(r"\s*\n\s*", "\n", page)


def notebook(text: str) -> str:
    """Return a notebook's cells: their kinds and what is written in them."""
    cells = json.loads(text)["cells"]
    return "\n".join(f"{one['cell_type']}: {condensed(''.join(one['source']))}" for one in cells)


def _words(drawing: re.Match[str]) -> str:
    return f"<svg>{' '.join(re.findall(r'>([^<>]*[^<> ][^<>]*)<', drawing[0]))}</svg>"


def visible(page: str) -> str:
    """Return what is read on a page, a line for each block of it."""
    page = re.sub(r"(?s)<(style|script|head)\b.*?</\1>", "", page)
    page = re.sub(r"\s+", " ", page)
    page = re.sub(r"</?(p|div|li|tr|h\d|table|section|main|nav|form|dt|dd|caption|ul|header|footer|"
                  r"svg|summary|details|option|label|button)\b[^>]*>", "\n", page)  # fmt: skip
    page = re.sub(r"<(td|th)\b[^>]*>", " | ", page)
    text = unescape(re.sub(r"<[^>]*>", "", page))
    lines = (" ".join(line.split()) for line in text.split("\n"))
    return "".join(f"{line}\n" for line in lines if line)
