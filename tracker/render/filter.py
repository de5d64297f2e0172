"""An answer filter in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tracker.render.cells import Text, minute_cell
from tracker.render.nouns import first_names

_MOST_NAMES = 6


def selection_view(selection: Mapping[str, Any] | None) -> Iterator[Text]:
    """Yield the line, dim."""
    if selection is not None:
        yield Text(f"Only answers {selection_in_words(selection)}.", style="dim")


def selections_view(selections: Mapping[str, Mapping[str, Any] | None]) -> Iterator[Text]:
    """Yield the line about the selections of questions, or one for each if they differ."""
    first, *others = selections.values()
    if all(other == first for other in others):
        yield from selection_view(first)
        return
    for question, selection in selections.items():
        if selection is not None:
            yield Text(f"{question}: only answers {selection_in_words(selection)}.", style="dim")


def selection_in_words(selection: Mapping[str, Any]) -> str:
    """Return a selection in words, as they follow "only answers"."""
    named, excluded = selection["annotators"], selection["excluded"]
    parts = [f"of {first_names(named, _MOST_NAMES)}"] if named else []
    if excluded:
        parts.append(f"{'not of' if named else 'of all but'} {first_names(excluded, _MOST_NAMES)}")
    if selection.get("guideline"):
        parts.append(f"under guideline {selection['guideline']}")
    parts += [
        f"{word} {minute_cell(selection[word])}" for word in ("since", "until") if selection[word]
    ]
    parts += [
        f"{words} {minute_cell(selection[word])}"
        for word, words in (("as_of", "as they stood"), ("known_at", "as known"))
        if selection.get(word)
    ]
    parts += [
        f"where {name} is {first_names([*map(repr, values)], _MOST_NAMES, ' or ')}"
        for name, values in selection["where"].items()
    ]
    return ", ".join(parts)
