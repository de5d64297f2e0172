"""The record in the terminal: a list, one snapshot whole, what verifying and thinning found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from rich.console import RenderableType

from tracker.agreement.tables import agreement_view
from tracker.history.by_question import HistoryByQuestion, SnapshotPages
from tracker.history.columns import (
    STATUS,
    snapshot_columns,
    snapshot_columns_by_question,
    snapshot_row,
)
from tracker.history.monitor import Watched
from tracker.history.overview import Overview, SnapshotPage
from tracker.history.plot import day_cell
from tracker.history.prune import Fate
from tracker.history.snapshot import SnapshotRecord
from tracker.history.status import Status
from tracker.history.tables import snapshots_title
from tracker.history.verify import Fault, Verified
from tracker.measures.intervals import ASYMMETRIC
from tracker.measures.registry import MEASURES
from tracker.monitoring import ENOUGH_FOR_ALARMS, FEW_PERIODS, Alarm, Autocorrelation, Change, Slope
from tracker.projects.notes import NoteInfo
from tracker.render.blocks import Column, listing_table
from tracker.render.cells import (
    Text,
    count_cell,
    figure_cell,
    interval_cell,
    level_cell,
    minute_cell,
)
from tracker.render.nouns import count_noun

_MOST_FAULTS = 20


def snapshots_view(overview: Overview) -> Iterator[RenderableType]:
    """Yield the list: the parts of the page, in order."""
    yield snapshots_title(overview)
    if not overview.shown:
        return
    rows = [snapshot_row(record, overview.measures) for record in overview.shown]
    yield listing_table(snapshot_columns(overview.measures[0]), rows)


def snapshots_by_question_view(
    history_by_question: HistoryByQuestion, last: int | None
) -> Iterator[RenderableType]:
    """Yield the last snapshots of several questions, or all: the main figure of each."""
    rows: dict[int, dict[str, Any]] = {}
    for name, history in history_by_question.questions.items():
        for record in history:
            if isinstance(record, SnapshotRecord):
                row = rows.setdefault(record.id, snapshot_row(record))
                if record.assessment.main is not None:
                    row[f"figure of {name}"] = record.assessment.main.value
    questions = count_noun(len(history_by_question.questions), "question")
    yield Text.assemble(
        (history_by_question.project, "bold"),
        f"  {count_noun(len(rows), 'snapshot')} of {questions}",
    )
    if rows:
        shown = sorted(rows)[-last:] if last else sorted(rows)
        columns = snapshot_columns_by_question([*history_by_question.questions])
        yield listing_table(columns, [rows[number] for number in shown])


def snapshot_page_view(snapshot_page: SnapshotPage) -> Iterator[RenderableType]:
    """Yield one snapshot: the parts of the page, in order."""
    record = snapshot_page.record
    named = "" if record.name is None else f" {record.name}"
    yield Text.assemble((f"snapshot {record.id}{named}", "bold"), f"  {record.note or ''}".rstrip())
    yield from agreement_view(record.assessment)
    about = [{"fact": name, "value": value} for name, value in _about(snapshot_page)]
    yield listing_table((Column("fact", "", "title"), Column("value", "")), about)
    for flag in snapshot_page.flags:
        pair = f" with {flag['with']}" if flag["with"] else ""
        category = f" on {flag['category']!r}" if flag["category"] else ""
        yield Text(
            f"flag {flag['flag']} was {flag['state']}: {flag['kind']} of "
            f"{flag['annotator']}{pair}{category}"
        )


def snapshot_pages_view(snapshot_pages: SnapshotPages) -> Iterator[RenderableType]:
    """Yield one snapshot, question by question if there are several."""
    for name, page in snapshot_pages.questions.items():
        if len(snapshot_pages.questions) > 1:
            yield Text(name, style="bold")
        yield from snapshot_page_view(page)


def _about(snapshot_page: SnapshotPage) -> Iterator[tuple[str, str]]:
    """Yield what there is to know of it but its figures."""
    record, change = snapshot_page.record, snapshot_page.change
    changed = minute_cell(change["recorded_at"])
    patterns = len(record.assessment.patterns.counts)
    yield "taken", f"{minute_cell(record.taken_at)} by tracker {record.version}"
    yield "as of", "everything known then" if record.as_of is None else minute_cell(record.as_of)
    yield "through change", f"{change['change']} ({change['kind']}, {changed})"
    yield "read", _read(snapshot_page.settings, record.assessment.scale)
    if snapshot_page.settings["left_out"]:
        yield "left out", ", ".join(snapshot_page.settings["left_out"])
    yield "item patterns", count_cell(patterns)
    yield "flags that stood", count_cell(len(snapshot_page.flags))
    yield "digest", record.digest
    yield "seal", record.seal


def _read(settings: Mapping[str, Any], scale: str) -> str:
    """Return how the answers were read, in words."""
    parts = [f"on the {scale} scale"]
    parts += [f"with {settings['weights']} weights"] if settings["weights"] else []
    parts += [f"by the {settings['distance']} distance"] if settings["distance"] else []
    how = "" if settings["interval"] == ASYMMETRIC else f" by {settings['interval']}"
    return ", ".join([*parts, f"intervals of {level_cell(settings['confidence'])}{how}"])


def verified_snapshots_view(verified: Verified, *, chain_only: bool) -> Iterator[RenderableType]:
    """Yield what was checked and what is wrong: the parts of the page, in order."""
    checked = "digests and seals recomputed"
    if not chain_only:
        checked += f", {count_noun(verified.recomputed, 'snapshot')} recounted from the ledger"
    thinned = f" ({verified.thinned:,} thinned out)" if verified.thinned else ""
    wrong = len(verified.faults) + len(verified.ledger)
    result = "no faults" if verified.passed else count_noun(wrong, "fault")
    yield Text.assemble(
        (verified.project, "bold"),
        f"  {count_noun(verified.snapshots, 'snapshot')}{thinned}: {checked}: ",
        (result, "green" if verified.passed else "bold red"),
    )
    if verified.digest is None:
        yield Text("the ledger is not sealed yet: the next change will seal it", style="dim")
    else:
        yield Text(f"ledger sealed {verified.seals:,} times; its digest: {verified.digest}")
    yield from _listed([f"ledger: {why}" for why in verified.ledger], "red")
    yield from _listed([_fault_line(fault) for fault in verified.faults], "red")
    yield from _listed([_fault_line(note) for note in verified.notes], "dim")


def _fault_line(fault: Fault) -> str:
    about = "" if fault.question is None else f" of {fault.question}"
    return f"snapshot {fault.snapshot}{about}: {fault.why}"


def _listed(lines: Sequence[str], style: str) -> Iterator[Text]:
    for line in lines[:_MOST_FAULTS]:
        yield Text(line, style=style)
    if len(lines) > _MOST_FAULTS:
        yield Text(f"… and {len(lines) - _MOST_FAULTS:,} more", style=style)


def prune_plan_view(fates: Sequence[Fate], *, done: bool) -> Iterator[RenderableType]:
    """Yield what keeps how many snapshots, and which are thinned out."""
    kept = Counter(fate.kept_by for fate in fates if fate.kept_by is not None)
    if kept:
        rows = [{"rule": rule, "snapshots": number} for rule, number in kept.items()]
        columns = Column("rule", "kept by", "title"), Column("snapshots", kind="count")
        yield listing_table(columns, rows)
    gone = [fate.id for fate in fates if fate.kept_by is None]
    verb = "thinned out" if done else "to be thinned out"
    yield Text(f"{verb}: {_ranges(gone) if gone else 'none'}")


def _ranges(numbers: Sequence[int]) -> str:
    """Return ascending numbers, those that follow one another as ranges: 1-4, 7."""
    breaks = [place for place, (a, b) in enumerate(pairwise(numbers), 1) if b != a + 1]
    runs = [numbers[i:j] for i, j in pairwise([0, *breaks, len(numbers)])]
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def status_recent_view(statuses: Sequence[Status]) -> Iterator[RenderableType]:
    """Yield a line for each question whose level of agreement changed of late."""
    for status in statuses:
        if status.recent is not None:
            yield Text(f"{_whose(status, statuses)}: {status.recent['why']}", style="yellow")


def status_pace_view(statuses: Sequence[Status]) -> Iterator[Text]:
    """Yield for each question over which days its pace was taken, and why it has no forecast."""
    for status in statuses:
        payload = status.to_dict()
        first, last = payload["pace_from"], payload["pace_to"]
        if first is None or last is None:
            continue
        line = f"{_whose(status, statuses)}: pace of {first[:10]} to {last[:10]}"
        if status.missing and status.done_at is None:
            line += "; nobody has answered since, so there is no forecast"
        yield Text(f"{line}.", style="dim")


def _ask_several(statuses: Sequence[Status]) -> bool:
    """Return whether one of the projects has several of the questions."""
    return len({status.project for status in statuses}) < len(statuses)


def _whose(status: Status, statuses: Sequence[Status]) -> str:
    several = _ask_several(statuses)
    return f"{status.project}, {status.question.name}" if several else status.project


def project_status_view(status: Status) -> Iterator[RenderableType]:
    """Yield a question's progress and pace."""
    yield status_view([status])
    yield from status_pace_view([status])


