"""Files that are sent: kept on the disk as they come, none larger than is allowed."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Collection, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import file_digest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fastapi import Request
from fastapi.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException

from tracker.core.errors import InvalidOption, Refused

_LONGEST = 150  # characters of a file's name on the disk
_MOST_FIELDS, _MOST_FILES = 1000, 100


SentFile = tuple[Path, str]
"""Where a file is, and the name that it was sent with."""


@dataclass
class Uploaded:
    """What was sent.

    Attributes:
        files: those that are to be read.
        fields: the values of each field of a form, by its name.
        beside: files that say how the others are read, by the names of their fields, likewise.
    """

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
    found = Uploaded()
    try:
        for name, value in form.multi_items():
            if not isinstance(value, UploadFile):
                found.fields.setdefault(name, []).append(value)
            elif name != "file" and (name not in beside or name in found.beside):
                raise InvalidOption(f"the form has a file {name!r}", "call each one: file")
            else:
                filename = value.filename or "file"
                path = _place(folder, len(found.files) + len(found.beside), filename)
                await run_in_threadpool(_kept, value.file, path)
                if name == "file":
                    found.files.append((path, filename))
                else:
                    found.beside[name] = path, filename
    finally:
        await form.close()
    if not found.files:
        raise InvalidOption("the form has no file", "add one, called: file")
    return found


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
