"""A document as a notebook: what it says as text, and cells that count it again."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator
from typing import Any, Final

from tracker.core.errors import escaped_text
from tracker.report.document import Block, Document, Figure, Group, Section
from tracker.report.html import WORDS
from tracker.report.markdown import document_state_lines, figure_image, markdown_line, section_lines

_PNG: Final = "image/png"
_KERNEL: Final = {"display_name": "Python 3", "language": "python", "name": "python3"}


def notebook_file(document: Document) -> bytes:
    """Return a document as a notebook, encoded.

    It can be read as it is. Its code opens the ledger, and asks for what stands before each cell.
    """
    import nbformat

    title = f"# {markdown_line(document.title)}\n\n{markdown_line(document.about)}"
    cells = [_text(title)]
    if document.opening:
        cells.append(_code(f"# {WORDS['opening']}\n{document.opening}"))
    for section in document.sections:
        text = "\n".join(section_lines(section, images=True)).rstrip()
        images = _images(section)
        cells.append(_text(text) | ({"attachments": images} if images else {}))
        if section.code:
            cells.append(_code(section.code))
    cells.append(_text("\n".join(document_state_lines(document)).rstrip()))
    notebook = {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {"kernelspec": _KERNEL},
        "cells": [{"id": f"cell-{place}", **cell} for place, cell in enumerate(cells)],
    }
    nbformat.validate(notebook)
    return (json.dumps(notebook, ensure_ascii=False, indent=1) + "\n").encode()


def _text(source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def _code(source: str) -> dict[str, Any]:
    cell = {"cell_type": "code", "metadata": {}, "source": escaped_text(source)}
    return cell | {"execution_count": None, "outputs": []}


def _images(section: Section) -> dict[str, Any]:
    """Return the charts of a section, by the names that its text has for them."""
    return {
        figure_image(figure): {_PNG: base64.b64encode(figure.chart.png(scale=1)).decode()}
        for figure in _figures(section.blocks)
    }


def _figures(blocks: Iterable[Block]) -> Iterator[Figure]:
    for block in blocks:
        if isinstance(block, Figure):
            yield block
        elif isinstance(block, Group):
            yield from _figures(block.blocks)
