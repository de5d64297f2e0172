"""How large an effect must be before it is called a finding, however sure the test is."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from tracker.core.errors import Refused


@dataclass(frozen=True)
class Threshold:
    """The least effect of a flag, which users can set to a number between two bounds."""

    name: str
    default: float
    least: float = 0.0
    most: float = 1.0


Floors: TypeAlias = Mapping[str, float]
"""Thresholds that differ from their defaults, by name."""


def audit_thresholds_from_file(path: Path, thresholds: Iterable[Threshold]) -> Floors:
    """Return the thresholds of a TOML file; raises Refused if it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise Refused(f"{path} cannot be read: {reason}") from None
    return read_audit_thresholds(text, path.name, thresholds)


def read_audit_thresholds(text: str, source: str, thresholds: Iterable[Threshold]) -> Floors:
    """Return the thresholds in a TOML file's table ``[audit]``; those not named keep their default.

    Args:
        text: the file's content.
        source: its name, for messages.
        thresholds: all that there are.

    Raises:
        Refused: with the line, if the text is not TOML, or a threshold is unknown or outside its
            bounds.
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
    known = {threshold.name: threshold for threshold in thresholds}
    for key, value in table.items():
        where = f"{source}{_line(text, key)}"
        if key not in known:
            from difflib import get_close_matches

            close = get_close_matches(key, known, n=1)
            mend = f"did you mean {close[0]!r}?" if close else f"one of: {', '.join(known)}"
            raise Refused(f"{where}: there is no threshold {key!r}", mend)
        least, most = known[key].least, known[key].most
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise Refused(f"{where}: {key} is {value!r}, not a number")
        if not least <= value <= most:
            raise Refused(f"{where}: {key} is {value}", f"give {least:g} to {most:g}")
    return {key: float(value) for key, value in table.items() if value != known[key].default}


def _line(text: str, key: str) -> str:
    """Return ``:3`` if the third line sets the key; nothing if none does."""
    for number, line in enumerate(text.splitlines(), start=1):
        if line.partition("=")[0].strip(" []\t") == key:
            return f":{number}"
    return ""
