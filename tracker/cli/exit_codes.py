"""The one place where an error becomes a line on standard error and an exit code."""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tracker.core.errors import TrackerError

INTERNAL: Final = 70
"""The exit code for a fault of this program, as sysexits.h has it."""

_REFUSED: Final = 3


@dataclass(frozen=True)
class Failure:
    """What is wrong, what to do about it, and the exit code."""

    message: str
    mend: str | None
    exit_code: int


def exit_failure(error: Exception) -> Failure:
    """Return what to say of an error, whatever it is; nothing of an unknown one's text.

    That may hold statements, parameters and rows; the place where it arose holds none.
    """
    if isinstance(error, TrackerError):
        return Failure(error.message, error.mend, error.exit_code)
    if isinstance(error, UnicodeEncodeError):
        from tracker.core.errors import utf8_error

        known = utf8_error(error)
        if known is not None:
            return exit_failure(known)
    if isinstance(error, OSError) and error.strerror:
        if error.filename is None:
            return Failure(f"the output cannot be written: {error.strerror}", None, _REFUSED)
        return Failure(f"{error.filename} cannot be used: {error.strerror}", None, _REFUSED)
    if isinstance(error, MemoryError):
        return Failure("there is not enough memory", "choose fewer answers", INTERNAL)
    return Failure(
        f"internal error: {type(error).__name__} at {_place(error)}",
        "this is a fault of tracker, not yours: please report this line",
        INTERNAL,
    )


def _place(error: Exception) -> str:
    """Return the innermost line of this package that the error passed."""
    package = Path(__file__).parents[1]
    frames = [
        f"{Path(frame.filename).relative_to(package)}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).is_relative_to(package)
    ]
    return frames[-1] if frames else "an unknown place"
