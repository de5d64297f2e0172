"""What is missing is said once for each kind, and a rate is a rate."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from tests.audit.crowds import one
from tests.audit.records import recorded
from tracker.audit.findings import Evidence, audit, not_applicable_kinds
from tracker.audit.kinds import KINDS
from tracker.audit.sentences import LACKING, SENTENCES, lacking_evidence_sentence
from tracker.core.errors import InvalidOption
from tracker.core.tallies import AnnotatorTallies
from tracker.measures.paired_comparisons import Row

MISSING = {
    "constant_category": "shared",
    "random_answers": "shared",
    "low_agreement": "shared",
    "category_bias": "yardstick",
    "severity_bias": "points",
    "position_bias": "orders",
    "low_gold_accuracy": "gold",
    "low_self_agreement": "repeats",
    "odd_import": "files",
    "drift": "blocks",
    "straight_lining": "sequences",
    "too_fast": "times",
    "copying": "pairs",
    "empty_answers": "skips",
}


@pytest.mark.parametrize("tallies", [AnnotatorTallies(), one({1: 0}, {2: 0}).tallies()])
def test_of_nothing_no_kind_can_be_asked(tallies):
    assert not_applicable_kinds(Evidence(tallies)) == MISSING
    assert audit(Evidence(tallies)) == []


def test_of_shared_answers_only_those_that_need_more_cannot():
    told = not_applicable_kinds(Evidence(one({1: 0, 2: 0}).tallies()))
    needs_no_more = {"constant_category", "random_answers", "low_agreement", "category_bias"}
    assert told == {kind: why for kind, why in MISSING.items() if kind not in needs_no_more}


def test_of_everything_all_can_and_all_are_found():
    orders = {1: [Row("a", "b", 9, 0, 3), Row("b", "a", 8, 0, 5)]}
    evidence = replace(recorded(1, ordinal=True, categories=4).evidence(), orders=orders)
    assert not_applicable_kinds(evidence) == {}
    assert {flag.kind for flag in audit(evidence)} == KINDS.keys()


def test_each_need_is_a_field_and_has_words_and_each_kind_a_sentence():
    evidence = Evidence(AnnotatorTallies())
    for kind in KINDS.values():
        for need in kind.needs:
            assert hasattr(evidence, need)
            assert lacking_evidence_sentence(need) == f"there are no {LACKING[need]}"
        assert kind.name in SENTENCES


def test_kinds_not_asked_for_are_not_named():
    drift = [KINDS["drift"]]
    assert not_applicable_kinds(Evidence(AnnotatorTallies()), drift) == {"drift": MISSING["drift"]}


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.1, 1.5, math.nan, math.inf])
def test_alpha_is_between_0_and_1(alpha):
    with pytest.raises(InvalidOption, match="alpha is"):
        Evidence(AnnotatorTallies(), alpha=alpha)
