"""A plan in the terminal: the figure as it is, the ways to the one wanted, and what is left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from rich.console import RenderableType

from tracker.history.plot import day_cell
from tracker.plan.goal import GoalState, plan_figure_title
from tracker.plan.plan import Plan, half_width_text
from tracker.render.blocks import Column, listing_table
from tracker.render.cells import Text, count_cell, figure_cell
from tracker.render.nouns import count_noun

_NAMES: Final = {
    "more_items": "more items",
    "more_answers": "more answers an item",
    "both": "both",
}


def _between(low: float | None, high: float | None) -> str:
    return "" if low is None else f"{half_width_text(low)[1:]} to {half_width_text(high)[1:]}"


def _answers(row: Mapping[str, Any]) -> str:
    """Return what it takes, "1,200 to 2,400", with what may be more than can be given open."""
    low, high = row["answers_low"], row["answers_high"]
    if low is None and high is None:
        return ""
    return f"{count_cell(low)} to {count_cell(high)}" if high is not None else (
        f"{count_cell(low)} or more")  # fmt: skip


WAYS: Final = (
    Column("way", kind="title", text=lambda row: _NAMES[row["way"]]),
    Column("items", "items in all", "count"),
    Column("answers_per_item", "answers an item", "number",
           text=lambda row: f"{row['answers_per_item']:.3g}"),
    Column("answers", "to collect", "count"),
    Column("answers_low", "95% interval", "interval", rare=True, text=_answers),
    Column("half_width", kind="number", text=lambda row: half_width_text(row["half_width"])),
    Column("half_width_low", "95% interval", "interval", rare=True,
           text=lambda row: _between(row["half_width_low"], row["half_width_high"])),
    Column("cost", kind="number", rare=True,
           text=lambda row: "" if row["cost"] is None else f"{row['cost']:,.2f}"),
    Column("ready_on", "done on", "day", rare=True),
)  # fmt: skip


def plan_view(plan: Plan) -> Iterator[RenderableType]:
    """Yield a plan: the figure, the ways, what some answers gain, and how it was computed."""
    title, wanted = plan_figure_title(plan.measure), f"±{plan.wanted:.3g}"
    now = plan.now
    if plan.assumed is not None:
        shares = ", ".join(f"{share:.3g}" for share in plan.assumed["prevalence"])
        yield Text(f"Assumed: alpha {plan.assumed['alpha']:.3g}, shares {shares}; "
                   f"{now.answers_per_item:.0f} answers an item")  # fmt: skip
    else:
        yield Text.assemble(
            (title, "bold"), f" {figure_cell(now.value)} {half_width_text(now.half_width)} now, of "
            f"{count_noun(now.items, 'item')} with {now.answers_per_item:.3g} answers each",
        )  # fmt: skip
    if plan.reached:
        yield Text(f"{wanted} is reached.", style="green")
    elif plan.ways:
        yield Text(f"For {wanted}, the cheapest way first:")
        yield listing_table(WAYS, [way.to_dict() for way in plan.ways])
    for left_out in plan.left_out if not plan.reached else ():
        yield Text(f"Not by {_NAMES[left_out.way]}: {left_out.why}", style="dim")
    if plan.buys:
        gains = "; ".join(
            f"as {_NAMES[bought.way]}: {half_width_text(bought.half_width)}" for bought in plan.buys
        )
        yield Text(f"{plan.buys[0].answers:,} answers more would give, {gains}")
    if plan.pace is not None:
        stopped = any(way.ready_on is None for way in plan.ways)
        yield Text(
            f"Pace: {plan.pace.per_day:,.1f} answers a day from "
            f"{day_cell(plan.pace.oldest)} to {day_cell(plan.pace.newest)}"
            f"{', and none for four weeks' if stopped else ''}", style="dim",
        )  # fmt: skip


def goal_lines(goals: Iterable[GoalState]) -> Iterator[Text]:
    """Yield how far each goal is, on a line of its own."""
    for goal in goals:
        tone = "green" if goal.reached else "yellow" if goal.on_track is False else ""
        yield Text(f"Goal: {goal.why}", style=tone)
