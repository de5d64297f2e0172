"""The tables of agreement, declared once for the terminal, the report and the pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from tracker.agreement.sentences import numbers_of_figure, reason
from tracker.measures.intervals import NOT_APPLICABLE
from tracker.measures.registry import MEASURES
from tracker.measures.words import figure_title_words, no_interval_words, undefined_in_words
from tracker.render.blocks import ON_SCREEN, PAGE, PRINTED, REPORT, TERMINAL, WRITTEN, Column
from tracker.render.cells import figure_cell, interval_cell


def bounds_or_reason(key: str, measure: str | None = None) -> Callable[[Mapping[str, Any]], str]:
    """Return what writes the interval of the figure under a key, or why there is no figure."""

    def text(row: Mapping[str, Any]) -> str:
        if row[key] is None:
            return reason({"measure": measure, **row})
        if (undefined := row.get("interval_undefined")) is not None:
            return no_interval_words(measure or row["measure"], undefined)
        return interval_cell(row["ci_low"], row["ci_high"])

    return text


def _interval(
    key: str, measure: str | None = None, *, plain: tuple[str, ...] = TERMINAL
) -> tuple[Column, Column]:
    """Return the interval of a figure; ``plain`` faces have elsewhere why there is none."""
    column = Column("ci_low", "{level} interval", "interval")
    return (
        column._replace(faces=plain),
        column._replace(
            text=bounds_or_reason(key, measure), faces=set(column.faces).difference(plain)
        ),
    )


def _both(key: str, first: str, second: str, leads: str | None = None) -> tuple[Column, ...]:
    """Return the two names under a key: apart in a terminal, which shortens them, else as one."""
    return (
        Column(key, first, "name", text=lambda row: row[key][0], faces=TERMINAL),
        Column(key, second, "name", text=lambda row: row[key][1], faces=TERMINAL),
        Column(key, kind="names", leads=leads, faces=WRITTEN),
    )


CATEGORY_COLUMNS: Final = (
    Column("question", kind="name", rare=True),
    Column("category", kind="name", leads="category"),
    Column("rate", kind="figure"),
    Column("rate", "0 to 1", kind="range", faces=ON_SCREEN),
    Column("standard_error", "se", kind="figure", faces=TERMINAL),
    Column("ci_low", "{level} interval", kind="interval", text=bounds_or_reason("rate")),
    Column("agreements", kind="count"),
    Column("potential_agreements", "possible", kind="count"),
    Column("labels", kind="count", leads="items"),
    Column("specific_agreement", kind="figure", faces=TERMINAL),
)

MEASURE_COLUMNS: Final = (
    Column("measure", kind="title", text=figure_title_words),
    Column("value", kind="figure"),
    Column("value", "low to 1", kind="scale", faces=PAGE),
    Column("standard_error", "se", kind="figure", faces=TERMINAL),
    *_interval("value", plain=PRINTED),
    Column("observed", kind="figure", faces=ON_SCREEN),
    Column("expected", kind="figure", faces=ON_SCREEN),
    Column("items", kind="count"),
    Column("reading", faces=TERMINAL),
    Column(
        "value",
        "numbers",
        text=lambda row: reason(row) if row["value"] is None else numbers_of_figure(row),
        faces=REPORT,
    ),
)


def _intraclass_note(row: Mapping[str, Any]) -> str:
    """Return what to know of a form; "does not apply" says less than its note."""
    if row["value"] is None and not (row["note"] and row["undefined"] == NOT_APPLICABLE):
        return "; ".join(filter(None, (reason(row), row["note"])))
    return row["note"] or ""


INTRACLASS_COLUMNS: Final = (
    Column("form", "intraclass", kind="name"),
    Column("value", kind="figure"),
    Column("ci_low", "{level} interval", "interval"),
    Column("f", "F", "number", text=lambda row: "-" if row["f"] is None else f"{row['f']:.2f}"),
    Column("items", kind="count"),
    Column("note", text=_intraclass_note),
)


_KAPPA: Final = (
    Column("cohen_kappa", "Cohen's kappa", "figure"),
    Column("cohen_kappa", "low to 1", "scale", faces=PAGE),
    *_interval("cohen_kappa", "cohen_kappa"),
)
PAIR_COLUMNS: Final = (
    *_both("annotators", "annotator", "and", leads="pair"),
    *_KAPPA,
    Column("observed", kind="figure", faces=PRINTED),
    Column("expected", kind="figure", faces=PRINTED),
    Column("items", kind="count", leads="items of both"),
    *(
        Column(f"numeric.{key}.value", title, "figure", rare=True, faces=TERMINAL)
        for key, title in {
            "pearson": "Pearson", "spearman": "Spearman", "concordance": "Lin", "bias": "bias",
            "lower_limit": "from", "upper_limit": "to",
        }.items()
    ),
    Column("reading", rare=True, faces=TERMINAL),
)  # fmt: skip


def pair_columns(rows: Sequence[Mapping[str, object]]) -> tuple[Column, ...]:
    weights = rows[0].get("weights", "identity") if rows else "identity"
    title = "Cohen's kappa" if weights == "identity" else f"weighted kappa ({weights})"
    return tuple(
        column._replace(title=title) if column.title == "Cohen's kappa" else column
        for column in PAIR_COLUMNS
    )


PEER_COLUMNS: Final = (
    Column("other", "annotator", "name", leads="pair"),
    Column("cohen_kappa", "value", "figure"),
    *_KAPPA[1:],
    Column("observed", kind="figure", rare=True),
    Column("items", kind="count", leads="items of both"),
)

SPAN_PAIR_COLUMNS: Final = (
    *_both("annotators", "reference", "response"),
    Column("items", "documents", "count", faces=TERMINAL),
    Column("span_f1_exact.precision", "precision", "figure", faces=TERMINAL),
    Column("span_f1_exact.recall", "recall", "figure", faces=TERMINAL),
    Column("span_f1_exact.value", "exact F1", "figure"),
    Column("span_f1_unlabelled.value", "unlabeled", "figure", faces=TERMINAL),
    Column("span_f1_overlap.value", "overlap", "figure", faces=TERMINAL),
    Column("token_f1.value", "token F1", "figure", faces=TERMINAL),
    Column("token_f1_unlabelled.value", "unlabeled", "figure", faces=TERMINAL),
)

CONFUSION_COLUMNS: Final = (
    *_both("categories", "one", "the other", leads="categories"),
    Column("disagreements", kind="count"),
    Column("share", kind="share"),
    Column("share", "0 to 100%", "range", faces=PAGE, drawn=()),
    Column("items", kind="count", leads="confused items"),
    Column(
        "examples",
        "such as",
        text=lambda row: row["examples"][0]["item"] if row["examples"] else "-",
        faces=TERMINAL,
    ),
)


_CHANGE: Final = Column(
    "change",
    kind="change",
    text=lambda row: "-" if row["change"] is None else f"{row['change']:+z.4f}",
)
MERGE_COLUMNS: Final = (
    Column("categories", kind="title", text=lambda row: " + ".join(row["categories"])),
    Column("value", kind="figure"),
    _CHANGE,
)
INFLUENCE_COLUMNS: Final = (Column("without", kind="figure"), _CHANGE)


GOLD_COLUMNS: Final = (
    Column("annotator", kind="name"),
    Column("answers", kind="count"),
    Column("observed", "right", "share"),
    Column("ci_low", "interval", "interval"),
    Column("expected", "by chance", "share"),
    Column("cohen_kappa", "Cohen's kappa", "figure"),
)
GOLD_CATEGORY_COLUMNS: Final = (
    Column("category", kind="name"),
    Column("true", kind="count"),
    Column("given", kind="count"),
    Column("right", kind="count"),
    Column("precision", kind="figure"),
    Column("recall", kind="figure"),
    Column("f1", "F1", "figure"),
)

REPEAT_COLUMNS: Final = (
    Column("annotator", kind="name"),
    Column("repeats", kind="count"),
    Column(
        "days_between",
        kind="number",
        text=lambda row: "-" if row["days_between"] is None else f"{row['days_between']:.1f}",
    ),
)


def _figure_of(measure: str, *, bounds: bool = False) -> Callable[[Mapping[str, Any]], str]:
    """Return what writes one of a row's measures, above its interval: that saves a column."""

    def text(row: Mapping[str, Any]) -> str:
        figure = next(entry for entry in row["measures"] if entry["measure"] == measure)
        value, low = figure_cell(figure["value"]), figure["ci_low"]
        if not bounds or low is None:
            return value
        return f"{value}\n{interval_cell(low, figure['ci_high'])}"

    return text


