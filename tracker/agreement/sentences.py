"""What to know before a figure of agreement is used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from shlex import quote
from typing import Any, Final

from tracker.agreement.readiness import readiness_of
from tracker.measures.intervals import Coefficient
from tracker.measures.registry import MEASURES
from tracker.measures.words import undefined_in_words
from tracker.render.cells import figure_cell, interval_cell, level_cell, share_cell
from tracker.render.nouns import count_noun, is_or_are, listed, quoted

# By benchmarks/coverage_of_coefficients.py.
_HELD: Final = "86 to 100% of simulated samples of 50 items, and in 77 to 100% of those of 20"


def no_person(answers: int) -> str:
    """Return that only models have answered, and how to ask for them."""
    are = "answer is by a model" if answers == 1 else "answers are by models"
    return f"No person has answered; {answers:,} {are} (name them with --annotator)."


def models_left_out_sentence(models: Sequence[str], project: str, *, alone: bool) -> str:
    """Return which models an audit leaves out, and how to ask for them; ``alone``: no person is."""
    are = "is a model" if len(models) == 1 else "are models"
    if alone:
        named = " ".join(f"--annotator {quote(name)}" for name in models)
        return (
            f"No person has answered: {listed(models)} {are}. To compare them with each other: "
            f"tracker audit {quote(project)} {named}"
        )
    return (
        f"{listed(models)} {are} and left out: the audit is of people. Beside the "
        f"people: tracker agreement {quote(project)} --by model"
    )


def left_out_of_people_sentence(model: Mapping[str, Any]) -> str:
    """Return who gives a model's own answers, and so is none of the people beside it."""
    names = model["left_out_of_people"]
    give, are = ("gives", "is") if len(names) == 1 else ("give", "are")
    return (
        f"{listed(names)} {give} {model['model']}'s answers, and so {are} left out of the people "
        "beside it."
    )


def recent_sentence(
    day: str,
    slide: str | None,
    now: Coefficient,
    before: float,
    overall: float | None,
    changed: int,
    of: int,
) -> str:
    """Return that the level of agreement is another one since a day.

    ``changed`` annotators ``of`` so many changed, too; ``overall`` is the figure of all answers;
    ``slide`` is the day on which a slide began.
    """
    fell = now.value is not None and now.value < before
    way = "falling" if fell else "rising"
    was = f"it has been {way} since {slide}, from" if slide else "before, it was"
    sentence = (
        f"Since {day} {MEASURES[now.measure].title} is {figure_cell(now.value)} "
        f"({figure_cell(now.ci_low)} to {figure_cell(now.ci_high)}, "
        f"{count_noun(now.items, 'item')}); {was} {figure_cell(before)}."
    )
    if overall is not None:
        does = "hides it" if fell else "still counts the time before"
        sentence += f" The figure of all answers, {figure_cell(overall)}, {does}."
    if changed:
        agree = "agrees" if changed == 1 else "agree"
        way = "less" if fell else "more"
        sentence += f" {changed} of {count_noun(of, 'annotator')} {agree} {way} with the others."
    return sentence


def changed_sentence(change: Mapping[str, Any]) -> str:
    """Return that a category, an annotator or what is labeled is another one since a day."""
    cell = share_cell if change["subject"] == "share" else figure_cell
    figure, low, high, before = (
        cell(change[key]) for key in ("value", "ci_low", "ci_high", "before")
    )
    name = change["name"] if change["subject"] == "annotator" else quoted(change["name"])
    phrases = {
        "annotator": f" {name} agrees with the others {figure} of the time",
        "category": f", of the pairs where either annotator gives {name}, both do in {figure}",
        "share": f" {figure} of the answers are {name}",
    }
    items = count_noun(change["items"], "item")
    since = f"Since {change['day']}{phrases[change['subject']]}"
    return f"{since} ({low} to {high}, {items}); before, {before}."


def own_errors(measures: Sequence[str], others: str) -> str:
    """Return which figures keep their analytic errors; ``others``: how those of others are made."""
    names = listed([MEASURES[measure].title for measure in measures], len(measures))
    have = "has an analytic error" if len(measures) == 1 else "have analytic errors"
    rest = f"the other figures have those asked for ({others})" if others else "no other is known"
    return f"{names} {have} over items; {rest}."


def few_telling(items: int, compared: int) -> str:
    """Return that nearly all answers are one category, so that intervals are not to be trusted."""
    has = "has" if items == 1 else "have"
    sentence = (
        f"Only {count_noun(items, 'item')} could be compared."
        if items == compared
        else f"Only {items} of the {compared:,} items compared {has} anything but the most "
        "frequent answer."
    )
    return (
        f"{sentence} Where a category has 1% of the answers, 95% intervals of alpha and the kappas "
        f"held the truth in {_HELD}."
    )


def reason(figure: Mapping[str, Any]) -> str:
    why = figure["undefined"]
    if why == "suppressed":
        return SUPPRESSED
    about = MEASURES.get(figure.get("measure", ""))
    return (about.undefined.get(why) if about else None) or undefined_in_words(why) or why


def numbers_of_figure(figure: Mapping[str, Any]) -> str:
    """Return how a coefficient's numbers give its value; nothing without one."""
    if figure["value"] is None:
        return ""
    if "expected_disagreement" in figure:
        within, overall = figure["observed_disagreement"], figure["expected_disagreement"]
        return f"1 - {within:.4f} / {overall:.4f} = {figure_cell(figure['value'])}"
    if figure.get("expected") is None or figure.get("observed") is None:
        return ""
    chance = figure["expected"]
    return (
        f"({figure['observed']:.4f} - {chance:.4f}) / (1 - {chance:.4f}) = "
        f"{figure_cell(figure['value'])}"
    )


WITH_FLAGGED: Final = "With all answers"


def without_flagged(names: Sequence[str]) -> str:
    """Return without whose answers figures are; the beginning of a sentence."""
    return f"Without the answers of {listed(names)}, who {is_or_are(len(names))} flagged"


def main_figure_sentence(figure: Mapping[str, Any], thresholds: tuple[float, float]) -> str:
    """Return a question's main figure, and whether it is high enough to rely on."""
    title = in_a_sentence(figure["measure"])
    if figure["value"] is None:
        return f"There is no figure of agreement: {reason(figure)}."
    interval = ""
    if figure["ci_low"] is not None:
        bounds = interval_cell(figure["ci_low"], figure["ci_high"])
        interval = f" ({level_cell(figure['confidence'])} interval {bounds})"
    words = readiness_of(figure, thresholds).words
    return f"{title} is {figure_cell(figure['value'])}{interval}{': ' if words else ''}{words}."


SUPPRESSED: Final = "it rests on too few answers to be shown"


def in_a_sentence(measure: str) -> str:
    """Return what a measure is called, without a comma."""
    name, _, kind = MEASURES[measure].title.partition(", ")
    return f"{name} ({kind})" if kind else name


def title(measure: str) -> str:
    return MEASURES[measure].title
