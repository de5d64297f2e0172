"""A figure over time: its line and interval, the thresholds near it, and what happened when."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import product
from math import ceil, floor
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, cast

from tracker.agreement.readiness import TITLES
from tracker.history.plot import are_steady
from tracker.measures.registry import MEASURES
from tracker.render.cells import figure_cell, interval_cell
from tracker.render.charts import FAINT, INK, MARK, Chart
from tracker.render.nouns import count_noun
from tracker.report.sizes import BROAD_CURVE, NARROW_CURVE, PANEL, WIDE_CURVE

if TYPE_CHECKING:
    import altair as alt

    from tracker.history.curve import Curve
    from tracker.history.snapshot import History

# -- The points of a curve ------------------------------------------------------------------------


_ALPHA: Final = "krippendorff_alpha"
_FIGURE: Final = ("value", "standard_error", "ci_low", "ci_high", "items", "undefined")
Rows = Sequence[Mapping[str, Any]]


def history_rows(payload: Mapping[str, Any], measure: str) -> list[dict[str, Any]]:
    """Return a row for each point of a history's JSON.

    The figure is that of what came since the point before, if it has that; ``so_far`` is that of
    all answers.
    """
    rows = []
    for point in payload["snapshots"]:
        of_all = _figure(point, measure)
        own = _figure(point["own"], measure) if point.get("own") else None
        if of_all is not None:
            own = own or of_all
            row = {"as_of": point["as_of"], "snapshot": point["name"] or point["snapshot"]}
            row |= {name: own[name] for name in _FIGURE}
            rows.append(row | {"so_far": of_all["value"]})
    return rows


def _figure(point: Mapping[str, Any], measure: str) -> Mapping[str, Any] | None:
    return next((figure for figure in point["measures"] if figure["measure"] == measure), None)


def known_points(rows: Rows) -> list[Mapping[str, Any]]:
    """Return the points that have a figure."""
    return [row for row in rows if row["value"] is not None]


def _steady(rows: Rows) -> bool:
    """Return whether the points of several differ by no more than their errors."""
    figures = [(row["value"], row.get("standard_error")) for row in known_points(rows)]
    return len(figures) > 1 and are_steady(figures)


# -- What happened, a mark for each day -----------------------------------------------------------


_LONGEST: Final = 28  # signs of a label
_LANES: Final = 2  # of labels above each other
_LANE: Final = 14  # pixels
_SIGN: Final = 6.4  # pixels of a sign of a label, and some more
_RADIUS: Final = 4  # of a mark
_GAP: Final = 12
_BEYOND: Final = 30  # how far labels may reach to the right, above those of the thresholds


class Event(NamedTuple):
    """Something that happened: when, in words, and as what it is counted beside others."""

    at: str
    text: str
    noun: str = "note"


class Day(NamedTuple):
    """A day on which something happened: its first moment, a short label, all of it in words."""

    at: str
    label: str
    text: str


def event_of_note(note: Mapping[str, Any]) -> Event:
    """Return a note as an event; one with a guideline as that of the guideline."""
    guideline = note.get("guideline")
    if guideline:
        return Event(note["at"], f"guideline {guideline}: {note['text']}", f"guideline {guideline}")
    return Event(note["at"], str(note["text"]))


def events_within(events: Iterable[Event], rows: Rows) -> list[Event]:
    """Return what happened from the day of the first point to the last point."""
    if not rows:
        return []
    first, last = rows[0]["as_of"][:10], rows[-1]["as_of"]
    return [event for event in events if first <= event.at <= last]


def event_days(events: Iterable[Event]) -> list[Day]:
    """Return the days of some events, oldest first."""
    days: dict[str, list[Event]] = {}
    for event in sorted(events):
        days.setdefault(event.at[:10], []).append(event)
    return [
        Day(day[0].at, _day_label(day), "; ".join(event.text for event in day))
        for day in days.values()
    ]


def _day_label(events: Sequence[Event]) -> str:
    nouns = [event.noun for event in events]
    parts = [
        noun if _is_of_guideline(noun) else count_noun(nouns.count(noun), noun)
        for noun in sorted(dict.fromkeys(nouns), key=lambda noun: not _is_of_guideline(noun))
    ]
    label = " ".join(events[0].text.split()) if nouns == ["note"] else ", ".join(parts)
    return label if len(label) <= _LONGEST else f"{label[: _LONGEST - 1].rstrip()}…"


def _is_of_guideline(label: str) -> bool:
    return label.startswith("guideline ")


class Placed(NamedTuple):
    """A day's mark: its lane from below, and on which side its label is; "" if it has no room."""

    day: Day
    lane: int
    side: str


