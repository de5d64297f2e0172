"""CoNLL: a token a line with its tag in IOB, IOB2 or BIOES, a file or folder for each annotator."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import PurePosixPath
from typing import NamedTuple

from tracker.core.errors import Refused
from tracker.formats.answers import Answer, Span
from tracker.formats.batch import FilesUnit
from tracker.formats.reader import Reading
from tracker.formats.source import Archive
from tracker.readers.folders import AnnotatorFile, files_by_annotator, folder_reader

# -- The columns of a CoNLL file: which has the tokens, and which the tags ------------------------


TAG = re.compile(r"O|([BIESLU])-(.+)")

_SPACES = re.compile(r"[ \t]+")
_NO_WORD = re.compile(r"\d+[-.]\d+")  # 3-4 and 3.1 of CoNLL-U: two words in one, and none
_LOOKED_AT = 2000  # rows
_ENOUGH = 0.9  # of them; a few tags may be malformed


class Columns(NamedTuple):
    """What the cells of a row are; most rows have ``width`` of them.

    The ``token`` is the first, or the second if the first numbers the words of a sentence. The
    place of the ``tag`` is counted from the end, as those of ``others``: tags that are not read.
    """

    token: int = 0
    tag: int = -1
    width: int = 2
    others: tuple[int, ...] = ()


def columns_of(lines: Sequence[str]) -> Columns:
    """Return the columns of a file: the tags are in the last column that holds tags.

    If there is none, they are what the last column holds.
    """
    rows: list[list[str]] = []
    for line in lines:
        cells = cells_of(line)
        if cells and not cells[0].startswith("#"):
            rows.append(cells)
            if len(rows) == _LOOKED_AT:
                break
    if not rows:
        return Columns()
    width = Counter(map(len, rows)).most_common(1)[0][0]
    usual = [row for row in rows if len(row) == width and not _NO_WORD.fullmatch(row[0])]
    numbered = width > 2 and bool(usual) and all(row[0].isdecimal() for row in usual)
    tagged = [
        place
        for place in range(-1, numbered - width, -1)
        if sum(TAG.fullmatch(row[place]) is not None for row in usual) >= _ENOUGH * len(usual) > 0
    ]
    tag, *others = tagged or [-1]
    return Columns(int(numbered), tag, width, tuple(others))


def cells_of(line: str, columns: Columns | None = None) -> list[str] | None:
    """Return the cells of a token's line; None for a blank line, a comment and a new document.

    A token may begin with ``#``, as those of tweets do, once the columns are known: its line has
    as many cells as others, and a tag in its place.
    """
    line = line.strip(" \t\r")
    if not line or line.startswith("-DOCSTART-"):
        return None
    cells = [cell.strip() for cell in line.split("\t")] if "\t" in line else _SPACES.split(line)
    if columns is None or not line.startswith("#"):
        return cells
    is_token = len(cells) == columns.width and TAG.fullmatch(cells[columns.tag]) is not None
    return cells if is_token else None


QUESTION = "spans"
"""The question that the tags answer, which has no name in a file."""

_SUFFIXES = {".conll", ".conll2002", ".conll2003", ".conllu", ".iob", ".iob2", ".bio", ".bioes"}
_NEW_DOCUMENT = "-DOCSTART-"
_NAMED_DOCUMENT = re.compile(r"#\s*newdoc(?:\s+id\s*=\s*(.+))?")
_KEY = re.compile(r"#\s*(?:sent_id|id)\s*=\s*(.+)")
_HINT = (
    "put each annotator's file, named after them, into one folder, and import the folder; "
    "from Label Studio, export JSON instead"
)


def answers_of_folder(archive: Archive, reading: Reading, lines: FilesUnit) -> Iterator[Answer]:
    """Yield the answers of all annotators, with places counted in tokens.

    A document with a malformed tag is rejected with the line. Raises Refused for a file that holds
    no tokens, or other tokens than another annotator's.
    """
    reading.ask(QUESTION, "spans", offsets="tokens")
    folder = _Folder(archive, reading, lines)
    files = files_by_annotator(archive, archive.names, reading)
    if not reading.says_who and _are_documents(archive, files):
        files = files_by_annotator(archive, archive.names, reading, whole=True)
        reading.notes.append(
            f"the files of {files[0].annotator} differ in their tokens: each is a document"
        )
    for file in files:
        yield from folder.answers(file)
    folder.note()


CONLL = folder_reader(
    "conll",
    title="CoNLL: tokens with IOB, IOB2 or BIOES tags, a file or folder for each annotator",
    holds=("spans", "skips", "text"),
    recognizes=lambda source: (
        source.head.startswith(_NEW_DOCUMENT.encode())
        or PurePosixPath(source.path).suffix in _SUFFIXES
    ),
    recognizes_archive=lambda archive: (
        bool(archive.names) and {PurePosixPath(name).suffix for name in archive.names} <= _SUFFIXES
    ),
    answers=answers_of_folder,
    hint=_HINT,
)


def _are_documents(archive: Archive, files: Sequence[AnnotatorFile]) -> bool:
    """Return whether files of one folder are documents of its annotator, by their tokens.

    Annotators' files hold the same tokens, but for a slip.
    """
    folders = {PurePosixPath(file.name).parent for file in files}
    if len(files) < 2 or folders == {PurePosixPath()} or any(file.document for file in files):
        return False
    tokens: dict[str, list[tuple[str, ...]]] = {}
    for file in files:
        text = archive.text(file.name).split("\n")
        sentences = list(_sentences(text, columns_of(text), f"{archive.name}/{file.name}"))
        for part in _parts(file, sentences):
            tokens.setdefault(part.key, []).append(tuple(token.text for token in part.tokens))
    shared = [texts for texts in tokens.values() if len(texts) > 1]
    return 2 * sum(len(set(texts)) > 1 for texts in shared) > len(shared)


class _Token(NamedTuple):
    line: int
    text: str
    tag: str
    is_first: bool  # of its sentence


class _Part(NamedTuple):
    """A sentence of a file, or all of a document."""

    key: str
    tokens: Sequence[_Token]


class _BadTag(Exception):
    """The line of a tag that does not fit, and what is wrong with it."""


@dataclass
class _Folder:
    archive: Archive
    reading: Reading
    lines: FilesUnit
    texts: dict[str, tuple[bytes, str]] = field(default_factory=dict)
    """The digest of each item's tokens, and the file that they are from."""
    loose: list[str] = field(default_factory=list)  # files in IOB1
    columns: set[Columns] = field(default_factory=set)

    def answers(self, file: AnnotatorFile) -> Iterator[Answer]:
        name = f"{self.archive.name}/{file.name}"
        text = self.archive.text(file.name).split("\n")
        place = self.lines.begin(name, len(text))
        columns = columns_of(text)
        self.columns.add(columns)
        parts = list(_parts(file, list(_sentences(text, columns, name))))
        tokens = _tokens_of(parts)
        loose = _is_loose(tokens)
        if loose and any(token.tag != "O" for token in tokens):
            self.loose.append(file.name)
        for part in parts:
            self._check_text(part, name)
            try:
                spans = _spans(part.tokens, loose)
            except _BadTag as error:
                self.reading.rejections.add_unread(name, *error.args)
                continue
            yield Answer(
                place + part.tokens[0].line if part.tokens else place,
                part.key, file.annotator, QUESTION, spans, length=str(len(part.tokens)),
                lines=[place + part.tokens[span.start].line for span in spans],
                data={"text": " ".join(token.text for token in part.tokens)},
            )  # fmt: skip

    def note(self) -> None:
        if self.loose:
            more = f" and {len(self.loose) - 1} more" if len(self.loose) > 1 else ""
            self.reading.notes.append(f"{self.loose[0]}{more}: IOB1, where a span begins with I-")
        for columns in sorted(columns for columns in self.columns if columns.others):
            width = columns.width + 1
            others = ", ".join(str(width + other) for other in sorted(columns.others))
            self.reading.notes.append(
                f"tags of column {width + columns.tag}, without those of column {others}"
            )

    def _check_text(self, part: _Part, name: str) -> None:
        text = hashlib.sha256("\0".join(token.text for token in part.tokens).encode()).digest()
        known, whose = self.texts.setdefault(part.key, (text, name))
        if known != text:
            line = part.tokens[0].line if part.tokens else 1
            raise Refused(
                f"{name}, line {line}: {part.key!r} has other tokens than in {whose}",
                "annotators must be given the same sentences in the same order; if the files are "
                "documents of one annotator: --annotator NAME",
            )


