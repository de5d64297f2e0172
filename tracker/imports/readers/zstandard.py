"""Files of a zip that are packed with Zstandard, which Python's own reader does not know."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from typing import IO, Any

METHOD = 93
"""What such a file has for its method of packing."""

_HEADER = 30  # bytes before a file's name
_LENGTHS = struct.Struct("<HH")  # of the name and of what follows it


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
        """Return at most so many bytes; none at the end."""
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
        self._place = member.header_offset + _HEADER + sum(_LENGTHS.unpack(header[26:]))
        self._end = self._place + member.compress_size

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        left = self._end - self._place
        self._file.seek(self._place)  # other files of it are read in between
        data = self._file.read(left if size < 0 else min(size, left))
        self._place += len(data)
        return data
