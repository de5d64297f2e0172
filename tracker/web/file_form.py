"""The form that says how files are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Final

from tracker.web.forms import filled_lines
from tracker.web.import_options import ImportOptions

_DATES: Final = ("day.month.year", "day/month/year", "month/day/year", "year/month/day")
ACCEPT: Final = "accept"
"""The field of what looks odd and is imported nevertheless; its boxes stand by the sentences."""
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
    Field("date_format", "Form of dates", "day.month.year", proposals=_DATES, beside=True),
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
    Field("answers", "An answer holds", choices=("one", "several", "spans", "preference")),
    Field("scale", "Scale", choices=("nominal", "ordinal", "interval", "ratio")),
    Field("categories", "Categories in their order, with commas", "low,middle,high"),
    Field("empty", "An empty cell is", choices=("unanswered", "skipped")),
    Field("blank", "Category of an empty cell", "no"),
    Field("counts", "cells count the annotators who chose a category", box=True),
    Field("wide_items", "one row per annotator, one column per item", box=True),
    Field("each", "List in each JSON record whose members are rows", "questions.reviews"),
    Field("span_label", "Category of spans without a label", "name"),
    Field(ACCEPT, "Import it as it is"),
)
"""In the order of the form; what is wanted most stands first."""


def filled_fields(form: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the values of the fields that are not empty, by name."""
    return {
        field.name: filled_lines(text) if field.several else [text]
        for field in FIELDS
        if (text := form.get(field.name, "")).strip()
    }
