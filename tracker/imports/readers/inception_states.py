"""What an INCEpTION project says of its documents: who is done with which, and since when."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from tracker.core.errors import Refused
from tracker.imports.readers.answers import field_text
from tracker.imports.readers.archive import Archive
from tracker.imports.readers.shapes import Malformed, object_of, objects_in

_FINISHED = {"FINISHED", "CURATION_FINISHED"}


class State(NamedTuple):
    """What is said of a document as one annotator has it; empty texts if nothing is.

    Attributes:
        name: NEW, IN_PROGRESS, FINISHED, IGNORE; those of curation begin with CURATION.
        changed_at: when the annotator last changed it, in milliseconds since 1970.
        comment: what the annotator wrote on finishing it.
    """

    name: str = ""
    changed_at: str = ""
    comment: str = ""

    @property
    def is_open(self) -> bool:
        """Whether the annotator is not done with the document."""
        return bool(self.name) and self.name not in _FINISHED


class DocumentStates:
    """The states of a project's documents, by document and annotator; of those in the archive."""

    def __init__(self, archive: Archive) -> None:
        self._of: dict[tuple[str, str], State] = {}
        self._curated: dict[str, State] = {}
        for name in archive.names:
            last = PurePosixPath(name).name
            if last.startswith("exportedproject") and last.endswith(".json"):
                self._read(archive, name)

    def _read(self, archive: Archive, name: str) -> None:
        try:
            project = object_of(json.loads(archive.text(name)), "this")
            for one in objects_in(project, "annotation_documents"):
                self._of[field_text(one.get("name")), field_text(one.get("user"))] = _state(one)
            for one in objects_in(project, "source_documents"):
                self._curated[field_text(one.get("name"))] = _state(one)
        except Malformed as error:
            raise Refused(f"{archive.name}/{name}: {error}") from None
        except (ValueError, RecursionError) as error:
            raise Refused(f"{archive.name}/{name}: this is no JSON: {str(error)[:80]}") from None

    def of(self, document: str, user: str) -> State:
        """Return the state of a document as an annotator has it."""
        return self._of.get((document, user), State())

    def of_curation(self, document: str) -> State:
        """Return the state of a document as it was curated."""
        return self._curated.get(document, State())


def _state(document: Mapping[str, Any]) -> State:
    told = (document.get(name) for name in ("state", "timestamp", "annotatorComment"))
    return State(*map(field_text, told))
