"""INCEpTION: the zip file of a project, with a file for each annotator of each document."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from tracker.core.errors import Refused
from tracker.formats import answers as tool
from tracker.formats.answers import Answer, CharacterPlaces, Fields, Malformed, Span, field_text
from tracker.formats.batch import GOLD, FilesUnit
from tracker.formats.reader import Reading
from tracker.formats.source import Archive, SourceFile
from tracker.formats.streams import head_value
from tracker.readers.folders import files_by_annotator, folder_reader

# -- What an INCEpTION project says of its documents: who is done with which, and since when ------


class State(NamedTuple):
    """The state of a document for one annotator; empty texts if it is not known."""

    name: str = ""  # NEW, IN_PROGRESS, FINISHED, IGNORE; those of curation begin with CURATION
    changed_at: str = ""  # by the annotator, in milliseconds since 1970
    comment: str = ""  # what the annotator wrote on finishing it

    @property
    def is_open(self) -> bool:
        """Whether the annotator is not done with the document."""
        return bool(self.name) and self.name not in {"FINISHED", "CURATION_FINISHED"}


def load_states(archive: Archive) -> dict[tuple[str, str | None], State]:
    """Return the states of documents by document and annotator, None for curation, if known."""
    states: dict[tuple[str, str | None], State] = {}
    fields = ("state", "timestamp", "annotatorComment")
    for name in archive.matching("*exportedproject*.json"):
        if not PurePosixPath(name).name.startswith("exportedproject"):
            continue
        try:
            project = tool.object_of(json.loads(archive.text(name)), "this")
            for kind in ("annotation_documents", "source_documents"):
                for document in tool.objects_in(project, kind):
                    user = field_text(document.get("user")) if kind[0] == "a" else None
                    state = State(*(field_text(document.get(field)) for field in fields))
                    states[field_text(document.get("name")), user] = state
        except Malformed as error:
            raise Refused(f"{archive.name}/{name}: {error}") from None
        except (ValueError, RecursionError) as error:
            raise Refused(f"{archive.name}/{name}: this is no JSON: {str(error)[:80]}") from None
    return states


# -- WebAnno TSV 3: the tokens of a document with the annotations of one annotator beside them ----


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


def read_tsv(content: str, label: str | None = None) -> Document:
    """Return the annotations of a file; ``label`` is that of spans without a value.

    Raises Malformed, with the line.
    """
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
    return read.document(len(lines), label)


@dataclass
class _Lines:
    """What the lines of a file have said so far."""

    columns: Sequence[_Column]
    text: str = ""
    sentence: list[str] = field(default_factory=list)  # whose first token is to come
    links: int = 0
    units: int = 0  # of UTF-16, in the text
    annotations: dict[tuple[str, str], _Annotation] = field(default_factory=dict)

    def begin_sentence(self, number: int, start: int) -> None:
        """Add the text of a sentence that starts there, if there is one."""
        if not self.sentence:
            return
        if start - self.units > _LARGEST_GAP:
            raise Malformed(f"line {number}: a sentence starts at {start}")
        text = " " * (start - self.units) + "\n".join(self.sentence)
        self.text += text
        self.units += len(text.encode("utf-16-le", "surrogatepass")) // 2
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
                annotation = _Annotation(number, start, end)
                annotation = self.annotations.setdefault((column.layer, key), annotation)
                annotation.start = min(annotation.start, start)
                annotation.end = max(annotation.end, end)
                annotation.values.setdefault(column.question, value)

    def document(self, lines: int, label: str | None) -> Document:
        labels: dict[str, dict[str | Span, int]] = {
            column.question: {} for column in self.columns if column.question
        }
        left_out = +Counter({"link or relation": self.links})
        places = CharacterPlaces(self.text)
        for (layer, _), annotation in self.annotations.items():
            name = short_name(layer, "")
            values = {question: value for question, value in annotation.values.items() if value}
            if label and not values and name not in annotation.values:
                values = dict.fromkeys([*annotation.values][:1], label)
            if not values and name not in annotation.values:
                left_out[f"span without a value of {name!r}"] += 1
            elif annotation.end <= annotation.start:
                left_out["mark between two characters"] += 1
            else:
                start, end = places.of(annotation.start), places.of(annotation.end)
                for question, value in (values or {name: name}).items():
                    labels[question].setdefault(Span(value, start, end), annotation.line)
        return Document(self.text, labels, lines, left_out=left_out)


def _columns(lines: Sequence[str]) -> Iterator[_Column]:
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


# -- UIMA CAS as JSON: a document with the annotations of one annotator as feature structures -----


STRUCTURES = "%FEATURE_STRUCTURES"
_NO_LAYERS = ("uima.", "org.dkpro.", "de.tudarmstadt.ukp.dkpro.core.api.metadata.",
              "de.tudarmstadt.ukp.clarin.webanno.", "de.tudarmstadt.ukp.inception.")  # fmt: skip
_NO_LAYER_NAMES = {"Token", "Sentence", "Paragraph", "Div", "Heading"}
_LARGEST_NUMBER = 10_000_000  # of an annotation
_OF_RELATIONS = {"@Governor", "@Dependent", "@source", "@target", "@next", "@first"}


def read_cas(value: Any, label: str | None = None) -> Document:
    """Return the annotations of a CAS as `read_tsv`. Raises Malformed."""
    cas = tool.object_of(value, "this")
    structures = cas.get(STRUCTURES)
    if isinstance(structures, dict):
        structures = list(structures.values())
    if not isinstance(structures, list):
        raise Malformed(f"{STRUCTURES!r} is no list")
    objects = [tool.object_of(structure, f"a value of {STRUCTURES!r}") for structure in structures]
    document = Document(text=_text(objects), unit="annotation")
    places = CharacterPlaces(document.text)
    for structure in objects:
        layer = field_text(structure.get("%TYPE"))
        name = layer.rpartition(".")[2]
        if not layer or layer.startswith(_NO_LAYERS) or name in _NO_LAYER_NAMES:
            continue
        if "[]" in layer or name.endswith(("Link", "Chain")) or _OF_RELATIONS & structure.keys():
            document.left_out["link or relation"] += "@sofa" in structure
        elif "@sofa" in structure:
            number = structure.get("%ID")
            if type(number) is not int or not 0 < number <= _LARGEST_NUMBER:
                number = 0
            document.places = max(document.places, number)
            try:
                _take(document, structure, places, number, label)
            except Malformed as error:
                raise Malformed(f"annotation {number}: {error}") from None
    return document


def _text(structures: list[dict[str, Any]]) -> str:
    texts = [structure.get("sofaString") for structure in structures if "sofaString" in structure]
    if len(texts) != 1 or not isinstance(texts[0], str):
        raise Malformed(f"there are {len(texts)} texts, not one" if texts else "there is no text")
    return texts[0]


def _take(
    document: Document, structure: Fields, places: CharacterPlaces, number: int, label: str | None
) -> None:
    """Add an annotation's features; those of a whole document are categories."""
    layer = field_text(structure.get("%TYPE"))
    start, end = structure.get("begin"), structure.get("end")
    features = {
        name: field_text(value)
        for name, value in structure.items()
        if name[:1] not in {"%", "@", "#", "^"} and name not in {"begin", "end"}
    }
    values = {name: text for name, text in features.items() if text.strip()}
    if label and not values and features:
        values = {next(iter(features)): label}
    if not values and features:
        document.left_out[f"span without a value of {short_name(layer, '')!r}"] += 1
        return
    for feature, text in (values or {"": short_name(layer, "")}).items():
        labels = document.labels.setdefault(short_name(layer, feature), {})
        if start is None and end is None:
            labels.setdefault(text, number)
            continue
        span = tool.span_of(text, start, end)
        if span.end <= span.start:
            document.left_out["mark between two characters"] += 1
        else:
            span = span._replace(start=places.of(span.start), end=places.of(span.end))
            labels.setdefault(span, number)


