"""Findings about a definition, some of the items or the design: about nobody's answers alone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from tracker.audit.kind import Severity


class ProjectFinding(ABC):
    """A finding that is not about an annotator.

    Attributes:
        kind: as in the contract.
        severity: how bad it is.
        category: the id of the category that it is about, or None.
        certain: whether enough items could tell.
    """

    kind: ClassVar[str]
    severity: ClassVar[Severity] = "high"
    category: int | None = None
    certain: bool = True

    @property
    def subject(self) -> str | None:
        """The slice of the items that it is about, as attribute=value, if it is about one."""
        return None

    @property
    @abstractmethod
    def informative(self) -> int:
        """How many items or annotators it rests on."""

    @property
    def key(self) -> tuple[str, int | None, str | None]:
        """Kind, category and subject: what it is about."""
        return self.kind, self.category, self.subject

    @property
    def state(self) -> str:
        """Return "flagged", or "insufficient" if too few items could tell."""
        return "flagged" if self.certain else "insufficient"

    @abstractmethod
    def values(self, names: Mapping[int, Any], categories: Mapping[int, str]) -> dict[str, Any]:
        """Return what it is about and its figures as JSON; ``names`` are of annotators, by id."""
