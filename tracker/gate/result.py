"""What a gate said, as a value, as JSON and as a frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from tracker.core.shown import Message, Shown
from tracker.gate.checks import Bound

if TYPE_CHECKING:
    import pandas as pd


Kind: TypeAlias = Literal["at_least", "max_drop", "flags", "items_at_least", "overlap_at_least"]


@dataclass(frozen=True)
class CheckResult:
    """One check, or what it says of one category.

    Attributes:
        name: its name, or what it asks for.
        kind: what sort of check it is.
        passed: None where it cannot be computed.
        reason: why it passes or not.
        line: of the file, where the check begins.
        measure: the measure's name, where it is about one.
        category: the category's, likewise.
        threshold: the number in the file; of flags 0.
        value: what was held against it: the figure or its lower bound; how far it fell; how
            many annotators were found; items; their share. None where there is none.
        bound: which of figure and lower bound that is.
        undefined: why it could not be computed, in a word; None where it could.
        details: what else is known, ready for JSON.
        question: the question it is about, if the project asks several.
        model: the model's whose agreement with people is meant; None for that of people.
    """

    name: Message | str
    kind: Kind
    passed: bool | None
    reason: Message | str
    line: int
    measure: str | None = None
    category: str | None = None
    threshold: float | None = None
    value: float | None = None
    bound: Bound = "value"
    undefined: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    question: str | None = None
    model: str | None = None

    @property
    def check(self) -> str:
        """The name, or what is asked for, in words."""
        return str(self.name)

    @property
    def full_name(self) -> str:
        """The name with the question, if the project asks several."""
        return self.check if self.question is None else f"{self.question}: {self.check}"

    @property
    def why(self) -> str:
        """The reason, one sentence."""
        return str(self.reason)

    def unknown(self, reason: Message, undefined: str | None) -> CheckResult:
        """Return the same check if it cannot be computed."""
        return replace(self, passed=None, value=None, reason=reason, undefined=undefined)

    def to_dict(self) -> dict[str, Any]:
        """The result as an element of the contract's ``checks``."""
        return {
            "check": self.check,
            **({} if self.question is None else {"question": self.question}),
            "measure": self.measure,
            "category": self.category,
            "model": self.model,
            "threshold": self.threshold,
            "value": self.value,
            "bound": self.bound,
            "passed": self.passed,
            "why": self.why,
            "kind": self.kind,
            "undefined": self.undefined,
            "line": self.line,
            **self.details,
        }


@dataclass(frozen=True, repr=False)
class GateResult(Shown):
    """What became of every check, in the order of the file.

    ``config`` is the file's name as it was given; ``selection`` says which answers were looked
    at, as JSON; None for all. ``verdict`` is what is plainly wrong, whether a check asks for it or
    not: see `tracker.verdict.Concern`.
    """

    project: str
    config: str
    checks: tuple[CheckResult, ...]
    selection: Mapping[str, Any] | None = None
    verdict: tuple[Mapping[str, Any], ...] = ()

    @property
    def passed(self) -> bool:
        """Whether every check passed: what cannot be computed does not."""
        return bool(self.checks) and all(check.passed is True for check in self.checks)

    @property
    def failed(self) -> list[CheckResult]:
        """The checks that did not hold."""
        return [check for check in self.checks if check.passed is False]

    @property
    def unknown(self) -> list[CheckResult]:
        """The checks that could not be computed."""
        return [check for check in self.checks if check.passed is None]

    def to_dict(self) -> dict[str, Any]:
        """The contract's JSON of ``tracker gate``."""
        return {
            "project": self.project,
            "passed": self.passed,
            "config": self.config,
            "selection": None if self.selection is None else dict(self.selection),
            "checks": [check.to_dict() for check in self.checks],
            "verdict": [dict(concern) for concern in self.verdict],
        }

    def to_frame(self) -> pd.DataFrame:
        """One row per check."""
        import pandas as pd

        return pd.DataFrame([check.to_dict() for check in self.checks])
