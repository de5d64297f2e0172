"""Populations of items whose agreement is known, and coefficients of very many samples of them.

A population is a finite list of joint assignments (who answered what on one item) with their
probabilities, so that a coefficient's true value is its value on the probabilities themselves.
An item has a true category and is easy or hard; given these the annotators are independent. An
annotator knows the answer or guesses, and each guesses a little more evenly than the one before.

The program computes a coefficient of one sample. Here it is computed of thousands at once, by the
same formulas written for a matrix of samples; `check` holds the two to each other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations, product
from math import comb

import numpy as np
from numpy.typing import NDArray

from tracker.measures.intervals import degrees_of_freedom

__all__ = ["ALPHA", "ESTIMATES", "Estimates", "Population", "population"]

Floats = NDArray[np.float64]

ABILITIES = {
    # Shares of easy and hard items, and how often an annotator knows the answer on each.
    "none": ((1.0, 0.0),),
    "weak": ((0.3, 0.8), (0.7, 0.2)),
    "mild": ((0.5, 0.9), (0.5, 0.35)),
    "strong": ((0.85, 0.98), (0.15, 0.5)),
    # Kappas of 0.6, 0.75 and 0.9, if all guess alike.
    "knows 60%": ((1.0, 0.6**0.5),),
    "knows 75%": ((1.0, 0.75**0.5),),
    "knows 90%": ((1.0, 0.9**0.5),),
}
_LEVELLING = 0.4  # by how much the last annotator's guesses are more even than the first's
_MOST_NAMED = 8  # annotators; of more there are two categories, and only their numbers are kept
_MOST_JOINT = 4_000  # joint assignments; beyond, annotators are not told apart


@dataclass(frozen=True, eq=False)
class Population:
    """Items as patterns with their probabilities.

    Attributes:
        name: for the table.
        annotators: how many there are.
        categories: how many can be answered.
        chances: of each pattern, (P,); they add up to 1.
        counts: how many annotators gave each category, (P, A).
        answers: per pattern and annotator the category, or -1, (P, G); None where only the
            counts are kept apart.
    """

    name: str
    annotators: int
    categories: int
    chances: Floats
    counts: Floats
    answers: NDArray[np.int64] | None

    @cached_property
    def sizes(self) -> Floats:
        """Answers to an item of each pattern, (P,)."""
        return self.counts.sum(axis=1)

    @cached_property
    def compared(self) -> Floats:
        """1 for patterns of two answers or more, else 0, (P,)."""
        return (self.sizes > 1).astype(np.float64)

    @cached_property
    def agreement(self) -> Floats:
        """The share of agreeing pairs of each pattern, (P,); 0 below two answers."""
        pairs = np.maximum(self.sizes * (self.sizes - 1), 1)
        return ((self.counts**2).sum(axis=1) - self.sizes) / pairs

    @cached_property
    def given(self) -> Floats:
        """1 where an annotator gave a category, (P, G * A)."""
        if self.answers is None:
            raise ValueError(f"{self.name} does not tell annotators apart")
        held = self.answers[:, :, None] == np.arange(self.categories)
        return held.reshape(len(self.chances), -1).astype(np.float64)

    def by_counts(self) -> Population:
        """The same without telling annotators apart: far fewer patterns."""
        kept, place = np.unique(self.counts, axis=0, return_inverse=True)
        chances = np.bincount(place.ravel(), self.chances, len(kept))
        return Population(self.name, self.annotators, self.categories, chances, kept, None)

    def draw(self, items: int, samples: int, generator: np.random.Generator) -> Floats:
        """Numbers of items of each pattern in so many samples, (B, P)."""
        drawn = generator.multinomial(items, self.chances / self.chances.sum(), size=samples)
        return drawn.astype(np.float64)


def population(
    shares: tuple[float, ...],
    agreement: str,
    annotators: int,
    *,
    varying: bool = False,
    near: float = 0.5,
) -> Population:
    """A population whose true categories have these shares.

    Args:
        shares: of the true categories; of more than two, near ones are confused more easily.
        agreement: a key of `ABILITIES`.
        annotators: how many there are.
        varying: an item has 1 to all answers, each number as often, by any of them.
        near: how much less often a guess is one category further from the truth, of more than
            two; 1 for guesses that do not depend on it.
    """
    categories = len(shares)
    chances = _answer_chances(np.array(shares), agreement, annotators, near)
    kinds = f"{max(shares):.0%}" if categories == 2 else f"{categories} cat."
    number = f"1-{annotators}" if varying else f"{annotators}"
    name = f"{kinds:>6} {agreement:6} {number:>3}"
    weights = np.array([w * share for w, _ in ABILITIES[agreement] for share in shares])
    if annotators > _MOST_NAMED:
        first = np.arange(annotators + 1, dtype=np.float64)
        counts = np.stack([first, annotators - first], axis=1)
        return Population(name, annotators, 2, weights @ _of_number(chances), counts, None)
    missing = range(-1, categories) if varying else range(categories)
    answers = np.array(list(product(missing, repeat=annotators)), dtype=np.int64)
    if varying:
        answers = answers[(answers >= 0).any(axis=1)]
    # Of a missing answer the chance is that of any answer at all.
    padded = np.concatenate([chances, np.ones((*chances.shape[:-1], 1))], axis=-1)
    of_item = np.ones((len(padded), len(answers)))
    for g in range(annotators):
        of_item *= padded[:, g, answers[:, g]]
    every = weights @ of_item
    sizes = (answers >= 0).sum(axis=1)
    if varying:
        every /= np.array([annotators * comb(annotators, int(size)) for size in sizes])
    counts = (answers[:, :, None] == np.arange(categories)).sum(axis=1).astype(np.float64)
    whole = Population(name, annotators, categories, every, counts, answers)
    return whole.by_counts() if len(every) > _MOST_JOINT else whole


def _of_number(chances: Floats) -> Floats:
    """Of each kind of item the chance that 0, 1, … annotators give the first of two answers."""
    found = np.ones((len(chances), 1))
    for first, second in np.moveaxis(chances, 1, 0).transpose(0, 2, 1):
        found = np.pad(found * second[:, None], ((0, 0), (0, 1))) + np.pad(
            found * first[:, None], ((0, 0), (1, 0))
        )
    return found


def _answer_chances(shares: Floats, agreement: str, annotators: int, nearness: float) -> Floats:
    """Of each kind of item and annotator the chance of each answer, (K, G, A)."""
    categories = len(shares)
    codes = np.arange(categories)
    near = nearness ** np.abs(codes[:, None] - codes) if categories > 2 else np.ones((2, 2))
    found = []
    for _, knows in ABILITIES[agreement]:
        for true in codes:
            own = []
            for g in range(annotators):
                even = _LEVELLING * g / max(annotators - 1, 1)
                guess = ((1 - even) * shares + even / categories) * near[true]
                own.append(knows * (codes == true) + (1 - knows) * guess / guess.sum())
            found.append(own)
    return np.array(found)


@dataclass(frozen=True, eq=False)
class Estimates:
    """One coefficient of many samples, each (B,); NaN where it is undefined.

    Attributes:
        value: the coefficient.
        observed: observed agreement, where it is a share.
        expected: expected agreement, where it is a share.
        error: the linearised standard error.
        freedom: the degrees of freedom of the error.
        items: items that enter, less one of which are the degrees of freedom.
        compared: those of two answers or more.
        influence: of one item of each pattern, (B, P).
    """

    value: Floats
    observed: Floats | None
    expected: Floats | None
    error: Floats
    freedom: Floats
    items: Floats
    compared: Floats
    influence: Floats


def _divided(upper: Floats, lower: Floats) -> Floats:
    return np.divide(upper, lower, out=np.full(np.shape(upper), np.nan), where=lower > 1e-15)


def _error(drawn: Floats, influence: Floats, total: Floats) -> tuple[Floats, Floats]:
    """The standard error and its degrees of freedom."""
    squares = (drawn * influence * influence).sum(axis=1)
    fourths = (drawn * influence**4).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        freedom = degrees_of_freedom(total, squares, fourths)
    return np.sqrt(squares * _divided(total, total - 1)), freedom


def _observed(of: Population, drawn: Floats) -> tuple[Floats, Floats, Floats]:
    """Observed agreement, each pattern's influence on it, items compared."""
    compared = drawn @ of.compared
    value = _divided(drawn @ (of.agreement * of.compared), compared)
    influence = of.compared * (of.agreement - value[:, None]) / compared[:, None]
    return value, influence, compared


