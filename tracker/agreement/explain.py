"""Why a number is what it is: what went in, what was left out, and the formula with its numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any, Final, NamedTuple, TypeAlias

from sqlalchemy import Connection

from tracker.agreement.coefficients import Study, coefficients
from tracker.agreement.counts_sql import Inclusion, count_included_answers
from tracker.agreement.pairs import Confusions
from tracker.agreement.query import Query
from tracker.agreement.result import Assessment, methods_numbers_sentence
from tracker.agreement.run import assess, assessment_of, coefficients_without_annotators
from tracker.core.errors import InvalidOption
from tracker.core.results import Record
from tracker.core.tallies import AnnotatorTallies, ItemPatterns
from tracker.counts.filter import select_answers
from tracker.counts.kept_counts import counted_by
from tracker.counts.selection import Selection
from tracker.counts.tallies import count_annotator_tallies, select_items_of_patterns
from tracker.lake.connection import manifest_of
from tracker.measures.estimate import Estimate
from tracker.measures.intervals import Coefficient
from tracker.measures.registry import MEASURES, Measure
from tracker.measures.resampling import jackknife_without_item, most_influential_patterns
from tracker.measures.sample import merge_pattern_table, patterns_without_category
from tracker.projects.annotators import annotator_names
from tracker.projects.items import item_names
from tracker.projects.names import near_names
from tracker.projects.questions import QuestionInfo


@dataclass(frozen=True)
class Explanation:
    """One figure with everything that led to it.

    Attributes:
        items_answered: items with an answer that counts.
        items_alone: those of them with a single answer, which cannot be compared.
        shares: of all answers to items that enter chance, the share of each category.
        numbers: the formula with its numbers.
        counted_by: what counted: the database, an engine, or nothing because it was kept.
        manifest: the digest of the files that hold the labels; None if they are in the ledger.
    """

    project: str
    measure: Measure
    figure: Coefficient
    inclusion: Inclusion
    items_answered: int
    items_alone: int
    shares: Mapping[str, float]
    numbers: str
    counted_by: Sequence[str]
    manifest: str | None

    def to_dict(self) -> dict[str, Any]:
        return {
            "project": self.project,
            **self.figure.to_dict(),
            "formula": self.measure.formula,
            "with_numbers": self.numbers,
            "source": self.measure.source,
            "items": {
                "in_project": self.inclusion.items,
                "answered": self.items_answered,
                "one_answer": self.items_alone,
                "compared": self.items_answered - self.items_alone,
            },
            "answers": {
                name: number
                for name, number in self.inclusion.to_dict().items()
                if name not in {"items", "past", "taken_back"}
            },
            "records": {"past": self.inclusion.past, "taken_back": self.inclusion.taken_back},
            "shares": dict(self.shares),
            "counted_by": [*self.counted_by],
            **({} if self.manifest is None else {"manifest": self.manifest}),
        }


def explain(counted: Study, name: str) -> Explanation:
    """Explain one measure of a project.

    Raises InvalidOption for a measure that does not exist or does not fit.
    """
    study = replace(counted, query=replace(counted.query, measures=(name,)))
    (figure,) = study.figures()
    shares = _shares(study, figure)
    counts = (counted.patterns.items, counted.patterns.items_compared)
    return _explained(counted.connection, counted.selection, figure, *counts, shares)


def explain_spans(
    connection: Connection, question: QuestionInfo, query: Query, name: str
) -> Explanation:
    """Explain one measure of a project of spans.

    Raises InvalidOption for a measure that does not exist or does not fit.
    """
    assessment = assess(connection, question, replace(query, measures=(name,)))
    (figure,) = assessment.measures
    selection = select_answers(connection, question, query.filter)
    counts = (assessment.counts.items, assessment.counts.items_compared)
    return _explained(connection, selection, figure, *counts, {})


def _explained(
    connection: Connection,
    selection: Selection,
    figure: Coefficient,
    items: int,
    compared: int,
    shares: Mapping[str, float],
) -> Explanation:
    return Explanation(
        project=selection.question.project.name,
        measure=MEASURES[figure.measure],
        figure=figure,
        inclusion=count_included_answers(connection, selection),
        items_answered=items,
        items_alone=items - compared,
        shares=shares,
        numbers=methods_numbers_sentence(figure=figure),
        counted_by=counted_by(connection),
        manifest=manifest_of(connection),
    )


def _shares(counted: Study, figure: Coefficient) -> dict[str, float]:
    """The answers' shares that chance is computed from; none where it needs none, or each own."""
    of = counted.sample
    if figure.measure == "krippendorff_alpha":
        table = of.table.compared()
        totals = table.over_answers(table.count * table.items[table.owner])
        shares = totals / max(totals.sum(), 1)
    elif figure.measure in {"fleiss_kappa", "scott_pi", "gwet_ac1", "gwet_ac2"}:
        shares = of.shares
    else:
        return {}
    return {
        "|".join(counted.names[category] for category in answer) or "(none)": float(share)
        for answer, share in zip(of.table.answers, shares, strict=True)
    }


