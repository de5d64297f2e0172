"""Random answers, with the programs that others use, where these do not fail.

1e-9 leaves room for rounding and for nothing else: both compute the same formula.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import krippendorff
import nervaluate
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from nltk.metrics.distance import interval_distance, jaccard_distance, masi_distance
from seqeval.metrics import f1_score as seqeval_f1
from seqeval.scheme import IOB2
from sklearn.metrics import cohen_kappa_score, jaccard_score, precision_recall_fscore_support
from sklearn.metrics import f1_score as sklearn_f1
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from tests.conformance.peers import (
    VALUES,
    alpha_rows,
    entities,
    fleiss_counts,
    nltk_task,
    quietly,
    square,
    tags,
    two_columns,
)
from tests.measures.answered import Answered
from tests.measures.strategies import answered, complete, several_categories
from tests.profiles import examples
from tracker.core.tallies import Answer
from tracker.measures.accuracy import accuracy_from_confusion
from tracker.measures.category_rates import category_rates
from tracker.measures.cohen import cohen_kappa
from tracker.measures.spans.f1 import SpanAgreement
from tracker.measures.spans.overlap import Span, mark_span_sets
from tracker.measures.spans.tallies import SpanTally, pooled_span_agreement
from tracker.measures.weights import weights

CLOSE = 1e-9
DECLARED: dict[str, Any] = {"categories": [0, 1, 2, 3], "values": VALUES}
FOUR: list[Answer] = [(0,), (1,), (2,), (3,)]

some = examples(60)


def defined(value: float | None) -> float:
    """The value; where there is none, the peers raise errors or give another number each."""
    assume(value is not None)
    assert value is not None
    return value


# -- krippendorff --------------------------------------------------------------------------


@pytest.mark.parametrize("scale", ["nominal", "ordinal", "interval", "ratio"])
@some
@given(answered(annotators=4))
def test_alpha_with_krippendorff(scale: str, answers: Answered) -> None:
    ours = answers.estimate("krippendorff_alpha", scale=scale, **DECLARED)
    value = defined(ours.value)
    theirs = krippendorff.alpha(
        reliability_data=alpha_rows(answers, 4),
        level_of_measurement=scale,
        value_domain=list(VALUES.values()),
    )
    assert value == pytest.approx(theirs, abs=CLOSE)


# -- statsmodels ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("measure", "method"), [("fleiss_kappa", "fleiss"), ("brennan_prediger", "randolph")]
)
@some
@given(complete(annotators=4))
def test_kappas_of_many_with_statsmodels(measure: str, method: str, answers: Answered) -> None:
    value = defined(answers.estimate(measure, **DECLARED).value)
    theirs = statsmodels_fleiss(fleiss_counts(answers), method=method)
    assert value == pytest.approx(theirs, abs=CLOSE)


@pytest.mark.parametrize("weighting", ["identity", "linear", "quadratic"])
@some
@given(complete())
def test_cohens_kappa_and_its_error_with_statsmodels(weighting: str, answers: Answered) -> None:
    (table,) = answers.tables.values()
    full = {(one, other): table.get((one, other), 0) for one in FOUR for other in FOUR}
    ours = cohen_kappa(full, weighting=weights(weighting, FOUR, ordered=True))
    value = defined(ours.value)
    with quietly():  # where one never varies z is divided by 0
        theirs = cohens_kappa(square(answers), wt=None if weighting == "identity" else weighting)
    assert value == pytest.approx(theirs.kappa, abs=CLOSE)
    # The root of a rounding near a variance of 0, which may come out below 0 there.
    assert ours.standard_error == pytest.approx(max(0, theirs.var_kappa) ** 0.5, abs=1e-6)


# -- scikit-learn --------------------------------------------------------------------------


@pytest.mark.parametrize("weighting", ["identity", "linear", "quadratic"])
@some
@given(complete())
def test_cohens_kappa_with_scikit_learn(weighting: str, answers: Answered) -> None:
    (table,) = answers.tables.values()
    full = {(one, other): table.get((one, other), 0) for one in FOUR for other in FOUR}
    value = defined(cohen_kappa(full, weighting=weights(weighting, FOUR, ordered=True)).value)
    with quietly():
        theirs = cohen_kappa_score(
            *two_columns(answers),
            labels=[0, 1, 2, 3],
            weights=None if weighting == "identity" else weighting,
        )
    assert value == pytest.approx(theirs, abs=CLOSE)


@some
@given(complete())
def test_agreement_on_a_category_with_scikit_learn(answers: Answered) -> None:
    first, second = two_columns(answers)
    for rate in category_rates(answers.patterns, [0, 1, 2, 3]):
        one, other = ([held == rate.category for held in column] for column in (first, second))
        if rate.rate is None:
            assert not any(one + other)
            continue
        assert rate.rate == pytest.approx(jaccard_score(one, other), abs=CLOSE)
        assert rate.specific_agreement == pytest.approx(sklearn_f1(one, other), abs=CLOSE)


@some
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


# -- nltk ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("measure", "method"),
    [
        ("percent_agreement", "avg_Ao"),
        ("fleiss_kappa", "pi"),
        ("light_kappa", "kappa"),
        ("conger_kappa", "multi_kappa"),
    ],
)
@some
@given(complete(annotators=3))
def test_kappas_with_nltk(measure: str, method: str, answers: Answered) -> None:
    value = defined(answers.estimate(measure, **DECLARED).value)
    assert value == pytest.approx(getattr(nltk_task(answers), method)(), abs=CLOSE)


@some
@given(complete(annotators=3))
def test_s_with_nltk(answers: Answered) -> None:
    used = sorted({answer for given_ in answers.given for (answer,) in given_.values()})
    value = defined(answers.estimate("brennan_prediger", categories=used).value)
    assert value == pytest.approx(nltk_task(answers).S(), abs=CLOSE)  # of the categories used


@some
@given(answered())
def test_alpha_of_numbers_with_nltk(answers: Answered) -> None:
    value = defined(answers.estimate("krippendorff_alpha", scale="interval", **DECLARED).value)
    assert value == pytest.approx(nltk_task(answers, interval_distance).alpha(), abs=CLOSE)


@pytest.mark.parametrize(
    ("scale", "distance"), [("jaccard", jaccard_distance), ("masi", masi_distance)]
)
@some
@given(answered(several_categories.filter(bool)))
def test_alpha_of_sets_with_nltk(scale: str, distance: Any, answers: Answered) -> None:
    ours = answers.estimate("krippendorff_alpha", scale=scale, several=True)
    theirs = nltk_task(answers, distance, sets=True)
    assert defined(ours.value) == pytest.approx(theirs.alpha(), abs=CLOSE)


# -- spans ---------------------------------------------------------------------------------

LENGTH = 12


@st.composite
def apart(draw: st.DrawFn) -> list[Span]:
    """Spans of two categories that do not overlap."""
    cuts = sorted(draw(st.sets(st.integers(0, LENGTH), max_size=8)))
    spans = [(draw(st.integers(1, 2)), a, b) for a, b in pairwise(cuts)]
    return [span for span in spans if draw(st.booleans())]


def f1_of(first: list[list[Span]], second: list[list[Span]]) -> dict[str, SpanAgreement]:
    """Every measure of two annotators' documents."""
    tally = SpanTally()
    for one, other in zip(first, second, strict=True):
        tally.add(mark_span_sets({"a": one, "b": other}))
    return {found.measure: found for found in pooled_span_agreement(tally)}


