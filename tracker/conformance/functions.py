"""The figures of a case by the pure functions, from tallies made in Python."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from tracker.conformance.cases import Case, Figure, Number
from tracker.core.tallies import Answer, ItemPatterns, JointPattern, make_pattern
from tracker.measures import MEASURES
from tracker.measures.category_rates import category_rates
from tracker.measures.coefficient import NOT_APPLICABLE, Coefficient
from tracker.measures.cohen import cells_of, cohen_kappas
from tracker.measures.conger_light import conger_error, light_error, light_kappa
from tracker.measures.numeric.icc import intraclass_correlations
from tracker.measures.sample import Sample, sample_of
from tracker.measures.spans.span_sets import mark
from tracker.measures.spans.span_tallies import SpanTally, pooled_agreement, why_nothing_compared
from tracker.measures.spans.unitizing import UnitTally, unitizing_alpha


def by_functions(case: Case, figure: Figure) -> Mapping[str, Number]:
    """The numbers of one figure, named as in the command's JSON."""
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
    """What the database counts, counted by hand; annotators and categories are numbers."""

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
        found: dict[int, dict[Answer, int]] = defaultdict(Counter)
        for item in self.items:
            for who, answer in item.items():
                found[who][answer] += 1
        return dict(sorted(found.items()))

    @cached_property
    def joint(self) -> list[tuple[JointPattern, int]]:
        return list(Counter(tuple(sorted(item.items())) for item in self.items).items())

    @cached_property
    def tables(self) -> dict[tuple[int, int], dict[tuple[Answer, Answer], int]]:
        found: dict[tuple[int, int], dict[tuple[Answer, Answer], int]] = defaultdict(Counter)
        for item in self.items:
            for (first, one), (second, other) in combinations(sorted(item.items()), 2):
                found[first, second][one, other] += 1
        return dict(sorted(found.items()))

    @cached_property
    def values(self) -> dict[int, float]:
        names = self.case.categories
        numeric = all(name.isdecimal() for name in names)
        return {n: float(name) for n, name in enumerate(names)} if numeric else {}

    def sample(self, reading: Mapping[str, str]) -> Sample:
        several = self.case.answers == "several"
        scale = reading.get("scale", self.case.scale)
        return sample_of(
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
        found = function(sample)
        if name == "conger_kappa":
            found = conger_error(sample, found, tallies.joint)
        return found.coefficient(interval="t")
    cells = cells_of(list(tallies.tables.values()), sample.table.answers)
    kappas = list(cohen_kappas(cells, weighting=sample.weighting, interval="t"))
    if name == "cohen_kappa":
        if sample.annotators != 2:
            return Coefficient(name, None, NOT_APPLICABLE)
        return kappas[0] if kappas else Coefficient(name, None, sample.why_not)
    light = light_kappa(sample, kappas)
    found = light_error(sample, light, cells, list(tallies.tables), tallies.joint)
    return found.coefficient(interval="t")


def _of_spans(case: Case, measure: str) -> Coefficient:
    place = {name: n for n, name in enumerate(case.categories)}
    tally, units = SpanTally(), UnitTally()
    for document in case.documents:
        marked = mark(
            {
                who: [(place[category], start, end) for category, start, end in spans]
                for who, spans in document.answers.items()
            }
        )
        tally.add(marked)
        units.add(marked, document.length)
    if measure == "unitizing_alpha":
        return unitizing_alpha(units, undefined=why_nothing_compared(tally))
    return next(one for one in pooled_agreement(tally, 0.95) if one.measure == measure).coefficient