# -- What moves a coefficient: annotators, items, categories left out, and categories merged ------


DEFAULT_MEASURE: Final = "krippendorff_alpha"
MOST_ITEMS: Final = 20
MOST_MERGED: Final = 60  # categories, of which every two are tried


_Way: TypeAlias = Callable[[Study, Estimate], Iterator[tuple[str, float | None]]]


@dataclass(frozen=True)
class Influence:
    """What the coefficient becomes without one annotator, item or category.

    ``change`` is the value without it less the value: a positive change says that agreement is
    better without. None where the coefficient is undefined without it.
    """

    name: str
    without: float | None
    change: float | None

    def to_dict(self, kind: str) -> dict[str, Any]:
        return {kind: self.name, "without": self.without, "change": self.change}


class Influences(NamedTuple):
    """A measure, its value, and what it becomes without each; those that lower it most first."""

    measure: str
    value: float | None
    rows: list[Influence]


def agreement_influences(counted: Study, of: str, *, only: int | None = None) -> Influences:
    """How one coefficient moves without each annotator, item or category.

    The coefficient is the first of those asked for, by default Krippendorff's alpha. Of items,
    those that move it most are given. Of annotators ``only`` the one of that id, if it is given.

    Returns:
        The measure, its value, and the rows, those that lower it most first.

    Raises:
        InvalidOption: for anything else than these three, or a measure of pairs.
    """
    ways: Mapping[str, _Way] = {
        "annotator": partial(_annotators, only=only),
        "item": _items,
        "category": _categories,
    }
    if of not in ways:
        raise InvalidOption(f"--influence {of!r} is not known", f"one of: {', '.join(ways)}")
    measure = _measure(counted, "the influence on ")
    study = replace(counted, query=replace(counted.query, measures=(measure,)))
    (estimate,) = study.estimates.values()
    if not isinstance(estimate, Estimate) or estimate.value is None:
        return Influences(measure, None, [])
    rows = [
        Influence(name, value, None if value is None else value - estimate.value)
        for name, value in ways[of](study, estimate)
    ]
    if of != "item":
        rows.sort(key=lambda row: (row.change is None, -(row.change or 0.0), row.name))
    return Influences(measure, estimate.value, rows)


def _measure(counted: Study, purpose: str = "") -> str:
    """The first measure asked for, else the usual one; raises where item patterns do not do.

    ``purpose`` of it is wanted begins the message.
    """
    measure = counted.wanted[0] if counted.query.measures else DEFAULT_MEASURE
    if MEASURES[measure].needs != "patterns":
        raise InvalidOption(
            f"{purpose}{measure} is not to be had from item patterns",
            f"--measure {DEFAULT_MEASURE}, for one",
        )
    return measure


def _annotators(
    counted: Study, estimate: Estimate, *, only: int | None
) -> Iterator[tuple[str, float | None]]:
    names = annotator_names(counted.connection, counted.question.project)
    tallies = count_annotator_tallies(counted.connection, counted.selection)
    if only is not None:
        met = tallies.counts.get(only)
        tallies = AnnotatorTallies({} if met is None else {only: met})
    for annotator, values in coefficients_without_annotators(counted, tallies):
        yield names[annotator], values[estimate.measure]


def _categories(counted: Study, estimate: Estimate) -> Iterator[tuple[str, float | None]]:
    for category, name in counted.names.items():
        left = patterns_without_category(counted.patterns, category)
        yield name, _value(counted, left, estimate.measure)


def _items(counted: Study, estimate: Estimate) -> Iterator[tuple[str, float | None]]:
    if estimate.influence is None:
        return
    places = most_influential_patterns(estimate.influence, MOST_ITEMS)
    values = jackknife_without_item(counted.sample, estimate.measure, places)
    patterns = [pattern for pattern, items in counted.patterns if items]
    wanted = {patterns[place]: value for place, value in zip(places, values, strict=True)}
    met = select_items_of_patterns(counted.connection, counted.selection, set(wanted), MOST_ITEMS)
    names = item_names(
        counted.connection,
        counted.question.project,
        [item for items in met.values() for item in items],
    )
    rows = [(names[item], value) for pattern, value in wanted.items() for item in met[pattern]]
    yield from rows[:MOST_ITEMS]


def _value(counted: Study, patterns: ItemPatterns, measure: str) -> float | None:
    of = counted.read(patterns, len(counted.annotators))
    return coefficients([measure], of, None, counted.query.confidence)[measure].value


@dataclass(frozen=True)
class Merge(Record):
    """A measure's value with some categories taken for one, and the gain."""

    categories: tuple[str, ...]
    value: float | None
    change: float | None


class Merges(NamedTuple):
    """A measure, its value, and what merges of two categories make of it, the best first."""

    measure: str
    value: float | None
    rows: list[Merge]

    def to_dict(self) -> dict[str, Any]:
        merges = [merge.to_dict() for merge in self.rows]
        return {"measure": self.measure, "value": self.value, "merges": merges}


