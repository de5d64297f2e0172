"""Annotators: shares against the others as small charts, findings, figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tracker.audit.annotator_tables import (
    MIDDLE_HALF,
    NOTHING_STANDS_OUT,
    WHAT_IT_MEANS,
    compared_figures,
    own_finding_lines,
)
from tracker.audit.columns import COMPARED, PEOPLE, PEOPLE_OF_NUMBERS, SHARES, share_rows
from tracker.audit.sentences import is_accusation, without_test
from tracker.core import clock
from tracker.core.version import VERSION
from tracker.render.cells import minute_cell
from tracker.report import people_words as people
from tracker.report import words
from tracker.report.agreement import each_question
from tracker.report.charts import MOST_SHARES, draw_annotators
from tracker.report.document import (
    Block,
    Bullets,
    Document,
    Figure,
    Group,
    Paragraph,
    Section,
    Why,
    line,
    listing,
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


def _of(gathered: Gathered, question: OfQuestion) -> Iterator[Block]:
    rows = question.audit["annotators"]
    if not rows:
        yield Paragraph(line(people.NO_SHARES))
        return
    yield from _findings(gathered, question)
    title = "Shares of the categories"
    drawn = [_known(row, question.order) for row in rows]
    drawn = [row for row in drawn if row["category_shares"] and row["peer_shares"]]
    if drawn and not question.numbers:
        yield Figure(
            f"annotators-{gathered.questions.index(question)}",
            people.shares_shown(len(drawn) - MOST_SHARES),
            draw_annotators(title, drawn, across=ACROSS_WIDE),
            draw_annotators(title, drawn, across=ACROSS_NARROW),
            listing(
                title, SHARES, [share for row in drawn for share in share_rows(row)], 4 * _MOST
            ),
            Why([line(text) for text in people.WHY_SHARES], command(gathered, "audit", "--json")),
        )
    if question.numbers:
        why = Paragraph(line(words.NO_SHARES_OF_NUMBERS))
        table = listing(people.FIGURES, PEOPLE_OF_NUMBERS, rows, _MOST)
        yield Group(people.FIGURES, [why, table], True)
        return
    yield Group(people.FIGURES, [listing(people.FIGURES, PEOPLE, rows, _MOST)], True)


def _known(row: Mapping[str, Any], order: Sequence[str]) -> dict[str, Any]:
    """Return an annotator with the shares that are shown, in the order of the categories."""
    names = dict.fromkeys([*order, *row["category_shares"]])
    every = {name: row["category_shares"].get(name) for name in names}
    shares = {name: share for name, share in every.items() if share is not None}
    return {**row, "category_shares": shares, "peer_shares": row.get("peer_shares") or {}}


def _findings(gathered: Gathered, question: OfQuestion) -> Iterator[Block]:
    standing: dict[str, Mapping[str, Any]] = {}
    for row in question.audit["annotators"]:
        for flag in row["flags"]:
            if is_accusation(flag) and flag["why"]:
                standing.setdefault(flag["why"], flag)
    left_out = words.findings_left_out(gathered.asked.suppress_below)
    left_out = f"{people.NOT_SHOWN}{left_out}." if question.audit["left_out"] else ""
    if not standing:
        compared = any(row["items_shared"] for row in question.audit["annotators"])
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


# -- One annotator's page, for their own eyes: nobody else has a name in it -----------------------


Told = Mapping[str, Any]


def own_document(payload: Told) -> Document:
    """Return the JSON of ``tracker annotator report`` as a page."""
    pages = payload.get("questions", [payload])
    sections = [_section(page, str(place)) for place, page in enumerate(pages)]
    meaning = Section("meaning", people.MEANING, [Paragraph(line(WHAT_IT_MEANS))])
    stamp = people.made(minute_cell(clock.now()), VERSION)
    return Document(
        people.own_title(payload["annotator"]),
        people.own_about(payload["project"], pages[0]["others"]["annotators"]),
        [*sections, meaning],
        [line(stamp)],
    )


def _section(page: Told, place: str) -> Section:
    title = page.get("question", people.OWN_ANSWERS)
    return Section(f"answers-{place}", title, [*own_figures(page, place), *_own_findings(page)])


def own_figures(page: Told, place: str) -> Iterator[Block]:
    """Yield an annotator's figures beside those of the others, who have no names."""
    sentences = [*people.own_sentences(page["figures"], page["others"])]
    if sentences:
        yield Paragraph(line(" ".join(sentences)), "lead")
    yield listing(people.OWN_FIGURES, COMPARED, compared_figures(page))
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
    yield Figure(
        f"shares-{place}",
        people.OWN_SHARES_READ,
        draw_annotators(title, [row], across=ACROSS_WIDE),
        draw_annotators(title, [row], across=ACROSS_NARROW),
        listing(title, SHARES, [share | {"annotator": None} for share in share_rows(row)]),
        Why([line(text) for text in people.WHY_SHARES]),
    )


def _own_findings(page: Told) -> Iterator[Block]:
    blocks: list[Block] = []
    for finding in page["findings"]:
        blocks.append(Paragraph(line(without_test(finding))))
        if finding["recorded"] is not None:
            blocks.append(Paragraph(line(finding["recorded"]["words"])))
        shown = [line(row) for row in own_finding_lines(finding)]
        if shown:
            blocks.append(Group(people.EVIDENCE, [Bullets(shown)], True))
    yield Group(people.STANDS_OUT, blocks or [Paragraph(line(NOTHING_STANDS_OUT))])
