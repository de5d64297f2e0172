"""Small crowds for the audit's tests: who answered what, and the tallies of that."""

from collections import Counter
from random import Random
from typing import NamedTuple

from tracker.audit.evidence import Evidence
from tracker.audit.kind import Finding, TestResult
from tracker.audit.sentences import finding_sentence
from tracker.core.audit_tallies import Given, joint_answers_tally
from tracker.core.tallies import AnnotatorTallies, make_pattern


def seeded(seed):
    """A generator that gives the same crowd every time."""
    return Random(seed)  # noqa: S311 - no secret is made with it


class Crowd(NamedTuple):
    """Answers by item: ``{annotator: answer}`` each."""

    items: list

    def consult(self, _=()):
        return joint_answers_tally(
            (tuple(Given(who, own) for who, own in answers.items()), 1) for answers in self.items
        )

    def tallies(self, excluded=()):
        counts = {}
        for answers in self.items:
            for annotator, own in answers.items():
                pattern = make_pattern(
                    answer
                    for other, answer in answers.items()
                    if other == annotator or other not in excluded
                )
                counts.setdefault(annotator, Counter())[own, pattern] += 1
        return AnnotatorTallies(counts)


def one(*items):
    """Return a crowd of one category an answer."""
    return Crowd([{who: (category,) for who, category in item.items()} for item in items])


def mostly_right(accuracy, categories=3):
    """Give the true category with that probability, otherwise any of the others alike."""

    def voice(random, truth):
        if random.random() < accuracy:
            return truth
        return (truth + random.randrange(1, categories)) % categories

    return voice


def always(category):
    return lambda _random, _truth: category


def leaning(category, share, otherwise):
    """Give the category to that share of any items, and to the rest as ``otherwise``."""
    return lambda random, truth: category if random.random() < share else otherwise(random, truth)


def simulate(random, voices, *, items, per_item, categories=3):
    """Return a crowd of balanced truths, with ``per_item`` annotators drawn for each item."""
    who, answered = sorted(voices), []
    for item in range(items):
        truth, chosen = item % categories, random.sample(who, per_item)
        answered.append({a: (voices[a](random, truth),) for a in chosen})
    return Crowd(answered)


def results(kind, tallies=None, **evidence):
    """Return what a kind of finding makes of the evidence, by annotator."""
    found = kind.find(Evidence(tallies or AnnotatorTallies(), **evidence))
    return {result.annotator: result for result in found if isinstance(result, TestResult)}


def sentence(found, annotator="A", category="B"):
    """Return what a person reads of a flag; of a finding as if nothing had been tested."""
    if isinstance(found, Finding):
        values = found.to_dict({found.annotator: annotator, found.other or -1: "other"}, category)
    else:
        values = vars(found) | {"state": "insufficient", "q_value": None, "consensus": None}
        values |= {"effect": found.effect.value, "effect_high": found.effect.high}
        values |= {"category": category}
    return finding_sentence(values, annotator, "other")
