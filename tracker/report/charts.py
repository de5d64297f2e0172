"""How often each annotator gives each category, beside the others on the same items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tracker.audit.sentences import is_accusation
from tracker.judge.result import VERDICTS
from tracker.measures.words import measure_title_words
from tracker.projects.questions import are_many_numbers
from tracker.render.cells import figure_cell
from tracker.render.charts import ALARM, FAINT, INK, MARK, MOST, ROW, WIDTH, Chart

if TYPE_CHECKING:
    import altair as alt

    from tracker.agreement.preferences import Preferences
    from tracker.audit.result import Audit
    from tracker.history.by_question import AgreementByQuestion
    from tracker.ledger.agreement import Pairs


MOST_SHARES = 16  # annotators
_CATEGORIES = 8
_ACROSS, _WIDTH, _ROW = 4, 120, 16


def annotators_chart(project: str, audit: Audit) -> Chart:
    """Return a small chart for each annotator, with a dot for their share of each category.

    A line leads to the share of the others on the same items. Annotators with a finding come
    first, and their dots are of another color. Of many annotators and categories the first ones,
    and the most frequent ones, are drawn.
    """
    title = f"{project}: each annotator's share of the categories"
    return draw_annotators(title, audit.to_dict()["annotators"])


def draw_annotators(
    title: str, annotators: Sequence[Mapping[str, Any]], *, across: int = _ACROSS
) -> Chart:
    """Return the chart of some annotators of an audit's JSON, so many beside each other."""
    from tracker.report.altair import alt

    ranked = sorted(
        annotators,
        key=lambda annotator: (
            not _flagged(annotator),
            -annotator["answers"],
            annotator["annotator"],
        ),
    )
    categories = _frequent(ranked)
    rows = [_row(annotator, name) for annotator in ranked for name in annotator["category_shares"]]
    names = [annotator["annotator"] for annotator in ranked[:MOST_SHARES]]
    wanted = set(names)
    drawn = [row for row in rows if row["annotator"] in wanted and row["category"] in categories]
    share = alt.Scale(domain=[0, 1])
    axis = alt.Axis(format=".0%", values=[0, 0.5, 1])
    base = alt.Chart(alt.InlineData(list(drawn))).encode(
        y=alt.Y("category:N", sort=categories, title=None)
    )
    of_dot = alt.X("share:Q", scale=share, axis=axis, title=None)
    lines = base.mark_rule(color=FAINT).encode(x=of_dot, x2="peers:Q")
    others = base.mark_tick(color=INK, thickness=2, size=10).encode(x=alt.X("peers:Q"))
    dots = base.mark_point(filled=True, size=50, opacity=1).encode(
        x=of_dot, color=alt.condition("datum.flagged", alt.value(ALARM), alt.value(MARK))
    )
    drawing = (
        alt.layer(lines, others, dots)
        .properties(width=_WIDTH, height=alt.Step(_ROW))
        .facet(alt.Facet("annotator:N", sort=names, title=None), columns=across)
        .properties(
            title=alt.Title(title, subtitle="dot: the annotator; tick: the others, same items")
        )
    )
    return Chart(title, _description(ranked, len(names)), drawing, rows)


def _flagged(annotator: Mapping[str, Any]) -> bool:
    return any(map(is_accusation, annotator["flags"]))


def _row(annotator: Mapping[str, Any], category: str) -> dict[str, Any]:
    return {
        "annotator": annotator["annotator"],
        "category": category,
        "share": annotator["category_shares"][category],
        "peers": annotator["peer_shares"].get(category),
        "flagged": _flagged(annotator),
    }


