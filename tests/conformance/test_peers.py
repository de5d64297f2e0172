"""Random answers, with the programs that others use, and figures that papers print.

1e-9 leaves room for rounding and for nothing else: both compute the same formula.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import krippendorff
import nervaluate
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from nltk.metrics.agreement import AnnotationTask
from nltk.metrics.distance import (
    binary_distance,
    jaccard_distance,
    masi_distance,
)
from seqeval.metrics import f1_score as seqeval_f1
from seqeval.scheme import IOB2
from sklearn.metrics import cohen_kappa_score, precision_recall_fscore_support
from sklearn.metrics import f1_score as sklearn_f1
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from tests.measures.answered import Answered, cross_table
from tests.measures.strategies import answered, complete, several_categories
from tests.profiles import examples
from tracker.core.tallies import Answer
from tracker.measures.accuracy import accuracy_from_confusion
from tracker.measures.cohen import cohen_kappa
from tracker.measures.spans.overlap import Span, mark_span_sets
from tracker.measures.spans.tallies import SpanTally, pooled_span_agreement
from tracker.measures.weights import Weighting, weights

CLOSE = 1e-9
VALUES = {0: 0.0, 1: 1.0, 2: 2.5, 3: 6.0}  # of the categories, where they are numbers
DECLARED: dict[str, Any] = {"categories": [0, 1, 2, 3], "values": VALUES}
FOUR: list[Answer] = [(0,), (1,), (2,), (3,)]

draws = examples(60)


def defined(value: float | None) -> float:
    """The value; where there is none, the peers raise errors or give another number each."""
    assume(value is not None)
    assert value is not None
    return value


@contextmanager
def quietly() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def two_columns(answers: Answered) -> tuple[list[int], list[int]]:
    """The categories of the first and the second annotator."""
    first, second = ([given[who][0] for given in answers.given] for who in (1, 2))
    return first, second


def full_table(answers: Answered) -> dict[tuple[Answer, Answer], int]:
    """Their cross-table, with the cells that are empty."""
    (table,) = answers.tables.values()
    return {(one, other): table.get((one, other), 0) for one in FOUR for other in FOUR}


def nltk_task(answers: Answered, distance: Any = binary_distance, *, sets: bool = False) -> Any:
    """An annotation task of nltk, whose labels are numbers, or sets of categories."""
    rows = [
        (f"c{who}", f"i{item}", frozenset(answer) if sets else VALUES[answer[0]])
        for item, given in enumerate(answers.given)
        for who, answer in given.items()
    ]
    return AnnotationTask(data=rows, distance=distance)


@pytest.mark.parametrize("scale", ["nominal", "ordinal", "interval", "ratio"])
@draws
@given(answered(annotators=4))
def test_alpha_with_krippendorff(scale: str, answers: Answered) -> None:
    ours = answers.estimate("krippendorff_alpha", scale=scale, **DECLARED)
    rows = np.full((4, len(answers.given)), np.nan)  # of annotators
    for item, given_ in enumerate(answers.given):
        for who, (category,) in given_.items():
            rows[who - 1, item] = VALUES[category]
    domain = list(VALUES.values())
    value = defined(ours.value)
    theirs = krippendorff.alpha(rows, level_of_measurement=scale, value_domain=domain)
    assert value == pytest.approx(theirs, abs=CLOSE)


@pytest.mark.parametrize(
    ("measure", "method"), [("fleiss_kappa", "fleiss"), ("brennan_prediger", "randolph")]
)
@draws
@given(complete(annotators=4))
def test_kappas_of_many_with_statsmodels(measure: str, method: str, answers: Answered) -> None:
    value = defined(answers.estimate(measure, **DECLARED).value)
    counts = np.zeros((len(answers.given), 4), dtype=int)  # of items in categories
    for item, given_ in enumerate(answers.given):
        for (category,) in given_.values():
            counts[item, category] += 1
    assert value == pytest.approx(statsmodels_fleiss(counts, method=method), abs=CLOSE)


@pytest.mark.parametrize("weighting", ["identity", "linear", "quadratic"])
@draws
@given(complete())
def test_cohens_kappa_and_its_error_with_two_programs(weighting: str, answers: Answered) -> None:
    table = full_table(answers)
    ours = cohen_kappa(table, weighting=weights(weighting, FOUR, ordered=True))
    value, weight = defined(ours.value), None if weighting == "identity" else weighting
    square = np.array([*table.values()]).reshape(4, 4)
    columns = two_columns(answers)
    with quietly():  # where one never varies z is divided by 0
        theirs = cohens_kappa(square, wt=weight)
        sklearn = cohen_kappa_score(*columns, labels=[0, 1, 2, 3], weights=weight)
    assert value == pytest.approx(theirs.kappa, abs=CLOSE)
    assert value == pytest.approx(sklearn, abs=CLOSE)
    # The root of a rounding near a variance of 0, which may come out below 0 there.
    assert ours.standard_error == pytest.approx(max(0, theirs.var_kappa) ** 0.5, abs=1e-6)


@draws
@given(complete())
def test_precision_and_recall_with_scikit_learn(answers: Answered) -> None:
    (table,) = answers.tables.values()
    ours = accuracy_from_confusion(table, len(answers.given), categories=[0, 1, 2, 3])
    with quietly():
        precision, recall, f1, support = precision_recall_fscore_support(
            *two_columns(answers), labels=[0, 1, 2, 3], zero_division=np.nan
        )
    for place, category in enumerate(ours.categories):
        assert category.true == support[place]
        for got, want in (
            (category.precision, precision[place]),
            (category.recall, recall[place]),
            (category.f1, f1[place]),
        ):
            assert got == (None if np.isnan(want) else pytest.approx(want, abs=CLOSE))


@pytest.mark.parametrize(
    ("measure", "method"), [("light_kappa", "kappa"), ("conger_kappa", "multi_kappa")]
)
@draws
@given(complete(annotators=3))
def test_kappas_with_nltk(measure: str, method: str, answers: Answered) -> None:
    value = defined(answers.estimate(measure, **DECLARED).value)
    assert value == pytest.approx(getattr(nltk_task(answers), method)(), abs=CLOSE)


@pytest.mark.parametrize(
    ("scale", "distance"), [("jaccard", jaccard_distance), ("masi", masi_distance)]
)
@draws
@given(answered(several_categories.filter(bool)))
def test_alpha_of_sets_with_nltk(scale: str, distance: Any, answers: Answered) -> None:
    ours = answers.estimate("krippendorff_alpha", scale=scale, several=True)
    theirs = nltk_task(answers, distance, sets=True)
    assert defined(ours.value) == pytest.approx(theirs.alpha(), abs=CLOSE)


LENGTH = 12


@st.composite
def spans_apart(draw: st.DrawFn) -> list[Span]:
    cuts = sorted(draw(st.sets(st.integers(0, LENGTH), max_size=8)))
    spans = [(draw(st.integers(1, 2)), a, b) for a, b in pairwise(cuts)]
    return [span for span in spans if draw(st.booleans())]


def tags(spans: list[Span]) -> list[str]:
    """Spans that do not overlap as a tag per token, IOB2."""
    tokens = ["O"] * LENGTH
    for label, start, end in spans:
        tokens[start:end] = [f"B-L{label}", *[f"I-L{label}"] * (end - start - 1)]
    return tokens


def entities(spans: list[Span]) -> list[dict[str, Any]]:
    """Spans as nervaluate takes them: their end is inclusive."""
    return [{"label": f"L{label}", "start": a, "end": b - 1} for label, a, b in spans]


@draws
@given(st.lists(st.tuples(spans_apart(), spans_apart()), min_size=1, max_size=3))
def test_f1_of_spans_with_nervaluate_seqeval_and_scikit_learn(
    pairs: list[tuple[list[Span], list[Span]]],
) -> None:
    tally = SpanTally()
    for one, other in pairs:
        tally.add(mark_span_sets({"a": one, "b": other}))
    ours = {result.measure: result for result in pooled_span_agreement(tally)}
    strict = ours["span_f1_exact"]
    tagged = [[tags(document) for document in side] for side in zip(*pairs, strict=True)]
    tokens = [[tag[-2:] for document in side for tag in document] for side in tagged]
    with quietly():  # it warns where one of the two marks nothing
        seqeval = seqeval_f1(*tagged, mode="strict", scheme=IOB2)
    sklearn = sklearn_f1(*tokens, labels=["L1", "L2"], average="micro", zero_division=np.nan)
    by_token = ours["token_f1"].value
    assert by_token == (None if np.isnan(sklearn) else pytest.approx(sklearn, abs=CLOSE))
    assert defined(strict.value) == pytest.approx(seqeval, abs=CLOSE)
    first, second = ([entities(spans) for spans in side] for side in zip(*pairs, strict=True))
    assume(first[0])  # nervaluate reads the type from the first document
    theirs = nervaluate.Evaluator(first, second, ["L1", "L2"]).evaluate()["overall"]
    exact = theirs["strict"]
    assert strict.true_positives == exact.correct
    assert strict.value == pytest.approx(exact.f1, abs=CLOSE)
    assert ours["span_f1_unlabelled"].true_positives == theirs["exact"].correct
    for got, want in ((strict.precision, exact.precision), (strict.recall, exact.recall)):
        assert (got or 0) == pytest.approx(want, abs=CLOSE)  # theirs is 0 without a span


EXACT = 1e-12
# Shares of 200 patients of Cohen (1968): personality disorder, neurosis, psychosis.
SHARES = [[0.44, 0.07, 0.09], [0.05, 0.20, 0.05], [0.01, 0.03, 0.06]]
PATIENTS = cross_table([[round(200 * share) for share in row] for row in SHARES])


class ByGravity(Weighting):
    """Agreement weights from the paper's disagreement weights, the gravest being 0."""

    name = "gravity"
    size = 3
    # How grave a disagreement is; no three points on a line are so far apart.
    apart = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 6.0], [3.0, 6.0, 0.0]])

    def between(self, first: Any, second: Any) -> Any:
        return 1 - self.apart[first, second] / self.apart.max()


def test_kappa_and_weighted_kappa_of_cohen_1968() -> None:
    """Mean agreement weights, observed and by chance, are sums of printed shares, exact."""
    for kappa, observed, expected, value in (
        (cohen_kappa(PATIENTS), 0.70, 0.41, 0.492),
        (cohen_kappa(PATIENTS, weighting=ByGravity()), 1 - 0.90 / 6, 1 - 1.38 / 6, 0.348),
    ):
        assert kappa.observed == pytest.approx(observed, abs=EXACT)
        assert kappa.expected == pytest.approx(expected, abs=EXACT)
        assert kappa.value == pytest.approx(value, abs=5e-4)
