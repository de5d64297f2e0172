"""The errors that a user can correct, each kind with its exit code.

An error's text is one or two lines: what is wrong and where, then what to do about it.
"""

from __future__ import annotations


class TrackerError(Exception):
    """The root of all errors that a user can correct."""

    exit_code = 2

    def __init__(self, message: str, mend: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.mend = mend

    def __str__(self) -> str:
        return self.message if self.mend is None else f"{self.message}\n{self.mend}"


class InvalidOption(TrackerError):
    """The command or call was given an unknown or unsuitable option."""

    exit_code = 2


class Refused(TrackerError):
    """The input was refused; nothing was stored."""

    exit_code = 3


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
    found = error.object[error.start : error.end]
    if not any("\udc80" <= character <= "\udcff" for character in found):
        return None
    shown = found.encode("utf-8", "surrogateescape").hex(" ")
    return InvalidOption(f"a name or text holds bytes that are not UTF-8: {shown}", "use UTF-8")
