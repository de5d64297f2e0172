"""CVAT's XML as a stream: what it says of its job, and its images one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from xml.parsers import expat

from tracker.core.errors import Refused
from tracker.imports.readers.source import SourceFile

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
    """What a file says of itself before its images.

    Attributes:
        of: what was exported: ``job``, ``task`` or ``project``; empty if the file does not say.
        number: that of the job, task or project.
        assignee: whom it is assigned to.
        inputs: how an attribute of a label is entered, such as ``select``, by their names.
    """

    of: str = ""
    number: str = ""
    assignee: str = ""
    inputs: dict[tuple[str, str], str] = field(default_factory=dict)


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
            whole, self._images = self._images[:-1], self._images[-1:]
            yield from whole
        self._parse("", is_last=True)
        yield from self._images

    def _parse(self, text: str, *, is_last: bool = False) -> None:
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
            tag = Tag(self._parser.CurrentLineNumber, label, made_by)
            self._images[-1].tags.append(tag)
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
