"""An audit that may be shown to others: without names, and without figures of very few answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tracker.audit.result import Audit, AuditedAnnotator
from tracker.core.errors import InvalidOption

_RESTING_ON = {
    "agreement_with_peers": "items_shared",
    "agreement_low": "items_shared",
    "agreement_high": "items_shared",
    "agreement_of_peers": "items_shared",
    "kappa_with_majority": "items_shared",
    "self_agreement": "repeats",
    "gold_accuracy": "gold_answers",
    "median_seconds": "answers",
    "days_active": "answers",
    "first_answer": "answers",
    "last_answer": "answers",
}
"""Each figure, and the number of answers that it rests on."""

_SHARES = {"category_shares": "answers", "peer_shares": "items_shared"}


def renamed(found: Audit, names: Mapping[int, str], ids: Mapping[str, int] | None = None) -> Audit:
    """The audit with other names of the annotators, in the order of these.

    Args:
        found: the audit.
        names: the other names, by the annotators' numbers.
        ids: the numbers of all annotators of the project, also of those left out, by name; without
            them the selection keeps its names.
    """
    annotators = (replace(one, name=names[one.id]) for one in found.annotators)
    selection = found.selection
    if selection is not None and ids is not None:
        others = {
            key: sorted(names[ids[name]] for name in selection[key] or ())
            for key in ("annotators", "excluded")
        }
        selection = {**selection, **others}
    ordered = tuple(sorted(annotators, key=lambda one: one.name))
    return replace(found, annotators=ordered, selection=selection)


def suppressed(found: Audit, least: int) -> Audit:
    """The audit without cells of fewer than ``least`` answers.

    Figures of fewer are None, findings that rest on fewer are left out, and so are the items of
    the others, each of them a cell of few answers.

    Raises InvalidOption where ``least`` is negative.
    """
    check_least(least)
    annotators = tuple(_suppressed(one, least) for one in found.annotators)
    return replace(found, annotators=annotators, shown={} if least > 1 else found.shown)


def check_least(least: int) -> None:
    """Raise InvalidOption where no cell could have fewer than so many answers."""
    if least < 0:
        raise InvalidOption(f"cells of fewer than {least} answers cannot be", "use 5, for one")


def _suppressed(one: AuditedAnnotator, least: int) -> AuditedAnnotator:
    flags = tuple(flag for flag in one.flags if flag.n >= least)
    return replace(one, figures=suppressed_figures(one.figures, least), flags=flags)


def suppressed_figures(figures: Mapping[str, Any], least: int) -> dict[str, Any]:
    """An annotator's figures with None for those of fewer than ``least`` answers.

    A share whose number of answers, or whose rest, is under ``least`` but not 0 is such a cell.
    """
    told = dict(figures)
    for name, number in _RESTING_ON.items():
        if (figures.get(number) or 0) < least and name in told:
            told[name] = None
    for name, number in _SHARES.items():
        answers = figures.get(number) or 0
        told[name] = {
            category: None if _small(share, answers, least) else share
            for category, share in figures[name].items()
        }
    return told


def _small(share: float, answers: int, least: int) -> bool:
    cells = (share * answers, (1.0 - share) * answers)
    return answers < least or any(0.5 < cell < least - 0.5 for cell in cells)
