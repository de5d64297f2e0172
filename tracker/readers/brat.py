"""brat: stand-off annotations, a folder for each annotator with a file for each document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from tracker.core.errors import Refused
from tracker.formats.answers import Answer, Span, behind_the_end
from tracker.formats.batch import FilesUnit
from tracker.formats.reader import Reading
from tracker.formats.source import Archive
from tracker.readers.folders import files_by_annotator, folder_reader

QUESTION = "spans"
"""The question that brat's annotations answer, which has no name there."""

_SPAN = re.compile(r"T[^\t]*\t(\S+) (\d{1,12} \d{1,12}(?:;\d{1,12} \d{1,12})*)(?:\t.*)?")
_LEFT_OUT = {"R": "relation", "*": "relation", "E": "event", "A": "attribute", "M": "attribute",
             "N": "normalization", "#": "note"}  # fmt: skip
_FIRST_LINE = re.compile(rb"T\d+\t\S+ \d+ \d+")


def answers_of_folder(archive: Archive, reading: Reading, lines: FilesUnit) -> Iterator[Answer]:
    """Yield the answers of all annotators: the spans of each document that they annotated.

    An empty file is an answer that says nothing; a text without its file is none. Raises Refused
    for a file that holds no annotations, with the line.
    """
    known = set(archive.names)
    files = files_by_annotator(archive, archive.matching("*.ann"), reading, whole=True)
    texts = archive.matching("*.txt")
    missing = sum(name.removesuffix(".txt") + ".ann" not in known for name in texts)
    reading.leave_out("text without annotations", missing)
    reading.ask(QUESTION, "spans", offsets="characters")
    for file in files:
        beside = str(PurePosixPath(file.name).with_suffix(".txt"))
        text = archive.text(beside) if beside in known else None
        content = archive.text(file.name).split("\n")
        place = lines.begin(f"{archive.name}/{file.name}", len(content))
        spans: dict[Span, int] = {}
        for number, line in enumerate(content, place + 1):
            try:
                span = _span(line.rstrip("\r"), text, reading)
            except ValueError as error:
                raise Refused(f"{lines.place(number)}: {error}") from None
            if span is not None:
                spans.setdefault(span, number)
        yield Answer(
            place, file.document, file.annotator, QUESTION, [*spans],
            length="" if text is None else str(len(text)), lines=[*spans.values()],
            data={"text": text or "", "document": file.document},
        )  # fmt: skip


BRAT = folder_reader(
    "brat",
    title="brat: stand-off annotations, a folder or zip file with a folder for each annotator",
    holds=("spans", "skips", "text"),
    recognizes=lambda source: source.path.endswith(".ann") or bool(_FIRST_LINE.match(source.head)),
    recognizes_archive=lambda archive: any(name.endswith(".ann") for name in archive.names),
    answers=answers_of_folder,
)


def _span(line: str, text: str | None, reading: Reading) -> Span | None:
    """Return the span of a line, if it has one. Raises ValueError with what is wrong."""
    if noun := _LEFT_OUT.get(line[:1]):
        reading.left_out[noun] += 1
        return None
    match = _SPAN.fullmatch(line)
    if match is None:
        if line.strip():
            raise ValueError(f"this is no annotation: {line[:40]}")
        return None
    places = [int(place) for place in re.split("[ ;]", match[2])]
    start, end = min(places[::2]), max(places[1::2])
    if text is not None and end > len(text):
        raise ValueError(behind_the_end(end, text))
    if len(places) > 2:
        reading.left_out["gap in a span of several parts"] += len(places) // 2 - 1
    return Span(match[1], start, end)
