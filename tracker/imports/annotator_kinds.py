"""A column with the kind of each annotator: human, model or reference."""

from __future__ import annotations

from shlex import quote

import numpy as np

from tracker.core.errors import Refused
from tracker.imports.batch import Cells, Numbers
from tracker.imports.lookup import BAD, AnnotatorIds
from tracker.storage.schema import KINDS


def take_kinds(
    annotators: AnnotatorIds,
    given: Numbers,
    kinds: Cells,
    lines: Numbers,
    source: str,
) -> None:
    """Note the kinds that a file gives to annotators; an empty cell gives none.

    ``given`` holds each row's annotator by number, and ``kinds`` the cell of its kind. Raises
    Refused, with the line, for an unknown kind, and for a kind that contradicts another line or
    an earlier statement about the annotator.
    """
    pairs = given * len(kinds.distinct) + kinds.codes
    for n in np.sort(np.unique(pairs, return_index=True)[1]).tolist():
        number, raw = int(given[n]), kinds[n]
        kind = raw.strip().casefold()
        if number == BAD or not kind:
            continue
        if kind not in KINDS:
            raise Refused(
                f"{source}, line {lines[n]}: {raw.strip()!r} is no kind of annotator",
                f"write one of: {', '.join(KINDS)}; or, if the column means something else: "
                "--map kind=",
            )
        owner = annotators.aliases.get(number, number)
        name = annotators.name_of(owner)
        place = f"{source}, line {lines[n]}: {name!r} is a {kind} here"
        known = annotators.told.setdefault(owner, kind)
        if known != kind:
            raise Refused(f"{place}, and a {known} on another line", "an annotator has one kind")
        stated = annotators.stated.get(owner, kind)
        if stated != kind:
            project = annotators.project.name
            raise Refused(
                f"{place}, and a {stated} in {project!r}",
                f"run: tracker annotator kind {quote(name)} {kind} -p {quote(project)}, "
                "or ignore the column: --map kind=",
            )
        annotators.kinds[name] = kind
