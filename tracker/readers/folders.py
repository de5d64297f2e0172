"""Who answered, as the user says beside the files, or as the folders do in which they lie."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

import numpy as np

from tracker.core.errors import InvalidOption, Refused
from tracker.formats.answers import Answer, batches_of_answers
from tracker.formats.batch import OF_QUESTION, Batch, Cells, FilesUnit, place_of
from tracker.formats.column_roles import SAY_WHO
from tracker.formats.reader import Reader, Reading
from tracker.formats.source import Archive, SourceFile


def check_who_answered(reading: Reading) -> None:
    options, mapped = reading.options, reading.mapped
    if reading.says_who and (mapped.wide or mapped.roles.get("annotator")):
        flag = "--annotator" if options.annotator else "--annotator-from"
        other = "--map annotator=" if mapped.roles.get("annotator") else "--wide"
        raise InvalidOption(f"{flag} and {other} both say who answered", "leave out one of them")
    if reading.says_who and mapped.counts:
        raise InvalidOption("--counts: nothing says who answered", "leave out --annotator")
    if options.blank is not None and options.empty:
        raise InvalidOption("--blank and --empty both say what an empty cell is", "leave one out")
    if options.blank is not None and mapped.pattern and "category" in mapped.pattern.parts:
        raise InvalidOption(
            "--blank is for cells that are categories, not for columns that are",
            "leave out --blank: an empty cell says that the category was not chosen",
        )


def author_of_source(reading: Reading, name: str, *, is_file: bool) -> str | None:
    """Return who gave all answers of a file by its name, if the user says so.

    Raises Refused for a source that is no file and is to be named after one.
    """
    way = reading.options.annotator_from
    if way in {None, "sheet"}:
        return reading.options.annotator
    if not is_file:
        raise Refused(
            f"{name} is no file, which could say who answered", "say who: --annotator NAME"
        )
    if way == "file":
        return stem_of(name)
    folder = PurePosixPath(name).parent.name or Path(name).resolve().parent.name
    if not folder:
        raise Refused(f"{name} lies in no folder that has a name", "say who: --annotator NAME")
    return folder


def stem_of(name: str) -> str:
    """Return the name of a file without its folders and endings: ``ada`` of ``x/ada.csv.gz``."""
    return PurePosixPath(PurePosixPath(name).name.removesuffix(".gz")).stem


def with_author(batches: Iterator[Batch], reading: Reading, source: str) -> Iterator[Batch]:
    """Yield batches in which the author of all answers is the annotator of those without one.

    Models and references stay. Raises Refused if the file itself names another person.
    """
    for batch in batches:
        author = reading.annotator
        yield batch if author is None else _of_author(batch, author, batch.source or source)


def _of_author(batch: Batch, author: str, source: str) -> Batch:
    columns = dict(batch.columns)
    annotators = columns.get("annotator")
    if annotators is None:
        if any(role == "category" or role.startswith(OF_QUESTION) for role in columns):
            everyone = np.zeros(len(batch.lines), np.int64)
            columns["annotator"] = replace(Cells.of_texts([author]), codes=everyone)
        return replace(batch, columns=columns)
    others = annotators.holds(lambda text: text.strip() not in {"", author})
    if "kind" in columns:
        no_people = {"model", "reference"}
        others &= ~columns["kind"].holds(lambda kind: kind.strip().casefold() in no_people)
    if others.any():
        n = int(others.argmax())
        column = batch.names.get("annotator")
        raise Refused(
            f"{place_of(source, int(batch.lines[n]), batch.unit)}: {annotators[n].strip()!r} "
            f"answered in the file, and {author!r} as the options say",
            "leave out --annotator or --annotator-from"
            + (f", or the column: --ignore {column!r}" if column else ""),
        )
    columns["annotator"] = annotators.mapped(lambda text: text if text.strip() else author)
    return replace(batch, columns=columns)


# -- Folders in which annotators' files lie: a folder for each, or a file for each ----------------


IN_FOLDERS = (
    "put each annotator's files into a folder of their name, and import the folder around them"
)


def folder_reader(
    name: str,
    title: str,
    holds: tuple[str, ...],
    *,
    recognizes: Callable[[SourceFile], bool],
    recognizes_archive: Callable[[Archive], bool],
    answers: Callable[[Archive, Reading, FilesUnit], Iterator[Answer]],
    hint: str = IN_FOLDERS,
) -> Reader:
    """Return the reader of a format whose folders say who annotated, and single files do not."""

    def read_file(source: SourceFile, reading: Reading) -> Iterator[Batch]:
        if reading.annotator is None:
            raise Refused(f"{source.name} does not say who annotated it", f"{hint}; or {SAY_WHO}")
        lines = FilesUnit()
        read = answers(_archive_of(source), reading, lines)
        return batches_of_answers(source, reading, read, name, lines)

    def read_archive(archive: Archive, reading: Reading) -> Iterator[Batch]:
        lines = FilesUnit()
        return batches_of_answers(archive, reading, answers(archive, reading, lines), name, lines)

    return Reader(
        name,
        recognizes=recognizes,
        read=read_file,
        title=title,
        holds=holds,
        recognizes_archive=recognizes_archive,
        read_archive=read_archive,
        in_folders=True,
    )


def _archive_of(source: SourceFile) -> Archive:
    """Return a file as the only one of its folder, with the text beside it if there is one."""
    path = PurePosixPath(source.name)
    content = source.seekable().read()
    beside = Path(source.path).with_suffix(".txt")
    texts = [beside.name] if source.size is not None and beside.is_file() else []

    def opened(name: str) -> IO[bytes]:
        return io.BytesIO(content) if name == path.name else beside.open("rb")

    return Archive(str(path.parent), list({path.name, *texts}), opened)


class AnnotatorFile(NamedTuple):
    """A file of an archive, its annotator and its document; no document if it holds several."""

    name: str
    annotator: str
    document: str


def files_by_annotator(
    archive: Archive, names: Sequence[str], reading: Reading, whole: bool = False
) -> list[AnnotatorFile]:
    """Return files in folders named after annotators; folders around all of them say nothing.

    Files that lie in one folder only are of one annotator each, and named after them; if they are
    the ``whole`` of a document, the folder is named after the one annotator. Raises Refused if
    there is no such folder. Folders that share no document may be parts of one annotator's work:
    that they are taken for annotators is noted. If the user says who answered, that holds.
    """
    if reading.says_who:
        return _files_as_said(archive, names, reading, whole)
    paths = [PurePosixPath(name) for name in names]
    around = _common([path.parts[:-1] for path in paths])
    files = []
    for name, path in zip(names, paths, strict=True):
        *folders, last = path.parts[around:]
        stem = PurePosixPath(last).stem
        if folders:
            files.append(AnnotatorFile(name, folders[0], "/".join([*folders[1:], stem])))
        elif not whole:
            files.append(AnnotatorFile(name, stem, ""))
        elif around:
            files.append(AnnotatorFile(name, path.parts[around - 1], stem))
        else:
            raise Refused(
                f"{name} lies in no folder that says who annotated it",
                f"{IN_FOLDERS}; or {SAY_WHO}",
            )
    _note_parts(files, reading)
    return files


def _files_as_said(
    archive: Archive, names: Sequence[str], reading: Reading, whole: bool
) -> list[AnnotatorFile]:
    """Return files with who annotated them as the user says, and the documents that remain."""
    around = _common([PurePosixPath(name).parts[:-1] for name in names])
    authors = authors_of_members(archive, reading)
    by_file = reading.options.annotator_from == "file" and len(names) > 1
    files = []
    for name in names:
        path, author = PurePosixPath(name), reading.annotator or authors[name]
        folders = path.parts[around:-1]
        if by_file:
            document = "/".join(folders)
            if not document and whole:
                raise Refused(
                    f"{name} is named after its annotator, and no folder after its document",
                    "put each document's files into a folder of its name",
                )
        else:
            below = folders[1:] if reading.options.annotator_from == "folder" else folders
            document = "/".join([*below, path.stem]) if whole or len(names) > 1 else ""
        files.append(AnnotatorFile(name, author, document))
    return files


def authors_of_members(archive: Archive, reading: Reading) -> dict[str, str]:
    """Return who gave all answers of each file of an archive, if the user says so."""
    options = reading.options
    if options.annotator_from in {None, "sheet"}:
        return dict.fromkeys(archive.names, options.annotator) if options.annotator else {}
    if options.annotator_from == "file":
        return {name: stem_of(name) for name in archive.names}
    paths = [PurePosixPath(name) for name in archive.names]
    around = _common([path.parts[:-1] for path in paths])
    name = stem_of(Path(archive.name).resolve().name)
    # The first folder that differs between files, or the last one around all of them.
    return {str(path): (path.parts[:-1][: around + 1] or [name])[-1] for path in paths}


def document_names(sources: Mapping[str, Sequence[str] | None], way: str | None) -> dict[str, str]:
    """Return what stands before the number of a row in each file, by the name of the file.

    It is the path in a folder or zip file without what names the annotator; of files that are
    named one by one, the name without its ending if no two of an annotator share it. ``sources``
    are their names with the paths in them, None for a single file.
    """
    paths: dict[str, tuple[str, ...]] = {}  # who annotated, folders, the name of the file
    alone = True
    for source, members in sources.items():
        if members is None:
            *folders, last = PurePosixPath(source).parts
            author = folders.pop() if folders and way == "folder" else ""
            paths[source] = (author, *folders, last)
            continue
        alone = alone and way != "folder"
        around = _common([PurePosixPath(name).parts[:-1] for name in members])
        for name in members:
            folders = [*PurePosixPath(name).parts[around:]]
            author = folders.pop(0) if folders[1:] and way == "folder" else source
            paths[f"{source}/{name}"] = (author, *folders)
    if way == "file":
        paths = {name: (parts[-1], *parts[1:-1], "") for name, parts in paths.items()}
    around = _common([parts[1:-1] for parts in paths.values()]) if alone else 0
    ways: tuple[Callable[[tuple[str, ...]], str], ...] = (
        lambda parts: stem_of(parts[-1]),
        lambda parts: "/".join([*parts[around + 1 : -1], stem_of(parts[-1])]),
        lambda parts: "/".join(parts[around + 1 :]),
    )
    for name_document in ways if alone and way != "file" else ways[1:]:
        named = {name: name_document(parts).strip("/") for name, parts in paths.items()}
        if len({(paths[name][0], document) for name, document in named.items()}) == len(paths):
            break
    return {name: f"{document}/" if document else "" for name, document in named.items()}


def _note_parts(files: Sequence[AnnotatorFile], reading: Reading) -> None:
    documents = Counter(file.document for file in files if file.document)
    folders = list(dict.fromkeys(file.annotator for file in files if file.document))
    if len(folders) > 1 and max(documents.values()) == 1:
        reading.notes.append(
            f"no document is in two of the folders {', '.join(folders[:5])}: they are taken for "
            "annotators; if they are parts of one annotator's work, import the folder around "
            "all annotators"
        )


def _common(folders: Sequence[tuple[str, ...]]) -> int:
    return next(
        (n for n, level in enumerate(zip(*folders, strict=False)) if len(set(level)) > 1),
        min(map(len, folders), default=0),
    )
