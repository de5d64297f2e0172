"""The text of a gate's file to start from: checks, with a line about each."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tracker.gate.context import Standing
from tracker.gate.sentences import WHY_NOT, figure_in_sentence, sentence

_HEAD = """\
# Thresholds for {project}, made from its figures on {day}: each lies a little
# below the value now. Change them as needed. All checks must pass:
#   tracker gate PROJECT --config FILE
# A check is a table [[check]]; docs/gate.md has all kinds of them.
{choice}
# How the figures are computed. What is left out is as in the project.
# confidence = 0.95
# interval = "t"
# scale = "ordinal"
# weights = "linear"
"""
_CHOSEN = "# These figures are from a selection of answers: give the gate the same options.\n"


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
    head = _HEAD.format(project=quoted_text(project), day=day, choice=_CHOSEN if chosen else "")
    return "\n".join([head, *(_block(*block) for block in blocks)])


def _block(about: str, toml: str, why_not: str | None) -> str:
    """Return the check in the file, or put into comments if it does not hold now."""
    if why_not is None:
        return f"# {about}\n{toml}"
    text = f"{about}\n{WHY_NOT}{why_not}\n{toml}"
    return "".join(f"# {line}\n" for line in text.removesuffix("\n").split("\n"))


def figure_sentence(figure: Standing, *, weakest: bool = False) -> str:
    """Return what a figure is now, with its interval."""
    bounds = ""
    if figure.low is not None and figure.high is not None:
        bounds = f" ({figure.low:.3f} to {figure.high:.3f}, {100 * figure.confidence:g}%)"
    about = "The weakest category: " if weakest else ""
    subject = (
        figure_in_sentence(figure)
        if figure.measure
        else f"agreement on {quoted_text(figure.category or '')}"
    )
    return sentence(f"{about}{subject}, now {figure.value or 0.0:.3f}{bounds}")


def drop_sentence() -> str:
    """Return what a check of a fall compares with."""
    return 'Compared with the last snapshot; for another one: since = "its name".'


def level_sentence() -> str:
    """Return what a check of a change of level compares with."""
    return "Compared with the level before the last change; no snapshot is needed."


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
