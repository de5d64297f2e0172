"""Audits of annotators: tallies in, flags out; one kind of finding a file.

A new kind is a ``Kind`` in a file of its own, entered in ``KINDS``; what it needs beyond the
annotator tallies becomes a field of ``Evidence``.
"""

from __future__ import annotations

from tracker.audit.assemble import assemble
from tracker.audit.category_bias import CATEGORY_BIAS
from tracker.audit.constant_category import CONSTANT_CATEGORY
from tracker.audit.duplicates import redundant
from tracker.audit.figures import AnnotatorFigures, annotator_figures
from tracker.audit.finding import Evidence, Kind
from tracker.audit.flag import Flag, State, why
from tracker.audit.rounds import Recount, settle
from tracker.errors import InvalidOption
from tracker.tally import AnnotatorTallies

__all__ = [
    "DEFAULT_ALPHA",
    "KINDS",
    "AnnotatorFigures",
    "Flag",
    "Kind",
    "Recount",
    "annotator_figures",
    "audit",
    "why",
]

DEFAULT_ALPHA = 0.05
"""The false discovery rate: of what is flagged, at most this share is expected to be chance."""

KINDS: tuple[Kind, ...] = (CONSTANT_CATEGORY, CATEGORY_BIAS)

_ORDER: dict[State, int] = {"flagged": 0, "insufficient": 1, "clear": 2}


def audit(
    tallies: AnnotatorTallies,
    *,
    several: bool = False,
    alpha: float = DEFAULT_ALPHA,
    recount: Recount | None = None,
) -> list[Flag]:
    """What can be said of each annotator's answers against those of the same items' others.

    Args:
        tallies: annotator x own answer x pattern, all answers.
        several: whether an answer may hold any number of categories.
        alpha: the false discovery rate to hold over all tests of the audit.
        recount: given annotators to leave out, the same tallies with their answers taken out of
            every pattern but their own (an annotator left out keeps their own answer, against
            those of annotators not left out). Without it no refit is made.

    Returns:
        Flags of every state, by annotator; flagged, then insufficient, then clear; then by kind
        and by p-value. Duplicates (``tracker.audit.duplicates``) are not among them.

    Raises:
        InvalidOption: if alpha is not between 0 and 1.
    """
    if not 0.0 < alpha < 1.0:
        raise InvalidOption(f"alpha is {alpha}.", "Give a number between 0 and 1, such as 0.05.")
    settled = settle(KINDS, Evidence(tallies, several, alpha), recount)
    states = settled.states()
    decided = {key: settled.deciding(key).finding for key in states}
    last = settled.last or settled.first
    dropped = redundant(decided, states, last.evidence)
    kinds = {kind.name: kind for kind in KINDS}
    flags = [
        assemble(settled, key, state, kinds[key[1]])
        for key, state in states.items()
        if key not in dropped
    ]
    return sorted(flags, key=_sort_key)


def _sort_key(flag: Flag) -> tuple[int, int, int, float, int]:
    kind = next(index for index, kind in enumerate(KINDS) if kind.name == flag.kind)
    p_value = 2.0 if flag.p_value is None else flag.p_value
    category = -1 if flag.category is None else flag.category
    return (flag.annotator, _ORDER[flag.state], kind, p_value, category)
