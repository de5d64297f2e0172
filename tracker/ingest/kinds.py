"""A column that says of which kind an annotator is: human, model or reference."""

from __future__ import annotations

from collections.abc import Sequence

from tracker.errors import Refused
from tracker.ingest.names import BAD, AnnotatorIds
from tracker.schema import KINDS

__all__ = ["take_kinds"]


def take_kinds(
    annotators: AnnotatorIds,
    given: Sequence[int],
    raws: Sequence[str],
    lines: Sequence[int],
    source: str,
) -> None:
    """Note the kinds that a file gives to annotators; an empty cell gives none.

    ``given`` and ``raws`` hold each row's annotator by number and the cell of its kind. Raises
    Refused, with the line, for a word that is no kind, and for a kind that contradicts another
    line or what was said of the annotator before.
    """
    for number, raw in dict.fromkeys(zip(given, raws, strict=True)):
        kind = raw.strip().casefold()
        if number == BAD or not kind:
            continue
        if kind not in KINDS:
            raise Refused(
                f"{_place(given, raws, lines, source, number, raw)}: {raw.strip()!r} is no kind of "
                "annotator",
                f"write one of: {', '.join(KINDS)}; or, if the column means something else: "
                "--map kind=",
            )
        owner = annotators.aliases.get(number, number)
        name = annotators.name_of(owner)
        place = f"{_place(given, raws, lines, source, number, raw)}: {name!r} is a {kind} here"
        told = annotators.told.setdefault(owner, kind)
        if told != kind:
            raise Refused(f"{place}, and a {told} on another line", "an annotator has one kind")
        stated = annotators.stated.get(owner, kind)
        if stated != kind:
            project = annotators.project.name
            raise Refused(
                f"{place}, and a {stated} in {project!r}",
                f"run: tracker annotator kind {name} {kind} -p {project}, or ignore the column: "
                "--map kind=",
            )
        annotators.kinds[name] = kind


def _place(
    given: Sequence[int], raws: Sequence[str], lines: Sequence[int], source: str, who: int, raw: str
) -> str:
    """Where a file first says so."""
    n = next(n for n, row in enumerate(zip(given, raws, strict=True)) if row == (who, raw))
    return f"{source}, line {lines[n]}"
