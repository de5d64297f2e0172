"""How often newcomers are called ready or not, and annotators paused by a rule, wrongly.

    python benchmarks/onboarding.py [PEOPLE]

Drawn are people who are right with a fixed probability, independently. Against gold the verdict is
asked for after each answer, up to 3,000; beside it stand Wald's own bounds, and a test by mixture
(a likelihood averaged over a uniform prior, against the likeliest share on the other side of the
bar; Robbins 1970). Against peers the verdict is asked for after every 20 items up to 600, each
time with the bar that the others reach by then. A rule is asked after every 10 answers of 1,000.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable

import numpy as np
from scipy.special import betaln

from tracker.audit.onboarding import peer_outcomes
from tracker.audit.statistics.sequential_test import (
    NEEDS_MORE,
    NOT_READY,
    READY,
    Outcome,
    SequentialTest,
    first_outcome,
)
from tracker.core.tallies import make_pattern
from tracker.gate.rules import surely_at_most

MOST, MARGIN, ERROR_RATE = 3_000, 0.1, 0.05
Test = Callable[[np.ndarray], Outcome]


def by_bounds(good: float, bound: float) -> Test:
    """The test with a bound of its own."""
    test = SequentialTest(good, good - MARGIN, np.exp(-bound))
    return test.outcome


def by_mixture(good: float) -> Test:
    """A test that gives a verdict as soon as a mixture rejects all shares of the other side."""
    bad = good - MARGIN

    def outcome(answers: np.ndarray) -> Outcome:
        n = np.arange(1, len(answers) + 1)
        right = np.cumsum(answers)
        mixed = betaln(right + 1, n - right + 1)
        for verdict, most_likely in (
            (READY, np.minimum(right / n, bad)),
            (NOT_READY, np.maximum(right / n, good)),
        ):
            likely = np.clip(most_likely, 1e-12, 1 - 1e-12)
            of_side = right * np.log(likely) + (n - right) * np.log1p(-likely)
            there = np.flatnonzero(mixed - of_side >= -np.log(ERROR_RATE))
            if len(there):
                return Outcome(verdict, int(there[0]) + 1)
        return Outcome(NEEDS_MORE, None)

    return outcome


def gold(people: int, draw: np.random.Generator) -> None:
    print("against gold: share of people called ready | not ready | mean answers\n")
    print(f"{'bar':>4} {'right':>6}  {'this test':>22}  {'Wald':>22}  {'mixture':>22}")
    for good in (0.7, 0.8, 0.9, 0.95):
        wald = np.log((1 - ERROR_RATE) / ERROR_RATE)
        tests = [by_bounds(good, -np.log(ERROR_RATE)), by_bounds(good, wald), by_mixture(good)]
        for share in (good - 2 * MARGIN, good - MARGIN, good - MARGIN / 2, good, (1 + good) / 2):
            answers = draw.random((people, MOST)) < share
            cells = []
            for test in tests:
                outcomes = [test(row) for row in answers]
                told = Counter(outcome.verdict for outcome in outcomes)
                mean = np.mean([outcome.after or MOST for outcome in outcomes])
                rates = f"{told[READY] / people:.3f} {told[NOT_READY] / people:.3f}"
                cells.append(f"{rates} {mean:8.0f}")
            print(f"{good:4} {share:6.3f}  " + "  ".join(f"{cell:>22}" for cell in cells))


def expected_numbers(people: int, draw: np.random.Generator) -> None:
    """The answers that are said to be needed yet, beside those that were."""
    print("\nanswers needed after 20: said | needed, means")
    for good, share in ((0.8, 0.6), (0.8, 0.7), (0.8, 0.75), (0.8, 0.8), (0.8, 0.9), (0.9, 0.85)):
        test, said, needed = SequentialTest(good, good - MARGIN), [], []
        for row in draw.random((people, MOST)) < share:
            after = test.outcome(row).after or MOST
            if after > 20:
                said.append(test.more(row[:20].tolist()))
                needed.append(after - 20)
        print(f"{good:4} {share:6.3f}  {np.mean(said):6.0f} {np.mean(needed):6.0f}")


def crowd(
    items: int, people: int, right: float, spread: float, draw: np.random.Generator
) -> np.ndarray:
    """Answers of three categories, (items, people); items differ in how hard they are."""
    truth = draw.integers(1, 4, (items, 1))
    chance = np.clip(right + spread * draw.standard_normal((items, 1)), 0.34, 1.0)
    wrong = (truth + draw.integers(0, 2, (items, people))) % 3 + 1
    return np.where(draw.random((items, people)) < chance, truth, wrong)


def peers(people: int, draw: np.random.Generator) -> None:
    print(
        "\nagainst peers: others, how often right; a newcomer as good as they | worse by the margin"
    )
    print("called not ready | called ready | mean items of the first, of the second")
    for others in (2, 3, 5, 9):
        for right, spread in ((0.8, 0.0), (0.9, 0.0), (0.85, 0.15)):
            rates = []
            worse = worse_by_margin(others, right, spread, draw)
            for blind in (0.0, worse):
                told: Counter[str] = Counter()
                numbers = []
                for _ in range(people):
                    verdict, number = newcomer(others, right, spread, blind, draw)
                    told[verdict] += 1
                    numbers.append(number)
                rates.append((told, np.mean(numbers)))
            (good, first), (bad, second) = rates
            print(f"{others} {right} {spread}:  {good[NOT_READY] / people:.3f} "
                  f"{bad[READY] / people:.3f}  {first:.0f} {second:.0f}")  # fmt: skip


def answers_of(
    items: int, others: int, right: float, spread: float, blind: float, draw: np.random.Generator
) -> list[tuple[tuple[int], tuple]]:
    """A newcomer's answers with the others' patterns; ``blind`` of them are by chance."""
    theirs = crowd(items, others + 1, right, spread, draw)
    own = np.where(draw.random(items) < blind, draw.integers(1, 4, items), theirs[:, 0])
    patterns = [make_pattern((int(a),) for a in row) for row in theirs[:, 1:]]
    return [((int(answer),), pattern) for answer, pattern in zip(own, patterns, strict=True)]


def worse_by_margin(others: int, right: float, spread: float, draw: np.random.Generator) -> float:
    """The share of blind answers that makes a newcomer worse than the others by the margin."""
    good = peer_outcomes(answers_of(40_000, others, right, spread, 0.0, draw))
    blind = peer_outcomes(answers_of(40_000, others, right, spread, 1.0, draw))
    print(f"bar {good.bar:.3f}, as good as they {np.mean(good.outcomes):.3f}", end="  ")
    return MARGIN / (good.bar - np.mean(blind.outcomes))


def newcomer(
    others: int, right: float, spread: float, blind: float, draw: np.random.Generator
) -> tuple[str, int]:
    rows = answers_of(600, others, right, spread, blind, draw)
    for number in range(20, 601, 20):
        held = peer_outcomes(rows[:number])
        ready, _, not_ready = held.tests(MARGIN, ERROR_RATE)
        verdict, _ = first_outcome(ready, not_ready, held.outcomes)
        if verdict != NEEDS_MORE:
            return verdict, number
    return NEEDS_MORE, 600


def rules(people: int, draw: np.random.Generator) -> None:
    print("\npaused within 1,000 answers by “gold accuracy < .8 over the last N”")
    print(f"{'last':>5} {'right':>6} {'below .8':>9} {'upper bound below .8':>21} {'answers':>8}")
    for last in (30, 50, 100):
        most = max(k for k in range(last) if surely_at_most(k, last) < 0.8)
        for share in (0.5, 0.6, 0.7, 0.8, 0.85, 0.9):
            answers = draw.random((people, 1_000)) < share
            sums = np.cumsum(np.pad(answers, ((0, 0), (1, 0))), axis=1)
            window = (sums[:, last:] - sums[:, :-last])[:, ::10]
            plain = (window < 0.8 * last).any(axis=1).mean()
            sure = window <= most
            after = last + 10 * np.argmax(sure, axis=1)[sure.any(axis=1)]
            print(f"{last:5} {share:6} {plain:9.3f} {sure.any(axis=1).mean():21.3f} "
                  f"{np.mean(after) if len(after) else np.nan:8.0f}")  # fmt: skip


def main() -> None:
    people = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    draw = np.random.default_rng(1)
    gold(people, draw)
    expected_numbers(people // 5, draw)
    rules(people, draw)
    peers(people // 10, draw)


if __name__ == "__main__":
    main()
