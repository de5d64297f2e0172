"""Documents with the spans that annotators marked, counted into sums of a fixed size.

What is kept grows with pairs of annotators and with categories, never with documents.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from statistics import fmean

from tracker.measures.category_rates import CategoryRate, RateSums, rate_of_category
from tracker.measures.intervals import (
    NO_OVERLAP,
    TOO_FEW_ANNOTATORS,
    TOO_FEW_ITEMS,
    check_confidence,
)
from tracker.measures.spans.f1 import SPAN_MEASURES, SpanAgreement, SpanSums, span_f1
from tracker.measures.spans.overlap import Common, Marked, common_spans

Five = tuple[SpanSums, SpanSums, SpanSums, SpanSums, SpanSums]


def _five() -> Five:
    return SpanSums(), SpanSums(), SpanSums(), SpanSums(), SpanSums()


@dataclass
class OwnSpans:
    """One annotator's answers, and how they agree with those of all others pooled.

    Attributes:
        answers: documents answered, alone or with others.
        categories: how many spans the annotator marked, by category id.
        exact: sums of ``span_f1_exact``, the annotator the reference, the others the response.
    """

    answers: int = 0
    categories: Counter[int] = field(default_factory=Counter)
    exact: SpanSums = field(default_factory=SpanSums)


@dataclass
class SpanTally:
    """Sums over documents, from which every figure on spans follows.

    Attributes:
        documents: documents with an answer.
        compared: those of them with two answers or more.
        pairs: by the names of two annotators who share a document, the sums of each measure.
        pooled: the sums of each measure over all pairs.
        categories: by category id, the sums of the spans that agree exactly over all pairs.
        annotators: by name, what one annotator marked.
    """

    documents: int = 0
    compared: int = 0
    pairs: defaultdict[tuple[str, str], Five] = field(default_factory=lambda: defaultdict(_five))
    pooled: Five = field(default_factory=_five)
    categories: defaultdict[int, RateSums] = field(default_factory=lambda: defaultdict(RateSums))
    annotators: defaultdict[str, OwnSpans] = field(default_factory=lambda: defaultdict(OwnSpans))

    def add(self, answers: Mapping[str, Marked]) -> None:
        """Count one document, its answers in the order of `mark_span_sets`."""
        self.documents += 1
        for annotator, own in answers.items():
            counts = self.annotators[annotator]
            counts.answers += 1
            for category, places in own.by_category.items():
                counts.categories[category] += len(places)
        if len(answers) > 1:
            self.compared += 1
            common = {
                (first, second): common_spans(answers[first], answers[second])
                for first, second in combinations(answers, 2)
            }
            self._add_pairs(answers, common)
            self._add_to_annotators(answers, common)
            self._add_to_categories(answers, common.values())

    def _add_pairs(
        self, answers: Mapping[str, Marked], commons: Mapping[tuple[str, str], Common]
    ) -> None:
        """Add the pairs, apart and pooled: a document's contributions are added before squaring."""
        for pair, common in commons.items():
            first, second = answers[pair[0]].numbers, answers[pair[1]].numbers
            for sums, both, own, theirs in zip(
                self.pairs[pair], common.numbers, first, second, strict=True
            ):
                sums.add(both, own, theirs)
        firsts, seconds = _places(answers)
        together = zip(*(common.numbers for common in commons.values()), strict=True)
        for sums, both, own, theirs in zip(
            self.pooled, map(sum, together), firsts, seconds, strict=True
        ):
            sums.add(both, own, theirs)

    def _add_to_annotators(
        self, answers: Mapping[str, Marked], commons: Mapping[tuple[str, str], Common]
    ) -> None:
        agreeing = dict.fromkeys(answers, 0)
        for (first, second), common in commons.items():
            agreeing[first] += common.numbers[0]
            agreeing[second] += common.numbers[0]
        marked = sum(len(own.spans) for own in answers.values())
        for annotator, own in answers.items():
            number = len(own.spans)
            self.annotators[annotator].exact.add(
                agreeing[annotator], (len(answers) - 1) * number, marked - number
            )

    def _add_to_categories(self, answers: Mapping[str, Marked], commons: Iterable[Common]) -> None:
        """Add for each category the spans in the union of each two answers, and those in both."""
        agreeing: dict[int, int] = {}
        for common in commons:
            for category, *_ in common.exact:
                agreeing[category] = agreeing.get(category, 0) + 1
        marked: Counter[int] = Counter()
        for own in answers.values():
            for category, places in own.by_category.items():
                marked[category] += len(places)
        for category, number in marked.items():
            both = agreeing.get(category, 0)
            # Every span is in as many pairs of answers as there are other answers.
            self.categories[category].add(both, (len(answers) - 1) * number - both)

    @property
    def labels(self) -> int:
        """The spans of all answers."""
        return sum(own.categories.total() for own in self.annotators.values())

    @property
    def answers(self) -> int:
        return sum(own.answers for own in self.annotators.values())


def _places(answers: Mapping[str, Marked]) -> tuple[list[int], list[int]]:
    """Return what each measure counts over all pairs, on the first's and on the second's side.

    The n-th annotator, from 0, is the second of n pairs and the first of all that follow.
    """
    last = len(answers) - 1
    columns = list(zip(*(own.numbers for own in answers.values()), strict=True))
    firsts = [sum((last - n) * number for n, number in enumerate(column)) for column in columns]
    seconds = [sum(n * number for n, number in enumerate(column)) for column in columns]
    return firsts, seconds


def why_no_spans_compared(tally: SpanTally) -> str | None:
    """Return why no two answers can be compared; None if some can."""
    if not tally.documents:
        return TOO_FEW_ITEMS
    if len(tally.annotators) < 2:
        return TOO_FEW_ANNOTATORS
    return None if tally.compared else NO_OVERLAP


def pooled_span_agreement(tally: SpanTally, confidence: float = 0.95) -> tuple[SpanAgreement, ...]:
    """Return the five measures of a project: over all pairs pooled, and the mean over pairs.

    The reference of each pair is the annotator whose name comes first.

    Undefined: too_few_items (no answers), too_few_annotators (below two), no_overlap (no
    document of two answers), single_category (nothing is marked in those: all of them are
    answered "none applies").
    """
    reason = why_no_spans_compared(tally)
    figures = []
    for place, (measure, sums) in enumerate(zip(SPAN_MEASURES, tally.pooled, strict=True)):
        values = [
            value for pair in tally.pairs.values() if (value := pair[place].value) is not None
        ]
        macro, pairs = fmean(values) if values else None, len(tally.pairs)
        figures.append(
            span_f1(
                measure, sums, pairs=pairs, macro=macro, undefined=reason, confidence=confidence
            )
        )
    return tuple(figures)


def span_rates(
    tally: SpanTally, categories: Sequence[int], confidence: float = 0.95
) -> list[CategoryRate]:
    """Return the rate of each of ``categories``, in their order, used or not.

    An agreement is a span that both of a pair of annotators marked with the same start, end and
    category, a potential agreement one that at least one of them marked: the rate is Jaccard's
    over all pairs, and ``specific_agreement`` the pooled exact F1 of the category. Error and
    bounds are those of `category_rates`, over documents.
    """
    check_confidence(confidence)
    labels = sum((own.categories for own in tally.annotators.values()), Counter[int]())
    return [
        rate_of_category(
            category,
            replace(tally.categories.get(category, RateSums()), labels=labels[category]),
            tally.compared,
            confidence,
        )
        for category in categories
    ]