def percent_agreement(of: Population, drawn: Floats) -> Estimates:
    """Percent agreement."""
    value, influence, compared = _observed(of, drawn)
    error = _error(drawn, influence, drawn.sum(axis=1))
    return Estimates(value, value, None, *error, compared, compared, influence)


def _corrected(
    of: Population, drawn: Floats, expected: Floats, by_chance: Floats | float
) -> Estimates:
    """A coefficient from its expected agreement and each pattern's influence on that."""
    observed, influence, compared = _observed(of, drawn)
    room = 1 - expected
    value = _divided(observed - expected, room)
    items = drawn.sum(axis=1)
    changes = (influence - (1 - value)[:, None] * by_chance) / np.maximum(room, 1e-15)[:, None]
    error = _error(drawn, changes, items)
    return Estimates(value, observed, expected, *error, items, compared, changes)


def _by_shares(
    expected: Callable[[int, Floats], Floats], slope: Callable[[int, Floats], Floats]
) -> Callable[[Population, Floats], Estimates]:
    def estimate(of: Population, drawn: Floats) -> Estimates:
        own = of.counts / of.sizes[:, None]
        items = drawn.sum(axis=1)
        shares = drawn @ own / items[:, None]
        rising = slope(of.categories, shares)
        by_chance = (rising @ own.T - (rising * shares).sum(axis=1)[:, None]) / items[:, None]
        return _corrected(of, drawn, expected(of.categories, shares), by_chance)

    return estimate


