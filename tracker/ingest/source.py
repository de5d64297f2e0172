"""The bytes of a source: opened, unpacked, digested, decoded line by line."""

from __future__ import annotations

import gzip
import hashlib
import io
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from tracker.errors import Refused

__all__ = ["STDIN", "SourceFile"]

STDIN = "-"
_PEEK = 4096


class _Digested(io.RawIOBase):
    """A stream that passes its bytes through and remembers their digest and number."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream: Any = stream
        self.sha256 = hashlib.sha256()
        self.bytes_read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        # One read of the system at a time: an interrupt between two of them is heard at once.
        data: bytes = self._stream.read1(len(buffer))
        buffer[: len(data)] = data
        self.sha256.update(data)
        self.bytes_read += len(data)
        return len(data)


class SourceFile:
    """One source of an import: a path, or ``-`` for standard input; read once.

    Raises Refused where it is missing, a folder, empty, binary or not text.
    """

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
        """Bytes in the file, None where that cannot be known."""
        return self._size

    @property
    def bytes_read(self) -> int:
        """Bytes taken from the file so far."""
        return self._digested.bytes_read

    def drain(self) -> None:
        """Read to the end, so that the digest is of the whole."""
        while self._stream.read(1 << 20):
            pass

    def close(self) -> None:
        """Close the file; standard input stays open."""
        if self.path != STDIN:
            self._opened.close()

    def lines(self) -> Iterator[str]:
        """The text line by line, line ends kept.

        Raises Refused where it is empty, binary or damaged. Iterating raises
        UnicodeDecodeError where the bytes are not the text they claim: see `undecodable`.
        """
        head = self._stream.peek(_PEEK)
        if not head:
            raise Refused(f"{self.name} is empty")
        if head[:2] == b"\x1f\x8b":
            return self._unpacked()
        return self._decoded(self._stream, head)

    def _unpacked(self) -> Iterator[str]:
        try:
            unpacked: io.BufferedReader[Any] = io.BufferedReader(
                gzip.GzipFile(fileobj=self._stream)
            )
            head = unpacked.peek(_PEEK)
            if not head:
                raise Refused(f"{self.name} is empty")
            yield from self._decoded(unpacked, head)
        except (EOFError, OSError, zlib.error):
            raise Refused(f"{self.name} is damaged: it does not unpack") from None

    def _decoded(self, stream: io.BufferedReader[Any], head: bytes) -> Iterator[str]:
        encoding = "utf-8-sig"
        if head[:2] in {b"\xff\xfe", b"\xfe\xff"}:
            encoding = "utf-16"
        elif b"\0" in head[:_PEEK]:
            raise Refused(f"{self.name} is a binary file, not text")
        # Kept, for a wrapper that is forgotten closes what it wraps.
        self._text = io.TextIOWrapper(stream, encoding, newline="")
        return self._text

    def undecodable(self, error: UnicodeDecodeError, lines_before: int) -> Refused:
        """What to say of bytes that are not text, met after so many whole lines.

        The decoder met them in a block of which the lines before are not counted yet.
        """
        block = error.object[: error.start].decode(error.encoding, "replace")
        ends = block.count("\n") + block.count("\r") - block.count("\r\n")
        byte = error.object[error.start]
        return Refused(
            f"{self.name}, line {lines_before + ends + 1}: "
            f"the byte 0x{byte:02x} is not {error.encoding.upper()}",
            "save the file as UTF-8",
        )
