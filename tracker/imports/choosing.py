"""How files are read and taken, as every face asks for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf
from pathlib import Path
from typing import Annotated, TypedDict

from tracker.core.operations import Option


def _formats() -> Iterable[str]:
    from tracker.readers.registry import READERS

    return sorted(READERS)


class Mapped(TypedDict, total=False):
    """Which column of a file is what."""

    columns: Annotated[
        Sequence[str],
        Option(
            "Column that holds a role: item, annotator, category, … (repeatable). item=doc+page "
            "joins columns, item=# is the row's number, annotators=A,B,C names one column each, "
            "category=rating{n} a column for each answer in a row.",
            name="map", metavar="ROLE=COLUMN",
        ),
    ]  # fmt: skip


class AnswerColumns(TypedDict, total=False):
    """What the cells of a file answer, and who gave the answers."""

    wide: Annotated[bool, Option("The file has one column per annotator.", False)]
    questions: Annotated[
        Sequence[str],
        Option(
            "Column that answers a question, such as tone=Tone:ordinal (repeatable). WORD: one, "
            "several, spans, a scale, or an order such as low<mid<high. Without =COLUMN: a "
            "question that rows answer.",
            name="question", short="-q", metavar="NAME=COLUMN[:WORD]",
        ),
    ]  # fmt: skip
    values: Annotated[
        Sequence[str],
        Option(
            "What a cell stands for: '5 stars=5', or tone:+=good for one question (repeatable).",
            name="value", metavar="OLD=NEW",
        ),
    ]  # fmt: skip
    values_file: Annotated[
        str | Path | None,
        Option(
            "CSV file of values: old,new and perhaps question.",
            name="values", metavar="FILE", faces=frozenset({"command"}),
        ),
    ]  # fmt: skip
    separator: Annotated[
        str | None,
        Option("What is between several categories in a cell.", metavar="TEXT", longest=None),
    ]
    pattern: Annotated[
        str | None,
        Option(
            "How columns of answers are named: '{annotator}_{question}.{category}', '{item}', or "
            "other parts. With {category} a cell of 1, true or x says yes.",
            name="columns", metavar="PATTERN",
        ),
    ]  # fmt: skip
    date_format: Annotated[
        str | None,
        Option(
            "How dates are written, such as day.month.year or '%d.%m.%y' (default: recognized).",
            metavar="PATTERN",
        ),
    ]
    repeat: Annotated[
        str | None,
        Option(
            "What a second answer of an annotator to an item is (default: as in the tool).",
            metavar="revision|pass",
        ),
    ]
    empty: Annotated[
        str | None,
        Option(
            "Meaning of an empty cell of an answer (default: unanswered).",
            metavar="unanswered|skipped",
        ),
    ]
    blank: Annotated[
        str | None,
        Option("Category of an empty cell, such as no where x marks yes.", metavar="CATEGORY"),
    ]
    counts: Annotated[
        bool, Option("A wide table counts the annotators who chose each category.", False)
    ]
    wide_items: Annotated[
        bool, Option("The file has one row per annotator and one column per item.", False)
    ]
    each: Annotated[
        str | None,
        Option("Read the members of this list in each JSON record as rows.", metavar="PATH"),
    ]
    span_label: Annotated[
        str | None, Option("Category of spans that have no label.", metavar="CATEGORY")
    ]
    accept: Annotated[
        Sequence[str],
        Option("Import despite what looks odd, such as missing_words (repeatable).",
               metavar="KIND"),
    ]  # fmt: skip
    annotator: Annotated[
        str | None, Option("Who gave all answers, if the files do not say it.", metavar="NAME")
    ]
    annotator_from: Annotated[
        str | None,
        Option(
            "What each annotator's answers lie in, and is named after them.",
            metavar="file|folder|sheet",
        ),
    ]


class FileColumns(TypedDict, total=False):
    """How a file is read, whether it holds answers or items alone."""

    format: Annotated[
        str | None,
        Option(
            "Format of the files, see tracker formats (default: recognized).",
            metavar="FORMAT", words=_formats,
        ),
    ]  # fmt: skip
    encoding: Annotated[
        str | None,
        Option("Encoding of the text, such as cp1252 (default: recognized).", metavar="NAME"),
    ]
    ignore: Annotated[
        Sequence[str], Option("Column that is not read (repeatable).", metavar="COLUMN")
    ]
    keep: Annotated[
        Sequence[str],
        Option("Keep a column as an attribute of its items (repeatable).", metavar="COLUMN"),
    ]
    header_row: Annotated[
        int | None,
        Option("Line of a table's header, from 1 (default: found).", metavar="N", most=inf),
    ]
    sheet: Annotated[
        str | None,
        Option("Sheet of a workbook (default: the one that holds answers).", metavar="NAME"),
    ]
    no_header: Annotated[bool, Option("A table has no header; its columns are 1, 2, …", False)]
    join: Annotated[
        str | None,
        Option("Put between columns that are one role: item=doc+page (default /).", metavar="TEXT"),
    ]


class Making(TypedDict, total=False):
    """Whether a project is made for what is read."""

    create: Annotated[bool, Option("Create the project if it does not exist.", True)]


class Skipping(TypedDict, total=False):
    """Whether what cannot be read is left out."""

    skip_invalid: Annotated[
        bool, Option("Skip invalid rows instead of refusing the whole import.", False)
    ]


class Taking(Skipping, total=False):
    """What becomes of what is read."""

    dry_run: Annotated[bool, Option("Show what would happen; store nothing.", False)]


class Looking(TypedDict, total=False):
    """Files to look at first, and those read as before."""

    preview: Annotated[
        bool, Option("Show how the file is read, and its first rows; store nothing.", False)
    ]
    mapping: Annotated[
        str | Path | None,
        Option(
            "Options of an import before, from --save-mapping.",
            metavar="FILE", faces=frozenset({"command"}),
        ),
    ]  # fmt: skip


class ItemOptions(Mapped, FileColumns, Making, Taking, total=False):
    """How files of items are imported."""


class AnswerOptions(Mapped, AnswerColumns, FileColumns, Making, Taking, Looking, total=False):
    """How files of answers are imported."""


class AnnotatorOptions(Mapped, Taking, total=False):
    """How files of annotators are imported."""


class SyncedFields(TypedDict, total=False):
    """What of another program's records is taken."""

    questions: Annotated[
        Sequence[str],
        Option(
            "Take only this question of the program, and as what: tone=sentiment:ordinal "
            "(repeatable).",
            name="question", short="-q", metavar="NAME=NAME[:WORD]",
        ),
    ]  # fmt: skip
    keep: Annotated[
        Sequence[str],
        Option("Keep a field as an attribute of items (repeatable).", metavar="FIELD"),
    ]


class SyncOptions(Making, Taking, SyncedFields, total=False):
    """How another program is read."""


class Tasks(TypedDict, total=False):
    """How tasks of Label Studio become items and answers."""

    item: Annotated[
        str | None,
        Option("Field of a task's data that is its key (default: its number).", metavar="FIELD"),
    ]
    repeat: Annotated[
        str | None,
        Option(
            "What a second answer of an annotator to a task is (default: pass).",
            metavar="revision|pass",
        ),
    ]


class Traces(TypedDict, total=False):
    """How traces of MLflow become items."""

    item: Annotated[
        str | None,
        Option(
            "Field of a trace that is its item's key (default: its client_request_id, else its "
            "own).",
            metavar="FIELD",
        ),
    ]


class EventOptions(Tasks, SyncedFields, Making, Skipping, total=False):
    """How an event that Label Studio sends is read, as a sync would read it."""

    url: Annotated[
        str | None,
        Option(
            "Where Label Studio runs, as in a sync; the next sync then withdraws what was deleted "
            "there.",
            examples=("https://labels.example.org",),
        ),
    ]


class ExperimentOptions(Traces, SyncedFields, total=False):
    """How an experiment of MLflow is read."""
