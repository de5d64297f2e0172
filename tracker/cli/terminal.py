"""How text leaves for the terminal: visible, encodable, and no more of it than is wanted."""

from __future__ import annotations

import os
import secrets
import signal
import stat
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from types import FrameType
from typing import IO, Annotated, Any, Final, TextIO

import typer

from tracker.core.errors import InvalidOption, Refused, escaped_text
from tracker.render.escape import NEAREST, escaped_message_line

_QUIET = "quiet"
_wish: set[str] = set()


def prepare_terminal() -> None:
    """Let standard output and error take every text; one that is closed takes it to nowhere."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - to the end
            setattr(sys, name, nowhere)
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=NEAREST)


def terminal_data_stream(stream: TextIO) -> TextIO:
    """Return the stream for rows of data, which no fallback may change: in UTF-8, as files are."""
    if not _is_unicode(stream) and hasattr(stream, "reconfigure"):
        stream.reconfigure(encoding="utf-8")
    return stream


def is_unicode() -> bool:
    """Return whether standard output takes every character."""
    return _is_unicode(sys.stdout)


def _is_unicode(stream: Any) -> bool:
    return (getattr(stream, "encoding", None) or "utf-8").lower().startswith(("utf", "u8"))


def say(text: str = "", *, err: bool = False, nl: bool = True, bold: bool = False) -> None:
    """Print a text that may hold names from data."""
    shown = escaped_text(text)
    # Who reads standard error, and stops, is no reason to drop standard output.
    with nullcontext() if err else while_output_is_read():
        typer.echo(typer.style(shown, bold=True) if bold else shown, err=err, nl=nl)


def say_data(text: str, *, nl: bool = True) -> None:
    """Print a text in a form for programs, which holds data as that form has it."""
    typer.echo(text, nl=nl)


def say_error(lines: Iterable[str | None]) -> None:
    """Print what is wrong and how to fix it, a line each."""
    for line in lines:
        if line:
            typer.echo(escaped_message_line(line), err=True)


@contextmanager
def while_output_is_read() -> Iterator[None]:
    """Print as long as somebody reads; what then becomes of the command is its own affair."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        drop_output()


def drop_output() -> None:
    """Let what is still to be written go nowhere: the interpreter complains of it as it ends."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def warn(text: str) -> None:
    """Say on standard error what to bear in mind about a result; not with --quiet."""
    if _QUIET not in _wish:
        _dim(text)


def hint(text: str) -> None:
    """Say on standard error what a sensible next command is: to a person at a terminal."""
    if _QUIET not in _wish and _is_for_people():
        _dim(text)


def be_quiet(wanted: bool) -> None:
    _wish.clear()
    _wish.update({_QUIET} if wanted else ())


def is_quiet() -> bool:
    return _QUIET in _wish


def progress_bars_wanted() -> bool:
    """Return whether to draw a progress bar."""
    return sys.stderr.isatty() and _QUIET not in _wish


@contextmanager
def progress_bar(
    doing: str, *, in_bytes: bool = False
) -> Iterator[Callable[[int, int | None], None] | None]:
    """A bar on a terminal, set by what is done and the total if it is known; else nothing."""
    if not progress_bars_wanted():
        yield None
        return
    from rich import progress
    from rich.console import Console

    bar = progress.Progress(
        progress.TextColumn(doing),
        progress.BarColumn(),
        progress.DownloadColumn() if in_bytes else progress.MofNCompleteColumn(),
        progress.TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task(doing, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def steps_shown() -> Iterator[Callable[[str], None]]:
    """Yield what says, where there are progress bars, at which step a command is."""
    if not progress_bars_wanted():
        yield lambda _: None
        return
    from rich.console import Console

    from tracker.render.cells import Text

    with Console(stderr=True).status("") as shown:
        yield lambda name: shown.update(Text(name))


def _is_for_people() -> bool:
    return sys.stderr.isatty()


def _dim(text: str) -> None:
    dim = sys.stderr.isatty() and "NO_COLOR" not in os.environ
    typer.secho(escaped_text(text), err=True, dim=dim)


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
    with new_output_file(path, force=force) as file:
        file.write(text.encode())
