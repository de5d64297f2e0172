"""Two states beside each other: each figure's difference, then what made it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import RenderableType

from tracker.compare.comparison import AgainstOther, Because, Compared, StateComparison
from tracker.compare.decomposition import Part
from tracker.compare.items import ITEM_KINDS, KINDS, OTHER_ITEMS, SAME_ITEMS, ItemCounts
from tracker.compare.states import State
from tracker.core import clock
from tracker.measures.difference_sentences import judge_change_sentence
from tracker.measures.difference_tests import Comparison
from tracker.measures.intervals import TOO_FEW_ANNOTATORS
from tracker.measures.words import figure_title_words, measure_title_words, undefined_in_words
from tracker.render.cells import (
    Text,
    count_cell,
    figure_cell,
    interval_cell,
    minute_cell,
)
from tracker.render.nouns import count_noun
from tracker.render.tables import table

_MOST_PARTS = 12
_PEOPLE = "other people"
_WHICH_P = (
    "p: would these annotators differ on other items? other people: would other annotators differ, "
    "too? The second needs three annotators on each side."
)
_KINDS = {
    "new_items": ("new items", "items"),
    "new_answers": ("further answers to earlier items", "answers"),
    "revised_answers": ("revised answers", "answers"),
    "removed_answers": ("removed answers", "answers"),
}


def comparison_test_as_json(comparison: Comparison) -> dict[str, Any]:
    """Return a difference and its test as JSON has them, key order included."""
    return asdict(comparison) | {"why": "" if comparison.why is None else str(comparison.why)}


def comparison_as_json(state_comparison: StateComparison) -> dict[str, Any]:
    """Return the contract's JSON of ``tracker compare``."""
    apart = state_comparison.changes is None and state_comparison.is_of_one_project
    return {
        "project": state_comparison.project,
        "a": compared_state_as_json(state_comparison.a),
        "b": compared_state_as_json(state_comparison.b),
        "shared_items": state_comparison.items.both,
        "changes": None if state_comparison.changes is None else dict(state_comparison.changes),
        "periods": _items_dict(state_comparison.items) if apart else None,
        "measures": [_compared_dict("measure", measure) for measure in state_comparison.measures],
        "categories": [
            _compared_dict("category", category) for category in state_comparison.categories
        ],
        "because": None
        if state_comparison.because is None
        else _because_dict(state_comparison.because),
        "notes": [note.to_dict() for note in state_comparison.notes],
        "families": [family.to_dict() for family in state_comparison.families],
        "items": comparison_test_as_json(state_comparison.by_item),
        "annotators": comparison_test_as_json(state_comparison.by_annotator),
    }


def against_other_as_json(against_other: AgainstOther) -> dict[str, Any]:
    """Return the JSON of ``tracker agreement --against``, the answers asked about first."""
    return {
        "project": against_other.project,
        "against": against_other.a.told,
        "shared_items": against_other.items.both,
        "measures": [
            _compared_dict("measure", measure, turned=True) for measure in against_other.measures
        ],
        "items": comparison_test_as_json(against_other.by_item),
        "annotators": comparison_test_as_json(against_other.by_annotator),
        "categories": [
            _compared_dict("category", category, turned=True)
            for category in against_other.categories
        ],
        "because": None
        if against_other.because is None
        else _because_dict(against_other.because, turned=True),
        "families": [family.to_dict(turned=True) for family in against_other.families],
    }


def compared_state_as_json(state: State) -> dict[str, Any]:
    """Return a state as JSON."""
    since = state.selection.since
    return {
        "project": state.question.project.name,
        "asked": state.told,
        "snapshot": None if state.snapshot is None else state.snapshot.id,
        "name": None if state.snapshot is None else state.snapshot.name,
        "as_of": None if state.at is None else clock.iso(state.at),
        "since": None if since is None else clock.iso(since),
    }


def _items_dict(items: ItemCounts) -> dict[str, int]:
    return {
        "items_only_a": items.only_a,
        "items_only_b": items.only_b,
        "items_in_both": items.both,
    }


def _compared_dict(key: str, one: Compared, *, turned: bool = False) -> dict[str, Any]:
    before, after = (one.after, one.before) if turned else (one.before, one.after)
    made = {key: one.name, "a": before, "b": after} | comparison_test_as_json(one.comparison)
    if key == "measure":
        made["because"] = _every_kind(one.shares)
    return made


def _because_dict(because: Because, *, turned: bool = False) -> dict[str, Any]:
    return {
        "measure": because.measure,
        **dict.fromkeys(KINDS),
        **(_every_kind(because.shares) or {}),
        "annotators": [
            {"annotator": name} | compared_part_as_json(part, turned=turned)
            for name, part in because.annotators.items()
        ],
        "categories": [
            {"category": name} | compared_part_as_json(part, turned=turned)
            for name, part in because.answers.items()
        ],
        "undefined": because.undefined,
    }


