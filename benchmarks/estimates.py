"""How often the intervals of `tracker estimate` hold the truth, and the bound of a panel's routing.

    python benchmarks/estimates.py [DRAWS]

For each setting items are drawn with a truth and a model's answer, of which some are labelled: at
random, and by Neyman allocation over the model's answers. A row shows the share of draws in which
the interval of each estimate holds the truth, and how many human answers it was worth on average.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tracker.judge.cells import Cell
from tracker.judge.estimate import FEW_DIFFER, FEW_RARE
from tracker.judge.panel import judgement, panel_of, parted, route
from tracker.measures.prediction_powered import (
    Estimated,
    Stratum,
    human_only,
    neyman_allocation,
    prediction_powered_mean,
    rogan_gladen_share,
    stratified_mean,
)

CONFIDENCE = 0.95


class Setting(NamedTuple):
    """How many items are labelled, how many are not, the share, and the model's two rates."""

    labeled: int
    unlabeled: int
    share: float
    tpr: float
    tnr: float


SETTINGS = (
    Setting(100, 2_000, 0.5, 0.80, 0.80),
    Setting(200, 5_000, 0.3, 0.90, 0.90),
    Setting(200, 1_000, 0.2, 0.70, 0.95),
    Setting(300, 3_000, 0.4, 0.60, 0.60),
    Setting(500, 20_000, 0.1, 0.80, 0.97),
    Setting(1_000, 10_000, 0.3, 0.95, 0.97),
)


Counts = dict[tuple[float, float], int]
"""How many items have each answer of the model and each of people: 1 or 0."""


def draw_counts(setting: Setting, draw: np.random.Generator) -> tuple[Counts, Counts]:
    """Return the labelled items and the others of one draw."""
    rates = setting.share * setting.tpr, setting.share * (1 - setting.tpr)
    others = (1 - setting.share) * (1 - setting.tnr), (1 - setting.share) * setting.tnr
    cells = (1.0, 1.0), (0.0, 1.0), (1.0, 0.0), (0.0, 0.0)
    numbers = setting.labeled, setting.unlabeled
    rows = (draw.multinomial(number, (*rates, *others)).tolist() for number in numbers)
    labeled, hidden = (dict(zip(cells, row, strict=True)) for row in rows)
    return labeled, hidden


def by_answer(hidden: Counts) -> dict[float, int]:
    """Return how many items the model gave each answer."""
    return {given: hidden[given, 0.0] + hidden[given, 1.0] for given in (0.0, 1.0)}


def strata_of(labeled: Counts, hidden: Counts) -> dict[float, Stratum]:
    """Return the items by the model's answer, with people's."""
    items = Counter(by_answer(labeled)) + Counter(by_answer(hidden))
    return {
        given: Stratum(items[given], {true: labeled[given, true] for true in (0.0, 1.0)})
        for given in (0.0, 1.0)
    }


def estimates(setting: Setting, draw: np.random.Generator) -> dict[str, Estimated]:
    """Return the estimates of one draw, by name."""
    labeled, hidden = draw_counts(setting, draw)
    unlabeled, strata = by_answer(hidden), strata_of(labeled, hidden)
    labels = {true: labeled[0.0, true] + labeled[1.0, true] for true in (0.0, 1.0)}
    pilot = [
        Stratum(of.items, {true: round(items / 4) for true, items in of.labels.items()})
        for of in strata.values()
    ]
    neyman = neyman_allocation(pilot, setting.labeled - sum(of.labeled for of in pilot))
    drawn = {}
    for given, of, first, more in zip(strata, strata.values(), pilot, neyman, strict=True):
        number = min(first.labeled + more, of.items)
        ones = labeled[given, 1.0] + hidden[given, 1.0]
        found = int(draw.hypergeometric(ones, of.items - ones, number))
        drawn[given] = Stratum(of.items, {1.0: found, 0.0: number - found})
    return {
        "human only": human_only(labels, CONFIDENCE),
        "prediction powered": prediction_powered_mean(labeled, unlabeled, CONFIDENCE),
        "corrected": rogan_gladen_share(labeled, unlabeled, CONFIDENCE),
        "stratified": stratified_mean(strata, CONFIDENCE),
        "drawn by estimate": stratified_mean(drawn, CONFIDENCE),
    }


def coverage(setting: Setting, draws: int, seed: int = 1) -> dict[str, tuple[float, float]]:
    """Return the share of intervals that hold the truth, and the mean worth, by name."""
    draw = np.random.default_rng(seed)
    held: dict[str, list[tuple[bool, int]]] = {}
    for _ in range(draws):
        for name, of in estimates(setting, draw).items():
            if of.ci_low is not None and of.ci_high is not None:
                held.setdefault(name, []).append(
                    (of.ci_low <= setting.share <= of.ci_high, of.worth or 0)
                )
    return {
        name: (sum(inside for inside, _ in rows) / len(rows), sum(w for _, w in rows) / len(rows))
        for name, rows in held.items()
    }


# -- Few labelled items ---------------------------------------------------------------------------

LEAST = 0.05  # share of the draws of a setting without a warning below which they are not told


