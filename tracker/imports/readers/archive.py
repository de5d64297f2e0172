"""Folders and zip files: the files in them, read one by one and never unpacked to a disk."""

from __future__ import annotations

import hashlib
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from tracker.core.errors import Refused
from tracker.imports.readers import zstandard
from tracker.imports.readers.source import ReadAs, SourceFile, layout_with

_MOST_FILES = 200_000
_LARGEST = 64 * 1024**3  # bytes
_MOST_PACKED = 200  # times smaller than its content; text is packed 5 to 30 times
_SMALL = 256 * 1024**2  # bytes that an archive may hold however well it is packed
_NO_CONTENT = {"__MACOSX", "Thumbs.db"}


class Archive:
    """The files of an archive by their paths in it, such as ``annotation/doc.txt/ada.tsv``.

    Hidden files are left out. `names` is sorted.
    """

    def __init__(self, name: str, names: list[str], opened: Callable[[str], IO[bytes]]) -> None:
        self.name = name
        self.names = sorted(
            one
            for one in names
            if not any(part.startswith(".") or part in _NO_CONTENT for part in one.split("/"))
        )
        self.leading_out = sum(".." in one.split("/") for one in names)  # of the files left out
        self.layout: ReadAs | None = None
        self.encoding: str | None = None
        self.file: IO[bytes] | None = None
        self.part: str | None = None  # of it that is read: the name of a sheet
        self.annotator: str | None = None  # who gave all answers of a workbook
        self.facts: dict[str, Any] = {}
        self._layouts: dict[str, ReadAs] = {}
        self._facts: dict[str, dict[str, Any]] = {}
        self._opened = opened

    @property
    def layouts(self) -> dict[str, ReadAs]:
        """Which column or field is what, by the name of the file; or of the whole archive."""
        if self.layout is None:
            return self._layouts
        return {self.name: layout_with(self.layout, {"annotator": self.annotator})}

    def add_layout(self, name: str, layout: ReadAs, facts: Mapping[str, Any]) -> None:
        """Note which column is what in a part of the archive, and how it is read."""
        self._layouts[name] = layout
        self._facts[name] = {**self.facts, **facts}

    @property
    def facts_by_file(self) -> dict[str, dict[str, Any]]:
        """How each file is read, by its name; or the whole archive."""
        return self._facts if self.layout is None else {self.name: self.facts}

    def matching(self, pattern: str) -> list[str]:
        """Return the names that a pattern such as ``*.ann`` matches; ``*`` matches ``/``, too."""
        return [name for name in self.names if fnmatchcase(name, pattern)]

    def open(self, name: str) -> SourceFile:
        """Return a file of the archive as a source of its own. Raises Refused."""
        try:
            stream = self._opened(name)
        except (OSError, RuntimeError, zipfile.BadZipFile, NotImplementedError) as error:
            raise Refused(f"{self.name}/{name} cannot be read: {error}") from None
        source = SourceFile(name, stream, name=f"{self.name}/{name}")
        source.encoding = self.encoding
        return source

    def files(self) -> Iterator[SourceFile]:
        """Yield each file, opened; it is closed when the next one is asked for."""
        for name in self.names:
            source = self.open(name)
            try:
                yield source
                self._layouts |= source.layouts
                self._facts |= source.facts_by_file
            finally:
                source.close()

    def text(self, name: str) -> str:
        """Return the text of a file that fits into memory, which may be empty. Raises Refused."""
        with closing(self.open(name)) as source:
            return "".join(source.texts()) if source.head else ""


class _Member:
    """The stream of a packed file, whose faults are those of a file."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.close = stream.close

    def read1(self, size: int) -> bytes:
        try:
            data: bytes = self._stream.read1(size)  # type: ignore[attr-defined]
        except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError) as error:
            raise OSError(str(error)) from error
        return data


def zip_archive(name: str, file: IO[bytes]) -> Archive:
    """Return the files in a zip file.

    Raises Refused if it is damaged, or would fill a machine's memory or time if it were unpacked.
    """
    try:
        packed = zipfile.ZipFile(file)
        members = [one for one in packed.infolist() if not one.is_dir()]
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError) as error:
        raise Refused(f"{name} is damaged: it does not unpack ({error})") from None
    content = sum(one.file_size for one in members)
    size = file.seek(0, os.SEEK_END)
    if (
        len(members) > _MOST_FILES
        or content > _LARGEST
        or content > max(_SMALL, _MOST_PACKED * size)
    ):
        raise Refused(
            f"{name} would unpack to {content:,} bytes in {len(members):,} files",
            "unpack it yourself if that is right, and import the files",
        )
    if any(one.flag_bits & 1 for one in members):
        raise Refused(f"{name} is encrypted", "unpack it, and import the folder")

    def opened(one: str) -> IO[bytes]:
        member = packed.getinfo(one)
        if member.compress_type == zstandard.METHOD:
            return cast("IO[bytes]", zstandard.ZstandardMember(file, member))
        return cast("IO[bytes]", _Member(packed.open(member)))

    archive = Archive(name, [one.filename for one in members], opened)
    archive.file = file
    return archive


class SourceFolder:
    """A folder as one source of an import. Raises Refused if it cannot be read."""

    bytes_read = 0

    def __init__(self, path: str) -> None:
        self.name = self.path = path

    @cached_property
    def archive(self) -> Archive:
        """The files in the folder and the folders in it; links are not followed."""
        root = Path(self.path)
        found: list[str] = []
        for folder, _, files in os.walk(root, onerror=_unreadable):
            some = (Path(folder, one) for one in files)
            found += [str(PurePosixPath(one.relative_to(root))) for one in some if _is_plain(one)]
            if len(found) > _MOST_FILES:
                raise Refused(f"{self.path} has more than {_MOST_FILES:,} files")
        return Archive(self.path.rstrip("/"), found, lambda name: Path(root, name).open("rb"))

    def again(self) -> SourceFolder:
        """Return the source to be read once more."""
        return SourceFolder(self.path)

    @property
    def layouts(self) -> dict[str, ReadAs]:
        """Which column or field is what, by the name of the file."""
        return self.archive.layouts

    @property
    def facts_by_file(self) -> dict[str, dict[str, Any]]:
        """How each file is read, by its name."""
        return self.archive.facts_by_file

    @property
    def size(self) -> int:
        """Bytes in all its files."""
        return sum(Path(self.path, name).stat().st_size for name in self.archive.names)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the names of all files and the digests of their content."""
        whole = hashlib.sha256()
        for source in self.archive.files():
            source.drain()
            whole.update(f"{source.path}\0{source.digest}\0".encode())
        return whole.hexdigest()

    def watch(self, report: Callable[[int], None]) -> None:
        """Do nothing: the files are small, and read in the order of their names."""

    def drain(self) -> None:
        """Do nothing: the digest reads each file."""

    def close(self) -> None:
        """Do nothing: no file is open."""


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _unreadable(error: OSError) -> None:
    raise Refused(f"{error.filename} cannot be read: {error.strerror}")