def repeat_columns(measures: Iterable[Mapping[str, Any]]) -> tuple[Column, ...]:
    return *REPEAT_COLUMNS, *(
        Column("measures", figure_title_words(row), "figure", text=_figure_of(row["measure"]))
        for row in measures
    )


def _group(key: str, title: str) -> Column:
    """Return the column of a group's value; dimmed for the group of those without one."""
    return Column(
        key,
        title,
        "name",
        none="without",
        tone=lambda row: "quiet" if row[key] is None else None,
    )


GROUP_COLUMNS: Final = (
    Column("counts.items", "items", "count"),
    Column("counts.answers", "answers", "count"),
    Column("summary.lowest.category", "weakest", text=lambda row: _lowest(row) or "-"),
    Column("summary.lowest.rate", "rate", "figure"),
)


def _lowest(row: Mapping[str, Any]) -> str | None:
    lowest = row["summary"]["lowest"]
    return None if lowest is None else lowest["category"]


def group_columns(attribute: str, rows: Iterable[Mapping[str, Any]]) -> tuple[Column, ...]:
    """Return the columns of groups of items by an attribute.

    Percent agreement is left out, and each measure of which no group has a figure.
    """
    known = {
        figure["measure"]
        for row in rows
        for figure in row["measures"]
        if figure["value"] is not None
    }
    return (
        _group("value", attribute),
        *GROUP_COLUMNS,
        *(
            Column("measures", MEASURES[name].title, "figure", text=_figure_of(name, bounds=True))
            for name in MEASURES
            if name in known and name != "percent_agreement"
        ),
    )


