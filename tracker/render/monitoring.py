"""What a figure's course says, in plain sentences: its slope, its changes, the alarms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tracker.history.monitor import Watched
from tracker.measures.registry import MEASURES
from tracker.monitoring import ENOUGH_FOR_ALARMS, FEW_PERIODS, Alarm, Autocorrelation, Change, Slope
from tracker.projects.notes import NoteInfo
from tracker.render.cells import Text, figure_cell, interval_cell, level_cell
from tracker.render.nouns import count_noun
from tracker.render.plot import day_cell

_FEWEST: Final = {"trend": 3, "change of level": 4, "alarm": 4}
_WORDS: Final = {"drop": "a drop", "rise": "a rise", "change": "a change"}


def watched_view(found: Watched) -> Iterator[Text]:
    """Yield the lines, in order."""
    without = f", {found.left_out:,} more without a figure" if found.left_out else ""
    yield Text.assemble(
        (f"{MEASURES[found.measure].title}, {found.every} by {found.every}", "bold"),
        f"  {count_noun(len(found.points), found.every)}, each of its own answers{without}",
    )
    if found.slope is not None:
        yield _slope(found, found.slope)
        if found.slope.autocorrelation is not None:
            yield _dependence(found, found.slope.autocorrelation)
    if found.changes is not None:
        yield from _changes(found)
    if found.watch is not None:
        yield from _alarms(found)


def _few(found: Watched, what: str) -> Text:
    """Return that there is too little to go by."""
    weeks = count_noun(len(found.points), found.every)
    return Text(f"Too few for {_article(what)}: {weeks}, and {_FEWEST[what]} are needed.")


def _article(what: str) -> str:
    return f"an {what}" if what[0] in "aeiou" else f"a {what}"


def _slope(found: Watched, slope: Slope) -> Text:
    if slope.per_30_days is None:
        return _few(found, "trend")
    rise = slope.per_30_days
    if rise == 0:
        return Text("It neither rises nor falls.")
    moved = f"It {'rises' if rise > 0 else 'falls'} by {figure_cell(abs(rise))} in 30 days"
    if slope.p_value is None:
        return Text(f"{moved}, along a straight line: its error cannot be estimated.")
    words = "more than chance" if slope.p_value < 1 - slope.confidence else "no more than chance"
    p = "p < .001" if slope.p_value < 0.001 else f"p = {slope.p_value:.3f}"
    bounds = interval_cell(slope.ci_low, slope.ci_high)
    return Text(f"{moved} ({level_cell(slope.confidence)} interval {bounds}, {p}): {words}.")


def _dependence(found: Watched, of: Autocorrelation) -> Text:
    """Return how much neighboring periods depend on each other, or that it is not known."""
    if len(found.points) < FEW_PERIODS:
        words = (
            f"{FEW_PERIODS} {found.every}s or more are needed to estimate how much neighboring "
            f"{found.every}s depend on each other; the results here allow for it in part."
        )
    else:
        words = (
            f"Autocorrelation of neighboring {found.every}s {figure_cell(of.value)} "
            f"({figure_cell(of.ci_low)} to {figure_cell(of.ci_high)}), taken into account."
        )
    return Text(words, style="dim")


def _changes(found: Watched) -> Iterator[Text]:
    changes = found.changes
    if changes is None:
        return
    if changes.undefined is not None:
        yield _few(found, "change of level")
        return
    if not changes.changes:
        yield Text("Its level stayed the same.")
    for change in changes.changes:
        yield Text(_change(found, change))
    yield Text(str(changes.method), style="dim")


def _change(found: Watched, change: Change) -> str:
    return (
        f"Its level changed after {day_cell(change.at)}: {figure_cell(change.before)} before "
        f"({count_noun(change.n_before, found.every)}), {figure_cell(change.after)} from then on "
        f"({count_noun(change.n_after, found.every)}){_near(found.note_of_change(change))}."
    )


def _alarms(found: Watched) -> Iterator[Text]:
    watch = found.watch
    if watch is None:
        return
    if watch.undefined is not None:
        yield _few(found, "alarm")
        return
    if watch.too_few and not watch.alarms:
        yield Text(
            f"Too few periods for an alarm: {watch.n} of {ENOUGH_FOR_ALARMS}. A large change would "
            "hardly raise one yet; look at the change of level.",
            style="yellow",
        )
    elif not watch.alarms:
        yield Text(f"No alarm: {_WORDS[watch.direction]} was watched for.")
    for alarm in watch.alarms:
        yield Text(_alarm(found, alarm), style="bold red")
    if found.slope is None and watch.autocorrelation is not None:
        yield _dependence(found, watch.autocorrelation)
    yield Text(str(watch.method), style="dim")


def _alarm(found: Watched, alarm: Alarm) -> str:
    return (
        f"! Alarm on {day_cell(alarm.at)}: {_WORDS[alarm.direction]} since the {found.every} to "
        f"{day_cell(alarm.since)}, from {figure_cell(alarm.before)} to {figure_cell(alarm.after)}"
        f"{_near(found.note_of_alarm(alarm))}."
    )


def _near(note: NoteInfo | None) -> str:
    """Return the note of the time, as it ends a sentence."""
    return "" if note is None else f"; noted {day_cell(note.at)}: {' '.join(note.text.split())}"


def alarm_days_text(found: Watched) -> tuple[str, str] | None:
    """Return the last day before the last alarm's or change's new level, and its first day."""
    alarms = found.watch.alarms if found.watch is not None else ()
    changes = found.changes.changes if found.changes is not None else ()
    if alarms:
        before = alarms[-1].since - found.period
    elif changes:
        before = changes[-1].from_at - found.period
    else:
        return None
    return day_cell(before), day_cell(before + 1)
