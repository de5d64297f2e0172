"""Strengths, swaps and positions as tables, which every face shows alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import exp
from typing import Final

from tracker.agreement.columns import BEATS, LEADERBOARDS, POSITION, STRENGTHS, SWAPS
from tracker.agreement.preferences import Preferences, tie_probability
from tracker.render.blocks import Column, listing_table
from tracker.render.nouns import count_noun, percent
from tracker.render.tables import Table

_MOST: Final = 20  # rows of each further table


def strength_lines(preferences: Preferences) -> list[str]:
    """Return what strengths rest on, why there are none, and what ties and the order do."""
    answers, items = (
        count_noun(preferences.answers, "answer"), count_noun(preferences.items, "item"),
    )  # fmt: skip
    lines = [f"{answers} compare {len(preferences.strengths)} in {items}"]
    left_out = {
        "are about two without names": preferences.without_names,
        "say neither which is better nor a tie": preferences.without_side,
    }
    for why, number in left_out.items():
        lines[0] += f"; {count_noun(number, 'answer')} more {why}" if number else ""
    if preferences.why is not None:
        lines.append(f"no strengths: {preferences.why}")
    if (tie := tie_probability(preferences)) is not None:
        lines.append(f"two of equal strength are a tie with a probability of {percent(tie)}")
    if (effect := preferences.order_effect) is not None:
        share = 1 / (1 + exp(-effect.value))
        sure = (
            effect.ci_low is None or effect.ci_high is None or effect.ci_low * effect.ci_high <= 0
        )
        lines.append(f"of two of equal strength the one shown first is better in {percent(share)}"
                     f"{', which may be chance' if sure else ''}")  # fmt: skip
    return lines


def strengths_view(preferences: Preferences) -> Iterator[str | Table]:
    """Yield strengths, who beat whom, who answers by place, and models beside people."""
    payload = preferences.to_dict()
    level = f"{100 * preferences.confidence:g}%"
    yield f"{preferences.project}: " + ".\n".join(strength_lines(preferences)) + "."
    if preferences.strengths:
        yield listing_table(STRENGTHS, payload["strengths"], level=level)
    parts: Sequence[tuple[str, str, Sequence[Column]]] = (
        ("Who beat whom", "beats", BEATS),
        ("Swapped: the same two in both orders", "swaps", SWAPS),
        ("Position: the one shown first is preferred", "position", POSITION),
        ("Models beside the people", "leaderboards", LEADERBOARDS),
    )
    for title, part, columns in parts:
        rows = payload[part]
        if rows:
            more = f" ({_MOST} of {len(rows):,}; all with --json)" if len(rows) > _MOST else ""
            yield f"{title}{more}:"
            yield listing_table(columns, rows[:_MOST], level=level)
