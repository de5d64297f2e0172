"""Annotators: shares against the others as small charts, findings, figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from tracker.audit.annotator_tables import (
    MIDDLE_HALF,
    NOTHING_STANDS_OUT,
    WHAT_IT_MEANS,
    compared_figures,
    own_finding_lines,
)
from tracker.audit.sentences import is_accusation
from tracker.core import clock
from tracker.core.version import VERSION
from tracker.render.cells import count_cell, figure_cell, interval_cell, minute_cell
from tracker.render.nouns import percent
from tracker.report import people_words as people
from tracker.report import words
from tracker.report.agreement import each_question
from tracker.report.charts import draw_annotators
from tracker.report.document import (
    Block,
    Bullets,
    Document,
    Figure,
    Group,
    Paragraph,
    Section,
    Table,
    Why,
    line,
)
from tracker.report.gather import command, python_call
from tracker.report.gathered import Gathered, OfQuestion
from tracker.report.sizes import ACROSS_NARROW, ACROSS_WIDE

_MOST = 60  # annotators of a table
_FINDINGS = 20


def annotators_section(gathered: Gathered) -> Section:
    """Return the annotators of each question, those with findings first."""
    code = python_call(gathered, "audit_by_question")
    return Section("annotators", "Annotators", each_question(gathered, _of), code)


def _of(gathered: Gathered, one: OfQuestion) -> Iterator[Block]:
    rows = one.audit["annotators"]
    if not rows:
        yield Paragraph(line(people.NO_SHARES))
        return
    yield from _findings(gathered, one)
    title = "Shares of the categories"
    drawn = [row for row in map(_known, rows) if row["category_shares"] and row["peer_shares"]]
    if drawn and not one.numbers:
        yield Figure(
            f"annotators-{gathered.questions.index(one)}",
            people.SHARES,
            draw_annotators(title, drawn, across=ACROSS_WIDE),
            draw_annotators(title, drawn, across=ACROSS_NARROW),
            _shares(title, drawn),
            Why(
                [line(text) for text in people.WHY_SHARES],
                command(gathered, "audit", "--json"),
            ),
        )
    if one.numbers:
        why = Paragraph(line(words.NO_SHARES_OF_NUMBERS))
        yield Group(people.FIGURES, [why, _figures(rows, _COUNTS)], True)
        return
    yield Group(people.FIGURES, [_figures(rows, _EVERY)], True)


def _known(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return an annotator with the shares that are shown."""
    shares = {name: share for name, share in row["category_shares"].items() if share is not None}
    return {**row, "category_shares": shares, "peer_shares": row.get("peer_shares") or {}}


def _findings(gathered: Gathered, one: OfQuestion) -> Iterator[Block]:
    standing: dict[str, Mapping[str, Any]] = {}
    for row in one.audit["annotators"]:
        for flag in row["flags"]:
            if is_accusation(flag) and flag["why"]:
                standing.setdefault(flag["why"], flag)
    left_out = words.findings_left_out(gathered.asked.suppress_below)
    left_out = f"{people.NOT_SHOWN}{left_out}." if one.audit["left_out"] else ""
    if not standing:
        compared = any(row["items_shared"] for row in one.audit["annotators"])
        nothing = people.NO_FINDING if compared else people.NOBODY_COMPARED
        yield Paragraph(line(left_out or nothing))
        return
    blocks: list[Block] = []
    for why, flag in list(standing.items())[:_FINDINGS]:
        blocks.append(Paragraph(line(why)))
        shown = [line(people.evidence_line(row)) for row in flag.get("evidence", ())]
        if shown:
            blocks.append(Group(people.EVIDENCE, [Bullets(shown)], True))
    blocks += [Paragraph(line(left_out))] if left_out else []
    # Its q values are those of all tests of the page: of one question alone they are others.
    blocks.append(Why([line(words.WHY_WHOM)], command(gathered, "audit")))
    yield Group(people.FINDINGS, blocks)


