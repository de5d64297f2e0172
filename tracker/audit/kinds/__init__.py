"""The kinds of findings, one file each. Pure: tallies in, test results out."""

from __future__ import annotations

from tracker.audit.kind import Kind
from tracker.audit.kinds.category_bias import CATEGORY_BIAS
from tracker.audit.kinds.constant_category import CONSTANT_CATEGORY
from tracker.audit.kinds.copying import COPYING
from tracker.audit.kinds.drift import DRIFT
from tracker.audit.kinds.empty_answers import EMPTY_ANSWERS
from tracker.audit.kinds.low_agreement import LOW_AGREEMENT
from tracker.audit.kinds.low_gold_accuracy import LOW_GOLD_ACCURACY
from tracker.audit.kinds.low_self_agreement import LOW_SELF_AGREEMENT
from tracker.audit.kinds.odd_import import ODD_IMPORT
from tracker.audit.kinds.position_bias import POSITION_BIAS
from tracker.audit.kinds.random_answers import RANDOM_ANSWERS
from tracker.audit.kinds.severity_bias import SEVERITY_BIAS
from tracker.audit.kinds.straight_lining import STRAIGHT_LINING
from tracker.audit.kinds.too_fast import TOO_FAST

__all__ = ["KINDS"]

_ALL = (
    CONSTANT_CATEGORY,
    RANDOM_ANSWERS,
    CATEGORY_BIAS,
    SEVERITY_BIAS,
    POSITION_BIAS,
    LOW_AGREEMENT,
    LOW_GOLD_ACCURACY,
    LOW_SELF_AGREEMENT,
    ODD_IMPORT,
    DRIFT,
    STRAIGHT_LINING,
    TOO_FAST,
    COPYING,
    EMPTY_ANSWERS,
)

KINDS: dict[str, Kind] = {kind.name: kind for kind in _ALL}
"""Every kind by name, in the order in which findings about an annotator are told."""
