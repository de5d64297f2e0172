"""The three experiments of P. W. Siegel's notebook (2018)."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Literal, TypeAlias, get_args

from tracker.core.errors import InvalidOption
from tracker.simulate.rows import Row, check_positive, source_of, width_of

Experiment: TypeAlias = Literal["high", "low", "mixed"]


def experiment(name: str, items: int = 1000, seed: int = 0) -> Iterator[Row]:
    """Return the answers of A, B and C in an experiment of P. W. Siegel's notebook (2018).

    With i the item's place, counted from 0, ``model(i)`` is i mod 3 with probability .95, and
    (i + 1) mod 3 and (i + 2) mod 3 with .025 each. In ``high`` all three draw from
    ``model(i)``. In ``low`` A and B do and C draws from ``model(i + 1)``. In ``mixed`` A and B
    do, and C draws from ``model(i)`` where A gave 0 and gives 1 elsewhere.

    Args:
        name: ``high``, ``low`` or ``mixed``.
        items: How many items, 1 or more; each gets three answers.
        seed: Any integer; another one gives another draw.

    Returns:
        Rows item by item, in the items' order. ``gold`` is None: the notebook has no truth.

    Raises:
        InvalidOption: No experiment has this name, or there are no items.
    """
    known: tuple[Experiment, ...] = get_args(Experiment)
    for experiment_name in known:
        if experiment_name == name:
            check_positive(items, "items")
            return _experiment_rows(experiment_name, items, source_of(name, seed))
    raise InvalidOption(f"there is no experiment {name!r}", "Take one of high, low and mixed.")


def _experiment_rows(name: Experiment, items: int, source: random.Random) -> Iterator[Row]:
    width = width_of(items, at_least=4)
    for place in range(items):
        item = f"item {place + 1:0{width}}"
        first, second = _model(place, source), _model(place, source)
        third = _third(name, place, first, source)
        for annotator, category in zip("ABC", (first, second, third), strict=True):
            yield Row(item, annotator, str(category), None)


def _model(place: int, source: random.Random) -> int:
    drawn = source.random()
    slip = 0 if drawn < 0.95 else 1 if drawn < 0.975 else 2
    return (place + slip) % 3


def _third(name: Experiment, place: int, first: int, source: random.Random) -> int:
    if name == "low":
        return _model(place + 1, source)
    if name == "mixed" and first != 0:
        return 1
    return _model(place, source)