def assess_merged_categories(counted: Study, merges: Sequence[str]) -> Assessment:
    """The assessment as if categories had been one; each of ``merges`` names them: ``a+b``.

    The merged category keeps the place of the first named. Figures that depend on who answered
    what, and those against the truth, are not among them.

    Raises:
        InvalidOption: an unknown category, fewer than two, one named twice; a name that another
            category has; a measure that does not follow from the item patterns.
    """
    into, names = _merges(counted, merges)
    asked = [name for name in counted.wanted if MEASURES[name].needs == "patterns"]
    if counted.query.measures and asked != counted.wanted:
        left = next(name for name in counted.wanted if name not in asked)
        raise InvalidOption(f"{left} is not to be had of merged categories")
    query = replace(counted.query, measures=asked)
    patterns = merge_pattern_table(counted.patterns, into)
    # A merged category keeps the number of the first, where categories are numbers.
    kept = {number: counted.names[number] for number in names}
    as_one = replace(counted, query=query, names=kept, patterns=patterns)
    assessment = assessment_of(
        counted.question, as_one.sample, patterns, names, as_one.figures(), query
    )
    return replace(assessment, selection=counted.selection.told)


def _merges(counted: Study, merges: Sequence[str]) -> tuple[dict[int, int], dict[int, str]]:
    numbers = {name: number for number, name in counted.names.items()}
    into: dict[int, int] = {}
    names = dict(counted.names)
    for text in merges:
        parts = _parts(text, numbers)
        again = next((part for part in parts if numbers[part] in into), None)
        if again is not None:
            raise InvalidOption(
                f"--merge {text!r}: {again!r} is merged already", "name all of them at once: a+b+c"
            )
        first, *others = (numbers[part] for part in parts)
        names[first] = "+".join(parts)
        into |= dict.fromkeys((first, *others), first)
        for other in others:
            del names[other]
        if len(set(names.values())) < len(names):
            raise InvalidOption(
                f"--merge {text!r}: another category is called {names[first]!r}",
                "name it among those to merge, or name these in another order",
            )
    return into, names


def _parts(text: str, known: Mapping[str, int]) -> list[str]:
    parts = next(_splits(text, frozenset(known)), ())
    if len(parts) > 1:
        return list(parts)
    unknown = [part.strip() for part in text.split("+") if part.strip() not in known]
    if unknown and text.strip() not in known:
        name = next((part for part in unknown if part), text)
        raise InvalidOption(
            f"there is no category {name!r} to merge",
            near_names(name, known) or "see: tracker category list",
        )
    raise InvalidOption(
        f"--merge {text!r} does not name two or more different categories",
        "such as: --merge joy+surprise",
    )


def _splits(text: str, known: frozenset[str]) -> Iterator[tuple[str, ...]]:
    pieces = text.split("+")
    for size in range(1, len(pieces)):
        head = "+".join(pieces[:size]).strip()
        if head in known:
            for rest in _splits("+".join(pieces[size:]), known - {head}):
                yield head, *rest
    if text.strip() in known:
        yield (text.strip(),)


def best_merges(counted: Study, most: int = 10) -> Merges:
    """The two categories that a coefficient gains most by taking for one, the best first.

    Merging always loses what the categories told apart; a gain says that annotators do not.

    Raises:
        InvalidOption: more categories than can be tried, or a measure of pairs.
    """
    measure = _measure(counted)
    if len(counted.names) > MOST_MERGED:
        raise InvalidOption(
            f"{len(counted.names)} categories are more than the {MOST_MERGED} of which every two "
            "can be tried",
            "name them: --merge a+b",
        )
    before = _value(counted, counted.patterns, measure)
    rows = []
    for (first, first_name), (second, second_name) in combinations(counted.names.items(), 2):
        patterns = merge_pattern_table(counted.patterns, {second: first})
        names = {n: name for n, name in counted.names.items() if n != second}
        value = _value(replace(counted, names=names), patterns, measure)
        change = None if value is None or before is None else value - before
        rows.append(Merge((first_name, second_name), value, change))
    rows.sort(key=lambda merge: (merge.change is None, -(merge.change or 0.0)))
    return Merges(measure, before, rows[:most])


@dataclass(frozen=True)
class Advice:
    """A question without the answers of those flagged.

    Attributes:
        flagged: whose answers are left out, by name.
        confusions: the categories that they confuse; None of spans, or if they were not asked for.
        merges: the merges that help most; None likewise.
    """

    flagged: Sequence[str]
    agreement: Assessment
    confusions: Confusions | None = None
    merges: Merges | None = None

    def to_dict(self) -> dict[str, Any]:
        payload: dict[str, Any] = {"annotators": list(self.flagged)}
        if self.merges is not None:
            return payload | self.merges.to_dict()
        if self.confusions is None:
            return payload
        confusions = self.confusions.to_dict()
        return payload | {key: confusions[key] for key in ("disagreements", "confusions")}
