"""The text of a gate's file to start from: checks, with a line about each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from tracker.gate.context import Standing
from tracker.gate.sentences import WHY_NOT, figure_in_sentence, sentence

_HEAD = """\
# Thresholds for {project}, made from its figures on {day}. All checks must pass:
#   tracker gate PROJECT --config FILE
# A figure fails if it is surely below its threshold, which leaves room for its
# error: of projects that stay as they are, at most {chance} in 100 fail once or more in a
# year of weekly looks. docs/gate.md says which falls are found, and all kinds of checks.
{choice}
# How the figures are computed. What is left out is as in the project.
confidence = {confidence}
# interval = "t"
# scale = "ordinal"
# weights = "linear"
"""
_CHOSEN = "# These figures are from a selection of answers: give the gate the same options.\n"
_ALL = "# For a gate of fewer answers make another file: --init with its options, as --since 7d.\n"
_CHANCE = 5
CONFIDENCE: Final = 0.999
"""Of the intervals of the file: a look fails only if a figure is surely below its threshold."""
DROP: Final = 'Compared with the last snapshot; for another one: since = "its name".'
LEVEL_DROP: Final = "Compared with the level before the last change; no snapshot is needed."


def starting_text(
    project: str, day: str, blocks: Sequence[tuple[str, str, str | None]], *, chosen: bool
) -> str:
    """Return the file.

    Args:
        project: its name.
        day: of the figures.
        blocks: for each check what it is about, its TOML, and why it does not hold now, or None.
        chosen: whether it is about a choice of answers.
    """
    choice = _CHOSEN if chosen else _ALL
    head = _HEAD.format(
        project=quoted_text(project), day=day, choice=choice, chance=_CHANCE, confidence=CONFIDENCE
    )
    return "\n".join([head, *(_block(*block) for block in blocks)])


def _block(about: str, toml: str, why_not: str | None) -> str:
    """Return the check in the file, or put into comments if it does not hold now."""
    if why_not is None:
        return f"# {about}\n{toml}"
    text = f"{about}\n{WHY_NOT}{why_not}\n{toml}"
    return "".join(f"# {line}\n" for line in text.removesuffix("\n").split("\n"))


def figure_sentence(figure: Standing) -> str:
    """Return what a figure is now, with its interval."""
    bounds = ""
    if figure.low is not None and figure.high is not None:
        bounds = f" ({figure.low:z.3f} to {figure.high:z.3f}, {100 * figure.confidence:g}%)"
    subject = f"the weakest category: agreement on {quoted_text(figure.category or '')}"
    if figure.measure:
        subject = figure_in_sentence(figure)
    return sentence(f"{subject}, now {figure.value or 0.0:z.3f}{bounds}")


def finding_sentence(kind: str) -> str:
    """Return what a check of findings asks for."""
    return f"No finding of {kind} by an audit, except those that were dismissed or resolved."


def items_sentence(number: int) -> str:
    """Return how many items can be compared now."""
    return f"Items with two answers or more: now {number:,}."


def overlap_sentence(share: float) -> str:
    """Return which share of the items can be compared now."""
    return f"Their share among the items with an answer: now {share:.3f}."


def flagged_sentence(annotators: int) -> str:
    """Return how many an audit finds; the file, which others read, names no annotator."""
    return f"{annotators:,} annotator{' is' if annotators == 1 else 's are'} flagged."


def quoted_text(text: str) -> str:
    """Return a text as TOML has it, on one line."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
