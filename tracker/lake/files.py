"""The files of an address: found, described and digested. No file is changed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from tracker.core.errors import InvalidOption, Refused, first_line
from tracker.lake.views import FILE

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.fs import FileSystem

_PATTERN = set("*?[")
_AT_ONCE = 2**22  # bytes
_OPTIONS = {"region", "scheme", "endpoint_override"}
"""Of an address, what is no secret."""
_MOST_FILES = 30_000
_HADOOPS = {"s3": "s3a", "abfs": "abfss"}
"""Schemes that Hadoop calls otherwise."""


class FoundFile(NamedTuple):
    """A file as its folder lists it: the path, bytes, and when it was changed (microseconds).

    ``identity`` is a local file's inode, and the time of its last write, which nobody can set.
    """

    path: str
    size: int
    modified_at: int
    identity: str | None


@dataclass(frozen=True)
class Address:
    """A file, a folder or a pattern such as ``labels/2026-*.parquet``; a path or a URL."""

    text: str

    @classmethod
    def parse(cls, text: str) -> Address:
        """Return an address, a path as a whole one; raises InvalidOption for one with a secret."""
        text = text.strip()
        if not text:
            raise InvalidOption("--labels-at is empty", "name a Parquet file, or a folder of them")
        if "://" not in text:
            return cls(str(Path(text).absolute()))
        parts = urlsplit(text)
        if "@" in parts.netloc or {name for name, _ in parse_qsl(parts.query)} - _OPTIONS:
            raise InvalidOption(
                f"--labels-at: the address in {parts.scheme}:// holds credentials, and is stored",
                "leave them to the environment, such as AWS_ACCESS_KEY_ID",
            )
        return cls(text)

    @property
    def is_local(self) -> bool:
        return "://" not in self.text

    @cached_property
    def place(self) -> tuple[FileSystem, str]:
        """The file system, and the path in it; raises InvalidOption for an unknown one."""
        import pyarrow as pa
        from pyarrow import fs

        if self.is_local:
            return fs.LocalFileSystem(), Path(self.text).as_posix()
        try:
            system, path = fs.FileSystem.from_uri(self.text)
        except (pa.ArrowException, OSError) as error:
            raise InvalidOption(
                f"--labels-at: {first_line(error)}", "such as: s3://bucket/labels"
            ) from None
        return system, path

    def uri(self, path: str) -> str:
        """Return a file's path as Hadoop reads it."""
        scheme = "file" if self.is_local else urlsplit(self.text).scheme
        if scheme == "file":
            return f"file:{path}"
        return f"{_HADOOPS.get(scheme, scheme)}://{path.lstrip('/')}"

    def list_files(self) -> list[FoundFile]:
        """Return the Parquet files by path, but not those whose name begins with . or _.

        Raises Refused if there is none, or the place cannot be read.
        """
        from pyarrow import fs

        system, path = self.place
        base = path
        if _PATTERN & set(path):
            parts = PurePosixPath(path).parts
            fixed = next(n for n, part in enumerate(parts) if _PATTERN & set(part))
            base = str(PurePosixPath(*parts[:fixed]))
        try:
            info = system.get_file_info(base)
            if info.type == fs.FileType.Directory:
                infos = system.get_file_info(fs.FileSelector(base, recursive=True))
            else:
                infos = [] if info.type == fs.FileType.NotFound else [info]
        except OSError as error:
            raise Refused(f"{self.text} cannot be read: {first_line(error)}") from None
        files = [
            FoundFile(info.path, info.size, (info.mtime_ns or 0) // 1000, self.identity(info.path))
            for info in infos
            if info.type == fs.FileType.File and self._is_ours(info.path, path, base)
        ]
        if not files:
            raise Refused(
                f"{self.text}: there is no Parquet file",
                "name a file, a folder, or a pattern such as 'labels/*.parquet'",
            )
        if len(files) > _MOST_FILES:
            raise Refused(f"{self.text}: {len(files):,} files; {_MOST_FILES:,} are the most")
        return sorted(files)

    def identity(self, path: str) -> str | None:
        """Return a file's `FoundFile.identity`."""
        try:
            found = Path(path).stat() if self.is_local else None
        except OSError:
            return "gone"
        return found and f"{found.st_ino} {found.st_ctime_ns}"

    def _is_ours(self, path: str, wanted: str, base: str) -> bool:
        if path == wanted:
            return True
        inside = PurePosixPath(path[len(base) :].lstrip("/"))
        if any(part[0] in "._" for part in inside.parts):
            return False
        if base != wanted:
            return path.count("/") == wanted.count("/") and fnmatchcase(path, wanted)
        return inside.suffix == ".parquet"

    def digest(self, path: str, progress: Callable[[int], None]) -> str:
        """Return the SHA-256 of a file's bytes; ``progress`` gets how many were read at a time."""
        system, _ = self.place
        digest = hashlib.sha256()
        try:
            with system.open_input_stream(path) as stream:
                while content := stream.read(_AT_ONCE):
                    digest.update(content)
                    progress(len(content))
        except OSError as error:
            raise Refused(f"{path} cannot be read: {first_line(error)}") from None
        return digest.hexdigest()

    def columns(self, path: str) -> tuple[pa.Schema, int]:
        """Return a file's columns, and how many rows it has; raises Refused if it is no Parquet."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        system, _ = self.place
        try:
            with pq.ParquetFile(path, filesystem=system) as file:
                return file.schema_arrow.remove_metadata(), file.metadata.num_rows
        except (pa.ArrowException, OSError) as error:
            raise Refused(
                f"{path} is no Parquet file that can be read: {first_line(error)}"
            ) from None

    def dataset(self, paths: Sequence[str], schema: pa.Schema, numbers: Sequence[int]) -> Any:
        """Return the rows of files for a database that scans Arrow, with `FILE`.

        Only columns that are asked for are read, a part at a time.
        """
        import pyarrow as pa
        import pyarrow.dataset as ds

        system, _ = self.place
        return ds.FileSystemDataset.from_paths(
            paths,
            schema=schema.append(pa.field(FILE, pa.int32())),
            format=ds.ParquetFileFormat(),
            filesystem=system,
            partitions=[ds.field(FILE) == number for number in numbers],
        )
