"""The bytes of a source: opened, unpacked, digested, cut at the ends of lines."""

from __future__ import annotations

import codecs
import gzip
import hashlib
import io
import os
import shutil
import struct
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import IO, Any, Protocol, cast

from tracker.core.errors import Refused

STDIN = "-"
LONGEST_LINE = 16 * 1024 * 1024  # bytes; a small packed file cannot fill the memory with a line
_HEAD = 1 << 20  # bytes of a file from which its format is recognized
_SPOOLED = 64 * 1024 * 1024  # bytes of a stream that are kept in memory
_BLOCK = 1024 * 1024  # larger ones leave the processor's cache as they are read


class _Digested(io.RawIOBase):
    """A stream that passes its bytes through and remembers their digest and number."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream: Any = stream
        self.sha256 = hashlib.sha256()
        self.bytes_read = 0
        self.watch: Callable[[int], None] = lambda _: None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        # One read of the system at a time: an interrupt between two of them is heard at once.
        data: bytes = self._stream.read1(len(buffer))
        buffer[: len(data)] = data
        self.sha256.update(data)
        self.bytes_read += len(data)
        self.watch(self.bytes_read)
        return len(data)


class ReadAs(Protocol):
    """Which column or field of a file was read as what."""

    def to_dict(self) -> dict[str, Any]: ...


class SourceFile:
    """One source of an import: a path, or ``-`` for standard input; read once."""

    layout: ReadAs | None = None  # which column or field is what; None until it is known
    part: str | None = None  # the sheet that is read, if the user names one
    encoding: str | None = None  # of the text; None for UTF-8, or what a mark at the start says
    guessed: str | None = None  # how text that is not UTF-8 was read; None if all of it is
    annotator: str | None = None  # who gave all answers, if the user says so
    note: str | None = None  # why it is read in that format

    def __init__(self, path: str, stream: IO[bytes] | None = None, name: str | None = None) -> None:
        """``stream`` holds the bytes if the path does not name a file: of an archive, or stdin."""
        self.name = name or ("standard input" if path == STDIN else path)
        self.path = path
        self._on_disk = stream is None and path != STDIN
        stream = stream or (sys.stdin.buffer if path == STDIN else self._open(Path(path)))
        self._opened = stream
        self._digested = _Digested(stream)
        self._stream: io.BufferedReader[Any] = io.BufferedReader(self._digested, _HEAD)
        self._archive: Archive | None = None
        self.facts: dict[str, Any] = {}
        """How it is read, as `imports show` says it: its format, sheet, line of the header, …"""
        self.size = Path(path).stat().st_size if self._on_disk else None  # bytes; None for a stream

    def _open(self, path: Path) -> IO[bytes]:
        try:
            return path.open("rb")
        except FileNotFoundError:
            raise Refused(f"{path}: there is no such file") from None
        except IsADirectoryError:
            raise Refused(f"{path} is a folder", "name the files in it") from None
        except OSError as error:
            raise Refused(f"{path} cannot be read: {error.strerror}") from None

    @property
    def digest(self) -> str:
        """SHA-256 of all bytes as they lie on disk; known once everything was read."""
        return self._digested.sha256.hexdigest()

    @property
    def bytes_read(self) -> int:
        return self._digested.bytes_read

    def watch(self, report: Callable[[int], None]) -> None:
        """Report the number of bytes taken from the file so far, after each read."""
        self._digested.watch = report

    def drain(self) -> None:
        """Read to the end, so that the digest covers the whole."""
        while self._stream.read(1 << 20):
            pass

    def close(self) -> None:
        """Close the file; standard input stays open."""
        if self._archive is not None and self._archive.file is not None:
            self._archive.file.close()
        if self.path != STDIN:
            self._opened.close()

    def seekable(self) -> IO[bytes]:
        """Return the whole content, unpacked, as a file that is read at any place.

        It is read to its end first, so that the digest covers what was there. Nothing else may
        read the source before or afterwards.
        """
        if self._on_disk and self._unpacked is self._stream:
            self.drain()
            self._opened.seek(0)
            return self._opened
        spooled = tempfile.SpooledTemporaryFile(max_size=_SPOOLED)  # noqa: SIM115 - the caller's
        try:
            shutil.copyfileobj(self._unpacked, spooled, _BLOCK)
        except (EOFError, OSError, zlib.error):
            spooled.close()
            raise self._damaged() from None
        spooled.seek(0)
        return spooled

    def again(self) -> SourceFile | None:
        """Return the source to be read once more; None for a stream."""
        if not self._on_disk:
            return None
        again = SourceFile(self.path, name=self.name)
        again.part = self.part
        return again

    def readings(self) -> Generator[SourceFile]:
        """Yield the source, and then its content as a source again, as often as asked.

        A reading ends when the next one begins. Only a stream is kept, on a disk.
        """
        if self._on_disk:
            yield self
            while True:
                with closing(SourceFile(self.path)) as again:
                    again.encoding = self.encoding
                    yield again
        with closing(self.seekable()) as content:
            while True:
                content.seek(0)
                again = SourceFile(self.path, content, name=self.name)
                again.encoding = self.encoding
                yield again

    @cached_property
    def archive(self) -> Archive | None:
        """The files in it if it is a zip file; None for anything else."""
        if self.head[:4] != b"PK\x03\x04":
            return None
        self._archive = zip_archive(self.name, self.seekable())
        self._archive.part = self.part
        return self._archive

    @property
    def layouts(self) -> dict[str, ReadAs]:
        """Which column or field is what, by the name of the file."""
        if self._archive is not None:
            return self._archive.layouts
        if self.layout is None:
            return {}
        facts = {"annotator": self.annotator, "encoding": self.guessed, "note": self.note}
        return {self.name: layout_with(self.layout, facts)}

    @property
    def facts_by_file(self) -> dict[str, dict[str, Any]]:
        """The facts of each file that was read, by its name."""
        return {self.name: self.facts} if self._archive is None else self._archive.facts_by_file

    @cached_property
    def _unpacked(self) -> io.BufferedReader[Any]:
        if self._stream.peek(2)[:2] == b"\x1f\x8b":
            return io.BufferedReader(gzip.GzipFile(fileobj=self._stream), _HEAD)
        return self._stream

    @cached_property
    def head(self) -> bytes:
        """The first bytes of the content, unpacked, as they are before it is read."""
        try:
            return self._unpacked.peek(_HEAD)[:_HEAD]
        except (EOFError, OSError, zlib.error):
            raise self._damaged() from None

    def blocks(self) -> Iterator[bytes]:
        """Yield the text as UTF-8, many whole lines at a time; the last may lack its end.

        Raises Refused for a file that is empty, binary or damaged, or that has a line longer
        than `LONGEST_LINE`. UTF-8 is not decoded here: see `decoded`. The first byte that cannot be
        UTF-8 tells that a text is in Windows-1252, if there was nothing but ASCII before it.
        """
        return self._in_utf8(self._whole_lines(self._text_bytes()))

    def texts(self) -> Iterator[str]:
        """Yield the text in pieces that may end anywhere. Raises Refused as `blocks` does."""
        lines, decoder = 0, codecs.getincrementaldecoder("utf-8")()
        for piece in chain(self._text_bytes(), [b""]):
            try:
                text = decoder.decode(piece, final=not piece)
            except UnicodeDecodeError as error:
                raise self._undecodable(error, lines) from None
            yield text
            lines += text.count("\n")

    def _text_bytes(self) -> Iterator[bytes]:
        """Yield the bytes of the text in UTF-8, without a mark of the encoding."""
        head, stream = self.head, self._unpacked
        if not head:
            raise Refused(f"{self.name} is empty")
        try:
            marked = "utf-16" if head[:2] in {b"\xff\xfe", b"\xfe\xff"} else None
            encoding = self.encoding or marked
            self.facts["encoding"] = encoding or "utf-8"
            pieces = iter(lambda: stream.read(_BLOCK), b"")
            if encoding and codecs.lookup(encoding).name != "utf-8":
                yield from self._transcoded(pieces, encoding)
                return
            if (place := head.find(b"\0")) >= 0:
                raise Refused(
                    f"{self.name}, line {count_source_lines(head[:place]) + 1}: "
                    f"byte {place + 1} is NUL: this is a binary file, not text"
                )
            if head[:3] == codecs.BOM_UTF8:
                stream.read(3)
            yield from pieces
        except (EOFError, OSError, zlib.error):
            raise self._damaged() from None

    def _damaged(self) -> Refused:
        return Refused(f"{self.name} is damaged: it does not unpack")

    def _whole_lines(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        lines, rest = 0, b""
        for piece in pieces:
            block = rest + piece
            # A return at the very end may be the first half of a line's end.
            end = block.rfind(b"\n") + 1 or block.rfind(b"\r", 0, -1) + 1
            whole, rest = block[:end], block[end:]
            lines += count_source_lines(whole)
            if len(rest) > LONGEST_LINE:
                raise Refused(
                    f"{self.name}, line {lines + 1}: the line is longer than "
                    f"{LONGEST_LINE >> 20} MB",
                    "is that a table of text, one answer a line?",
                )
            if whole:
                yield whole
        if rest:
            yield rest

    def _in_utf8(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        """Yield blocks that are ASCII so far; from the first that is not on, perhaps transcoded."""
        lines = 0
        for block in blocks:
            if not block.isascii():
                yield from self._not_ascii(block, blocks, lines)
                return
            yield block
            lines += block.count(b"\n")

    def _not_ascii(self, block: bytes, blocks: Iterator[bytes], lines: int) -> Iterator[bytes]:
        try:
            block.decode()
        except UnicodeDecodeError as error:
            if block[: error.start].isascii() and self.encoding is None:
                line = lines + count_source_lines(block[: error.start]) + 1
                self.guessed = f"Windows-1252, as line {line} is not UTF-8"
                self.facts["encoding"] = "windows-1252"
                yield from self._transcoded(chain([block], blocks), "windows-1252", lines)
                return
        yield block
        yield from blocks

    def _transcoded(
        self, pieces: Iterator[bytes], encoding: str, lines: int = 0
    ) -> Iterator[bytes]:
        decoder = codecs.getincrementaldecoder(encoding)()
        for piece in chain(pieces, [b""]):
            try:
                text = decoder.decode(piece, final=not piece)
            except UnicodeDecodeError as error:
                raise self._undecodable(error, lines, encoding) from None
            except UnicodeError as error:
                raise Refused(f"{self.name} is not in {encoding}: {error}") from None
            block = text.removeprefix("\ufeff" * (lines == 0)).encode()
            yield block
            lines += count_source_lines(block)

    def decoded(self, block: bytes, lines_before: int) -> str:
        """Return the text of a block after so many lines; raises Refused if it is not UTF-8."""
        try:
            return block.decode()
        except UnicodeDecodeError as error:
            raise self._undecodable(error, lines_before) from None

    def _undecodable(
        self, error: UnicodeDecodeError, lines_before: int, encoding: str = "utf-8"
    ) -> Refused:
        lines = count_source_lines(error.object[: error.start].decode(encoding, "replace").encode())
        byte = error.object[error.start]
        return Refused(
            f"{self.name}, line {lines_before + lines + 1}: "
            f"the byte 0x{byte:02x} is not {encoding.upper()}",
            "save the file as UTF-8, or say what it is: --encoding NAME, such as cp1252",
        )


class _With:
    """A layout, and what is known of its file beside it."""

    def __init__(self, layout: ReadAs, about: Mapping[str, str]) -> None:
        self._layout, self._about = layout, about

    def to_dict(self) -> dict[str, Any]:
        return {**self._layout.to_dict(), **self._about}


def layout_with(layout: ReadAs, about: Mapping[str, str | None]) -> ReadAs:
    """Return a layout with what is known of its file beside it, without what is None."""
    facts = {name: text for name, text in about.items() if text is not None}
    return _With(layout, facts) if facts else layout


def count_source_lines(block: bytes) -> int:
    """Return how many lines end in a block of text."""
    returns = block.count(b"\r")
    return block.count(b"\n") + (returns and returns - block.count(b"\r\n"))


# -- Files of a zip that are packed with Zstandard, which Python's own reader does not know -------

METHOD = 93  # what such a file has for its method of packing
_HEADER = 30  # bytes before a file's name


class ZstandardMember:
    """The content of a packed file, as a stream. Raises OSError for what does not unpack."""

    def __init__(self, file: IO[bytes], member: zipfile.ZipInfo) -> None:
        import pyarrow as pa

        self._member = member
        packed = _Packed(file, member)
        self._stream: Any = pa.CompressedInputStream(pa.PythonFile(packed, mode="r"), "zstd")
        self._left = member.file_size
        self._sum = 0

    def read1(self, size: int) -> bytes:
        try:
            data: bytes = self._stream.read(min(size, self._left + 1))
        except (ValueError, EOFError) as error:  # those of Arrow are such
            raise OSError(str(error)) from None
        self._left -= len(data)
        self._sum = zlib.crc32(data, self._sum)
        if self._left < 0 or (not data and (self._left or self._sum != self._member.CRC)):
            raise OSError(f"{self._member.filename} is damaged")
        return data

    def close(self) -> None:
        """Close the stream; the zip file stays open."""
        self._stream.close()


class _Packed(io.RawIOBase):
    """The bytes of a file as they lie in the zip file."""

    def __init__(self, file: IO[bytes], member: zipfile.ZipInfo) -> None:
        self._file = file
        file.seek(member.header_offset)
        header = file.read(_HEADER)
        if len(header) < _HEADER or header[:4] != b"PK\3\4":
            raise OSError(f"{member.filename} is not where it should be")
        lengths = struct.unpack("<HH", header[26:])  # of the name and of what follows it
        self._place = member.header_offset + _HEADER + sum(lengths)
        self._end = self._place + member.compress_size

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        left = self._end - self._place
        self._file.seek(self._place)  # other files of it are read in between
        data = self._file.read(left if size < 0 else min(size, left))
        self._place += len(data)
        return data


# -- Folders and zip files: the files in them, read one by one and never unpacked to a disk -------

_MOST_FILES = 200_000
_MOST_READ = 32_000  # as many as an import numbers
_LARGEST = 64 * 1024**3  # bytes
_MOST_PACKED = 200  # times smaller than its content; text is packed 5 to 30 times
_SMALL = 256 * 1024**2  # bytes that an archive may hold however well it is packed
_NO_CONTENT = {"__MACOSX", "Thumbs.db"}


class Archive:
    """The files of an archive that are not hidden, by paths such as ``annotation/doc.txt``."""

    def __init__(self, name: str, names: list[str], opened: Callable[[str], IO[bytes]]) -> None:
        self.name = name
        self.names = sorted(
            name
            for name in names
            if not any(part.startswith(".") or part in _NO_CONTENT for part in name.split("/"))
        )
        self.leading_out = sum(".." in name.split("/") for name in names)  # of the files left out
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
        """Yield each file, opened, and close it after; raise Refused for more than can be read."""
        if len(self.names) > _MOST_READ:
            text = f"{self.name} holds {len(self.names):,} files; {_MOST_READ:,} are the most"
            raise Refused(text, "import them in several parts")
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
    """Return the files in a zip file; raises Refused if it is damaged or unpacks to too much."""
    try:
        packed = zipfile.ZipFile(file)
        members = [member for member in packed.infolist() if not member.is_dir()]
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError) as error:
        raise Refused(f"{name} is damaged: it does not unpack ({error})") from None
    content = sum(member.file_size for member in members)
    most = min(_LARGEST, max(_SMALL, _MOST_PACKED * file.seek(0, os.SEEK_END)))
    if len(members) > _MOST_FILES or content > most:
        raise Refused(
            f"{name} would unpack to {content:,} bytes in {len(members):,} files",
            "unpack it yourself if that is right, and import the files",
        )
    if any(member.flag_bits & 1 for member in members):
        raise Refused(f"{name} is encrypted", "unpack it, and import the folder")

    def opened(path: str) -> IO[bytes]:
        member = packed.getinfo(path)
        if member.compress_type == METHOD:
            return cast("IO[bytes]", ZstandardMember(file, member))
        return cast("IO[bytes]", _Member(packed.open(member)))

    archive = Archive(name, [member.filename for member in members], opened)
    archive.file = file
    return archive


class Unwatched:
    """A source without an open file, whose bytes are not counted as they are read."""

    bytes_read = 0

    def watch(self, report: Callable[[int], None]) -> None:
        """Do nothing: there is no stream."""

    def drain(self) -> None:
        """Do nothing: the digest is of the whole."""

    def close(self) -> None:
        """Do nothing: no file is open."""


class SourceFolder(Unwatched):
    """A folder as one source of an import. Raises Refused if it cannot be read."""

    def __init__(self, path: str) -> None:
        self.name = self.path = path

    @cached_property
    def archive(self) -> Archive:
        """The files in the folder and the folders in it; links are not followed."""
        root = Path(self.path)
        names: list[str] = []
        for folder, _, files in os.walk(root, onerror=_unreadable):
            paths = [path for file in files if (path := Path(folder, file)).is_file()]
            names += [p.relative_to(root).as_posix() for p in paths if not p.is_symlink()]
            if len(names) > _MOST_FILES:
                raise Refused(f"{self.path} has more than {_MOST_FILES:,} files")
        return Archive(self.path.rstrip("/"), names, lambda name: Path(root, name).open("rb"))

    def again(self) -> SourceFolder:
        return SourceFolder(self.path)

    @property
    def layouts(self) -> dict[str, ReadAs]:
        return self.archive.layouts

    @property
    def facts_by_file(self) -> dict[str, dict[str, Any]]:
        return self.archive.facts_by_file

    @property
    def size(self) -> int:
        return sum(Path(self.path, name).stat().st_size for name in self.archive.names)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the names of all files and the digests of their content."""
        digest = hashlib.sha256()
        for source in self.archive.files():
            source.drain()
            digest.update(f"{source.path}\0{source.digest}\0".encode())
        return digest.hexdigest()


def _unreadable(error: OSError) -> None:
    raise Refused(f"{error.filename} cannot be read: {error.strerror}")
