"""Files that were sent to a server and wait, each server's in a folder of its own."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from tracker.core.errors import DatabaseUnusable
from tracker.storage.database import Database

_WAITING = "waiting"


def waiting_folder(database: Database) -> Path:
    """Return the folder for files that wait for this process to import them, made if need be.

    Beside it is room for those that are just coming. Raises DatabaseUnusable if another user of
    the machine has made a folder in its place.
    """
    root = _folder_of(database)
    root.mkdir(mode=0o700, exist_ok=True)
    if root.is_symlink() or (os.name == "posix" and root.stat().st_uid != os.getuid()):
        raise DatabaseUnusable(f"{root} is another user's", "set TMPDIR to a folder of your own")
    folder = root / str(os.getpid()) / _WAITING
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def forget_waiting_files(database: Database) -> None:
    """Delete the files that wait to be imported into a database, whichever server took them."""
    for folder in _folder_of(database).glob(f"*/{_WAITING}"):
        shutil.rmtree(folder, ignore_errors=True)


def forget_own_files(database: Database) -> None:
    """Delete the files of this process, which ends, and of servers that were killed."""
    for folder in _folder_of(database).glob("*"):
        if folder.name == str(os.getpid()) or not _runs(folder.name):
            shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):  # another server's are in it
        _folder_of(database).rmdir()


def _folder_of(database: Database) -> Path:
    name = sha256(f"{Path.home()} {database.place}".encode()).hexdigest()[:16]
    return Path(tempfile.gettempdir(), f"tracker-uploads-{name}")


def _runs(process: str) -> bool:
    """Return whether a process is there, as far as the system tells without disturbing it."""
    if os.name != "posix":
        return False
    try:
        os.kill(int(process), 0)
    except (ValueError, ProcessLookupError):
        return False
    except PermissionError:
        pass
    return True
