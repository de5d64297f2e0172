"""Which columns of a table in wide form are annotators'."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import combinations

from tracker.core.errors import Refused
from tracker.formats.column_names import folded_name, listed_names

SUMMARIES = frozenset({
    "majority", "mean", "average", "median", "mode", "var", "variance", "std", "sd", "sum", "total",
    "final", "consensus", "agreement", "kappa", "alpha",
})  # fmt: skip
"""Names of columns that summarize answers, and are never an annotator's."""

_NUMBERED = re.compile(r"(?P<stem>.*?[^\W\d_])[\s_.-]*(?P<number>\d+)", re.DOTALL)
_SHARED = 0.5  # of a column's values, if it holds the answers that another one holds
_ENOUGH = 2  # different values of a column, if they can be values of its own


def summary_columns(names: Sequence[str]) -> dict[int, str]:
    """Return the columns that summarize answers, by place."""
    kinds = "|".join(SUMMARIES)
    summary = re.compile(rf"(?:{kinds})(?:_(?:vote|label|score|rating))?")
    return {n: name for n, name in enumerate(names) if summary.fullmatch(folded_name(name))}


def annotator_columns(
    names: Sequence[str], free: Sequence[int], sample: Sequence[Sequence[str]], source: str
) -> dict[str, int]:
    """Return the annotators' columns by name, of those at the places that no role has.

    They are the columns of one family, such as ``rater1`` and ``rater2`` or one name that comes
    again; else those that share their values in the sample of rows. Raises Refused if there are
    several families, or a column has values of its own.
    """
    families = _families(names, free)
    if len(families) > 1:
        listed = "; or: ".join(
            "--map annotators=" + ",".join(family) for family in list(families.values())[:2]
        )
        raise Refused(
            f"{source} has several groups of columns that could be annotators: "
            f"{', '.join(stem for stem in families)}",
            f"say which: {listed}; or how their names are made: "
            "--columns '{question}{annotator}'",
        )
    for family in families.values():
        return family
    columns = {n: {row[n].strip() for row in sample if n < len(row)} - {""} for n in free}
    group = _sharing(columns)
    if group:
        others = [n for n in free if n not in group and len(columns[n]) >= _ENOUGH]
        if others:
            raise Refused(
                f"{source}: {listed_names([names[n] for n in others])} "
                f"{'does' if len(others) == 1 else 'do'} not hold the values of "
                f"{listed_names([names[n] for n in sorted(group)])}",
                "say who the annotators are: --map annotators="
                + ",".join(names[n] for n in sorted(group)),
            )
    return {names[n]: n for n in free}


def _families(names: Sequence[str], free: Sequence[int]) -> Mapping[str, dict[str, int]]:
    """Return groups of two or more columns whose names differ in a number, or not at all."""
    families: dict[str, dict[str, int]] = {}
    again = {name for name in names if name and [*names].count(name) > 1}
    for n in free:
        if names[n] in again:
            family = families.setdefault(folded_name(names[n]), {})
            family[f"{names[n]} {len(family) + 1}"] = n
        elif match := _NUMBERED.fullmatch(names[n]):
            families.setdefault(folded_name(match["stem"]), {})[names[n]] = n
    return {
        stem: family
        for stem, family in families.items()
        # A1, A2 and B1 are three people.
        if len(family) > 1 and (len(stem) > 1 or len(family) == len(free))
    }


def _sharing(columns: Mapping[int, set[str]]) -> set[int]:
    """Return the largest group of columns that share their values with each other."""
    groups: list[set[int]] = []
    for pair in combinations(columns, 2):
        if _alike(*(columns[n] for n in pair)):
            near = [group for group in groups if group & {*pair}]
            groups = [group for group in groups if group not in near] + [{*pair}.union(*near)]
    return max(groups, key=len, default=set())


def _alike(left: set[str], right: set[str]) -> bool:
    if not left or not right:
        return False
    if len(left & right) >= _SHARED * min(len(left), len(right)):
        return True
    ranges = [_range(values) for values in (left, right)]
    return all(ranges) and ranges[0][0] <= ranges[1][1] and ranges[1][0] <= ranges[0][1]


def _range(values: set[str]) -> tuple[float, ...]:
    try:
        numbers = [float(value.replace(",", ".")) for value in values]
    except ValueError:
        return ()
    return min(numbers), max(numbers)
