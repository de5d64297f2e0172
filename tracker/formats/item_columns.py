"""Columns that are items, counts of annotators, or one of the answers in a row."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from shlex import quote

from tracker.core.errors import Refused
from tracker.formats import column_names
from tracker.formats.column_names import NAMES_OF_ROLES, NamedColumn, folded_name, listed_names

RESPONDENTS = re.findall(
    r"\w+",
    "name full_name your_name respondent respondent_id participant participant_id prolific_pid "
    "email e_mail email_address e_mail_address your_email recipientemail username responseid "
    "response_id record_id recordid token id",
)
"""Names of the column of who answered in a table with a row for each of them, best first."""

RESPONDED = re.findall(
    r"\w+",
    "recordeddate submitdate completion_time enddate end_date end_time datestamp _submission_time "
    "zeitstempel horodateur marca_temporal",
)
"""Names of the column of when a row was answered in such a table."""

_NO_ITEMS = re.compile(
    r"start_?date|start_?time|startlanguage|ip_?addr(?:ess)?|duration(?:_\(.*)?|_\w+|redcap_\w+"
    r"|recipient(?:last|first)name|externalreference|location(?:latitude|longitude)"
    r"|distributionchannel|userlanguage|q_(?:recaptcha|relevant|duplicate|unanswered)\w*"
    r"|lastpage|refurl|collector_id|(?:first|last)_name|custom_data.*|last_modified_time|user_agent"
)
_NO_ITEMS_OF = {
    "responseid": re.compile("status|progress|finished|enddate"),
    "record_id": re.compile(r"\w+_(?:complete|timestamp)"),
    "submitdate": re.compile("seed|language"),
}
"""What tools of surveys add to the answers of a row; some are known by another column."""

NUMBER_OF_FAMILY = "{n}"  # in names of columns: the number that columns of one answer share
UNLIKE = "constant_answers"  # the oddity of columns that may be texts in place of answers

_TOTALS = re.compile(
    "(?:(?:n|num|number_of|total)_)?(?:raters|annotators|judgments|ratings|votes|answers|responses)"
    "|n|counts?|totals|n_total|total_n|all"
)
"""Names of columns that say how many annotators an item has."""
_LEAST = 2  # columns of a family, or that count
_NEAR = 4  # of the numbers of other columns: a scale may go on by some values

_NUMBERED = re.compile(r"(.*\D)(\d+)", re.DOTALL)


def numbered_columns(text: str, names: Sequence[str]) -> dict[str, int]:
    """Return the places of the columns that ``text`` names, by what stands for its ``{n}``."""
    before, _, after = text.partition(NUMBER_OF_FAMILY)
    number = re.compile(rf"{re.escape(before)}(\d+){re.escape(after)}", re.IGNORECASE)
    fits = ((number.fullmatch(name), place) for place, name in enumerate(names))
    return {match[1].lstrip("0") or "0": place for match, place in fits if match}


def numbered_families(names: Sequence[str]) -> dict[str, set[str]]:
    """Return the numbers of columns whose names differ in their last number, by what is before."""
    families: dict[str, set[str]] = {}
    for match in filter(None, map(_NUMBERED.fullmatch, names)):
        families.setdefault(match[1], set()).add(match[2].lstrip("0") or "0")
    return {stem: numbers for stem, numbers in families.items() if len(numbers) >= _LEAST}


def proposed_families(names: Sequence[str]) -> str | None:
    """Return the mapping of columns such as ``rater_1``, ``rating_1``, ``rater_2``, ``rating_2``.

    None if the numbered columns are not one family for the category and one for the annotator or
    the item, all with the same numbers.
    """
    families = numbered_families(names)
    roles = {
        role: stem
        for role in ("item", "annotator", "category")
        for stem in families
        if {*re.split(r"[^a-z]+", stem.casefold())} & {*NAMES_OF_ROLES[role].split()}
    }
    numbers = [families[stem] for stem in roles.values()]
    if "category" not in roles or len({*roles.values()}) < _LEAST or numbers[1:] != numbers[:-1]:
        return None
    return " ".join(f"--map {quote(f'{role}={stem}{{n}}')}" for role, stem in roles.items())


def check_families(families: Mapping[str, str], names: Sequence[str], source: str) -> None:
    """Raise Refused if columns ``{n}`` of roles do not have the same numbers, or no answer each."""
    places = {text: numbered_columns(text, names) for text in families.values()}
    every = {number for numbered in places.values() for number in numbered}
    for text, numbered in places.items():
        if lacking := sorted(every - numbered.keys(), key=int):
            others = [each[n] for each in places.values() for n in lacking if n in each]
            raise Refused(
                f"{source} has no column {text.replace(NUMBER_OF_FAMILY, lacking[0])!r}, "
                f"though others have the number {lacking[0]}",
                "correct the name, or leave out the others: "
                + " ".join(f"--ignore {quote(names[n])}" for n in others),
            )
    roles = {role.partition(":")[0] for role in families}
    if "category" not in roles or not {"item", "annotator", "question"} & roles:
        role = "item" if "category" in roles else "category"
        raise Refused(
            f"{source}: {next(iter(places))!r} names several columns, and the {role} has one",
            f"name a column for each: --map '{role}=COLUMN{{n}}'",
        )


def check_named_columns(named: Sequence[NamedColumn], names: Sequence[str], source: str) -> None:
    """Raise Refused if the names of two columns say the same."""
    first: dict[NamedColumn, int] = {}
    for column in named:
        other = first.setdefault(column._replace(place=0), column.place)
        if other != column.place:
            same = dict.fromkeys([names[other], names[column.place]])
            raise Refused(
                f"{source}: two columns are named {' and '.join(map(repr, same))}",
                "rename one of them, or delete it",
            )


def check_alike(
    places: Collection[int], names: Sequence[str], sample: Sequence[Sequence[str]], source: str
) -> None:
    """Raise Refused for columns of items that hold no value of the others."""
    cells = {n: {row[n].strip() for row in sample if n < len(row)} - {""} for n in sorted(places)}
    if others := [names[n] for n in unlike_columns(cells)]:
        raise Refused(
            f"{source}: {listed_names(others)} {'does' if len(others) == 1 else 'do'} not hold "
            "answers that other columns hold",
            f"leave out what is not an item: {' '.join(f'--ignore {quote(n)}' for n in others)}"
            f"; if they are items: --accept {UNLIKE}",
        )


def respondent_column(
    names: Sequence[str],
    folded: Sequence[str],
    taken: Collection[int],
    sample: Sequence[Sequence[str]],
) -> int | None:
    """Return the column of who answered a row: the first known name, best one that differs by row.

    The first column is it, too, if its cells differ from each other and from all other cells.
    """
    cells = [[row[n].strip() for row in sample if n < len(row)] for n in range(len(names))]
    apart = [n for n, texts in enumerate(cells) if len({*texts} - {""}) == len(texts)]
    places = [folded.index(name) for name in RESPONDENTS if name in folded]
    free = [n for n in places if n not in taken]
    if free:
        return next((n for n in free if n in apart), free[0])
    first = {*cells[0]} if 0 in apart and 0 not in taken and names[0] else set()
    others = (text for texts in cells[1:] for text in texts)
    is_first = first and not column_names.number_range(first) and first.isdisjoint(others)
    return 0 if is_first else None


def no_item_columns(names: Sequence[str]) -> set[int]:
    """Return the columns that are not items in a table with a row for each annotator."""
    roles = NAMES_OF_ROLES.keys() - {"item", "annotator", "category"}
    words = {word for role in roles for word in NAMES_OF_ROLES[role].split()}
    words |= {*RESPONDENTS, *RESPONDED}
    folded = [*map(folded_name, names)]
    tools = [_NO_ITEMS, *(fits for sign, fits in _NO_ITEMS_OF.items() if sign in folded)]
    return {*column_names.summary_columns(names)} | {
        n
        for n, name in enumerate(folded)
        if name in words or any(fits.fullmatch(name) for fits in tools)
    }


def unlike_columns(columns: Mapping[int, set[str]]) -> list[int]:
    """Return the columns whose values no other column holds, such as texts.

    A number near the range of the numbers in several columns does not count.
    """
    number = Counter(value for values in columns.values() for value in values)
    sharing = {n for n, values in columns.items() if any(number[value] > 1 for value in values)}
    ranges = {n: column_names.number_range(values) for n, values in columns.items() if values}
    ends = [end for n in sharing or ranges for end in ranges[n]]
    low, high = min(ends, default=0), max(ends, default=0)
    near = max(high - low, _NEAR)
    return [
        n
        for n, ends_of in ranges.items()
        if n not in sharing
        and (sharing or ends)
        and not (ends_of and low - near <= ends_of[0] and ends_of[1] <= high + near)
    ]


def count_columns(
    names: Sequence[str], free: Sequence[int], sample: Sequence[Sequence[str]], source: str
) -> list[int]:
    """Return the columns that count annotators by category, of the columns without a role.

    Raises Refused if one of them holds no counts, or the sum of the others.
    """
    totals = {n for n in free if _TOTALS.fullmatch(folded_name(names[n]))}
    left_out = totals | {*column_names.summary_columns(names)}
    columns = [n for n in free if n not in left_out]
    rows = [row for row in sample if len(row) == len(names)]
    counts = {n: [as_count(row[n]) for row in rows] for n in columns}
    others = [n for n, cells in counts.items() if None in cells and not any(cells)]
    sums = [sum(filter(None, cells)) for cells in zip(*counts.values(), strict=True)]
    if not others and len(columns) > _LEAST < len(sums):
        doubled = {n: [2 * (count or 0) for count in cells] for n, cells in counts.items()}
        others = [n for n in columns if any(counts[n]) and doubled[n] == sums]
    if others or not columns:
        wrong = [names[n] for n in others or free]
        raise Refused(
            f"{source} has columns that do not count annotators: {listed_names(wrong)}",
            f"leave out what counts nothing: {' '.join(f'--ignore {quote(n)}' for n in wrong)}",
        )
    return columns


def as_count(text: str) -> int | None:
    """Return the whole number from 0 that a cell holds; None for anything else."""
    match = re.fullmatch(r"\s*(\d{1,9})(?:\.0+)?\s*", text, re.ASCII)
    return int(match[1]) if match else None
