"""Further questions about agreement: why, what if, against what, and how to report it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from tracker.cli.agreement_options import Asked
from tracker.cli.context import say
from tracker.cli.filter_options import AnswerOptions
from tracker.cli.output import show
from tracker.core.errors import InvalidOption, NotFound

if TYPE_CHECKING:
    from tracker.queries import Selecting

_TERMS = ("annotator", "exclude-annotator", "since", "until", "where")

__all__ = [
    "against",
    "best_merges",
    "explain",
    "influence",
    "merged",
    "methods",
    "themselves",
    "truth",
]


def explain(asked: Asked, measure: str) -> None:
    """Why a figure is what it is."""
    from tracker.agreement import study
    from tracker.agreement.explain import explain, explain_spans
    from tracker.render.agreement_questions import explanation_view

    with asked.reading() as (connection, project):
        if project.answers == "spans":
            found = explain_spans(connection, project, asked.query, measure)
        else:
            found = explain(study(connection, project, asked.query), measure)
    told = found.to_dict()
    rows = [{"part": name, "answers": number} for name, number in told["answers"].items()]
    show(told, asked.output, rows=rows, view=explanation_view(found))


def influence(asked: Asked, of: str) -> None:
    """How a coefficient moves without each annotator, item or category."""
    from tracker.agreement.sensitivity import influence
    from tracker.render.agreement_questions import influence_view

    with asked.ledger.study(asked.project, asked.query) as counted:
        measure, value, found = influence(counted, of)
    rows = [row.to_dict(of) for row in found]
    several = "categories" if of == "category" else f"{of}s"
    told = {"project": asked.project, "measure": measure, "value": value, several: rows}
    show(told, asked.output, rows=rows, view=influence_view(of, measure, value, found))


def merged(asked: Asked, merges: list[str]) -> None:
    """The figures as if categories were one."""
    from tracker.agreement.sensitivity import merged
    from tracker.render.agreement import agreement_view

    with asked.ledger.study(asked.project, asked.query) as counted:
        found = merged(counted, merges)
    told = found.to_dict() | {"merged": merges}
    rows = [{k: v for k, v in row.items() if k != "readings"} for row in told["measures"]]
    show(told, asked.output, rows=rows, view=agreement_view(found))


def best_merges(asked: Asked) -> None:
    """Which two categories are hardest to tell apart."""
    from tracker.agreement.sensitivity import best_merges
    from tracker.render.agreement_questions import merges_view

    with asked.ledger.study(asked.project, asked.query) as counted:
        measure, value, found = best_merges(counted)
    rows = [merge.to_dict() for merge in found]
    show(
        {"project": asked.project, "measure": measure, "value": value, "merges": rows},
        rows=[row | {"categories": "+".join(row["categories"])} for row in rows],
        view=merges_view(measure, value, found),
        output=asked.output,
    )


def against(asked: Asked, other: str) -> None:
    """Whether a difference to other answers is more than chance."""
    from dataclasses import replace

    from tracker.agreement import study
    from tracker.compare.answer_sets import compare_studies
    from tracker.projects.project import find_project
    from tracker.queries import filter_of
    from tracker.render.agreement_questions import against_view

    if (asked.query.filter.as_of, asked.query.filter.known_at) != (None, None):
        raise InvalidOption(
            "--against compares what stands now", "for two states: tracker compare P A B"
        )
    with asked.reading() as (connection, project):
        first = study(connection, project, asked.query)
        try:
            second = study(connection, find_project(connection, other), asked.query)
        except NotFound:
            if "=" not in other:
                raise
            choice = filter_of(**_terms(other))
            second = study(connection, project, replace(asked.query, filter=choice))
        found = compare_studies(first, second, other)
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


def themselves(asked: Asked) -> None:
    """Annotators against their own earlier pass."""
    from tracker.agreement.intra_annotator import self_agreement
    from tracker.render.agreement_questions import self_rows, self_view

    with asked.reading() as (connection, project):
        found = self_agreement(connection, project, asked.query)
    show(found.to_dict(), asked.output, rows=self_rows(found), view=self_view(found))


def truth(asked: Asked) -> None:
    """Annotators against the reference."""
    from tracker.agreement.against_gold import against_truth
    from tracker.render.agreement_questions import truth_rows, truth_view

    with asked.reading() as (connection, project):
        found = against_truth(connection, project, asked.query)
    show(found.to_dict(), asked.output, rows=truth_rows(found), view=truth_view(found))


def methods(asked: Asked, *, bibtex: bool) -> None:
    """The sentences that a paper needs."""
    from tracker.agreement import assess
    from tracker.agreement.methods_paragraph import methods

    with asked.reading() as (connection, project):
        found = assess(connection, project, asked.query, asked.uncertainty)
    # Asked for by name it is the first, under whatever name the weights give it.
    told = methods(found, found.measures[0].measure if asked.query.measures else None)
    if asked.output.name in {"json", "csv"}:
        rows = [{"project": told.project, "text": told.text}]
        show(told.to_dict(), asked.output, rows=rows)
        return
    say(told.text)
    if bibtex:
        say("\n" + told.bibtex, nl=False)
