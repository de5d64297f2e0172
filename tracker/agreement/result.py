"""The figures of a project at one moment, and their JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Final, NotRequired, TypedDict

from tracker.agreement.coefficients import COSTLY, are_few
from tracker.agreement.readiness import THRESHOLDS, Readiness, ReadinessJson, readiness_of
from tracker.agreement.sentences import few_telling, no_person, own_errors, recent_sentence
from tracker.core.errors import InvalidOption
from tracker.core.results import Json, Message, Record
from tracker.core.tallies import ItemPatterns
from tracker.core.version import VERSION
from tracker.measures.accuracy import GoldAgreement
from tracker.measures.benchmarks import benchmark_readings
from tracker.measures.category_rates import CategoryRate, Summary, category_rate_summary
from tracker.measures.citations import SOURCES, Publication, bibtex
from tracker.measures.estimate import informative_items_of
from tracker.measures.intervals import Coefficient
from tracker.measures.numeric import IntraclassCorrelation
from tracker.measures.registry import MEASURES
from tracker.measures.sample import pattern_table_of
from tracker.measures.words import figure_reading_words, interval_undefined
from tracker.render.formats import Shown

if TYPE_CHECKING:
    import pandas as pd

    from tracker.agreement.changes import Changed
    from tracker.agreement.recent import Recent


# -- The sentences that a paper needs about a coefficient, with citation keys ---------------------


_DISTANCES: Final = {
    "nominal": "the nominal distance",
    "ordinal": "the ordinal distance",
    "interval": "the interval distance",
    "ratio": "the ratio distance",
    "exact": "answers equal only as whole sets",
    "jaccard": "the Jaccard distance between sets",
    "masi": "the MASI distance between sets [@passonneau2006]",
}
_INTERVALS: Final = {
    "t": "a standard error linearized over items and a t interval [@gwet2014]",
    "log": "a standard error linearized over items and a t interval on log(1 - coefficient) "
    "[@gwet2014]",
    "posterior": "a Bayesian bootstrap over item patterns with a prior weight of two items "
    "[@rubin1981]",
    "Wilson": "a standard error linearized over items and the effective number of items that it "
    "amounts to [@wilson1927]",
    "posterior and Wilson": "the wider of a Bayesian bootstrap over item patterns [@rubin1981] and "
    "the effective number of items that a standard error linearized over items amounts to "
    "[@wilson1927]",
    "one-sided exact": "the exact one-sided bound, there being no disagreement",
    "bootstrap": "percentiles of a bootstrap over items [@efron1979]",
    "jackknife over annotators": "a jackknife over annotators and Student's t [@gwet2014]",
}


def methods_paragraph(assessment: Assessment, figures: Sequence[Coefficient]) -> str:
    """Return how the project's agreement was measured, by each figure, in words for a paper."""
    parts = [_what(assessment)]
    for figure in figures:
        about = MEASURES[figure.measure]
        also = "also " if figure is not figures[0] else ""
        parts.append(
            f"Agreement was {also}measured by {about.title} [@{about.cite}]{_reading(figure)}: "
            f"{_value(figure)}."
        )
    left_out = [_left_out(assessment, figure) for figure in figures]
    if len(set(left_out)) > 1:
        # Figures differ in what a single answer counts for: each sentence names its own.
        named = zip(figures, left_out, strict=True)
        left_out = [f"{MEASURES[figure.measure].title}: {text}" for figure, text in named if text]
    parts += [*dict.fromkeys(left_out), f"Computed with tracker {VERSION}."]
    return " ".join(part for part in parts if part)


def _what(assessment: Assessment) -> str:
    counts = assessment.counts
    each = counts.answers / counts.items
    categories = len(assessment.rates)
    in_use = "1 category was" if categories == 1 else f"{categories:,} categories were"
    return (
        f"{counts.annotators} annotators gave {counts.answers:,} answers to {counts.items:,} "
        f"items ({each:.1f} per item on average), of which {counts.items_compared:,} were answered "
        f"by two or more; {in_use} in use or declared."
    )


def _reading(figure: Coefficient) -> str:
    word = figure.details.get("distance") or figure.details.get("scale")
    if word is not None:
        return f" with {_DISTANCES[str(word)]}"
    weights = figure.details.get("weights")
    if weights in {None, "identity"}:
        return ""
    return f" with {weights} weights [@{'gwet2014' if weights == 'ordinal' else 'cohen1968'}]"


