"""A share or a mean of many items, of which a model answered all and people only some.

Each function takes counts of items. The figure is that of the population from which the items came,
not of these items alone: an interval does not shrink to nothing when all of them are labelled.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Final, NamedTuple

import numpy as np

from tracker.core.results import Json, Record
from tracker.core.tallies import FloatArray
from tracker.measures.intervals import TOO_FEW_ITEMS, confidence_interval, wilson_interval

Values = Mapping[float, int]
"""How many items have each number: 1 and 0 for a share."""
Pairs = Mapping[tuple[float, float], int]
"""How many items have each number of the model and each of people."""

NO_UNLABELED: Final = "no_unlabeled"  # people answered every item: nothing is predicted
NO_BETTER_THAN_CHANCE: Final = "no_better_than_chance"  # TPR + TNR is 1 or less
UNLABELED_STRATUM: Final = "unlabeled_stratum"  # the model gave an answer that nobody checked
_MOST: Final = 10**12  # human answers


@dataclass(frozen=True)
class Estimated(Record):
    """A figure about a population.

    Attributes:
        value: the figure; None if it is undefined.
        ci_low, ci_high: its bounds.
        undefined: why there is none; None if there is one.
        worth: how many human answers alone, to items drawn at random, give as short an interval.
    """

    value: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    undefined: str | None = None
    worth: int | None = None


@dataclass(frozen=True)
class PredictionPowered(Estimated):
    """Likewise, with the weight of the model's answers."""

    weight: Annotated[float | None, Json("lambda")] = None


@dataclass(frozen=True)
class Corrected(Estimated):
    """Likewise, with the model's rates; ``clipped`` says that the figure lay outside 0 to 1."""

    true_positive_rate: float | None = None
    true_negative_rate: float | None = None
    observed: float | None = None
    clipped: bool = False


class Stratum(NamedTuple):
    """The items that the model gave one answer, and the numbers of those that people answered."""

    items: int
    labels: Values

    @property
    def labeled(self) -> int:
        return sum(self.labels.values())


@dataclass(frozen=True)
class Stratified(Estimated):
    """Likewise; ``missing`` are the strata without a label."""

    missing: tuple[str, ...] = field(default=())


def worth_of(value: float, low: float, high: float, confidence: float) -> int:
    """Return of how many independent answers a share's Wilson interval is as short as this one."""
    few, many = 1e-6, float(_MOST)
    for _ in range(100):
        size = math.sqrt(few * many)
        bounds = wilson_interval(min(max(value, 0.0), 1.0), size, confidence)
        few, many = (size, many) if bounds[1] - bounds[0] > high - low else (few, size)
    return round(many)


def human_only(labels: Values, confidence: float, *, share: bool = True) -> Estimated:
    """Return the figure by people alone: a share with Wilson's interval, or a mean with Student's.

    It is that of the population if the labelled items were drawn at random.
    """
    numbers, items = _arrays(labels)
    if items.sum() < 2:
        return Estimated(undefined=TOO_FEW_ITEMS)
    size, mean, variance = _moments(numbers, items)
    if share:
        low, high = wilson_interval(mean, size, confidence)
        return Estimated(mean, low, high, worth=int(size))
    error = math.sqrt(variance / (size - 1))
    bounds = confidence_interval(mean, error, int(size), confidence, low=-math.inf, high=math.inf)
    return Estimated(mean, *bounds, worth=int(size))


