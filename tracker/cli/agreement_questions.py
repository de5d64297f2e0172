"""Further questions about agreement: why, what if, against what, and how to report it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from tracker.cli.agreement_options import Asked
from tracker.cli.filter_options import AnswerOptions
from tracker.cli.output import show
from tracker.cli.terminal import say
from tracker.core.errors import InvalidOption, NotFound

if TYPE_CHECKING:
    from tracker.ledger import Selecting

_TERMS = ("annotator", "exclude-annotator", "since", "until", "where")


def explain(asked: Asked, measure: str) -> None:
    """Why a figure is what it is."""
    from tracker.render.agreement_questions import explanation_view

    found = asked.ledger.explain(asked.project, measure, **asked.asking)
    told = found.to_dict()
    rows = [{"part": name, "answers": number} for name, number in told["answers"].items()]
    show(told, asked.output, rows=rows, view=explanation_view(found))


def influence(asked: Asked, of: str) -> None:
    """How a coefficient moves without each annotator, item or category."""
    from tracker.render.agreement_questions import influence_view

    measure, value, found = asked.ledger.influence(asked.project, of, **asked.asking)
    rows = [row.to_dict(of) for row in found]
    several = "categories" if of == "category" else f"{of}s"
    told = {"project": asked.project, "measure": measure, "value": value, several: rows}
    show(told, asked.output, rows=rows, view=influence_view(of, measure, value, found))


def merged(asked: Asked, merges: list[str]) -> None:
    """The figures as if categories were one."""
    from tracker.render.agreement import agreement_view

    found = asked.ledger.merged(asked.project, merges, **asked.asking)
    told = found.to_dict() | {"merged": merges}
    rows = [{k: v for k, v in row.items() if k != "readings"} for row in told["measures"]]
    show(told, asked.output, rows=rows, view=agreement_view(found))


def best_merges(asked: Asked) -> None:
    """Which two categories are hardest to tell apart."""
    from tracker.render.agreement_questions import merges_view

    measure, value, found = asked.ledger.best_merges(asked.project, **asked.asking)
    rows = [merge.to_dict() for merge in found]
    show(
        {"project": asked.project, "measure": measure, "value": value, "merges": rows},
        rows=[row | {"categories": "+".join(row["categories"])} for row in rows],
        view=merges_view(measure, value, found),
        output=asked.output,
    )


def against(asked: Asked, other: str) -> None:
    """Whether a difference to other answers is more than chance."""
    from tracker.render.agreement_questions import against_view

    try:
        found = asked.ledger.against(asked.project, other, **asked.asking)
    except NotFound:
        if "=" not in other:
            raise
        terms = _terms(other)
        found = asked.ledger.against(asked.project, terms, name=other, **asked.asking)
    told = found.to_dict()
    show(told, asked.output, rows=told["measures"], view=against_view(found))


def _terms(text: str) -> Selecting:
    """``annotator=ann until=2026-03-01`` as keyword arguments; raises InvalidOption."""
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
            raise InvalidOption(
                f"--against: {term!r} is none of {', '.join(f'{known}=…' for known in _TERMS)}",
                "or name another project",
            )
        given[key].append(value)
    return AnswerOptions(
        annotator=given["annotator"],
        exclude_annotator=given["exclude-annotator"],
        since=given["since"][-1] if given["since"] else None,
        until=given["until"][-1] if given["until"] else None,
        where=given["where"],
    ).selecting


def self_agreement(asked: Asked) -> None:
    """Annotators against their own earlier pass."""
    from tracker.render.agreement_questions import self_rows, self_view

    found = asked.ledger.self_agreement(asked.project, **asked.asking)
    show(found.to_dict(), asked.output, rows=self_rows(found), view=self_view(found))


def against_gold(asked: Asked) -> None:
    """Annotators against the reference."""
    from tracker.render.agreement_questions import truth_rows, truth_view

    found = asked.ledger.against_gold(asked.project, **asked.asking)
    show(found.to_dict(), asked.output, rows=truth_rows(found), view=truth_view(found))


def methods(asked: Asked, *, bibtex: bool) -> None:
    """The sentences that a paper needs."""
    told = asked.ledger.methods(asked.project, **asked.asking)
    if asked.output.name in {"json", "csv"}:
        rows = [{"project": told.project, "text": told.text}]
        show(told.to_dict(), asked.output, rows=rows)
        return
    say(told.text)
    if bibtex:
        say("\n" + told.bibtex, nl=False)
