"""Coefficients that depend on who answered what: Conger's kappa and Light's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from math import fsum

import numpy as np

from tracker.core.tallies import Answer, JointPattern
from tracker.measures.chance_corrected import fleiss_kappa
from tracker.measures.cohen import Cells, kappa_influences
from tracker.measures.estimate import Estimate, single_category_estimate, undefined_estimate
from tracker.measures.intervals import NO_OVERLAP, Coefficient, Parts
from tracker.measures.sample import Floats, Integers, Sample, pattern_entry_pairs

_AT_A_TIME = 20_000


def conger_kappa(sample: Sample) -> Estimate:
    """Return Conger's kappa of all annotators together, at most 1; 0 is chance level.

    Chance is the mean over ordered pairs of annotators of the products of their own shares,
    each annotator's over all items that he answered. For two annotators who answered the same
    items it is Cohen's kappa. The error is `conger_error`'s.

    Undefined: as percent_agreement, and single_category.

    Source:
        Conger (1980), Psychol. Bull. 88, 322; missing answers and weights: Gwet (2014).
    """
    if sample.annotators < 2 or not sample.items:
        return undefined_estimate(
            "conger_kappa", sample.why_not or "", sample.items, reading=sample.reading
        )
    expected = _expected(sample, _own_shares(sample))
    if sample.why_not is not None:
        parts = Parts(None, expected)
        return undefined_estimate(
            "conger_kappa", sample.why_not, sample.items, parts, reading=sample.reading
        )
    if 1 - expected < 1e-15:
        return single_category_estimate("conger_kappa", sample.items, reading=sample.reading)
    return Estimate(
        "conger_kappa",
        (sample.observed - expected) / (1 - expected),
        parts=Parts(sample.observed, expected),
        twin=fleiss_kappa(sample),
        items=sample.items,
        compared=sample.compared,
        reading=sample.reading,
    )


@dataclass(frozen=True, eq=False)
class _Own:
    """Each annotator's shares of the answers, (G, A), and how many items each answered, (G,)."""

    shares: Floats
    items: Floats
    place: Mapping[int, int]  # of an annotator in the rows


def _own_shares(sample: Sample) -> _Own:
    marginals = sample.marginals or {}
    code = {answer: place for place, answer in enumerate(sample.table.answers)}
    counts = np.zeros((len(marginals), len(code)))
    for row, given in enumerate(marginals.values()):
        for answer, number in given.items():
            counts[row, code[answer]] = number
    items = counts.sum(axis=1)
    return _Own(counts / items[:, None], items, {who: n for n, who in enumerate(marginals)})


def _expected(sample: Sample, own: _Own) -> float:
    # What the others gave is summed from both ends: who shares no answer with them has exactly 0,
    # which taking one's own from a sum of all would miss by a rounding.
    others = np.zeros_like(own.shares)
    others[1:] = np.cumsum(own.shares, axis=0)[:-1]
    others[:-1] += np.cumsum(own.shares[::-1], axis=0)[-2::-1]
    annotators = len(own.items)
    shared = float((own.shares * sample.weighting.against(others)).sum())
    return shared / (annotators * (annotators - 1))


def conger_error(
    sample: Sample, estimate: Estimate, joint: Iterable[tuple[JointPattern, int]]
) -> Estimate:
    """Return the result of `conger_kappa` with its error, linearized over items.

    ``joint`` is how many items have each assignment of answers to annotators.
    """
    if estimate.value is None or estimate.parts.expected is None:
        return estimate
    own = _own_shares(sample)
    others = own.shares.sum(axis=0) - own.shares
    met = sample.weighting.against(others)
    annotators = len(own.items)
    # What one item with answer k changes in chance through annotator g's own shares.
    slope = 2 * (met - (own.shares * met).sum(axis=1)[:, None])
    slope /= annotators * (annotators - 1) * own.items[:, None]
    squares, fourths = [], []
    for items, owner, annotator, answers in _in_columns(joint, own.place, sample.table.answers):
        rows = len(items)
        by_chance = np.bincount(owner, slope[annotator, answers], rows)
        sizes = np.bincount(owner, minlength=rows).astype(np.float64)
        sums = np.zeros(rows)
        for first, second in pattern_entry_pairs(owner):
            weights = sample.weighting.between(answers[first], answers[second])
            sums += 2 * np.bincount(owner[first], weights, rows)
        pairs = sizes * (sizes - 1)
        agreement = np.divide(sums, pairs, out=np.zeros(rows), where=pairs > 0)
        apart = np.where(sizes > 1, agreement - sample.observed, 0.0) / sample.compared
        influence = (apart - (1 - estimate.value) * by_chance) / (1 - estimate.parts.expected)
        squares.append(items * influence**2)
        fourths.append(items * influence**4)
    # Sums that are rounded once do not depend on the order of the terms.
    total, fourth = (fsum(chain.from_iterable(terms)) for terms in (squares, fourths))
    return replace(estimate, squares=total, fourths=fourth)