documents = st.lists(st.tuples(apart(), apart()), min_size=1, max_size=3)


@some
@given(documents)
def test_exact_f1_of_spans_with_nervaluate(pairs: list[tuple[list[Span], list[Span]]]) -> None:
    first, second = [one for one, _ in pairs], [other for _, other in pairs]
    assume(first[0])  # it reads the type from the first document
    theirs = nervaluate.Evaluator(
        [entities(one) for one in first], [entities(other) for other in second], ["L1", "L2"]
    ).evaluate()["overall"]
    ours = f1_of(first, second)
    strict, exact = ours["span_f1_exact"], theirs["strict"]
    assert strict.true_positives == exact.correct
    assert defined(strict.value) == pytest.approx(exact.f1, abs=CLOSE)
    assert ours["span_f1_unlabelled"].true_positives == theirs["exact"].correct
    for got, want in ((strict.precision, exact.precision), (strict.recall, exact.recall)):
        assert (got or 0) == pytest.approx(want, abs=CLOSE)  # theirs is 0 without a span


@some
@given(documents)
def test_exact_f1_of_spans_with_seqeval(pairs: list[tuple[list[Span], list[Span]]]) -> None:
    first, second = [one for one, _ in pairs], [other for _, other in pairs]
    value = defined(f1_of(first, second)["span_f1_exact"].value)
    with quietly():  # it warns where one of the two marks nothing
        theirs = seqeval_f1(
            [tags(one, LENGTH) for one in first],
            [tags(other, LENGTH) for other in second],
            mode="strict",
            scheme=IOB2,
        )
    assert value == pytest.approx(theirs, abs=CLOSE)


@some
@given(documents)
def test_f1_of_tokens_with_scikit_learn(pairs: list[tuple[list[Span], list[Span]]]) -> None:
    columns = [
        [tag[-2:] for document in side for tag in tags(document, LENGTH)]
        for side in zip(*pairs, strict=True)
    ]
    value = f1_of(*([*side] for side in zip(*pairs, strict=True)))["token_f1"].value
    theirs = sklearn_f1(*columns, labels=["L1", "L2"], average="micro", zero_division=np.nan)
    assert value == (None if np.isnan(theirs) else pytest.approx(theirs, abs=CLOSE))
