"""A page as a tree: sections that hold texts, figures and tables, in whatever format they end.

Texts are plain: whatever signs are in them are shown, never obeyed. Each format of this room says
how it shows a part of each type, and makes no word and no number of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from tracker.render.blocks import Column, columns_of

if TYPE_CHECKING:
    from tracker.render.charts import Chart


@dataclass(frozen=True)
class Code:
    """A command, or a name as a program has it."""

    text: str


@dataclass(frozen=True)
class Strong:
    """What the eye should find first."""

    text: str


Inline: TypeAlias = str | Code | Strong
Line: TypeAlias = tuple[Inline, ...]


def line(*parts: Inline) -> Line:
    return tuple(part for part in parts if part != "")


@dataclass(frozen=True)
class Paragraph:
    """A paragraph; ``quiet`` if it is an aside, ``lead`` if it opens a page."""

    text: Line
    tone: str = ""


@dataclass(frozen=True)
class Bullets:
    lines: Sequence[Line]


@dataclass(frozen=True)
class Fact:
    """One number to see at a glance: what it is, the number as text, and a few words."""

    name: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class Facts:
    facts: Sequence[Fact]


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        caption: what it shows.
        columns: titles of the columns; the first column names the rows.
        rows: cells as text.
        numbers: places of the columns that hold numbers.
        more: of how many more rows nothing is shown.
    """

    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: frozenset[int] = frozenset()
    more: int = 0


def listing(
    caption: str,
    columns: Sequence[Column],
    rows: Sequence[Mapping[str, Any]],
    most: int | None = None,
) -> Table:
    """Return the table of a listing, of its first rows ``most`` or of all."""
    shown = columns_of(columns, rows, "report")
    return Table(
        caption,
        [column.heading for column in shown],
        [[column.cell(row) for column in shown] for row in rows[:most]],
        frozenset(place for place, column in enumerate(shown) if column.is_number),
        len(rows[most:]) if most else 0,
    )


@dataclass(frozen=True)
class Why:
    """Why a number is what it is: counts and formula, what it is by, and what prints it.

    ``also`` are further commands, if one does not print all of it.
    """

    lines: Sequence[Line]
    command: str = ""
    also: Sequence[str] = ()

    @property
    def commands(self) -> Sequence[str]:
        return tuple(command for command in (self.command, *self.also) if command)


@dataclass(frozen=True)
class Figure:
    """A chart with its text alternative, its rows, and why they are what they are.

    Attributes:
        name: unique within a page.
        caption: what it shows, and how it is read.
        chart: the chart.
        narrow: the same for a narrow page; None if the chart may be moved sideways.
        rows: its figures.
        why: where they come from.
        panels: the parts of the chart, for a page that sees how many fit beside each other.
        broad: the same for a page broader than a report's.
    """

    name: str
    caption: str
    chart: Chart
    narrow: Chart | None
    rows: Table
    why: Why
    panels: Sequence[Chart] = ()
    broad: Chart | None = None


@dataclass(frozen=True)
class Said:
    answer: str
    people: Sequence[str]


@dataclass(frozen=True)
class Example:
    """An item as it was seen: its name, its text if it is known, and who said what."""

    item: str
    text: str
    said: Sequence[Said]


@dataclass(frozen=True)
class Examples:
    """Items that show something, under a title if it is not that of a group around them."""

    title: str
    items: Sequence[Example]


class Destination(NamedTuple):
    """The page of the dashboard on which something is done.

    Attributes:
        label: of a button that leads there.
        path: below the project's.
        query: what it asks for.
    """

    label: str
    path: tuple[str, ...]
    query: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Act:
    """One thing to do, or that there is nothing to do: the question, the answer, why, where."""

    question: str
    answer: Line
    why: Why
    needed: bool
    at: Destination | None = None


@dataclass(frozen=True)
class Acts:
    """Things to do, the most urgent first."""

    acts: Sequence[Act]


@dataclass(frozen=True)
class Group:
    """Parts under a smaller heading; one that can be ``folded`` shows it alone at first."""

    title: str
    blocks: Sequence[Block]
    folded: bool = False


Block: TypeAlias = Paragraph | Bullets | Facts | Table | Why | Figure | Examples | Acts | Group


@dataclass(frozen=True)
class Section:
    """A part of a page.

    Attributes:
        name: unique within the page.
        title: its heading.
        blocks: what it holds.
        code: Python that asks an open ``ledger`` for the same; empty if nobody may.
    """

    name: str
    title: str
    blocks: Sequence[Block]
    code: str = ""


@dataclass(frozen=True)
class Document:
    """A page.

    Attributes:
        title: its heading.
        about: what it is about, in a line.
        sections: in the order of reading.
        state: which state of the ledger it shows, a line each.
        opening: Python that opens the ledger; empty if nobody may.
    """

    title: str
    about: str
    sections: Sequence[Section]
    state: Sequence[Line]
    opening: str = ""
