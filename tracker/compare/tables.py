"""Two states beside each other: each figure's difference, then what made it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich.console import RenderableType

from tracker.agreement.sentences import reason
from tracker.compare.comparison import AgainstOther, Because, Compared, StateComparison
from tracker.compare.decomposition import Part
from tracker.compare.items import ITEM_KINDS, KINDS, OTHER_ITEMS, SAME_ITEMS, ItemCounts
from tracker.compare.states import State
from tracker.core import clock
from tracker.measures.difference_sentences import judge_change_sentence
from tracker.measures.difference_tests import Comparison
from tracker.measures.intervals import NOT_APPLICABLE, TOO_FEW_ANNOTATORS
from tracker.measures.words import figure_title_words, measure_title_words
from tracker.render.blocks import PAGE, TERMINAL, Column, listing_table
from tracker.render.cells import (
    Text,
    change_cell,
    count_cell,
    interval_cell,
    minute_cell,
    p_value_cell,
)
from tracker.render.nouns import count_noun

_MOST_PARTS = 12
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


# -- The columns of all faces, and the rows that JSON does not have as they are shown -------------


def compared_columns(
    of: str, a: str, b: str, difference: str, *, tests: bool = False
) -> list[Column]:
    """Return the columns of figures of two sides; the arguments are their titles.

    With ``tests`` the terminal shows which test was made; pages always say why.
    """
    test = Column("test", faces=TERMINAL, text=_test)
    return [
        Column("figure", of, "title"),
        Column("a", a, "figure"),
        Column("b", b, "figure"),
        Column("difference", difference, "change"),
        Column("ci_low", "95% interval", "interval", text=_interval),
        Column("p_value", "p", "p"),
        Column("p_value_annotators", "other people", "p", text=_other_people),
        *([test] if tests else []),
        Column("why", "test", faces=PAGE),
    ]


def _interval(row: Mapping[str, Any]) -> str:
    """Return the interval of a difference, or why there is none."""
    if row["ci_low"] is not None:
        return interval_cell(row["ci_low"], row["ci_high"])
    if row["difference"] is not None and row["undefined"] == NOT_APPLICABLE:
        return "no test"
    return reason(row) or "-"


def _test(row: Mapping[str, Any]) -> str:
    return "" if row["p_value"] is None else row["test"].replace("_", " ")


def _other_people(row: Mapping[str, Any]) -> str:
    """Return the p-value of other annotators; a word if there are too few to tell."""
    too_few = row["undefined_annotators"] == TOO_FEW_ANNOTATORS
    return "too few" if too_few else p_value_cell(row["p_value_annotators"])


def compared_rows(payload: Mapping[str, Any], part: str) -> list[dict[str, Any]]:
    """Return the "measures" or "categories" of a comparison that have a figure on a side."""
    return [
        {
            "figure": measure_title_words(row["measure"]) if part == "measures"
            else row["category"],
            **row,
        }
        for row in payload[part]
        if part == "categories" or row["a"] is not None or row["b"] is not None
    ]  # fmt: skip


def cause_columns(payload: Mapping[str, Any]) -> list[Column]:
    """Return the columns of what made a difference."""
    title = "what differs" if payload["changes"] is None else "what changed"
    return [
        Column("cause", title, "title"),
        Column("number", "how many", "interval"),
        Column("contribution", "share", "change"),
    ]


def cause_rows(payload: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the kinds of change that happened, or the items of two periods, with their shares."""
    because, changes, items = payload["because"], payload["changes"], payload["periods"]
    if because["undefined"] is not None:
        return []
    if changes is not None:
        return [
            {
                "cause": words,
                "number": f"{count_cell(changes[kind])} {unit}",
                "contribution": because[kind],
            }
            for kind, (words, unit) in _KINDS.items()
            if changes[kind]
        ]
    if items is None:
        return []
    in_a, in_b = count_cell(items["items_only_a"]), count_cell(items["items_only_b"])
    other = {"cause": "other items", "number": f"{in_a} in A, {in_b} in B"}
    same = {
        "cause": "the same items, answered again",
        "number": count_noun(items["items_in_both"], "item"),
    }
    rows = [other | {"contribution": because[OTHER_ITEMS]}]
    return [*rows, same | {"contribution": because[SAME_ITEMS]}] if items["items_in_both"] else rows


