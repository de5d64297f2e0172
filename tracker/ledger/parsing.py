"""Choices as people write them in one text, for commands and requests alike."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from tracker.core.errors import InvalidOption, NotFound
from tracker.counts.choosing import values_by_attribute

if TYPE_CHECKING:
    from tracker.compare.comparison import AgainstOther
    from tracker.counts.choosing import Selecting
    from tracker.ledger import Ledger

_TERMS = ("annotator", "exclude-annotator", "since", "until", "where", "guideline")


def against_in_words(ledger: Ledger, project: str, other: str, /, **asking: Any) -> AgainstOther:
    """Return the difference to another project, or to the answers that terms choose.

    Terms are such as ``annotator=ann until=2026-03-01``; ``asking`` is that of `Ledger.against`,
    which says what is raised, too. Raises InvalidOption for terms that cannot be read.
    """
    try:
        return ledger.against(project, other, **asking)
    except NotFound:
        if "=" not in other:
            raise
    terms = _choice_of_terms(other)
    return ledger.against(project, terms, name=other, **asking)


def _choice_of_terms(text: str) -> Selecting:
    given: dict[str, list[str]] = {name: [] for name in _TERMS}
    try:
        terms = shlex.split(text)
    except ValueError:
        raise InvalidOption(
            f"--against {text!r}: a quotation mark is not closed", "such as: annotator='ann lee'"
        ) from None
    for term in terms:
        key, _, value = term.partition("=")
        if key not in given or not value:
            known = ", ".join(f"{name}=…" for name in _TERMS)
            raise InvalidOption(
                f"--against: {term!r} is none of {known}", "or name another project"
            )
        given[key].append(value)
    last = {name: values[-1] if values else None for name, values in given.items()}
    return {
        "annotators": given["annotator"],
        "exclude_annotators": given["exclude-annotator"],
        "since": last["since"],
        "until": last["until"],
        "where": values_by_attribute(given["where"]),
        "guideline": last["guideline"],
    }
