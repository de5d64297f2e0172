"""The sections of a report, one a file: what was gathered in, a part of a page out.

A page on one subject takes the section of that subject alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from tracker.report.document import Section
from tracker.report.gather import Gathered
from tracker.report.sections.agreement import agreement_section
from tracker.report.sections.annotators import annotators_section
from tracker.report.sections.confusions import confusions_section
from tracker.report.sections.history import history_section
from tracker.report.sections.methods import methods_section
from tracker.report.sections.pairs import pairs_section
from tracker.report.sections.progress import progress_section
from tracker.report.sections.undefined import undefined_section
from tracker.report.sections.verdict import verdict_section

SECTIONS: Final[Mapping[str, Callable[[Gathered], Section]]] = {
    "verdict": verdict_section,
    "agreement": agreement_section,
    "history": history_section,
    "pairs": pairs_section,
    "confusions": confusions_section,
    "annotators": annotators_section,
    "progress": progress_section,
    "undefined": undefined_section,
    "methods": methods_section,
}
"""In the order of reading; a section's name is that by which it is found on the page."""
