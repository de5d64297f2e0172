"""Files that are packed with Zstandard: read as others are, and damaged ones are named."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.formats.test_exports import EXPORTS
from tracker.core.errors import Refused
from tracker.formats.source import SourceFile, zip_archive

LOG = EXPORTS / "inspect" / "inspect-log.eval"
NAME = "header.json"
with zipfile.ZipFile(LOG) as packed:
    MEMBER = packed.getinfo(NAME)


@contextmanager
def opened(path: Path, name: str = NAME) -> Iterator[SourceFile]:
    with path.open("rb") as file, closing(zip_archive("x.eval", file).open(name)) as source:
        yield source


def test_files_are_read_beside_each_other() -> None:
    with LOG.open("rb") as file:
        archive = zip_archive("x.eval", file)
        names = ["header.json", "samples/a_epoch_1.json"]
        with closing(archive.open(names[0])) as one, closing(archive.open(names[1])) as other:
            assert one.head[:1] == other.head[:1] == b"{"
            assert one.head != other.head


@pytest.mark.parametrize("place", range(0, MEMBER.compress_size, 97))
def test_a_changed_byte_is_noticed(tmp_path: Path, place: int) -> None:
    data = bytearray(LOG.read_bytes())
    first = MEMBER.header_offset + 30 + len(NAME) + len(MEMBER.extra)
    data[first + place] ^= 255
    path = tmp_path / "x.eval"
    path.write_bytes(data)
    with pytest.raises(Refused, match=NAME), opened(path) as source:
        list(source.blocks())


def test_a_file_that_is_longer_than_it_says_is_refused(tmp_path: Path) -> None:
    data = LOG.read_bytes()
    told = MEMBER.file_size.to_bytes(4, "little")
    at = data.rindex(told, 0, data.rindex(NAME.encode()))
    path = tmp_path / "x.eval"
    path.write_bytes(data[:at] + (MEMBER.file_size - 1).to_bytes(4, "little") + data[at + 4 :])
    with pytest.raises(Refused, match=NAME), opened(path) as source:
        list(source.blocks())