def prediction_powered_mean(
    labeled: Pairs, unlabeled: Values, confidence: float, *, share: bool = True
) -> PredictionPowered:
    """Return the prediction-powered mean, its normal interval and its weight.

    With n labelled items (Y by people, f by the model) and N others (g by the model):
    mean = w mean(g) + mean(Y - w f), SE² = w² var(g) / N + var(Y - w f) / n, and
    w = cov(Y, f) / ((1 + n / N) var(f and g)), limited to [0, 1].

    Source:
        Angelopoulos, Duchi and Zrnic (2023), PPI++: Efficient prediction-powered inference,
        arXiv:2311.01453.
    """
    pairs, items = _arrays(labeled)
    others, number = _arrays(unlabeled)
    if items.sum() < 2:
        return PredictionPowered(undefined=TOO_FEW_ITEMS)
    if not number.sum():
        return PredictionPowered(undefined=NO_UNLABELED)
    given, true = pairs.T
    n, given_mean, _ = _moments(given, items)
    more, other_mean, other_variance = _moments(others, number)
    _, true_mean, _ = _moments(true, items)
    covariance = float(items @ ((true - true_mean) * (given - given_mean))) / n
    every, counts = np.concatenate([given, others]), np.concatenate([items, number])
    size, _, variance = _moments(every, counts)
    variance *= size / (size - 1)
    weight = covariance / ((1 + n / more) * variance) if variance > 0 else 0.0
    weight = min(max(weight, 0.0), 1.0)
    _, rest_mean, rest_variance = _moments(true - weight * given, items)
    value = weight * other_mean + rest_mean
    error = math.sqrt(weight**2 * other_variance / more + rest_variance / n)
    reach = _normal_quantile(confidence) * error
    low, high = value - reach, value + reach
    worth = worth_of(value, low, high, confidence) if share and error else None
    return PredictionPowered(value, low, high, worth=worth, weight=weight)


def rogan_gladen_share(labeled: Pairs, unlabeled: Values, confidence: float) -> Corrected:
    """Return the share that the model finds in the other items, corrected for its errors.

    share = (p + TNR - 1) / (TPR + TNR - 1), where p is the share by the model among the items that
    people did not answer. The interval is the delta method's, after 1 right and 1 wrong are added
    to either rate's items and z² / 2 each to those of p, and shifted by
    2 z² (s TPR (1 - TPR) / n+ - (1 - s) TNR (1 - TNR) / n-).

    Source:
        Rogan and Gladen (1978), Am. J. Epidemiol. 107, 71; Lang and Reiczigel (2014), Prev. Vet.
        Med. 113, 13.
    """
    positive = sum(items for (_, true), items in labeled.items() if true == 1)
    negative = sum(items for (_, true), items in labeled.items() if true == 0)
    number = sum(unlabeled.values())
    if not positive or not negative:
        return Corrected(undefined=TOO_FEW_ITEMS)
    if not number:
        return Corrected(undefined=NO_UNLABELED)
    hits, rejections = labeled.get((1, 1), 0), labeled.get((0, 0), 0)
    found = unlabeled.get(1, 0)
    observed, tpr, tnr = found / number, hits / positive, rejections / negative
    rates = Corrected(true_positive_rate=tpr, true_negative_rate=tnr, observed=observed)
    if tpr + tnr <= 1:
        return Corrected(**vars(rates) | {"undefined": NO_BETTER_THAN_CHANCE})
    share = (observed + tnr - 1) / (tpr + tnr - 1)
    z = _normal_quantile(confidence)
    p, of_p = (found + z**2 / 2) / (number + z**2), number + z**2
    a, b = (hits + 1) / (positive + 2), (rejections + 1) / (negative + 2)
    of_a, of_b = a * (1 - a) / (positive + 2), b * (1 - b) / (negative + 2)
    if a + b <= 1:
        return Corrected(**vars(rates) | {"undefined": NO_BETTER_THAN_CHANCE})
    middle = (p + b - 1) / (a + b - 1)
    variance = p * (1 - p) / of_p + of_a * middle**2 + of_b * (1 - middle) ** 2
    middle += 2 * z**2 * (middle * of_a - (1 - middle) * of_b)
    reach = z * math.sqrt(variance) / (a + b - 1)
    low, high = (min(max(bound, 0.0), 1.0) for bound in (middle - reach, middle + reach))
    value = min(max(share, 0.0), 1.0)
    low, high = min(low, value), max(high, value)
    worth = worth_of(value, low, high, confidence)
    return Corrected(value, low, high, None, worth, tpr, tnr, observed, value != share)


