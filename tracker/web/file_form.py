"""The form that says how files are read, and the words of a command in those of the form."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Final

from tracker.web.forms import filled_lines
from tracker.web.import_options import ImportOptions

_DATES: Final = ("day.month.year", "day/month/year", "month/day/year", "year/month/day")
_LISTS: Final = {one.name for one in fields(ImportOptions) if one.default == ()}


@dataclass(frozen=True)
class Field:
    """A field of the form; its name is that of the option of ``tracker import``.

    Attributes:
        name: as in `ImportOptions`.
        label: what the form calls it.
        example: what stands in it, grey, if it is empty.
        choices: its values, if there are few.
        box: whether it is ticked.
        proposals: values that it may have beside others.
        beside: whether it stands beside the columns, not with those that are seldom wanted.
    """

    name: str
    label: str
    example: str = ""
    choices: tuple[str, ...] = ()
    box: bool = False
    proposals: tuple[str, ...] = ()
    beside: bool = False

    @property
    def several(self) -> bool:
        """Whether it takes several values, a line each."""
        return self.name in _LISTS

    @property
    def option(self) -> str:
        """The option of the command."""
        return "--" + self.name.replace("_", "-")


FIELDS: Final = (
    Field("wide", "one column per annotator", box=True, beside=True),
    Field("no_header", "no header", box=True, beside=True),
    Field("header_row", "Line of the header", "3", beside=True),
    Field("sheet", "Sheet", beside=True),
    Field("annotator", "Annotator of all answers", "ada", beside=True),
    Field(
        "annotator_from",
        "Annotators are named by",
        choices=("file", "folder", "sheet"),
        beside=True,
    ),
    Field("date_format", "Form of dates", "%d.%m.%Y %H:%M", proposals=_DATES, beside=True),
    Field("map", "Columns", "item=document"),
    Field("question", "Questions", "tone=Tone:low<high\nscore=Score:interval"),
    Field("columns", "Pattern of column names", "{annotator}_{question}"),
    Field("join", "Between joined columns", "/"),
    Field("separator", "Between categories of a cell", "|"),
    Field("value", "Values", "5 stars=5"),
    Field("encoding", "Encoding", "cp1252"),
    Field("repeat", "A second answer is a", choices=("revision", "pass")),
    Field("ignore", "Columns that are not read", "comment"),
    Field("keep", "Columns kept with items", "language"),
    Field("format", "Format"),
)
"""In the order of the form; what is wanted most stands first."""


def filled_fields(form: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the values of the fields that are not empty, by name."""
    return {
        field.name: filled_lines(text) if field.several else [text]
        for field in FIELDS
        if (text := form.get(field.name, "")).strip()
    }


_ROLES = re.compile(r"--map (\w+)=COLUMN((?: --map \w+=COLUMN)*)")
_MAPPED = re.compile(r"--map (\S+?=[^\s,;)]+)((?: --map \S+?=[^\s,;)]+)*)")
_QUOTED = re.compile(r"(--[a-z-]+) '([^']*)'")
_OPTION = re.compile(r"(?<!\S)--[a-z]")


def reworded_for_form(text: str) -> str:
    """Return what a command would say of files, in the words of the form that sends them.

    If the form has no field for an option, it says whose option that is.
    """

    def columns(hit: re.Match[str]) -> str:
        return f'in the field "Columns": {hit[1]}' + hit[2].replace(" --map ", ", ")

    def roles(hit: re.Match[str]) -> str:
        names = hit[1] + hit[2].replace(" --map ", ", ").replace("=COLUMN", "")
        return f"choose {names} above the columns"

    words = _QUOTED.sub(r"\1 \2", _MAPPED.sub(columns, _ROLES.sub(roles, text)))
    words = words.replace("--skip-invalid", 'choose "Import only the other rows"')
    words = words.replace("leave out --wide", 'untick "one column per annotator"')
    for field in sorted(FIELDS, key=lambda one: -len(one.name)):
        place = f'tick "{field.label}"' if field.box else f'in the field "{field.label}":'
        words = re.sub(rf"{field.option}(?![\w-])", place, words)
    words = words.replace('" in the field "', '", in the field "')
    if _OPTION.search(words):
        words += " (what begins with -- is an option of tracker import)"
    return words
