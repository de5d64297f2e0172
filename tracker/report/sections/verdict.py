"""The verdict in three sentences, and three things to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tracker.audit.kind import MINIMUM_INFORMATIVE
from tracker.render.cells import count_cell, figure_cell, interval_cell
from tracker.render.messages import report as words
from tracker.report.document import Fact, Facts, Paragraph, Section, line
from tracker.report.gather import Gathered, OfQuestion
from tracker.report.sections.acts import (
    acts,
    advised_question,
    answering,
    concerns,
    findings_left_out,
    items_shared,
    main_figure,
    standing_findings,
)
from tracker.verdict import MOST

Told = Mapping[str, Any]


def verdict_section(found: Gathered) -> Section:
    """Return the opening of a page: what was found, and what to do about it."""
    one = found.questions[0]
    figure = main_figure(one)
    told = one.agreement
    flagged = list(dict.fromkeys(name for name, _ in standing_findings(found)))
    warnings = told["warnings"]
    if not told["counts"]["answers"] and warnings:
        sentences, warnings = warnings, []
    else:
        sentences = [
            words.counted(
                told["counts"], len(found.questions), one.name, advised_question(found).name
            ),
            words.main_figure(figure),
            words.people(
                flagged,
                len(answering(found)),
                _change(one),
                compared=sum(of.agreement["counts"]["items_compared"] for of in found.questions),
                shared=items_shared(found),
                left_out=findings_left_out(found),
            ),
        ]
    return Section(
        "verdict",
        "Verdict",
        [
            *_opening([one.why for one in concerns(found)[:MOST]], " ".join(sentences)),
            _facts(found, one, figure, flagged),
            acts(found),
            *(Paragraph(line(warning), "quiet") for warning in warnings),
        ],
    )


def _opening(wrong: Sequence[str], figures: str) -> list[Paragraph]:
    """Return what is wrong, if anything is, and what the figures of all answers are."""
    if not wrong:
        return [Paragraph(line(figures), "lead")]
    return [Paragraph(line(" ".join(wrong)), "lead"), Paragraph(line(figures))]


def _change(one: OfQuestion) -> str:
    last = one.agreement["since_snapshot"]
    if last is None or main_figure(one)["value"] is None:
        return ""
    return words.change(last)


def _facts(found: Gathered, one: OfQuestion, figure: Told, flagged: list[str]) -> Facts:
    counts, status = one.agreement["counts"], one.status
    interval = interval_cell(figure["ci_low"], figure["ci_high"])
    return Facts(
        [
            *_level(one),
            Fact(
                words.title(figure["measure"]),
                figure_cell(figure["value"]),
                interval if figure["value"] is not None else "undefined",
            ),
            Fact("Items", count_cell(counts["items"]), f"{counts['items_compared']:,} compared"),
            Fact("Answers", count_cell(counts["answers"]), f"by {counts['annotators']:,}"),
            _stand_out(found, flagged),
            *_complete(status),
        ]
    )


def _level(one: OfQuestion) -> list[Fact]:
    """Return the level of agreement now; nothing if it is that of all answers."""
    recent = one.agreement["recent"]
    if recent is None:
        return []
    bounds = interval_cell(recent["ci_low"], recent["ci_high"])
    return [Fact(f"Since {recent['day']}", figure_cell(recent["value"]), bounds)]


def _stand_out(found: Gathered, flagged: list[str]) -> Fact:
    if not flagged and findings_left_out(found):
        return Fact("Stand out", "-", "left out")
    if not flagged and items_shared(found) < MINIMUM_INFORMATIVE:
        return Fact("Stand out", "-", "too few items")
    return Fact("Stand out", count_cell(len(flagged)), f"of {len(answering(found)):,}")


def _complete(status: Told) -> list[Fact]:
    """Return the share of complete items; nothing if no number of answers is wanted."""
    if status["coverage"] is None:
        return []
    return [Fact("Complete", words.percent(status["coverage"]), f"{status['wanted']} an item")]
