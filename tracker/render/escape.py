"""Text from data as it may be shown: nothing in it acts on a terminal, and no line is endless."""

from __future__ import annotations

import codecs
import unicodedata
from typing import Final

from tracker.core.errors import escaped_text

_LONGEST: Final = 1000  # characters of a line


_HEAD: Final = 700  # of these, before the gap


def escaped_line(text: str) -> str:
    """Return a text likewise, on one line."""
    return escaped_text(text).replace("\n", r"\n")


def escaped_message_line(text: str) -> str:
    """Return a message on one line, its middle left out if it quotes something very long."""
    shown = escaped_line(text)
    if len(shown) <= _LONGEST:
        return shown
    return f"{shown[:_HEAD]} … {shown[_HEAD - _LONGEST :]}"


# What tables, curves and sentences are drawn with, where the output knows ASCII only.
_PLAIN: Final = {
    **dict.fromkeys("─━═╌┄", "-"), **dict.fromkeys("│┃║", "|"), **dict.fromkeys("█▉▊▋▌", "#"),
    **dict.fromkeys("┌┐└┘├┤┬┴┼╭╮╯╰╷╵╶╴╸╺╹╻", "+"), "▍": "=", "▎": "-", "▏": "",
    "▁": "_", "▂": "_", "▃": ".", "▄": "-", "▅": "-", "▆": "=", "▇": "=", "▲": "^",
    "…": "...", "→": "->", "\N{EN DASH}": "-", "—": "-", "±": "+-", "≥": ">=",
    "≤": "<=", "\N{LEFT SINGLE QUOTATION MARK}": "'", "\N{RIGHT SINGLE QUOTATION MARK}": "'",
    "\N{MULTIPLICATION SIGN}": "x", "“": '"', "”": '"', "·": "*", "•": "*", "✓": "ok", "✅": "ok",
    "❌": "FAIL", "\N{NO-BREAK SPACE}": " ",
}  # fmt: skip


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    r"""Return the nearest that every encoding has: a drawn line in ASCII, a letter as ``\xe9``."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    characters = error.object[error.start : error.end]
    return "".join(
        _PLAIN.get(character) or _in_letters(character) for character in characters
    ), error.end


def _in_letters(character: str) -> str:
    if character in _PLAIN or unicodedata.category(character) == "Cf":
        return ""
    return character.encode("ascii", "backslashreplace").decode()


NEAREST: Final = "tracker-ascii"
"""How characters are encoded that an encoding does not have, for `str.encode`."""

codecs.register_error(NEAREST, _in_ascii)
