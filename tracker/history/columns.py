"""The tables of snapshots, periods, questions and progress, declared once for all faces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tracker.agreement.columns import bounds_or_reason
from tracker.agreement.result import Assessment
from tracker.history.snapshot import SnapshotRecord
from tracker.measures.registry import MEASURES
from tracker.render.blocks import PAGE, REPORT, Column
from tracker.render.cells import bar_cell, interval_cell, minute_cell, share_cell
from tracker.render.filter import selection_in_words

Row = Mapping[str, Any]
_SHORT: Final = {"krippendorff_alpha": "alpha", "percent_agreement": "raw"}
_SNAPSHOT: Final = Column("snapshot", kind="name")
_NAME: Final = Column("name")
_TAKEN: Final = Column("taken_at", "taken", "minute")
_NOTE: Final = Column("note", rare=True)
_ANSWERS: Final = Column("selection", "only answers", rare=True)


def measure_title(measure: str) -> str:
    """Return a measure's title, short enough for one of several columns."""
    return _SHORT.get(measure, MEASURES[measure].title)


# -- Snapshots: a row for each, with some of their figures ----------------------------------------


def figure_row(assessment: Assessment) -> dict[str, Any]:
    """Return figures as a row: counts, measures by their names, the weakest category."""
    lowest = assessment.summary.lowest
    return {
        **assessment.counts.to_dict(),
        **{measure.measure: measure.value for measure in assessment.measures},
        "weakest": None if lowest is None else assessment.categories[lowest.category],
        "rate": None if lowest is None else lowest.rate,
    }


def snapshot_row(record: SnapshotRecord, measures: Sequence[str] = ()) -> dict[str, Any]:
    """Return a snapshot as a row, and the first of some measures of what came since the last."""
    figures = () if record.own is None else record.own.measures
    own = {figure.measure: figure.value for figure in figures}
    return {
        "snapshot": record.id,
        "name": record.name,
        "note": record.note,
        "taken_at": record.taken_at,
        "as_of": record.as_of,
        "moment": record.moment,
        "selection": answers_of_snapshot(record),
        **dict.fromkeys(measures),
        **figure_row(record.assessment),
        "new_items": None if record.own is None else record.own.counts.items,
        "of_new": own.get(measures[0]) if measures else None,
    }


def answers_of_snapshot(record: SnapshotRecord) -> str:
    """Return which answers a snapshot is of, but for the moment, which stands beside it."""
    selection = record.assessment.selection
    if selection is None:
        return ""
    return selection_in_words({**selection, "as_of": None, "known_at": None})


def _figures(measures: Sequence[str]) -> list[Column]:
    return [
        *(Column(key, kind="count") for key in ("items", "answers", "annotators")),
        *(Column(measure, measure_title(measure), "figure") for measure in measures),
        Column("weakest"),
        Column("rate", kind="figure"),
    ]


def snapshot_columns(measure: str) -> list[Column]:
    """Return the columns of the list of snapshots: what was chosen and noted needs the room."""
    return [
        _SNAPSHOT, _NAME, _TAKEN, *_figures([measure])[:-1],
        Column("as_of", kind="minute", rare=True, none=""), _ANSWERS, _NOTE,
    ]  # fmt: skip


def history_columns(measures: Sequence[str]) -> list[Column]:
    """Return the columns of snapshots as points of a curve."""
    return [
        _SNAPSHOT, Column("moment", "as of", "minute"), _NAME, *_figures(measures),
        Column("new_items", kind="count", rare=True), Column("of_new", kind="figure", rare=True),
        _ANSWERS,
    ]  # fmt: skip


