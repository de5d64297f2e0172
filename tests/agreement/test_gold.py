"""Annotators against the reference, and confidences against the truth, counted again in Python."""

from collections import Counter
from random import Random

import pandas as pd
import pytest

from tests.agreement.crowd import KINDS, answer, assessed, close
from tests.helpers import SEVERAL, SPANS, give
from tracker.agreement.gold import NONE, agreement_against_gold
from tracker.core.errors import InvalidOption
from tracker.measures.intervals import wilson_interval
from tracker.projects.annotators import set_annotator_kind

SPAN = pd.DataFrame([["d", "A", "x", 0, 1]], columns=["item", "annotator", "label", "start", "end"])


def store(ledger, kind, project="p", **drawn):
    rows = kind.store(ledger, project, people=("ann", "bob", "cat", "ref"), **drawn)
    with ledger.writing(project) as (connection, question):
        set_annotator_kind(connection, question, "ref", "reference")
    pairs = {}
    for (item, name), labels in sorted(rows.items()):
        if name != "ref" and (item, "ref") in rows:
            pairs.setdefault(name, []).append((rows[item, "ref"], labels))
    return pairs


def truth(ledger, project="p", **asking):
    return answer(ledger, agreement_against_gold, project=project, **asking)


def check(result, gold, pairs):
    row = result.detail(gold)
    right = sum(one == other for one, other in pairs)
    assert (row["answers"], row["observed"]) == (len(pairs), close(right / len(pairs)))
    cells = {(cell["truth"], cell["answer"]): cell["answers"] for cell in row["confusion"]}
    assert cells == Counter(tuple("|".join(side) or NONE for side in pair) for pair in pairs)
    totals = [Counter(pair[side] for pair in pairs) for side in (0, 1)]
    chance = sum(totals[0][label] * totals[1][label] for label in totals[0]) / len(pairs) ** 2
    assert row["expected"] == close(chance)
    assert row["cohen_kappa"] == close((right / len(pairs) - chance) / (1 - chance))
    for category in row["categories"]:
        label = category["category"]
        true = sum(label in one for one, _ in pairs)
        answered = sum(label in other for _, other in pairs)
        both = sum(label in one and label in other for one, other in pairs)
        assert [category[name] for name in ("true", "given", "right")] == [true, answered, both]
        precision, recall = (both / n if n else None for n in (answered, true))
        assert (category["precision"], category["recall"]) == (close(precision), close(recall))
        f1 = 2 * precision * recall / (precision + recall) if precision and recall else 0.0
        assert category["f1"] == (close(f1) if true + answered else None)


@pytest.mark.parametrize("kind", ["one", "several"])
def test_accuracy_of_each_annotator_and_of_all(ledger, kind):
    pairs = store(ledger, KINDS[kind])
    result = truth(ledger)
    assert {name for name, _ in result.annotators} == pairs.keys()
    for name, gold in result.annotators:
        check(result, gold, pairs[name])
        assert gold.items == gold.answers
        bounds = wilson_interval(gold.observed, gold.answers, 0.95)
        assert (gold.ci_low, gold.ci_high) == bounds
    check(result, result.pooled, [pair for rows in pairs.values() for pair in rows])
    assert result.pooled.ci_low is result.pooled.ci_high is None
    assert result.pooled.items <= 24 < result.pooled.answers
    assert assessed(ledger).gold.to_dict() == result.pooled.to_dict()
    some = truth(ledger, annotators=["ann", "cat"], confidence=0.5)
    assert {name for name, _ in some.annotators} == {"ann", "cat"}
    check(some, some.pooled, pairs["ann"] + pairs["cat"])
    for _, gold in some.annotators:
        assert (gold.ci_low, gold.ci_high) == wilson_interval(gold.observed, gold.answers, 0.5)
    assert truth(ledger, where={"doc": "d0"}).pooled.items <= 3
    with_reference = truth(ledger, annotators=["ann", "ref"])
    assert [name for name, _ in with_reference.annotators] == ["ann"], "never the reference itself"


def test_categories_without_a_truth_or_an_answer(ledger):
    rows = [("i1", "ann", "x", "x"), ("i2", "ann", "x", "y"), ("i3", "ann", "z", "")]
    give(ledger, rows, "p", "gold")
    ((name, gold),) = truth(ledger).annotators
    assert (name, gold.answers, gold.observed) == ("ann", 2, 0.5)
    rates = [(rate.precision, rate.recall, rate.f1) for rate in gold.categories]
    assert rates == [(0.5, 1, 2 / 3), (None, 0, 0), (None, None, None)]


