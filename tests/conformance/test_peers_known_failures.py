"""Where the programs that others use fail or go another way, and what we do there.

Each test asserts both. Once a newer version of a peer has mended its failure the test says so,
as an expected failure with that reason, and breaks nothing.
"""

from __future__ import annotations

import math

import krippendorff
import nervaluate
import numpy as np
import pytest
from nltk.metrics.distance import jaccard_distance, masi_distance
from seqeval.metrics import f1_score as seqeval_f1
from seqeval.scheme import IOB2
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from tests.conformance import peers
from tests.conformance.peers import (
    alpha_rows,
    entities,
    fleiss_counts,
    heard,
    nltk_task,
    square,
    still,
    tags,
)
from tests.conformance.test_peers import f1_of
from tests.measures.answered import Answered
from tests.measures.oracles import load
from tracker.core.errors import InvalidOption
from tracker.measures.cohen import cohen_kappa
from tracker.measures.spans.overlap import Span

# Everything is category 0; the same with an answer by one alone that differs.
SAME = Answered([{1: (0,), 2: (0,)}] * 3)
SAME_BUT_FOR_ONE_ALONE = Answered([*SAME.given, {1: (1,)}])
NO_OVERLAP = Answered([{1: (0,)}, {2: (1,)}])
# One annotator leaves out an item.
MISSING = Answered([{1: (0,), 2: (0,), 3: (0,)}, {1: (1,), 2: (0,), 3: (1,)}, {1: (1,), 2: (1,)}])


def is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


def test_a_peer_that_has_mended_its_failure_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "version", lambda _: "0.16.1")
    with pytest.raises(pytest.xfail.Exception, match=r"statsmodels 0\.16\.1 has mended this"):
        still("statsmodels", "0.15.0", fails=False)
    still("statsmodels", "0.15.0", fails=True)
    with pytest.raises(AssertionError, match=r"no newer than 0\.16\.1"):
        still("statsmodels", "0.16.1", fails=False)


# -- krippendorff --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answers", "does", "reason"),
    [
        (SAME, "ValueError", "single_category"),
        (SAME_BUT_FOR_ONE_ALONE, math.nan, "single_category"),
        (NO_OVERLAP, "ValueError", "no_overlap"),
    ],
)
def test_krippendorff_raises_or_gives_nan_without_variation(
    answers: Answered, does: str | float, reason: str
) -> None:
    ours = answers.estimate("krippendorff_alpha")
    assert (ours.value, ours.undefined) == (None, reason)
    theirs = heard(lambda: krippendorff.alpha(alpha_rows(answers, 2)))
    still("krippendorff", "0.9.0", theirs == does or (is_nan(does) and is_nan(theirs)))


def test_krippendorff_takes_a_number_and_its_negative_for_the_same_ratio() -> None:
    # Its distance of -1 and 1, (1 - -1) / (1 + -1), divides by 0, and counts as none.
    theirs = heard(
        lambda: krippendorff.alpha([[-1, 2, 3], [1, 2, 3]], level_of_measurement="ratio")
    )
    answers = Answered([{1: (0,), 2: (1,)}, {1: (2,), 2: (2,)}, {1: (3,), 2: (3,)}])
    values = {0: -1.0, 1: 1.0, 2: 2.0, 3: 3.0}
    with pytest.raises(InvalidOption, match="no negative values"):
        answers.estimate(
            "krippendorff_alpha", scale="ratio", values=values, categories=[0, 1, 2, 3]
        )
    still("krippendorff", "0.9.0", theirs == 1)


# -- statsmodels ---------------------------------------------------------------------------


def test_statsmodels_asserts_that_all_items_have_as_many_answers() -> None:
    ours = MISSING.estimate("fleiss_kappa")
    assert ours.parts.observed == pytest.approx((1 + 1 / 3 + 1) / 3)
    assert ours.parts.expected == pytest.approx((4 / 9) ** 2 + (5 / 9) ** 2)
    assert ours.value == pytest.approx((7 / 9 - 41 / 81) / (1 - 41 / 81))
    theirs = heard(lambda: statsmodels_fleiss(fleiss_counts(MISSING)))
    still("statsmodels", "0.15.0", theirs == "AssertionError")


