"""Answers that say nothing of the items, where the co-annotators' answers do.

That the answers do not depend on the items is here the null hypothesis, so a small p-value would
clear the annotator. The finding therefore needs three things: the upper bound of the spammer score
lies under a part of the co-annotators' score; the score is not surely above 0; and the annotator
agrees with the others less than any of the items' annotators would by chance, which gives the
p-value.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tracker.audit.evidence import Evidence, Threshold
from tracker.audit.kind import (
    MINIMUM_ANSWERS,
    MINIMUM_INFORMATIVE,
    Effect,
    Kind,
    TestResult,
)
from tracker.audit.kinds.low_agreement import confirm_low_agreement
from tracker.audit.statistics.peer_agreement import spammer_scores

NAME = "random_answers"

INFORMATION = Threshold("information_share", 0.4)
"""The spammer score's upper bound as a part of the co-annotators' score, at most, for a flag."""

_Z = 1.6448536269514722  # of a one-sided bound of 95%
_HIGH = 0.25  # of the others' score; a bound below it is nobody's who is right half of the time
_SURE = 2.3263478740408408  # of one of 99%


def run_test(evidence: Evidence) -> Iterator[TestResult]:
    """Yield a test result for each annotator with a score, as the co-annotators have."""
    counts, annotators = evidence.majorities, evidence.shared_columns.annotators
    tested = np.isin(annotators, [*evidence.alignments])
    scores = spammer_scores(counts[tested])
    others_scores = spammer_scores((counts.sum(axis=0) - counts)[tested])
    for place, annotator in enumerate(annotators[tested].tolist()):
        alignment = evidence.alignments[annotator]
        own, others = scores[place], others_scores[place]
        if own is None or others is None or others.value <= 0:
            continue
        bound = max(own.value, 0.0) + _Z * own.error
        low = bound < evidence.floor(INFORMATION) * others.value
        nothing = low and own.value < _SURE * own.blind_error
        enough = alignment.informative >= MINIMUM_INFORMATIVE
        score, peers = min(max(own.value, 0.0), 1.0), min(others.value, 1.0)
        yield TestResult(
            kind=NAME,
            annotator=annotator,
            category=None,
            observed=score,
            expected=peers,
            peers=peers,
            n=alignment.n,
            informative=alignment.informative,
            effect=Effect("ratio", score / peers, 0.0, bound / peers),
            p_value=alignment.lower if enough else None,
            notable=nothing,
            suspicious=not enough and nothing and alignment.n >= MINIMUM_ANSWERS,
            severity="high" if bound < _HIGH * others.value else "medium",
        )


RANDOM_ANSWERS = Kind(
    NAME,
    frozenset({"shared"}),
    run_test,
    INFORMATION,
    spoils=True,
    confirm=confirm_low_agreement,
    explains=frozenset({"low_agreement", "severity_bias"}),
)