def compared_part_as_json(part: Part, *, turned: bool = False) -> dict[str, Any]:
    """Return a group's part in a difference as JSON."""
    before, after = (part.after, part.before) if turned else (part.before, part.after)
    return {
        "contribution": part.contribution,
        "a": None if before is None else before.value,
        "b": None if after is None else after.value,
        "answers_a": 0 if before is None else before.answers,
        "answers_b": 0 if after is None else after.answers,
    }


def _every_kind(shares: Mapping[str, float] | None) -> dict[str, float] | None:
    """Return the share of every kind, 0 for one that did not happen."""
    if shares is None:
        return None
    kinds = ITEM_KINDS if shares.keys() & set(ITEM_KINDS) else KINDS
    return {kind: shares.get(kind, 0.0) for kind in kinds}


def compare_view(state_comparison: StateComparison) -> Iterator[RenderableType]:
    """Yield the parts of the page, in order."""
    yield Text.assemble(
        (state_comparison.a.question.project.name, "bold"),
        f"  A: {_state(state_comparison.a)}   B: {_state(state_comparison.b)}",
    )
    yield Text(_items(state_comparison), style="dim")
    for note in state_comparison.notes:
        yield Text(f"{clock.iso(note.at)[:10]}  {note.text}")
    yield from _families(state_comparison)
    defined = [
        measure
        for measure in state_comparison.measures
        if measure.before is not None or measure.after is not None
    ]
    rows = [
        _row(measure_title_words(one.name), one.comparison, one.before, one.after)
        for one in defined
    ]
    rows.append(_row("agreement of the items", state_comparison.by_item))
    yield table(_columns("measure "), rows)
    yield table(_columns("agreement on"), _rates(state_comparison.categories))
    yield Text(_WHICH_P, style="dim")
    if state_comparison.because is not None:
        yield from _because(state_comparison)


def compare_causes_view(state_comparison: StateComparison) -> Iterator[RenderableType]:
    """Yield the last part alone: how much one figure moved, and what made it."""
    for note in state_comparison.notes:
        yield Text(f"{clock.iso(note.at)[:10]}  {note.text}")
    yield from _families(state_comparison)
    if state_comparison.because is not None:
        yield from _because(state_comparison)


def compare_against_view(against_other: AgainstOther) -> Iterator[RenderableType]:
    """Yield each measure of both, the difference and whether chance would make it."""
    yield Text.assemble(
        (f"{against_other.project} against {against_other.a.told}", "bold"),
        f"  {count_noun(against_other.items.both, 'item')} in both",
    )
    rows = [
        (
            figure_title_words(measure.second),
            figure_cell(measure.after),
            figure_cell(measure.before),
            *_tested(measure.comparison),
        )
        for measure in against_other.measures
        if "not_applicable" not in {measure.first.undefined, measure.second.undefined}
    ]
    rows.append(("agreement of the items", "", "", *_tested(against_other.by_item)))
    rows.append(("agreement of the annotators", "", "", *_tested(against_other.by_annotator)))
    yield from _families(against_other)
    columns = ("measure ", "this", "other", "difference", "interval", "p", _PEOPLE, "test ")
    yield table(columns, rows)
    yield Text(_WHICH_P, style="dim")
    every = (
        *(measure.comparison for measure in against_other.measures),
        against_other.by_item,
        against_other.by_annotator,
    )
    for why in dict.fromkeys(
        str(one.why)
        for one in every
        if one.difference is not None and (one.p_value is not None or not one.test)
    ):
        yield Text(why, style="dim")


def _tested(comparison: Comparison) -> tuple[str, str, str, str, str]:
    if comparison.p_value is None:
        untested = comparison.difference is not None and comparison.undefined == "not_applicable"
        why = "no test" if untested else undefined_in_words(comparison.undefined)
        return figure_cell(comparison.difference), "-", "-", "-", why
    return (
        figure_cell(comparison.difference),
        interval_cell(comparison.ci_low, comparison.ci_high),
        _short_p(comparison.p_value),
        _people(comparison, _short_p),
        comparison.test.replace("_", " "),
    )


def _short_p(value: float) -> str:
    return "< .001" if value < 0.001 else f"{value:.3f}"


def _people(comparison: Comparison, shown: Callable[[float], str]) -> str:
    """Return the p-value of other annotators; a word if there are too few to tell."""
    if comparison.p_value_annotators is not None:
        return shown(comparison.p_value_annotators)
    return "too few" if comparison.undefined_annotators == TOO_FEW_ANNOTATORS else "-"


def _state(state: State) -> str:
    at = "" if state.at is None else minute_cell(clock.iso(state.at))
    if state.snapshot is not None:
        name = f" {state.snapshot.name!r}" if state.snapshot.name else ""
        return f"snapshot {state.snapshot.id}{name} of {at}"
    since = state.selection.since
    words = [] if since is None else [f"answers since {clock.iso(since)[:10]}"]
    if at:
        words.append(f"as of {at}")
    return " ".join(words) or "all answers"


