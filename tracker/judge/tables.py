"""A judge as people read it: the verdict, the figures beside people's own, the tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from tracker.judge.result import VERDICTS
from tracker.judge.words import main_measure
from tracker.measures.words import measure_title_words, undefined_in_words
from tracker.render.blocks import Column, listing_table
from tracker.render.nouns import count_noun

if TYPE_CHECKING:
    from tracker.judge.result import Judge, Judges

VERDICT_TONES: Final = {"trusted": "good", "not_trusted": "bad", "insufficient": "unsure"}


def _figure(key: str, title: str) -> tuple[Column, Column]:
    return (
        Column(f"{key}.value", title, "figure"),
        Column(f"{key}.ci_low", "{level}", "interval", drawn=(f"{key}.ci_low", f"{key}.ci_high")),
    )


JUDGES: Final = (
    Column("question", kind="name"),
    Column("model", kind="name"),
    Column(
        "verdict",
        text=lambda row: VERDICTS[row["verdict"]],
        tone=lambda row: VERDICT_TONES[row["verdict"]],
    ),
    Column("items", kind="count"),
    *_figure("model_with_humans", "with people"),
    Column("humans_with_humans.value", "people", "figure"),
    Column("difference", kind="change"),
    Column("alternative_test.omega", "omega", "figure"),
    Column("alternative_test.rho", "rho", "figure"),
    Column("more", "items more", "count", rare=True, none=""),
)
"""Of several judges, a row each, the coefficient of the verdict spread into it."""
MEASURES: Final = (
    Column("measure", kind="name", text=lambda row: measure_title_words(row["measure"])),
    *_figure("model_with_humans", "model with people"),
    *_figure("humans_with_humans", "people"),
    Column("difference", kind="change"),
    Column("ci_low", "{level}", "interval"),
    Column("baseline.value", "most frequent answer", "figure"),
    Column("random_baseline", "at random", "figure"),
)
_REPLACED: Final = {None: "too few items", True: "yes", False: "no"}
HUMANS: Final = (
    Column("annotator", kind="name", leads="annotator"),
    Column("items", kind="count"),
    Column("model_wins", "model as near", "share"),
    Column("human_wins", "person as near", "share"),
    Column("epsilon", kind="figure"),
    Column("p_value", "p", "p"),
    Column("rejected", "may be replaced", text=lambda row: _REPLACED[row["rejected"]]),
)
"""Of the alternative annotator test, a row for each person."""
RATES: Final = (
    Column("category", kind="name", leads="category"),
    Column("items", kind="count"),
    Column("given", kind="count"),
    Column("true_positive_rate", "found", "share"),
    Column("true_negative_rate", "left to others", "share"),
    Column("precision", "right if given", "share"),
)
PEOPLE: Final = (
    Column("annotator", kind="name", leads="annotator"),
    Column("items", kind="count"),
    *_figure("agreement", "same answer"),
    Column("kappa.value", "kappa", "figure"),
    Column("others", "with the others", "figure"),
)
CONFUSED: Final = (
    Column("truth", "label", "name"),
    Column("given", "model's answer", "name"),
    Column("items", kind="count", leads="confused items"),
)
COMPARED: Final = (
    Column("question", kind="name"),
    Column("models", kind="names"),
    Column("items", kind="count"),
    Column("first", "the first", "figure"),
    Column("second", "the second", "figure"),
    Column("difference", kind="change"),
    Column("ci_low", "{level}", "interval"),
    Column("q_value", "p, corrected", "p"),
    Column("winner", none="not sure"),
)


EXAMPLES: Final = (
    Column("kind", "label / model's answer"),
    Column("item", kind="name"),
    Column("text", kind="title", rare=True),
    Column("votes"),
    Column("rationale", rare=True),
)
"""Of the items that show a confusion, a row each."""


def example_rows(payload: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the items that show where a judge's JSON differs from the label."""
    for confused in payload["confusion"]:
        for example in confused.get("examples", ()):
            votes = ", ".join(f"{name} {number}" for name, number in example["votes"].items())
            yield example | {"kind": f"{confused['truth']} / {confused['given']}", "votes": votes}


