"""`ledger.panels`: what several models are worth together, and which items still need people."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from shlex import quote
from typing import TYPE_CHECKING, Any, Unpack

from tracker.core.operations import Given, operation, part_of
from tracker.counts.choosing import Selecting
from tracker.judge.choosing import PanelAsked
from tracker.ledger.namespace import Namespace
from tracker.ledger.parameters import Project
from tracker.render.blocks import Column, listing_table

if TYPE_CHECKING:
    from tracker.counts.filter import AnswerFilter
    from tracker.judge.together import PanelResult
    from tracker.ledger.reports import Labels

_RULES = {
    "jury": "most given answer",
    "weighted": "weighted by accuracy",
    "panel": "model of their errors",
}
_COST = Column("cost", kind=lambda value: f"{value:,.4g}", rare=True, none="")
_MODELS = (
    Column("model", kind="name"), Column("labeled", "labelled", "count"),
    Column("accuracy", "like people", "share"), Column("ci_low", "{level} interval", "interval"),
    Column("weight", kind="figure"), Column("independent", kind="figure"), _COST,
)  # fmt: skip
_TOGETHER = (
    Column("rule", "together", "title", text=lambda row: _RULES[row["rule"]]),
    Column("ties", kind="count"), Column("accuracy", "like people", "share"),
    Column("ci_low", "{level} interval", "interval"), Column("gain", "gain on the best", "change"),
    Column("gain_low", "{level} interval", "interval", drawn=("gain_low", "gain_high")), _COST,
)  # fmt: skip
_CURVE = (
    Column("threshold", "at least so sure", "figure"), Column("coverage", "accepted", "share"),
    Column("labeled", "labelled", "count"), Column("errors", kind="count"),
    Column("error", "wrong", "share"),
)  # fmt: skip


def _view(panel: PanelResult, _: Given) -> Iterator[Any]:
    from tracker.render.nouns import count_noun, percent

    level, payload = percent(panel.confidence), panel.to_dict()
    yield (
        f"{count_noun(len(panel.models), 'model')}, held against people on "
        f"{count_noun(panel.labeled, 'item')}; {count_noun(panel.waiting, 'item')} people did not "
        "answer"
    )
    yield listing_table(_MODELS, payload["models"], level=level)
    yield listing_table(_TOGETHER, payload["rules"], level=level)
    routing = panel.routing
    if routing.curve:
        yield listing_table(_CURVE, payload["routing"]["curve"])
    at_most = f"at most {percent(routing.error)} wrong ({percent(routing.confidence)} sure)"
    if routing.threshold is None:
        yield f"needs more labels: no threshold is known to leave {at_most}"
    else:
        yield (
            f"accepted from {routing.threshold:.3f} on: {count_noun(routing.accepted, 'item')}, "
            f"{at_most}; to people: {routing.people:,}"
        )


def _warnings(panel: PanelResult, _: Given) -> Iterator[str]:
    if panel.labeled:
        yield "the bound holds for items like the labelled ones: if those were drawn at random"
    for pair in panel.errors_alike:
        if pair.correlation >= 0.5:
            first, second = pair.models
            yield f"{first} and {second} err alike ({pair.correlation:.2f}): they count for less"


def _hints(panel: PanelResult, _: Given) -> Iterator[str]:
    name = quote(panel.project)
    yield f"the items that go to people: tracker panel {name} -o routed.csv"


class Panels(Namespace):
    """Panels of models."""

    @operation(
        "panel", "GET /projects/{project}/panel", "getPanel", listing="rules",
        view=_view, warnings=_warnings, hints=_hints,
    )  # fmt: skip
    def panel(self, project: Project, **asked: Unpack[PanelAsked]) -> PanelResult:
        """Hold several models against people: alone, together, and sure enough to need nobody.

        Together they answer by the most given answer, weighted by accuracy, or by a model of their
        errors in which models that err alike count for less; each item is left out of the counts
        that it is judged by. The answers of the last are accepted from such a probability on that
        errors among them stay within a bound. An item's truth was decided, or is what most people
        gave. Items whose attribute used-for is tuning are left out.

        Raises NotFound for a model that there is not, InvalidOption for what does not fit.

        Examples:
        - `tracker panel reviews`
        - `tracker panel reviews --model gpt --model llama --cost gpt=0.002`
        - `tracker panel reviews --error 2% -o routed.csv`

        Next: `tracker item import routed.csv -p reviews --keep route`
        """
        from tracker.judge.together import panel_result

        choice, of_panel = _parts(asked)
        with self._ledger.asking(project, choice) as (connection, question):
            return panel_result(connection, question, choice, **of_panel)

    @contextmanager
    def routed(self, project: str, **asked: Unpack[PanelAsked]) -> Iterator[Labels]:
        """Open where each item goes that people did not answer, as rows that are read as asked for.

        The columns are item, route (``people`` or ``panel``), answer and probability, the panel's.
        """
        from tracker.judge.together import ROUTED, routed_rows
        from tracker.ledger.reports import Labels

        choice, of_panel = _parts(asked)
        with (
            self._ledger.asking(project, choice) as (connection, question),
            closing(routed_rows(connection, question, choice, **of_panel)) as rows,
        ):
            yield Labels(ROUTED, rows).typed({"probability": "number"})


def _parts(asked: PanelAsked) -> tuple[AnswerFilter, dict[str, Any]]:
    """Return which answers count, and what is asked of the panel."""
    from tracker.counts.filter import make_answer_filter
    from tracker.work.choosing import read_share

    choice = make_answer_filter(**part_of(Selecting, asked))
    of_panel: dict[str, Any] = {**asked}
    for name in Selecting.__annotations__:
        of_panel.pop(name, None)
    if "error" in of_panel:
        of_panel["error"] = read_share("error", of_panel["error"])
    return choice, of_panel