def place_labels(days: Sequence[Day], span: tuple[str, str], width: float) -> list[Placed]:
    """Return where the labels of days go: on no other label, on no mark, and not beyond the chart.

    Those of guidelines come first. The mark of a label of a higher lane is as high as it.
    """
    first, last = map(_seconds, span)
    places = [width * max(_seconds(day.at) - first, 0.0) / max(last - first, 1.0) for day in days]
    marks = [(x - _RADIUS, x + _RADIUS) for x in places]
    taken: list[list[tuple[float, float]]] = [[] for _ in range(_LANES)]
    placed = [Placed(day, 0, "") for day in days]
    for number in sorted(range(len(days)), key=lambda n: not _is_of_guideline(days[n].label)):
        room = _SIGN * len(days[number].label) + _GAP
        others = [mark for place, mark in enumerate(marks) if place != number]
        begin, end = marks[number]
        for lane, side in product(range(_LANES), ("right", "left")):
            ends = (begin, begin + room) if side == "right" else (end - room, end)
            within = ends[1] <= width + _BEYOND if side == "right" else ends[0] >= 0
            if within and not _any_meets(ends, taken[lane] + ([] if lane else others)):
                taken[lane].append(ends)
                placed[number] = Placed(days[number], lane, side)
                break
    return placed


def _any_meets(ends: tuple[float, float], others: Iterable[tuple[float, float]]) -> bool:
    return any(ends[0] < other[1] and other[0] < ends[1] for other in others)


def _seconds(at: str) -> float:
    return datetime.fromisoformat(at).timestamp()


# -- The scale of an axis: what is drawn, no less than a range, round ends ------------------------


_LEAST: Final = 0.2  # of a scale from end to end, so that noise does not look like drama
_NEAR: Final = 0.1  # how far beyond the figures a threshold is still drawn
_MOST_STEPS: Final = 5
_STEPS: Final = (0.05, 0.1, 0.2, 0.25, 0.5)


class Scale(NamedTuple):
    """A scale: its ticks, the first and last its ends, and the thresholds on it."""

    ticks: Sequence[float]
    thresholds: Sequence[float]


def scale_of(values: Iterable[float | None], thresholds: Iterable[float] = ()) -> Scale:
    """Return a scale on which all values lie, and the thresholds that are near them."""
    known = [value for value in values if value is not None]
    low, high = min(known, default=0.0), max(known, default=1.0)
    lacking = max(_LEAST - (high - low), 0.0)
    above = min(lacking / 2, max(1.0 - high, 0.0))  # a figure ends at 1
    low, high = low - (lacking - above), high + above
    near = [at for at in thresholds if low - _NEAR <= at <= high + _NEAR]
    low, high = min([low, *near]), max([high, *near])
    step = next((step for step in _STEPS if high - low <= step * _MOST_STEPS), 0.5)
    while high - low > step * 2 * _MOST_STEPS:
        step *= 2
    first, last = floor(round(low / step, 9)), ceil(round(high / step, 9))
    return Scale([round(step * tick, 2) for tick in range(first, last + 1)], near)


# -- The drawing ----------------------------------------------------------------------------------