def _value(figure: Coefficient) -> str:
    text = f"{figure.value:z.3f}"
    if figure.ci_low is None or figure.ci_high is None:
        return text
    method = figure.method or ""
    how = _INTERVALS.get(method, f"a standard error {method}")
    return (
        f"{text}, {100 * figure.confidence:.12g}% confidence interval [{figure.ci_low:z.3f}, "
        f"{figure.ci_high:z.3f}] from {how} (n = {figure.items:,} items)"
    )


def _left_out(assessment: Assessment, figure: Coefficient) -> str:
    alone = assessment.counts.items - assessment.counts.items_compared
    if not alone:
        return ""
    items = "One item" if alone == 1 else f"{alone:,} items"
    if figure.items == assessment.counts.items_compared:
        return f"{items} with a single answer did not enter."
    return f"{items} with a single answer entered the chance term only."


def methods_numbers_sentence(figure: Coefficient) -> str:
    """Return how the numbers give the value, or why there is none."""
    if figure.value is None:
        return f"undefined: {MEASURES[figure.measure].undefined.get(figure.undefined or '', '')}"
    value = f"{figure.value:.6g}"
    if "expected_disagreement" in figure.details:
        within, overall = (
            figure.details[f"{part}_disagreement"] for part in ("observed", "expected")
        )
        return f"1 - {within:.6g} / {overall:.6g} = {value}"
    mean_of = {"percent_agreement": f"{figure.items:,} items", "light_kappa": "the pairs' kappas"}
    if figure.measure in mean_of:
        return f"mean of {mean_of[figure.measure]} = {value}"
    if "precision" in figure.details:
        return _harmonic_mean(figure)
    if figure.expected is None:
        return value
    chance = f"{figure.expected:.6g}"
    return f"({figure.observed:.6g} - {chance}) / (1 - {chance}) = {value}"


def _harmonic_mean(figure: Coefficient) -> str:
    precision, recall = figure.details["precision"], figure.details["recall"]
    if not figure.value:
        return "no true positive: 0"
    return (
        f"precision {precision:.6g}, recall {recall:.6g}: 2 x {precision:.6g} x {recall:.6g} "
        f"/ ({precision:.6g} + {recall:.6g}) = {figure.value:.6g}"
    )


_FEW_TELLING: Final = 10


@dataclass(frozen=True)
class Counts(Record):
    """What an assessment rests on; items and answers of annotators whose answers count."""

    items: int
    items_compared: int
    annotators: int
    answers: int
    labels: int


class Measure(TypedDict):
    """A coefficient with its error and interval, or the reason why there is none."""

    measure: str
    value: float | None
    standard_error: float | None
    ci_low: float | None
    ci_high: float | None
    confidence: float
    items: int
    undefined: str | None
    observed: float | None
    expected: float | None
    method: str | None


class CategoryJson(TypedDict):
    """How far annotators agree on one category."""

    category: str
    labels: int
    agreements: int
    potential_agreements: int
    rate: float | None
    standard_error: float | None
    ci_low: float | None
    ci_high: float | None
    specific_agreement: float | None
    undefined: str | None
    measures: NotRequired[list[Measure]]


_OF_CATEGORY: Final = [
    name for name in CategoryJson.__annotations__ if name not in {"category", "measures"}
]


class FiguresJson(TypedDict):
    """Counts, measures, categories and a summary of their rates."""

    counts: Counts
    measures: list[Measure]
    categories: list[CategoryJson]
    summary: dict[str, Any]


class AssessmentJson(FiguresJson):
    """The figures of one question."""

    project: str
    as_of: str | None
    scale: str
    selection: dict[str, Any] | None
    recent: dict[str, Any] | None
    changes: list[dict[str, Any]]
    gold: dict[str, Any] | None
    warnings: list[str]
    readiness: ReadinessJson
    intraclass: NotRequired[list[dict[str, Any]]]
    manifest: NotRequired[str]


