"""The cases that are shipped: answers, and the figures they must give."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final, TypeAlias

Number: TypeAlias = str | float | None
Given: TypeAlias = tuple[str, ...]  # the categories of one answer

_MISSING: Final = "-"
_NONE_APPLIES: Final = "()"


@dataclass(frozen=True)
class Figure:
    """What one figure of a case must be.

    Attributes:
        measure: its name in the registry, or category_rate or intraclass.
        of: the category or the form, where it is of one.
        reading: ``weights``, ``scale`` or ``distance``, as the command has them.
        numbers: what it must be, by the name of the number in the command's JSON.
        printed: the same as the source prints them; they are held to their last digit.
        agree: other programs that give the value.
    """

    measure: str
    of: str | None
    reading: Mapping[str, str]
    numbers: Mapping[str, Number]
    printed: Mapping[str, str]
    agree: tuple[str, ...]


@dataclass(frozen=True)
class Document:
    """One document with each annotator's spans: (category, start, end)."""

    length: int
    answers: Mapping[str, Sequence[tuple[str, int, int]]]


@dataclass(frozen=True)
class Case:
    """A small data set.

    Attributes:
        name: a short one.
        title: what it is.
        source: who published it.
        answers: one, several or spans, as a project has it.
        scale: as a project has it.
        categories: all that can be answered, in order.
        items: of each item, each annotator's answer; none in a case of spans.
        documents: of a case of spans.
        figures: what it must give.
        tolerance: to which programs agree on these; relative above 1.
    """

    name: str
    title: str
    source: str
    answers: str
    scale: str
    categories: tuple[str, ...]
    items: tuple[Mapping[str, Given], ...]
    documents: tuple[Document, ...]
    figures: tuple[Figure, ...]
    tolerance: float

    def rows(self) -> Iterator[Mapping[str, str]]:
        """The case as the rows of a file to import."""
        for number, answers in enumerate(self.items, 1):
            for annotator, given in answers.items():
                for category in given or ("",):
                    yield {"item": f"{number}", "annotator": annotator, "category": category}
        for number, document in enumerate(self.documents, 1):
            for annotator, spans in document.answers.items():
                common = {"item": f"{number}", "annotator": annotator}
                common["n_tokens"] = f"{document.length}"
                if not spans:
                    yield common | {"category": "", "start": "", "end": ""}
                for category, start, end in spans:
                    yield common | {"category": category, "start": f"{start}", "end": f"{end}"}


def known_cases() -> list[Case]:
    """Every case that is shipped."""
    text = (files("tracker.conformance") / "cases.json").read_text("utf-8")
    shipped = json.loads(text)
    return [_case(told, shipped["tolerance"]) for told in shipped["cases"]]


def _case(told: Mapping[str, Any], tolerance: float) -> Case:
    return Case(
        name=told["name"],
        title=told["title"],
        source=told["source"],
        answers=told.get("answers", "one"),
        scale=told.get("scale", "nominal"),
        categories=tuple(told["categories"]),
        items=tuple(_items(told)),
        documents=tuple(
            Document(
                document["length"],
                {
                    who: [(category, start, end) for category, start, end in spans]
                    for who, spans in document["answers"].items()
                },
            )
            for document in told.get("documents", ())
        ),
        figures=tuple(_figure(figure) for figure in told["figures"]),
        tolerance=tolerance,
    )


def _figure(told: Mapping[str, Any]) -> Figure:
    return Figure(
        measure=told["measure"],
        of=told.get("of"),
        reading={name: told[name] for name in ("weights", "scale", "distance") if name in told},
        numbers=told["numbers"],
        printed=told.get("printed", {}),
        agree=tuple(told.get("agree", ())),
    )


def _items(told: Mapping[str, Any]) -> Iterator[dict[str, Given]]:
    """From a cross-table of annotators A and B, or each annotator's answers in a line."""
    names = told["categories"]
    for one, row in enumerate(told.get("table", ())):
        for other, count in enumerate(row):
            for _ in range(count):
                yield {"A": (names[one],), "B": (names[other],)}
    lines = {who: line.split() for who, line in told.get("answers_of", {}).items()}
    for answers in zip(*lines.values(), strict=True):
        yield {
            who: () if answer == _NONE_APPLIES else tuple(answer.split("|"))
            for who, answer in zip(lines, answers, strict=True)
            if answer != _MISSING
        }
