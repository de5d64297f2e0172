"""The cases that are shipped: answers, and the figures they must give."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from itertools import combinations
from typing import Any, TypeAlias

from tracker.core.tallies import Answer, ItemPatterns, JointPattern, make_pattern
from tracker.measures.category_rates import category_rates
from tracker.measures.cohen import cohen_kappas, kappa_cells
from tracker.measures.conger import conger_error, light_error, light_kappa
from tracker.measures.intervals import NOT_APPLICABLE, Coefficient
from tracker.measures.numeric import intraclass_correlations
from tracker.measures.registry import MEASURES
from tracker.measures.sample import Sample, sample_for_measures
from tracker.measures.spans.overlap import mark_span_sets
from tracker.measures.spans.tallies import SpanTally, pooled_span_agreement, why_no_spans_compared
from tracker.measures.spans.unitizing import UnitTally, unitizing_alpha

Number: TypeAlias = str | float | None
Given: TypeAlias = tuple[str, ...]  # the categories of one answer


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
        """Yield the rows of a file to import."""
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
    """Return every case that is shipped."""
    shipped = json.loads((files("tracker.conformance") / "cases.json").read_text("utf-8"))
    return [_case(case, shipped["tolerance"]) for case in shipped["cases"]]


def _case(payload: Mapping[str, Any], tolerance: float) -> Case:
    return Case(
        name=payload["name"],
        title=payload["title"],
        source=payload["source"],
        answers=payload.get("answers", "one"),
        scale=payload.get("scale", "nominal"),
        categories=tuple(payload["categories"]),
        items=tuple(_items(payload)),
        documents=tuple(Document(**document) for document in payload.get("documents", ())),
        figures=tuple(_figure(figure) for figure in payload["figures"]),
        tolerance=tolerance,
    )


def _figure(payload: Mapping[str, Any]) -> Figure:
    return Figure(
        measure=payload["measure"],
        of=payload.get("of"),
        reading={
            name: payload[name] for name in ("weights", "scale", "distance") if name in payload
        },
        numbers=payload["numbers"],
        printed=payload.get("printed", {}),
        agree=tuple(payload.get("agree", ())),
    )


def _items(payload: Mapping[str, Any]) -> Iterator[dict[str, Given]]:
    """Yield the items of a cross-table of annotators A and B, or of a line for each annotator."""
    names = payload["categories"]
    for first, row in enumerate(payload.get("table", ())):
        for second, count in enumerate(row):
            for _ in range(count):
                yield {"A": (names[first],), "B": (names[second],)}
    lines = {who: line.split() for who, line in payload.get("answers_of", {}).items()}
    for answers in zip(*lines.values(), strict=True):
        yield {
            who: () if answer == "()" else tuple(answer.split("|"))  # of no category
            for who, answer in zip(lines, answers, strict=True)
            if answer != "-"  # none was given
        }


def by_functions(case: Case, figure: Figure) -> Mapping[str, Number]:
    """Return the numbers of one figure, named as in the command's JSON."""
    if case.documents:
        return _of_spans(case, figure.measure).to_dict()
    tallies = _Tallies(case)
    if figure.measure == "category_rate":
        codes = list(range(len(case.categories)))
        rate = category_rates(tallies.patterns, codes)[case.categories.index(figure.of or "")]
        return vars(rate)
    if figure.measure == "intraclass":
        forms = intraclass_correlations(tallies.patterns, tallies.values, tallies.marginals)
        return vars(next(form for form in forms if form.form == figure.of))
    return _coefficient(tallies, figure).to_dict()


@dataclass(frozen=True)
class _Tallies:
    """The tallies of the database, made in Python; annotators and categories are numbers."""

    case: Case

    @cached_property
    def items(self) -> list[dict[int, Answer]]:
        place = {name: n for n, name in enumerate(self.case.categories)}
        who = {name: n for n, name in enumerate(sorted({a for i in self.case.items for a in i}))}
        return [
            {
                who[name]: tuple(sorted(place[category] for category in given))
                for name, given in answers.items()
            }
            for answers in self.case.items
        ]

    @cached_property
    def patterns(self) -> ItemPatterns:
        return ItemPatterns(Counter(make_pattern(item.values()) for item in self.items if item))

    @cached_property
    def marginals(self) -> dict[int, dict[Answer, int]]:
        marginals: dict[int, dict[Answer, int]] = defaultdict(Counter)
        for item in self.items:
            for annotator, answer in item.items():
                marginals[annotator][answer] += 1
        return dict(sorted(marginals.items()))

    @cached_property
    def joint(self) -> list[tuple[JointPattern, int]]:
        return list(Counter(tuple(sorted(item.items())) for item in self.items).items())

    @cached_property
    def tables(self) -> dict[tuple[int, int], dict[tuple[Answer, Answer], int]]:
        tables: dict[tuple[int, int], dict[tuple[Answer, Answer], int]] = defaultdict(Counter)
        for item in self.items:
            for (first, answer), (second, other) in combinations(sorted(item.items()), 2):
                tables[first, second][answer, other] += 1
        return dict(sorted(tables.items()))

    @cached_property
    def values(self) -> dict[int, float]:
        names = self.case.categories
        numeric = all(name.isdecimal() for name in names)
        return {n: float(name) for n, name in enumerate(names)} if numeric else {}

    def sample(self, reading: Mapping[str, str]) -> Sample:
        several = self.case.answers == "several"
        scale = reading.get("scale", self.case.scale)
        return sample_for_measures(
            self.patterns,
            len(self.marginals),
            categories=range(len(self.case.categories)),
            values=self.values,
            weighting=reading.get("weights", "identity"),
            by_rank=scale == "ordinal",
            scale=reading.get("distance", "exact") if several else scale,
            several=several,
            marginals=self.marginals,
        )


def _coefficient(tallies: _Tallies, figure: Figure) -> Coefficient:
    name, sample = figure.measure, tallies.sample(figure.reading)
    function = MEASURES[name].function
    if function is not None:
        estimate = function(sample)
        if name == "conger_kappa":
            estimate = conger_error(sample, estimate, tallies.joint)
        return estimate.coefficient(interval="t")
    cells = kappa_cells(list(tallies.tables.values()), sample.table.answers)
    kappas = list(cohen_kappas(cells, weighting=sample.weighting, interval="t"))
    if name == "cohen_kappa":
        if sample.annotators != 2:
            return Coefficient(name, None, NOT_APPLICABLE)
        return kappas[0] if kappas else Coefficient(name, None, sample.why_not)
    light = light_kappa(sample, kappas)
    estimate = light_error(sample, light, cells, list(tallies.tables), tallies.joint)
    return estimate.coefficient(interval="t")


def _of_spans(case: Case, measure: str) -> Coefficient:
    place = {name: n for n, name in enumerate(case.categories)}
    tally, units = SpanTally(), UnitTally()
    for document in case.documents:
        marked = mark_span_sets(
            {
                who: [(place[category], start, end) for category, start, end in spans]
                for who, spans in document.answers.items()
            }
        )
        tally.add(marked)
        units.add(marked, document.length)
    if measure == "unitizing_alpha":
        return unitizing_alpha(units, undefined=why_no_spans_compared(tally))
    figures = pooled_span_agreement(tally, 0.95)
    return next(figure.coefficient for figure in figures if figure.measure == measure)
