"""Samples of a population as the program has them, and its figures held to the vectorised ones."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
from populations import ALPHA, ESTIMATES, Floats, Population

from tracker.measures.cohen import cohen_kappa
from tracker.measures.conger import conger_error
from tracker.measures.registry import MEASURES
from tracker.measures.sample import Sample, Table
from tracker.measures.weights import weights

__all__ = ["check", "sample"]


def sample(of: Population, drawn: Floats, scale: str = "nominal") -> Sample:
    """One sample as the program has it."""
    kept = drawn > 0
    counts = of.counts[kept].astype(np.int64)
    owner, answer = np.nonzero(counts)
    table = Table(
        tuple((category,) for category in range(of.categories)),
        drawn[kept].astype(np.int64),
        counts.sum(axis=1),
        owner,
        answer,
        counts[owner, answer],
    )
    values = {category: float(category) for category in range(of.categories)}
    return Sample(table, of.annotators, weights("identity", table.answers), values, scale)


def check(of: Population, drawn: Floats, measure: str) -> None:
    """Hold the first sample's figure to the program's; raises ValueError where they differ."""
    ours = ESTIMATES[measure](of, drawn[:1])
    value, error = _by_program(of, drawn[0], measure)
    for mine, programs in ((ours.value[0], value), (ours.error[0], error)):
        if programs is not None and not abs(mine - programs) < 1e-9:
            raise ValueError(f"{measure} of {of.name}: {mine} here, {programs} by the program")


def _by_program(of: Population, drawn: Floats, measure: str) -> tuple[float | None, float | None]:
    by_name = of.answers is not None and measure in {"conger_kappa", "cohen_kappa"}
    if measure == "light_kappa":
        return None, None
    named = "krippendorff_alpha" if measure.startswith(ALPHA) else measure
    taken = sample(of, drawn, measure.removeprefix(ALPHA) if named != measure else "nominal")
    if by_name:
        return _by_name(of, drawn, taken, measure)
    function = MEASURES[named].function
    if function is None:
        raise ValueError(f"{measure} does not follow from patterns")
    found = function(taken)
    return found.value, found.standard_error


def _by_name(
    of: Population, drawn: Floats, taken: Sample, measure: str
) -> tuple[float | None, float | None]:
    """Conger's and Cohen's kappa, which depend on who answered what."""
    joint: Counter[tuple[tuple[int, tuple[int, ...]], ...]] = Counter()
    own: dict[int, Counter[tuple[int, ...]]] = {}
    assert of.answers is not None
    for row, items in zip(of.answers.tolist(), drawn.astype(int).tolist(), strict=True):
        given = [(who, (answer,)) for who, answer in enumerate(row) if answer >= 0]
        if items:
            joint[tuple(given)] += items
            for who, answer in given:
                own.setdefault(who, Counter())[answer] += items
    if measure == "cohen_kappa":
        found = cohen_kappa({(row[0][1], row[1][1]): items for row, items in joint.items()})
        return found.value, found.standard_error
    function = MEASURES[measure].function
    assert function is not None
    whole = replace(taken, marginals=own)
    done = conger_error(whole, function(whole), joint.items())
    return done.value, done.standard_error
