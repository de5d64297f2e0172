"""What a reader of files is, and what it needs to know."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple, TypedDict

from tracker.core.errors import InvalidOption, Refused
from tracker.formats.batch import KINDS, Batch, Oddity, Rejections
from tracker.formats.column_roles import Mapped
from tracker.formats.dates import date_format_reader
from tracker.formats.source import Archive, SourceFile
from tracker.projects.questions import QuestionOptions

REPEATS = ("revision", "pass")  # what a second answer of one annotator to one item may be
EMPTIES = ("unanswered", "skipped")  # what an empty cell of an answer may be


@dataclass(frozen=True)
class ReadOptions:
    """The user's statements about the files of an import."""

    format: str | None = None  # the name of their format; None to recognize it
    encoding: str | None = None  # of their text; None for UTF-8, or what a mark at the start says
    date_format: str | None = None  # as `datetime.strptime` has it; None to recognize it
    repeat: str | None = None  # see `REPEATS`; None for what it is in the tool
    ignore: tuple[str, ...] = ()  # names of columns that are not read
    annotator: str | None = None  # who gave all answers; None if the files say so
    annotator_from: str | None = None  # see `LIES_IN`
    header_row: int | None = None  # the line of a table's header, from 1; None to find it
    sheet: str | None = None  # of a workbook; None for the only one of answers
    no_header: bool = False  # the columns of a table without one are called 1, 2, …
    empty: str | None = None  # what an empty cell of an answer is, see `EMPTIES`
    accept: tuple[str, ...] = ()  # kinds of oddities that are as they should be
    counts: bool = False  # a wide table holds how many annotators chose each category
    wide_items: bool = False  # a table has a row for each annotator, and a column for each item
    each: str | None = None  # the path to a list in a JSON record whose members are the rows
    blank: str | None = None  # the category that an empty cell stands for
    span_label: str | None = None  # the category of spans without a label

    @classmethod
    def of(cls, how: Mapping[str, Any]) -> ReadOptions:
        """Return those of an import's keywords that are such statements."""
        named = {name: how[name] for name in {field.name for field in fields(cls)} & how.keys()}
        return cls(**named | {name: tuple(how.get(name, ())) for name in ("ignore", "accept")})

    def __post_init__(self) -> None:
        """Raise InvalidOption for values that no file can have."""
        for option, value, words in (
            ("repeat", self.repeat, REPEATS),
            ("empty", self.empty, EMPTIES),
            ("annotator-from", self.annotator_from, LIES_IN),
            *(("accept", kind, KINDS) for kind in self.accept),
        ):
            if value not in {None, *words}:
                listed = f"{', '.join(words[:-1])} or {words[-1]}"
                raise InvalidOption(f"--{option} is {listed}, not {value!r}")
        if self.annotator is not None and not self.annotator.strip():
            raise InvalidOption("--annotator names nobody", "such as: --annotator ada")
        if self.annotator and self.annotator_from:
            raise InvalidOption("--annotator and --annotator-from both say who answered")
        by_sheet = self.sheet is not None and self.annotator_from == "sheet"
        if by_sheet or (self.header_row is not None and self.no_header):
            pair = "sheet and --annotator-from sheet" if by_sheet else "header-row and --no-header"
            raise InvalidOption(f"--{pair} contradict each other", "leave one out")
        if self.header_row is not None and self.header_row < 1:
            raise InvalidOption(
                "--header-row is the header's line, from 1", "a table without one: --no-header"
            )
        try:
            "".encode(self.encoding or "utf-8")
        except (LookupError, ValueError):
            raise InvalidOption(
                f"there is no encoding {self.encoding!r}", "such as: utf-8, utf-16, cp1252, cp1251"
            ) from None
        if self.date_format is not None:
            date_format_reader(self.date_format)


LIES_IN = ("file", "folder", "sheet")  # what may hold one annotator's answers, and have their name
AS_IT_IS = ReadOptions()  # the options if the user says nothing


