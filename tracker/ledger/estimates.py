"""`ledger.estimates`: figures about all items, of which a model answered all and people some."""

from __future__ import annotations

from collections.abc import Iterator
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from tracker.core.errors import InvalidOption
from tracker.core.operations import Given, Option, operation
from tracker.counts.choosing import Selecting
from tracker.ledger.namespace import Namespace
from tracker.ledger.parameters import Project
from tracker.render.blocks import Column, listing_table

if TYPE_CHECKING:
    from tracker.judge.estimate import Estimate

_WAYS = {
    "stratified": "stratified by its answers",
    "human_only": "people alone",
    "prediction_powered": "prediction powered",
    "corrected": "corrected for errors",
}
_WHY = {
    "too_few_items": "too few labelled items",
    "no_unlabeled": "people answered every item",
    "no_better_than_chance": "the model is no better than chance",
    "unlabeled_stratum": "an answer of the model has no labelled item",
    "drawn_by_model": "items were not drawn from all",
    "only_shares": "of shares only",
    "no_prediction": "an answer predicts no agreement",
}
_ESTIMATES = (
    Column("way", "estimate", "title"), Column("value", kind="figure"),
    Column("ci_low", "{level} interval", "interval"),
    Column("worth", "human answers", "count"),
    Column("assumes", "holds if", "title"),
)  # fmt: skip
_STRATA = (
    Column("answer", "the model's answer", "name"), Column("items", kind="count"),
    Column("labeled", "labelled", "count"), Column("value", "people", "figure"),
    Column("next", "of the next 100", "count", rare=True),
)  # fmt: skip
Model = Annotated[
    str, Option("The model whose answers are used.", metavar="NAME", examples=("gpt",))
]


def _view(estimate: Estimate, _: Given) -> Iterator[Any]:
    from tracker.render.nouns import count_noun, percent

    payload = estimate.to_dict()
    what = estimate.measure + (f" of {estimate.category}" if estimate.category else "")
    if estimate.measure == "agreement":
        what = "share of two people who give an item the same answer"
    yield (
        f"The {what}, by {count_noun(estimate.labeled, 'labelled item')} of "
        f"{estimate.items:,} that {estimate.model} answered:"
    )
    rows = [
        payload[name] | {"way": way, "assumes": _WHY.get(payload[name]["undefined"],
                                                         estimate.assumes[name])}
        for name, way in _WAYS.items()
    ]  # fmt: skip
    yield listing_table(_ESTIMATES, rows, level=percent(estimate.confidence))
    yield listing_table(_STRATA, payload["strata"])


def _warnings(estimate: Estimate, _: Given) -> Iterator[str]:
    from tracker.judge.estimate import FEW_DIFFER, FEW_RARE, SHARE
    from tracker.render.nouns import count_noun

    share = estimate.human_only.value if estimate.measure == SHARE else None
    rare = FEW_RARE if share is None else round(estimate.labeled * min(share, 1 - share))
    powered = estimate.prediction_powered.value is not None
    if powered and (estimate.differ < FEW_DIFFER or rare < FEW_RARE):
        rarer = "" if share is None else f", and {rare:,} have the rarer label"
        yield (
            f"the prediction-powered interval may be too short: the model and people differ on "
            f"{count_noun(estimate.differ, 'item')}{rarer}; rather take the stratified one"
        )
    left = estimate.left_out
    for number, why in (
        (left.tuning, "used to tune the model"),
        (left.undecided, "people are tied"),
        (left.without_model, "the model did not answer"),
        (left.later, "came after the draw"),
    ):
        if number:
            yield f"left out: {count_noun(number, 'item')}: {why}"
    if estimate.unanswered:
        items = count_noun(estimate.unanswered, "item")
        yield f"{items} drawn and not answered: if these differ, so does the figure"


def _hints(estimate: Estimate, _: Given) -> Iterator[str]:
    if estimate.items == estimate.labeled:
        return
    words = ["tracker assign", quote(estimate.project), "--prefer"]
    words += ["random"] if estimate.category is None else [
        "estimate --category", quote(estimate.category), "--model", quote(estimate.model)
    ]  # fmt: skip
    yield f"draw the items that help it most: {' '.join(words)}"


class Estimates(Namespace):
    """What models' answers are worth for figures of projects."""

    @operation(
        "estimate", "GET /projects/{project}/estimate", "getEstimate",
        listing="strata", view=_view, warnings=_warnings, hints=_hints,
    )  # fmt: skip
    def estimate(
        self,
        project: Project,
        *,
        model: Model,
        category: Annotated[
            str | None, Option("The category whose share is estimated.", examples=("positive",))
        ] = None,
        mean: Annotated[
            bool, Option("Instead of a share, the mean of categories that are numbers.")
        ] = False,
        agreement: Annotated[
            bool,
            Option("Instead of a share, how often two people give an item the same answer."),
        ] = False,
        random: Annotated[
            bool, Option("The items that people answered were drawn at random: you know it.")
        ] = False,
        confidence: Annotated[float, Option("Confidence level of the intervals.")] = 0.95,
        **selecting: Unpack[Selecting],
    ) -> Estimate:
        """Estimate a share, a mean or an agreement of all items by a model and by people of some.

        The figure is that of the population from which the items came. It is computed from people
        alone, prediction powered, corrected for the model's errors, and stratified by the model's
        answers; each says what it assumes, and how many human answers alone it is worth. An item
        has the label that was decided, or else most people gave. Items whose attribute used-for is
        tuning are left out. Of agreement the labelled items are those that two people answered, and
        the model's answers are strata.

        Raises Refused if it is not known that labelled items were drawn at random: those that
        assign --prefer random or estimate drew are.

        Examples:
        - `tracker estimate reviews --category positive --model gpt`
        - `tracker estimate reviews --category positive --model gpt --random --json`
        - `tracker estimate stars --mean --model gpt --random`
        - `tracker estimate reviews --agreement --model gpt --random`

        Next: `tracker assign reviews --prefer estimate --category positive --model gpt`
        """
        from tracker.counts.filter import make_answer_filter
        from tracker.judge.estimate import AGREEMENT, MEAN, SHARE, estimate

        if mean and agreement:
            raise InvalidOption("--mean and --agreement are two figures", "choose one of them")
        measure = MEAN if mean else AGREEMENT if agreement else SHARE
        choice = make_answer_filter(**selecting)
        with self._ledger.asking(project, choice) as (connection, question):
            return estimate(
                connection, question, model, category, choice,
                measure=measure, random=random, confidence=confidence,
            )  # fmt: skip
