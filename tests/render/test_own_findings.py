"""Every kind of finding has a sentence for the annotator's own eyes, without any test."""

from __future__ import annotations

import pytest

from tracker.audit.kinds import KINDS
from tracker.audit.sentences import OWN_SENTENCES, SENTENCES, own_finding_sentence


def test_no_kind_is_left_out() -> None:
    assert {*OWN_SENTENCES} == {*SENTENCES} == {*KINDS}


@pytest.mark.parametrize(("state", "end"), [("flagged", "empty."), ("insufficient", "be sure.")])
def test_it_speaks_to_the_annotator(state: str, end: str) -> None:
    finding = {
        "kind": "empty_answers", "category": None, "state": state, "observed": 0.5, "peers": 0.1,
        "expected": 0.1, "n": 40, "effect": None, "effect_high": None, "details": {},
        "p_value": 1e-9, "q_value": 1e-8, "informative": 40,
    }  # fmt: skip
    sentence = own_finding_sentence(finding)
    assert sentence.startswith("You left 20 of 40 items")
    assert sentence.endswith(end)
    assert "1e-" not in sentence