_FILE = re.compile(r"(?:.*/)?(annotation|curation)/(.+)/([^/]+)\.(tsv|json)")
_SERIALIZED = re.compile(r"(?:.*/)?(?:annotation|curation)(?:_ser)?/.+/[^/]+\.(?:ser|zip|xmi)")
_HINT = (
    "in INCEpTION, export the project with the secondary format WebAnno TSV 3.3 or UIMA CAS JSON, "
    "and import the zip file as it is"
)


def recognizes_document(source: SourceFile) -> bool:
    if source.head.startswith(FIRST_LINE.encode()):
        return True
    first = head_value(source)
    return isinstance(first, dict) and bool({STRUCTURES, "%TYPES"} & first.keys())


def recognizes_project(archive: Archive) -> bool:
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
    files = [
        _File(name, match[1] == "curation", match[2], match[3])
        for name in archive.names
        if (match := _FILE.fullmatch(name))
    ]
    if reading.says_who and not files:
        names = [name for name in archive.names if name.endswith((".tsv", ".json"))]
        files = [
            _File(file.name, curated=False, document=file.document, user=file.annotator)
            for file in files_by_annotator(archive, names, reading, whole=True)
        ]
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


class _Project:
    def __init__(self, archive: Archive, reading: Reading, lines: FilesUnit) -> None:
        self.archive, self.reading, self.lines = archive, reading, lines
        self.states = load_states(archive)

    def answers(self, files: list[_File]) -> Iterator[Answer]:
        files = self._finished(files)
        self._ask(files)
        for file in files:
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
                    lines=[place + label for label in labels.values()], data=data,
                )  # fmt: skip

    def _state(self, file: _File) -> State:
        return self.states.get((file.document, None if file.curated else file.user), State())

    def _finished(self, files: list[_File]) -> list[_File]:
        """Return the files with what annotators said; those left out are counted.

        Raises Refused if nobody is done with any document.
        """
        annotated = [file for file in files if file.user != "INITIAL_CAS"]
        before = len(files) - len(annotated)
        self.reading.leave_out("document as it was before annotation", before)
        if "state" in self.reading.options.ignore:
            return annotated
        states = {file: self._state(file) for file in annotated}
        opened = Counter(state.name for state in states.values() if state.is_open)
        if opened.total() == len(annotated) > 0:
            listed = ", ".join(f"{number:,} {name}" for name, number in opened.items())
            raise Refused(
                f"{self.archive.name}: no annotator is done with a document ({listed})",
                "to read them as they are: --ignore state",
            )
        for name, number in opened.items():
            self.reading.leave_out(f"document in state {name}", number)
        return [file for file in annotated if not states[file].is_open]

    def _ask(self, files: list[_File]) -> None:
        """Note the questions: those that have an answer; if there are none, those of all layers."""
        without: dict[str, None] = {}
        for file in files:
            for question, labels in self._read(file).labels.items():
                without[question] = None
                try:
                    if any(isinstance(label, Span) for label in labels):
                        self.reading.ask(question, "spans", offsets="characters")
                    tool.ask_for(self.reading, question, [*labels])
                except (Malformed, Refused) as error:
                    raise Refused(f"{self.archive.name}/{file.name}: {error}") from None
        if not self.reading.asked:
            for question in without:
                self.reading.ask(question, "spans", offsets="characters")

    def _read(self, file: _File) -> Document:
        name, text = f"{self.archive.name}/{file.name}", self.archive.text(file.name)
        try:
            label = self.reading.options.span_label
            if file.name.endswith(".tsv"):
                return read_tsv(text, label)
            return read_cas(json.loads(text), label)
        except (ValueError, RecursionError) as error:
            raise Refused(f"{name}: this is no JSON: {str(error)[:80]}", _HINT) from None
        except Malformed as error:
            between = "," if re.match(r"(?:line|annotation) \d", str(error)) else ":"
            raise Refused(f"{name}{between} {error}", _HINT) from None
