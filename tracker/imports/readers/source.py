"""The bytes of a source: opened, unpacked, digested, cut at the ends of lines."""

from __future__ import annotations

import codecs
import gzip
import hashlib
import io
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol

from tracker.core.errors import Refused

if TYPE_CHECKING:
    from tracker.imports.readers.archive import Archive

STDIN = "-"
LONGEST_LINE = 16 * 1024 * 1024
"""Bytes of a line; so that a small packed file cannot fill the memory with one."""
_HEAD = 1 << 20
"""Bytes of a file from which its format is recognized."""
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

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON."""
        ...


class SourceFile:
    """One source of an import: a path, or ``-`` for standard input; read once.

    Raises Refused if it is missing, a folder, empty, binary or not text.
    """

    layout: ReadAs | None = None
    """Which column or field is what; None until it is known."""
    part: str | None = None
    """The sheet that is read, if the user names one."""
    encoding: str | None = None
    """That of the text; None for UTF-8, or what a mark at the start says."""
    guessed: str | None = None
    """How text that is not UTF-8 was read; None if all of it is."""

    annotator: str | None = None
    """Who gave all answers, if the user says so."""

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
        self._size = Path(path).stat().st_size if self._on_disk else None

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
    def size(self) -> int | None:
        """Bytes in the file, None if that cannot be known."""
        return self._size

    @property
    def bytes_read(self) -> int:
        """Bytes taken from the file so far."""
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
        from tracker.imports.readers.archive import zip_archive

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
        said = {"annotator": self.annotator, "encoding": self.guessed}
        return {self.name: layout_with(self.layout, said)}

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
            if encoding and codecs.lookup(encoding).name != "utf-8":
                yield from self._transcoded(_pieces(stream), encoding)
                return
            if b"\0" in head:
                place = head.index(b"\0")
                raise Refused(
                    f"{self.name}, line {count_source_lines(head[:place]) + 1}: "
                    f"byte {place + 1} is NUL: "
                    "this is a binary file, not text"
                )
            if head[:3] == codecs.BOM_UTF8:
                stream.read(3)
            yield from _pieces(stream)
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
            rest = block[end:]
            if len(rest) > LONGEST_LINE:
                raise Refused(
                    f"{self.name}, line {lines + count_source_lines(block[:end]) + 1}: "
                    f"the line is longer than {LONGEST_LINE >> 20} MB",
                    "is that a table of text, one answer a line?",
                )
            if end:
                yield block[:end]
                lines += count_source_lines(block[:end])
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

    def __init__(self, layout: ReadAs, said: Mapping[str, str]) -> None:
        self._layout, self._said = layout, said

    def to_dict(self) -> dict[str, Any]:
        """Return both as JSON."""
        return {**self._layout.to_dict(), **self._said}


def layout_with(layout: ReadAs, said: Mapping[str, str | None]) -> ReadAs:
    """Return a layout with what is known of its file beside it, without what is None."""
    known = {name: text for name, text in said.items() if text is not None}
    return _With(layout, known) if known else layout


def count_source_lines(block: bytes) -> int:
    """Return how many lines end in a block of text."""
    returns = block.count(b"\r")
    return block.count(b"\n") + (returns and returns - block.count(b"\r\n"))


def _pieces(stream: io.BufferedReader[Any]) -> Iterator[bytes]:
    while piece := stream.read(_BLOCK):
        yield piece