@dataclass(frozen=True, repr=False)
class Assessment(Shown):
    """The figures of a project at one moment, with the tallies they follow from.

    ``rates`` are in the declared or sorted order of the categories, whose names ``categories``
    holds by id. ``patterns`` is empty for a project of spans, which has no item patterns.
    ``binary`` holds the coefficients of each category against the rest, by id;
    ``selection`` says which answers the figures rest on, as JSON; None for all;
    ``intraclass`` holds the forms of the intraclass correlation on a numeric scale;
    ``answers_of_models`` are left out if no person has answered; ``errors`` is the method of the
    errors that were asked for, which not every figure can have; ``recent`` the last change of
    the level of agreement, if it was looked for and there is one; ``changes`` likewise those of
    categories, annotators and shares; ``thresholds`` are those of the project; ``manifest`` is the
    digest of the files that hold the labels, if they are not in the ledger.
    """

    project: str
    scale: str
    counts: Counts
    measures: tuple[Coefficient, ...]
    rates: tuple[CategoryRate, ...]
    categories: Mapping[int, str]
    gold: GoldAgreement | None
    patterns: ItemPatterns
    binary: Mapping[int, Sequence[Coefficient]] = field(default_factory=dict)
    selection: Mapping[str, Any] | None = None
    intraclass: tuple[IntraclassCorrelation, ...] = ()
    answers_of_models: int = 0
    errors: str | None = None
    recent: Recent | None = None
    changes: tuple[Changed, ...] = ()
    thresholds: tuple[float, float] = THRESHOLDS
    manifest: str | None = None

    @property
    def summary(self) -> Summary:
        return category_rate_summary(self.rates)

    @property
    def main(self) -> Coefficient:
        """The figure that stands for all: alpha or, if it is not there, the first."""
        known = (measure for measure in self.measures if measure.measure == "krippendorff_alpha")
        return next(known, self.measures[0])

    @property
    def readiness(self) -> Readiness:
        """Whether the labels can be trusted, by the main figure."""
        return readiness_of(_told(self.main), self.thresholds)

    def measure(self, name: str) -> Coefficient:
        """The coefficient of that name; raises KeyError where it was not asked for."""
        for coefficient in self.measures:
            if coefficient.measure == name:
                return coefficient
        raise KeyError(name)

    @property
    def left_out(self) -> list[str]:
        """The measures that were not computed because the answers are many; see `FEW_ANSWERS`."""
        given = {measure.measure for measure in self.measures}
        if are_few(self.counts.answers) or "krippendorff_alpha" not in given:
            return []
        costly = [name for name, measure in MEASURES.items() if measure.needs in COSTLY]
        return [name for name in costly if name not in given]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know before a figure is used, in sentences; mostly none."""
        if self.answers_of_models and not self.counts.answers:
            return (no_person(answers=self.answers_of_models),)
        messages = []
        items = informative_items_of(pattern_table_of(self.patterns))
        compared = self.counts.items_compared
        if 0 < items < _FEW_TELLING:
            messages.append(Message(few_telling, items=items, compared=compared))
        known = [
            measure for measure in self.measures if measure.ci_low is not None and measure.method
        ]
        own = [measure.measure for measure in known if measure.method != self.errors]
        if self.errors and own:
            others = "" if len(own) == len(known) else self.errors
            messages.append(Message(own_errors, measures=own, others=others))
        return tuple(map(str, messages))

    @property
    def recent_words(self) -> str:
        """The sentence on the last change of level; empty if there is none."""
        recent = self.recent
        if recent is None:
            return ""
        alpha = next(
            (measure for measure in self.measures if measure.measure == recent.now.measure), None
        )
        message = Message(
            recent_sentence,
            day=recent.day,
            slide=recent.slide_day,
            now=recent.now,
            before=recent.before,
            overall=None if alpha is None else alpha.value,
            changed=len(recent.annotators),
            of=self.counts.annotators,
        )
        return str(message)

    @property
    def recent_dict(self) -> dict[str, Any] | None:
        """The last change of level as JSON, with its sentence; None if there is none."""
        if self.recent is None:
            return None
        return self.recent.to_dict() | {"why": self.recent_words}

    def to_dict(self) -> Annotated[dict[str, Any], AssessmentJson]:
        """The contract's JSON of ``tracker agreement``."""
        payload = {
            "project": self.project,
            "as_of": None if self.selection is None else self.selection["as_of"],
            "scale": self.scale,
            "selection": None if self.selection is None else dict(self.selection),
            **self.figures(),
            "recent": self.recent_dict,
            "changes": [change.to_dict() for change in self.changes],
            "gold": None if self.gold is None else self.gold.to_dict(),
            "warnings": list(self.warnings),
            "readiness": self.readiness.to_dict(),
        }
        for rate, row in zip(self.rates, payload["categories"], strict=True):
            row["measures"] = [figure.to_dict() for figure in self.binary.get(rate.category, ())]
        if self.intraclass:
            payload["intraclass"] = [form.to_dict() for form in self.intraclass]
        if self.manifest is not None:
            payload["manifest"] = self.manifest
        return payload

    def figures(self) -> dict[str, Any]:
        """Counts, measures, categories and summary, as a history gives them too."""
        return {
            "counts": self.counts.to_dict(),
            "measures": [_told(coefficient) for coefficient in self.measures],
            "categories": [self._rate_dict(rate, _OF_CATEGORY) for rate in self.rates],
            "summary": self._summary_dict(),
        }

    def _rate_dict(self, rate: CategoryRate, names: Sequence[str]) -> dict[str, Any]:
        figures = {name: getattr(rate, name) for name in names}
        return {"category": self.categories[rate.category], **figures}

    def _summary_dict(self) -> dict[str, Any]:
        summary = self.summary
        lowest = None if summary.lowest is None else self._rate_dict(summary.lowest, ("rate",))
        passed_over = [
            self._rate_dict(rate, ("rate", "potential_agreements")) for rate in summary.passed_over
        ]
        return {
            "lowest": lowest,
            "mean": summary.mean,
            "median": summary.median,
            "passed_over": passed_over,
        }

    def to_frame(self) -> pd.DataFrame:
        """One row per measure, then one per category (its rate as the value)."""
        import pandas as pd

        figures = self.figures()
        rates = [
            {"measure": "category_rate", "value": row["rate"], "items": None} | row
            for row in figures["categories"]
        ]
        measures = [
            {name: value for name, value in row.items() if name != "readings"}
            for row in figures["measures"]
        ]
        return pd.DataFrame([*measures, *rates])


