"""What a reader of files is, and what it needs to know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict

from tracker.core.errors import InvalidOption, Refused
from tracker.formats.batch import Batch, Rejections
from tracker.formats.column_roles import Mapped
from tracker.formats.dates import date_format_reader
from tracker.formats.source import Archive, SourceFile
from tracker.projects.questions import QuestionOptions

REPEATS = ("revision", "pass")
"""What a second answer of one annotator to one item may be."""


@dataclass(frozen=True)
class ReadOptions:
    """The user's statements about the files of an import.

    Attributes:
        format: the name of their format; None to recognize it.
        encoding: that of their text; None for UTF-8, or what a mark at the start says.
        date_format: how dates are written, as `datetime.strptime` has it; None to recognize it.
        repeat: what a second answer of one annotator to one item is, see `REPEATS`; None for
            what it is in the tool.
        ignore: names of columns that are not read.
        annotator: who gave all their answers; None if they say so themselves.
        annotator_from: what each annotator's answers lie in and are named after, see `LIES_IN`.
        header_row: the line of the header of a table, from 1; None to find it.
        no_header: whether a table has none; its columns are then called 1, 2, …
    """

    format: str | None = None
    encoding: str | None = None
    date_format: str | None = None
    repeat: str | None = None
    ignore: tuple[str, ...] = ()
    annotator: str | None = None
    annotator_from: str | None = None
    header_row: int | None = None
    no_header: bool = False

    def __post_init__(self) -> None:
        """Raise InvalidOption for values that no file can have."""
        if self.repeat not in {None, *REPEATS}:
            raise InvalidOption(f"--repeat is revision or pass, not {self.repeat!r}")
        if self.annotator_from not in {None, *LIES_IN}:
            raise InvalidOption(
                f"--annotator-from is file, folder or sheet, not {self.annotator_from!r}"
            )
        if self.annotator is not None and not self.annotator.strip():
            raise InvalidOption("--annotator names nobody", "such as: --annotator ada")
        if self.annotator and self.annotator_from:
            raise InvalidOption("--annotator and --annotator-from both say who answered")
        if self.header_row is not None and self.no_header:
            raise InvalidOption(
                "--header-row and --no-header contradict each other", "leave one out"
            )
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


LIES_IN = ("file", "folder", "sheet")
"""What may hold the answers of one annotator, and have their name."""

AS_IT_IS = ReadOptions()
"""The options if the user says nothing."""


@dataclass
class Reading:
    """What a reader needs to know, and where it puts what it finds beside answers.

    Attributes:
        mapped: which column, field or control is what.
        rejections: rows that cannot be records.
        answers: what an answer of the project is: one category, several, or spans.
        options: the user's statements about the files.
        asked: the questions of a file that says itself what they are, by name.
        left_out: what a file holds beside answers, by its name in the singular, with its number.
        notes: sentences on what the reader concluded.
        facts: how all files are read, as `imports show` says it; a source has its own facts.
        by_question: what an answer is of each question of the project that is known before.
        may_be_empty: whether a file without an answer is none the less read.
        without: the keys of items that are left out.
        annotator: who gave all answers of the file at hand, if the user says so.
    """

    mapped: Mapped
    rejections: Rejections
    answers: str
    options: ReadOptions = AS_IT_IS
    asked: dict[str, QuestionOptions] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    by_question: Mapping[str, str] = field(default_factory=dict)
    may_be_empty: bool = False
    without: Collection[str] = ()
    annotator: str | None = None

    @property
    def says_who(self) -> bool:
        """Whether the user says who answered, so that files need not."""
        return bool(self.options.annotator or self.options.annotator_from)

    def ask(
        self,
        name: str,
        answers: str = "one",
        scale: str | None = None,
        offsets: str | None = None,
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


class FormatJson(TypedDict):
    """A format that can be imported."""

    format: str
    title: str
    holds: list[str]
    archives: bool


@dataclass(frozen=True)
class Reader:
    """A format of files.

    Attributes:
        name: as ``--format`` has it.
        recognizes: whether a file is in the format, by its name and its first bytes
            (`SourceFile.head`); other readers are asked if not.
        read: the records of a file in batches, column by column; raises Refused if the file
            cannot be read. None if the format is one of folders and zip files.
        title: as people call the format, or the tool and what it exports.
        holds: what a file of the format can hold beside item, annotator and category, of `HOLDS`.
        recognizes_archive: the same of a folder or zip file, by the names in it.
        read_archive: the same of a folder or zip file as a whole; None if each file in it is read
            by itself.
        in_folders: whether files in folders or named after annotators are read as a whole.
    """

    name: str
    recognizes: Callable[[SourceFile], bool] | None = None
    read: Callable[[SourceFile, Reading], Iterator[Batch]] | None = None
    title: str = ""
    holds: tuple[str, ...] = ()
    recognizes_archive: Callable[[Archive], bool] | None = None
    read_archive: Callable[[Archive, Reading], Iterator[Batch]] | None = None
    in_folders: bool = False

    def to_dict(self) -> FormatJson:
        """Return what the format is called and can hold, as JSON."""
        return {
            "format": self.name,
            "title": self.title or self.name,
            "holds": list(self.holds),
            "archives": self.read_archive is not None,
        }


HOLDS = (
    "questions",
    "several",
    "spans",
    "time",
    "seconds",
    "skips",
    "passes",
    "gold",
    "models",
    "confidence",
    "comments",
    "text",
    "attributes",
)
"""What an answer or its file may hold: several questions, several categories an answer, …"""
