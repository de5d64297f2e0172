"""Small crowds for the audit's tests: who answered what, and the tallies of that."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Collection
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from tracker.audit.evidence import Evidence
from tracker.audit.kind import Finding, Kind, TestResult
from tracker.audit.sentences import finding_sentence
from tracker.core.audit_tallies import Given, JointAnswers, joint_answers_tally
from tracker.core.tallies import AnnotatorTallies, Answer, make_pattern

AMT = Path(__file__).parents[1] / "data" / "amt"

Voice = Callable[[Random, int], int]


def seeded(seed: int) -> Random:
    """A generator that gives the same crowd every time."""
    return Random(seed)  # noqa: S311 - no secret is made with it


class Crowd(NamedTuple):
    """Answers by item: ``{annotator: answer}`` each."""

    items: list[dict[int, Answer]]

    def consult(self, _: object = ()) -> JointAnswers:
        return joint_answers_tally(
            (tuple(Given(who, own) for who, own in answers.items()), 1) for answers in self.items
        )

    def tallies(self, excluded: Collection[int] = ()) -> AnnotatorTallies:
        counts: dict[int, Counter] = {}
        for answers in self.items:
            for annotator, own in answers.items():
                pattern = make_pattern(
                    answer
                    for other, answer in answers.items()
                    if other == annotator or other not in excluded
                )
                counts.setdefault(annotator, Counter())[own, pattern] += 1
        return AnnotatorTallies(counts)


def one(*items: dict[int, int]) -> Crowd:
    """A crowd of one category an answer."""
    return Crowd([{who: (category,) for who, category in item.items()} for item in items])


def mostly_right(accuracy: float, categories: int = 3) -> Voice:
    """The true category with that probability, otherwise any of the others alike."""

    def voice(random: Random, truth: int) -> int:
        if random.random() < accuracy:
            return truth
        return (truth + random.randrange(1, categories)) % categories

    return voice


def always(category: int) -> Voice:
    return lambda _random, _truth: category


def leaning(category: int, share: float, otherwise: Voice) -> Voice:
    """Gives the category to that share of items whatever they are, else as ``otherwise``."""

    def voice(random: Random, truth: int) -> int:
        return category if random.random() < share else otherwise(random, truth)

    return voice


def simulate(
    random: Random, voices: dict[int, Voice], *, items: int, per_item: int, categories: int = 3
) -> Crowd:
    """Balanced truths, and for each item ``per_item`` annotators drawn at random."""
    who = sorted(voices)
    answered = []
    for item in range(items):
        truth = item % categories
        chosen = random.sample(who, per_item)
        answered.append({a: (voices[a](random, truth),) for a in chosen})
    return Crowd(answered)


def turk() -> tuple[Crowd, dict[str, int], dict[str, int]]:
    """The Mechanical Turk experiment, and the ids of its workers and categories."""
    with (AMT / "assignments.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    workers = {name: i for i, name in enumerate(sorted({row["annotator"] for row in rows}))}
    categories = {name: i for i, name in enumerate(sorted({row["category"] for row in rows}))}
    items: dict[str, dict[int, Answer]] = {}
    for row in rows:
        answers = items.setdefault(row["item"], {})
        answers[workers[row["annotator"]]] = (categories[row["category"]],)
    return Crowd([*items.values()]), workers, categories


def results(
    kind: Kind, tallies: AnnotatorTallies | None = None, **evidence: Any
) -> dict[int, TestResult]:
    """Return what a kind of finding makes of the evidence, by annotator."""
    found = kind.find(Evidence(tallies or AnnotatorTallies(), **evidence))
    return {result.annotator: result for result in found if isinstance(result, TestResult)}


def sentence(found: Finding | TestResult, annotator: str = "A", category: str = "B") -> str | None:
    """What a person reads of a flag; of a finding as if nothing had been tested."""
    if isinstance(found, Finding):
        values = found.to_dict({found.annotator: annotator, found.other or -1: "other"}, category)
        return finding_sentence(values, annotator, "other")
    untested: dict[str, Any] = {"state": "insufficient", "q_value": None, "consensus": None}
    effect = {"effect": found.effect.value, "effect_high": found.effect.high}
    return finding_sentence(
        vars(found) | untested | effect | {"category": category}, annotator, "other"
    )
