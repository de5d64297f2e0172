"""One annotator's page, for their own eyes: nobody else has a name in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tracker.charts import draw_annotators
from tracker.core import clock
from tracker.core.version import VERSION
from tracker.render.annotator import (
    MIDDLE_HALF,
    NOTHING_STANDS_OUT,
    WHAT_IT_MEANS,
    compared_figures,
    own_finding_lines,
)
from tracker.render.cells import minute_cell
from tracker.render.messages import report as words
from tracker.render.messages import report_people as people
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
from tracker.report.sizes import ACROSS_NARROW, ACROSS_WIDE

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
    return Section(f"answers-{place}", title, [*_figures(page, place), *_findings(page)])


def _figures(page: Told, place: int) -> Iterator[Block]:
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
    rows = [
        [name, words.percent(share), words.percent(peers.get(name))]
        for name, share in known.items()
    ]
    yield Figure(
        f"shares-{place}",
        people.OWN_SHARES_READ,
        draw_annotators(title, [row], across=ACROSS_WIDE),
        draw_annotators(title, [row], across=ACROSS_NARROW),
        Table(title, ["category", "you", "others"], rows, frozenset({1, 2})),
        Why([line(text) for text in people.WHY_SHARES]),
    )


def _findings(page: Told) -> Iterator[Block]:
    blocks: list[Block] = []
    for finding in page["findings"]:
        blocks.append(Paragraph(line(finding["why"])))
        if finding["recorded"] is not None:
            blocks.append(Paragraph(line(finding["recorded"]["words"])))
        shown = [line(row) for row in own_finding_lines(finding)]
        if shown:
            blocks.append(Group(people.EVIDENCE, [Bullets(shown)], True))
    yield Group(people.STANDS_OUT, blocks or [Paragraph(line(NOTHING_STANDS_OUT))])
