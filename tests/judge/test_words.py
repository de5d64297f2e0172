"""A judge in words and in a chart, and judges in their order."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.filled import FillOnce
from tests.judge.faces import VERDICTS, fill_judges
from tracker.judge.plot import in_order, judge_rows
from tracker.judge.words import (
    better_sentences,
    confidence_sentence,
    next_step,
    stand_in_sentence,
    verdict_sentence,
    verdict_title,
)
from tracker.ledger import Ledger


def test_verdicts_in_words_and_in_a_chart(sqlite_ledger: Ledger, fill_once: FillOnce) -> None:
    ledger = fill_once(sqlite_ledger, fill_judges)
    result = ledger.judges.judge("judged")
    by_name = {judge.model: judge.to_dict() for judge in result.judges}
    assert {name: verdict_title(judge) for name, judge in by_name.items()} == VERDICTS
    good, poor, few = by_name["good"], by_name["poor"], by_name["few"]
    assert "surely no more than 0.05 below" in verdict_sentence(good)
    assert "Its answers may be used" in next_step(good)
    doubted = {**good, "reservations": ["people agree too little"]}
    assert "only as good as they are" in next_step(doubted)
    assert "surely more than 0.05 below" in verdict_sentence(poor)
    worst = poor["confusion"][0]
    assert f"“{worst['given']}” where the label is “{worst['truth']}”" in next_step(poor)
    assert "judge it again" in next_step(poor)
    assert "not sure yet" in verdict_sentence(few)
    assert next_step(few) == f"Have two people or more answer about {few['more']:,} more items."
    assert "ann, bob and cat (3 of 3 people tested)" in stand_in_sentence(good)
    assert "does not pass" in stand_in_sentence(poor)
    (better,) = better_sentences([row.to_dict() for row in result.compared])
    assert better.startswith("good is surely better than ")
    assert "poor" in better
    assert [*better_sentences([])] == []
    rows = {row["model"]: row for row in judge_rows(by_name.values())}
    assert [*rows] == ["few", "good", "poor"]
    for name, row in rows.items():
        main = next(one for one in by_name[name]["measures"] if one["measure"] == row["measure"])
        assert row["value"] == main["model_with_humans"]["value"]
        assert row["people"] == main["humans_with_humans"]["value"]
        assert row["bar"] == by_name[name]["bar"]
        assert row["verdict"] == VERDICTS[name]
    (judge,) = ledger.judges.judge("judged", models=["good"], annotators=["ann"]).judges
    alone = judge.to_dict()
    assert "Nothing can be said of good yet" in verdict_sentence(alone)
    assert "two or more must answer the items" in verdict_sentence(alone)
    assert next_step(alone) == "Have two people or more answer the items that it answered."
    assert "Nobody can say yet" in stand_in_sentence(alone)


def test_a_confidence_is_wrong_only_if_that_is_sure() -> None:
    def said(sure: float, right: float, answers: int) -> str:
        return confidence_sentence({"confidence": sure, "accuracy": right, "answers": answers})

    assert "too sure" in said(0.9, 0.7, 400)
    assert "right more often than it says" in said(0.7, 0.9, 400)
    assert "no difference that could not be chance" in said(0.9, 0.85, 20)
    assert "90% sure on average" in said(0.9, 0.7, 400)


@given(st.permutations([*range(1, 15)]))
def test_versions_are_in_the_order_of_their_numbers(numbers: list[int]) -> None:
    listed = [
        {"question": "q", "model": f"m{n}", "attributes": {"family": "m", "version": f"v{n}"}}
        for n in numbers
    ]
    ordered = in_order([{"question": "q", "model": "a"}, *listed])
    assert [judge["model"] for judge in ordered] == [*(f"m{n}" for n in range(1, 15)), "a"]
