"""Folders in which annotators' files lie: a folder for each, or a file for each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from tracker.core.errors import Refused


class AnnotatorFile(NamedTuple):
    """A file of an archive: whose it is, and of which document; none if it holds several."""

    name: str
    annotator: str
    document: str


def files_by_annotator(names: Sequence[str], whole: bool = False) -> list[AnnotatorFile]:
    """Return files in folders named after annotators; folders around all of them say nothing.

    Files that lie in one folder only are of one annotator each, and named after them; if they are
    the ``whole`` of a document, the folder is named after the one annotator. Raises Refused if
    there is no such folder.
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
            raise Refused(
                f"{name} lies in no folder that says who annotated it",
                "put each annotator's files into a folder of their name, and import the folder "
                "around them",
            )
    return found


def _common(folders: Sequence[tuple[str, ...]]) -> int:
    """Return how many folders at the start are the same for all."""
    return next(
        (n for n, level in enumerate(zip(*folders, strict=False)) if len(set(level)) > 1),
        min(map(len, folders), default=0),
    )
