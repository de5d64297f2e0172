"""CVAT: the XML of jobs, each of which is assigned to one annotator."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing

from tracker.core.errors import Refused
from tracker.imports.batch import Batch
from tracker.imports.readers.answers import Answer, batches_of_answers
from tracker.imports.readers.archive import Archive
from tracker.imports.readers.cvat_xml import CvatFile, Image, Meta, Tag
from tracker.imports.readers.folders import files_by_annotator
from tracker.imports.readers.reader import Reader, Reading
from tracker.imports.readers.shapes import Malformed, after_their_kind, ask_for, batches_of_files
from tracker.imports.readers.source import SourceFile

NAME = "cvat"
QUESTION = "label"
"""The question that the tags of images answer, which has no name there."""

_BEGINNING = re.compile(rb"<annotations[\s>]")
_HINT = (
    "in CVAT, export each job (or consensus replica) by itself as CVAT for images 1.1, and import "
    "the files together: a job names its assignee"
)
_NO_ASSIGNEE = (
    "assign the job in CVAT and export it again; or put its file into a folder named after the "
    "annotator, and import the folder around it"
)
_OF_NOBODY = {"consensus": "merged tag", "auto": "tag by a model"}
"""What made a tag, if not the annotator."""


def recognizes_file(source: SourceFile) -> bool:
    """Return whether a file is CVAT's XML."""
    return _BEGINNING.search(source.head[:2000]) is not None


def read_file(source: SourceFile, reading: Reading) -> Iterator[Batch]:
    """Yield the answers of the annotator to whom the job is assigned.

    Raises Refused if the file is that of a task or project, or of a job of nobody.
    """
    answers = after_their_kind(_answers(source, reading, None), reading)
    return batches_of_answers(source, reading, answers, NAME)


def recognizes_archive(archive: Archive) -> bool:
    """Return whether a folder or zip file holds the XML of jobs."""
    return bool(_names(archive)[:1])


def read_archive(archive: Archive, reading: Reading) -> Iterator[Batch]:
    """Yield the answers in all files of an archive; folders say whose a job without assignee is."""
    names = _names(archive)
    in_folders = bool(names) and all("/" in name for name in names)
    files = files_by_annotator(archive, names, reading, whole=True) if in_folders else []
    folders = {file.name: file.annotator for file in files}

    def answers_of(source: SourceFile) -> Iterator[Answer]:
        return _answers(source, reading, folders.get(source.path))

    return batches_of_files(archive, reading, names, answers_of, NAME)


CVAT = Reader(
    NAME,
    recognizes=recognizes_file,
    read=read_file,
    title="CVAT: exports of jobs as CVAT for images 1.1, with tags of images",
    holds=("questions", "several", "attributes"),
    recognizes_archive=recognizes_archive,
    read_archive=read_archive,
)


def _names(archive: Archive) -> list[str]:
    found = []
    for name in archive.matching("*.xml"):
        with closing(archive.open(name)) as source:
            if recognizes_file(source):
                found.append(name)
    return found


def _answers(source: SourceFile, reading: Reading, folder: str | None) -> Iterator[Answer]:
    file, annotator = CvatFile(source), ""
    for image in file.images():
        annotator = annotator or _annotator(file.meta, source, folder or reading.annotator)
        yield from _of_image(image, annotator, file.meta, source, reading)
    annotator = annotator or _annotator(file.meta, source, folder or reading.annotator)
    reading.left_out += file.shapes


def _annotator(meta: Meta, source: SourceFile, folder: str | None) -> str:
    """Return who annotated a file. Raises Refused if it does not say so, nor does its folder."""
    if meta.of == "job" and meta.assignee:
        return meta.assignee
    if folder is not None:
        return folder
    if meta.of == "job":
        raise Refused(f"{source.name}: nobody is assigned to job {meta.number}", _NO_ASSIGNEE)
    what = f"is the export of a {meta.of}, which" if meta.of else "names no job: it"
    raise Refused(f"{source.name} {what} does not say who annotated", _HINT)


def _of_image(
    image: Image, annotator: str, meta: Meta, source: SourceFile, reading: Reading
) -> Iterator[Answer]:
    """Yield what an annotator says of an image: its labels, and the attributes of each."""
    if not image.tags:
        reading.left_out["image without a tag"] += 1
    said: dict[str, dict[str, int]] = {}
    for tag in image.tags:
        if made_by := _OF_NOBODY.get(tag.source):
            reading.left_out[made_by] += 1
            continue
        said.setdefault(QUESTION, {}).setdefault(tag.label, tag.line)
        for question, value in _attributes(tag, meta, reading):
            said.setdefault(question, {}).setdefault(value, tag.line)
    data = {**image.fields, "job": meta.number}
    for question, labels in said.items():
        try:
            ask_for(reading, question, [*labels])
        except Malformed as error:
            raise Refused(f"{source.name}, line {image.line}: {error}") from None
        yield Answer(
            image.line, image.fields.get("name", ""), annotator, question, [*labels],
            lines=[*labels.values()], data=data,
        )  # fmt: skip


def _attributes(tag: Tag, meta: Meta, reading: Reading) -> Iterator[tuple[str, str]]:
    """Yield the questions that the attributes of a tag are, with their values."""
    for name, value in tag.attributes.items():
        question = f"{tag.label}.{name}"
        if meta.inputs.get((tag.label, name)) == "text":
            reading.left_out[f"text of {question!r}"] += bool(value)
        elif value:
            yield question, value
