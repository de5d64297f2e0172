"""The bytes of a source: opened, unpacked, digested, cut at the ends of lines."""

from __future__ import annotations

import codecs
import gzip
import hashlib
import io
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from tracker.core.errors import InvalidOption, Refused

if TYPE_CHECKING:
    from tracker.imports.column_roles import Layout

STDIN = "-"
LONGEST_LINE = 16 * 1024 * 1024
"""Bytes of a line; so that a small packed file cannot fill the memory with one."""
_PEEK = 4096
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


class SourceFile:
    """One source of an import: a path, or ``-`` for standard input; read once.

    Raises Refused if it is missing, a folder, empty, binary or not text.
    """

    layout: Layout | None = None
    """Which column is what; None until the header is read, and in formats without columns."""

    def __init__(
        self, path: str, stdin: IO[bytes] | None = None, name: str = "standard input"
    ) -> None:
        self.name = name if path == STDIN else path
        self.path = path
        stream: IO[bytes] = (stdin or sys.stdin.buffer) if path == STDIN else self._open(Path(path))
        self._opened = stream
        self._digested = _Digested(stream)
        self._stream: io.BufferedReader[Any] = io.BufferedReader(self._digested, 1 << 20)
        self._size = None if path == STDIN else Path(path).stat().st_size

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
        if self.path != STDIN:
            self._opened.close()

    @cached_property
    def _unpacked(self) -> io.BufferedReader[Any]:
        if self._stream.peek(2)[:2] == b"\x1f\x8b":
            return io.BufferedReader(gzip.GzipFile(fileobj=self._stream))
        return self._stream

    @property
    def head(self) -> bytes:
        """The first bytes of the content, unpacked; none if it is empty or was read."""
        try:
            return self._unpacked.peek(_PEEK)[:_PEEK]
        except (EOFError, OSError, zlib.error):
            raise self._damaged() from None

    def blocks(self) -> Iterator[bytes]:
        """Yield the text as UTF-8, many whole lines at a time; the last may lack its end.

        Raises Refused for a file that is empty, binary or damaged, or that has a line longer
        than `LONGEST_LINE`. UTF-8 is not decoded here: see `decoded`.
        """
        head, stream = self.head, self._unpacked
        if not head:
            raise Refused(f"{self.name} is empty")
        try:
            if head[:2] in {b"\xff\xfe", b"\xfe\xff"}:
                yield from self._whole_lines(self._transcoded(_pieces(stream)))
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
            yield from self._whole_lines(_pieces(stream))
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

    def _transcoded(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        lines, decoder = 0, codecs.getincrementaldecoder("utf-16")()
        for piece in chain(pieces, [b""]):
            try:
                text = decoder.decode(piece, final=not piece)
            except UnicodeDecodeError as error:
                raise self._undecodable(error, lines) from None
            block = text.encode()
            yield block
            lines += count_source_lines(block)

    def decoded(self, block: bytes, lines_before: int) -> str:
        """Return the text of a block after so many lines; raises Refused if it is not UTF-8."""
        try:
            return block.decode()
        except UnicodeDecodeError as error:
            raise self._undecodable(error, lines_before) from None

    def _undecodable(self, error: UnicodeDecodeError, lines_before: int) -> Refused:
        lines = count_source_lines(
            error.object[: error.start].decode(error.encoding, "replace").encode()
        )
        byte = error.object[error.start]
        return Refused(
            f"{self.name}, line {lines_before + lines + 1}: "
            f"the byte 0x{byte:02x} is not {error.encoding.upper()}",
            "save the file as UTF-8",
        )


@contextmanager
def opened_source_files(paths: Iterable[str | Path]) -> Iterator[list[SourceFile]]:
    """Open the files of an import; raises InvalidOption if two of them are standard input."""
    names = [str(path) for path in paths]
    if names.count(STDIN) > 1:
        raise InvalidOption("standard input can be read only once")
    with ExitStack() as files:
        yield [files.enter_context(closing(SourceFile(name))) for name in names]


def count_source_lines(block: bytes) -> int:
    """Return how many lines end in a block of text."""
    returns = block.count(b"\r")
    return block.count(b"\n") + (returns and returns - block.count(b"\r\n"))


def _pieces(stream: io.BufferedReader[Any]) -> Iterator[bytes]:
    while piece := stream.read(_BLOCK):
        yield piece
