"""brat: stand-off annotations, a folder for each annotator with a file for each document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from tracker.core.errors import Refused
from tracker.imports.batch import Batch
from tracker.imports.readers.answers import Answer, Span, batches_of_answers
from tracker.imports.readers.archive import Archive
from tracker.imports.readers.folders import AnnotatorFile, files_by_annotator
from tracker.imports.readers.reader import Reader, Reading
from tracker.imports.readers.source import SourceFile

NAME = "brat"
QUESTION = "spans"
"""The question that brat's annotations answer, which has no name there."""

_SPAN = re.compile(r"T[^\t]*\t(\S+) (\d{1,12} \d{1,12}(?:;\d{1,12} \d{1,12})*)(?:\t.*)?")
_LEFT_OUT = {
    "R": "relation",
    "*": "relation",
    "E": "event",
    "A": "attribute",
    "M": "attribute",
    "N": "normalization",
    "#": "note",
}
_FIRST_LINE = re.compile(rb"T\d+\t\S+ \d+ \d+")


def recognizes_annotations(source: SourceFile) -> bool:
    """Return whether a single file holds stand-off annotations."""
    return source.path.endswith(".ann") or _FIRST_LINE.match(source.head) is not None


def refuse_annotations(source: SourceFile, _reading: Reading) -> Iterator[Batch]:
    """Raise Refused: a single file does not say who annotated it."""
    raise Refused(
        f"{source.name} does not say who annotated it",
        "put each annotator's files into a folder of their name, and import the folder around them",
    )


def recognizes_folder(archive: Archive) -> bool:
    """Return whether a folder or zip file holds stand-off annotations."""
    return any(name.endswith(".ann") for name in archive.names)


def read_folder(archive: Archive, reading: Reading) -> Iterator[Batch]:
    """Yield the answers of all annotators: the spans of each document that they annotated.

    An empty file is an answer that says nothing; a text without its file is none. Raises Refused
    for a file that holds no annotations, with the line.
    """
    answers = _Folder(archive, reading).answers()
    return batches_of_answers(archive, reading, answers, NAME, unit="file")


BRAT = Reader(
    NAME,
    recognizes=recognizes_annotations,
    read=refuse_annotations,
    title="brat: stand-off annotations, a folder or zip file with a folder for each annotator",
    holds=("spans", "skips", "text"),
    recognizes_archive=recognizes_folder,
    read_archive=read_folder,
)


class _Folder:
    """The documents of all annotators, one at a time."""

    def __init__(self, archive: Archive, reading: Reading) -> None:
        self.archive = archive
        self.reading = reading
        self.names = set(archive.names)

    def answers(self) -> Iterator[Answer]:
        files = files_by_annotator(
            [n for n in self.archive.names if n.endswith(".ann")], whole=True
        )
        texts = (one for one in self.names if one.endswith(".txt"))
        if missing := sum(one.removesuffix(".txt") + ".ann" not in self.names for one in texts):
            self.reading.left_out["text without annotations"] += missing
        self.reading.ask(QUESTION, "spans", offsets="characters")
        for place, file in enumerate(files, 1):
            text = self._text(file)
            yield Answer(
                place, file.document, file.annotator, QUESTION, self._spans(file, text),
                length="" if text is None else str(len(text)),
                data={"text": text or "", "document": file.document},
            )  # fmt: skip

    def _text(self, file: AnnotatorFile) -> str | None:
        name = str(PurePosixPath(file.name).with_suffix(".txt"))
        return self._decoded(name) if name in self.names else None

    def _decoded(self, name: str) -> str:
        content = self.archive.read(name)
        try:
            return content.decode()
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise Refused(f"{self.archive.name}/{name}, line {line}: this is not UTF-8") from None

    def _spans(self, file: AnnotatorFile, text: str | None) -> list[Span]:
        found = []
        for number, line in enumerate(self._decoded(file.name).split("\n"), 1):
            if what := _LEFT_OUT.get(line[:1]):
                self.reading.left_out[what] += 1
                continue
            match = _SPAN.fullmatch(line.rstrip("\r"))
            if match is None and line.strip():
                raise self._refused(file, number, f"this is no annotation: {line[:40]}")
            if match is None:
                continue
            places = [int(one) for one in re.split("[ ;]", match[2])]
            start, end = min(places[::2]), max(places[1::2])
            if text is not None and end > len(text):
                reason = f"a span ends at {end}, and the text has {len(text)} characters"
                raise self._refused(file, number, reason)
            if len(places) > 2:
                self.reading.left_out["gap in a span of several parts"] += len(places) // 2 - 1
            found.append(Span(match[1], start, end))
        return list(dict.fromkeys(found))

    def _refused(self, file: AnnotatorFile, line: int, reason: str) -> Refused:
        return Refused(f"{self.archive.name}/{file.name}, line {line}: {reason}")
