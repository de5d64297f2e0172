"""Choices as people write them in one text, for commands and requests alike.

Each says in its own words what it was given: ``option`` is ``--against``, or ``against``, and
``where`` is ``--where``, with what stands between it and its value.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tracker.core.errors import InvalidOption, NotFound

if TYPE_CHECKING:
    from tracker.compare.comparison import AgainstOther
    from tracker.counts.filter import Selecting
    from tracker.ledger import Ledger

_TERMS = ("annotator", "exclude-annotator", "since", "until", "where", "guideline")


def names_of_list(text: str) -> tuple[str, ...]:
    """Return the names of a list such as ``A, B, C``."""
    return tuple(name.strip() for name in text.split(",") if name.strip())


def distinct_names(names: Iterable[str] | None) -> list[str]:
    """Return names as they are known, each once."""
    return list(dict.fromkeys(name.strip() for name in names or ()))


def values_by_attribute(pairs: Iterable[str], where: str) -> dict[str, list[str]]:
    """Return the values of each attribute of ``language=nl`` and its like; raises InvalidOption."""
    values: dict[str, list[str]] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise InvalidOption(f"{where}{pair!r} is not ATTRIBUTE=VALUE", "such as: language=nl")
        values.setdefault(name.strip(), []).append(value)
    return values


def against_in_words(
    ledger: Ledger, project: str, other: str, option: str, where: str, /, **asking: Any
) -> AgainstOther:
    """Return the difference to another project, or to the answers that terms choose.

    Terms are such as ``annotator=ann until=2026-03-01``; ``asking`` is that of `Ledger.against`,
    which says what is raised, too. Raises InvalidOption for terms that cannot be read.
    """
    try:
        return ledger.against(project, other, **asking)
    except NotFound:
        if "=" not in other:
            raise
    terms = _choice_of_terms(other, option, where)
    return ledger.against(project, terms, name=other, **asking)


def _choice_of_terms(text: str, option: str, where: str) -> Selecting:
    given: dict[str, list[str]] = {name: [] for name in _TERMS}
    try:
        terms = shlex.split(text)
    except ValueError:
        raise InvalidOption(
            f"{option} {text!r}: a quotation mark is not closed", "such as: annotator='ann lee'"
        ) from None
    for term in terms:
        key, _, value = term.partition("=")
        if key not in given or not value:
            known = ", ".join(f"{one}=…" for one in _TERMS)
            raise InvalidOption(f"{option}: {term!r} is none of {known}", "or name another project")
        given[key].append(value)
    last = {name: values[-1] if values else None for name, values in given.items()}
    return {
        "annotators": given["annotator"],
        "exclude_annotators": given["exclude-annotator"],
        "since": last["since"],
        "until": last["until"],
        "where": values_by_attribute(given["where"], where),
        "guideline": last["guideline"],
    }