def test_annotators_that_are_surely_less_accurate_come_first(sqlite_ledger):
    """An annotator with one wrong answer comes after one with many wrong answers of a hundred."""
    numbers = {"often": (100, 60), "never": (100, 0), "once": (1, 1)}
    rows = [(n, name, "b" if n < wrong else "a", "a")
            for name, (items, wrong) in numbers.items() for n in range(items)]  # fmt: skip
    give(sqlite_ledger, rows, "p", "gold")
    names = [name for name, _ in truth(sqlite_ledger).annotators]
    assert names == ["often", "once", "never"]


def test_a_choice_without_the_reference_is_refused(sqlite_ledger):
    KINDS["one"].store(sqlite_ledger)
    with sqlite_ledger.writing("p") as (connection, project):
        set_annotator_kind(connection, project, "dot", "reference")
    assert truth(sqlite_ledger).annotators
    with pytest.raises(InvalidOption, match="no reference annotator"):
        truth(sqlite_ledger, exclude_annotators="dot")


def drawn(seed=1, *, sets=False):
    random = Random(seed)  # noqa: S311
    confidences = [None, 0.0, 0.1, 0.3, 0.35, 0.7, 0.95, 1.0]

    def label():
        if sets:
            return "|".join(random.sample("xyz", random.choice([0, 1, 1, 2, 2])))
        return random.choice("xyz")

    return {
        (f"i{n:02}", name): (label(), random.choice(confidences))
        for n in range(60)
        for name in ("ann", "bob", "cat", "gpt")
        if random.random() < 0.8
    }


def load(ledger, answers, gold=None, **options):
    rows = [
        (item, name, category, confidence, "model" if name == "gpt" else "human")
        for (item, name), (label, confidence) in answers.items()
        for category in label.split("|")
    ]
    rows += [(item, "g", category, None, "reference")
             for item, label in (gold or {}).items() for category in label.split("|")]  # fmt: skip
    give(ledger, rows, "p", "confidence", "kind", **options)


def in_order(label):
    return "|".join(sorted(filter(None, label.split("|"))))


def plain(answers, gold=None):
    """The number of answers, and the Brier score, of each annotator."""
    answers = {key: (in_order(label), sure) for key, (label, sure) in answers.items()}
    losses = {}
    for (item, name), (label, confidence) in answers.items():
        if confidence is None:
            continue
        right = in_order(gold[item]) if gold and item in gold else None
        if gold is None:
            votes = Counter(other for (i, n), (other, _) in answers.items()
                            if i == item and n not in {name, "gpt"})  # fmt: skip
            ranked = votes.most_common(2)
            if ranked and (len(ranked) == 1 or ranked[0][1] > ranked[1][1]):
                right = ranked[0][0]
        if right is not None:
            losses.setdefault(name, []).append((confidence - (label == right)) ** 2)
    return {name: (len(rows), close(sum(rows) / len(rows))) for name, rows in losses.items()}


def scores(ledger, **asking):
    result = ledger.calibration("p", **asking).to_dict()
    return {row["annotator"]: (row["answers"], row["brier_score"]) for row in result["annotators"]}


@pytest.mark.parametrize("sets", [False, True], ids=["one", "several"])
@pytest.mark.parametrize("against", ["majority", "gold"])
def test_confidences_are_compared_with_gold_or_the_majority_of_the_others(ledger, sets, against):
    """Of several categories all must be right."""
    answers, random = drawn(4, sets=sets), Random(6)  # noqa: S311
    gold = None
    if against == "gold":
        gold = {f"i{n:02}": "|".join(random.sample("xyz", random.choice([0, 1, 2]) if sets else 1))
                for n in range(0, 60, 2)}  # fmt: skip
    load(ledger, answers, gold, **({"options": SEVERAL} if sets else {}))
    result = ledger.calibration("p")
    assert result.against == against
    assert scores(ledger) == plain(answers, gold)
    assert result.pooled.answers == sum(number for number, _ in plain(answers, gold).values())


def test_the_majority_is_of_the_answers_that_are_chosen(ledger):
    many = {("i", f"a{n}"): ("x" if n < 12 else "y", 0.5) for n in range(20)}
    answers = drawn() | many
    load(ledger, answers)
    assert scores(ledger, annotators="gpt") == {"gpt": plain(answers)["gpt"]}
    without = {key: value for key, value in answers.items() if key[1] != "cat"}
    assert scores(ledger, exclude_annotators="cat") == plain(without)


def test_confidences_that_cannot_be_compared(sqlite_ledger):
    load(sqlite_ledger, {("j", "ann"): ("x", 0.5)})
    assert sqlite_ledger.calibration("p").to_dict()["pooled"]["answers"] == 0
    sqlite_ledger.import_frame(SPAN, "q", options=SPANS)
    with pytest.raises(InvalidOption, match="spans have no calibration"):
        sqlite_ledger.calibration("q")