def stratified_mean(
    strata: Mapping[str, Stratum], confidence: float, *, share: bool = True
) -> Stratified:
    """Return the mean of the means within each answer of the model, by the items that have it.

    With shares W of the strata, means m and variances v of their n labels, of N items:
    mean = sum of W m, SE² = sum of W² v / n + (1 / N) sum of W (m - mean)². Of a share, each v is
    that after one label of each kind is added, and the interval is Wilson's on the number of
    answers that the error stands for.

    It holds if within each stratum the labelled items were drawn at random, whatever their rate.

    Source:
        Cochran (1977), Sampling techniques, 3rd ed., sections 5A.9 and 12.2.
    """
    there = {key: stratum for key, stratum in strata.items() if stratum.items}
    least = 1 if share else 2
    if sum(stratum.labeled for stratum in there.values()) < 2:
        return Stratified(undefined=TOO_FEW_ITEMS)
    missing = tuple(key for key, of in there.items() if of.labeled < least)
    if missing:
        return Stratified(undefined=UNLABELED_STRATUM, missing=missing)
    every = sum(stratum.items for stratum in there.values())
    parts = [(of.items / every, *_moments(*_arrays(of.labels))) for of in there.values()]
    value = math.fsum(weight * mean for weight, _, mean, _ in parts)
    between = math.fsum(weight * (mean - value) ** 2 for weight, _, mean, _ in parts) / every
    if not share:
        within = (weight**2 * variance / (n - 1) for weight, n, _, variance in parts)
        error = math.sqrt(math.fsum(within) + between)
        freedom = int(sum(n for _, n, _, _ in parts))
        bounds = confidence_interval(
            value, error, freedom, confidence, low=-math.inf, high=math.inf
        )
        return Stratified(value, *bounds)
    smooth = [(weight, n, (n * mean + 1) / (n + 2)) for weight, n, mean, _ in parts]
    within = (weight**2 * mean * (1 - mean) / n for weight, n, mean in smooth)
    variance = math.fsum(within) + between
    middle = math.fsum(weight * mean for weight, _, mean in smooth)
    low, high = wilson_interval(value, middle * (1 - middle) / variance, confidence)
    return Stratified(value, low, high, worth=worth_of(value, low, high, confidence))


def neyman_weight(stratum: Stratum) -> float:
    """Return what a stratum weighs when answers are shared out: its items times the spread.

    The spread is the standard deviation of 1 and 0, after one label of each kind is added.

    Source:
        Neyman (1934), J. R. Stat. Soc. 97, 558.
    """
    number, ones = stratum.labeled, stratum.labels.get(1, 0)
    mean = (ones + 1) / (number + 2)
    return stratum.items * math.sqrt(mean * (1 - mean))


def neyman_allocation(strata: Sequence[Stratum], answers: int) -> list[int]:
    """Return how many of the next answers go to each stratum, one after the other.

    Each goes where labels are scarcest for the stratum's `neyman_weight`: where
    (labels + 1/2) / weight is least (Webster's rule), as long as items are left.
    """
    more = [0] * len(strata)
    weights = [neyman_weight(stratum) for stratum in strata]
    for _ in range(answers):
        left = [n for n, of in enumerate(strata) if of.labeled + more[n] < of.items]
        if not left:
            break
        next_ = min(left, key=lambda n: (strata[n].labeled + more[n] + 0.5) / weights[n])
        more[next_] += 1
    return more


def _arrays(counts: Mapping[float, int] | Pairs) -> tuple[FloatArray, FloatArray]:
    """Return numbers, or pairs of them, and how many items have each, in a fixed order."""
    entries = sorted(counts.items())
    numbers = np.array([number for number, _ in entries], dtype=np.float64)
    return numbers, np.array([items for _, items in entries], dtype=np.float64)


def _moments(numbers: FloatArray, items: FloatArray) -> tuple[float, float, float]:
    """Return how many items there are, their mean, and their variance, divided by the items."""
    size = float(items.sum())
    mean = float(items @ numbers) / size
    return size, mean, float(items @ (numbers - mean) ** 2) / size


def _normal_quantile(confidence: float) -> float:
    from scipy.special import ndtri

    return float(ndtri((1 + confidence) / 2))
