"""The files of an import, read one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tracker.core.errors import Refused
from tracker.formats.batch import Batch
from tracker.formats.reader import Reading
from tracker.formats.registry import Source as Reader
from tracker.formats.registry import read_batches

Progress = Callable[[int, int | None], None]
"""Called with the bytes read so far and the bytes there are, None if unknown."""


class Parts:
    """The sources of an import and the files in those that are archives, by number from 1.

    A line is one of a file: two files of an archive must not be taken for one.
    """

    MOST = 32_000  # numbers, of 16 bits

    def __init__(self, names: Sequence[str]) -> None:
        self.names = [*names]
        self._numbers: dict[str, int] = {}
        self._of: dict[int, list[int]] = {}  # the first and last number of an archive's files

    def number(self, source: int, batch: Batch) -> int:
        """Return the number of the file that a batch is of; raises Refused for too many files."""
        name = batch.source
        if name is None:
            return source
        if name not in self._numbers:
            if len(self.names) >= self.MOST:
                raise Refused(
                    f"{self.names[source - 1]} holds more than {self.MOST:,} files with answers",
                    "import them in several parts, such as a folder at a time",
                )
            self.names.append(name)
            number = self._numbers[name] = len(self.names)
            self._of.setdefault(source, [number, number])[1] = number
        return self._numbers[name]

    def numbers_of(self, source: int) -> list[tuple[int, int]]:
        """Return the numbers of a source and its files, as ranges with both ends in them.

        Sources are read one after the other, so that the files of one are numbered in a row.
        """
        first_last = self._of.get(source)
        return [(source, source), *([(first_last[0], first_last[1])] if first_last else [])]


def batches_of_sources(
    sources: Sequence[Reader], reading: Reading, progress: Progress | None
) -> Iterator[tuple[int, str, Batch]]:
    """Yield all batches, each with its source's number and name."""
    import pyarrow as pa

    sizes = [source.size for source in sources]
    total = None if None in sizes else sum(size or 0 for size in sizes)
    before = 0
    for number, source in enumerate(sources, 1):
        if progress is not None:
            source.watch(lambda read, before=before: progress(before + read, total))  # type: ignore[misc]
        for batch in read_batches(source, reading):
            left = batch.without_items(reading.without) if reading.without else batch
            del batch
            if not reading.without or len(left.lines):
                yield number, source.name, left
            del left
            pa.default_memory_pool().release_unused()
        source.drain()
        before += source.bytes_read