def _items(state_comparison: StateComparison) -> str:
    items = state_comparison.items
    if state_comparison.changes is not None or not state_comparison.is_of_one_project:
        return f"{count_cell(items.both)} items have answers in both."
    apart = state_comparison.a.ends_before(state_comparison.b) or state_comparison.b.ends_before(
        state_comparison.a
    )
    words = "Two periods that do not overlap: no answer is in both." if apart else "Other answers:"
    return (
        f"{words} {count_noun(items.only_a, 'item')} in A alone, "
        f"{count_cell(items.only_b)} in B alone, "
        f"{count_cell(items.both)} in both."
    )


def _families(state_comparison: StateComparison) -> Iterator[Text]:
    """Yield a sentence for each model of which other versions answer."""
    for family in state_comparison.families:
        sides = [[(v.annotator, v.version) for v in side] for side in (family.before, family.after)]
        moved = None
        if family.contribution is not None and state_comparison.because is not None:
            moved = (measure_title_words(state_comparison.because.measure), family.contribution)
        if isinstance(state_comparison, AgainstOther):
            which: tuple[str, str] | None = ("the other answers", "these")
        else:
            which = None if state_comparison.is_of_one_project else ("A", "B")
        yield Text(judge_change_sentence(family.family, sides[0], sides[1], which, moved), "yellow")


def _columns(first: str) -> tuple[str, ...]:
    return (first, "A", "B", "B - A", "low", "high", "p", _PEOPLE)


def _rates(categories: Sequence[Compared]) -> list[tuple[str, ...]]:
    return [
        _row(category.name, category.comparison, category.before, category.after)
        for category in categories
    ]


def _row(
    name: str, comparison: Comparison, before: float | None = None, after: float | None = None
) -> tuple[str, ...]:
    return (
        name,
        figure_cell(before),
        figure_cell(after),
        _signed(comparison.difference),
        _signed(comparison.ci_low),
        _signed(comparison.ci_high),
        undefined_in_words(comparison.undefined or "")
        if comparison.p_value is None
        else _p(comparison.p_value),
        _people(comparison, _p),
    )


def _signed(value: float | None) -> str:
    return "" if value is None else f"{value:+.3f}"


def _p(value: float) -> str:
    return "<.0001" if value < 0.0001 else f"{value:.4f}"


def _because(state_comparison: StateComparison) -> Iterator[RenderableType]:
    if state_comparison.is_unchanged:
        yield Text("Both hold the same answers.")
        return
    because = state_comparison.because
    assert because is not None
    lead = next(measure for measure in state_comparison.measures if measure.name == because.measure)
    yield Text.assemble(
        ("Why", "bold"),
        f"  {measure_title_words(because.measure)} changed by "
        f"{_signed(lead.comparison.difference)}, which is the sum of the shares:",
    )
    if because.shares is not None and state_comparison.changes is None:
        yield table(
            ("what differs ", "how many", "share"), _differences(state_comparison.items, because)
        )
    elif because.shares is not None and state_comparison.changes is not None:
        rows = [
            (
                words,
                f"{count_cell(state_comparison.changes[kind])} {unit}",
                _signed(because.shares.get(kind, 0.0)),
            )
            for kind, (words, unit) in _KINDS.items()
            if state_comparison.changes[kind]
        ]
        if rows:
            yield table(("what changed ", "how many", "share"), rows)
    elif because.undefined is not None:
        yield Text("The difference cannot be divided by kind of change.", style="dim")
    for title, parts in (("annotator", because.annotators), ("answer", because.answers)):
        if parts:
            yield _parts(title, parts)


def _differences(items: ItemCounts, because: Because) -> list[tuple[str, str, str]]:
    """Return what the items of one period alone make, and what those of both."""
    shares = because.shares or {}
    rows = [
        (
            "other items",
            f"{count_cell(items.only_a)} in A, {count_cell(items.only_b)} in B",
            _signed(shares.get(OTHER_ITEMS)),
        )
    ]
    if items.both:
        same = _signed(shares.get(SAME_ITEMS))
        rows.append(("the same items, answered again", count_noun(items.both, "item"), same))
    return rows


def _parts(title: str, parts: Mapping[str, Part]) -> RenderableType:
    shown = list(parts.items())[:_MOST_PARTS]
    rows = [
        (
            name,
            _signed(part.contribution),
            figure_cell(part.before.value if part.before else None),
            figure_cell(part.after.value if part.after else None),
            count_cell(part.before.answers if part.before else 0),
            count_cell(part.after.answers if part.after else 0),
        )
        for name, part in shown
    ]
    rest = list(parts.values())[_MOST_PARTS:]
    if rest:
        total = sum(part.contribution for part in rest)
        rows.append((f"{len(rest):,} more", _signed(total), "", "", "", ""))
    return table((title, "share", "own in A", "own in B", "answers A", "answers B"), rows)
