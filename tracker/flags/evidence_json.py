"""A finding as JSON text for the database: figures, no sentence and no annotator's name.

Sentences are made when it is read. Names change, and may have to go.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tracker.projects.annotators import with_people

if TYPE_CHECKING:
    from tracker.audit import Audit, AuditedAnnotator
    from tracker.audit.finding import Flag


# Older rows hold their sentence, with annotators by number between two NULs.
_MARKED = re.compile(r"\\u0000(\d+)\\u0000")


class Numbered:
    """An audit's findings, with annotators by number.

    ``names`` are all of the project, aliases too.
    """

    def __init__(self, found: Audit, names: Mapping[int, str]) -> None:
        self.found = found
        self.numbers = {name: number for number, name in names.items()}
        self.selection = with_people(found.selection, self.numbers)

    def evidence(self, annotator: AuditedAnnotator, flag: Flag) -> str:
        """Return one finding, as it is reported of one annotator."""
        values = self.found.finding_values(annotator, flag) | {"selection": self.selection}
        if flag.other is not None:
            values["with"] = flag.annotator if annotator.id == flag.other else flag.other
        return json.dumps(values, ensure_ascii=False, allow_nan=False)


def read_evidence(text: str, names: Mapping[int, str]) -> dict[str, Any]:
    """Return what `Numbered.evidence` wrote, with the names that annotators have now.

    Older rows hold a sentence as ``why``.
    """
    named = _MARKED.sub(lambda mark: json.dumps(names[int(mark[1])])[1:-1], text)
    values: dict[str, Any] = json.loads(named)
    if isinstance(values["with"], int):
        values["with"] = names[values["with"]]
    return values | {"selection": with_people(values["selection"], names)}
