"""What has no figure, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tracker.measures.registry import MEASURES
from tracker.render.messages import report as words
from tracker.render.messages import report_figures as figures
from tracker.report.document import Block, Bullets, Group, Line, Paragraph, Section, line
from tracker.report.gather import Gathered, OfQuestion


def undefined_section(found: Gathered) -> Section:
    """Return the figures that cannot be had, each with its reason; once if it is that of all."""
    title = "What is undefined, and why"
    by_name = {one.name: list(_of(one)) for one in found.questions}
    first, *others = by_name.values()
    common = [told for told in first if all(told in lines for lines in others)]
    unfit = [line(figures.undefined_line(row["question"], row["why"])) for row in found.unfit]
    blocks: list[Block] = [Bullets([*common, *unfit])] if common or unfit else []
    for name, lines in by_name.items():
        own = [told for told in lines if told not in common]
        blocks += [Group(name, [Bullets(own)])] if own else []
    return Section("undefined", title, blocks or [Paragraph(line(figures.ALL_DEFINED))])


def _of(one: OfQuestion) -> Iterator[Line]:
    for row in one.agreement["measures"]:
        if row["value"] is None:
            yield line(figures.undefined_line(MEASURES[row["measure"]].title, words.reason(row)))
    without: dict[str, list[str]] = {}
    for row in one.categories:
        if row["rate"] is None:
            without.setdefault(words.reason(row), []).append(words.quoted(row["category"]))
    for why, names in without.items():
        yield line(figures.undefined_line(words.listed(names, 10), why))
    lacking: dict[str, list[str]] = {}
    kinds: list[Mapping[str, str]] = one.audit["not_applicable"]
    for row in kinds:
        lacking.setdefault(row["why"], []).append(row["kind"].replace("_", " "))
    for why, names in lacking.items():
        yield line(figures.undefined_line(words.listed(names, 20), why))
