"""How changes of level and alarms are found."""

from __future__ import annotations


def change_points_sentence() -> str:
    """Return the method that finds levels, and its penalty."""
    return (
        "Optimal partitioning into levels of two periods or more, each change at the price of the "
        "modified Bayes information criterion (Zhang and Siegmund 2007)."
    )


def cusum_sentence(reference: float, limit: float, periods: int) -> str:
    """Return the method that raises alarms, and its rate of false ones."""
    return (
        f"Self-starting cumulative sum (Page 1954, Hawkins 1987), reference value {reference}, "
        f"limit {limit:.2f}: one alarm in about {periods} periods on a steady project."
    )