def _frequent(annotators: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the most frequent categories, at most `_CATEGORIES`, in their order."""
    answers: dict[str, float] = {}
    for annotator in annotators:
        for name, share in annotator["category_shares"].items():
            answers[name] = answers.get(name, 0.0) + share * annotator["answers"]
    frequent = sorted(answers, key=lambda name: (-answers[name], name))[:_CATEGORIES]
    return [name for name in answers if name in frequent]


def _description(annotators: Sequence[Mapping[str, Any]], drawn: int) -> str:
    if not annotators:
        return "There are no annotators."
    flagged = [annotator["annotator"] for annotator in annotators if _flagged(annotator)]
    words = f"With findings: {', '.join(flagged)}." if flagged else "There is no finding."
    return words + (
        f" {len(annotators) - drawn} annotators are not drawn." if len(annotators) > drawn else ""
    )


# -- The agreement on each category, weakest first, with its interval -----------------------------


def categories_chart(agreement_by_question: AgreementByQuestion) -> Chart:
    """Return a dot for each category: the share of pairs where both chose it.

    The weakest are drawn, if there are many. A category without a figure has no dot; the rows have
    its reason.
    """
    return draw_categories(
        f"{agreement_by_question.project}: agreement on each category",
        category_rows(agreement_by_question),
    )


def category_rows(agreement_by_question: AgreementByQuestion) -> list[dict[str, Any]]:
    """Return a row for each category of each question, the weakest first.

    Of `questions_of_numbers` there is none.
    """
    numbers = questions_of_numbers(agreement_by_question)
    rows = [
        {"question": question.question.name, **_category_row(category)}
        for question in agreement_by_question.questions
        if question.question.name not in numbers
        for category in question.assessment.to_dict()["categories"]
    ]
    return sorted(rows, key=lambda row: (row["rate"] is None, row["rate"] or 0.0))


def questions_of_numbers(agreement_by_question: AgreementByQuestion) -> list[str]:
    """Return the names of the questions whose answers are many numbers."""
    return [
        question.question.name
        for question in agreement_by_question.questions
        if are_many_numbers(
            question.question.answers,
            question.question.scale,
            len(question.assessment.to_dict()["categories"]),
        )
    ]


def draw_categories(title: str, rows: Sequence[Mapping[str, Any]], *, width: int = WIDTH) -> Chart:
    """Return the chart of some rows, ``width`` pixels wide without its labels."""
    from tracker.report.altair import alt

    drawn = sorted((row for row in rows if row["rate"] is not None), key=lambda row: row["rate"])
    shown = _first_in_place(rows, drawn)
    questions = list(dict.fromkeys(row["question"] for row in rows))
    several = len({row["question"] for row in shown}) > 1
    place = alt.Y("category:N", sort=None, title=None)
    base = alt.Chart(alt.InlineData(list(shown))).encode(y=place)
    share = alt.Scale(domain=[0, 1])
    axis = alt.Axis(format=".0%", tickCount=5)
    of_dot = alt.X("rate:Q", scale=share, axis=axis, title="pairs where both chose it")
    intervals = base.mark_rule(color=FAINT, strokeWidth=2).encode(
        x=alt.X("ci_low:Q", scale=share, axis=axis), x2="ci_high:Q"
    )
    dots = base.mark_point(filled=True, color=MARK, opacity=1, size=70).encode(x=of_dot)
    numbers = base.mark_text(align="left", dx=8, dy=-8, color=INK, fontSize=10).encode(
        x=of_dot, text=alt.Text("rate:Q", format=".0%")
    )
    layers = alt.layer(intervals, dots, numbers).properties(width=width, height=alt.Step(ROW))
    drawing = _titled(layers, title, "question", questions if several else ())
    return Chart(title, _categories_description(rows, drawn), drawing, rows)


def _titled(
    layers: Any, title: str | alt.Title, key: str, names: Sequence[str]
) -> alt.TopLevelMixin:
    """Return a drawing under a title; a part for each value of a key if there are several."""
    from tracker.report.altair import alt

    drawing = layers
    if len(names) > 1:
        drawing = layers.facet(row=alt.Row(f"{key}:N", title=None, sort=list(names)))
        drawing = drawing.resolve_scale(y="independent")
    titled: alt.TopLevelMixin = drawing.properties(title=title)
    return titled


def strengths_chart(project: str, preferences: Preferences) -> Chart:
    """Return a dot for each of those that preferences compare: its strength with its interval."""
    return draw_strengths(f"{project}: strengths", preferences.to_dict()["strengths"])


def draw_strengths(title: str, rows: Sequence[Mapping[str, Any]], *, width: int = WIDTH) -> Chart:
    """Return the chart of some rows, the strongest first; of many the first ones are drawn."""
    from tracker.report.altair import alt

    drawn = [row for row in rows if row["strength"] is not None]
    base = alt.Chart(alt.InlineData(drawn[:MOST])).encode(y=alt.Y("name:N", sort=None, title=None))
    intervals = base.mark_rule(color=FAINT, strokeWidth=2).encode(
        x=alt.X("ci_low:Q", title="strength"), x2="ci_high:Q"
    )
    of_dot = alt.X("strength:Q", title="strength")
    dots = base.mark_point(filled=True, color=MARK, opacity=1, size=70).encode(x=of_dot)
    numbers = base.mark_text(align="left", dx=8, dy=-8, color=INK, fontSize=10).encode(
        x=of_dot, text=alt.Text("strength:Q", format="+.2f")
    )
    drawing = alt.layer(intervals, dots, numbers).properties(
        width=width, height=alt.Step(ROW), title=title
    )
    described = "There are no strengths."
    if drawn:
        described = f"Strongest: {drawn[0]['name']}. Weakest: {drawn[-1]['name']}."
        if len(drawn) > MOST:
            described += f" {len(drawn) - MOST} are not drawn."
    return Chart(title, described, drawing, [*rows])


def _first_in_place(
    rows: Sequence[Mapping[str, Any]], ranked: Sequence[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """Return of rows the first `MOST` of a ranking, in the order of the rows."""
    wanted = {id(row) for row in ranked[:MOST]}
    return [row for row in rows if id(row) in wanted]


def _category_row(row: Mapping[str, Any]) -> dict[str, Any]:
    names = ("category", "rate", "ci_low", "ci_high", "potential_agreements", "undefined")
    return {name: row[name] for name in names}


def _categories_description(
    rows: Sequence[Mapping[str, Any]], drawn: Sequence[Mapping[str, Any]]
) -> str:
    if not drawn:
        return "No category has a figure."
    weakest, strongest = drawn[0], drawn[-1]
    sentence = (
        f"Weakest: {weakest['category']}, {weakest['rate']:.0%}. "
        f"Strongest: {strongest['category']}, {strongest['rate']:.0%}."
    )
    left_out = len(drawn) - MOST
    sentence += f" {left_out} stronger categories are not drawn." if left_out > 0 else ""
    without = len(rows) - len(drawn)
    has = "has" if without == 1 else "have"
    return sentence + (f" {without} {has} no figure." if without else "")


# -- Each category of each model beside the people ------------------------------------------------


_MODEL_ROW = 28


def draw_model_categories(
    title: str, rows: Sequence[Mapping[str, Any]], *, width: int = WIDTH
) -> Chart:
    """Return a dot for each category of each model, and a tick for the people.

    Args:
        title: what it shows.
        rows: of `tracker.audit.models.ModelCategory`, each with its ``model``; the widest gaps
            below the ceiling are drawn.
        width: in pixels, without the labels.
    """
    from tracker.report.altair import alt

    ranked = sorted(
        rows, key=lambda row: (row["people"] is None, row["with_people"] - (row["people"] or 0.0))
    )
    drawn = _first_in_place(rows, ranked)
    models = list(dict.fromkeys(row["model"] for row in drawn))
    share = alt.Scale(domain=[0, 1])
    ticks = alt.Axis(format=".0%", tickCount=5)
    place = alt.Y("category:N", sort=None, title=None)
    base = alt.Chart(alt.InlineData(list(drawn))).encode(y=place)
    of_dot = alt.X("with_people:Q", scale=share, axis=ticks, title="pairs where both chose it")
    intervals = base.mark_rule(color=FAINT, strokeWidth=2).encode(
        x=alt.X("low:Q", scale=share, axis=ticks), x2="high:Q"
    )
    people = base.mark_tick(color=INK, thickness=3, size=18).encode(x=alt.X("people:Q"))
    dots = base.mark_point(filled=True, color=MARK, opacity=1, size=70).encode(x=of_dot)
    layers = alt.layer(intervals, people, dots).properties(width=width, height=alt.Step(_MODEL_ROW))
    drawing = _titled(layers, title, "model", models)
    sentences = []
    for row in ranked[:5]:
        ceiling = row["people"]
        beside = "" if ceiling is None else f"; people with each other {ceiling:.0%}"
        sentences.append(
            f"{row['model']}, {row['category']}, with people {row['with_people']:.0%}{beside}."
        )
    left_out = len(rows) - len(drawn)
    sentences += [f"{left_out} categories of smaller gaps are not drawn."] if left_out else []
    return Chart(title, " ".join(sentences), drawing, rows)


_VERDICT_MARKS: Final = {
    VERDICTS["trusted"]: ("circle", MARK),
    VERDICTS["not_trusted"]: ("triangle-down", ALARM),
    VERDICTS["insufficient"]: ("diamond", FAINT),
}
"""The sign of a verdict and its color."""
_MOST_SAID: Final = 10
_LEGEND: Final = "tick: people with each other; band: what is allowed below them"


def draw_judges(title: str, rows: Sequence[Mapping[str, Any]], *, width: int = WIDTH) -> Chart:
    """Return a mark for each model by its verdict, with its interval, beside the people.

    The tick is the human ceiling on the items of the model; the band reaches down to the bar. A
    line leads from version to version.

    Args:
        title: what it shows.
        rows: of `judge_rows`; those without a figure are not drawn.
        width: in pixels, without the labels.
    """
    from tracker.report.altair import alt

    drawn = [row for row in rows if row["value"] is not None][:MOST]
    names = [name for name in _VERDICT_MARKS if any(row["verdict"] == name for row in drawn)]
    signs = [_VERDICT_MARKS[name] for name in names]
    measures = list(dict.fromkeys(row["measure"] for row in drawn))
    ends = (row[key] for row in drawn for key in ("low", "value", "bar"))
    low = min([0.0, *(end for end in ends if end is not None)])
    scale = alt.Scale(domain=[low, 1], nice=False)
    axis = alt.Axis(tickCount=5)
    titled = (
        f"{measure_title_words(measures[0])} with people" if len(measures) == 1 else "with people"
    )

    def at(name: str) -> alt.X:
        return alt.X(f"{name}:Q", scale=scale, axis=axis, title=titled)

    base = alt.Chart(alt.InlineData(list(drawn))).encode(y=alt.Y("model:N", sort=None, title=None))
    legend = alt.Legend(title=None, orient="top", columns=1 if width < WIDTH else 3)
    versions = base.transform_filter("isValid(datum.version)").mark_line(color=MARK, strokeWidth=1)
    lines = [versions.encode(x=at("value"), order="place:Q", detail="family:N")]
    layers = [
        base.mark_bar(color=FAINT, opacity=0.25, height=18).encode(x=at("bar"), x2="people:Q"),
        *(lines if any(row["version"] for row in drawn) else ()),
        base.mark_rule(color=FAINT, strokeWidth=2).encode(x=at("low"), x2="high:Q"),
        base.mark_tick(color=INK, thickness=3, size=18, opacity=1).encode(x=at("people")),
        base.mark_point(filled=True, opacity=1, size=90).encode(
            x=at("value"),
            shape=alt.Shape("verdict:N", legend=legend,
                            scale=alt.Scale(domain=names, range=[sign for sign, _ in signs])),
            color=alt.Color("verdict:N", legend=legend,
                            scale=alt.Scale(domain=names, range=[color for _, color in signs])),
        ),
    ]  # fmt: skip
    drawing = alt.layer(*layers).properties(width=width, height=alt.Step(_MODEL_ROW))
    questions = list(dict.fromkeys(row["question"] for row in drawn))
    shown = _titled(drawing, alt.Title(title, subtitle=_LEGEND), "question", questions)
    return Chart(title, _judges_description(rows, several=len(questions) > 1), shown, rows)


def _judges_description(rows: Sequence[Mapping[str, Any]], *, several: bool) -> str:
    sentences = []
    for row in rows[:_MOST_SAID]:
        who = f"{row['model']}, {row['question']}," if several else row["model"]
        people = "" if row["people"] is None else f"; people {figure_cell(row['people'])}"
        sentences.append(f"{who} {figure_cell(row['value'])}{people}: {row['verdict']}.")
    if len(rows) > _MOST_SAID:
        counts = ", ".join(
            f"{sum(row['verdict'] == name for row in rows)} {name}" for name in _VERDICT_MARKS
        )
        sentences.append(f"In all: {counts}.")
    without = sum(row["value"] is None for row in rows)
    sentences += [f"{without} without a figure."] if without else []
    return " ".join(sentences)


# -- The agreement of each two annotators, those alike beside each other --------------------------


_NUMBERED, _ROOMY = 14, 32  # annotators whose cells have room for a number; pixels of a cell
_CROWDED, _SMALL = 24, 14  # annotators beyond whom cells are small, so that the chart fits a page
_LIGHT, _DARK = "#fefefe", "#101214"  # of numbers on cells, whose colors are those of any page


class _Drawn(NamedTuple):
    """The figure of a pair that is drawn: its title, in words, its least value, what is dark."""

    title: str
    words: str
    least: float
    dark: str


_DRAWN: Final[Mapping[str, _Drawn]] = {
    "cohen_kappa": _Drawn("Cohen's kappa", "kappa", -1, "{0} > 0.8 || {0} < -0.9"),
    "span_f1_exact": _Drawn("Exact F1", "exact F1", 0, "{0} > 0.9 || {0} < 0.05"),
}


def pairs_chart(project: str, pairs: Pairs, weights: str | None = None) -> Chart:
    """Return a cell for each two annotators: Cohen's kappa, of spans exact F1; none if undefined.

    Annotators are in the order of a hierarchical clustering (average linkage), so that groups
    show as blocks. Of many annotators those with the most shared items are drawn. ``weights``
    are those of the pairs' kappa.
    """
    title = f"{project}: agreement of each two annotators"
    return draw_pairs(
        f"{title} ({weights} weights)" if weights else title, pair_rows(pairs.to_dict())
    )


def pair_rows(payload: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a row for each pair of their JSON, as `draw_pairs` takes them."""
    return [_pair_row(pair) for pair in payload["pairs"]]


def draw_pairs(title: str, rows: Sequence[Mapping[str, Any]]) -> Chart:
    """Return the chart of some pairs; of few annotators each cell has its number."""
    from tracker.report.altair import alt

    figure = _pair_figure(rows)
    about = _DRAWN[figure]
    names = _drawn_names(rows)
    order = _clustered(rows, names, figure)
    wanted = set(order)
    both = [
        {**row, "annotator": first, "other": second}
        for row in rows
        for first, second in ((row["annotator"], row["other"]), (row["other"], row["annotator"]))
        if {first, second} <= wanted and row[figure] is not None
    ]
    both.sort(key=lambda row: row[figure])  # cells of one color are one outline on a page
    numbered = len(order) <= _NUMBERED
    cell = _ROOMY if numbered else ROW if len(order) <= _CROWDED else _SMALL
    side = cell * max(len(order), 4)
    cells = (
        alt.Chart(alt.InlineData(list(both)))
        .mark_rect(stroke="white" if numbered else alt.Undefined)
        .encode(
            x=alt.X(
                "annotator:N",
                sort=order,
                title=None,
                axis=alt.Axis(labelAngle=-90 if cell == _SMALL else -45),
            ),
            y=alt.Y("other:N", sort=order, title=None),
            color=alt.Color(
                f"{figure}:Q",
                title=about.title,
                legend=alt.Legend(orient="top", direction="horizontal", gradientLength=160),
                scale=alt.Scale(scheme="blueorange", domain=[about.least, 1], reverse=True),
            ),
        )
    )
    layers = [cells]
    if numbered:
        far = about.dark.format(f"datum.{figure}")
        layers.append(
            alt.Chart(alt.InlineData(list(both)))
            .mark_text(fontSize=10)
            .encode(
                x=alt.X("annotator:N", sort=order),
                y=alt.Y("other:N", sort=order),
                text=alt.Text(f"{figure}:Q", format=".2f"),
                color=alt.condition(far, alt.value(_LIGHT), alt.value(_DARK)),
            )
        )
    drawing = alt.layer(*layers).properties(width=side, height=side, title=title)
    return Chart(title, _pairs_description(rows, len(names), figure), drawing, rows)


def _pair_row(pair: Mapping[str, Any]) -> dict[str, Any]:
    annotator, other = pair["annotators"]
    who = {"annotator": annotator, "other": other}
    if "span_f1_exact" in pair:
        exact = pair["span_f1_exact"]
        payload = {"span_f1_exact": exact["value"], "undefined": exact["undefined"]}
        return {**who, "items": pair["items"], **payload}
    names = ("items", "observed", "cohen_kappa", "undefined")
    return {**who, **{name: pair[name] for name in names}}


def _pair_figure(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the figure that the rows have; of no rows kappa."""
    return next((name for name in _DRAWN for row in rows[:1] if name in row), "cohen_kappa")


def _drawn_names(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the annotators with the most shared items, at most `MOST`."""
    shared: dict[str, int] = {}
    for row in rows:
        for name in (row["annotator"], row["other"]):
            shared[name] = shared.get(name, 0) + row["items"]
    return sorted(shared, key=lambda name: (-shared[name], name))[:MOST]


def _clustered(rows: Sequence[Mapping[str, Any]], names: Sequence[str], figure: str) -> list[str]:
    """Return annotators so that those who agree are neighbours; an undefined figure counts as 0."""
    if len(names) < 3:
        return list(names)
    import numpy as np
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    number = {name: place for place, name in enumerate(names)}
    apart = np.ones((len(names), len(names)))
    np.fill_diagonal(apart, 0.0)
    for row in rows:
        first, second = number.get(row["annotator"]), number.get(row["other"])
        if first is not None and second is not None and row[figure] is not None:
            apart[first, second] = apart[second, first] = 1 - row[figure]
    tree = linkage(squareform(apart), "average", optimal_ordering=True)
    return [names[place] for place in leaves_list(tree).tolist()]


def _pairs_description(rows: Sequence[Mapping[str, Any]], drawn: int, figure: str) -> str:
    words = _DRAWN[figure].words
    known = [row for row in rows if row[figure] is not None]
    if not known:
        return f"No two annotators have {'an' if words[0] in 'aeiou' else 'a'} {words}."
    low, high = (of(known, key=lambda row: row[figure]) for of in (min, max))
    ends = [("Lowest: ", low), ("Highest: ", high)] if len(known) > 1 else [("", low)]
    description = " ".join(
        f"{word}{row['annotator']} and {row['other']}, {row[figure]:z.2f}." for word, row in ends
    )
    without = len(rows) - len(known)
    description += f" {without} pairs have no {words}." if without else ""
    everyone = len({row[end] for row in rows for end in ("annotator", "other")})
    return description + (
        f" {everyone - drawn} annotators are not drawn." if everyone > drawn else ""
    )
