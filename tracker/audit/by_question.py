"""The audits of several questions, whose tests are corrected together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tracker.audit.kind import Flag
from tracker.audit.result import Audit, AuditedAnnotator, finding_strength
from tracker.core.shown import Shown, json_by_question

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class AuditByQuestion(Shown):
    """The findings on a project's annotators, question by question.

    Attributes:
        project: its name.
        audits: of each question, in the order in which the questions were made.
    """

    project: str
    audits: tuple[Audit, ...]

    def to_dict(self, *, clear: bool = False) -> dict[str, Any]:
        """Return the JSON of ``tracker audit``: of one question its own, of several all."""
        pages = {one.question: one.to_dict(clear=clear) for one in self.audits}
        return json_by_question({"project": self.project}, pages)

    def flagged(self) -> list[tuple[Audit, AuditedAnnotator, Flag]]:
        """Return every finding that stands up, with its audit and annotator; of a pair, both."""
        return [(one, *row) for one in self.audits for row in one.flagged()]

    def by_strength(self, *, clear: bool = False) -> list[tuple[Audit, AuditedAnnotator, Flag]]:
        """Return each finding once, as `Audit.by_strength` of all questions together."""
        told = [(one, *row) for one in self.audits for row in one.by_strength(clear=clear)]
        return sorted(told, key=lambda row: (*finding_strength(row[2]), row[1].name))

    def failing(self, condition: str) -> list[Flag]:
        """Return the findings that ``--fail-on`` names; see `Audit.failing`."""
        return [flag for one in self.audits for flag in one.failing(condition)]

    def to_frame(self) -> pd.DataFrame:
        """Return one row per annotator and question; of one question, as its own audit."""
        import pandas as pd

        if len(self.audits) == 1:
            return self.audits[0].to_frame()
        frames = [one.to_frame() for one in self.audits]
        for one, frame in zip(self.audits, frames, strict=True):
            frame.insert(0, "question", one.question)
        return pd.concat(frames, ignore_index=True)
