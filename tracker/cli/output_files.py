"""Files that commands make: whole or not at all, and never in the place of another by mistake."""

from __future__ import annotations

import os
import secrets
import signal
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import IO, Annotated, Final

import typer

from tracker.core.errors import InvalidOption, Refused

Force = Annotated[bool, typer.Option("--force", help="Replace an existing file.")]

_DATABASE: Final = b"SQLite format 3\0"
_BESIDE_A_DATABASE: Final = ("-wal", "-shm", "-journal")


def check_output_file(path: Path, *, force: bool) -> None:
    """Raise InvalidOption if a file may not be made there; to be called before any work.

    A file that is there is replaced only with ``force``, and a database never.
    """
    if not os.path.lexists(path):
        return
    if is_database_file(path):
        raise InvalidOption(
            f"{path} is a database; a database is never replaced", "name another file"
        )
    if not force:
        raise InvalidOption(f"{path} already exists", "name another file, or add --force")
    if path.exists() and not path.is_file() and not path.is_dir():
        raise InvalidOption(f"{path} is not a regular file", "name another file")


def is_database_file(path: Path) -> bool:
    """Whether a file, or what a link leads to, is a database or one of the files beside it."""
    for end in _BESIDE_A_DATABASE:
        if path.name.endswith(end):
            path = path.with_name(path.name.removesuffix(end))
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(len(_DATABASE)) == _DATABASE
    except OSError:
        return False


@contextmanager
def new_output_file(path: Path, *, force: bool = False) -> Iterator[IO[bytes]]:
    """A file that gets its name once it is whole; on any error, or signal, nothing is left.

    Without ``force`` it takes no other file's place, with it also a link's: what a link leads
    to is left alone. Raises Refused where it cannot be written.
    """
    part = path.parent / f".tracker-{secrets.token_hex(8)}.part"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with _ended_in_order():
            try:
                with os.fdopen(os.open(part, flags, 0o666), "wb") as file:
                    yield file
                    file.flush()
                    os.fsync(file.fileno())
                    _name(part, path, force=force)
            finally:
                part.unlink(missing_ok=True)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        reason = error.strerror or str(error)
        raise Refused(f"{path} cannot be written: {reason}", "name another file") from None


def _name(part: Path, path: Path, *, force: bool) -> None:
    """Give a whole file its name."""
    if force:
        if path.is_file() and not path.is_symlink():
            part.chmod(stat.S_IMODE(path.stat().st_mode))
        part.replace(path)
        return
    try:
        path.hardlink_to(part)  # fails if a file has come there since
    except FileExistsError:
        raise
    except OSError:  # not all file systems know links
        part.rename(path)


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """Let the signals that end a program unwind it, so that what is half made is taken away."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(number: int, _frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    for number in numbers:
        if before[number] is signal.SIG_DFL:
            signal.signal(number, end)
    try:
        yield
    finally:
        for number in numbers:
            if before[number] is signal.SIG_DFL:
                signal.signal(number, signal.SIG_DFL)


def write_output_file(path: Path, text: str, *, force: bool = False) -> None:
    """Write a file, as `new_output_file` does."""
    with new_output_file(path, force=force) as file:
        file.write(text.encode())