POINTS: Final = (
    Column("a", "from", "choice", faces=PAGE),
    Column("b", "to", "choice", faces=PAGE),
    Column("snapshot", kind="name", rare=True, leads="snapshot",
           text=lambda row: str(row.get("name") or row["snapshot"] or ""),
           small=lambda row: row.get("note")),
    Column("as_of", kind="minute"),
    Column("value", kind="figure"),
    Column("value", "low to 1", "scale", faces=PAGE),
    Column("ci_low", "95% interval", "interval", text=bounds_or_reason("value")),
    Column("items", kind="count"),
    Column("answers", kind="count", faces=PAGE),
    Column("so_far", kind="figure", faces=REPORT),
)  # fmt: skip
"""The columns of one figure over time."""


# -- Periods of a curve, and several questions beside each other ----------------------------------


def period_row(own: Assessment, of_all: Assessment, measure: str) -> dict[str, Any]:
    """Return the figures of a period's own items, and beside them the measures of all.

    The interval is that of the period's figure of ``measure``.
    """
    first = next(figure for figure in own.measures if figure.measure == measure)
    return {
        **figure_row(own),
        "interval": interval_cell(first.ci_low, first.ci_high),
        **{f"all {figure.measure}": figure.value for figure in of_all.measures},
    }


def period_columns(every: str, measures: Sequence[str], level: str, of_all: str) -> list[Column]:
    """Return the columns of periods; ``of_all`` is the title of the figures beside a period's."""
    pairs = [
        (Column(measure, measure_title(measure), "figure"),
         Column(f"all {measure}", of_all, "figure"))
        for measure in measures
    ]  # fmt: skip
    first, *others = [column for pair in pairs for column in pair]
    items, answers, *_, weakest, rate = _figures(())
    interval = Column("interval", f"{level} interval", "interval")
    return [Column("day", f"{every} to", "title"), _NOTE, items, answers, first, interval, *others,
            weakest, rate]  # fmt: skip


def _by_name(titles: Mapping[str, str]) -> list[Column]:
    return [Column(f"figure of {name}", title, "figure") for name, title in titles.items()]


def snapshot_columns_by_question(names: Sequence[str]) -> list[Column]:
    """Return the columns of snapshots with a figure of each question."""
    return [_SNAPSHOT, _NAME, _TAKEN, *_by_name({name: name for name in names}), _NOTE]


def moment_columns(titles: Mapping[str, str]) -> list[Column]:
    """Return the columns of moments with a figure of each question, by its name."""
    when = Column("as_of", "as of", "title"), Column("snapshot", kind="number")
    return [*when, *_by_name(titles), _ANSWERS]


def question_columns(level: str) -> list[Column]:
    """Return the columns of questions beside each other; ``level`` is that of the intervals."""
    return [
        Column("question", kind="name"),
        Column("kind"),
        Column("items", kind="count"),
        Column("measure"),
        Column("value", kind="figure"),
        Column("ci_low", f"{level} interval", "interval"),
        Column("weakest_category", none="-"),
        Column("rate", kind="figure"),
        Column("change", kind="change"),
        Column("open_findings", "findings", "count"),
    ]  # fmt: skip


# -- Progress -------------------------------------------------------------------------------------


def _complete(row: Row) -> str:
    share = row["coverage"]
    return "-" if share is None else f"{bar_cell(share, 8)} {share_cell(share)}"


STATUS: Final = (
    Column("project", kind="name"),
    Column("question", kind="name", rare=True),
    Column("items", kind="count"),
    Column("items_unanswered", "unanswered", "count"),
    Column("answers", kind="count"),
    Column("annotators", kind="count"),
    Column("coverage", "complete", text=_complete),
    Column("answers_missing", "missing", "count"),
    Column("answers_per_day", "a day", "number",
           text=lambda row: "-" if row["answers_per_day"] is None
           else f"{row['answers_per_day']:,.1f}"),
    Column("estimated_completion", "done about", "day", none="-"),
    Column("open_flags", "flags", "count"),
    Column("last_import", text=lambda row: "-" if row["last_import"] is None
           else minute_cell(row["last_import"]["recorded_at"])),
)  # fmt: skip
