"""Folders in which annotators' files lie: a folder for each, or a file for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from tracker.core.errors import Refused
from tracker.imports.batch import Batch
from tracker.imports.places import FilesUnit
from tracker.imports.readers.answers import Answer, batches_of_answers
from tracker.imports.readers.archive import Archive
from tracker.imports.readers.reader import Reader, Reading
from tracker.imports.readers.source import SourceFile

AnswersOf = Callable[[Archive, Reading, FilesUnit], Iterator[Answer]]
"""The answers in a folder; their places are lines, numbered on from file to file."""

IN_FOLDERS = (
    "put each annotator's files into a folder of their name, and import the folder around them"
)


def folder_reader(
    name: str,
    title: str,
    holds: tuple[str, ...],
    *,
    recognizes: Callable[[SourceFile], bool],
    recognizes_archive: Callable[[Archive], bool],
    answers: AnswersOf,
    hint: str = IN_FOLDERS,
) -> Reader:
    """Return the reader of a format whose folders say who annotated, and single files do not."""

    def refuse(source: SourceFile, _reading: Reading) -> Iterator[Batch]:
        raise Refused(f"{source.name} does not say who annotated it", hint)

    def read(archive: Archive, reading: Reading) -> Iterator[Batch]:
        lines = FilesUnit()
        found = answers(archive, reading, lines)
        return batches_of_answers(archive, reading, found, name, lines)

    return Reader(
        name,
        recognizes=recognizes,
        read=refuse,
        title=title,
        holds=holds,
        recognizes_archive=recognizes_archive,
        read_archive=read,
    )


class AnnotatorFile(NamedTuple):
    """A file of an archive: whose it is, and of which document; none if it holds several."""

    name: str
    annotator: str
    document: str


def files_by_annotator(
    names: Sequence[str], reading: Reading, whole: bool = False
) -> list[AnnotatorFile]:
    """Return files in folders named after annotators; folders around all of them say nothing.

    Files that lie in one folder only are of one annotator each, and named after them; if they are
    the ``whole`` of a document, the folder is named after the one annotator. Raises Refused if
    there is no such folder. Folders that share no document may be parts of one annotator's work:
    that they are taken for annotators is noted.
    """
    paths = [PurePosixPath(name) for name in names]
    around = _common([path.parts[:-1] for path in paths])
    found = []
    for name, path in zip(names, paths, strict=True):
        *folders, last = path.parts[around:]
        stem = PurePosixPath(last).stem
        if folders:
            found.append(AnnotatorFile(name, folders[0], "/".join([*folders[1:], stem])))
        elif not whole:
            found.append(AnnotatorFile(name, stem, ""))
        elif around:
            found.append(AnnotatorFile(name, path.parts[around - 1], stem))
        else:
            raise Refused(f"{name} lies in no folder that says who annotated it", IN_FOLDERS)
    _note_parts(found, reading)
    return found


def _note_parts(files: Sequence[AnnotatorFile], reading: Reading) -> None:
    documents = Counter(file.document for file in files if file.document)
    folders = list(dict.fromkeys(file.annotator for file in files if file.document))
    if len(folders) > 1 and max(documents.values()) == 1:
        reading.notes.append(
            f"no document is in two of the folders {', '.join(folders[:5])}: they are taken for "
            "annotators; if they are parts of one annotator's work, import the folder around "
            "all annotators"
        )


def _common(folders: Sequence[tuple[str, ...]]) -> int:
    """Return how many folders at the start are the same for all."""
    return next(
        (n for n, level in enumerate(zip(*folders, strict=False)) if len(set(level)) > 1),
        min(map(len, folders), default=0),
    )