fleiss_kappa = _by_shares(lambda _, p: (p * p).sum(axis=1), lambda _, p: 2 * p)
gwet_ac1 = _by_shares(
    lambda q, p: (p * (1 - p)).sum(axis=1) / (q - 1), lambda q, p: (1 - 2 * p) / (q - 1)
)
brennan_prediger = _by_shares(lambda q, p: np.full(len(p), 1 / q), lambda _, p: np.zeros(p.shape))


def conger_kappa(of: Population, drawn: Floats) -> Estimates:
    """Conger's kappa."""
    number, categories = of.annotators, of.categories
    given = (drawn @ of.given).reshape(-1, number, categories)
    answered = np.maximum(given.sum(axis=2), 1e-300)
    own = given / answered[:, :, None]
    others = own.sum(axis=1, keepdims=True) - own
    pairs = number * (number - 1)
    expected = (own * others).sum(axis=(1, 2)) / pairs
    slope = 2 * (others - (own * others).sum(axis=2, keepdims=True))
    slope /= pairs * answered[:, :, None]
    return _corrected(of, drawn, expected, slope.reshape(len(drawn), -1) @ of.given.T)


def cohen(of: Population, drawn: Floats) -> Estimates:
    """Cohen's kappa of two annotators: Conger's, its error without n / (n - 1)."""
    found = conger_kappa(of, drawn)
    return replace(found, error=found.error * np.sqrt((found.items - 1) / found.items))


def light_kappa(of: Population, drawn: Floats) -> Estimates:
    """Light's kappa: the mean of Cohen's, and of the influences on them."""
    assert of.answers is not None
    found = []
    for pair in combinations(range(of.annotators), 2):
        answers = of.answers[:, list(pair)]
        counts = (answers[:, :, None] == np.arange(of.categories)).sum(axis=1).astype(np.float64)
        found.append(
            conger_kappa(Population(of.name, 2, of.categories, of.chances, counts, answers), drawn)
        )
    influence = np.mean([one.influence for one in found], axis=0)
    items = found[0].items
    return Estimates(
        np.mean([one.value for one in found], axis=0),
        None,
        None,
        *_error(drawn, influence, items),
        items,
        items,
        influence,
    )