@dataclass
class Reading:
    """What a reader needs to know, and where it puts what it finds beside answers."""

    mapped: Mapped  # which column, field or control is what
    rejections: Rejections
    answers: str  # what an answer of the project is: one category, several, or spans
    options: ReadOptions = AS_IT_IS
    asked: dict[str, QuestionOptions] = field(default_factory=dict)
    """The questions of a file that says itself what they are, by name."""
    left_out: Counter[str] = field(default_factory=Counter)  # what is no answer, in the singular
    notes: list[str] = field(default_factory=list)  # sentences on what the reader concluded
    odd: list[Oddity] = field(default_factory=list)  # what looks odd in the files
    facts: dict[str, Any] = field(default_factory=dict)
    """How all files are read, as `imports show` says it; a source has its own facts."""
    by_question: Mapping[str, str] = field(default_factory=dict)
    """What an answer is of each question of the project that is known before."""
    cell_readers: Mapping[str, Callable[[str], Any]] = field(default_factory=dict)
    """What reads the cells of optional columns, by role; raises ValueError."""
    may_be_empty: bool = False  # whether a file without an answer is none the less read
    without: Collection[str] = ()  # the keys of items that are left out
    annotator: str | None = None  # who gave all answers of the file at hand, if the user says so
    documents: Mapping[str, str] = field(default_factory=dict)
    """What stands before the numbers of a file's rows that are items, by the file's name."""

    def document_of(self, name: str) -> str:
        """Return what stands before the numbers of rows in a file, or in a sheet of it."""
        return self.documents.get(name, self.documents.get(name.rpartition("#")[0], ""))

    @property
    def says_who(self) -> bool:
        """Whether the user says who answered, so that files need not."""
        return bool(self.options.annotator or self.options.annotator_from)

    def leave_out(self, noun: str, number: int = 1) -> None:
        """Count what is left out, if it is there."""
        if number:
            self.left_out[noun] += number

    def ask(
        self, name: str, answers: str = "one", scale: str | None = None, offsets: str | None = None
    ) -> None:
        """Note a question of the file, and what the answer at hand holds.

        A question is one of several categories as soon as one answer has several. Raises Refused
        if answers hold spans and categories without a place.
        """
        known = self.asked.get(name)
        if known is None:
            self.asked[name] = QuestionOptions(answers=answers, scale=scale, offsets=offsets)
        elif known.answers != answers:
            if "spans" in {known.answers, answers}:
                raise Refused(f"{name!r} is answered with spans, and with categories of the whole")
            self.asked[name] = replace(known, answers="several")


RawRow = tuple[int, Sequence[str]]  # the line of a row, or the number of what it is, and its cells


class RawTable(NamedTuple):
    """A table with its rows, read as they are asked for."""

    name: str  # of its file, as rejections have it
    rows: Iterator[RawRow]  # the header, too, if it stands among them
    names: Sequence[str] | None = None  # of the columns, if no row has them
    unit: str = "line"  # what the numbers of the rows count
    sheet: str = ""  # the name of its sheet
    sheets: Sequence[str] = ()  # the names of all sheets of the workbook


class FormatJson(TypedDict):
    """A format that can be imported."""

    format: str
    title: str
    holds: list[str]
    archives: bool


@dataclass(frozen=True)
class Reader:
    """A format of files.

    A reader recognizes a file by its name and its first bytes (`SourceFile.head`), an archive by
    the names in it. It reads them in batches, and raises Refused if they cannot be read.
    """

    name: str  # as --format has it
    recognizes: Callable[[SourceFile], bool] | None = None
    read: Callable[[SourceFile, Reading], Iterator[Batch]] | None = None
    """None if the format is one of folders and zip files."""
    title: str = ""  # as people call the format, or the tool and what it exports
    holds: tuple[str, ...] = ()  # what a file can hold, of `HOLDS`
    recognizes_archive: Callable[[Archive], bool] | None = None
    read_archive: Callable[[Archive, Reading], Iterator[Batch]] | None = None
    """None if each file in an archive is read by itself."""
    raw: Callable[[Any, Reading], Iterator[RawTable]] | None = None
    """What yields the tables of a file, or of an archive, as they stand; None if it holds none."""
    in_folders: bool = False  # whether files in folders named after annotators are read as a whole

    def to_dict(self) -> FormatJson:
        return {
            "format": self.name,
            "title": self.title or self.name,
            "holds": list(self.holds),
            "archives": self.read_archive is not None,
        }


HOLDS = (
    "questions", "several", "spans", "time", "seconds", "skips", "passes", "gold", "models",
    "confidence", "comments", "text", "attributes",
)  # fmt: skip
"""What an answer or its file may hold: several questions, several categories an answer, …"""

_OF_A_NOUN = re.compile(r"( (?:to|of|in|on|by|for|from|with|without|that) .*)")


def left_out_words(counted: str) -> str:
    """Return "3 drafts" for "3 draft", and "2 answers to 'tone'" for "2 answer to 'tone'"."""
    number, _, phrase = counted.partition(" ")
    if number == "1":
        return counted
    noun, *rest = _OF_A_NOUN.split(phrase, maxsplit=1)
    ending = "es" if noun.endswith(("s", "x", "ch")) else "s"
    noun = noun[:-1] + "ies" if noun.endswith("y") else noun + ending
    more = "".join(rest)
    if not more.startswith(" of an "):
        more = more.replace(" that is no category", " that are no categories")
        more = more.replace(" that is ", " that are ")
    return f"{number} {noun}{more}"
