"""Whether a new annotator is right often enough to go on, from their first answers in order."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, NamedTuple

from sqlalchemy import Connection

from tracker.audit.statistics.peer_agreement import untied_majority
from tracker.audit.statistics.sequential_test import (
    NEEDS_MORE,
    NOT_READY,
    READY,
    SequentialTest,
    Verdict,
    first_outcome,
)
from tracker.core.errors import InvalidOption
from tracker.core.results import Record
from tracker.core.tallies import Answer, Pattern, answers_in_pattern
from tracker.counts.filter import AnswerFilter, select_answers
from tracker.counts.in_turn import count_gold_items, first_answers_and_patterns, gold_outcomes
from tracker.projects.annotators import (
    AnnotatorInfo,
    find_annotator,
    find_flagged_annotators,
    find_paused,
)
from tracker.projects.questions import QuestionInfo
from tracker.render.nouns import count_noun, percent

GOLD: Final = "gold"
PEERS: Final = "peers"
AT_LEAST, MARGIN, ERROR_RATE = 0.8, 0.1, 0.05
"""What is asked if nothing else is: how often somebody is right who is ready."""
_HIGHEST = 0.99  # bar: nobody agrees always
_ERRORS = 1.25  # standard errors of a bar that is itself estimated
_WORDS = {READY: "ready", NOT_READY: "not ready", NEEDS_MORE: "needs more answers"}


@dataclass(frozen=True)
class Onboarding(Record):
    """Whether an annotator may go on, and what that rests on.

    Attributes:
        against: "gold", the answers of references; "peers", what most of the others answered.
        right: how many of them were as the gold, or as most of the others.
        at_least: the bar: against peers what these reach against each other on the same items.
        at_most: the share of somebody who is not ready.
        after: the answers after which the verdict was reached.
        more: about how many more answers a verdict takes at the rate so far; 0 if there is one.
        error_rate: the greatest probability of each wrong verdict, however often it is asked for.
    """

    project: str
    question: str
    annotator: str
    verdict: Verdict
    against: Literal["gold", "peers"]
    answers: int
    right: int
    share: float | None
    at_least: float
    at_most: float
    after: int | None
    more: int
    error_rate: float
    gold_items: int

    @property
    def sentence(self) -> str:
        """Return the verdict in a sentence."""
        if self.verdict == NEEDS_MORE:
            what = "answers to gold items" if self.against == GOLD else "answers that others gave"
            return f"{self.annotator} needs more {what}: about {self.more:,}"
        return f"{self.annotator} is {_WORDS[self.verdict]}, after {self.after:,} answers"

    def view(self) -> Iterator[str]:
        """Yield what people read: the verdict, what it rests on, how sure it is."""
        yield self.sentence
        with_whom = "the gold" if self.against == GOLD else "most of the others"
        if self.share is not None:
            number = count_noun(self.answers, "first answer")
            yield f"as {with_whom}: {self.right:,} of {number}, {percent(self.share)}"
        bar = f"{percent(self.at_least)} or more"
        if self.against == PEERS:
            bar += ", what the others reach against each other on these items"
        yield f"the bar: {bar}; not ready is {percent(self.at_most)} or less"
        sure = percent(self.error_rate)
        about = "" if self.against == GOLD else "about "
        yield f"either verdict is wrong with a probability of at most {about}{sure}"

    def hints(self) -> Iterator[str]:
        """Yield what is worth knowing of little gold."""
        if self.against == PEERS:
            yield f"the others are not the truth; items with a truth: {self.gold_items:,}"
        elif self.verdict == NEEDS_MORE and self.answers + self.more > self.gold_items:
            yield f"there are {self.gold_items:,} items with a truth, which may be too few"


def annotator_readiness(
    connection: Connection,
    question: QuestionInfo,
    name: str,
    choice: AnswerFilter,
    *,
    at_least: float = AT_LEAST,
    margin: float = MARGIN,
    error_rate: float = ERROR_RATE,
) -> Onboarding:
    """Return whether an annotator is ready, by their first answers, revisions left out.

    They are held against gold if the project has enough to make somebody ready, and they answered
    some of it; else against what most of the others answered. Raises NotFound, and InvalidOption
    for a reference, a bar that cannot be, and answers that are spans or numbers.
    """
    if not 0 < at_least - margin < at_least < 1:
        raise InvalidOption(
            f"--at-least {at_least:g} less --margin {margin:g} leaves no share between 0 and 1",
            "such as: --at-least 0.8 --margin 0.1",
        )
    if question.answers == "spans" or question.scale in {"interval", "ratio"}:
        what = "spans" if question.answers == "spans" else "numbers"
        raise InvalidOption(
            f"{question.name!r} is answered by {what}, which are rarely the very same",
            f"see: tracker audit {question.project.name}",
        )
    who = find_annotator(connection, question.project, name)
    if who.kind == "reference":
        raise InvalidOption(f"{who.name!r} is a reference, whose answers count as true")
    selection = select_answers(connection, question, choice)
    own = replace(selection, left_out=frozenset(), only=frozenset({who.id}))
    test = SequentialTest(at_least, round(at_least - margin, 9), error_rate)
    gold_items = count_gold_items(connection, own)
    answers = gold_outcomes(connection, own) if gold_items else []
    if not answers or gold_items < test.least:
        away = {who.id, *find_flagged_annotators(connection, question)}
        away |= find_paused(connection, question.project).keys()
        settled = replace(selection, since=None).without(frozenset(away))
        peers = peer_outcomes(first_answers_and_patterns(connection, own, settled))
        if peers.outcomes:
            tests = peers.tests(margin, error_rate)
            return _onboarding(question, who, tests, PEERS, peers.outcomes, gold_items)
    against: Literal["gold", "peers"] = GOLD if gold_items else PEERS
    return _onboarding(question, who, (test, test, test), against, answers, gold_items)


def _onboarding(
    question: QuestionInfo,
    who: AnnotatorInfo,
    tests: tuple[SequentialTest, SequentialTest, SequentialTest],
    against: Literal["gold", "peers"],
    answers: Sequence[bool],
    gold_items: int,
) -> Onboarding:
    ready, test, not_ready = tests
    verdict, after = first_outcome(ready, not_ready, answers)
    return Onboarding(
        project=question.project.name,
        question=question.name,
        annotator=who.name,
        verdict=verdict,
        against=against,
        answers=len(answers),
        right=sum(answers),
        share=sum(answers) / len(answers) if answers else None,
        at_least=test.good,
        at_most=test.bad,
        after=after,
        more=test.more(answers) if after is None else 0,
        error_rate=test.error_rate,
        gold_items=gold_items,
    )


class Peers(NamedTuple):
    """How one's answers compare with those of most of the others, and how these compare.

    Attributes:
        outcomes: whether each answer was what most of the others gave.
        bar: how often the others reach that on the same items.
        error: the standard error of the bar, over the items.
    """

    outcomes: list[bool]
    bar: float
    error: float

    def tests(
        self, margin: float, error_rate: float
    ) -> tuple[SequentialTest, SequentialTest, SequentialTest]:
        """Return the tests of "ready", at the bar, and of "not ready".

        The bar is known as well as the items are many: each verdict is held against the bar that is
        worse for it by so many standard errors that the error rates are held
        (`benchmarks/onboarding.py`).
        """
        low, bar, high = (
            SequentialTest(good, good - margin, error_rate)
            for off in (-_ERRORS, 0.0, _ERRORS)
            for good in [min(max(self.bar + off * self.error, margin + 0.01), _HIGHEST)]
        )
        return high, bar, low


def peer_outcomes(rows: Sequence[tuple[Answer, Pattern]]) -> Peers:
    """Return how the answers of one compare with those of most of the others.

    Each row is an answer and the pattern of the others. A majority is that of all others but one,
    a different one from row to row: so one's own answer is held against as many as the others' are,
    each of whom is left out of the majority in turn. Where answers are equally common there is
    none.
    """
    outcomes: list[bool] = []
    reached, compared = [], []
    for number, (own, pattern) in enumerate(rows):
        size = answers_in_pattern(pattern)
        others = [answer for answer, count in pattern for _ in range(count)]
        most = untied_majority(others[number % size], pattern) if size > 1 else None
        if most is not None:
            outcomes.append(own == most)
        majorities = {answer: untied_majority(answer, pattern) for answer in others if size > 1}
        met = [answer for answer in others if majorities.get(answer) is not None]
        compared.append(len(met) / size)
        reached.append(sum(answer == majorities[answer] for answer in met) / size)
    total = sum(compared)
    bar = sum(reached) / total if total else 0.0
    squares = sum((r - bar * c) ** 2 for r, c in zip(reached, compared, strict=True))
    return Peers(outcomes, bar, math.sqrt(squares) / total if total else 0.0)