def small_coverage(setting: Setting, draws: int, seed: int = 1) -> dict[str, float | None]:
    """Return the coverage of two intervals, and of the one where the command does not warn.

    ``silent`` is the share of the draws without a warning; None for a coverage among too few.
    """
    draw = np.random.default_rng(seed)
    powered, stratified, silent = [], [], []
    for _ in range(draws):
        labeled, hidden = draw_counts(setting, draw)
        for rows, of in (
            (powered, prediction_powered_mean(labeled, by_answer(hidden), CONFIDENCE)),
            (stratified, stratified_mean(strata_of(labeled, hidden), CONFIDENCE)),
        ):
            known = of.ci_low is not None and of.ci_high is not None
            rows.append(of.ci_low <= setting.share <= of.ci_high if known else None)
        positive = labeled[1.0, 1.0] + labeled[0.0, 1.0]
        differ = labeled[1.0, 0.0] + labeled[0.0, 1.0]
        rare = min(positive, setting.labeled - positive)
        silent.append(differ >= FEW_DIFFER and rare >= FEW_RARE)
    told = [inside for inside, quiet in zip(powered, silent, strict=True) if quiet]
    defined = [inside for inside in stratified if inside is not None]
    return {
        "prediction powered": sum(map(bool, powered)) / draws,
        "silent": len(told) / draws,
        "where silent": sum(map(bool, told)) / len(told) if len(told) > LEAST * draws else None,
        "stratified": sum(defined) / len(defined),
    }


SMALL = [
    Setting(labeled, 2_000, share, tpr, tnr)
    for share in (0.02, 0.1, 0.3, 0.5)
    for tpr, tnr in ((0.9, 0.9), (0.8, 0.97))
    for labeled in (30, 50, 100, 200, 500)
]


# -- The bound of a panel's routing ---------------------------------------------------------------


class Models(NamedTuple):
    """How many items people answered, how often models are right, and how often they err alike."""

    labeled: int
    accuracies: tuple[float, ...]
    alike: float
    error: float


PANELS = (
    Models(200, (0.85, 0.80, 0.75), 0.0, 0.10),
    Models(500, (0.90, 0.85, 0.80), 0.5, 0.05),
    Models(1_000, (0.80, 0.80, 0.80), 0.9, 0.10),
    Models(500, (0.95, 0.90), 0.3, 0.02),
)
CATEGORIES, WAITING = 3, 20_000


def answers_of(models: Models, items: int, draw: np.random.Generator) -> np.ndarray:
    """Return truths and the models' answers, (items, 1 + models); some errors are all alike."""
    truth = draw.integers(CATEGORIES, size=items)
    hard, wrong = (
        draw.random(items),
        (truth + draw.integers(1, CATEGORIES, size=items)) % CATEGORIES,
    )
    columns = [truth]
    for accuracy in models.accuracies:
        with_others = draw.random(items) < models.alike
        errs = np.where(with_others, hard, draw.random(items)) >= accuracy
        own = (truth + draw.integers(1, CATEGORIES, size=items)) % CATEGORIES
        columns.append(np.where(errs, np.where(with_others, wrong, own), truth))
    return np.stack(columns, axis=1)


def routed(models: Models, draw: np.random.Generator) -> tuple[float, float]:
    """Return which share of the waiting items is accepted, and the share of errors among them."""
    known = Counter(map(tuple, answers_of(models, models.labeled, draw).tolist()))
    waiting = Counter(map(tuple, answers_of(models, WAITING, draw).tolist()))
    cells: Counter[Cell] = Counter()
    for (truth, *given), number in known.items():
        cells[Cell(tuple((a,) for a in given), (truth,), ())] += number
    for (_, *given), number in waiting.items():
        cells[Cell(tuple((a,) for a in given), None, ())] += number
    of = judgement(parted(panel_of(cells)))
    routing = route(of, models.error, CONFIDENCE)
    if routing.threshold is None:
        return 0.0, 0.0
    taken = {
        tuple(given): choice
        for given, truth, choice, sure in zip(
            of.panel.given.tolist(), of.panel.truth, of.choice, of.sure, strict=True
        )
        if truth < 0 and sure >= routing.threshold - 1e-9
    }
    accepted = sum(n for (_, *given), n in waiting.items() if tuple(given) in taken)
    errors = sum(
        n for (truth, *given), n in waiting.items() if taken.get(tuple(given), truth) != truth
    )
    return accepted / WAITING, errors / max(accepted, 1)


def bound_kept(models: Models, draws: int, seed: int = 1) -> tuple[float, float]:
    """Return in which share of draws the bound of errors holds, and what is accepted on average."""
    draw = np.random.default_rng(seed)
    rows = [routed(models, draw) for _ in range(draws)]
    kept = sum(error <= models.error for _, error in rows) / draws
    return kept, sum(share for share, _ in rows) / draws


def lines(draws: int) -> Iterator[str]:
    for setting in SETTINGS:
        yield str(setting)
        for name, (share, worth) in coverage(setting, draws).items():
            yield f"  {name:20} {share:7.1%} {worth:10,.0f}"
    for setting in SMALL:
        shown = (
            f"{name} {'-' if value is None else f'{value:.1%}'}"
            for name, value in small_coverage(setting, draws).items()
        )
        yield f"{setting}: {', '.join(shown)}"
    for models in PANELS:
        kept, accepted = bound_kept(models, draws)
        yield f"{models}: bound kept {kept:.1%}, accepted {accepted:.1%}"


if __name__ == "__main__":
    for line in lines(int(sys.argv[1]) if len(sys.argv) > 1 else 2_000):
        print(line)