_END = _Token(0, "", "O", True)


def _parts(file: AnnotatorFile, sentences: Sequence[_Part]) -> Iterator[_Part]:
    """Yield the items of a file: the document it is, its documents, or its sentences."""
    documents = [n for n, sentence in enumerate(sentences) if not sentence.tokens]
    if file.document:
        yield _Part(file.document, _tokens_of(sentences))
    elif len(documents) > 1:
        for number, (start, end) in enumerate(pairwise([*documents, len(sentences)]), 1):
            yield _Part(sentences[start].key or str(number), _tokens_of(sentences[start:end]))
    else:
        filled = [part for part in sentences if part.tokens]
        yield from (_Part(key or str(n), tokens) for n, (key, tokens) in enumerate(filled, 1))


def _tokens_of(parts: Sequence[_Part]) -> list[_Token]:
    return [token for part in parts for token in part.tokens]


def _sentences(lines: Sequence[str], columns: Columns, name: str) -> Iterator[_Part]:
    """Yield the sentences of a file, and the start of each document as one without tokens."""
    key, tokens = "", list[_Token]()
    for number, raw in enumerate(lines, 1):
        if (cells := cells_of(raw, columns)) is not None:
            if len(cells) + columns.tag <= columns.token:
                raise Refused(f"{name}, line {number}: there is no tag beside {cells[0][:40]!r}")
            if columns.token == 0 or not _NO_WORD.fullmatch(cells[0]):
                token, tag = cells[columns.token], cells[columns.tag]
                tokens.append(_Token(number, token, tag, not tokens))
            continue
        if tokens:
            yield _Part(key, tokens)
            key, tokens = "", []
        line = raw.strip()
        if line.startswith(_NEW_DOCUMENT):
            named = re.search(r"\((.+)\)", line)
            yield _Part(named[1] if named else "", ())
        elif match := _NAMED_DOCUMENT.fullmatch(line):
            yield _Part((match[1] or "").strip(), ())
        elif match := _KEY.fullmatch(line):
            key = match[1].strip()
    if tokens:
        yield _Part(key, tokens)


