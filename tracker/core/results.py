"""One thing asked of each question of a project; a question that it does not fit says why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Generic, Protocol, TypeVar

from tracker.core.errors import InvalidOption


class _Named(Protocol):
    @property
    def name(self) -> str: ...


class _Page(Protocol):
    def to_dict(self) -> dict[str, Any]: ...


Question = TypeVar("Question", bound=_Named)
Made = TypeVar("Made")
Page = TypeVar("Page", bound=_Page)


@dataclass(frozen=True)
class UnfitQuestion:
    """A question that what was asked does not fit, by name, and why."""

    question: str
    why: str

    def to_dict(self) -> dict[str, Any]:
        """Return the question as JSON, and as a row."""
        return {"question": self.question, "undefined": "not_applicable", "why": self.why}


@dataclass(frozen=True)
class ByQuestion(Generic[Page]):
    """What was found of each question of a project, by name, and whom it does not fit."""

    project: str
    questions: Mapping[str, Page]
    unfit: tuple[UnfitQuestion, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the questions as JSON, each as the page of a project that asks no other."""
        told = [{"question": name, **one.to_dict()} for name, one in self.questions.items()]
        told += [one.to_dict() for one in self.unfit]
        return {"project": self.project, "questions": told}


def ask_each_question(
    questions: Iterable[Question], ask: Callable[[Question], Made]
) -> tuple[dict[str, Made], tuple[UnfitQuestion, ...]]:
    """Return what ``ask`` makes of each question, by name, and the questions it does not fit.

    Raises InvalidOption, that of the first question, if it fits none.
    """
    made: dict[str, Made] = {}
    refused: dict[str, InvalidOption] = {}
    for question in questions:
        try:
            made[question.name] = ask(question)
        except InvalidOption as error:
            refused[question.name] = error
    if not made:
        raise next(iter(refused.values()))
    return made, tuple(UnfitQuestion(name, error.message) for name, error in refused.items())


# -- Results that `tracker.render` shows: as JSON with its sentences, and in a notebook -----------


_REGISTRY = "tracker.render.formats"


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
    """A sentence that is not made yet: the function that makes it, and its numbers and names."""

    def __init__(self, make: Callable[..., str], **values: Any) -> None:
        self.make, self.values = make, values

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(self.make)

    def __repr__(self) -> str:
        return f"Message({self.make.__name__}, {self.values!r})"

    def __str__(self) -> str:
        """The sentence."""
        return self.make(**self.values)


class Shown:
    """A result of one project; a notebook shows it as the command does, in short."""

    def __repr__(self) -> str:
        """Type and project, on one line: a result may hold all tallies of a project."""
        return f"<{type(self).__name__} of {getattr(self, 'project', '')!r}>"

    def _repr_html_(self) -> str:
        return str(import_module(_REGISTRY).result_as_html(self))