DISTANCES: Final = (
    Column("distance", kind="name"),
    *_figure("model", "model"),
    *_figure("people", "a person"),
)
SIDES: Final = (
    Column("group", kind="name"),
    Column("items", kind="count"),
    Column("agreement", "same answer", "figure"),
    Column("difference", "less with others", "change"),
    Column("difference_low", "{level}", "interval", drawn=("difference_low", "difference_high")),
    Column("p", "p, corrected", "p"),
    Column("sides", "sides with it", "yes"),
)
_DISTANCES: Final = {
    "manhattan": "Manhattan", "wasserstein": "Wasserstein", "cross_entropy": "cross-entropy, bits",
    "person_error": "other answers",
}  # fmt: skip


def distance_rows(payload: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the distances to people's shares of a judge's JSON as rows, but undefined ones."""
    own, people = payload["distances"], payload["distances_of_people"]
    if own is None:
        return []
    return [
        {"distance": title, "model": own[name], "people": people[name]}
        for name, title in _DISTANCES.items()
        if own[name]["value"] is not None
    ]


def judge_row(judge: Mapping[str, Any]) -> dict[str, Any]:
    """Return a judge's JSON as a row, with the figures of the verdict's measure."""
    return {**main_measure(judge), **judge}


def rates_rows(payload: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the rates of a judge's JSON as rows."""
    return [{"category": name, **rates} for name, rates in payload["rates"].items()]


def alternative_test_sentence(test: Mapping[str, Any]) -> str:
    """Return what the alternative annotator test says, in a sentence."""
    if test["omega"] is None:
        return (
            "Alternative annotator test: undefined, "
            f"{undefined_in_words(test['undefined'])}; it needs 30 items of a person that the "
            "model and somebody else answered, too"
        )
    said = (
        f"Alternative annotator test: omega {test['omega']:z.3f} of "
        f"{count_noun(test['tested'], 'annotator')}, rho {test['rho']:.4f}: "
    )
    if test["passed"]:
        said += "the model may stand in for half of them or more"
    else:
        said += "the model may not stand in for people"
        if test["items_needed"] is not None:
            said += f"; {test['items_needed']:,} items a person could change that"
    return said if test["tested"] > 2 else f"{said} (of three people or more it says more)"


def judges_view(judges: Judges, level: str) -> Iterator[Any]:
    """Yield what people see: of one judge all of it, of several a row each."""
    if len(judges.judges) == 1:
        yield from judge_view(judges.judges[0], level)
        return
    yield listing_table(
        JUDGES, [judge_row(judge.to_dict()) for judge in judges.judges], level=level
    )
    if judges.compared:
        yield "Two models with people, on the same items:"
        rows = [row.to_dict() for row in judges.compared]
        yield listing_table(COMPARED, rows, level=level)


def judge_view(judge: Judge, level: str) -> Iterator[Any]:
    """Yield one judge: the verdict first."""
    payload = judge.to_dict()
    more = "" if judge.more is None else f" (about {judge.more:,} more items would)"
    yield f"{judge.model}: {VERDICTS[judge.verdict]}{more}"
    yield judge.why
    yield from judge.reservations
    yield listing_table(MEASURES, payload["measures"], level=level)
    if judge.majority is not None and judge.majority.model.value is not None:
        own, people = payload["majority"]["model"], payload["majority"]["humans"]
        yield (
            f"With what most of the others gave: model {own['value']:.2f}, a person "
            f"{people['value']:.2f}"
        )
    if judge.gold is not None and judge.gold.model.value is not None:
        people = payload["gold"]["humans"]
        beside = "" if people["value"] is None else f", people {people['value']:.2f}"
        yield (
            f"With the truth of {count_noun(judge.gold.items, 'item')}: model "
            f"{judge.gold.model.value:.2f}{beside}"
        )
    yield alternative_test_sentence(payload["alternative_test"])
    yield listing_table(HUMANS, payload["alternative_test"]["humans"])
    if payload["rates"]:
        yield f"By category, on {judge.truth}:"
        yield listing_table(RATES, rates_rows(payload))
    if judge.confusion:
        yield "Where it differs from the label, most often first:"
        yield listing_table(CONFUSED, payload["confusion"][:_MOST_SHOWN])
        examples = list(example_rows(payload))
        if examples:
            yield listing_table(EXAMPLES, examples)
    if distances := distance_rows(payload):
        yield "How far answers are from the shares of the people who gave each:"
        yield listing_table(DISTANCES, distances, level=level)
    if judge.sides:
        yield "With which group it sides:"
        yield listing_table(SIDES, payload["sides"], level=level)
    for row in judge.biases:
        yield f"Otherwise than people: {row.why} (p {row.q_value:.2g}, corrected)"


_MOST_SHOWN = 5
