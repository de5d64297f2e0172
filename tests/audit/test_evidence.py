"""What is missing is said once for each kind, and a rate is a rate."""

from __future__ import annotations

import math

import pytest

from tests.audit.crowds import one
from tests.audit.records import recorded
from tracker.audit.findings import KINDS, LACKING, Evidence, audit, not_applicable
from tracker.core.errors import InvalidOption
from tracker.core.tallies import AnnotatorTallies

REASON = {
    "constant_category": "there are no items of two answers",
    "random_answers": "there are no items of two answers",
    "low_agreement": "there are no items of two answers",
    "category_bias": ("there are no items of two answers, or of a known one"),
    "severity_bias": "there are no ordered categories",
    "low_gold_accuracy": "there are no reference answers",
    "low_self_agreement": "there are no items answered again",
    "drift": "there are no times of answers",
    "straight_lining": "there are no times of answers",
    "too_fast": "there are no durations of answers",
    "copying": "there are no two annotators with 20 items in common",
    "empty_answers": ("there are no skipped or empty answers"),
}


@pytest.mark.parametrize("tallies", [AnnotatorTallies(), one({1: 0}, {2: 0}).tallies()])
def test_of_nothing_no_kind_can_be_asked(tallies):
    assert not_applicable(Evidence(tallies)) == REASON
    assert audit(Evidence(tallies)) == []


def test_of_shared_answers_only_those_that_need_more_cannot():
    told = not_applicable(Evidence(one({1: 0, 2: 0}).tallies()))
    needs_no_more = {"constant_category", "random_answers", "low_agreement", "category_bias"}
    assert told == {kind: why for kind, why in REASON.items() if kind not in needs_no_more}


def test_of_everything_all_can_and_all_are_found():
    evidence = recorded(1, ordinal=True, categories=4).evidence()
    assert not_applicable(evidence) == {}
    assert {flag.kind for flag in audit(evidence)} == {kind.name for kind in KINDS}


def test_each_need_is_a_field_and_has_words():
    evidence = Evidence(AnnotatorTallies())
    for kind in KINDS:
        for need in kind.needs:
            assert hasattr(evidence, need)
            assert LACKING[need]


def test_kinds_not_asked_for_are_not_named():
    drift = [kind for kind in KINDS if kind.name == "drift"]
    assert not_applicable(Evidence(AnnotatorTallies()), drift) == {"drift": REASON["drift"]}


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.1, 1.5, math.nan, math.inf])
def test_alpha_is_between_0_and_1(alpha):
    with pytest.raises(InvalidOption, match="alpha is"):
        Evidence(AnnotatorTallies(), alpha=alpha)
