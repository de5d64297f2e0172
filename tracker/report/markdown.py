"""A document as Markdown, as GitHub, pandoc and notebooks read it: figures are their tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from tracker.core.errors import escaped_text
from tracker.report.document import (
    Act,
    Acts,
    Block,
    Bullets,
    Code,
    Document,
    Example,
    Examples,
    Facts,
    Figure,
    Group,
    Line,
    Paragraph,
    Section,
    Strong,
    Table,
    Why,
)
from tracker.report.html import WORDS

_SIGNS = re.compile(r"([\\`*_{}\[\]<>|~$&#@])")
_AT_START = re.compile(r"^([-+=:]|\d+(?=[.)](?:\s|$)))")
_LINKED = re.compile(r"(?i)(?<=\bwww)\.|:(?=//)")
_BLANK = re.compile(r"\s+")
_DEEPEST: Final = 6


def markdown_text(document: Document) -> bytes:
    lines = [f"# {markdown_line(document.title)}", "", markdown_line(document.about), ""]
    for section in document.sections:
        lines += section_lines(section)
    lines += ["---", "", *document_state_lines(document)]
    return ("\n".join(lines).rstrip() + "\n").encode()


def document_state_lines(document: Document) -> list[str]:
    return [text for line in document.state for text in (_inline(line), "")]


def section_lines(section: Section, *, images: bool = False) -> list[str]:
    """Return the lines of a section, with its heading; with ``images`` attached ones, too."""
    writers = {**_WRITERS, Figure: _pictured} if images else _WRITERS
    return [f"## {markdown_line(section.title)}", "", *_blocks(section.blocks, 3, writers)]


def figure_image(figure: Figure) -> str:
    return f"{figure.name}.png"


def markdown_line(text: str) -> str:
    """Return a text on one line, of which nothing is markup."""
    shown = _SIGNS.sub(r"\\\1", _BLANK.sub(" ", escaped_text(text)).strip())
    shown = _LINKED.sub(lambda hit: f"\\{hit[0]}", shown)
    return _AT_START.sub(lambda hit: hit[0] + "\\" if hit[0].isdigit() else f"\\{hit[0]}", shown)


def _inline(line: Line) -> str:
    parts = []
    for place, part in enumerate(line):
        if isinstance(part, Code):
            parts.append(_code(part.text))
        elif isinstance(part, Strong):
            parts.append(f"**{markdown_line(part.text)}**{' ' * part.text[-1:].isspace()}")
        else:
            parts.append(_piece(part, first=place == 0))
    return "".join(parts)


def _piece(text: str, *, first: bool) -> str:
    """Return a text with the blanks around it, which its neighbours need."""
    shown = markdown_line(text if first else f"x{text}")
    shown = shown if first else shown.removeprefix("x")
    return shown + (" " if text[-1:].isspace() else "")


def _code(text: str) -> str:
    """Return a text as code, between more backticks than it has in a row."""
    shown = escaped_text(text)
    fence = "`" * (max(map(len, re.findall("`+", shown)), default=0) + 1)
    if "\n" in shown:
        fence = max(fence, "```", key=len)
        return f"\n\n{fence}\n{shown}\n{fence}\n"
    gap = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{gap}{shown}{gap}{fence}"


_Writers: TypeAlias = Mapping[type, Callable[[Any, int], Iterator[str]]]


def _blocks(blocks: Iterable[Block], level: int, writers: _Writers) -> Iterator[str]:
    for block in blocks:
        if isinstance(block, Group):
            yield from (_heading(block.title, level), "")
            yield from _blocks(block.blocks, level + 1, writers)
        else:
            yield from writers[type(block)](block, level)


def _paragraph(block: Paragraph, _level: int) -> Iterator[str]:
    yield from (_inline(block.text), "")


def _bullets(block: Bullets, _level: int) -> Iterator[str]:
    for line in block.lines:
        text = _inline(line).strip("\n")
        if "\n" in text:
            yield from (text, "")
        else:
            yield f"- {text}"
    yield ""


def _facts(block: Facts, _level: int) -> Iterator[str]:
    for fact in block.facts:
        note = f" ({markdown_line(fact.note)})" if fact.note else ""
        yield f"- {markdown_line(fact.name)}: **{markdown_line(fact.value)}**{note}"
    yield ""


def _table(block: Table, _level: int) -> Iterator[str]:
    yield from (markdown_line(block.caption), "")
    yield _row(block.columns)
    ends = ("---:" if place in block.numbers else "---" for place in range(len(block.columns)))
    yield f"|{'|'.join(ends)}|"
    yield from map(_row, block.rows)
    yield ""
    if block.more:
        yield from (f"{block.more:,} {WORDS['more']}.", "")


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(markdown_line(cell) or ' ' for cell in cells)} |"


def _why(block: Why, _level: int, title: str = WORDS["why"]) -> Iterator[str]:
    yield f"*{title}*"
    yield ""
    for line in block.lines:
        yield f"- {_inline(line)}"
    yield from (f"- {WORDS['command']} {_code(command)}" for command in block.commands)
    yield ""


def _pictured(block: Figure, level: int) -> Iterator[str]:
    caption = markdown_line(f"{block.chart.title}. {block.chart.description}")
    yield from (f"![{caption}](attachment:{figure_image(block)})", "")
    yield from _figure(block, level)


def _figure(block: Figure, level: int) -> Iterator[str]:
    yield from (markdown_line(block.caption), "")
    yield from (markdown_line(block.chart.description), "")
    yield from _table(block.rows, level)
    yield from _why(block.why, level)


def _examples(block: Examples, level: int) -> Iterator[str]:
    if block.title:
        yield from (_heading(block.title, level), "")
    for item in block.items:
        yield from _example(item)


def _example(item: Example) -> Iterator[str]:
    yield f"> {markdown_line(item.item)}"
    yield ">"
    yield f"> {markdown_line(item.text) if item.text else WORDS['no_text']}"
    yield ">"
    for voice in item.said:
        people = markdown_line(", ".join(voice.people))
        yield f"> - **{markdown_line(voice.answer)}**: {people}"
    yield ""


def _acts(block: Acts, level: int) -> Iterator[str]:
    for act in block.acts:
        yield from _act(act, level)


def _act(act: Act, level: int) -> Iterator[str]:
    yield from (_heading(act.question, level), "")
    yield from (_inline(act.answer), "")
    yield from _why(act.why, level, WORDS["why_this"])


def _heading(title: str, level: int) -> str:
    return f"{'#' * min(level, _DEEPEST)} {markdown_line(title)}"


_WRITERS: Final[_Writers] = {
    Paragraph: _paragraph,
    Bullets: _bullets,
    Facts: _facts,
    Table: _table,
    Why: _why,
    Figure: _figure,
    Examples: _examples,
    Acts: _acts,
}
