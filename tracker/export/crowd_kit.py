"""Models of crowd-kit, if it is installed: what is true of each item, by who gave what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from tracker.core.errors import InvalidOption
from tracker.core.tallies import Answer, JointPattern

CROWD_KIT = ("mace", "glad")
"""The methods that are crowd-kit's."""

_SEED = 0


def crowd_kit_shares(
    method: str, counted: Iterable[tuple[JointPattern, int]]
) -> dict[JointPattern, dict[Answer, float]]:
    """Return the probability of each answer to be true, by who gave what.

    Each item is a task of its own; those answered alike have the same probabilities. Raises
    InvalidOption if crowd-kit is not installed.
    """
    model = _model(method)
    import pandas as pd

    patterns: Counter[JointPattern] = Counter()
    for pattern, items in counted:
        patterns[pattern] += items
    answers = sorted({answer for pattern in patterns for _, answer in pattern})
    code = {answer: n for n, answer in enumerate(answers)}
    rows, first = [], dict[JointPattern, int]()
    task = 0
    for pattern, items in sorted(patterns.items()):
        first[pattern] = task
        for _ in range(items):
            rows += [(task, who, code[answer]) for who, answer in pattern]
            task += 1
    if not rows:
        return {}
    frame = pd.DataFrame(rows, columns=["task", "worker", "label"])
    found = model.fit_predict_proba(frame).to_dict("index")
    return {
        pattern: {answers[label]: float(share) for label, share in found[task].items()}
        for pattern, task in first.items()
    }


def _model(method: str) -> Any:
    try:
        import crowdkit.aggregation as models
    except ImportError:
        raise InvalidOption(
            f"the method {method} is crowd-kit's, which is not installed",
            "pip install 'annotation-tracker[crowd-kit]'",
        ) from None
    return models.MACE(random_state=_SEED) if method == "mace" else models.GLAD(silent=True)
