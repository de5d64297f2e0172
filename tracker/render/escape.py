"""Text from data as it may be shown: nothing in it acts on a terminal, and no line is endless."""

from __future__ import annotations

import codecs
import re
import unicodedata
from typing import Final

# C0 less the end of a line, DEL and C1; what reverses or hides the text after it; the ends of
# lines that only Unicode knows; bytes of the command line that were not UTF-8.
_ACTING: Final = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)


_LONGEST: Final = 1000  # characters of a line


_HEAD: Final = 700  # of these, before the gap


def escaped_text(text: str) -> str:
    r"""Return the text with each control character as Python writes it, such as ``\x1b``.

    The ends of lines stay. A byte that was not UTF-8 is shown as that byte.
    """
    return _ACTING.sub(_escaped, text)


def escaped_line(text: str) -> str:
    """Return a text likewise, on one line."""
    return escaped_text(text).replace("\n", r"\n")


def escaped_message_line(text: str) -> str:
    """Return a message on one line, its middle left out if it quotes something very long."""
    shown = escaped_line(text)
    if len(shown) <= _LONGEST:
        return shown
    return f"{shown[:_HEAD]} … {shown[_HEAD - _LONGEST :]}"


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    if 0xDC80 <= code <= 0xDCFF:  # how Python carries a byte that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return repr(found[0])[1:-1]


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
    found = error.object[error.start : error.end]
    return "".join(_PLAIN.get(one) or _in_letters(one) for one in found), error.end


def _in_letters(character: str) -> str:
    if character in _PLAIN or unicodedata.category(character) == "Cf":
        return ""
    return character.encode("ascii", "backslashreplace").decode()


NEAREST: Final = "tracker-ascii"
"""How characters are encoded that an encoding does not have, for `str.encode`."""

codecs.register_error(NEAREST, _in_ascii)