def _is_loose(tokens: Sequence[_Token]) -> bool:
    """Return whether a span may begin with I-, as in IOB1, where B- only parts two alike."""
    previous = "O"
    for _, _, tag, is_first in tokens:
        if tag[:2] in {"B-", "E-", "S-", "L-", "U-"} and (is_first or previous[2:] != tag[2:]):
            return False
        previous = tag
    return True


def _spans(tokens: Sequence[_Token], loose: bool) -> list[Span]:
    """Return the spans of a sentence's or document's tags. Raises _BadTag."""
    spans: list[Span] = []
    start, category = 0, ""  # of the span that is open
    for n, token in enumerate((*tokens, _END)):
        match = TAG.fullmatch(token.tag)
        if match is None:
            raise _BadTag(token.line, f"{token.tag[:40]!r} is no tag such as O, B-PER or I-PER")
        mark, named = match[1] or "O", match[2] or ""
        goes_on = mark in "IEL" and category == named and not token.is_first
        if mark in "IEL" and not goes_on and not loose:
            raise _BadTag(token.line, f"{token.tag!r} does not go on with a span of {named}")
        if category and not goes_on:
            spans.append(Span(category, start, n))
            category = ""
        if named and not category:
            start, category = n, named
        if mark in "ELSU":
            spans.append(Span(category, start, n + 1))
            category = ""
    return spans