_HEIGHT: Final = 190
_PANEL_HEIGHT: Final = 130
_DOTTED: Final = 8  # pixels from dot to dot
_LABELLED, _LABELLED_SHORT = 70, 40  # from a date, and from a month, to the next
_APART: Final[Mapping[str, Any]] = {"labelOverlap": "greedy", "labelSeparation": 8}


class Course(NamedTuple):
    """What a curve is drawn of.

    Attributes:
        name: of the question, or of what is drawn alone.
        rows: of `history_rows`.
        days: on which something happened.
        thresholds: of the project, for tentative conclusions and for others; () for none.
    """

    name: str
    rows: Rows
    days: Sequence[Day] = ()
    thresholds: Sequence[float] = ()


def history_chart(history: History | Curve, measure: str | None = None) -> Chart:
    """Return a line for a measure over time, its interval, and a mark for each day with notes.

    If none is named it is alpha, or the first that the last snapshot has. Points without
    a figure are gaps in the line; the rows have their reason.
    """
    payload = history.to_dict()
    points = [point.assessment for point in history]
    measure = measure or _main(payload)
    main = points[-1].main.measure if points else None
    thresholds = points[-1].thresholds if measure == main else ()
    course = course_of(payload, measure, thresholds)
    return draw_history(course._replace(name=f"{payload['project']}: {course.name}"))


def course_of(payload: Mapping[str, Any], measure: str, thresholds: Sequence[float]) -> Course:
    """Return a measure's course in a history's JSON, with its notes."""
    rows = history_rows(payload, measure)
    days = event_days(events_within(map(event_of_note, payload["notes"]), rows))
    return Course(MEASURES[measure].title, rows, days, thresholds)


def _main(payload: Mapping[str, Any]) -> str:
    points = payload["snapshots"] or [{"measures": []}]
    known = [figure["measure"] for figure in points[-1]["measures"]]
    return known[0] if known and _ALPHA not in known else _ALPHA


def draw_history(course: Course, *, width: int = WIDE_CURVE) -> Chart:
    """Return the chart of a course, ``width`` pixels wide without its labels."""
    drawing = _drawing(course, _common_scale([course]), _span([course]), width, _HEIGHT)
    drawing = drawing.properties(title=course.name)
    return Chart(course.name, _description(course), drawing, course.rows)


def curve_charts(course: Course, *, broad: bool) -> dict[str, Chart]:
    """Return the chart of a course for pages of each width, ``broad`` ones too."""
    widths = {"chart": WIDE_CURVE, "narrow": NARROW_CURVE}
    widths |= {"broad": BROAD_CURVE} if broad else {}
    return {name: draw_history(course, width=width) for name, width in widths.items()}


def draw_histories(courses: Sequence[Course]) -> list[Chart]:
    """Return a small chart of each course, all on one scale and over one time."""
    from tracker.report.altair import alt

    scale, span = _common_scale(courses), _span(courses)
    charts = []
    for course in courses:
        last = known_points(course.rows)[-1]
        figure = f"{figure_cell(last['value'])}, {interval_cell(last['ci_low'], last['ci_high'])}"
        title = alt.Title(course.name, subtitle=figure)
        drawing = _drawing(course, scale, span, PANEL, _PANEL_HEIGHT).properties(title=title)
        charts.append(Chart(course.name, _description(course), drawing, course.rows))
    return charts


def joined_histories(title: str, charts: Sequence[Chart], *, across: int) -> Chart:
    """Return charts of courses as one, so many beside each other."""
    from tracker.report.altair import alt

    drawing = alt.concat(
        *(cast("alt.LayerChart", chart.drawing) for chart in charts), columns=across
    ).properties(title=alt.Title(title, offset=14))
    description = " ".join(f"{chart.title}: {chart.description}" for chart in charts)
    rows = [{"question": chart.title, **row} for chart in charts for row in chart.rows]
    return Chart(title, description, drawing, rows)


