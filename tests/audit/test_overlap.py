"""One finding said once, and what it explains told beside it."""

from __future__ import annotations

import pytest

from tests.audit.records import Asked, Person, recorded
from tracker.audit.findings import Evidence, audit, overlapping_findings
from tracker.core.tallies import AnnotatorTallies

NOTHING = Evidence(AnnotatorTallies())
SEVERAL = Evidence(AnnotatorTallies(), several=True)


def key(kind, annotator=1, category=None, other=None):
    return (annotator, kind, category, other)


def told(*flagged, evidence=NOTHING, **states):
    found = dict.fromkeys(flagged, "flagged") | {key(kind): s for kind, s in states.items()}
    return overlapping_findings({}, found, evidence)


def test_one_category_explains_few_agreements_an_end_of_the_scale_and_saying_nothing():
    follows = [key("low_agreement"), key("random_answers"), key("severity_bias")]
    dropped, also = told(key("constant_category", category=4), *follows, key("drift"))
    assert dropped == {*follows}
    assert also == {
        key("constant_category", category=4): ("low_agreement", "random_answers", "severity_bias")
    }


def test_saying_nothing_explains_few_agreements_and_an_end_of_the_scale():
    dropped, also = told(key("random_answers"), key("low_agreement"), key("low_gold_accuracy"))
    assert dropped == {key("low_agreement")}
    assert also == {key("random_answers"): ("low_agreement",)}


def test_few_agreements_explain_nothing():
    assert told(key("low_agreement"), key("severity_bias"), key("drift")) == (set(), {})


def test_only_what_is_flagged_is_explained_and_what_is_not_sure_is_dropped():
    dropped, also = told(key("random_answers"), low_agreement="clear", severity_bias="insufficient")
    assert (dropped, also) == ({key("severity_bias")}, {key("random_answers"): ()})
    assert told(key("low_agreement"), random_answers="clear") == (set(), {})


def test_another_s_finding_explains_nothing():
    assert told(key("random_answers", 1), key("low_agreement", 2))[0] == set()


def test_of_answers_of_several_categories_one_held_by_all_says_little_of_the_others():
    flagged = [key("constant_category", category=4), key("low_agreement")]
    assert told(*flagged, evidence=SEVERAL) == (set(), {})
    dropped, also = told(*flagged, key("random_answers"), evidence=SEVERAL)
    assert dropped == {key("low_agreement")}
    assert also == {key("random_answers"): ("low_agreement",)}


@pytest.mark.parametrize("kind", ["constant_category", "random_answers"])
def test_two_who_do_not_look_agree_without_copying(kind):
    blind = [key(kind, 1, 0 if kind[0] == "c" else None), key("random_answers", 2)]
    pair, others = key("copying", 1, other=2), key("copying", 3, other=4)
    dropped, _ = told(*blind, pair, others)
    assert dropped == {pair}


def explained(seed, voice, **options):
    record = recorded(seed, {2: Person(voice)}, people=8, answers=120, **options)
    mine = [f for f in audit(record.evidence()) if f.annotator == 2]
    return {f.kind: f for f in mine if f.state == "flagged"}


def test_in_a_crowd_each_is_told_once():
    def blindly(asked: Asked) -> int:
        return asked.random.randrange(asked.categories)

    constant = explained(1, lambda _: 0, categories=5, ordinal=True)
    assert "constant_category" in constant
    assert constant["constant_category"].also == (
        "low_agreement",
        "random_answers",
        "severity_bias",
    )
    assert not constant.keys() & {"low_agreement", "random_answers", "category_bias"}
    random = explained(2, blindly)
    assert "low_agreement" in random["random_answers"].also
    assert "low_agreement" not in random
    assert random["random_answers"].to_dict({2: "B"}, None)["also"] == ["low_agreement"]