def _in_columns(
    joint: Iterable[tuple[JointPattern, int]], place: Mapping[int, int], answers: Sequence[Answer]
) -> Iterator[tuple[Floats, Integers, Integers, Integers]]:
    """Yield the items of some assignments; and the row, annotator and answer of each entry."""
    code = {answer: number for number, answer in enumerate(answers)}
    counted = iter(joint)
    while part := list(islice(counted, _AT_A_TIME)):
        entries = [
            (row, place[annotator], code[answer])
            for row, (pattern, _) in enumerate(part)
            for annotator, answer in pattern
        ]
        columns = np.array(entries, dtype=np.int64).reshape(-1, 3).T
        yield np.array([items for _, items in part], dtype=float), *columns


def light_kappa(sample: Sample, kappas: Sequence[Coefficient]) -> Estimate:
    """Return Light's kappa: the mean of Cohen's kappas of all pairs of annotators.

    ``kappas`` are those of the pairs that share an item.

    Undefined: as percent_agreement; no_overlap if two annotators share no item, or
    single_category if a pair's kappa is undefined: a mean without that pair would be of
    other annotators.

    Source:
        Light (1971), Psychol. Bull. 76, 365.
    """
    reading = sample.reading
    if sample.why_not is not None:
        return undefined_estimate("light_kappa", sample.why_not, sample.items, reading=reading)
    if len(kappas) < sample.annotators * (sample.annotators - 1) // 2:
        return undefined_estimate("light_kappa", NO_OVERLAP, sample.compared, reading=reading)
    values = [kappa.value for kappa in kappas if kappa.value is not None]
    if len(values) < len(kappas):
        reason = next(kappa.undefined for kappa in kappas if kappa.undefined)
        return undefined_estimate("light_kappa", reason, sample.compared, reading=reading)
    return Estimate(
        "light_kappa",
        sum(values) / len(values),
        twin=fleiss_kappa(sample),
        parts=Parts(
            sum(kappa.observed or 0.0 for kappa in kappas) / len(kappas),
            sum(kappa.expected or 0.0 for kappa in kappas) / len(kappas),
        ),
        items=sample.compared,
        compared=sample.compared,
        reading=reading,
    )


def light_error(
    sample: Sample,
    estimate: Estimate,
    cells: Cells,
    pairs: Sequence[tuple[int, int]],
    joint: Iterable[tuple[JointPattern, int]],
) -> Estimate:
    """Return the result of `light_kappa` with its error, linearized over items.

    The pairs' kappas rest on the same items; an item's influence is the mean of its influences
    on all of them, which the cross-tables in ``cells``, one for each of ``pairs``, do not hold.
    Hence ``joint``: how many items have each assignment of answers to annotators.
    """
    if estimate.value is None:
        return estimate
    parts = [kappas.influence for _, kappas, _ in kappa_influences(cells, sample.weighting)]
    influence, width = np.concatenate(parts), len(cells.answers)
    place = {annotator: row for row, annotator in enumerate(np.unique(pairs).tolist())}
    numbers = np.zeros((len(place), len(place)), dtype=np.int64)
    for number, two in enumerate(pairs):
        numbers[place[two[0]], place[two[1]]] = number
    keys = (cells.pair * width + cells.first) * width + cells.second
    order = np.argsort(keys)
    squares, fourths = [], []
    for items, owner, annotator, answer in _in_columns(joint, place, cells.answers):
        change = np.zeros(len(items))
        for first, second in pattern_entry_pairs(owner):
            pair = numbers[annotator[first], annotator[second]]
            key = (pair * width + answer[first]) * width + answer[second]
            cell = order[np.searchsorted(keys, key, sorter=order)]
            change += np.bincount(owner[first], influence[cell], len(items)) / len(pairs)
        squares.append(items * change**2)
        fourths.append(items * change**4)
    total, fourth = (fsum(chain.from_iterable(terms)) for terms in (squares, fourths))
    return replace(estimate, squares=total, fourths=fourth)