def _told(figure: Coefficient) -> dict[str, Any]:
    words = benchmark_readings(figure)
    payload: dict[str, Any] = figure.to_dict()
    known = {"interval_undefined": interval_undefined(figure), "readings": words}
    return payload | {name: value for name, value in known.items() if value is not None}


@dataclass(frozen=True)
class Methods(Record):
    """A paragraph with citation keys, such as ``[@cohen1960]``, and their entries."""

    project: str
    text: str
    citations: tuple[str, ...]

    @property
    def bibtex(self) -> Annotated[str, Json()]:
        known = _publications()
        return bibtex(known[key] for key in self.citations)

    @property
    def in_words(self) -> str:
        """The paragraph as people read it, such as "(Cohen 1960)"."""
        text, known = self.text, _publications()
        for key in self.citations:
            text = text.replace(f"[@{key}]", f"({known[key].in_words})")
        return text


def methods_of_assessment(assessment: Assessment, *measures: str) -> Methods:
    """How the project's agreement was measured, in words for a paper.

    Args:
        assessment: the assessment, with the measures among its figures.
        measures: which; by default alpha or, of spans, the exact F1.

    Raises:
        InvalidOption: a measure has no value, so that there is nothing to report.
    """
    figures = [assessment.measure(measure) for measure in measures] or [assessment.main]
    for figure in figures:
        if figure.value is None:
            raise InvalidOption(
                f"{MEASURES[figure.measure].title} is undefined here "
                f"({figure_reading_words(figure)}): there is nothing to report",
                "leave it out" if len(figures) > 1 else None,
            )
    text = methods_paragraph(assessment, figures)
    cited = (piece.split("]")[0] for piece in text.split("[@")[1:])
    known = _publications()
    keys = [key for key in cited if key in known]  # an attribute may be called anything
    return Methods(assessment.project, text, tuple(dict.fromkeys(keys)))


def _publications() -> dict[str, Publication]:
    return SOURCES | {measure.cite: measure.publication for measure in MEASURES.values()}
