"""How often a judge is trusted, not trusted, or neither, and what judging costs.

    python benchmarks/judges.py [DRAWS]
    python benchmarks/judges.py --biases [DRAWS]
    python benchmarks/judges.py --ledger sqlite:///FILE PROJECT

Without a ledger: people and judges are drawn who are right with a fixed probability and else give
another category by its share; three, five or ten people answer each item, equally skilled or not,
of two categories or five, even or skewed. A judge at the ceiling is right as often as a person. One
five points below has the rate at which its expected alpha with people is .05 lower than theirs with
each other, which is where the verdict of the default margin turns; one ten points below, likewise.
Told is how often each verdict is given, by number of items.

With --biases: how often something is told of a judge who answers as people do, with slices of
four sources, and of one who gives the most frequent category for another in 40 % of the cases.

With a ledger: the CPU time of `judge`, and of the tallies that an audit of the same answers counts,
each the least of three in turn.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Sequence
from functools import partial
from itertools import product

import numpy as np
from scipy.optimize import brentq

from tracker.audit.slices_sql import Slice
from tracker.core.tallies import Answer, Pattern, make_pattern
from tracker.judge.bench import JudgeQuery
from tracker.judge.biases import Reading, judge_biases
from tracker.judge.run import judge_question, measure_beside
from tracker.judge.slices_sql import EVERYTHING, BySlice
from tracker.judge.verdict import judge_verdict
from tracker.measures.isolated_rater import (
    ALPHA,
    Beside,
    constant_rater,
    rater_and_group,
    rater_beside_group,
)
from tracker.measures.sample import sample_for_measures
from tracker.projects.annotators import AnnotatorInfo

SHARES = {
    "2 even": (0.5, 0.5),
    "2 skewed": (0.9, 0.1),
    "5 even": (0.2, 0.2, 0.2, 0.2, 0.2),
    "5 skewed": (0.5, 0.2, 0.15, 0.1, 0.05),
}
PEOPLE, ITEMS, RIGHT, MARGIN = (3, 5, 10), (50, 100, 200, 500, 1_000, 2_000), 0.85, 0.05
APART = (0.0, 0.07)  # standard deviations of people's skills


def answers(
    draw: np.random.Generator, truth: np.ndarray, right: float, shares: Sequence[float]
) -> np.ndarray:
    """Answers that are right with a probability, and else drawn by the shares."""
    other = draw.choice(len(shares), truth.shape, p=shares)
    return np.where(draw.random(truth.shape) < right, truth, other)


def expected_alpha(judge: float, person: float, shares: Sequence[float]) -> float:
    """Alpha of a very large sample, of a judge and a person; both keep the shares."""
    same = float(np.square(shares).sum())
    both = judge * person
    return 1 - (1 - both - (1 - both) * same) / (1 - same)


def right_of_judge(below: float, shares: Sequence[float]) -> float:
    """How often a judge is right whose alpha with people is so much below theirs."""
    ceiling = expected_alpha(RIGHT, RIGHT, shares)
    return float(brentq(lambda right: expected_alpha(right, RIGHT, shares) - ceiling + below, 0, 1))


def verdict(
    draw: np.random.Generator, items: int, people: int, right: float, of: str, apart: float
) -> str:
    """The verdict on one judge of so many items, beside people whose skills are so far apart."""
    shares = SHARES[of]
    truth = draw.choice(len(shares), items, p=shares)
    own = answers(draw, truth, right, shares)
    skills = np.clip(draw.normal(RIGHT, apart, people), 0, 1)
    others = [answers(draw, truth, skill, shares).tolist() for skill in skills]
    categories = [*range(1, len(shares) + 1)]
    read = partial(sample_for_measures, annotators=people, categories=categories)

    def beside(some: Sequence[list[int]]) -> Beside:
        given: Counter[tuple[Answer, Pattern]] = Counter()
        for answer, *met in zip(own.tolist(), *some, strict=True):
            given[(answer + 1,), make_pattern((one + 1,) for one in met)] += 1
        return rater_beside_group(*rater_and_group([*given.items()]), read, len(some))

    whole = beside(others)
    without = [beside(others[:n] + others[n + 1 :]) for n in range(people)]
    row = measure_beside(ALPHA, whole, constant_rater(whole, read), 0.95, without)
    return judge_verdict(row, MARGIN, 0.95, humans=people).verdict


def simulate(draws: int) -> None:
    """Print how often each verdict is given."""
    print(f"{draws} draws; people right {RIGHT}, margin {MARGIN}")
    print("categories  people  apart  items  judge        trusted  insufficient  not trusted")
    for of, shares in SHARES.items():
        for people in PEOPLE:
            for items, below, apart in product(ITEMS, (0.0, 0.05, 0.1), APART):
                draw = np.random.default_rng([items, people, round(below * 100)])
                right = right_of_judge(below, shares)
                counts = Counter(
                    verdict(draw, items, people, right, of, apart) for _ in range(draws)
                )
                shown = "  ".join(
                    f"{counts[name] / draws:11.1%}"
                    for name in ("trusted", "insufficient", "not_trusted")
                )
                print(
                    f"{of:10}  {people:6}  {apart:5}  {items:5}  {-below:+.2f}  {shown}", flush=True
                )


def biases(draws: int) -> None:
    """Print how often a judge like people is said to do something otherwise, and one that does."""
    print("how often anything is said to be otherwise than people, and of what kind")
    names = dict(enumerate("abc", 1))
    shares = (0.5, 0.3, 0.2)
    for items in (60, 200, 1_000):
        for people in PEOPLE:
            for planted in ("nothing", "a for b on source=s1", "a for b everywhere"):
                draw = np.random.default_rng([items, people, len(planted)])
                told: Counter[str] = Counter()
                for _ in range(draws):
                    truth = draw.choice(3, items, p=shares)
                    own = answers(draw, truth, RIGHT, shares)
                    others = [answers(draw, truth, RIGHT, shares) for _ in range(people)]
                    source = draw.integers(4, size=items)
                    turned = draw.random(items) < 0.4
                    if planted != "nothing":
                        turned &= (source == 1) | ("everywhere" in planted)
                        own = np.where(turned & (own == 1), 0, own)
                    columns = [own.tolist(), source.tolist(), *(o.tolist() for o in others)]
                    given: Counter[tuple[Answer, Pattern]] = Counter()
                    slices: BySlice = {EVERYTHING: given}
                    for answer, part, *met in zip(*columns, strict=True):
                        row = (answer + 1,), make_pattern((one + 1,) for one in met)
                        of = Slice("source", f"s{part}")
                        for counts in (given, slices.setdefault(of, Counter())):
                            counts[row] += 1
                    model = AnnotatorInfo(9, "gpt", "model", ())
                    rows = judge_biases(model, "gpt", given, slices, Reading(names, {}))
                    told["any"] += bool(rows)
                    told.update({row.kind for row in rows})
                rates = {name: f"{number / draws:.1%}" for name, number in told.items() if number}
                print(f"{items:5} items, {people} people, {planted:22}: {rates}", flush=True)


def measure(url: str, project: str) -> None:
    """Print the CPU time of judging beside that of counting."""
    import tracker
    from tracker.counts.filter import select_answers
    from tracker.counts.tallies import count_annotator_tallies
    from tracker.projects.annotators import list_annotators

    ledger = tracker.open(url)
    times: dict[str, list[float]] = {"tallies": [], "judge": []}
    for _ in range(3):
        with ledger.asking(project) as (connection, question):
            known = list_annotators(connection, question.project)
            models = frozenset(annotator.id for annotator in known if annotator.kind == "model")
            selection = select_answers(connection, question).with_models(models)
            begin = time.process_time()
            count_annotator_tallies(connection, selection)
            times["tallies"].append(time.process_time() - begin)
            begin = time.process_time()
            judge_question(connection, question, JudgeQuery())
            times["judge"].append(time.process_time() - begin)
    least = {name: min(values) for name, values in times.items()}
    print({name: round(value, 2) for name, value in least.items()})
    print(f"judge / tallies: {least['judge'] / least['tallies']:.2f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--biases"]:
        biases(int(sys.argv[2]) if len(sys.argv) > 2 else 1_000)
    elif sys.argv[1:2] == ["--ledger"]:
        measure(sys.argv[2], sys.argv[3])
    else:
        simulate(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000)