def _reliability(key: str, title: str) -> tuple[Column, ...]:
    return (
        Column(f"{key}.value", title, "figure"),
        Column(
            f"{key}.ci_low",
            "{level} interval",
            "interval",
            drawn=(f"{key}.ci_low", f"{key}.ci_high"),
        ),
    )


def annotator_group_columns(attribute: str) -> tuple[Column, ...]:
    return (
        _group("value", attribute),
        Column("annotators", kind="count"),
        Column("items", kind="count"),
        *_reliability("within", "alpha within"),
        Column("reading"),
    )


def between_columns(attribute: str) -> tuple[Column, ...]:
    return (
        _group("first", attribute),
        _group("second", "and"),
        Column("between.items", "items", "count"),
        *_reliability("between", "agreement between"),
        Column("between.undefined", " ", undefined_in_words),
    )


CALIBRATION_COLUMNS: Final = (
    Column("question", kind="name", rare=True),
    Column("annotator", kind="name", rare=True),
    Column("kind", rare=True),
    Column("answers", kind="count"),
    Column("confidence", kind="share"),
    Column("accuracy", "right", "share"),
    Column("brier_score", "Brier score", "figure"),
    Column("expected_calibration_error", "ECE", "figure"),
)
WORST_COLUMNS: Final = (
    Column("worst.annotator", "worst annotator", "number"),
    Column("worst.expected_calibration_error", "its ECE", "figure"),
)
BIN_COLUMNS: Final = (
    Column("low", "confidence", "title", text=lambda row: f"{row['low']:.1f} to {row['high']:.1f}"),
    Column("answers", kind="count"),
    Column("confidence", "mean", "share"),
    Column("accuracy", "right", "share"),
    Column("accuracy", " ", "range", faces=PRINTED),
    Column("accuracy", "0 to 1", "range", faces=PAGE, drawn=("accuracy", "accuracy", "confidence")),
)
SHARE_COLUMNS: Final = (Column("category", kind="name"), Column("share", kind="share"))

