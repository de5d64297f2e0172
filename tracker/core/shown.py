"""Results that `tracker.render` shows: as JSON with its sentences, and in a notebook.

Rooms that compute make no sentence, and know nothing of the room that does. What they return
finds it by its name, when somebody looks.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

_REGISTRY = "tracker.render.formats"
_MESSAGES = "tracker.render.messages"


def as_json(result: object, **options: Any) -> dict[str, Any]:
    """Return the JSON of a result, with its sentences."""
    made: dict[str, Any] = import_module(_REGISTRY).result_as_json(result, **options)
    return made


def json_by_question(about: Mapping[str, Any], pages: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON of pages by the question's name: of one its page, of several all."""
    if len(pages) == 1:
        (only,) = pages.values()
        return dict(only)
    return {**about, "questions": [{"question": name, **page} for name, page in pages.items()]}


class Message:
    """A sentence that is not made yet: which one, and its numbers and names.

    Args:
        name: file and function in `tracker.render.messages`, such as ``gate.at_least``.
        values: the function's arguments.
    """

    def __init__(self, name: str, **values: Any) -> None:
        self.name, self.values = name, values

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"Message({self.name!r}, {self.values!r})"

    def __str__(self) -> str:
        """The sentence."""
        return str(import_module(_MESSAGES).message_text(self.name, self.values))


class Shown:
    """A result of one project; a notebook shows it as the command does, in short."""

    def __repr__(self) -> str:
        """Type and project, on one line: a result may hold all tallies of a project."""
        return f"<{type(self).__name__} of {getattr(self, 'project', '')!r}>"

    def _repr_html_(self) -> str:
        return str(import_module(_REGISTRY).result_as_html(self))
