"""Two states in the terminal: each figure's difference, then what made it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from rich.console import RenderableType

from tracker.compare import State, StateComparison
from tracker.compare.decomposition import Part
from tracker.compare.periods import OTHER_ITEMS, SAME_ITEMS, PeriodItems
from tracker.compare.result import Because, Compared
from tracker.core import clock
from tracker.measures.significance import Comparison
from tracker.render.cells import Text, count, figure, many, minute
from tracker.render.tables import table
from tracker.render.words import reason

_MOST_PARTS = 12
_KINDS = {
    "new_items": ("new items", "items"),
    "new_answers": ("further answers to items of before", "answers"),
    "revised_answers": ("revised answers", "answers"),
    "removed_answers": ("answers taken away", "answers"),
}


def test_dict(found: Comparison) -> dict[str, Any]:
    """Return a difference and its test as JSON has them, key order included."""
    return asdict(found) | {"why": "" if found.why is None else str(found.why)}


def compare_view(found: StateComparison) -> Iterator[RenderableType]:
    """The parts of the page, in order."""
    yield Text.assemble(
        (found.a.project.name, "bold"), f"  A: {_state(found.a)}   B: {_state(found.b)}"
    )
    if found.periods is not None:
        yield Text(_periods(found.periods), style="dim")
    elif found.shared is not None:
        yield Text(f"{count(found.shared)} items have answers in both.", style="dim")
    for note in found.notes:
        yield Text(f"{clock.iso(note.at)[:10]}  {note.text}")
    defined = [one for one in found.measures if one.before is not None or one.after is not None]
    yield table(_columns("measure "), [_row(one) for one in defined])
    yield table(_columns("agreement on"), [_row(one) for one in found.categories])
    if found.because is not None:
        yield from _because(found)


def because_view(found: StateComparison) -> Iterator[RenderableType]:
    """The last part alone: how much one figure moved, and what made it."""
    for note in found.notes:
        yield Text(f"{clock.iso(note.at)[:10]}  {note.text}")
    if found.because is not None:
        yield from _because(found)


def _state(state: State) -> str:
    told = state.to_dict()
    if state.snapshot is not None:
        name = f" {state.snapshot.name!r}" if state.snapshot.name else ""
        return f"snapshot {state.snapshot.id}{name} of {minute(told['as_of'])}"
    words = [] if told["since"] is None else [f"answers since {told['since'][:10]}"]
    if told["as_of"] is not None:
        words.append(f"as of {minute(told['as_of'])}")
    return " ".join(words) or "all answers"


def _periods(items: PeriodItems) -> str:
    return (
        "Two periods that do not overlap: no answer is in both. "
        f"{many(items.only_a, 'item')} in A alone, {count(items.only_b)} in B alone, "
        f"{count(items.both)} in both."
    )


def _columns(first: str) -> tuple[str, ...]:
    return (first, "A", "B", "B - A", "low", "high", "p")


def _row(one: Compared) -> tuple[str, ...]:
    found = one.comparison
    return (
        one.name,
        figure(one.before),
        figure(one.after),
        _signed(found.difference),
        _signed(found.ci_low),
        _signed(found.ci_high),
        reason(found.undefined or "") if found.p_value is None else _p(found.p_value),
    )


def _signed(value: float | None) -> str:
    return "" if value is None else f"{value:+.3f}"


def _p(value: float) -> str:
    return "<.0001" if value < 0.0001 else f"{value:.4f}"


def _because(found: StateComparison) -> Iterator[RenderableType]:
    if found.is_unchanged:
        yield Text("Both hold the same answers.")
        return
    because = found.because
    assert because is not None
    lead = next(one for one in found.measures if one.name == because.measure)
    yield Text.assemble(
        ("Because", "bold"),
        f"  {because.measure} {_signed(lead.comparison.difference)}, shared out:",
    )
    if because.shares is not None and found.periods is not None:
        yield table(("what differs ", "how many", "share"), _differences(found.periods, because))
    elif because.shares is not None and found.changes is not None:
        rows = [
            (words, f"{count(found.changes[kind])} {unit}", _signed(because.shares.get(kind, 0.0)))
            for kind, (words, unit) in _KINDS.items()
            if found.changes[kind]
        ]
        if rows:
            yield table(("what changed ", "how many", "share"), rows)
    elif because.undefined is not None:
        yield Text("By kinds of change it cannot be told.", style="dim")
    for title, parts in (("annotator", because.annotators), ("answer", because.answers)):
        if parts:
            yield _parts(title, parts)


def _differences(items: PeriodItems, because: Because) -> list[tuple[str, str, str]]:
    """What the items of one period alone make, and what those of both."""
    shares = because.shares or {}
    rows = [
        (
            "other items",
            f"{count(items.only_a)} in A, {count(items.only_b)} in B",
            _signed(shares.get(OTHER_ITEMS)),
        )
    ]
    if items.both:
        same = _signed(shares.get(SAME_ITEMS))
        rows.append(("the same items, answered again", many(items.both, "item"), same))
    return rows


def _parts(title: str, parts: Mapping[str, Part]) -> RenderableType:
    shown = list(parts.items())[:_MOST_PARTS]
    rows = [
        (
            name,
            _signed(part.contribution),
            figure(part.before.value if part.before else None),
            figure(part.after.value if part.after else None),
            count(part.before.answers if part.before else 0),
            count(part.after.answers if part.after else 0),
        )
        for name, part in shown
    ]
    rest = list(parts.values())[_MOST_PARTS:]
    if rest:
        total = sum(part.contribution for part in rest)
        rows.append((f"{len(rest):,} more", _signed(total), "", "", "", ""))
    return table((title, "share", "own in A", "own in B", "answers A", "answers B"), rows)
