"""Why a difference has no test."""

from __future__ import annotations


def no_influence() -> str:
    """Return why pairs of annotators are not tested on items that both sides share."""
    return "No test for pairs of annotators on shared items: what one item changes is not counted."


def no_error() -> str:
    """Return why Light's kappa is not tested.

    It is the mean of the pairs' kappas: of 12 annotators on 300 items of three answers a pair
    shares 14 items.
    """
    return "No test for Light's kappa: if pairs share few items, its error is too small for one."


def no_sample() -> str:
    """Return why the annotators are not tested."""
    return (
        "No test for the annotators: each is compared with the others on the same items, so they "
        "are no independent sample. The items are."
    )
