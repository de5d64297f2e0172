"""How large an effect must be before it is called a finding, however sure the test is."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from pathlib import Path

from tracker.core.errors import Refused


@dataclass(frozen=True)
class Floors:
    """The least effects of a flag; one field is one threshold, and has one meaning.

    Attributes:
        constant_share: of ``constant_category``, the share of answers in one category.
        bias_odds_ratio: of ``category_bias``, odds against the co-annotators', either way.
        severity_points: of ``severity_bias``, in standard deviations of answers to an item.
        agreement_gap: of ``low_agreement``, share of co-annotators agreed with, below theirs.
        information_share: of ``random_answers``, the upper bound of the spammer score as a part
            of the co-annotators' score.
        accuracy_gap: of ``low_gold_accuracy``, share of right answers below the others'.
        repeat_gap: of ``low_self_agreement``, share of answers repeated, below the others'.
        drift_fall: of ``drift``, by how much the share fell.
        same_again: of ``straight_lining``, share of answers equal to the one before, above the
            share that the items explain.
        time_ratio: of ``too_fast``, time an answer against the others' for the same items.
        copied_ratio: of ``copying``, shared minority answers against the expected number.
        empty_odds_ratio: of ``empty_answers``, odds against the co-annotators'.
    """

    constant_share: float = 0.95
    bias_odds_ratio: float = 2.0
    severity_points: float = 0.5
    agreement_gap: float = 0.1
    information_share: float = 0.4
    accuracy_gap: float = 0.1
    repeat_gap: float = 0.1
    drift_fall: float = 0.15
    same_again: float = 0.15
    time_ratio: float = 0.5
    copied_ratio: float = 2.0
    empty_odds_ratio: float = 2.0


DEFAULT_FLOORS = Floors()

_AT_LEAST_ONE = frozenset({"bias_odds_ratio", "copied_ratio", "empty_odds_ratio"})


def floors_of(path: Path) -> Floors:
    """Return the thresholds of a TOML file; raises Refused if it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise Refused(f"{path} cannot be read: {reason}") from None
    return read_floors(text, path.name)


def read_floors(text: str, source: str) -> Floors:
    """The thresholds of a TOML file's table ``[audit]``; those not named keep their default.

    Args:
        text: the file's content.
        source: its name, for messages.

    Raises:
        Refused: with the line, where the text is not TOML, a threshold is unknown or
            outside its range: odds and ratios from 1, shares from 0 to 1, points from 0.
    """
    try:
        told = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # what is no TOML, too long or nested too deeply
        raise Refused(f"{source} is not TOML: {error}", "see: tracker audit --help") from None
    table = told.get("audit", {})
    if not isinstance(table, dict) or set(told) - {"audit"}:
        stray = next(iter(set(told) - {"audit"}), "audit")
        raise Refused(
            f"{source}{_line(text, stray)}: {stray!r} is not the table [audit]",
            "thresholds of an audit are keys of the table [audit]",
        )
    names = [field.name for field in fields(Floors)]
    for key, value in table.items():
        where = f"{source}{_line(text, key)}"
        if key not in names:
            from difflib import get_close_matches

            close = get_close_matches(key, names, n=1)
            mend = f"did you mean {close[0]!r}?" if close else f"one of: {', '.join(names)}"
            raise Refused(f"{where}: there is no threshold {key!r}", mend)
        least, most = _range(key)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise Refused(f"{where}: {key} is {value!r}, not a number")
        if not least <= value <= most:
            raise Refused(f"{where}: {key} is {value}", f"give {least:g} to {most:g}")
    return Floors(**{key: float(value) for key, value in table.items()})


def _range(key: str) -> tuple[float, float]:
    if key in _AT_LEAST_ONE:
        return 1.0, 1e6
    return 0.0, 10.0 if key == "severity_points" else 1.0


def _line(text: str, key: str) -> str:
    """``:3`` where the third line sets the key; nothing where none does."""
    for number, line in enumerate(text.splitlines(), start=1):
        if line.partition("=")[0].strip(" []\t") == key:
            return f":{number}"
    return ""