def _alpha(of: Population, drawn: Floats, scale: str) -> Estimates:
    kept = drawn * of.compared
    per_pair = np.maximum(of.sizes - 1, 1)
    totals = kept @ of.counts
    answers = totals.sum(axis=1)
    compared = kept.sum(axis=1)
    if scale == "ordinal":
        ranks = np.cumsum(totals, axis=1) - totals / 2
        ranks -= ranks.mean(axis=1, keepdims=True)
        sums, squares = ranks @ of.counts.T, (ranks**2) @ of.counts.T
        within = 2 * (of.sizes * squares - sums**2) / per_pair
        apart = answers[:, None] * ranks**2 - 2 * ranks * (totals * ranks).sum(1, keepdims=True)
        apart += (totals * ranks**2).sum(axis=1, keepdims=True)
    elif scale == "interval":
        x = np.arange(of.categories, dtype=np.float64)
        sums, squares = of.counts @ x, of.counts @ x**2
        within = np.broadcast_to(2 * (of.sizes * squares - sums**2) / per_pair, drawn.shape)
        apart = answers[:, None] * x**2 - 2 * x * (totals @ x)[:, None] + (totals @ x**2)[:, None]
    else:
        within = np.broadcast_to((of.sizes**2 - (of.counts**2).sum(axis=1)) / per_pair, drawn.shape)
        apart = answers[:, None] - totals
    overall = (totals * apart).sum(axis=1)
    observed = _divided((kept * within).sum(axis=1), answers)
    expected = _divided(overall, answers * (answers - 1))
    value = 1 - _divided(observed, expected)
    plain = overall / answers**2  # without the small-sample correction, as the error has it
    ratio = _divided(observed, plain)
    change = within - observed[:, None] * of.sizes
    chance = apart @ of.counts.T / answers[:, None] - plain[:, None] * of.sizes
    change = change - 2 * ratio[:, None] * chance
    if scale == "ordinal":
        change += _by_ranks(of, kept, ranks, totals, ratio) @ of.counts.T
    influence = of.compared * change / (answers * np.maximum(plain, 1e-15))[:, None]
    shares = (1 - observed, 1 - expected) if scale == "nominal" else (None, None)
    error = _error(kept, influence, compared)
    return Estimates(value, *shares, *error, compared, compared, influence)


def _by_ranks(of: Population, kept: Floats, ranks: Floats, totals: Floats, ratio: Floats) -> Floats:
    """What one more of each answer changes through the ranks of an ordinal distance, (B, A)."""
    sums = kept * (ranks @ of.counts.T) / np.maximum(of.sizes - 1, 1)
    own = (kept / np.maximum(of.sizes - 1, 1)) @ of.counts
    neighbours = sums @ of.counts - ranks * own
    within = 4 * (totals * ranks - neighbours)
    answers = totals.sum(axis=1, keepdims=True)
    overall = 4 * totals * (ranks - (totals * ranks).sum(axis=1, keepdims=True) / answers)
    slope = within - ratio[:, None] * overall
    return slope / 2 + np.cumsum(slope[:, ::-1], axis=1)[:, ::-1] - slope


ALPHA = "alpha, "

ESTIMATES: dict[str, Callable[[Population, Floats], Estimates]] = {
    "percent_agreement": percent_agreement,
    "gwet_ac1": gwet_ac1,
    "brennan_prediger": brennan_prediger,
    "fleiss_kappa": fleiss_kappa,
    "alpha, nominal": partial(_alpha, scale="nominal"),
    "alpha, ordinal": partial(_alpha, scale="ordinal"),
    "alpha, interval": partial(_alpha, scale="interval"),
    "cohen_kappa": cohen,
    "conger_kappa": conger_kappa,
    "light_kappa": light_kappa,
}
