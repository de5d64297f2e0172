"""Why a difference was tested as it was, or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_TITLES: Final = {
    "welch_t": "Welch's t test",
    "mann_whitney": "The Mann-Whitney test",
    "student_t": "Student's t test",
    "paired_t": "The paired t test",
    "wilcoxon": "Wilcoxon's signed-rank test",
}
_PAIRED: Final = {"paired_t", "wilcoxon"}
ENOUGH: Final = 30
"""So many values have a mean that is nearly normal, whatever their distribution."""


def dependent_t_sentence() -> str:
    return "Paired t on the items' influences, because the two results share items."


def independent_t_sentence() -> str:
    return "Welch's t on the standard errors, because the two results rest on different items."


def no_figure_sentence() -> str:
    return "No test: one of the two results, or both, has no such figure."


def column_test_sentence(test: str, sizes: tuple[int, int], *, requested: bool, equal: bool) -> str:
    """Return why this test of the items' own figures: the design, or a request."""
    if requested:
        reason = "as requested"
    else:
        same = "both sides have the same items" if test in _PAIRED else "the sides share no item"
        number = f"{sizes[0]:,}" if test in _PAIRED else f"{sizes[0]:,} and {sizes[1]:,}"
        enough = (
            f"are enough for a test of means ({ENOUGH} or more)"
            if test.endswith("_t")
            else f"are too few for a test of means (fewer than {ENOUGH})"
        )
        reason = f"because {same}, and {number} {enough}"
    return f"{_TITLES[test]}, {reason}{'; no value differs' if equal else ''}."


def too_few_values_sentence() -> str:
    return "There are fewer than two values."


def no_influence_sentence() -> str:
    return "No test for pairs of annotators on shared items: what one item changes is not counted."


def no_error_sentence() -> str:
    # Of 12 annotators on 300 items of three answers a pair shares 14 items.
    return "No test for Light's kappa: if pairs share few items, its error is too small for one."


def no_sample_sentence() -> str:
    return (
        "No test for the annotators: each is compared with the others on the same items, so they "
        "are no independent sample. The items are."
    )


Versions = Sequence[tuple[str, str | None]]
"""Annotators that are versions of a model, and the version of each if it is known."""


def judge_change_sentence(
    family: str,
    before: Versions,
    after: Versions,
    sides: tuple[str, str] | None,
    moved: tuple[str, float] | None,
) -> str:
    """Return which versions of a model answer on both sides of a comparison.

    ``sides`` are their names; None if the first became the second. ``moved`` is a figure, and by
    how much the versions' answers move it; None if they do not count.
    """
    if sides is None:
        sentence = (
            f"The judge changed: {family} {_versions('was', before, 'had')} before and "
            f"{_versions('is', after, 'has')} now."
        )
    else:
        sentence = (
            f"The judge differs: {family} {_versions('is', before, 'has')} in {sides[0]} and "
            f"{_versions('is', after, 'has')} in {sides[1]}."
        )
    if moved is None:
        return f"{sentence} Its answers do not count in these figures."
    return f"{sentence} {moved[0]} moves by {moved[1]:+z.3f} because of its answers."


def _versions(verb: str, versions: Versions, verb_of_none: str) -> str:
    names = [name if version is None else f"{name} ({version})" for name, version in versions]
    if not names:
        return f"{verb_of_none} no answer"
    *first, last = names
    return f"{verb} {', '.join(first)} and {last}" if first else f"{verb} {last}"