def _shares(title: str, rows: list[dict[str, Any]]) -> Table:
    cells = [
        [
            row["annotator"],
            name,
            percent(share),
            percent(row["peer_shares"].get(name)),
        ]
        for row in rows
        for name, share in row["category_shares"].items()
    ]
    return Table(
        title,
        ["annotator", "category", "share", "others"],
        cells[: 4 * _MOST],
        frozenset({2, 3}),
        max(len(cells) - 4 * _MOST, 0),
    )


def _flagged(row: Mapping[str, Any]) -> str:
    return count_cell(sum(map(is_accusation, row["flags"])))


_COUNTS: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "annotator": lambda row: str(row["annotator"]),
    "answers": lambda row: count_cell(row["answers"]),
    "findings": _flagged,
}
_EVERY: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "annotator": _COUNTS["annotator"],
    "answers": _COUNTS["answers"],
    "with others": lambda row: figure_cell(row["agreement_with_peers"]),
    "95% interval": lambda row: interval_cell(row.get("agreement_low"), row.get("agreement_high")),
    "others": lambda row: figure_cell(row.get("agreement_of_peers")),
    "again": lambda row: figure_cell(row["self_agreement"]),
    "gold": lambda row: figure_cell(row["gold_accuracy"]),
    "findings": _flagged,
}


def _figures(
    rows: list[dict[str, Any]], columns: Mapping[str, Callable[[Mapping[str, Any]], str]]
) -> Table:
    return Table(
        people.FIGURES,
        [*columns],
        [[cell(row) for cell in columns.values()] for row in rows[:_MOST]],
        frozenset(range(1, len(columns))),
        max(len(rows) - _MOST, 0),
    )


# -- One annotator's page, for their own eyes: nobody else has a name in it -----------------------


Told = Mapping[str, Any]


def own_document(told: Told) -> Document:
    """Return the JSON of ``tracker annotator report`` as a page."""
    pages = told.get("questions", [told])
    sections = [_section(page, place) for place, page in enumerate(pages)]
    meaning = Section("meaning", people.MEANING, [Paragraph(line(WHAT_IT_MEANS))])
    made = people.made(minute_cell(clock.now()), VERSION)
    return Document(
        people.own_title(told["annotator"]),
        people.own_about(told["project"], pages[0]["others"]["annotators"]),
        [*sections, meaning],
        [line(made)],
    )


def _section(page: Told, place: int) -> Section:
    title = page.get("question", people.OWN_ANSWERS)
    return Section(f"answers-{place}", title, [*_own_figures(page, place), *_own_findings(page)])


def _own_figures(page: Told, place: int) -> Iterator[Block]:
    yield Table(
        people.OWN_FIGURES,
        ["figure", "you", "middle half of the others"],
        compared_figures(page),
        frozenset({1, 2}),
    )
    yield Paragraph(line(MIDDLE_HALF), "quiet")
    shares = page["figures"]["category_shares"] or {}
    known = {name: share for name, share in shares.items() if share is not None}
    peers = page["figures"]["peer_shares"] or {}
    if not known or not peers:
        return
    row: dict[str, Any] = {
        "annotator": "you",
        "answers": page["figures"]["answers"] or 0,
        "category_shares": known,
        "peer_shares": peers,
        "flags": page["findings"],
    }
    title = people.OWN_SHARES
    rows = [[name, percent(share), percent(peers.get(name))] for name, share in known.items()]
    yield Figure(
        f"shares-{place}",
        people.OWN_SHARES_READ,
        draw_annotators(title, [row], across=ACROSS_WIDE),
        draw_annotators(title, [row], across=ACROSS_NARROW),
        Table(title, ["category", "you", "others"], rows, frozenset({1, 2})),
        Why([line(text) for text in people.WHY_SHARES]),
    )


def _own_findings(page: Told) -> Iterator[Block]:
    blocks: list[Block] = []
    for finding in page["findings"]:
        blocks.append(Paragraph(line(finding["why"])))
        if finding["recorded"] is not None:
            blocks.append(Paragraph(line(finding["recorded"]["words"])))
        shown = [line(row) for row in own_finding_lines(finding)]
        if shown:
            blocks.append(Group(people.EVIDENCE, [Bullets(shown)], True))
    yield Group(people.STANDS_OUT, blocks or [Paragraph(line(NOTHING_STANDS_OUT))])
