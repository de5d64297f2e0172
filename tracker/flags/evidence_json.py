"""A finding as JSON text that holds no annotator's name: names change, and may have to go."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tracker.projects.annotators import with_people

if TYPE_CHECKING:
    from tracker.audit import Audit, AuditedAnnotator
    from tracker.audit.findings import Flag

__all__ = ["Numbered", "read_evidence"]

# No name holds a NUL, and JSON writes it as six characters.
_MARK = "\0{}\0"
_MARKED = re.compile(r"\\u0000(\d+)\\u0000")


class Numbered:
    """An audit's findings, with annotators by number.

    ``names`` are all of the project, aliases too.
    """

    def __init__(self, found: Audit, names: Mapping[int, str]) -> None:
        from tracker.audit.anonymize import renamed

        self.found = renamed(found, {one.id: _MARK.format(one.id) for one in found.annotators})
        numbers = {name: number for number, name in names.items()}
        self.selection = with_people(found.selection, numbers)

    def evidence(self, annotator: AuditedAnnotator, flag: Flag) -> str:
        """One finding, as it is told of one annotator."""
        told = self.found.told(annotator, flag) | {"selection": self.selection}
        return json.dumps(told, ensure_ascii=False, allow_nan=False)


def read_evidence(text: str, names: Mapping[int, str]) -> dict[str, Any]:
    """What `Numbered.evidence` wrote, with the names that annotators have now."""
    named = _MARKED.sub(lambda mark: json.dumps(names[int(mark[1])])[1:-1], text)
    told: dict[str, Any] = json.loads(named)
    return told | {"selection": with_people(told["selection"], names)}
