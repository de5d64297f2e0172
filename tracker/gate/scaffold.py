"""A file to start from: thresholds a little below what a project's figures are now."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from shlex import quote

from sqlalchemy import Connection

from tracker.agreement import Assessment, Query, assess
from tracker.core import clock
from tracker.core.errors import InvalidOption
from tracker.gate.checks import EVERY, Figure
from tracker.gate.config import DEFAULT_CONFIG, parse_config
from tracker.gate.context import Standing, standings
from tracker.gate.evaluate import judge
from tracker.gate.result import CheckResult
from tracker.gate.words import called, sentence
from tracker.projects.project import ProjectInfo
from tracker.queries import EVERYTHING, AnswerFilter

__all__ = ["starting_config"]

_HEAD = """\
# What {project} is held to, from its figures of {day}: each threshold lies a little
# below what holds now. Change them to what you need. All checks must pass:
#   tracker gate PROJECT --config FILE
# A check is a table [[check]]; docs/gate.md has all kinds of them.
{choice}
# How the figures are read; left out, as the project says.
# confidence = 0.95
# interval = "t"
# scale = "ordinal"
# weights = "linear"
"""
_CHOSEN = "# It is of a choice of answers: the gate needs the same options.\n"
# The first that has a value.
_MEASURES = {"spans": ("span_f1_exact",)}
_ANY_MEASURES = ("krippendorff_alpha", "percent_agreement")
_MAX_DROP = "0.05"
_KINDS = ("constant_category", "random_answers")


@dataclass(frozen=True)
class _Block:
    """One check: what is said of it, and its lines."""

    about: str
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join(["[[check]]", *self.lines, ""])

    def written(self, why_not: str | None) -> str:
        """The check in the file, or put into comments where it does not hold now."""
        if why_not is None:
            return f"# {self.about}\n{self.text}"
        said = f"{self.about}\nCommented out because it would fail today: {why_not}\n{self.text}"
        return "".join(f"# {line}\n" for line in said.removesuffix("\n").split("\n"))


def starting_config(
    connection: Connection, project: ProjectInfo, choice: AnswerFilter = EVERYTHING
) -> str:
    """A gate's file that the project passes as it is, with a line about each check.

    Raises InvalidOption where no item has two answers.
    """
    measures = _MEASURES.get(project.answers, _ANY_MEASURES)
    found = assess(connection, project, Query(measures, filter=choice))
    if not found.counts.items_compared:
        raise InvalidOption(
            f"no item of {project.name!r} has two answers: there is no figure to start from",
            f"import answers first: tracker import FILE --project {quote(project.name)}",
        )
    blocks = list(_blocks(found, measures))
    tried = parse_config("\n".join(block.text for block in blocks), DEFAULT_CONFIG)
    told = judge(connection, project, tried, choice)
    why_not = {result.line: _why_not(result) for result in told.checks if not result.passed}
    head = _HEAD.format(
        project=_quoted(project.name),
        day=clock.iso(clock.now())[:10],
        choice="" if told.selection is None else _CHOSEN,
    )
    written = (
        block.written(why_not.get(check.place.line))
        for block, check in zip(blocks, tried.checks, strict=True)
    )
    return "\n".join([head, *written])


def _why_not(result: CheckResult) -> str:
    """Why a check does not pass; the file, which others read, names no annotator."""
    found = result.details.get("annotators")
    if not found:
        return result.why
    return f"{len(found):,} annotator{' is' if len(found) == 1 else 's are'} flagged."


def _blocks(found: Assessment, measures: tuple[str, ...]) -> Iterator[_Block]:
    of_measures = [one for name in measures for one in standings(found, Figure(measure=name))]
    overall = next((one for one in of_measures if one.value is not None), None)
    if overall is not None:
        least = -1.0 if overall.measure == "krippendorff_alpha" else 0.0
        yield _least(overall, f'measure = "{overall.measure}"', least)
    lowest = found.summary.lowest
    if lowest is not None:
        name = found.categories[lowest.category]
        every = standings(found, Figure(category=EVERY))
        weakest = next(one for one in every if one.category == name)
        yield _least(weakest, f"category = {_quoted(name)}", 0.0, "The weakest category: ")
    if overall is not None:
        yield _Block(
            'Since the last snapshot; of another: since = "its name".',
            (f'measure = "{overall.measure}"', f"max_drop = {_MAX_DROP}"),
        )
    for kind in _KINDS:
        about = f"No finding of {kind} by an audit, those aside that were dismissed or resolved."
        yield _Block(about, (f'flags = ["{kind}"]',))
    counts = found.counts
    yield _Block(
        f"Items with two answers or more: now {counts.items_compared:,}.",
        (f"items_at_least = {_two_digits(counts.items_compared)}",),
    )
    share = counts.items_compared / counts.items
    yield _Block(
        f"Their share of the items that have an answer: now {share:.3f}.",
        (f"overlap_at_least = {_below(share, 0.0)}",),
    )


def _least(figure: Standing, key: str, least: float, about: str = "") -> _Block:
    """A check of a figure's lower bound, or of the figure where it has no bound."""
    value = figure.value if figure.low is None else figure.low
    bounds = ""
    if figure.low is not None and figure.high is not None:
        bounds = f" ({figure.low:.3f} to {figure.high:.3f}, {100 * figure.confidence:g}%)"
    what = called(figure) if figure.measure else f"agreement on {_quoted(figure.category or '')}"
    on = () if figure.low is None else ('on = "ci_low"',)
    return _Block(
        sentence(f"{about}{what}, now {figure.value or 0.0:.3f}{bounds}"),
        (key, f"at_least = {_below(value or 0.0, least)}", *on),
    )


def _below(value: float, least: float) -> str:
    """A number of two places between a half and one and a half hundredths below."""
    return f"{max(least, math.floor(100 * value - 0.5) / 100):.2f}"


def _two_digits(number: int) -> int:
    """A whole number of two digits and zeros, not above."""
    unit = int(10 ** max(0, len(str(number)) - 2))
    return number // unit * unit


def _quoted(text: str) -> str:
    """A text as TOML has it, on one line."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
