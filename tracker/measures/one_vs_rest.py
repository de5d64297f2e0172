"""Each category against the rest: whether an answer holds it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tracker.measures.chance_corrected import fleiss_kappa
from tracker.measures.coefficient import Coefficient
from tracker.measures.confidence_bounds import ASYMMETRIC
from tracker.measures.krippendorff import krippendorff_alpha
from tracker.measures.pattern_table import Integers, Table
from tracker.measures.sample import Sample
from tracker.measures.weights import weights

_ANSWERS = ((0,), (1,))  # without the category, with it


def one_vs_rest_coefficients(
    sample: Sample,
    categories: Sequence[int],
    confidence: float = 0.95,
    interval: str = ASYMMETRIC,
) -> dict[int, tuple[Coefficient, Coefficient]]:
    """Return Fleiss' kappa and Krippendorff's alpha of each category against all others.

    Args:
        sample: the answers, whatever its weights and distance: here an answer has the category
            or has it not. An answer of several categories counts once for each.
        categories: which, by id.
        confidence: the level of the bounds, in (0, 1).
        interval: how the bounds are made, see `confidence_bounds`.

    Returns:
        ``{category: (fleiss_kappa, krippendorff_alpha)}``, undefined as those are: with
        single_category if all answers have it, or none has.

    Source:
        Fleiss (1971), Psychol. Bull. 76, 378, p. 381, in the form for varying numbers of answers;
        for sets of categories Artstein and Poesio (2008), Comput. Linguist. 34, 555, section 4.
    """
    held = one_vs_rest_patterns(sample, categories)
    coefficients = {}
    for place, category in enumerate(categories):
        split = Sample(
            _against_the_rest(sample.table, *held.get(place, (None, None))),
            sample.annotators,
            weights("identity", _ANSWERS),
        )
        coefficients[category] = (
            fleiss_kappa(split).coefficient(confidence, interval),
            krippendorff_alpha(split).coefficient(confidence, interval),
        )
    return coefficients


def one_vs_rest_patterns(
    sample: Sample, categories: Sequence[int]
) -> Mapping[int, tuple[Integers, Integers]]:
    """Return for each category, by place, the patterns that hold it, and in how many answers."""
    table = sample.table
    place = {category: n for n, category in enumerate(categories)}
    members = [
        (code, place[category])
        for code, answer in enumerate(table.answers)
        for category in answer
        if category in place
    ]
    if not members:
        return {}
    codes, places = np.array(members, dtype=np.int64).T
    # Each entry once for each category of its answer: in most projects that is itself.
    first = np.searchsorted(codes, table.answer, side="left")
    number = np.searchsorted(codes, table.answer, side="right") - first
    entry = np.repeat(np.arange(len(table.answer)), number)
    within = np.arange(len(entry)) - np.repeat(np.cumsum(number) - number, number)
    key = places[first[entry] + within] * len(table.items) + table.owner[entry]
    keys, back = np.unique(key, return_inverse=True)
    holding = np.bincount(back, table.count[entry], len(keys)).astype(np.int64)
    category, pattern = np.divmod(keys, len(table.items))
    starts = np.searchsorted(category, np.arange(len(categories) + 1))
    return {
        n: (pattern[starts[n] : starts[n + 1]], holding[starts[n] : starts[n + 1]])
        for n in range(len(categories))
    }


def _against_the_rest(table: Table, pattern: Integers | None, holding: Integers | None) -> Table:
    """Return patterns of two answers: how many items of n answers have h that hold the category."""
    having = np.zeros(len(table.items), dtype=np.int64)
    if pattern is not None and holding is not None:
        having[pattern] = holding
    most = int(table.sizes.max(initial=0)) + 1
    keys, back = np.unique(table.sizes * most + having, return_inverse=True)
    sizes, having = np.divmod(keys, most)
    items = np.bincount(back, table.items, len(keys)).astype(np.int64)
    counts = np.stack([sizes - having, having], axis=1)
    owner, answer = np.nonzero(counts)
    return Table(_ANSWERS, items, sizes, owner, answer, counts[owner, answer])
