"""Whether a model is trusted: by the lower bound of its distance to people, against a margin."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, hypot
from typing import Final, NamedTuple

from tracker.judge.result import JudgeMeasure, Verdict
from tracker.measures.estimate import Estimate
from tracker.measures.intervals import NO_OVERLAP, TOO_FEW_ANNOTATORS
from tracker.measures.isolated_rater import gap_between
from tracker.measures.resampling import jackknife_pulls
from tracker.measures.words import measure_title_words, undefined_in_words
from tracker.render.cells import figure_cell, level_cell

LEAST_ITEMS: Final = 30
"""Items of a verdict, at least."""
LEAST_INFORMATIVE: Final = 20
"""Those of them, at least, on which the model or a person gave anything but the most frequent
answer. With fewer the interval of the difference is too short: see benchmarks/judges.py."""
FEW_PEOPLE: Final = 5
"""With fewer people the sentence adds that they tell little of others."""


class JudgeVerdict(NamedTuple):
    """A verdict with its sentence, the bar, and the items that a sure one would need beside."""

    verdict: Verdict
    why: str
    bar: float | None = None
    more: int | None = None


def judge_measure(
    rater: Estimate,
    group: Estimate,
    baseline: Estimate,
    *,
    at_random: float | None,
    informative: int,
    confidence: float,
    without: Sequence[float | None],
    people: int,
) -> JudgeMeasure:
    """Return a measure from the model's, the people's and the baseline's on the same items.

    ``without`` are the differences of the first two without each of the ``people``, or of some.
    """
    pulls = None
    if rater.value is not None and group.value is not None:
        pulls = jackknife_pulls(without, rater.value - group.value, people)
    gap = gap_between(rater, group, confidence, pulls or ())
    return JudgeMeasure(
        rater.measure,
        rater.coefficient(confidence),
        group.coefficient(confidence),
        baseline.coefficient(confidence),
        at_random,
        None if gap is None else gap.value,
        None if gap is None else gap.low,
        None if gap is None else gap.high,
        informative,
        None if pulls is None else hypot(*pulls),
    )


def judge_verdict(
    row: JudgeMeasure, margin: float, confidence: float, *, humans: int
) -> JudgeVerdict:
    """Return the verdict on one measure of a model compared with so many people.

    A model is trusted if its figure is surely no more than ``margin`` below that of people with
    each other, on the same items, and above that of the most frequent answer; it is not trusted if
    it is surely further below. Surely is by the bounds of the difference, whose error is that of
    both figures together. A judge as good as people is so called trusted the more often the more
    items there are, one just ``margin`` worse in half of what the bounds leave out.
    """
    own, people = row.model_with_humans, row.humans_with_humans
    if not own.items and own.undefined == NO_OVERLAP:
        return JudgeVerdict("insufficient", "no item was answered by the model and by people")
    if people.undefined in {NO_OVERLAP, TOO_FEW_ANNOTATORS}:
        return JudgeVerdict(
            "insufficient",
            "nothing says how far people agree with each other: two or more must answer the items",
        )
    if own.value is None or people.value is None:
        reason = undefined_in_words(own.undefined or people.undefined)
        return JudgeVerdict(
            "insufficient", f"{measure_title_words(row.measure)} is undefined: {reason}"
        )
    bar = people.value - margin
    said = (
        f"{measure_title_words(row.measure)} with people is {figure_cell(own.value)}; people "
        f"reach {figure_cell(people.value)} with each other on the same {own.items:,} items"
    )
    if row.difference is None or row.ci_low is None or row.ci_high is None:
        return JudgeVerdict("insufficient", f"{said}; one item says nothing", bar, LEAST_ITEMS)
    bounds = f"{row.ci_low:+z.2f} to {row.ci_high:+z.2f}, of other {row.sampling}"
    difference = (
        f"{said}. The difference is {row.difference:+z.2f} ({level_cell(confidence)}: {bounds}); "
        f"-{margin:g} is allowed"
    )
    if humans < FEW_PEOPLE:
        nothing = "nothing" if row.people_error is None else "little"
        difference += f". {humans} people tell {nothing} of other people"
    verdict: Verdict = "insufficient"
    more: int | None = None
    telling = ceil((LEAST_INFORMATIVE - row.informative) * own.items / max(row.informative, 1))
    lacking = max(LEAST_ITEMS - own.items, telling)  # were as many to tell something as do now
    if lacking > 0:
        more = lacking
        difference += (
            f". A verdict needs {LEAST_ITEMS} items, {LEAST_INFORMATIVE} of which have other "
            f"answers than the most frequent one; there are {own.items:,} and {row.informative:,}"
        )
    elif row.ci_high < -margin:
        verdict = "not_trusted"
    elif row.ci_low < -margin:
        more = _more_items(row, margin, confidence, humans)
    elif (own.ci_low or 0.0) <= (row.baseline.value or 0.0):
        difference = f"{said}. A judge that always gives the most frequent answer reaches "
        difference += f"{figure_cell(row.baseline.value)}, which may be as much"
    else:
        verdict = "trusted"
    return JudgeVerdict(verdict, difference, bar, more)


def _more_items(row: JudgeMeasure, margin: float, confidence: float, humans: int) -> int | None:
    """Return how many items more would take the margin out of the bounds, were all else the same.

    The reach of the bounds falls with the root of the number of items, but for what people
    differ by: None if that alone reaches as far.
    """
    from scipy.special import stdtrit

    items = row.model_with_humans.items
    reach = ((row.ci_high or 0.0) - (row.ci_low or 0.0)) / 2
    room = abs((row.difference or 0.0) + margin)
    of_people = float(stdtrit(max(humans - 1, 1), (1 + confidence) / 2)) * (row.people_error or 0.0)
    if of_people >= min(room, reach):
        return None
    needed = items * (reach**2 - of_people**2) / (room**2 - of_people**2)
    return max(1, round(needed) - items)
