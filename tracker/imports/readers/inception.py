"""INCEpTION: the zip file of a project, with a file for each annotator of each document."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing
from typing import NamedTuple

from tracker.core.errors import Refused
from tracker.imports.batch import GOLD, Batch
from tracker.imports.readers.answers import Answer, Span, batches_of_answers
from tracker.imports.readers.archive import Archive
from tracker.imports.readers.cas_json import STRUCTURES, read_cas
from tracker.imports.readers.reader import Reader, Reading
from tracker.imports.readers.records import head_value
from tracker.imports.readers.shapes import Malformed, ask_for, unique_labels
from tracker.imports.readers.source import SourceFile
from tracker.imports.readers.webanno_tsv import FIRST_LINE, Document, read_tsv

NAME = "inception"
_FILE = re.compile(r"(?:.*/)?(annotation|curation)/(.+)/([^/]+)\.(tsv|json)")
_SERIALIZED = re.compile(r"(?:.*/)?(?:annotation|curation)(?:_ser)?/.+/[^/]+\.(?:ser|zip|xmi)")
_BEFORE = "INITIAL_CAS"
_HINT = (
    "in INCEpTION, export the project with the secondary format WebAnno TSV 3.3 or UIMA CAS JSON, "
    "and import the zip file as it is"
)


def recognizes_document(source: SourceFile) -> bool:
    """Return whether a single file holds a document with its annotations."""
    if source.head.startswith(FIRST_LINE.encode()):
        return True
    first = head_value(source)
    return isinstance(first, dict) and bool({STRUCTURES, "%TYPES"} & first.keys())


def refuse_document(source: SourceFile, _reading: Reading) -> Iterator[Batch]:
    """Raise Refused: a single file does not say who annotated it."""
    raise Refused(f"{source.name} does not say who annotated it", _HINT)


def recognizes_project(archive: Archive) -> bool:
    """Return whether a zip file or folder holds the annotations of a project."""
    first = next((name for name in archive.names if _FILE.fullmatch(name)), None)
    if first is None:
        return any(_SERIALIZED.fullmatch(name) for name in archive.names)
    with closing(archive.open(first)) as source:
        return recognizes_document(source)


def read_project(archive: Archive, reading: Reading) -> Iterator[Batch]:
    """Yield the answers of all annotators, and the curated documents as reference.

    Each feature of each layer that has a value somewhere is a question, and each document that
    someone annotated answers all of them. Raises Refused for files that hold no annotations.
    """
    files = [file for name in archive.names if (file := _File.of(name))]
    if not files:
        raise Refused(f"{archive.name} holds annotations only as the tool stores them", _HINT)
    answers = _Project(archive, reading).answers(files)
    return batches_of_answers(archive, reading, answers, NAME, unit="file")


INCEPTION = Reader(
    NAME,
    recognizes=recognizes_document,
    read=refuse_document,
    title="INCEpTION: zip file of a project with WebAnno TSV 3.3 or UIMA CAS JSON",
    holds=("questions", "several", "spans", "skips", "gold", "text"),
    recognizes_archive=recognizes_project,
    read_archive=read_project,
)


class _File(NamedTuple):
    name: str
    curated: bool
    document: str
    user: str

    @classmethod
    def of(cls, name: str) -> _File | None:
        match = _FILE.fullmatch(name)
        return cls(name, match[1] == "curation", match[2], match[3]) if match else None


class _Project:
    """The documents of a project, one at a time."""

    def __init__(self, archive: Archive, reading: Reading) -> None:
        self.archive = archive
        self.reading = reading

    def answers(self, files: list[_File]) -> Iterator[Answer]:
        left_out = self.reading.left_out
        given = [file for file in files if file.user != _BEFORE]
        if before := len(files) - len(given):
            left_out["document as it was before annotation"] += before
        self._ask(given)
        for place, file in enumerate(given, 1):
            document = self._read(file)
            left_out.update(document.left_out)
            for question in self.reading.asked:
                yield Answer(
                    place, file.document, GOLD if file.curated else file.user, question,
                    unique_labels(document.labels.get(question, ())),
                    kind="reference" if file.curated else "",
                    length=str(len(document.text)),
                    data={"text": document.text, "document": file.document},
                )  # fmt: skip

    def _ask(self, files: list[_File]) -> None:
        """Note the questions: those that have an answer; if there are none, those of all layers."""
        without: dict[str, None] = {}
        for file in files:
            for question, labels in self._read(file).labels.items():
                without[question] = None
                self._note(file, question, unique_labels(labels))
        if not self.reading.asked:
            for question in without:
                self.reading.ask(question, "spans", offsets="characters")

    def _note(self, file: _File, question: str, labels: list[str | Span]) -> None:
        try:
            if any(isinstance(one, Span) for one in labels):
                self.reading.ask(question, "spans", offsets="characters")
            ask_for(self.reading, question, labels)
        except (Malformed, Refused) as error:
            raise Refused(f"{self.archive.name}/{file.name}: {error}") from None

    def _read(self, file: _File) -> Document:
        name, content = f"{self.archive.name}/{file.name}", self.archive.read(file.name)
        try:
            text = content.decode("utf-8-sig")
            return read_tsv(text) if file.name.endswith(".tsv") else read_cas(json.loads(text))
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise Refused(f"{name}, line {line}: this is not UTF-8", _HINT) from None
        except (ValueError, RecursionError) as error:
            raise Refused(f"{name}: this is no JSON: {str(error)[:80]}", _HINT) from None
        except Malformed as error:
            raise Refused(f"{name}: {error}", _HINT) from None
