"""Files that were sent for a look before they are imported."""

from __future__ import annotations

import secrets
import shutil
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tracker.core.errors import NotFound, TrackerError
from tracker.ledger import Ledger

_MOST = 20  # uploads that wait


@dataclass
class Staged:
    """Some files, and how they are to be read.

    Attributes:
        token: the upload is known by; nobody can guess it.
        project: the project to import into.
        files: where each is, and the name that it was sent with.
        form: the fields that say how they are read, as they were filled in.
        options: the same as keywords of `import_uploads`.
        found: what an import would do, as JSON; None until that is known.
        problem: why that cannot be known.
    """

    token: str
    project: str
    files: list[tuple[Path, str]]
    form: dict[str, list[str]] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    found: dict[str, Any] | None = None
    problem: TrackerError | None = None


class Staging:
    """The uploads that wait, the last ones; all are gone when the server stops."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._waiting: OrderedDict[str, Staged] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def folder(self) -> Path:
        """Where the files wait; there is room beside it for files that are just coming."""
        return self._ledger.requests.files_folder()

    def keep(self, project: str, files: list[tuple[Path, str]]) -> Staged:
        """Move files into a place where they wait."""
        token = secrets.token_urlsafe(16)
        root = self.folder / token
        kept = []
        for number, (path, name) in enumerate(files):
            place = root / str(number) / path.name  # readers look at the end of a name
            place.parent.mkdir(parents=True)
            kept.append((Path(shutil.move(path, place)), name))
        with self._lock:
            staged = self._waiting[token] = Staged(token, project, kept)
            while len(self._waiting) > _MOST:
                self._forget(next(iter(self._waiting)))
        return staged

    def get(self, token: str) -> Staged:
        """Return an upload; raises NotFound for one that waits no longer."""
        staged = self._waiting.get(token)
        if staged is None or not all(path.exists() for path, _ in staged.files):  # by an erasure
            raise NotFound("these files wait no longer", "choose them again")
        return staged

    def clear(self) -> None:
        """Forget all uploads, and delete their files."""
        with self._lock:
            for token in [*self._waiting]:
                self._forget(token)

    def drop(self, token: str) -> None:
        """Forget an upload, and delete its files."""
        with self._lock:
            self._forget(token)

    def _forget(self, token: str) -> None:
        staged = self._waiting.pop(token, None)
        if staged is not None and staged.files:
            shutil.rmtree(staged.files[0][0].parents[1], ignore_errors=True)

    def close(self) -> None:
        """Delete all files, also those that a server left that was killed."""
        self._ledger.requests.forget_files()