def _common_scale(courses: Sequence[Course]) -> Scale:
    names = ("value", "ci_low", "ci_high", "so_far")
    values = [row.get(name) for course in courses for row in course.rows for name in names]
    thresholds = dict.fromkeys(at for course in courses for at in course.thresholds)
    return scale_of(values, thresholds)


def _span(courses: Sequence[Course]) -> tuple[str, str] | None:
    """Return the first and the last time of some courses; None if they are of one day.

    Points of one day are told apart by their names.
    """
    rows = [row for course in courses for row in course.rows]
    times = sorted(row["as_of"] for row in rows)
    days = {at[:10] for at in times}
    return (
        (times[0], times[-1]) if len(days) > 1 or any(not row["snapshot"] for row in rows) else None
    )


def _drawing(
    course: Course, scale: Scale, span: tuple[str, str] | None, width: int, height: int
) -> alt.LayerChart:
    from tracker.report.altair import alt

    ends = alt.Scale(domain=[scale.ticks[0], scale.ticks[-1]], nice=False)
    digits = ".1f" if all(tick == round(tick, 1) for tick in scale.ticks) else ".2f"
    axis = alt.Axis(values=list(scale.ticks), format=digits)
    if span is None:
        names = alt.Axis(labelAngle=0, **_APART)
        kind = alt.Scale(type="point")
        when = alt.X("snapshot:N", title=None, sort=None, axis=names, scale=kind)
    else:
        period = alt.Scale(domain=[_seconds(at) * 1000 for at in span], nice=False)
        when = alt.X("as_of:T", title=None, axis=_times(span, width), scale=period)
    points = [{**row, "words": _words(row)} for row in known_points(course.rows)]
    y = {name: alt.Y(f"{name}:Q", scale=ends, axis=axis, title=None)
         for name in ("value", "ci_low", "so_far", "at")}  # fmt: skip
    base = alt.Chart(alt.InlineData(list(course.rows))).encode(x=when)
    ink = FAINT if _steady(course.rows) else MARK
    layers: list[Any] = _reference(course, scale, width, height, y["at"])
    layers.append(base.mark_area(color=ink, opacity=0.15).encode(y=y["ci_low"], y2="ci_high:Q"))
    if any(row.get("so_far") not in {None, row["value"]} for row in course.rows):
        so_far = base.mark_line(color=FAINT, strokeDash=[2, 3])
        layers.append(so_far.encode(y=y["so_far"]))
    layers.append(base.mark_line(color=ink, strokeWidth=2).encode(y=y["value"]))
    dotted = alt.Chart(alt.InlineData(_dotted(course.rows, width))).encode(x=when, y=y["value"])
    layers.append(dotted.mark_point(filled=True, color=ink, opacity=1, size=26))
    if span is not None:
        layers += _marks(place_labels(course.days, span, width), height)
    near = alt.Chart(alt.InlineData(points)).encode(x=when, description="words:N")
    reach = min(max(width / max(len(points), 1), 4), 24)
    layers.append(near.mark_rule(color=ink, opacity=0, strokeWidth=reach, aria=True))
    return cast("alt.LayerChart", alt.layer(*layers).properties(width=width, height=height))


def _dotted(rows: Rows, width: int) -> list[Mapping[str, Any]]:
    """Return the points with a dot: all if there is room, else those that no line shows."""
    padded = [None, *(row["value"] for row in rows), None]
    return [
        row
        for place, row in enumerate(rows)
        if row["value"] is not None
        and (len(rows) * _DOTTED < width or place == len(rows) - 1
             or padded[place] is None is padded[place + 2])
    ]  # fmt: skip


