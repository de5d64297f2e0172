"""A new file that has its name once it is whole and on the disk."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tracker.core.errors import InvalidOption


@contextmanager
def new_file(target: Path, like: Path | None) -> Iterator[Path]:
    """Yield a file beside ``target`` that gets its name if the block ends well.

    Until then it is for its owner alone; then it has the mode of the file ``like`` and is on
    the disk. Else nothing is left. Raises InvalidOption if the target exists or cannot be made.
    """
    import tempfile  # it draws random numbers, which is slow to start

    path = None
    try:
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, "it already exists")
        handle, name = tempfile.mkstemp(prefix=".tracker-backup-", dir=target.parent)
        path = Path(name)
        os.close(handle)
        yield path
        if like is not None:
            path.chmod(stat.S_IMODE(like.stat().st_mode))
        _sync(path)
        _give_name(path, target)
        _sync(target.parent)
    except (OSError, ValueError) as error:  # a name may hold what no name can
        why = getattr(error, "strerror", None) or str(error)
        raise InvalidOption(f"{target} cannot be made: {why}", "name another file") from None
    finally:
        if path is not None:
            path.unlink(missing_ok=True)


def _give_name(path: Path, target: Path) -> None:
    """Give a file its final name, other than over a file that has come there since."""
    try:
        target.hardlink_to(path)
    except FileExistsError:
        raise
    except OSError:  # not all file systems know links
        path.rename(target)


def _sync(path: Path) -> None:
    """Wait until a file, or what a folder lists, is on the disk."""
    if path.is_dir() and os.name != "posix":
        return  # other systems open no folders
    handle = os.open(path, os.O_RDWR if path.is_file() else os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