ITEM_COLUMNS: Final = (
    Column("item", kind="name"),
    Column(
        "votes", text=lambda row: ", ".join(f"{n} {votes}" for n, votes in row["votes"].items())
    ),
    Column("vote_score", kind="figure"),
    Column("entropy", "entropy (bits)", "figure"),
    Column("gold", kind="known"),
)

SPAN_ITEM_COLUMNS: Final = (
    Column("item", kind="name"),
    Column("answers", kind="count"),
    Column("spans", kind="count"),
    Column("span_f1_exact", "exact F1", "figure"),
    Column("token_f1", "token F1", "figure"),
)


def _answer(row: Mapping[str, Any]) -> str:
    span = "" if row["start"] is None else f" [{row['start']}, {row['end']})"
    return f"{row['category'] or '(' + row['answer'] + ')'}{span}"


_LABEL: Final = (
    Column("question", kind="name", rare=True),
    Column("annotator", kind="name"),
    Column("pass", kind="number"),
    Column("answer", text=_answer),
    Column("labeled_at", kind="minute"),
    Column("import", kind="number"),
    Column("state"),
    Column("confidence", kind="figure", rare=True),
    Column("comment", rare=True),
)
LABEL_COLUMNS: Final = [
    column._replace(tone=lambda row: None if row["state"] == "stands" else "quiet")
    for column in _LABEL
]
"""The columns of the answers to an item, past ones dimmed."""


# -- What preferences compare ---------------------------------------------------------------------


def _ranks(row: Mapping[str, Any]) -> str:
    low, high = row["rank_low"], row["rank_high"]
    return "-" if low is None else str(low) if low == high else f"{low} to {high}"


STRENGTHS: Final = (
    Column("name", "", "name"),
    Column("strength", kind="figure"),
    Column("ci_low", "{level} interval", "interval"),
    Column("rank_low", "rank", text=_ranks),
)
BEATS: Final = (
    Column("name", "", "name"), Column("other", "beside", "name"),
    *(Column(key, kind="count") for key in ("better", "ties", "worse")),
    Column("probability", "expected", "share"),
)  # fmt: skip
SWAPS: Final = (
    Column("annotator", kind="name", leads="annotator"),
    Column("pairs", "in both orders", "count"), Column("same", "alike", "count"),
    Column("share", kind="share"), Column("ci_low", "{level} interval", "interval"),
    Column("first", "first twice", "count"), Column("second", "second twice", "count"),
    Column("p_value", "p", "p"),
)  # fmt: skip
POSITION: Final = (
    Column("annotator", kind="name", leads="annotator"), Column("answers", kind="count"),
    Column("observed", "first", "share"), Column("expected", kind="share"),
    Column("difference", kind="change"), Column("ci_low", "{level} interval", "interval"),
    Column("p_value", "p", "p", faces=PRINTED),
)  # fmt: skip
LEADERBOARDS: Final = (
    Column("annotator", "model", "name"), Column("kendall_tau", "Kendall's tau", "figure"),
    Column("items", kind="count"), Column("agreement", "same answer", "share"),
    Column("opposite", "surely in the other order", text=lambda row: "; ".join(
        f"{better} over {worse}" for better, worse in row["opposite"]) or "none"),
)  # fmt: skip
