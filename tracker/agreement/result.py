"""The figures of a project at one moment, and their JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from tracker.agreement.coefficients import COSTLY, are_few
from tracker.core.errors import InvalidOption
from tracker.core.results import Message, Shown
from tracker.core.tallies import ItemPatterns
from tracker.measures.accuracy import GoldAgreement
from tracker.measures.benchmarks import benchmark_readings
from tracker.measures.category_rates import CategoryRate, Summary, category_rate_summary
from tracker.measures.citations import SOURCES, Publication, bibtex
from tracker.measures.estimate import posterior_informative_items
from tracker.measures.intervals import Coefficient
from tracker.measures.numeric import IntraclassCorrelation
from tracker.measures.registry import MEASURES
from tracker.render.messages.agreement import few_telling, no_person, own_errors, recent_sentence
from tracker.render.messages.methods import methods_paragraph

if TYPE_CHECKING:
    import pandas as pd

    from tracker.agreement.changes import Changed
    from tracker.agreement.recent import Recent


_FEW_TELLING: Final = 10


@dataclass(frozen=True)
class Counts:
    """What an assessment rests on; items and answers of annotators whose answers count."""

    items: int
    items_compared: int
    annotators: int
    answers: int
    labels: int

    def to_dict(self) -> dict[str, int]:
        """The counts as JSON."""
        return dict(vars(self))


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
    categories, annotators and shares.
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

    @property
    def summary(self) -> Summary:
        """The lowest, mean and median category rate."""
        return category_rate_summary(self.rates)

    @property
    def main(self) -> Coefficient:
        """The figure that stands for all: alpha or, if it is not there, the first."""
        known = (one for one in self.measures if one.measure == "krippendorff_alpha")
        return next(known, self.measures[0])

    def measure(self, name: str) -> Coefficient:
        """The coefficient of that name; raises KeyError where it was not asked for."""
        for coefficient in self.measures:
            if coefficient.measure == name:
                return coefficient
        raise KeyError(name)

    @property
    def left_out(self) -> list[str]:
        """The measures that were not computed because the answers are many; see `FEW_ANSWERS`."""
        given = {one.measure for one in self.measures}
        if are_few(self.counts.answers) or "krippendorff_alpha" not in given:
            return []
        costly = [name for name, measure in MEASURES.items() if measure.needs in COSTLY]
        return [name for name in costly if name not in given]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know before a figure is used, in sentences; mostly none."""
        if self.answers_of_models and not self.counts.answers:
            return (no_person(answers=self.answers_of_models),)
        told = []
        items, compared = posterior_informative_items(self.patterns), self.counts.items_compared
        if 0 < items < _FEW_TELLING:
            told.append(Message(few_telling, items=items, compared=compared))
        known = [one for one in self.measures if one.ci_low is not None and one.method]
        own = [one.measure for one in known if one.method != self.errors]
        if self.errors and own:
            others = "" if len(own) == len(known) else self.errors
            told.append(Message(own_errors, measures=own, others=others))
        return tuple(map(str, told))

    @property
    def recent_words(self) -> str:
        """The sentence on the last change of level; empty if there is none."""
        recent = self.recent
        if recent is None:
            return ""
        alpha = next((one for one in self.measures if one.measure == recent.now.measure), None)
        message = Message(
            recent_sentence,
            day=recent.day,
            now=recent.now,
            before=recent.before,
            whole=None if alpha is None else alpha.value,
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

    def to_dict(self) -> dict[str, Any]:
        """The contract's JSON of ``tracker agreement``."""
        told = {
            "project": self.project,
            "as_of": None if self.selection is None else self.selection["as_of"],
            "scale": self.scale,
            "selection": None if self.selection is None else dict(self.selection),
            **self.figures(),
            "recent": self.recent_dict,
            "changes": [one.to_dict() for one in self.changes],
            "gold": None if self.gold is None else self.gold.to_dict(),
            "warnings": list(self.warnings),
        }
        for rate, row in zip(self.rates, told["categories"], strict=True):
            row["measures"] = [one.to_dict() for one in self.binary.get(rate.category, ())]
        if self.intraclass:
            told["intraclass"] = [form.to_dict() for form in self.intraclass]
        return told

    def figures(self) -> dict[str, Any]:
        """Counts, measures, categories and summary, as a history gives them too."""
        return {
            "counts": self.counts.to_dict(),
            "measures": [_told(coefficient) for coefficient in self.measures],
            "categories": [self._rate_dict(rate) for rate in self.rates],
            "summary": self._summary_dict(),
        }

    def _rate_dict(self, rate: CategoryRate) -> dict[str, Any]:
        return {
            "category": self.categories[rate.category],
            "labels": rate.labels,
            "agreements": rate.agreements,
            "potential_agreements": rate.potential_agreements,
            "rate": rate.rate,
            "standard_error": rate.standard_error,
            "ci_low": rate.ci_low,
            "ci_high": rate.ci_high,
            "specific_agreement": rate.specific_agreement,
            "undefined": rate.undefined,
        }

    def _summary_dict(self) -> dict[str, Any]:
        summed = self.summary
        lowest = summed.lowest
        return {
            "lowest": None
            if lowest is None
            else {"category": self.categories[lowest.category], "rate": lowest.rate},
            "mean": summed.mean,
            "median": summed.median,
            "passed_over": [
                {
                    "category": self.categories[rate.category],
                    "rate": rate.rate,
                    "potential_agreements": rate.potential_agreements,
                }
                for rate in summed.passed_over
            ],
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
    """A figure as JSON, with its customary words where it has them."""
    words = benchmark_readings(figure)
    told: dict[str, Any] = figure.to_dict()
    if figure.value is not None and MEASURES[figure.measure].no_interval:
        told["interval_undefined"] = "not_applicable"
    return told | ({} if words is None else {"readings": words})


@dataclass(frozen=True)
class Methods:
    """A paragraph with citation keys, such as ``[@cohen1960]``, and their entries."""

    project: str
    text: str
    citations: tuple[str, ...]

    @property
    def bibtex(self) -> str:
        """The entries of what is cited."""
        known = _publications()
        return bibtex(known[key] for key in self.citations)

    @property
    def in_words(self) -> str:
        """The paragraph as people read it, such as "(Cohen 1960)"."""
        text, known = self.text, _publications()
        for key in self.citations:
            text = text.replace(f"[@{key}]", f"({known[key].in_words})")
        return text

    def to_dict(self) -> dict[str, Any]:
        """The paragraph as JSON."""
        return {
            "project": self.project,
            "text": self.text,
            "citations": list(self.citations),
            "bibtex": self.bibtex,
        }


def methods_of_assessment(found: Assessment, *measures: str) -> Methods:
    """How the project's agreement was measured, in words for a paper.

    Args:
        found: the assessment, with the measures among its figures.
        measures: which; by default alpha or, of spans, the exact F1.

    Raises:
        InvalidOption: a measure has no value, so that there is nothing to report.
    """
    figures = [found.measure(one) for one in measures] or [found.main]
    for figure in figures:
        if figure.value is None:
            raise InvalidOption(
                f"{figure.measure} is undefined here ({figure.undefined}): there is nothing to "
                "report",
                "leave it out" if len(figures) > 1 else None,
            )
    text = methods_paragraph(found=found, figures=figures)
    cited = (piece.split("]")[0] for piece in text.split("[@")[1:])
    known = _publications()
    keys = [key for key in cited if key in known]  # an attribute may be called anything
    return Methods(found.project, text, tuple(dict.fromkeys(keys)))


def _publications() -> dict[str, Publication]:
    """Return what can be cited: the methods' and the measures' publications."""
    return SOURCES | {measure.cite: measure.publication for measure in MEASURES.values()}
