"""Who answered, if the user says so beside the files: one person, or by file, folder or sheet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath

import numpy as np

from tracker.core.errors import InvalidOption, Refused
from tracker.formats.batch import Batch, Cells, place_of
from tracker.formats.question_columns import OF_QUESTION
from tracker.formats.reader import Reading

_NO_PEOPLE = {"model", "reference"}


def check_who_answered(reading: Reading) -> None:
    """Raise InvalidOption if the user says twice who answered."""
    options, mapped = reading.options, reading.mapped
    if reading.says_who and (mapped.wide or mapped.roles.get("annotator")):
        flag = "--annotator" if options.annotator else "--annotator-from"
        other = "--map annotator=" if mapped.roles.get("annotator") else "--wide"
        raise InvalidOption(f"{flag} and {other} both say who answered", "leave out one of them")


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
        others &= ~columns["kind"].holds(lambda kind: kind.strip().casefold() in _NO_PEOPLE)
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
