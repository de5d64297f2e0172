"""Whether labels can be trusted: a question's main figure, held against two thresholds.

Krippendorff, K. (2004). Reliability in content analysis: Some common misconceptions and
recommendations. Human Communication Research 30(3), 411-433: conclusions from an alpha of .800,
tentative ones from .667; a project may have thresholds of its own. It is the lower end of the
interval that has to reach them, as what is not known of a figure speaks for nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypedDict, cast

from tracker.measures.benchmarks import DEFINITE, TENTATIVE
from tracker.render.cells import figure_cell

if TYPE_CHECKING:
    from tracker.projects.projects import ProjectInfo

State = Literal["not_yet", "tentative", "good_enough"]
THRESHOLDS: Final = (TENTATIVE, DEFINITE)
STATES: Final[tuple[State, ...]] = ("not_yet", "tentative", "good_enough")
TITLES: Final[Mapping[State, str]] = {
    "not_yet": "Not yet",
    "tentative": "Tentative",
    "good_enough": "Good enough",
}


class ReadinessJson(TypedDict):
    """Whether labels can be trusted: not_yet, tentative or good_enough; null if nothing says so."""

    state: State | None
    measure: str
    value: float | None
    bound: float | None
    needs: float | None
    thresholds: tuple[float, float]


class Readiness(NamedTuple):
    """Whether a question's labels can be trusted.

    Attributes:
        state: None if the figure is undefined, or is no figure above chance.
        bound: the lower end of its interval; the figure itself if it has none.
        needs: the threshold that the bound has to reach next; None if it has reached both.
        thresholds: for tentative conclusions and for others, those of the project.
    """

    state: State | None
    measure: str
    value: float | None
    bound: float | None
    needs: float | None
    thresholds: tuple[float, float]

    @property
    def title(self) -> str:
        """What a badge says."""
        if self.state is not None:
            return TITLES[self.state]
        return "No figure yet" if self.value is None else "No threshold"

    @property
    def words(self) -> str:
        """The end of a sentence about the figure; nothing if there is none."""
        if self.state is None:
            return ""
        if self.needs is None or self.value is None:
            return "good enough to rely on"
        needs, reached = figure_cell(self.needs), self.value >= self.needs
        if self.state == "tentative":
            more = f"the lower end needs {needs}" if reached else f"needs {needs}"
            return f"enough for tentative conclusions only (to rely on it, {more})"
        if reached:
            return f"not certain enough to rely on (the lower end needs {needs})"
        return f"too low to rely on (needs {needs})"

    def to_dict(self) -> ReadinessJson:
        """Return the JSON."""
        return cast("ReadinessJson", self._asdict())


def readiness_of(figure: Mapping[str, Any], thresholds: tuple[float, float]) -> Readiness:
    """Return what a coefficient, as JSON has it, says about the labels."""
    value, low = figure["value"], figure["ci_low"]
    bound = value if low is None else low
    state: State | None = None
    needs = None
    if "readings" in figure and bound is not None:
        needs = next((needs for needs in thresholds if bound < needs), None)
        state = "good_enough" if needs is None else STATES[thresholds.index(needs)]
    return Readiness(state, figure["measure"], value, bound, needs, thresholds)


def thresholds_of(project: ProjectInfo) -> tuple[float, float]:
    """Return the thresholds of a project, the customary ones if it has none of its own."""
    own = project.tentative_from, project.good_from
    tentative, good = (
        usual if own is None else own for own, usual in zip(own, THRESHOLDS, strict=True)
    )
    return tentative, good
