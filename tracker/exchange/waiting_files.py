"""Files that were sent to a server and wait, each server's in a folder of its own."""

from __future__ import annotations

import os
import shutil
import tempfile
from hashlib import sha256
from pathlib import Path

from tracker.storage.database import Database

_WAITING = "waiting"


def waiting_folder(database: Database) -> Path:
    """Return the folder for files that wait for this process to import them, made if need be.

    Beside it is room for those that are just coming.
    """
    folder = _folder_of(database) / str(os.getpid()) / _WAITING
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
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
