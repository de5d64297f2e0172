"""A judge in words, for people who decide: the verdict, what to do next, whom it may replace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tracker.judge.result import VERDICTS
from tracker.judge.verdict import LEAST_INFORMATIVE, LEAST_ITEMS
from tracker.measures.intervals import NO_OVERLAP, TOO_FEW_ANNOTATORS, wilson_interval
from tracker.measures.words import undefined_in_words
from tracker.render.nouns import capitalized, count_noun, listed, of_question, percent, quoted


def verdict_title(judge: Mapping[str, Any]) -> str:
    """Return the verdict of a judge's JSON as people read it."""
    return VERDICTS[judge["verdict"]]


def main_measure(judge: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the coefficient of the verdict of a judge's JSON."""
    row: Mapping[str, Any] = next(
        row for row in judge["measures"] if row["measure"] == judge["measure"]
    )
    return row


def verdict_sentence(judge: Mapping[str, Any]) -> str:
    """Return what the verdict says of a model, in a sentence without a coefficient."""
    model, below = judge["model"], f"{judge['margin']:g}"
    if judge["verdict"] == "trusted":
        return (
            f"{model} agrees with people about as well as they do with each other: surely no more "
            f"than {below} below them."
        )
    if judge["verdict"] == "not_trusted":
        return (
            f"{model} agrees with people less than they do with each other: surely more than "
            f"{below} below them."
        )
    if judge["bar"] is None:
        return f"Nothing can be said of {model} yet: {judge['why']}."
    row, unsure = main_measure(judge), f"It is not sure yet how well {model} agrees with people:"
    if row["informative"] < LEAST_INFORMATIVE or row["model_with_humans"]["items"] < LEAST_ITEMS:
        return f"{unsure} there are too few items, or too few with a rare answer."
    if (row["ci_low"] or 0.0) >= -judge["margin"]:
        return f"{model} may do no better than a judge that always gives the most frequent answer."
    return f"{unsure} perhaps as they do with each other, perhaps more than {below} below them."


def next_step(judge: Mapping[str, Any]) -> str:
    """Return what to do about a model, given its verdict."""
    if judge["verdict"] == "trusted":
        if judge["reservations"]:
            return "Look first at the people beside it: the verdict is only as good as they are."
        if judge["biases"]:
            return "Before its answers are used alone, look at what it answers otherwise."
        return "Its answers may be used; have people answer some of its items now and then."
    if judge["verdict"] == "not_trusted":
        change = "Change its prompt, import the new answers under another name, and judge it again."
        return " ".join([*worst_confusion(judge), change])
    people = main_measure(judge)["humans_with_humans"]["value"]
    if people is not None and people <= 0:
        return "People agree no more than by chance: settle first what the categories mean."
    return _answers_missing(judge)


def _answers_missing(judge: Mapping[str, Any]) -> str:
    """Return which answers would let the verdict be sure."""
    if judge["more"] is not None:
        return f"Have two people or more answer about {count_noun(judge['more'], 'more item')}."
    row = main_measure(judge)
    if row["humans_with_humans"]["undefined"] in {NO_OVERLAP, TOO_FEW_ANNOTATORS}:
        return "Have two people or more answer the items that it answered."
    if row["informative"] < LEAST_INFORMATIVE or (row["ci_low"] or 0.0) >= -judge["margin"]:
        return "Have people answer more of the items whose answer is a rare one."
    return "Have other people answer the items, too: those left in the project would not settle it."


def worst_confusion(judge: Mapping[str, Any]) -> Iterator[str]:
    """Yield what it most often gives instead of the label; nothing of numbers and spans."""
    for row in judge["confusion"][:1] if judge["rates"] else ():
        yield (
            f"Most often it says {quoted(row['given'])} where the label is "
            f"{quoted(row['truth'])} ({count_noun(row['items'], 'item')})."
        )


def stand_in_sentence(judge: Mapping[str, Any]) -> str:
    """Return for how many people a model may stand in by the alternative annotator test."""
    test, model = judge["alternative_test"], judge["model"]
    if test["omega"] is None:
        return (
            f"Nobody can say yet for whom {model} may stand in: "
            f"{undefined_in_words(test['undefined'])}. It takes 30 items of a person that the "
            "model and somebody else answered, too."
        )
    people = [row["annotator"] for row in test["humans"] if row["rejected"]]
    said = f"{model} may stand in for {listed(people) or 'nobody'}"
    said += f" ({len(people):,} of {test['tested']:,} people tested)"
    if test["passed"]:
        said += ": half of them or more, so it passes the test."
        if judge["verdict"] != "trusted":
            share = "some" if test["epsilon"] is None else percent(test["epsilon"])
            said += (
                " The test allows more than the verdict does: a person may be nearer to the others "
                f"on {share} of the items, because people's answers cost more."
            )
        return said
    said += ": fewer than half of them, so it does not pass the test."
    if test["items_needed"] is not None:
        said += f" With {test['items_needed']:,} items of each person it could."
    return said


def confidence_sentence(calibration: Mapping[str, Any]) -> str:
    """Return how sure a model says it is, and whether it is surely too sure or too little.

    It is surely so if its mean confidence lies outside the 95% interval of how often it is right.
    """
    sure, right, answers = (calibration[key] for key in ("confidence", "accuracy", "answers"))
    low, high = wilson_interval(right, answers, 0.95)
    said = (
        f"It says it is {percent(sure)} sure on average, and gives the label in {percent(right)} "
        f"of {count_noun(answers, 'answer')}: "
    )
    if low <= sure <= high:
        return f"{said}no difference that could not be chance."
    return f"{said}it is {'too sure' if sure > high else 'right more often than it says'}."


def judge_sentence(judge: Mapping[str, Any], text: str) -> str:
    """Return what is said of a judge as a sentence of its own; a name begins it as it is."""
    names = (judge["model"], *judge.get("copied_by", ()))
    return f"{text if text.startswith(names) else capitalized(text)}."


def better_sentences(compared: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield of each question the models that are surely better than others, and worse than none."""
    questions = list(dict.fromkeys(row["question"] for row in compared))
    for question in questions:
        beaten: dict[str, list[str]] = {}
        for row in compared:
            if row["question"] == question and row["winner"] is not None:
                (other,) = (name for name in row["models"] if name != row["winner"])
                beaten.setdefault(row["winner"], []).append(other)
        worse = {name for names in beaten.values() for name in names}
        for model, names in beaten.items():
            if model not in worse:
                of = of_question(question) if len(questions) > 1 else ""
                yield f"{of}{model} is surely better than {listed(names)}."