def part_columns(key: str, title: str | None = None) -> list[Column]:
    """Return the columns of the parts that annotators or answers have in a difference."""
    return [
        Column(key, title, "name", leads=key),
        Column("contribution", "share", "change"),
        Column("a", "own in A", "figure"),
        Column("b", "own in B", "figure"),
        Column("answers_a", "answers A", "count"),
        Column("answers_b", "answers B", "count"),
    ]


# -- JSON -----------------------------------------------------------------------------------------


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


def _compared_dict(key: str, figure: Compared, *, turned: bool = False) -> dict[str, Any]:
    before, after = (figure.after, figure.before) if turned else (figure.before, figure.after)
    payload = {key: figure.name, "a": before, "b": after} | comparison_test_as_json(
        figure.comparison
    )
    if key == "measure":
        payload["because"] = _every_kind(figure.shares)
    return payload


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
    payload = comparison_as_json(state_comparison)
    sides = ("A", "B", "B - A")
    items = {"figure": "agreement of the items", **payload["items"]}
    rows = [*compared_rows(payload, "measures"), items]
    yield listing_table(compared_columns("measure", *sides), rows)
    rows = compared_rows(payload, "categories")
    yield listing_table(compared_columns("agreement on", *sides), rows)
    yield Text(_WHICH_P, style="dim")
    if state_comparison.because is not None:
        yield from _because(state_comparison, payload)


def compare_causes_view(state_comparison: StateComparison) -> Iterator[RenderableType]:
    """Yield the last part alone: how much one figure moved, and what made it."""
    payload = comparison_as_json(state_comparison)
    for note in state_comparison.notes:
        yield Text(f"{clock.iso(note.at)[:10]}  {note.text}")
    yield from _families(state_comparison)
    if state_comparison.because is not None:
        yield from _because(state_comparison, payload)


def compare_against_view(against_other: AgainstOther) -> Iterator[RenderableType]:
    """Yield each measure of both, the difference and whether chance would make it."""
    yield Text.assemble(
        (f"{against_other.project} against {against_other.a.told}", "bold"),
        f"  {count_noun(against_other.items.both, 'item')} in both",
    )
    payload = against_other_as_json(against_other)
    rows = [
        {"figure": figure_title_words(measure.second.to_dict()), **row}
        for measure, row in zip(against_other.measures, payload["measures"], strict=True)
        if NOT_APPLICABLE not in {measure.first.undefined, measure.second.undefined}
    ]
    rows += [
        {"figure": f"agreement of the {key}", **payload[key]} for key in ("items", "annotators")
    ]
    yield from _families(against_other)
    columns = compared_columns("measure", "this", "other", "difference", tests=True)
    yield listing_table(columns, rows)
    yield Text(_WHICH_P, style="dim")
    every = (
        *(measure.comparison for measure in against_other.measures),
        against_other.by_item,
        against_other.by_annotator,
    )
    for why in dict.fromkeys(
        str(figure.why)
        for figure in every
        if figure.difference is not None and (figure.p_value is not None or not figure.test)
    ):
        yield Text(why, style="dim")


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


def _because(
    state_comparison: StateComparison, payload: Mapping[str, Any]
) -> Iterator[RenderableType]:
    if state_comparison.is_unchanged:
        yield Text("Both hold the same answers.")
        return
    because = state_comparison.because
    assert because is not None
    lead = next(measure for measure in state_comparison.measures if measure.name == because.measure)
    yield Text.assemble(
        ("Why", "bold"),
        f"  {measure_title_words(because.measure)} changed by "
        f"{change_cell(lead.comparison.difference)}, which is the sum of the shares:",
    )
    rows = cause_rows(payload)
    if rows:
        yield listing_table(cause_columns(payload), rows)
    elif because.undefined is not None:
        yield Text("The difference cannot be divided by kind of change.", style="dim")
    for key, several, title in (
        ("annotator", "annotators", "annotator"),
        ("category", "categories", "answer"),
    ):
        if payload["because"][several]:
            yield listing_table(part_columns(key, title), _parts(key, payload["because"][several]))


def _parts(key: str, rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the first parts, and the sum of the others."""
    rest = rows[_MOST_PARTS:]
    if not rest:
        return [*rows]
    total = sum(row["contribution"] for row in rest)
    return [*rows[:_MOST_PARTS], {key: f"{len(rest):,} more", "contribution": total}]