def _times(span: tuple[str, str], width: int) -> alt.Axis:
    """Return an axis of time with a label for every day, week or month, or for some of them."""
    from tracker.report.altair import alt

    days = (_seconds(span[1]) - _seconds(span[0])) / 86_400
    most = width // _LABELLED
    period: Literal["day", "week", "month"]
    if days <= most:
        period, length = "day", 1.0
    elif days <= 7 * most:
        period, length = "week", 7.0
    else:
        period, length, most = "month", 30.5, width // _LABELLED_SHORT
    many = days / length / max(most, 2)
    step = alt.TimeIntervalStep(interval=period, step=max(ceil(many), 1))
    written = "month(datum.value) ? '%b' : '%Y'" if period == "month" else "'%b %d'"
    return alt.Axis(
        tickCount=step, grid=False, labelExpr=f"timeFormat(datum.value, {written})", **_APART
    )


def _words(row: Mapping[str, Any]) -> str:
    """Return a point in words, for who points at it."""
    name = f"{row['snapshot']}, " if row["snapshot"] else ""
    words = f"{name}{row['as_of'][:10]}: {figure_cell(row['value'])}"
    if row["ci_low"] is not None:
        words += f" ({interval_cell(row['ci_low'], row['ci_high'])})"
    return words + (f", {count_noun(row['items'], 'item')}" if row.get("items") else "")


def _reference(course: Course, scale: Scale, width: int, height: int, y: alt.Y) -> list[alt.Chart]:
    """Return the thresholds of a course as lines, labelled beside the chart."""
    from tracker.report.altair import alt

    titles = (TITLES["tentative"], TITLES["good_enough"]) if width > PANEL else ("", "")
    lines = [
        {"at": at, "label": f"{figure_cell(at)} {title.lower()}".strip()}
        for at, title in zip(course.thresholds, titles, strict=False)
        if at in scale.thresholds
    ]
    apart = _LANE * (scale.ticks[-1] - scale.ticks[0]) / height
    if len(lines) > 1 and abs(course.thresholds[1] - course.thresholds[0]) < apart:
        lines[0]["label"] = ""  # there is no room for both
    if not lines:
        return []
    base = alt.Chart(alt.InlineData(lines)).encode(y=y)
    names = base.mark_text(align="left", dx=5, color=FAINT, fontSize=11)
    return [
        base.mark_rule(color=FAINT, strokeDash=[5, 4]),
        names.encode(x=alt.value(width), text="label:N"),
    ]


def _marks(placed: Sequence[Placed], height: int) -> list[alt.Chart]:
    """Return a mark above the chart for each day, a line from it, and its label if it has room."""
    from tracker.report.altair import alt

    layers = []
    for lane, side in sorted({(each.lane, each.side) for each in placed}):
        rows = [
            {"at": day.at, "label": day.label, "words": f"{day.at[:10]}: {day.text}"}
            for day, *place in placed
            if place == [lane, side]
        ]
        high = alt.value(-_LANE / 2 - _LANE * lane)
        base = alt.Chart(alt.InlineData(rows)).encode(x="at:T", y=high)
        layers += [
            base.mark_rule(color=FAINT, opacity=0.6).encode(y2=alt.value(height)),
            base.mark_point(filled=True, color=INK, opacity=1, size=36, aria=True).encode(
                description="words:N"
            ),
        ]
        if side:
            right = side == "right"
            texts = base.mark_text(
                align="left" if right else "right",
                dx=7 if right else -7,
                baseline="middle",
                color=INK,
                fontSize=11,
            )
            layers.append(texts.encode(text="label:N"))
    return layers


_MOST_DAYS: Final = 6


def _description(course: Course) -> str:
    known = known_points(course.rows)
    if not known:
        return "There is no figure yet."
    first, last = known[0], known[-1]
    words = f"From {first['value']:z.3f} on {first['as_of'][:10]} "
    words += f"to {last['value']:z.3f} on {last['as_of'][:10]}, {count_noun(len(known), 'point')}."
    words += " They differ by no more than chance." if _steady(course.rows) else ""
    if course.thresholds:
        words += f" Thresholds: {', '.join(map(figure_cell, course.thresholds))}."
    days = [f" {day.at[:10]}: {day.label}." for day in course.days[-_MOST_DAYS:]]
    return words + "".join(days)