def test_statsmodels_gives_nan_where_all_answers_are_the_same() -> None:
    ours = SAME.estimate("fleiss_kappa")
    assert (ours.value, ours.undefined) == (None, "single_category")
    (table,) = SAME.tables.values()
    assert cohen_kappa(table).undefined == "single_category"
    many = heard(lambda: float(statsmodels_fleiss(fleiss_counts(SAME))))
    two = heard(lambda: float(cohens_kappa(square(SAME)).kappa))
    still("statsmodels", "0.15.0", is_nan(many) and is_nan(two))


def test_statsmodels_takes_perfect_agreement_for_certain() -> None:
    answers = Answered([{1: (0,), 2: (0,)}] * 3 + [{1: (1,), 2: (1,)}] * 2)
    (table,) = answers.tables.values()
    ours = cohen_kappa(table, interval="t")
    assert (ours.value, ours.standard_error, ours.method) == (1, 0, "one-sided exact")
    # Five items that agree: with 5% of doubt no more than 55% of all do.
    lowest = 0.05 ** (1 / 5)
    assert ours.ci_low == pytest.approx((lowest - 13 / 25) / (1 - 13 / 25))
    theirs = cohens_kappa(square(answers))
    still("statsmodels", "0.15.0", (theirs.kappa_low, theirs.kappa_upp) == (1, 1))


# -- scikit-learn --------------------------------------------------------------------------


def test_scikit_learn_weighs_numbers_by_their_rank() -> None:
    # A choice, not an error: 1, 2 and 10 are the first, the second and the third of its labels.
    first, second = [1, 2, 10, 1, 2], [1, 10, 10, 2, 1]
    answers = Answered([{1: (one,), 2: (other,)} for one, other in zip(first, second, strict=True)])
    reading = {
        "categories": [1, 2, 10],
        "values": {1: 1.0, 2: 2.0, 10: 10.0},
        "weighting": "linear",
    }
    theirs = cohen_kappa_score(first, second, weights="linear")
    by_rank = answers.estimate("conger_kappa", by_rank=True, **reading)
    by_number = answers.estimate("conger_kappa", **reading)
    assert by_number.value == pytest.approx(1 - 2 / 4)  # mean distances, and by chance
    assert by_rank.value == pytest.approx(1 - 0.6 / 0.92)
    still("scikit-learn", "1.9.1", theirs == pytest.approx(by_rank.value))


def test_scikit_learn_gives_nan_where_all_answers_are_the_same() -> None:
    (table,) = SAME.tables.values()
    assert cohen_kappa(table).undefined == "single_category"
    theirs = heard(lambda: float(cohen_kappa_score([0, 0, 0], [0, 0, 0])))
    still("scikit-learn", "1.9.1", is_nan(theirs))


# -- nltk ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("measure", "method"),
    [
        ("fleiss_kappa", "pi"),
        ("conger_kappa", "multi_kappa"),
        ("light_kappa", "kappa"),
        ("brennan_prediger", "S"),
        ("percent_agreement", "avg_Ao"),
    ],
)
def test_nltk_stops_at_a_missing_answer(measure: str, method: str) -> None:
    ours = MISSING.estimate(measure, categories=[0, 1])
    assert ours.value is not None
    assert ours.parts.observed == pytest.approx(
        7 / 9 if measure != "light_kappa" else (2 / 3 + 1 + 1 / 2) / 3
    )
    theirs = heard(getattr(nltk_task(MISSING), method))
    still("nltk", "3.10.4", theirs == "RuntimeError")


@pytest.mark.parametrize(
    ("measure", "method"),
    [
        ("krippendorff_alpha", "alpha"),
        ("fleiss_kappa", "pi"),
        ("conger_kappa", "multi_kappa"),
        ("light_kappa", "kappa"),
    ],
)
def test_nltk_calls_it_perfect_where_all_answers_are_the_same(measure: str, method: str) -> None:
    ours = SAME.estimate(measure)
    assert (ours.value, ours.undefined) == (None, "single_category")
    theirs = heard(getattr(nltk_task(SAME), method))
    still("nltk", "3.10.4", theirs == 1)


@pytest.mark.parametrize(
    ("scale", "distance"), [("jaccard", jaccard_distance), ("masi", masi_distance)]
)
def test_nltk_divides_by_zero_on_two_empty_sets(scale: str, distance: object) -> None:
    # Two who say that none applies agree; ours is checked by krippendorff in the oracles.
    case = load("m01_dkpro_sets")
    ours = case.estimate("krippendorff_alpha", scale=scale, several=True)
    given = {"jaccard": 0.315619967794, "masi": 0.273080660836}[scale]
    assert ours.value == pytest.approx(given, abs=1e-11)
    theirs = heard(lambda: distance(frozenset(), frozenset()))  # type: ignore[operator]
    still("nltk", "3.10.4", theirs == "ZeroDivisionError")


