"""The files of an import, read one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from sqlalchemy import Connection, select

from tracker.core.errors import Refused
from tracker.formats.batch import Batch
from tracker.formats.column_roles import FILE_AND_ROW, ROW_NUMBER
from tracker.formats.reader import Reading
from tracker.imports.cell_values import CELL_READERS
from tracker.readers.folders import document_names
from tracker.readers.registry import Source as Reader
from tracker.readers.registry import read_batches
from tracker.storage.schema import Import, Source

_WORKBOOK = "xl/workbook.xml"

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
        self._of: dict[int, tuple[int, int]] = {}  # first and last number of an archive's files

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
            self._of[source] = (self._of.get(source, (number,))[0], number)
        return self._numbers[name]

    def numbers_of(self, source: int) -> list[tuple[int, int]]:
        """Return the numbers of a source and its files, as ranges with both ends in them.

        Sources are read one after the other, so that the files of one are numbered in a row.
        """
        return [(source, source), *filter(None, [self._of.get(source)])]


def batches_of_sources(
    sources: Sequence[Reader], reading: Reading, progress: Progress | None
) -> Iterator[tuple[int, str, Batch]]:
    """Yield all batches, each with its source's number and name."""
    import pyarrow as pa

    _name_documents(sources, reading)
    reading.cell_readers = CELL_READERS
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


def _name_documents(sources: Sequence[Reader], reading: Reading) -> None:
    """Let the numbers of rows that are items stand behind the names of files, if there are several.

    Files of an annotator each list the same items in the same order: they have numbers alone.
    """
    item = reading.mapped.roles.get("item")
    if item in {ROW_NUMBER, FILE_AND_ROW}:
        archives = [getattr(source, "archive", None) for source in sources]
        members = {
            source.name if archive is None else archive.name: None
            if archive is None or _WORKBOOK in archive.names
            else archive.names
            for source, archive in zip(sources, archives, strict=True)
        }
        documents = document_names(members, reading.options.annotator_from)
        if item == FILE_AND_ROW or len({*documents.values()}) > 1:
            roles = {**reading.mapped.roles, "item": FILE_AND_ROW}
            reading.documents, reading.mapped = documents, replace(reading.mapped, roles=roles)


def refuse_other_numbers(
    connection: Connection, project_id: int, sources: Sequence[Reader], reading: Reading
) -> None:
    """Raise Refused if numbers of rows are items already, of a file that may be another document.

    A file that was imported before, or one of the same name, has the same items.
    """
    item, options = reading.mapped.roles.get("item"), reading.options
    if (
        item not in {ROW_NUMBER, FILE_AND_ROW}
        or not reading.answers
        or options.annotator_from == "file"
        or "contradictions" in options.accept
    ):
        return
    earlier = connection.execute(
        select(Import.reading, Source.name, Source.digest)
        .join(Source, Source.import_id == Import.id)
        .where(Import.project_id == project_id, Import.undone_by.is_(None))
        .where(Import.reading.contains(f'{ROW_NUMBER}": "item"'))
    ).all()
    alone = {key for text, *keys in earlier if f'"{FILE_AND_ROW}"' not in str(text) for key in keys}
    numbered = [source.name for source in sources if {source.name, source.digest} & alone]
    if item == FILE_AND_ROW and numbered:
        raise Refused(
            f"{numbered[0]} was imported before, and its items are the numbers of its rows",
            "import it alone with --map 'item=#', as before; or let its rows be new items: "
            "--accept contradictions",
        )
    if item == ROW_NUMBER and earlier and not numbered:
        raise Refused(
            f"the project has items that are the numbers of rows in {earlier[0].name}, and "
            f"{sources[0].name} numbers its rows, too",
            f"if these are other items: --map 'item={FILE_AND_ROW}'; if they are the same items in "
            "the same order: --accept contradictions",
        )
