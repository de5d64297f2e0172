"""Names that say who is who, and not who it is."""

from __future__ import annotations

import base64
import hashlib
import hmac

from sqlalchemy import Connection, select

from tracker.projects.annotators import annotator_names
from tracker.projects.project import ProjectInfo
from tracker.storage.schema import PseudonymKey

_LETTERS = 8  # 40 bits: among a million annotators two alike are unlikely


def pseudonyms(connection: Connection, project: ProjectInfo) -> dict[int, str]:
    """A pseudonym for every annotator of a project, by id.

    It is a keyed digest (HMAC, SHA-256) of the annotator's number in the project, so it stays the
    same within a database, through renames too, and cannot be guessed from a name by whoever has
    not the database's key. The same person has another pseudonym in another project.
    """
    key = bytes.fromhex(connection.scalars(select(PseudonymKey.key)).one())
    return {
        annotator: f"annotator-{_digest(key, f'{project.id}/{annotator}')}"
        for annotator in annotator_names(connection, project)
    }


def _digest(key: bytes, told: str) -> str:
    digest = hmac.new(key, told.encode(), hashlib.sha256).digest()
    return base64.b32encode(digest).decode()[:_LETTERS].lower()