def test_nltk_divides_by_zero_where_nothing_is_compared() -> None:
    ours = NO_OVERLAP.estimate("krippendorff_alpha")
    assert (ours.value, ours.undefined) == (None, "no_overlap")
    still("nltk", "3.10.4", heard(nltk_task(NO_OVERLAP).alpha) == "ZeroDivisionError")


# -- spans ---------------------------------------------------------------------------------


def nervaluate_strict(first: list[list[Span]], second: list[list[Span]]) -> object:
    """F1 of its strict strategy, or the name of an error."""

    def asked() -> float:
        sides = ([entities(document) for document in side] for side in (first, second))
        found = nervaluate.Evaluator(*sides, tags=["L1", "L2"]).evaluate()
        return float(found["overall"]["strict"].f1)

    return heard(asked)


def test_nervaluate_matches_nested_spans_greedily() -> None:
    # The shorter span comes first and takes the longer one, which its equal then misses.
    inner, outer = (1, 0, 2), (1, 0, 5)
    ours = f1_of([[outer]], [[inner, outer]])["span_f1_exact"]
    assert (ours.true_positives, ours.value) == (1, pytest.approx(2 / 3))
    assert f1_of([[inner, outer]], [[outer]])["span_f1_exact"].value == ours.value
    greedy = nervaluate_strict([[outer]], [[inner, outer]])
    assert nervaluate_strict([[inner, outer]], [[outer]]) == pytest.approx(2 / 3)
    still("nervaluate", "1.2.1", greedy == 0)


def test_nervaluate_gives_0_where_nobody_marked_anything() -> None:
    ours = f1_of([[]], [[]])["span_f1_exact"]
    assert (ours.value, ours.undefined) == (None, "single_category")
    nothing = [tags([], 3)]
    found = nervaluate.Evaluator(nothing, nothing, tags=["L1"], loader="list").evaluate()
    still("nervaluate", "1.2.1", found["overall"]["strict"].f1 == 0)


def test_nervaluate_needs_a_span_in_the_first_document() -> None:
    first: list[list[Span]] = [[], [(1, 0, 2)]]
    assert f1_of(first, first)["span_f1_exact"].value == 1
    still("nervaluate", "1.2.1", nervaluate_strict(first, first) == "IndexError")


def test_seqeval_gives_0_where_nobody_marked_anything() -> None:
    assert f1_of([[]], [[]])["span_f1_exact"].undefined == "single_category"
    nothing = [tags([], 3)]
    theirs = heard(lambda: seqeval_f1(nothing, nothing, mode="strict", scheme=IOB2))
    still("seqeval", "1.2.2", theirs == 0)


def test_seqeval_unless_strict_starts_spans_where_none_starts() -> None:
    true, given = [["B-L1", "I-L1"]], [["I-L1", "I-L1"]]
    lenient = heard(lambda: float(seqeval_f1(true, given)))
    strict = heard(lambda: float(seqeval_f1(true, given, mode="strict", scheme=IOB2)))
    # The second has no span: nothing begins. So it is told, and so it counts.
    ours = f1_of([[(1, 0, 2)]], [[]])["span_f1_exact"]
    assert ours.value == strict == 0
    still("seqeval", "1.2.2", lenient == 1)


def test_a_tag_per_token_cannot_hold_what_overlaps() -> None:
    outer, inner = (1, 0, 3), (2, 1, 2)
    assert tags([outer, inner], 3) == ["B-L1", "B-L2", "I-L1"]  # one of them is broken
    ours = f1_of([[outer, inner]], [[outer, inner]])
    assert {name: found.value for name, found in ours.items()} == pytest.approx(
        dict.fromkeys(ours, 1.0)
    )
    assert ours["span_f1_exact"].true_positives == 2
    assert np.isclose(
        seqeval_f1([tags([outer, inner], 3)], [tags([outer], 3)], mode="strict", scheme=IOB2), 0
    )
    assert f1_of([[outer, inner]], [[outer]])["span_f1_exact"].value == pytest.approx(2 / 3)
