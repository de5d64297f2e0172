"""WebAnno TSV 3: the tokens of a document with the annotations of one annotator beside them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tracker.imports.readers.answers import Span
from tracker.imports.readers.offsets import CharacterPlaces
from tracker.imports.readers.shapes import Malformed

FIRST_LINE = "#FORMAT=WebAnno TSV 3"

_TOKEN = re.compile(r"\d+-\d+(?:\.\d+)?\t(\d{1,9})-(\d{1,9})\t")
_ESCAPED = re.compile(r"\\(->|.)")
_LETTERS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "b": "\b"}
_PARTS = re.compile(r"(?<!\\)\|")
_NUMBERED = re.compile(r"(.*)(?<!\\)\[(\d+)\]", re.DOTALL)
_LARGEST_GAP = 100_000  # characters between two sentences


@dataclass
class Document:
    """The annotations of a document by question, in characters of Unicode.

    Each label has the line or the number where it stands. Questions of its layers have a place even
    if nothing was marked. ``places`` is how many lines or numbers there are, counting ``unit``.
    """

    text: str = ""
    labels: dict[str, dict[str | Span, int]] = field(default_factory=dict)
    places: int = 0
    unit: str = "line"
    left_out: Counter[str] = field(default_factory=Counter)


def short_name(layer: str, feature: str) -> str:
    """Return the name of the question that a feature of a layer is."""
    name = layer.rpartition(".")[2]
    return f"{name}.{feature}" if feature else name


@dataclass
class _Annotation:
    """An annotation of a layer: its line, place in UTF-16, and the values of its features."""

    line: int
    start: int
    end: int
    values: dict[str, str] = field(default_factory=dict)


class _Column(NamedTuple):
    layer: str
    question: str  # empty for links, chains and relations


def read_tsv(content: str) -> Document:
    """Return the annotations of a file. Raises Malformed, with the line."""
    lines = content.replace("\r\n", "\n").split("\n")
    if not lines[0].startswith(FIRST_LINE):
        raise Malformed(f"line 1: this is not {FIRST_LINE.removeprefix('#FORMAT=')}")
    read = _Lines(list(_columns(lines)))
    for number, line in enumerate(lines, 1):
        if line.startswith("#Text="):
            read.sentence.append(_unescaped(line.removeprefix("#Text=")))
        elif match := _TOKEN.match(line):
            start, end = int(match[1]), int(match[2])
            read.begin_sentence(number, start)
            read.take_cells(number, line.split("\t")[3:], start, end)
        elif line and not line.startswith("#"):
            raise Malformed(f"line {number}: this is no token: {line[:40]}")
    document = read.document()
    document.places = len(lines)
    return document


class _Lines:
    """What the lines of a file have said so far."""

    def __init__(self, columns: Sequence[_Column]) -> None:
        self.columns = columns
        self.text = ""
        self.sentence: list[str] = []  # whose first token is to come
        self.links = 0
        self._units = 0  # of UTF-16, in the text
        self._found: dict[tuple[str, str], _Annotation] = {}

    def begin_sentence(self, number: int, start: int) -> None:
        """Add the text of a sentence that starts there, if there is one."""
        if not self.sentence:
            return
        if start - self._units > _LARGEST_GAP:
            raise Malformed(f"line {number}: a sentence starts at {start}")
        text = " " * (start - self._units) + "\n".join(self.sentence)
        self.text += text
        self._units += len(text.encode("utf-16-le", "surrogatepass")) // 2
        self.sentence = []

    def take_cells(self, number: int, cells: Sequence[str], start: int, end: int) -> None:
        """Note the annotations of a token; those of several tokens are one."""
        for column, cell in zip(self.columns, cells, strict=False):
            if cell in {"", "_"}:
                continue
            if not column.question:
                self.links += 1
                continue
            for key, value in _values(cell, number):
                one = self._found.setdefault((column.layer, key), _Annotation(number, start, end))
                one.start, one.end = min(one.start, start), max(one.end, end)
                one.values.setdefault(column.question, value)

    def document(self) -> Document:
        """Return the annotations, in characters."""
        made = Document(self.text, {one.question: {} for one in self.columns if one.question})
        made.left_out += Counter({"link or relation": self.links})
        places = CharacterPlaces(self.text)
        for (layer, _), one in self._found.items():
            name = short_name(layer, "")
            said = {question: value for question, value in one.values.items() if value}
            if not said and name not in one.values:
                made.left_out[f"span without a value of {name!r}"] += 1
            elif one.end <= one.start:
                made.left_out["mark between two characters"] += 1
            else:
                start, end = places.of(one.start), places.of(one.end)
                for question, value in (said or {name: name}).items():
                    made.labels[question].setdefault(Span(value, start, end), one.line)
        return made


def _columns(lines: Sequence[str]) -> Iterator[_Column]:
    """Yield what each column of annotations holds."""
    for line in lines:
        kind, _, rest = line.partition("=")
        if kind in {"#T_SP", "#T_CH", "#T_RL"}:
            layer, *features = rest.split("|")
            is_target = False
            for feature in features or [""]:
                is_link = kind != "#T_SP" or feature.startswith("ROLE_")
                yield _Column(layer, "" if is_link or is_target else short_name(layer, feature))
                is_target = is_link
        elif line and not line.startswith("#"):
            return


def _values(cell: str, line: int) -> Iterator[tuple[str, str]]:
    """Yield each value of a cell with what tells its annotation from others of the document."""
    for n, part in enumerate(_PARTS.split(cell)):
        match = _NUMBERED.fullmatch(part)
        value, key = (match[1], match[2]) if match else (part, f"line {line}, {n}")
        yield key, "" if value == "*" else _unescaped(value)


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda match: _LETTERS.get(match[1], match[1]), text)
