"""CVAT: the XML of jobs, each assigned to one annotator."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from xml.parsers import expat

from tracker.core.errors import Refused
from tracker.formats.answers import Answer, Malformed, ask_for, batches_of_files, tool_reader
from tracker.formats.batch import Batch
from tracker.formats.reader import Reading
from tracker.formats.source import Archive, SourceFile
from tracker.readers.folders import files_by_annotator

# -- CVAT's XML as a stream: what it says of its job, and its images one by one -------------------


_DEEPEST = 100
_LONGEST = 1024 * 1024  # characters of a name or a value
_SHAPES = {"box": "box", "polygon": "polygon", "polyline": "polyline", "points": "set of points",
           "cuboid": "cuboid", "mask": "mask", "ellipse": "ellipse", "skeleton": "skeleton",
           "track": "track"}  # fmt: skip


@dataclass
class Tag:
    """A label of an image as a whole, on a line, with its attributes."""

    line: int
    label: str
    source: str
    attributes: dict[str, str] = field(default_factory=dict)


@dataclass
class Image:
    """An image with its tags; what is drawn on it is counted."""

    line: int
    fields: Mapping[str, str]
    tags: list[Tag] = field(default_factory=list)


@dataclass
class Meta:
    """What a file says of itself before its images."""

    of: str = ""  # what was exported: job, task or project; empty if the file does not say
    number: str = ""  # of the job, task or project
    assignee: str = ""
    inputs: dict[tuple[str, str], str] = field(default_factory=dict)
    """How an attribute of a label is entered, such as ``select``, by their names."""


class CvatFile:
    """The images of a file, one at a time; memory holds those of one piece of it."""

    def __init__(self, source: SourceFile) -> None:
        self.source = source
        self.meta = Meta()
        self.shapes: Counter[str] = Counter()
        self._open: list[str] = []
        self._text = ""
        self._images: list[Image] = []
        self._attribute = self._label = ""
        self._parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._begin
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.StartDoctypeDeclHandler = self._refuse_definitions

    def images(self) -> Iterator[Image]:
        """Yield the images. Raises Refused for a file that is no XML, with the line."""
        for piece in self.source.texts():
            self._parse(piece)
            complete, self._images = self._images[:-1], self._images[-1:]
            yield from complete
        self._parse("", is_last=True)
        yield from self._images

    def _parse(self, text: str, is_last: bool = False) -> None:
        try:
            self._parser.Parse(text, is_last)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            raise self._refused(f"this is no XML: {reason}", error.lineno) from None

    def _refused(self, reason: str, line: int = 0) -> Refused:
        line = line or self._parser.CurrentLineNumber
        return Refused(f"{self.source.name}, line {line}: {reason}")

    def _refuse_definitions(self, *_: object) -> None:
        raise self._refused("the file defines a document type, which CVAT's do not")

    def _characters(self, text: str) -> None:
        self._text += text
        if len(self._text) > _LONGEST:
            raise self._refused("a text is too long to read")

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        self._text = ""
        path = self._open
        path.append(name)
        if len(path) > _DEEPEST:
            raise self._refused("elements are nested too deeply")
        if name == "image" and len(path) == 2:
            self._images.append(Image(self._parser.CurrentLineNumber, attributes))
        elif path[1:2] == ["meta"] and len(path) == 3 and name in {"job", "task", "project"}:
            self.meta.of = name
        elif name == "tag" and path[1:2] == ["image"] and len(path) == 3:
            label, made_by = attributes.get("label", ""), attributes.get("source", "")
            self._images[-1].tags.append(Tag(self._parser.CurrentLineNumber, label, made_by))
        elif name == "attribute":
            self._attribute = attributes.get("name", "")
        elif (name in _SHAPES and path[1:-1] == ["image"]) or path[1:] == ["track"]:
            self.shapes[_SHAPES[name]] += 1

    def _end(self, name: str) -> None:
        path, text, self._text = self._open[1:], self._text.strip(), ""
        self._open.pop()
        if path[:1] == ["meta"]:
            self._end_of_meta(path[2:], text)
        elif path == ["image", "tag", "attribute"]:
            self._images[-1].tags[-1].attributes[self._attribute] = text

    def _end_of_meta(self, path: list[str], text: str) -> None:
        """Note a text of the job, task or project, by the names that lead to it from there."""
        match path:
            case ["id"]:
                self.meta.number = text
            case ["assignee", "username"]:
                self.meta.assignee = text
            case ["labels", "label", "name"]:
                self._label = text
            case ["labels", "label", "attributes", "attribute", "name"]:
                self._attribute = text
            case ["labels", "label", "attributes", "attribute", "input_type"]:
                self.meta.inputs[self._label, self._attribute] = text


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
    return _BEGINNING.search(source.head[:2000]) is not None


def read_archive(archive: Archive, reading: Reading) -> Iterator[Batch]:
    """Yield the answers in all files of an archive; folders say whose a job without assignee is."""
    names = _names(archive)
    in_folders = bool(names) and all("/" in name for name in names)
    files = files_by_annotator(archive, names, reading, whole=True) if in_folders else []
    folders = {file.name: file.annotator for file in files}

    def answers_of(source: SourceFile) -> Iterator[Answer]:
        return _answers(source, reading, folders.get(source.path))

    return batches_of_files(archive, reading, names, answers_of, NAME)


CVAT = replace(
    tool_reader(
        NAME,
        "CVAT: exports of jobs as CVAT for images 1.1, with tags of images",
        ("questions", "several", "attributes"),
        recognizes=recognizes_file,
        answers=lambda source, reading: _answers(source, reading, None),
    ),
    recognizes_archive=lambda archive: bool(_names(archive)),
    read_archive=read_archive,
)


def _names(archive: Archive) -> list[str]:
    names = []
    for name in archive.matching("*.xml"):
        with closing(archive.open(name)) as source:
            if recognizes_file(source):
                names.append(name)
    return names


def _answers(source: SourceFile, reading: Reading, folder: str | None) -> Iterator[Answer]:
    """Yield the answers of the annotator to whom the job is assigned, or of the folder.

    Raises Refused if the file is that of a task or project, or of a job of nobody.
    """
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
    predicate = f"is the export of a {meta.of}, which" if meta.of else "names no job: it"
    raise Refused(f"{source.name} {predicate} does not say who annotated", _HINT)


def _of_image(
    image: Image, annotator: str, meta: Meta, source: SourceFile, reading: Reading
) -> Iterator[Answer]:
    """Yield what an annotator says of an image: its labels, and the attributes of each."""
    if not image.tags:
        reading.left_out["image without a tag"] += 1
    answers: dict[str, dict[str, int]] = {}  # the labels to each question, with their lines
    for tag in image.tags:
        if made_by := _OF_NOBODY.get(tag.source):
            reading.left_out[made_by] += 1
            continue
        answers.setdefault(QUESTION, {}).setdefault(tag.label, tag.line)
        for name, value in tag.attributes.items():
            question = f"{tag.label}.{name}"
            if meta.inputs.get((tag.label, name)) == "text":
                reading.left_out[f"text of {question!r}"] += bool(value)
            elif value:
                answers.setdefault(question, {}).setdefault(value, tag.line)
    data = {**image.fields, "job": meta.number}
    for question, labels in answers.items():
        try:
            ask_for(reading, question, [*labels])
        except Malformed as error:
            raise Refused(f"{source.name}, line {image.line}: {error}") from None
        yield Answer(
            image.line, image.fields.get("name", ""), annotator, question, [*labels],
            lines=[*labels.values()], data=data,
        )  # fmt: skip
