"""INCEpTION: the zip file of a project, with a file for each annotator of each document."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from typing import NamedTuple

from tracker.core.errors import Refused
from tracker.imports.batch import GOLD
from tracker.imports.places import FilesUnit
from tracker.imports.readers.answers import Answer, Span
from tracker.imports.readers.archive import Archive
from tracker.imports.readers.cas_json import STRUCTURES, read_cas
from tracker.imports.readers.folders import files_by_annotator, folder_reader
from tracker.imports.readers.inception_states import DocumentStates, State
from tracker.imports.readers.reader import Reading
from tracker.imports.readers.records import head_value
from tracker.imports.readers.shapes import Malformed, ask_for
from tracker.imports.readers.source import SourceFile
from tracker.imports.readers.webanno_tsv import FIRST_LINE, Document, read_tsv

_FILE = re.compile(r"(?:.*/)?(annotation|curation)/(.+)/([^/]+)\.(tsv|json)")
_SERIALIZED = re.compile(r"(?:.*/)?(?:annotation|curation)(?:_ser)?/.+/[^/]+\.(?:ser|zip|xmi)")
_BEFORE = "INITIAL_CAS"
_PLACED = re.compile(r"(?:line|annotation) \d")
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


def recognizes_project(archive: Archive) -> bool:
    """Return whether a zip file or folder holds the annotations of a project."""
    first = next((name for name in archive.names if _FILE.fullmatch(name)), None)
    if first is None:
        return any(_SERIALIZED.fullmatch(name) for name in archive.names)
    with closing(archive.open(first)) as source:
        return recognizes_document(source)


def answers_of_project(archive: Archive, reading: Reading, lines: FilesUnit) -> Iterator[Answer]:
    """Yield the answers of all annotators, and the curated documents as reference.

    Each feature of each layer that has a value somewhere is a question, and each document that
    someone finished answers all of them. Raises Refused for files that hold no annotations.
    """
    files = [file for name in archive.names if (file := _File.of(name))]
    if reading.says_who and not files:
        names = [name for name in archive.names if name.endswith((".tsv", ".json"))]
        said = files_by_annotator(archive, names, reading, whole=True)
        files = [_File(one.name, curated=False, document=one.document, user=one.annotator)
                 for one in said]  # fmt: skip
    if not files:
        raise Refused(f"{archive.name} holds annotations only as the tool stores them", _HINT)
    return _Project(archive, reading, lines).answers(files)


INCEPTION = folder_reader(
    "inception",
    title="INCEpTION: zip file of a project with WebAnno TSV 3.3 or UIMA CAS JSON",
    holds=("questions", "several", "spans", "time", "skips", "gold", "comments", "text"),
    recognizes=recognizes_document,
    recognizes_archive=recognizes_project,
    answers=answers_of_project,
    hint=_HINT,
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

    def __init__(self, archive: Archive, reading: Reading, lines: FilesUnit) -> None:
        self.archive = archive
        self.reading = reading
        self.lines = lines
        self.states = DocumentStates(archive)
        self.reads_open = "state" in reading.options.ignore

    def answers(self, files: list[_File]) -> Iterator[Answer]:
        given = self._given(files)
        self._ask(given)
        for file in given:
            document = self._read(file)
            self.reading.left_out.update(document.left_out)
            name = f"{self.archive.name}/{file.name}"
            place = self.lines.begin(name, document.places, document.unit)
            state = self._state(file)
            data = {"text": document.text, "document": file.document, "state": state.name}
            for question in self.reading.asked:
                labels = document.labels.get(question, {})
                yield Answer(
                    place, file.document, GOLD if file.curated else file.user, question, [*labels],
                    labeled_at=state.changed_at, kind="reference" if file.curated else "",
                    comment=state.comment, length=str(len(document.text)),
                    lines=[place + one for one in labels.values()], data=data,
                )  # fmt: skip

    def _state(self, file: _File) -> State:
        if file.curated:
            return self.states.of_curation(file.document)
        return self.states.of(file.document, file.user)

    def _given(self, files: list[_File]) -> list[_File]:
        """Return the files with what annotators said; those left out are counted.

        Raises Refused if nobody is done with any document.
        """
        left_out = self.reading.left_out
        given = [file for file in files if file.user != _BEFORE]
        if before := len(files) - len(given):
            left_out["document as it was before annotation"] += before
        if self.reads_open:
            return given
        opened = Counter(state.name for one in given if (state := self._state(one)).is_open)
        if opened.total() == len(given) > 0:
            told = ", ".join(f"{number:,} {name}" for name, number in opened.items())
            raise Refused(
                f"{self.archive.name}: no annotator is done with a document ({told})",
                "to read them as they are: --ignore state",
            )
        left_out.update({f"document in state {name}": n for name, n in opened.items()})
        return [one for one in given if not self._state(one).is_open]

    def _ask(self, files: list[_File]) -> None:
        """Note the questions: those that have an answer; if there are none, those of all layers."""
        without: dict[str, None] = {}
        for file in files:
            for question, labels in self._read(file).labels.items():
                without[question] = None
                self._note(file, question, [*labels])
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
        name, text = f"{self.archive.name}/{file.name}", self.archive.text(file.name)
        try:
            return read_tsv(text) if file.name.endswith(".tsv") else read_cas(json.loads(text))
        except (ValueError, RecursionError) as error:
            raise Refused(f"{name}: this is no JSON: {str(error)[:80]}", _HINT) from None
        except Malformed as error:
            between = "," if _PLACED.match(str(error)) else ":"
            raise Refused(f"{name}{between} {error}", _HINT) from None
