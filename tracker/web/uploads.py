"""Files that are sent: kept on the disk as they come, none larger than is allowed."""

from __future__ import annotations

import secrets
import shutil
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Collection, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import file_digest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException

from tracker.core.errors import InvalidOption, NotFound, Refused, TrackerError
from tracker.ledger import Ledger

if TYPE_CHECKING:
    from tracker.imports.columns import Grid
    from tracker.imports.loader import ImportResult

_LONGEST = 150  # characters of a file's name on the disk
_MOST_FIELDS, _MOST_FILES = 1000, 100


SentFile = tuple[Path, str]
"""Where a file is, and the name that it was sent with."""


@dataclass
class Uploaded:
    """Files to read, fields of a form by name, and files that say how the others are read."""

    files: list[SentFile] = field(default_factory=list)
    fields: dict[str, list[str]] = field(default_factory=dict)
    beside: dict[str, SentFile] = field(default_factory=dict)

    def said(self) -> Iterator[bytes]:
        """Yield what tells it from others: fields, names and digests of files."""
        yield repr(sorted(self.fields.items())).encode("utf-8", "surrogatepass")
        yield repr(sorted(self.beside)).encode()
        for path, name in [*self.files, *(one for _, one in sorted(self.beside.items()))]:
            yield name.encode("utf-8", "surrogatepass")
            with path.open("rb") as file:
                yield file_digest(file, "sha256").digest()


@asynccontextmanager
async def uploaded(
    request: Request, filename: str | None, beside: Collection[str] = ()
) -> AsyncIterator[Uploaded]:
    """Yield what a request sent, a form with files or one file; it is gone afterwards.

    ``beside`` are the names of further files that a form may have.
    Raises 413 for more bytes than the server takes.
    """
    request.state.body.allow(
        request.app.state.max_upload, "the server was started with --max-upload"
    )
    request.state.turn.close()  # files take long to come, and imports wait by themselves
    with TemporaryDirectory(dir=request.app.state.staging.folder.parent) as folder:
        if request.headers.get("content-type", "").startswith("multipart/form-data"):
            yield await _form(request, Path(folder), beside)
        elif not filename:
            raise InvalidOption("the file has no name", "add ?filename=answers.csv, or send a form")
        else:
            yield await _body(request, Path(folder), filename)


async def _body(request: Request, folder: Path, filename: str) -> Uploaded:
    path = _place(folder, 0, filename)
    with path.open("wb") as file:
        async for part in request.stream():
            await run_in_threadpool(file.write, part)
    return Uploaded([(path, filename)])


async def _form(request: Request, folder: Path, beside: Collection[str]) -> Uploaded:
    try:
        form = await request.form(max_files=_MOST_FILES, max_fields=_MOST_FIELDS)
    except MultiPartException as error:
        raise Refused(f"the form cannot be read: {error.message}", "send it anew") from None
    sent = Uploaded()
    try:
        for name, value in form.multi_items():
            if not isinstance(value, UploadFile):
                sent.fields.setdefault(name, []).append(value)
            elif name != "file" and (name not in beside or name in sent.beside):
                raise InvalidOption(f"the form has a file {name!r}", "call each one: file")
            else:
                filename = value.filename or "file"
                path = _place(folder, len(sent.files) + len(sent.beside), filename)
                await run_in_threadpool(_kept, value.file, path)
                if name == "file":
                    sent.files.append((path, filename))
                else:
                    sent.beside[name] = path, filename
    finally:
        await form.close()
    if not sent.files:
        raise InvalidOption("the form has no file", "add one, called: file")
    return sent


def _kept(stream: Any, path: Path) -> None:
    with path.open("wb") as file:
        shutil.copyfileobj(stream, file)


def _place(folder: Path, number: int, filename: str) -> Path:
    """Return where a file is kept: readers look at the end of its name, nothing at its folders."""
    last = filename.replace("\\", "/").rpartition("/")[2]
    safe = "".join(sign if sign.isascii() and sign.isprintable() else "_" for sign in last)
    inside = folder / str(number)
    inside.mkdir()
    return inside / (safe[-_LONGEST:].strip(". ") or "file")


# -- Files that were sent for a look before they are imported -------------------------------------


_MOST = 20  # uploads that wait


@dataclass
class Staged:
    """Some files, and how they are to be read.

    Attributes:
        options: the fields of the form, as keywords of `import_uploads`.
        made: what an import would do; None until that is known.
        items: what registering them as items would do, if they have no answers.
        problem: why it cannot be known what an import would do.
        read_as: the number of the import as whose files these are read.
        same: whether a new name is the one that it resembles, by what it is a name of, and itself.
    """

    token: str
    project: str
    files: list[SentFile]
    form: dict[str, list[str]] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    made: ImportResult | None = None
    items: ImportResult | None = None
    grids: list[Grid] = field(default_factory=list)
    problem: TrackerError | None = None
    read_as: int | None = None
    same: dict[tuple[str, ...], bool] = field(default_factory=dict)


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

    def keep(self, project: str, files: list[SentFile]) -> Staged:
        token = secrets.token_urlsafe(16)
        staged = Staged(token, project, self._moved(token, files))
        with self._lock:
            self._waiting[token] = staged
            while len(self._waiting) > _MOST:
                self._forget(next(iter(self._waiting)))
        return staged

    def replace(self, staged: Staged, files: list[SentFile]) -> None:
        """Let other files wait in place of those of an upload; how they are read stays."""
        folder = self.folder / staged.token
        shutil.rmtree(folder, ignore_errors=True)
        staged.files = self._moved(staged.token, files)

    def _moved(self, token: str, files: list[SentFile]) -> list[SentFile]:
        kept = []
        for number, (path, name) in enumerate(files):
            place = self.folder / token / str(number) / path.name  # readers look at a name's end
            place.parent.mkdir(parents=True)
            kept.append((Path(shutil.move(path, place)), name))
        return kept

    def get(self, token: str) -> Staged:
        """Return an upload; raises NotFound for one that waits no longer."""
        staged = self._waiting.get(token)
        if staged is None or not all(path.exists() for path, _ in staged.files):  # by an erasure
            raise NotFound("these files wait no longer", "choose them again")
        return staged

    def clear(self) -> None:
        with self._lock:
            for token in [*self._waiting]:
                self._forget(token)

    def drop(self, token: str) -> None:
        with self._lock:
            self._forget(token)

    def _forget(self, token: str) -> None:
        staged = self._waiting.pop(token, None)
        if staged is not None and staged.files:
            shutil.rmtree(staged.files[0][0].parents[1], ignore_errors=True)

    def close(self) -> None:
        """Delete all files, also those that a server left that was killed."""
        self._ledger.requests.forget_files()
