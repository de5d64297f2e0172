"""CoNLL: a token a line with its tag in IOB, IOB2 or BIOES, a file or folder for each annotator."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import PurePosixPath
from typing import NamedTuple

from tracker.core.errors import Refused
from tracker.imports.batch import Batch
from tracker.imports.readers.answers import Answer, Span, batches_of_answers
from tracker.imports.readers.archive import Archive
from tracker.imports.readers.folders import AnnotatorFile, files_by_annotator
from tracker.imports.readers.reader import Reader, Reading
from tracker.imports.readers.source import SourceFile

NAME = "conll"
QUESTION = "spans"
"""The question that the tags answer, which has no name in a file."""

_SUFFIXES = {".conll", ".conll2002", ".conll2003", ".iob", ".iob2", ".bio", ".bioes"}
_NEW_DOCUMENT = "-DOCSTART-"
_KEY = re.compile(r"#\s*(?:sent_id|newdoc id|id)\s*=\s*(.+)")
_TAG = re.compile(r"O|([BIESLU])-(.+)")
_HINT = (
    "put each annotator's file, named after them, into one folder, and import the folder; "
    "from Label Studio, export JSON instead"
)


def recognizes_file(source: SourceFile) -> bool:
    """Return whether a single file holds tokens and tags."""
    is_tagged = source.head.startswith(_NEW_DOCUMENT.encode())
    return is_tagged or PurePosixPath(source.path).suffix in _SUFFIXES


def refuse_file(source: SourceFile, _reading: Reading) -> Iterator[Batch]:
    """Raise Refused: a single file does not say who annotated it."""
    raise Refused(f"{source.name} does not say who annotated it", _HINT)


def recognizes_folder(archive: Archive) -> bool:
    """Return whether all files of a folder or zip file hold tokens and tags."""
    return bool(archive.names) and all(
        PurePosixPath(name).suffix in _SUFFIXES for name in archive.names
    )


def read_folder(archive: Archive, reading: Reading) -> Iterator[Batch]:
    """Yield the answers of all annotators, with places counted in tokens.

    A document with a malformed tag is rejected with the line. Raises Refused for a file that holds
    no tokens, or other tokens than another annotator's.
    """
    answers = _Folder(archive, reading).answers()
    return batches_of_answers(archive, reading, answers, NAME, unit="file")


CONLL = Reader(
    NAME,
    recognizes=recognizes_file,
    read=refuse_file,
    title="CoNLL: tokens with IOB, IOB2 or BIOES tags, a file or folder for each annotator",
    holds=("spans", "skips", "text"),
    recognizes_archive=recognizes_folder,
    read_archive=read_folder,
)


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
    """A tag that does not fit, and its line."""

    def __init__(self, token: _Token, reason: str) -> None:
        super().__init__(reason)
        self.line = token.line


class _Folder:
    """The documents of all annotators, file by file."""

    def __init__(self, archive: Archive, reading: Reading) -> None:
        self.archive = archive
        self.reading = reading
        self.texts: dict[str, tuple[bytes, str]] = {}  # the tokens of an item, and whose they were

    def answers(self) -> Iterator[Answer]:
        self.reading.ask(QUESTION, "spans", offsets="tokens")
        for place, file in enumerate(files_by_annotator(self.archive.names), 1):
            name = f"{self.archive.name}/{file.name}"
            parts = list(self._parts(file, name))
            loose = _is_loose([token for part in parts for token in part.tokens])
            for part in parts:
                self._check_text(part, name)
                try:
                    spans = _spans(part.tokens, loose)
                except _BadTag as error:
                    self.reading.rejections.add(name, error.line, str(error))
                    self.reading.rejections.ragged += 1
                    continue
                yield Answer(
                    place, part.key, file.annotator, QUESTION, spans,
                    length=str(len(part.tokens)),
                    data={"text": " ".join(one.text for one in part.tokens)},
                )  # fmt: skip

    def _parts(self, file: AnnotatorFile, name: str) -> Iterator[_Part]:
        """Yield the items of a file: the document it is, its documents, or its sentences."""
        sentences = list(_sentences(self._lines(file, name), name))
        documents = [n for n, (key, some) in enumerate(sentences) if not some]
        if file.document:
            yield _Part(file.document, [one for _, some in sentences for one in some])
        elif len(documents) > 1:
            for number, (start, end) in enumerate(pairwise([*documents, len(sentences)]), 1):
                tokens = [one for _, some in sentences[start:end] for one in some]
                yield _Part(sentences[start].key or str(number), tokens)
        else:
            kept = [part for part in sentences if part.tokens]
            yield from (_Part(key or str(n), some) for n, (key, some) in enumerate(kept, 1))

    def _lines(self, file: AnnotatorFile, name: str) -> list[str]:
        content = self.archive.read(file.name)
        try:
            return content.decode("utf-8-sig").split("\n")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise Refused(f"{name}, line {line}: this is not UTF-8") from None

    def _check_text(self, part: _Part, name: str) -> None:
        text = hashlib.sha256("\0".join(one.text for one in part.tokens).encode()).digest()
        known, whose = self.texts.setdefault(part.key, (text, name))
        if known != text:
            line = part.tokens[0].line if part.tokens else 1
            raise Refused(
                f"{name}, line {line}: {part.key!r} has other tokens than in {whose}",
                "annotators must be given the same sentences in the same order",
            )


_END = _Token(0, "", "O", True)


def _sentences(lines: Sequence[str], name: str) -> Iterator[_Part]:
    """Yield the sentences of a file, and the start of each document as one without tokens."""
    key, tokens = "", list[_Token]()
    for number, raw in enumerate(lines, 1):
        line = raw.strip()
        if line and not line.startswith((_NEW_DOCUMENT, "#")):
            cells = line.split("\t") if "\t" in line else line.split()
            if len(cells) < 2:
                raise Refused(f"{name}, line {number}: there is no tag beside {line[:40]!r}")
            tokens.append(_Token(number, cells[0], cells[-1].strip(), not tokens))
            continue
        if tokens:
            yield _Part(key, tokens)
            key, tokens = "", []
        if line.startswith(_NEW_DOCUMENT):
            yield _Part(_named(line), ())
        elif line and (match := _KEY.fullmatch(line)):
            key = match[1].strip()
    if tokens:
        yield _Part(key, tokens)


def _named(line: str) -> str:
    """Return the name of a document, as in ``-DOCSTART- (news-7)``."""
    match = re.search(r"\((.+)\)", line)
    return match[1] if match else ""


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
        match = _TAG.fullmatch(token.tag)
        if match is None:
            raise _BadTag(token, f"{token.tag[:40]!r} is no tag such as O, B-PER or I-PER")
        mark, named = match[1] or "O", match[2] or ""
        goes_on = mark in "IEL" and category == named and not token.is_first
        if mark in "IEL" and not goes_on and not loose:
            raise _BadTag(token, f"{token.tag!r} does not go on with a span of {named}")
        if category and not goes_on:
            spans.append(Span(category, start, n))
            category = ""
        if named and not category:
            start, category = n, named
        if mark in "ELSU":
            spans.append(Span(category, start, n + 1))
            category = ""
    return spans
