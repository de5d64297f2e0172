"""The names that columns of each role are known by."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import accumulate

_SHOWN = 60  # characters of a column's name in a list of them
_MOST_SHOWN = 300  # columns
_LONGEST = 2400  # characters of a list of columns

NAMES_OF_ROLES = {
    "item": "item item_id item_key task task_id question question_id document document_id doc "
    "doc_id example example_id sample sample_id unit unit_id hit hit_id hitid",
    "annotator": "annotator annotator_id annotator_name worker worker_id workerid rater rater_id "
    "coder coder_id user user_id username labeler labeller judge judge_id reviewer",
    "category": "category label answer rating class choice response judgment judgement verdict "
    "code tag sentiment",
    "question": "",
    "labeled_at": "labeled_at labelled_at annotated_at answered_at created_at submitted_at "
    "timestamp",
    "seconds": "seconds seconds_spent time_spent duration lead_time",
    "pass": "pass repeat",
    "text": "text",
    "gold": "gold gold_label truth true_label ground_truth",
    "start": "start span_start",
    "end": "end span_end",
    "n_tokens": "n_tokens",
    "kind": "kind annotator_kind",
    "confidence": "confidence",
    "comment": "comment comments rationale explanation",
    "version": "",
}
"""The names each role is known by; the first of them wins over the others."""

LESSER_NAMES_OF_ROLES = {
    "item": "sent_id sentence_id id",
    "annotator": "participant participant_id ann",
    "category": "winner labels categories answers",
}
"""Names of a role's column in a file without one of those names; the first that is there."""

LIKE_ROLES = {"labeled_at": ("date", "datetime", "time", "day", "when", "datum", "answered")}
"""Words that a role is called by, but that columns of other contents have for names, too."""

MEANINGS = {
    "labeled_at": " (when it was answered)",
    "seconds": " (how long it took)",
    "pass": " (1, 2, … of answers to the same item)",
    "question": " (of several that a project asks)",
    "gold": " (the true category)",
    "n_tokens": " (the document's length)",
    "confidence": " (from 0 to 1)",
    "comment": " (why)",
    "version": " (of a model)",
}

_TIMES = {
    "seconds": (r"s|secs?|seconds?|sek\w*", 1.0),
    "milliseconds": (r"ms|msecs?|millis\w*", 0.001),
    "minutes": (r"mins?|minut\w*", 60.0),
    "hours": (r"h|hrs?|hours?|std|stunden?", 3600.0),
}


def unit_of_time(name: str) -> tuple[str, float]:
    """Return the unit that a column of times spent says it is in, and its seconds."""
    words = [*filter(None, re.split(r"[^a-z]+", folded_name(name)))]
    for unit, (expression, seconds) in _TIMES.items():
        if any(re.fullmatch(expression, word) for word in words):
            return unit, seconds
    return "seconds", 1.0


def folded_name(name: str) -> str:
    """Return a column's name as names are compared."""
    return re.sub(r"[\s\-]+", "_", name.strip().casefold())


def singular_name(name: str) -> str:
    is_known = any(folded_name(name) in names.split() for names in NAMES_OF_ROLES.values())
    return name if is_known else name.rstrip("s")


def listed_names(names: Sequence[str], roles: Collection[str] = ()) -> str:
    """Return the names of columns; of many, first those that are likely to have a role."""
    if len(names) > 12:
        words = {word for role in roles for word in NAMES_OF_ROLES[role].split()}
        likely = {name for name in names if words & {*re.split(r"[^a-z]+", folded_name(name))}}
        names = sorted(names, key=lambda name: name not in likely)
    lines = (" ".join(name.split()) for name in names[:_MOST_SHOWN])
    cut = [name if len(name) <= _SHOWN else name[:_SHOWN] + "…" for name in lines]
    ends = accumulate(len(name) + 2 for name in cut)
    shown = cut[: sum(end <= _LONGEST for end in ends)]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")
