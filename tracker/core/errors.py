"""The errors that a user can correct, each kind with its exit code.

An error's text is one or two lines: what is wrong and where, then what to do about it.
"""

from __future__ import annotations

import re
from typing import Final

WAIT_LONGER: Final = "try again when it is done, or wait: --wait 120"
# C0 less "\n", DEL, C1; what reverses or hides text; Unicode's ends of lines; bytes but UTF-8.
_ACTING: Final = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)


def escaped_text(text: str) -> str:
    r"""Return the text with each control character as Python writes it, such as ``\x1b``.

    The ends of lines stay. A byte that was not UTF-8 is shown as that byte.
    """
    return _ACTING.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    if 0xDC80 <= code <= 0xDCFF:  # how Python carries a byte that is not UTF-8
        return f"\\x{code - 0xDC00:02x}"
    return repr(match[0])[1:-1]


class TrackerError(Exception):
    """The root of all errors that a user can correct."""

    exit_code = 2

    def __init__(self, message: str, mend: str | None = None) -> None:
        self.message = escaped_text(message)
        self.mend = None if mend is None else escaped_text(mend)
        super().__init__(self.message)

    def __str__(self) -> str:
        return self.message if self.mend is None else f"{self.message}\n{self.mend}"


class InvalidOption(TrackerError):
    """The command or call was given an unknown or unsuitable option."""


class NoFigures(InvalidOption):
    """There is no figure yet from which a threshold could be taken."""


class Refused(TrackerError):
    """The input was refused; nothing was stored."""

    exit_code = 3


class NoBasis(Refused):
    """A figure was asked for that what there is cannot support, whatever is computed from it."""

    exit_code = 6


class CheckFailed(TrackerError):
    """A requested check did not pass."""

    exit_code = 1


class NotFound(TrackerError):
    """A project, annotator, item, import or snapshot of that name does not exist."""

    exit_code = 4


class DatabaseUnusable(TrackerError):
    """The database is unreachable, locked, at the wrong revision or not ours."""

    exit_code = 5


def utf8_error(error: UnicodeEncodeError) -> InvalidOption | None:
    """Return what to say of bytes of the command line that are no text; None for other causes."""
    text = error.object[error.start : error.end]
    if not any("\udc80" <= character <= "\udcff" for character in text):
        return None
    shown = text.encode("utf-8", "surrogateescape").hex(" ")
    return InvalidOption(f"a name or text holds bytes that are not UTF-8: {shown}", "use UTF-8")


def first_line(error: object) -> str:
    """Return what an error of a library says first."""
    return str(error).strip().partition("\n")[0][:300]