def status_view(statuses: Sequence[Status]) -> RenderableType:
    """Return one row per question."""
    several = _ask_several(statuses)
    rows = [
        status.to_dict() | ({"question": status.question.name} if several else {})
        for status in statuses
    ]
    return listing_table(STATUS, rows)


# -- What a figure's course says, in plain sentences: its slope, its changes, the alarms ----------


_FEWEST: Final = {"trend": 3, "change of level": 4, "alarm": 4}
_WORDS: Final = {"drop": "a drop", "rise": "a rise", "change": "a change"}


def watched_view(watched: Watched) -> Iterator[Text]:
    """Yield the lines, in order."""
    without = f", {watched.left_out:,} more without a figure" if watched.left_out else ""
    yield Text.assemble(
        (f"{MEASURES[watched.measure].title}, {watched.every} by {watched.every}", "bold"),
        f"  {count_noun(len(watched.points), watched.every)}, each of its own answers{without}",
    )
    if watched.slope is not None:
        yield _slope(watched, watched.slope)
        if watched.slope.autocorrelation is not None:
            yield _dependence(watched, watched.slope.autocorrelation)
    if watched.changes is not None:
        yield from _changes(watched)
    if watched.watch is not None:
        yield from _alarms(watched)


def _few(watched: Watched, subject: str) -> Text:
    """Return that there is too little to go by."""
    weeks = count_noun(len(watched.points), watched.every)
    return Text(f"Too few for {_article(subject)}: {weeks}, and {_FEWEST[subject]} are needed.")


