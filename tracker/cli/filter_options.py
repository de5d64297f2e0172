"""Options that choose which answers are counted, as every command that counts takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tracker.core.errors import InvalidOption

if TYPE_CHECKING:
    from tracker.queries import Selecting

__all__ = [
    "Annotators",
    "AsOf",
    "ExcludeFlagged",
    "ExcludedAnnotators",
    "KnownAt",
    "Since",
    "Until",
    "Where",
    "selecting",
]

Annotators = Annotated[
    list[str] | None,
    typer.Option(
        "--annotator",
        metavar="NAME",
        help="Only this annotator (repeatable); a model or reference named here is included.",
    ),
]
ExcludedAnnotators = Annotated[
    list[str] | None,
    typer.Option(
        "--exclude-annotator", metavar="NAME", help="Exclude this annotator (repeatable)."
    ),
]
ExcludeFlagged = Annotated[
    bool,
    typer.Option("--exclude-flagged", help="Exclude annotators with an open or acknowledged flag."),
]
Since = Annotated[
    str | None,
    typer.Option(
        "--since",
        metavar="WHEN",
        help="Only answers labelled at this time or later: 2026-03-01T14:30 "
        "(UTC), 2026-03-01 (the start of that day), 7d, '3 weeks ago'. "
        "Answers without a time count from when they were recorded.",
    ),
]
Until = Annotated[
    str | None,
    typer.Option(
        "--until",
        metavar="WHEN",
        help="Only answers labelled at this time or earlier; a date is the end of that day.",
    ),
]
Where = Annotated[
    list[str] | None,
    typer.Option(
        "--where",
        metavar="ATTRIBUTE=VALUE",
        help="Only items with this attribute, kept by import --keep. Repeatable: "
        "values of one attribute are alternatives; different attributes must "
        "all match.",
    ),
]


AsOf = Annotated[
    str | None,
    typer.Option(
        "--as-of",
        metavar="WHEN",
        help="Labels as they stood at this time, by when they were given; a date "
        "is the end of that day. Answers without a time count from when they "
        "were recorded.",
    ),
]
KnownAt = Annotated[
    str | None,
    typer.Option(
        "--known-at",
        metavar="WHEN",
        help="What the ledger knew at this time, by when it was recorded: before "
        "later imports and undos.",
    ),
]


def selecting(
    annotators: list[str] | None,
    excluded: list[str] | None,
    exclude_flagged: bool,
    since: str | None,
    until: str | None,
    where: list[str] | None,
    as_of: str | None = None,
    known_at: str | None = None,
) -> Selecting:
    """The options as keyword arguments of the ledger; raises InvalidOption."""
    return {
        "annotators": annotators or (),
        "exclude_annotators": excluded or (),
        "exclude_flagged": exclude_flagged,
        "since": since,
        "until": until,
        "where": _values(where or []),
        "as_of": as_of,
        "known_at": known_at,
    }


def _values(pairs: list[str]) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise InvalidOption(f"--where {pair!r} is not ATTRIBUTE=VALUE", "such as: language=nl")
        values.setdefault(name.strip(), []).append(value)
    return values
