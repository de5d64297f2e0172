"""What the names of columns say: a role, an annotator, a question, a category."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, combinations
from shlex import quote
from typing import NamedTuple

from tracker.core.errors import InvalidOption, Refused
from tracker.formats.dates import are_dates

_SHOWN = 60  # characters of a column's name in a list of them
_MOST_SHOWN = 300  # columns
_LONGEST = 600  # characters of a list of columns

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
    "category": " (the answer)",
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


def sort_likely_first(names: Sequence[str], roles: Collection[str]) -> Sequence[str]:
    words = {word for role in roles for word in NAMES_OF_ROLES[role].split()}
    return sorted(names, key=lambda name: not words & {*re.split("[^a-z]+", folded_name(name))})


def listed_names(names: Sequence[str], roles: Collection[str] = ()) -> str:
    """Return the names of columns; of many, first those that are likely to have a role."""
    names = sort_likely_first(names, roles) if len(names) > 12 else names
    lines = (" ".join(name.split()) for name in names[:_MOST_SHOWN])
    cut = [name if len(name) <= _SHOWN else name[:_SHOWN] + "…" for name in lines]
    ends = accumulate(len(name) + 2 for name in cut)
    shown = cut[: sum(end <= _LONGEST for end in ends)]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more > 0 else "")


# -- Names of columns that hold more than one thing: ``{annotator}_{question}.{category}`` --------

PARTS = ("annotator", "question", "category", "item")  # what a name can hold, in braces

YES = frozenset(
    {"1", "1.0", "true", "t", "x", "yes", "y", "ja", "oui", "si", "sí", "wahr", "✓", "✔"}
)
"""Cells, in lower case, that say that the category of their column was chosen."""
NO = frozenset({"0", "0.0", "false", "f", "no", "n", "nein", "non", "falsch", "-"})
"""Cells, in lower case, that say that it was not; so does an empty one beside others."""

_BRACES = re.compile(r"\{(\w+)\}")
_LEAST = 2  # columns that a proposed pattern fits


class NamedColumn(NamedTuple):
    """A column by its place, with what its name says; what it does not say is None."""

    place: int
    annotator: str | None = None
    question: str | None = None
    category: str | None = None
    item: str | None = None


@dataclass(frozen=True)
class ColumnPattern:
    """How the names of some columns are made, such as ``{annotator}_{question}``."""

    text: str

    def __post_init__(self) -> None:
        """Raise InvalidOption for a pattern that names nothing, or something twice."""
        named, example = self.parts, "such as: --columns '{annotator}_{question}.{category}'"
        if wrong := next((name for name in named if name not in PARTS), None):
            raise InvalidOption(
                f"--columns {self.text!r}: a name holds {', '.join(PARTS)}, not {wrong!r}", example
            )
        if not named or len({*named}) < len(named):
            fault = "names nothing in braces" if not named else "names something twice"
            raise InvalidOption(f"--columns {self.text!r} {fault}", example)

    @property
    def parts(self) -> Collection[str]:
        return _BRACES.findall(self.text)

    def columns(self, names: Sequence[str], taken: Collection[int]) -> tuple[NamedColumn, ...]:
        pieces = _BRACES.split(self.text)
        expression = "".join(
            f"(?P<{piece}>.+?)" if n % 2 else re.escape(piece) for n, piece in enumerate(pieces)
        )
        fits = re.compile(expression, re.DOTALL)
        return tuple(
            NamedColumn(place, **{part: text.strip() for part, text in match.groupdict().items()})
            for place, name in enumerate(names)
            if place not in taken and name and (match := fits.fullmatch(name))
        )


_PERSON = r"(?:annotator|ann|rater|coder|judge|worker|user|labell?er|reviewer|expert|person|r|a)"
_JOINED = re.compile(
    rf"{_PERSON}[ _-]?\d+(?P<first>[_. -])[^_.]+(?:(?P<second>[.:])[^.:]+)?", re.IGNORECASE
)


def proposed_pattern(names: Sequence[str]) -> str | None:
    """Return the pattern that names such as ``Annotator3_tone.polite`` plainly follow."""
    matches = [match for name in names if (match := _JOINED.fullmatch(name))]
    ways = {(match["first"], match["second"]) for match in matches}
    if len(matches) < _LEAST or len(ways) != 1:
        return None
    first, second = ways.pop()
    return f"{{annotator}}{first}{{question}}" + (f"{second}{{category}}" if second else "")


SUMMARIES = frozenset({
    "majority", "mean", "average", "median", "mode", "var", "variance", "std", "sd", "sum", "total",
    "final", "consensus", "agreement", "kappa", "alpha",
})  # fmt: skip
_NUMBERED = re.compile(r"(?P<stem>.*?[^\W\d_])[\s_.-]*(?P<number>\d+)", re.DOTALL)
_SHARED = 0.5  # of a column's values, if it holds the answers that another one holds
_ENOUGH = 2  # different values of a column, if they can be values of its own


def summary_columns(names: Sequence[str]) -> dict[int, str]:
    kinds = "|".join(SUMMARIES)
    summary = re.compile(rf"(?:{kinds})(?:_(?:vote|label|score|rating))?")
    return {n: name for n, name in enumerate(names) if summary.fullmatch(folded_name(name))}


def listed_annotators(names: Collection[str]) -> str:
    """Return the option that says who the annotators are, if it can, and is short enough."""
    listed = f"--map {quote('annotators=' + ','.join(names))}"
    is_clear = len(listed) < _LONGEST and not any("," in name for name in names)
    return listed if is_clear else "--map annotators=A,B,C"


def annotator_columns(
    names: Sequence[str], free: Sequence[int], sample: Sequence[Sequence[str]], source: str
) -> dict[str, int]:
    """Return the annotators' columns by name, of those at the places that no role has.

    They are the columns of one family, such as ``rater1`` and ``rater2`` or one name that comes
    again; else those that share their values in the sample of rows. Raises Refused if there are
    several families, or a column has values of its own.
    """
    families = find_families(names, free)
    if len(families) > 1:
        listed = "; or: ".join(map(listed_annotators, list(families.values())[:2]))
        if any(stem.startswith("input.") for stem in families):  # of a batch of Mechanical Turk
            listed = "--map annotators=A,B,C, or leave out --wide"
        raise Refused(
            f"{source} has several groups of columns that could be annotators: "
            f"{', '.join(stem for stem in families)}",
            f"say which: {listed}; or how their names are made: "
            "--columns '{question}{annotator}'",
        )
    for family in families.values():
        return family
    columns = {n: {row[n].strip() for row in sample if n < len(row)} - {""} for n in free}
    group = find_sharing({n: cells for n, cells in columns.items() if not are_dates(cells)})
    others = [n for n in free if n not in group and len(columns[n]) >= _ENOUGH] if group else []
    if others:
        alike = [names[n] for n in sorted(group)]
        raise Refused(
            f"{source}: {listed_names([names[n] for n in others])} "
            f"{'does' if len(others) == 1 else 'do'} not hold the values of {listed_names(alike)}",
            f"say who the annotators are: {listed_annotators(alike)}",
        )
    return {names[n]: n for n in free}


def find_families(names: Sequence[str], free: Sequence[int]) -> Mapping[str, dict[str, int]]:
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


def find_sharing(columns: Mapping[int, set[str]]) -> set[int]:
    """Return the largest group of columns that share their values with each other."""
    groups: list[set[int]] = []
    ranges = {n: number_range(values) for n, values in columns.items()}
    for pair in combinations(columns, 2):
        left, right = pair
        if any(group >= {*pair} for group in groups):
            continue
        if _alike(columns[left], columns[right], ranges[left], ranges[right]):
            near = [group for group in groups if group & {*pair}]
            groups = [group for group in groups if group not in near] + [{*pair}.union(*near)]
    return max(groups, key=len, default=set())


def _alike(
    left: set[str], right: set[str], of_left: Sequence[float], of_right: Sequence[float]
) -> bool:
    if not left or not right:
        return False
    if len(left & right) >= _SHARED * min(len(left), len(right)):
        return True
    return bool(of_left and of_right) and of_left[0] <= of_right[1] and of_right[0] <= of_left[1]


def number_range(values: set[str]) -> tuple[float, ...]:
    """Return the least and the greatest of values that all are numbers; nothing for others."""
    try:
        numbers = [float(value.replace(",", ".")) for value in values]
    except ValueError:
        return ()
    return (min(numbers), max(numbers)) if numbers else ()