def _article(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


def _slope(watched: Watched, slope: Slope) -> Text:
    if slope.per_30_days is None:
        return _few(watched, "trend")
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


def _dependence(watched: Watched, of: Autocorrelation) -> Text:
    """Return how much neighboring periods depend on each other, or that it is not known."""
    if len(watched.points) < FEW_PERIODS:
        words = (
            f"{FEW_PERIODS} {watched.every}s or more are needed to estimate how much neighboring "
            f"{watched.every}s depend on each other; the results here allow for it in part."
        )
    else:
        words = (
            f"Autocorrelation of neighboring {watched.every}s {figure_cell(of.value)} "
            f"({figure_cell(of.ci_low)} to {figure_cell(of.ci_high)}), taken into account."
        )
    return Text(words, style="dim")


def _changes(watched: Watched) -> Iterator[Text]:
    changes = watched.changes
    if changes is None:
        return
    if changes.undefined is not None:
        yield _few(watched, "change of level")
        return
    if not changes.changes:
        yield Text("Its level stayed the same.")
    for change in changes.changes:
        yield Text(_change(watched, change))
    yield Text(str(changes.method), style="dim")


def _change(watched: Watched, change: Change) -> str:
    return (
        f"Its level changed after {day_cell(change.at)}: {figure_cell(change.before)} before "
        f"({count_noun(change.n_before, watched.every)}), {figure_cell(change.after)} from then on "
        f"({count_noun(change.n_after, watched.every)}){_near(watched.note_of_change(change))}."
    )


def _alarms(watched: Watched) -> Iterator[Text]:
    watch = watched.watch
    if watch is None:
        return
    if watch.undefined is not None:
        yield _few(watched, "alarm")
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
        yield Text(_alarm(watched, alarm), style="bold red")
    if watched.slope is None and watch.autocorrelation is not None:
        yield _dependence(watched, watch.autocorrelation)
    yield Text(str(watch.method), style="dim")


def _alarm(watched: Watched, alarm: Alarm) -> str:
    return (
        f"! Alarm on {day_cell(alarm.at)}: {_WORDS[alarm.direction]} since the {watched.every} to "
        f"{day_cell(alarm.since)}, from {figure_cell(alarm.before)} to {figure_cell(alarm.after)}"
        f"{_near(watched.note_of_alarm(alarm))}."
    )


def _near(note: NoteInfo | None) -> str:
    """Return the note of the time, as it ends a sentence."""
    return "" if note is None else f"; noted {day_cell(note.at)}: {' '.join(note.text.split())}"


def alarm_days_text(watched: Watched) -> tuple[str, str] | None:
    """Return the last day before the last alarm's or change's new level, and its first day."""
    alarms = watched.watch.alarms if watched.watch is not None else ()
    changes = watched.changes.changes if watched.changes is not None else ()
    if alarms:
        before = alarms[-1].since - watched.period
    elif changes:
        before = changes[-1].from_at - watched.period
    else:
        return None
    return day_cell(before), day_cell(before + 1)
